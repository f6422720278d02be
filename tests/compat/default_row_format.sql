-- innodb_default_row_format counts when a table gets its storage.
set global innodb_default_row_format = compact;
create table t1 (a int) engine=innodb;
create table t2 (a int) engine=innodb row_format=dynamic;
create table t3 (a int) engine=myisam;
create table p (a int) engine=innodb partition by hash (a);
set global innodb_default_row_format = dynamic;
create table t4 (a int) engine=innodb;
create table t5 like t1;
alter table t1 add b int;
select table_name, row_format, create_options from information_schema.tables where table_schema = database() order by 1;
show create table t1;
alter table p exchange partition p0 with table t4;
alter table t4 row_format=compact;
alter table p exchange partition p0 with table t4;
alter table t1 force;
select row_format from information_schema.tables where table_schema = database() and table_name = 't1';
drop table t1, t2, t3, t4, t5, p;
