-- Creation and update times of tables, and their time zone.

create table a(id int primary key, b int);

create table b(id int);

select update_time is null from information_schema.tables where table_schema=database() order by table_name;

insert into a values(1,1);

update b set id=1;

delete from b;

select table_name, update_time is null, update_time between now()-interval 60 second and now() from information_schema.tables where table_schema=database() order by table_name;

set time_zone='+05:00';

insert into b values(1);

create procedure p() select 1;

create trigger t before insert on a for each row set new.b=1;

select table_name, abs(timestampdiff(second,update_time,now()))<60, abs(timestampdiff(second,create_time,now()))<60 from information_schema.tables where table_schema=database() order by table_name;

select abs(timestampdiff(second,update_time,now()))<60, abs(timestampdiff(second,create_time,now()))<60 from information_schema.partitions where table_schema=database();

select abs(timestampdiff(second,created,now()))<60, abs(timestampdiff(second,last_altered,now()))<60 from information_schema.routines where routine_schema=database();

select abs(timestampdiff(second,created,now()))<60 from information_schema.triggers where trigger_schema=database();

