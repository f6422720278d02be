create table c(a varchar(10) collate utf8mb4_general_ci, b varchar(10) collate utf8mb4_bin, l varchar(10) character set latin1, lb varchar(10) character set latin1 collate latin1_bin, u varchar(10) collate utf8mb4_unicode_ci, bi varbinary(10), n int, d decimal(8,4), t text, dt date, e enum('a','A') collate utf8mb4_bin);
insert into c values('a','A','a','A','A','a',1,1.5,'A','2020-01-01','a');
-- unordered
select a from c union select b from c;
-- unordered
select b from c union select a from c;
-- unordered
select a from c intersect select b from c;
-- unordered
select a from c except select b from c;
-- unordered
select a from c union select l from c;
-- unordered
select l from c union select a from c;
-- unordered
select l from c union select lb from c;
-- unordered
select a from c union select u from c;
-- unordered
select a from c union all select u from c;
-- unordered
select a from c intersect select u from c;
-- unordered
select a from c union select 'A';
-- unordered
select 'A' union select a from c;
-- unordered
select 'A' union select b from c;
-- unordered
select b from c union select 'a';
-- unordered
select a from c union select _latin1'A';
-- unordered
select a from c union select bi from c;
-- unordered
select a from c union select 'A' collate utf8mb4_bin;
-- unordered
select a collate utf8mb4_general_ci from c union select b from c;
-- unordered
select a from c union select n from c;
-- unordered
select n from c union select 'a' union select 'A';
-- unordered
select a from c union select null union select b from c;
-- unordered
select a from c union select t from c;
-- unordered
select t from c union select b from c;
-- unordered
select a from c union select dt from c;
-- unordered
select a from c union select e from c;
-- unordered
select a from c union select b from c union select u from c;
-- unordered
select a from c union (select u from c union select b from c);
-- unordered
select upper(a) from c union select lower(b) from c;
-- unordered
select concat(a,'') from c union select b from c;
create table x1 as select a from c union select b from c;
show create table x1;
create table x2 as select a from c union select l from c;
show create table x2;
create table x3 as select a from c union select 'zz';
show create table x3;
create table x4 as select b from c union select a from c;
show create table x4;
create table x5 as select d as c from c union select 'abc';
show create table x5;
-- unordered
select * from x5;
create table x6 as select d as c from c union select a from c;
show create table x6;
-- unordered
select coalesce(d,1) from c except select 'abc';
-- unordered
select coalesce(d,1) from c union select 'abc';
-- unordered
select d from c union select 'abc';
-- unordered
select d from c union all select a from c;
-- unordered
select 1.0 union select 'a';
-- unordered
select 1.00000 union select 'a';
-- unordered
select cast(d as decimal(20,8)) from c union select 'a';
-- unordered
select sum(d) from c union select 'a';
-- unordered
select ifnull(d,1) x from c except select 'q';
-- unordered
select d*1.000 from c union select 'a';
-- unordered
select x.a=x.a, count(*) from (select a from c union all select b from c) x group by a;
-- unordered
select count(*) from (select a from c union all select b from c) x where a='a';
-- unordered
with recursive r as (select cast('a' as char(3)) collate utf8mb4_bin as x union select 'A' from r) select * from r;
-- unordered
with recursive r as (select a as x from c union select 'A' from r) select * from r;
-- unordered
select a from c union select b from c order by 1;
-- unordered
select distinct x from (select a x from c union all select u from c) y;
-- unordered
select n from c union select '1';
-- unordered
select 1 union select '1.0';
-- unordered
select 1.5 union select '1.50';
-- unordered
select n as c from c union select 'b' union select 'B' order by 1;
