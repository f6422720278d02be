-- TRUNCATE of a view under LOCK TABLES; the order of words about a column.

create table t (a int);

create view v as select a from t;

lock tables v write, t write;

truncate v;

unlock tables;

truncate v;

create table x (a int, b datetime invisible on update now() without system versioning) with system versioning;

desc x;

drop view v;

drop table t, x;
