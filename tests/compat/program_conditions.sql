-- Conditions that functions raise in the statement that calls them, and that CALL leaves behind.

set sql_mode='';

create table t(a tinyint, b varchar(2));

create table w(a tinyint);

create function f1() returns int begin declare y tinyint; set y=700; return y; end;

create function f2() returns int begin declare y tinyint; set y=700; set y=1; return y; end;

create function f3() returns int begin declare y tinyint; set y=700; set y=800; return y; end;

create function f4() returns tinyint return 700;

create function f5(a tinyint) returns tinyint return a;

create function f6() returns int begin insert into w values(500); return 1; end;

create function f7() returns int begin insert into w values(500); insert into w values(1); return 1; end;

create function f8() returns int begin declare y date; if cast('x' as signed)=0 then return 1; end if; return 2; end;

create function f9() returns int begin declare y int; return cast('x' as signed); end;

create function f10() returns int begin declare y int; select a into y from t where 0; return y; end;

create function f11() returns int begin declare continue handler for sqlwarning set @h=1; insert into w values(500); return 1; end;

create function f12() returns int begin declare y int; signal sqlstate '01000' set message_text='warn'; return 1; end;

create trigger tr before insert on t for each row begin set new.a=new.a*100; end;

create trigger tr2 after insert on t for each row begin insert into w values(new.a*10); end;

create procedure p1() begin declare y tinyint; set y=700; end;

create procedure p2() begin declare y tinyint; set y=700; set y=1; end;

create procedure p3() begin insert into w values(500); end;

create procedure p4() begin insert into w values(500); select 1; end;

create procedure p5() begin declare y tinyint; call p3(); set y=1; end;

create procedure p6() begin declare y tinyint; set y=f1(); end;

select f1();

select f2();

select f3();

select f4();

select f5(300);

select f6();

select f7();

select f8();

select f9();

select f10();

select f11();

select f12();

select f1(),f4() from (select 1 union select 2) d;


insert into t values(1,'a'),(2,'b'),(3,'ccc');

insert into t values(f1(),f4());


set @x=f1();

do f1();

call p1();

call p2();

call p3();

call p4();

call p5();

call p6();

create view v as select f1() a;

select * from v;

select * from t where a=f1();

set sql_mode=default;

insert into t values(1,'a'),(2,'b'),(3,'ccc');

insert into t values(1,'a');

insert into w values(f1());

insert into w values(f5(300));

select f5(300);

insert ignore into w values(f5(300));

