-- Digits of quotients in merged derived tables, views and common tables, and in scalar subqueries.

create table t(a int,b int, c decimal(10,2));

insert into t values(7,3,1.11),(10,7,2.22),(1,9,3.33);

create view v as select a/b q, a from t;

create algorithm=temptable view vt as select a/b q, a from t;

select q*3 from (select a/b q from t) d;

select q*3 from (select 7/3 q) d;

select q*3 from (select a/b q from t limit 10) d;

select q*3 from v;

select q*3 from vt;

with c as (select a/b q from t) select q*3 from c;

select q from (select a/b q from t) d where q*3=7;

select q from (select a/b q from t) d where q=7/3;

select q from (select a/b q from t) d where q=2.3333;

select d.q,e.q from (select a/b q from t) d join (select 7/3 q) e on d.q=e.q;

select sum(q),avg(q),max(q),min(q) from (select a/b q from t) d;

select sum(q)*3 from (select a/b q from t) d;

select q*3 from (select a/b q from t) d order by q*3;

select q*3, row_number() over(order by q) from (select a/b q from t) d;

select round(q,6), cast(q as decimal(20,9)), cast(q as double), cast(q as char), concat(q), q+0, -q, abs(q), truncate(q,7), format(q,8) from (select a/b q from t) d;

select if(1,q,0)*3, coalesce(q,1)*3, case when 1 then q end*3, greatest(q,0)*3, ifnull(q,0)*3 from (select a/b q from t) d;

select d.q*3 from t left join (select a/b q from t) d on d.q>1 order by 1;

select (select q*3 from (select a/b q from t limit 1) d);

select q*3 from (select q from (select a/b q from t) d) e;

select q*3 from (select q+0 q from (select a/b q from t) d) e;

select q*3 from (select q q from v) e;

create table n1 as select q, q*3 r from (select a/b q from t) d;

select * from n1;

create table n2(x decimal(20,10));

insert into n2 select q from (select a/b q from t) d;

select * from n2;

insert into n2 select q from vt;

select * from n2;

select q*3 from (select avg(a) q from t) d;

select q*3 from (select sum(c)/3 q from t) d;

select q in (7/3) from (select a/b q from t) d;

select (q,1)=(7/3,1) from (select a/b q from t) d;

select q between 7/3 and 8/3 from (select a/b q from t) d;

select q*3 from (select a/b q from t having q>1) d;

select distinct q*3 from (select a/b q from t) d;

select * from (select a/b q from t) d having q*3=7;

select q x from (select a/b q from t) d having x*3=7;

select a/b x from t having x*3=7;

select a/b x, a/b*3 from t having x*3=7;

select a/b x from t order by x*3;

select json_array(q), hex(q), q|0, q div 1, q%1 from (select a/b q from t) d;

select group_concat(q) from (select a/b q from t) d;

select std(q), count(distinct q) from (select a/b q from t) d;

select exists(select 1 from (select a/b q from t) d where q*3=7);

select 7/3 in (select q from (select a/b q from t) d);

select 7/3 in (select a/b q from t) from t limit 1;

select (select q from (select a/b q from t where a=7) d)*3;

select (select a/b from t where a=7)*3;

select (select a/b from t where a=7)*3;

select (select a/b from t where a>6 order by a limit 1)*3;

select (select distinct a/b from t where a=7)*3;

select (select sum(a)/3 from t where a=7)*3;

select (select sum(a)/7 from t)*7;

select (select avg(a/b) from t where a=7)*3;

select (select max(a/b) from t where a=7)*3;

select (select a/b from t where a=7 group by a)*3;

select (select a/b from t where a=7 union select null where 0)*3;

select (select a/b from t x where x.a=t.a)*t.b from t;

select round((select a/b from t where a=7),6);

select (select a/b from t where a=7) = 7/3;

select t.a from t where (select x.a/x.b from t x where x.a=t.a)*t.b=t.a;

select sum((select x.a/x.b from t x where x.a=t.a)) from t;

select (select (select a/b from t where a=7))*3;

select (select q from (select a/b q from t) d where q>2)*3;

select coalesce((select a/b from t where a=7),1)*3;

select (select a/b from t where a=7)+0, (select a/b from t where a=7), concat((select a/b from t where a=7));

insert into n2 select (select a/b from t where a=7);

select max(x) from n2;

select @y:=(select a/b from t where a=7);

select ((select a/b,1 from t where a=7)) = (7/3,1);

create table n3 as select (select a/b from t where a=7) x;

select * from n3;

set @z=(select a/b from t where a=7);

select @z;

select a/b into @k from t where a=7;

select @k;

select q*3 from (select distinct a/b q from t) d order by q;

select q*3 from (select a/b q from t union select 1) d order by q;

select c.q*3,d.q*3 from (select a/b q from t) c join (select a/b q from t) d on c.q=d.q order by c.q;

select sum(q*3) from (select a/b q from t where a>1 order by q) d;

set @z=(select a/b from t where a=7);

select @z;

select table_name, table_type from information_schema.tables where table_schema=database() and table_name='n1';

select q, q*3 from (select a/b q from t) d order by q, 2;

select q+0 r, count(*) from v group by r order by r;

create function taken() returns decimal(20,9) return (select a/b from t where a=7);

select taken();

update v set q=1;

update v, t set v.q=1 where v.a=t.a;

select v.q, count(*) from v join t on t.a=v.a group by v.q having q>1 order by q;

select a from v where q in (select q from v) order by a;

select a from v where (q,a) in (select q,a from v) order by a;

select distinct q from v order by q desc;

select * from v join v w using(q) order by q;

