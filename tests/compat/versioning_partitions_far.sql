-- Ends of history partitions near the end of all TIMESTAMPs.
set time_zone = '+00:00';
create table y1 (id int primary key, b int) with system versioning partition by system_time interval 20 year starts '2020-01-01' auto;
show create table y1;
select partition_name, partition_description from information_schema.partitions where table_name='y1' and table_schema=database();
create table y2 (id int primary key, b int) with system versioning partition by system_time interval 6 year starts '2026-01-01' partitions 3;
select partition_name, partition_description from information_schema.partitions where table_name='y2' and table_schema=database();
create table y3 (id int primary key, b int) with system versioning partition by system_time interval 6 year starts '2026-01-01' partitions 4;
select partition_name, partition_description from information_schema.partitions where table_name='y3' and table_schema=database();
create table y4 (id int primary key, b int) with system versioning partition by system_time interval 1 year starts '2035-02-28' auto partitions 3;
insert into y4 values (1,1);
set timestamp=unix_timestamp('2037-03-03 10:00:00');
update y4 set b=2;
select partition_name, partition_description from information_schema.partitions where table_name='y4' and table_schema=database();
set timestamp=unix_timestamp('2038-01-10 10:00:00');
update y4 set b=3;
select partition_name, partition_description from information_schema.partitions where table_name='y4' and table_schema=database();
alter table y4 add partition partitions 1;
select count(*) from y4 for system_time all;
