# RESIGNAL without a handler leaves the conditions of the statement before.
set sql_mode = '';
create procedure p() begin declare v tinyint; set v = 'x'; resignal; end;
call p();
show warnings;
create procedure q() begin declare v tinyint; declare exit handler for sqlexception begin get diagnostics @n = number; select @n; show warnings; end; set v = 'x'; resignal set message_text = 'again'; end;
call q();
resignal;
set sql_mode = default;
