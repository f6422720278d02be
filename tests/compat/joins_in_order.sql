-- Joins of tables large enough for several threads: each kind gives its rows in the order of the table read,
-- warnings come as from one thread, and large outputs are whole.
create table big(id int primary key, k int, s varchar(12), d decimal(8,2));
insert into big select seq, seq * 7 % 200, concat('s', seq % 11), seq / 4 from seq_1_to_30000;
create table few(k int primary key, t varchar(20), g int);
insert into few select seq, concat('t', seq % 5), seq % 3 from seq_0_to_149;
create table kinds(t varchar(20) primary key, w int);
insert into kinds values ('t0', 10), ('t1', 20), ('t3', 30);
analyze table big, few, kinds;

-- Pipelines of joins below groups.
select t, count(*), sum(id), min(s), max(d) from big join few on big.k = few.k group by t order by t;
select w, g, count(*), sum(d) from big join few using (k) join kinds using (t) group by w, g order by w, g;
select s, count(*), sum(w) from big join few using (k) join kinds using (t) where id % 3 = 0 group by s order by s;
-- Each kind.
select count(*), sum(few.k is null), sum(g) from big left join few on big.k = few.k;
select count(*), sum(few.k is null) from big left join few on big.k = few.k and few.g < big.id % 4;
select count(*), sum(id) from big where k in (select k from few where g = 1);
select count(*), sum(id) from big where not exists (select 1 from few where few.k = big.k and g < big.id % 3);
select sum(k in (select k from few where g = 2)), count(*) from big;
select count(*), sum(id) from big where k not in (select k from few);
-- The order of rows without a sort, and a stop after few of them.
select id, t from big join few using (k) where id between 9990 and 10010 order by id;
select id, t, w from big straight_join few using (k) straight_join kinds using (t) where id > 20000 order by id limit 5;
-- Conditions of two tables.
select count(*), sum(id) from big join few on big.k = few.k and big.id % 10 > few.g and big.s <> few.t;
-- Keys that must be converted raise their warnings once for each row.
create table texts(k varchar(10), n int);
insert into texts values ('7', 1), ('14x', 2), ('21', 3), ('nothing', 4);
set max_error_count = 2;
select count(*), sum(n) from texts straight_join big on texts.k = big.k where big.id <= 400;
set max_error_count = default;
-- Errors in a residual condition end the statement.
select count(*) from big join few on big.k = few.k and big.id * 9223372036854775807 > few.g;
-- Output much larger than what is read.
create table wide(k int, v varchar(3000));
insert into wide select seq % 3, repeat(char(97 + seq % 26), 2900) from seq_1_to_45;
select count(*), sum(length(v)), min(v) = repeat('a', 2900), max(left(v, 2)) from big join wide on big.k % 3 = wide.k;
select wide.k, count(*), count(distinct left(v, 1)) from big join wide on big.k = wide.k group by wide.k order by 1;
drop table big, few, kinds, texts, wide;
