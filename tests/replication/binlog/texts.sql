create database e; create temporary table tt (a int default 3);
create table e.a select 1 as x; create table e.b like tt; create table r (a int); create or replace table r select 1 as x; create or replace table r like tt;
create procedure e.p() select 1; create function e.f() returns int deterministic return 1; alter procedure e.p comment 'c'; drop procedure e.p; drop function e.f;
delimiter //
create table m1 (a int); insert into m1 values (1); create view v1 as select a from m1; alter table m1 add b int; insert into m1 values (2, 2)//
create procedure mixed() begin create view vn as select 3 as c; insert into m1 values (3, 3); create or replace table r (k int) ; drop view vn; end//
delimiter ;
call mixed();
set names latin1; create table l (e varchar(10) comment 'c') ; set names utf8mb4;
set time_zone = '+03:00'; create table tz (a timestamp default '2020-01-01 00:00:00'); alter table tz add b timestamp default '2021-01-01 00:00:00'; insert into tz values ('2022-01-01 00:00:00', '2023-01-01 00:00:00'); alter table tz modify b datetime; set time_zone = 'SYSTEM';
create table k (a int); create or replace table k (a int primary key) select 1 as a union all select 1;
drop table if exists absent, absent2; drop view if exists absent; drop table e.a, e.b; drop database e;
