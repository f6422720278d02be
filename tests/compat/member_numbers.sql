-- The numbers of members of ENUM and SET are signed.
create table t(e enum('a','b','c'), s set('x','y','z'), i int, u int unsigned);
insert into t values('a','x',-5,1),('c','x,z',3,7),(null,null,1,1);
select e*-1, s*-1, e-5, s-9, e+i, e*i, s*i, e-i, -e, -s, e div -2, e % -2 from t;
select e-u from t where i=-5;
select abs(e-9), mod(s,-3), round(e-9), sum(e-5), avg(s-9) from t;
prepare p from 'select e*?, s-? from t';
set @m=-1, @n=20;
execute p using @m, @n;
select e-5 < 0, s-9 between -8 and -1 from t;
