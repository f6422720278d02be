# Outer joins whose tables nothing needs are not read.
create table o (a int, b int, c varchar(5)); insert into o values (1, 1, 'a'), (2, 7, 'b'), (2, null, null);
create table i (k int primary key, u int unique, s varchar(5) collate utf8mb4_bin unique, n int); insert into i values (1, 1, 'a', 5), (2, null, 'A', 6), (3, null, 'b', 7);
create table d (k int, day date, n int, primary key (k, day)); insert into d values (1, '2024-01-01', 1), (1, '2024-01-05', 2), (2, '2024-01-03', 3);
explain select o.a from o left join i on i.k = o.a;
select o.a from o left join i on i.k = o.a order by 1;
explain select count(*) from o left join i on i.u = o.b;
select count(*) from o left join i on i.u = o.b;
explain select sum(o.a) from o left join i on i.k = o.a left join i j on j.k = i.n;
select sum(o.a) from o left join i on i.k = o.a left join i j on j.k = i.n;
explain select o.a from o left join (i join i j on j.k = i.n) on i.k = o.a;
explain select o.a from o left join (i left join i j on j.k = i.n) on i.k = o.a;
# The newest row of each: the key of the inner table is filled by a subquery.
explain select o.a from o left join d on d.k = o.a and d.day = (select max(day) from d e where e.k = d.k);
select o.a, o.b from o left join d on d.k = o.a and d.day = (select max(day) from d e where e.k = d.k) order by 1, 2;
# A view with many tables, of which one column is asked for.
create view v as select o.a, o.b, i.n, d.n m from o left join i on i.k = o.a left join d on d.k = o.a and d.day = '2024-01-03';
explain select a from v where b = 7;
select a from v where b = 7;
explain select a, m from v where b = 7;
select a, m from v where b = 7;
# Not removed: several rows may match, or a column is needed.
select o.a from o left join i on i.u <=> o.b order by 1;
select o.a from o left join i on i.s = o.c collate utf8mb4_general_ci order by 1;
select o.a from o left join d on d.k = o.a order by 1;
select o.a from o left join i on i.k = o.a order by i.n desc, 1;
select o.a from o left join i on i.k = o.a where i.n is null;
select o.a from o left join i on i.k = o.a or i.u = o.b order by 1;
# A removed table is known to the statement still.
prepare p from 'select o.a from o left join i on i.k = o.a order by 1';
execute p;
alter table i drop primary key, add key (k);
insert into i values (2, 9, 'z', 8);
execute p;
drop table i;
execute p;
set optimizer_switch = 'table_elimination=off';
create table i (k int primary key); insert into i values (1);
explain select o.a from o left join i on i.k = o.a;
drop view v;
drop table o, i, d;
