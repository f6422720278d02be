-- A row as the default of a column is refused before what follows is read.
create table t1 (a int default row(1, 2) = row(1, 2));
create table t1 (a int default row(1, 2) = some(select 1) = all(select 1));
create table t1 (a int default (1, 2) 5);
create table t1 (a int default ((1, 2) = (1, 2)));
alter table t1 alter a set default row(1, 2) = 1;
alter table t1 add b int default row(1, 2) = 1;
drop table t1;
