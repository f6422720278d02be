-- errors:
create table a (id int unsigned not null auto_increment primary key comment 'the key', `odd ``name` varchar(20) default 'it''s', d decimal(10,3) default 1.5,
 ts timestamp(3) not null default current_timestamp(3) on update current_timestamp(3), e enum('x','y''z') charset latin1 default 'x', s set('a','b') not null default 'b',
 j json, g int generated always as (id_ + 1) stored, id_ int default 4 invisible, v varchar(40) as (concat('v', d)) virtual, c int default (1 + 2), check (c > 0),
 constraint named check (d < 1000), key k1 (d, ts), unique key u1 (`odd ``name`(5))) engine=InnoDB auto_increment=100 comment='t''c' row_format=dynamic;
insert into a (`odd ``name`) values ('one'), ('two'); alter table a add column z int first, add index k2 (z), drop index k1, rename column c to cc;
alter table a modify d decimal(12,4) not null default 2, change e ee varchar(30) charset utf8mb4 collate utf8mb4_bin, alter column cc set default 9;
alter table a drop constraint named, add constraint named2 check (z is null or z < 100), comment='new', auto_increment=500; insert into a (`odd ``name`, z) values ('three', 5);
alter table a rename index k2 to k3; create unique index u2 on a (z); drop index u2 on a; alter table a alter index k3 ignored;
create table b like a; insert into b (`odd ``name`) values ('b'); create table b2 select id, d from a; create table b3 (k int primary key, x int default 7) as select id as k from a;
create or replace table b2 (only_one int); create table if not exists b2 (ignored_ int); create table if not exists b4 (a int) charset cp1251; rename table b to r1, b2 to b, r1 to b2;
create table parent (a int, b int, primary key (a, b)); create table child (a int, b int, c int primary key, constraint fk1 foreign key (a, b) references parent (a, b) on delete set null on update cascade);
alter table child add d int, add constraint fk2 foreign key (d) references parent (a); insert into parent values (1, 1), (2, 2); insert into child values (1, 1, 1, 1), (2, 2, 2, null);
alter table child drop foreign key fk2; delete from parent where a = 2;
set foreign_key_checks = 0; create table early (a int primary key, p int, foreign key (p) references later (a)); create table later (a int primary key); set foreign_key_checks = 1;
create view v1 as select a.id, b4.a as x from a left join b4 on b4.a = a.id; create or replace algorithm=merge sql security invoker view v2 (n, m) as select id, concat('\'', id, 'é') from a where id > 0 with check option;
alter view v1 as select 1 as one; create view `v 3` as select * from v2; drop view v1;
delimiter //
create procedure p1(in x int, out y varchar(20) charset latin1, inout z decimal(5,2)) comment 'it''s' sql security invoker reads sql data begin declare c cursor for select 1; set y = concat('é', x); end//
create function f1(x varchar(10) charset utf8mb4) returns varchar(30) charset latin1 deterministic begin return concat(x, '!'); end//
create or replace function f2() returns int return (select count(*) from a)//
create trigger t1 before insert on later for each row begin set new.a = new.a * 10; end//
create trigger t2 after update on later for each row insert into b4 values (new.a)//
create trigger t3 after update on later for each row precedes t2 insert into b4 values (-new.a)//
create procedure p2() begin create table inside (a int); insert into inside values (1); insert into later values (4); drop table inside; end//
delimiter ;
insert into later values (1), (2); update later set a = a + 1; call p2(); drop trigger t3; alter procedure p1 comment 'changed' sql security definer; drop function f2; create procedure if not exists p1() select 1;
set sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES'; create table "quoted" ("a b" varchar(20) default 'x\'); insert into "quoted" values ('p' || 'q'), ('\n'); create view "vq" as select "a b" || 'z' as "c" from "quoted";
create function fq() returns varchar(20) return 'a' || '\'; set sql_mode = default;
set sql_mode = 'ORACLE'; create table ora (a varchar2(20), b number(5)); set sql_mode = default;
set sql_mode = ''; create table loose (a tinyint not null, b date, c char(3)); insert into loose values (1000, '2020-02-31', 'long'), (null, '0000-00-00', ''); insert into loose (b) values ('2020-00-10'); set sql_mode = default;
set names latin1; create table `t_latin` (a varchar(20) charset latin1 default 'é'); set names utf8mb4;
set names cp1251; create table tcp (a varchar(20) charset cp1251 default 'ôæ'); insert into tcp values ('абв'), (default); set names utf8mb4;
set collation_connection = utf8mb4_bin; create table colls (a varchar(10), b varchar(10) collate utf8mb4_unicode_ci, c char(4) charset ucs2, d text charset utf16); insert into colls values ('a', 'B', 'ж', 'y'); set names utf8mb4;
create database other charset latin1 collate latin1_bin comment 'c'; create table other.t (a varchar(10)); insert into other.t values ('é'); alter database other charset utf8mb4; create table other.u (a varchar(10)); rename table other.u to moved;
create sequence s1; create sequence s2 start 10 increment -2 minvalue -100 maxvalue 10 cache 5 cycle; select nextval(s1), nextval(s1), nextval(s2); select setval(s2, 0); alter sequence s1 restart 50; select next value for s1; create table sd (a int default nextval(s1), b int); insert into sd (b) values (1), (2); create sequence s3 nocache; select nextval(s3), nextval(s3); rename table s3 to s4;
truncate table b4; insert into b4 values (8); truncate b4; optimize table b4; analyze table b4; check table b4; repair table b4; flush tables; analyze table a persistent for all;
drop table b3, moved; drop table if exists nothing_, b4; drop view if exists nothing_, `v 3`; drop sequence s4; create table `weird $@ ./table` (a int); insert into `weird $@ ./table` values (1); create table `таблица` (`столбец` int); insert into `таблица` values (1); create database `ba-se.1`; create table `ba-se.1`.`x.y` (a int primary key); insert into `ba-se.1`.`x.y` values (1);
set timestamp = 1700000000.5; create table stamps (a datetime(6) default now(6), b timestamp default now()); insert into stamps values (); alter table stamps add c datetime default now(); set timestamp = default;
create temporary table tmp (a int); insert into tmp values (1), (2); insert into b select a from tmp; create table from_tmp as select * from tmp; create table like_tmp like tmp; drop temporary table tmp;
create or replace user u1@localhost identified by 'pass''word', u2@'%' identified via mysql_native_password using '*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19', `u 3`@'10.0.0.%' require ssl with max_queries_per_hour 5 account lock password expire interval 30 day;
create or replace role r1, r2; grant select, insert (`odd ``name`), update on d.a to u1@localhost with grant option; grant execute on procedure d.p1 to u2@'%'; grant all on other.* to r1; grant r1 to u1@localhost with admin option; grant r1 to u2@'%'; set default role r1 for u2@'%';
grant create user, process on *.* to u2@'%'; revoke insert (`odd ``name`), update on d.a from u1@localhost; set password for u1@localhost = password('new'); alter user u2@'%' identified by 'x' require x509; rename user `u 3`@'10.0.0.%' to u4@h; grant r2 to r1; revoke r1 from u2@'%'; drop role r2; create user gone@h; drop user gone@h; grant usage on *.* to u5@h identified by 'implicit';
revoke all privileges, grant option from u2@'%'; flush privileges;
