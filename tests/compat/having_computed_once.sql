-- Entries of the select list with another value each time: rows of groups, of a sort or of DISTINCT
-- have the value that HAVING has seen.

create table series(val int unsigned not null);

insert into series values(0);

create function nxt() returns int begin declare n int; select val into n from series; update series set val=val+1; return n; end;

create table t(t int, u int);

insert into t values(10,10),(11,11),(12,12),(12,13),(14,15),(15,16),(16,17),(17,17);

update series set val=0;

select t, nxt() r from t having r%2=1 order by r desc;

select val from series;

update series set val=0;

select t, nxt() r from t group by t having r%2=1;

update series set val=0;

select distinct nxt() r from t having r%2=1;

update series set val=0;

select t, sum(u), nxt() r from t group by t having r%2=1;

update series set val=0;

select u, nxt() r, nxt() s from t group by u having r%4=3;

update series set val=0;

select u, nxt() r, nxt()+1 s from t group by u having r%4=1 order by s desc;

update series set val=0;

select u, nxt()*2 r from t group by u having r%4=0 and r>4 order by r desc limit 1;

update series set val=0;

select u, nxt() r, (select max(t) from t x where x.u=t.u) m from t group by u having r%2=1 and m>10 order by r desc;

update series set val=0;

select * from (select u, nxt() r, count(*) c from t group by u having r%2=1) d where c=1 and r>2;

create view v as select u, nxt() r, count(*) c from t group by u having r%2=1;

update series set val=0;

select * from v where r>2;

select view_definition from information_schema.views where table_schema=database() and table_name='v';

update series set val=0;

create table n as select u, nxt() r, count(*) c from t group by u having r%2=1;

select * from n;

prepare p from 'select u, nxt() r, count(*) c from t group by u having r%?=1 for update';

update series set val=0;

execute p using 2;

update series set val=0;

execute p using 3;

set @i=0;

select u, @i:=@i+1 r from t group by u having r%2=1;

select min(r) >= 0.5 from (select rand() r from t, t t2, t t3 group by t.t, t2.t, t3.t having r>=0.5) d;

select min(r) >= 0.5 from (select rand() r, max(t.u) from t, t t2, t t3 group by t.t, t2.t, t3.t having r>=0.5 order by r limit 1000) d;

select count(*)>100 from (select u, rand() r, row_number() over (order by u) + rand() n from t group by t having r>=0 and r<1) d, t x, t y, t z;
