-- NOT IN with a subquery that repeats the same equality: where it is NULL, the subquery does not return the row.

create table l(id int primary key, a int, b int);

create table r(id int primary key, d int, e int, key(d));

insert into l select seq, if(seq%7=0,null,seq%50), seq%5 from seq_1_to_3000;

insert into r select seq, if(seq%11=0,null,seq%40), seq%6 from seq_1_to_3000;

select count(*) from l where a not in (select d from r where d=l.a);

select count(*) from l where a not in (select d from r where d<=>l.a);

select count(*) from l where a not in (select d from r where e=l.b);

select count(*) from l where a not in (select d from r where e=l.b and d=l.a);

select count(*) from l where a not in (select d from r where l.a=d and e=l.b);

select count(*) from l where not(a in (select d from r where d=l.a) or b in (select e from r where e=l.b and d=l.a));

select count(*) from l where (a in (select d from r where d=l.a)) is null;

select count(*) from l where (a in (select d from r where e=l.b)) is null;

select count(*) from l where (a in (select d from r where d=l.a and e=l.b)) is not true;

select count(*) from l where (a,b) not in (select d,e from r where d=l.a);

select count(*) from l where (a,b) not in (select d,e from r where e=l.b);

select count(*) from l where (a,b) not in (select d,e from r where d=l.a and e=l.b);

select sum(a in (select d from r where d=l.a)), sum(a not in (select d from r where d=l.a)), sum((a in (select d from r where d=l.a)) is null) from l;

select count(*) from l where a <> all (select d from r where d=l.a);

select count(*) from l where a <> all (select d+0 from r where d+0=l.a);

select count(*) from l where a+0 not in (select d from r where d=l.a+0);

select count(*) from l where l.id<20 and a not in (select d from r where d=l.a and id<10);

select count(*) from l where l.id<20 and a not in (select d from r where d=l.a limit 1);

delete from l where a not in (select d from r where d=l.a and id<30);

select count(*) from l;

update l set b=9 where a not in (select d from r where d=l.a and id<25);

select count(*) from l where b=9;

CREATE TABLE t0 (id INT PRIMARY KEY, a INT, b INT, c INT NOT NULL, d BIGINT, u VARCHAR(3));

INSERT INTO t0 VALUES (8, 1, NULL, 2, NULL, 'b');

CREATE TABLE t1 (id INT PRIMARY KEY, a INT, b INT);

INSERT INTO t1 VALUES (4, 2, 1);

CREATE TABLE t2 (id INT PRIMARY KEY, u varchar(3));

select 1, x0.a from t1 x0 where not(exists(select 1 from t2 q where q.u>'b') or x0.a in (select q.d from t0 q where q.a<2 and q.d=x0.a));

select 2, x0.a from t1 x0 where not(x0.a in (select q.d from t0 q where q.a<2 and q.d=x0.a));

select 3, x0.a from t1 x0 where not(x0.a in (select q.d from t0 q where q.d=x0.a));

select 4, x0.a from t1 x0 where x0.a not in (select q.d from t0 q where q.d=x0.a);

select 5, x0.a from t1 x0 where x0.a not in (select q.d from t0 q where q.d<=x0.a);

select 6, x0.a, x0.a not in (select q.d from t0 q where q.d=x0.a) from t1 x0;

select 7, x0.a from t1 x0 join t0 x1 where not(x0.a in (select q.d from t0 q where q.d=x0.a));

select 8, x0.a from t1 x0 join t0 x1 on not(x0.a in (select q.d from t0 q where q.d=x0.a));

select 9, x0.a from t1 x0 join (select * from t0 where c>=1) x1 where not(exists(select 1 from t2 q where q.u>'b') or x0.a in (select q.d from t0 q where q.a<2 and q.d=x0.a));
