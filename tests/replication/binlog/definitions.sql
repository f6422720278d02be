create table t (a int primary key, b int); create table if not exists t (a int);
drop table if exists nope; create table u (a int); create table w (a int) ; drop table u, w; drop table if exists t, nope2;
create temporary table tt (a int); insert into tt values (1); create table from_tt like tt; create table sel select * from tt; alter table tt add b int; drop table tt;
create temporary table tt (a int); drop temporary table tt; drop table if exists tt;
create view v as select 1 as x; create or replace view v as select 2 as x; drop view v; drop view if exists v;
create table t (a int primary key, b int); create trigger tr before insert on t for each row set new.b=1; drop trigger tr; drop trigger if exists tr;
create procedure p1() select 1; drop procedure p1; drop procedure if exists p1; create function f1() returns int return 3; alter function f1 comment 'x'; drop function f1;
delimiter //
create procedure p2() begin create table inner_t (a int); insert into t values (7,7); drop table inner_t; end//
delimiter ;
call p2();
create sequence s; select nextval(s); select setval(s, 100); alter sequence s increment 5; drop sequence s; 
rename table t to t9; alter table t9 add c int, add key(c); truncate t9; create index i on t9(b); drop index i on t9; analyze table t9; optimize table t9; flush tables; flush tables t9; 
create user x@y identified by 'pw'; grant select on *.* to x@y; set password for x@y = password('p2'); drop user x@y; drop user if exists x@y; create role r1; drop role r1; flush privileges;
create or replace table t9 (z int); create table if not exists t9 select 1 as z; create table ctas (k int primary key) select 5 as k, 'x' as y;
insert into t9 values (1); begin; insert into t9 values (2); savepoint a; insert into t9 values (3); rollback to a; commit; begin; insert into t9 values (4); rollback;
create table m (a int) engine=myisam; begin; insert into m values (1); insert into t9 values (5); rollback; update t9 set z=z; 
alter database d character set latin1; xa start 'a'; insert into t9 values (9); xa end 'a'; xa prepare 'a'; xa commit 'a'; xa start 'b'; insert into t9 values (10); xa end 'b'; xa commit 'b' one phase;
