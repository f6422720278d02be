-- Constants of partitions have only what functions of tables may have.
create table t1 (a int) partition by range (a) (partition p0 values less than (ascii('a')));
create table t1 (a int) partition by range (a) (partition p0 values less than (cast('2' as signed)));
create table t1 (a int) partition by range (a) (partition p0 values less than (1 | 2));
create table t1 (a int) partition by range (a) (partition p0 values less than (if(1, 2, 3)));
create table t1 (a int) partition by list (a) (partition p0 values in (1, ~2));
create table t1 (a int) partition by range (a) (partition p0 values less than ((select 1)));
create table t1 (a char(9)) partition by range columns (a) (partition p0 values less than (concat('a', 'b')));
create table t1 (a char(9)) partition by list columns (a) (partition p0 values in ('a' collate utf8mb4_bin));
create table t1 (a date) partition by range columns (a) (partition p0 values less than ('2001-01-01' + interval 1 day));
create table t1 (a date) partition by range columns (a) (partition p0 values less than (last_day('2001-01-01')));
create table t1 (a int) partition by range (a) (partition p0 values less than (-3 + abs(-2) * 2), partition p1 values less than (to_days('2001-01-01') div 2), partition p2 values less than (unix_timestamp('2001-01-01 00:00:00')));
alter table t1 add partition (partition p3 values less than (length('a')));
drop table t1;
create table t1 (a date) partition by range columns (a) (partition p0 values less than (from_days(730000)), partition p1 values less than (date'2020-01-01'));
drop table t1;
-- Nothing depends on the session: the parser finds that.
create table t1 (a int) partition by range (a) (partition p0 values less than (1 + rand()), partition p1 values less than maxvalue);
create table t1 (a int) partition by range (a) (partition p0 values less than (@x));
create table t1 (a int) partition by range (a) (partition p0 values less than (connection_id()));
create table t1 (a int) partition by range (a) (partition p0 values less than (no_function(1)));
create table t1 (a date) partition by range columns (a) (partition p0 values less than (curdate()));
create table t1 (a int) partition by hash (a + rand()) partitions 3;
create table t1 (a int) partition by hash (a + @@server_id);
create table t1 (a int) partition by range (a) subpartition by hash (no_function(a)) (partition p0 values less than (1));
create table t1 (a int)
partition by hash (
a + length(database())  );
create table t1 (a date) partition by hash (unix_timestamp(a));
create table t1 (a int) partition by hash (a + length(version()));
create function f1(x int) returns int deterministic return x;
create table t1 (a int) partition by hash (f1(a));
drop function f1;
