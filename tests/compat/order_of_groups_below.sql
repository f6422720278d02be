-- Groups of a query that is the only table come sorted; distinct rows of sorted groups come in the order of the first.
create table g (a int, b int, c varchar(5)) charset latin1;
insert into g values (3,2004,'x'),(2,2006,'y'),(1,2007,'z'),(3,2008,'x'),(2,2005,'w'),(2,2001,null);
select distinct group_concat(a) from g group by b;
select distinct group_concat(a) from g group by b desc;
select distinct max(a) from g group by b;
select * from (select a, count(*) from g group by a) d;
select a from (select a, b, count(*) from g group by a, b) d;
select * from (select a, count(*) n from g group by a having n > 1) d;
select * from (select c, count(*) n from g group by c) d where n = 1;
select * from (select c, count(*) n from g group by c) d limit 2;
select * from (select c, count(*) n from g group by c desc) d;
with w as (select a from g where a < 4 group by a) select * from w;
with w as (select a from g where a < 4 group by a) select * from w where a > 1;
with w (x, y) as (select b, max(a) from g group by b) select y, x from w;
create view v as select a, sum(b) from g group by a;
select * from v;
select a from v where a <> 2;
select count(*) from (select a from g group by a) d;
