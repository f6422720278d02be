-- AUTO_INCREMENT of tables in partitions: one counter for all, which passes as many numbers as the
-- reserved values take, and gets back the rest at the end, with every engine.
create table t1 (a int not null auto_increment primary key) engine=innodb partition by hash (a) partitions 2;
set auto_increment_increment = 10, auto_increment_offset = 5;
insert into t1 values (1);
insert into t1 values (null), (null), (null);
select auto_increment from information_schema.tables where table_schema = database() and table_name = 't1';
set auto_increment_increment = 5, auto_increment_offset = 3;
insert into t1 values (null);
insert into t1 values (34);
insert into t1 values (null);
insert into t1 values (69);
insert into t1 values (null), (null);
select auto_increment from information_schema.tables where table_schema = database() and table_name = 't1';
set auto_increment_increment = default, auto_increment_offset = default;
insert into t1 values (null);
select * from t1;
create table t2 (a int, b int not null auto_increment primary key) engine=innodb partition by hash (b) partitions 2;
insert into t2 values (1, 1), (1, null);
insert into t2 values (2, null), (4, 7);
insert into t2 (a) select 5 from t2;
insert into t2 values (6, null);
select * from t2 order by b;
select auto_increment from information_schema.tables where table_schema = database() and table_name = 't2';
drop table t1, t2;
