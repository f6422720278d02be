-- A variable whose assignment failed is NULL in the handler and after it.
create procedure s() begin declare v tinyint default 5; declare w varchar(2) default 'ab'; declare continue handler for sqlexception begin end; set v=300; select v; set w='abc'; select w; set v=7; set v=(select 1 union select 2); select v; set v=8, w='abcd'; select v,w; set v=9; select 300 into v; select v; end;
call s();
create function g(x tinyint) returns int begin declare continue handler for sqlexception begin end; set x=300; return x; end;
select g(3);
create procedure r() begin declare r row(x tinyint, y int) default (1,2); declare continue handler for sqlexception begin end; set r.x=300; select r.x, r.y; end;
call r();
create procedure q(out o tinyint) begin set o=300; end;
set @o=5;
call q(@o);
select @o;
