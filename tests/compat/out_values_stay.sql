# Values of OUT parameters of functions go to the variables of their own statement only.
create function f(out x int) returns int begin set x = 99; return 1; end;
create function g() returns int begin signal sqlstate '45000'; return 1; end;
create procedure q(v int) begin set @z = v + 0; select v; end;
# After an error.
create procedure p() begin declare a int default 1; set @r = f(a) + g(); end;
call p();
call q(7);
create or replace procedure p() begin declare b int default 3; declare a int default 1; declare continue handler for sqlexception select a, b; set @r = f(a) + g(); set @z = b + 0; select a, b; end;
call p();
create or replace procedure p() begin declare b int default 3; declare a int default 1; declare continue handler for sqlexception select a, b; set b = f(a) + g(); set @z = b + 0; select a, b; end;
call p();
create or replace procedure p() begin declare b int default 3; declare a int default 1; declare continue handler for sqlexception select a, b; if f(a) + g() then select 'true'; end if; set @z = b + 0; select a, b; end;
call p();
create or replace procedure p() begin declare b int default 3; declare a int default 1; declare continue handler for sqlexception select a, b; case f(a) + g() when 1 then select 'true'; else select 'else'; end case; set @z = b + 0; select a, b; end;
call p();
create or replace procedure p() begin declare b int default 3; declare a int default 1; declare continue handler for sqlexception select a, b; begin declare c int default f(a) + g(); select a, b, c; end; set @z = b + 0; select a, b; end;
call p();
create function k() returns int begin declare b int default 3; declare a int default 1; declare continue handler for sqlexception set @s = a; return f(a) + g(); end;
set @s = 0;
select k();
select @s;
set @u = 5;
set @x = f(@u) + g();
select @u;
# Outside of a program.
prepare s from 'set @x = f(?)';
set @b = 1;
execute s using @b;
call q(7);
select @b;
prepare s from 'do f(?)';
execute s using @b;
call q(7);
select @b;
execute immediate 'set @x = f(?) + ?' using @b, @b;
call q(7);
select @x, @b;
# In the statement of an EXECUTE.
create procedure r() begin declare a int default 5; prepare s from 'set @x = f(?) + ?'; execute s using @u, a; select a; end;
set @u = 1;
call r();
select @u, @x;
create or replace procedure r() begin declare a, b int default 5; prepare s from 'set @x = f(?) + ?'; execute s using b, a; select a, b; end;
call r();
create or replace procedure r() begin declare a, b int default 5; execute immediate 'do f(?) + ?' using b, a; select a, b; end;
call r();
create or replace procedure r() begin declare a, b int default 5; prepare s from 'set @x = f(?) + g()'; begin declare continue handler for sqlexception select a, b; execute s using b; end; set @z = a + 0; select a, b; end;
call r();
# Rows.
create or replace procedure r() begin declare v row (i int, j int); declare a int default 1; declare b int default 2; set v = row(b, f(a)); select v.i, v.j, a, b; set @z = b + 0; select a, b; end;
call r();
create or replace procedure r() begin declare v row (i int, j int); declare b int default 2; declare a int default 1; set v = (select b, f(a)); select v.i, v.j, a, b; set @z = b + 0; select a, b; end;
call r();
drop procedure p;
drop procedure q;
drop procedure r;
