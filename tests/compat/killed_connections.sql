-- A connection that is killed counts as an aborted client.

select variable_value into @before from information_schema.global_status where variable_name = 'ABORTED_CLIENTS';

b: kill connection_id();

select sleep(1);

select variable_value - @before from information_schema.global_status where variable_name = 'ABORTED_CLIENTS';

c: select get_lock('killed_connections', 0);

set @id = is_used_lock('killed_connections');

execute immediate concat('kill ', @id);

select sleep(1);

select variable_value - @before from information_schema.global_status where variable_name = 'ABORTED_CLIENTS';
