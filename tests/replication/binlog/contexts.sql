set names latin1; create table a (t varchar(10) comment 'c'); create view v as select 'x' as c from a; create procedure p() select 1; set names utf8mb3; drop procedure p; set names utf8mb4 collate utf8mb4_bin; drop view v; set names utf8mb4;
set time_zone = '+03:00'; create table z (a timestamp default '2020-01-01 00:00:00'); alter table z add b int; alter table z modify a datetime; drop table z; set time_zone = 'SYSTEM'; create table y (a int); insert into y values (1); create table x as select now() as n; create table w as select timestamp'2020-01-01 00:00:00' as n;
create table e (a timestamp null, b datetime); insert into e values ('2020-01-01 00:00:00', now()); alter table e modify a datetime; truncate e; drop table e;
set lc_time_names = 'de_DE'; create table f (a int); set lc_time_names = 'en_US'; drop table f;
set timestamp = 1000000000; create table g (a int); set timestamp = default; drop table g;
