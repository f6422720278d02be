-- A NULL of a number is refused where addresses are kept, as its type says; also if there is no row.

create table t1 (a inet4);

alter table t1 modify a int;

insert into t1 values (null);

alter table t1 modify a datetime;

show create table t1;

create table t2 (a int);

alter table t2 modify a uuid;

insert into t2 values (null);

alter ignore table t2 modify a inet6;

show create table t2;

insert into t1 select null;

insert into t1 values (@x);

create procedure p1() begin declare src int default null; declare dst inet4 default null; set dst = src; end;

call p1();

create procedure p2(a inet4) begin end;

call p2((select max(a) from t1));

call p2((select 1 from t1 where 0));

call p2(null);

create function f1() returns inet4 begin declare rc int default null; return rc; end;

select f1();

create function f2(a inet4) returns int return null;

select f2((select count(*) from t1 having 0));

set sql_mode = '';

call p1();

drop procedure p1;

drop procedure p2;

drop function f1;

drop function f2;

drop table t1, t2;
