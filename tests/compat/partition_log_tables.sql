-- Log tables have no partitions, and nothing is logged to a table in partitions renamed to one.
set @old_log = @@global.general_log, @old_output = @@global.log_output;
set global general_log = 0;
alter table mysql.slow_log partition by hash (thread_id) partitions 2;
alter table mysql.general_log partition by hash (thread_id) partitions 2;
create table t1 like mysql.general_log;
alter table t1 engine=myisam;
alter table t1 partition by hash (thread_id) partitions 2;
alter table t1 exchange partition p0 with table mysql.general_log;
rename table mysql.general_log to mysql.general_log_kept, t1 to mysql.general_log;
set global log_output = 'table';
set global general_log = 1;
select 1;
set global general_log = 0;
select count(*) from mysql.general_log;
drop table mysql.general_log;
rename table mysql.general_log_kept to mysql.general_log;
set global log_output = @old_output;
set global general_log = @old_log;
