# KILL takes its number from a placeholder, a variable or an argument.
prepare k from 'kill query ?';
set @i = 4000000000;
execute k using @i;
set @s = '4000000003';
execute k using @s;
execute immediate 'kill ?' using 4000000001;
execute immediate 'kill query id ?' using 4000000002;
set @i = 4000000005;
kill @i;
create procedure p(i bigint) kill i;
call p(4000000004);
drop procedure p;
