-- sql_safe_updates: conditions that count as using a key.

create table t(a int, b int, c int, key(a), key(b));

insert into t values(1,1,1),(2,2,2),(3,3,3);

create table u(id int primary key, x int);

insert into u values(1,1),(2,2);

set sql_safe_updates=1;

begin;

update t set c=9 where a=1 or b=2;

update t set c=9 where a=1 or a=2;

update t set c=9 where a=1 or c=2;

update t set c=9 where a in (1,2);

update t set c=9 where a>1;

update t set c=9 where a>0;

update t set c=9 where a<>1;

update t set c=9 where a is null;

update t set c=9 where a is not null;

update t set c=9 where a between 1 and 2;

update t set c=9 where a like '1%';

update t set c=9 where a+0=1;

update t set c=9 where 1;

update t set c=9 where 0;

update t set c=9 where a=1 and b=2;

update t set c=9 where (a=1 or a=2) and b=2;

update t set c=9 where a=(select 1);

update t set c=9 where a=(select x from u where id=1);

update t set c=9 where a in (select x from u);

update t set c=9 where not a=1;

update t set c=9 where a=b;

update t set c=9 where a=1 limit 1;

update t set c=9 limit 1;

update t set c=9 where c=1 limit 1;

update t set a=9 where a=1 or b=2;

delete from t where a=1 or b=2;

delete from t where a=1 or a=2;

delete from t where c=1;

delete from t where c=1 limit 1;

delete from t;

delete from t where a>0;

update t join u on t.a=u.id set t.c=5;

update t join u on t.c=u.x set t.c=5;

update t,u set t.c=5;

update t,u set t.c=5 where t.a=u.x;

delete t from t join u on t.a=u.id;

delete t from t join u on t.c=u.x;

delete t from t,u;

update u set x=1 where id>0;

update u set x=1 where id=1 or id=2;

update u set x=1 where id=1 or x=2;

update u set x=1 where id in (1,2,3,4,5,6,7,8);

update u set x=1 order by id limit 1;

update t set c=9 where a=1 or b=2 or b=3;

update t set c=9 where (a=1 and b=1) or (a=2 and b=2);

update t set c=9 where (a=1 and b=1) or (b=2);

update t force index(a) set c=9 where a>0;

update t ignore index(a) set c=9 where a=1;

rollback;
