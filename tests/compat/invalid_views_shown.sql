-- SHOW CREATE VIEW of views over tables and columns that are gone.

create or replace table t2 (d int, e int, f int);

create or replace view v1 as select d,e,f from t2;

alter table t2 drop column f;

show create view v1;

show create table v1;

select replace(view_definition, database(), 'test') from information_schema.views where table_name='v1' and table_schema=database();

drop table t2;

show create view v1;

select replace(view_definition, database(), 'test') from information_schema.views where table_name='v1' and table_schema=database();

create or replace view v1 as select 1;

drop view v1;

create or replace table t2 (d int);

create or replace view v1 as select x.d, d+1, count(*) from t2 x group by d;

create or replace table t2 (e int);

show create view v1;

create or replace table t2 (d int);

create or replace view v2 as select d from v1;

drop view v1;

show create view v2;

drop view v2;

drop table t2;

create table t3 (d int, e int);

create view v4 as select d, e from t3;

alter table t3 change d x int;

show create view v4;

drop view v4;

drop table t3;
