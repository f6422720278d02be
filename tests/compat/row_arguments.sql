# A row is no argument of a function or procedure whose parameter has one value.
create function f(p int) returns int return p;
create procedure p(a int) select a;
select f(row(1,2));
select f((1,2));
select f((select 1,2));
do f(row(1,2));
call p(row(1,2));
call p((select 1,2));
select f(1);
