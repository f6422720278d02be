# Parameters of cursors and bounds of FOR loops are set in steps of their own; ROW_COUNT() behind SET.
set sql_mode = '';
create table t (id int, a int);
insert into t values (1, 1), (2, 2);
create procedure p1() begin declare z varchar(5) default 'zz'; declare c cursor (p int) for select a from t where id <= p; declare continue handler for sqlwarning select 'handled'; open c(z); select 'opened'; close c; end;
call p1();
create procedure p2() begin declare c cursor (p int, q int) for select a from t where id <= p + q; declare continue handler for sqlexception select 'handled'; declare continue handler for sqlwarning select 'warned'; open c((select 1 union select 2), 'ab'); select 'opened'; open c(1, 'x'); close c; end;
call p2();
create procedure p4() begin declare continue handler for sqlwarning select 'handled'; for i in 'ab' .. 1 do select i; end for; for i in 1 .. '2x' do select i; end for; for r in (select a from t where id < 2) do select r.a; end for; end;
call p4();
create procedure p5() begin declare exit handler for sqlexception select 'left'; for i in 1 .. null do select i; end for; select 'not here'; end;
call p5();
create procedure p6() begin declare c cursor (p int) for select a from t where id <= p; declare continue handler for sqlwarning select 'handled'; for r in c('1x') do select r.a; end for; end;
call p6();
create procedure p7() begin set @g = 1; get diagnostics @r = row_count; select @r; select 1; get diagnostics @r = row_count; select @r; insert into t values (3, 3); set @g = 2; get diagnostics @r = row_count; select @r, row_count(); execute immediate 'select 1'; select row_count(); end;
call p7();
create procedure p8() begin declare x int; declare c cursor for select a from t; insert into t values (4, 4); open c; select row_count(); fetch c into x; select row_count(); close c; select row_count(); update t set a = a + 1; for r in (select a from t where id = 1) do select row_count(); end for; end;
call p8();
set sql_mode = default;
