-- A DELETE of several tables may not read its targets in subqueries; it may in materialized derived tables.

create table t(x int, y int);

create table d(x int, y int);

insert into t values(1,1),(2,2);

insert into d values(1,1),(3,3);

create table p(x int primary key, y int);

insert into p values(1,1);

create view v as select * from t;

create view vd as select x, count(*) c from t group by x;

create view vs as select * from d where x in (select x from t);

create view vv as select * from v;

create algorithm=temptable view vt as select * from t;

create view vu as select x from t union select x from d;

create function f() returns int return (select count(*) from t);

begin;

delete t from t,d where d.x in (select x from vd);

delete t from t,d where d.x in (select x from vt);

delete t from t,d where d.x in (select x from vv);

delete t from t,d where d.x in (select x from vu);

delete t from t,d where d.x in (select x from t union select 1);

delete t from t,d where d.x in (with z as (select x from t) select x from z);

delete t from t,d where d.x in (with z as (select x, count(*) from t group by x) select x from z);

delete t from t,d where d.x in (select x from (select x from t) z);

delete t from t,d where d.x in (select x from (select distinct x from t) z);

delete t from t,d where d.x in (select x from (select x from v) z);

delete t from t,d where d.x in (select x from d where y in (select y from t));

delete t from t,d where d.x in (select x from d where y in (select y from (select y from t) q));

delete t from t join d on d.x in (select x from t);

delete t from t, (select * from d where x in (select x from t)) z where t.x=z.x;

delete t from t, (select * from d where x in (select x from t) limit 5) z where t.x=z.x;

delete t from t, vs where t.x=vs.x;

delete d from t, vs, d where t.x=vs.x and d.x=vs.x;

delete t,d from t,d where d.x in (select x from p);

delete t,d from t,d where d.x in (select x from d);

delete vs from vs,p where p.x in (select x from t);

delete vs from vs,p where p.x in (select x from d);

delete v from v,p where p.x in (select x from t);

delete vv from vv,p where p.x in (select x from t);

delete vv from vv,p where p.x in (select x from v);

delete vv from vv,p where p.x in (select x from vv);

delete t from t,p where p.x in (select x from vv);

delete t.* from t where x in (select x from t);

delete from t using t where x in (select x from t);

delete from a using t a where x in (select x from t);

delete from a using t a where x in (select a.x from t b);

delete t from t,d where exists (select 1 from t where t.x=d.x);

delete t from t,d where f()>0;

delete t from t,d where d.x=(select 1);

delete t from t,d where d.x in (select d.x);

delete t from t,d where d.x in (select x from t.x);

delete a,b from t a, t b where a.x=b.x;

delete a from t a, t b where b.x in (select x from d);

delete a from t a, t b where b.x in (select x from t);

delete t from t,d where d.x in (select x from compat_delete_reads_target.t);

delete compat_delete_reads_target.t from t,d where d.x in (select x from compat_delete_reads_target.t);

delete ignore t from t,d where d.x in (select x from t);

delete t from t where (select count(*) from t)>0;

with w as (select 1) delete t from t;

delete t from t,d where d.x > all (select x from t) or d.x = any (select x from d);

explain delete t from t,d where d.x in (select x from t);

prepare s from 'delete t from t,d where d.x in (select x from t)';

delete t from t,nosuch where d.x in (select x from t);

rollback;

select * from t;

select * from d;

create temporary table tt as select * from t;

delete tt from tt,d where d.x in (select x from t);

delete tt from tt,d where d.x in (select x from tt);
