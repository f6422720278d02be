# Threads, accounts, users, hosts and what clients tell about themselves.
create user a@localhost;
grant select on performance_schema.* to a@localhost;
select user, host, current_connections from performance_schema.accounts where user is not null;
-- user a
select name, type, processlist_id = connection_id(), processlist_user, processlist_host, processlist_db, processlist_command, processlist_state, processlist_info, parent_thread_id, role, instrumented, history, connection_type from performance_schema.threads where processlist_id = connection_id();
select attr_name, if(attr_name = '_pid', 'pid', attr_value), ordinal_position from performance_schema.session_connect_attrs where processlist_id = connection_id();
select count(distinct processlist_id) from performance_schema.session_account_connect_attrs;
-- connection main
select count(distinct processlist_id) from performance_schema.session_connect_attrs;
-- sorted
select user, host, current_connections from performance_schema.accounts where user is not null;
-- sorted
select user, current_connections from performance_schema.users where user is not null;
select host, current_connections from performance_schema.hosts where host is not null;
-- quit a
select user, host, current_connections, total_connections from performance_schema.accounts where user = 'a';
select user, current_connections, total_connections from performance_schema.users where user = 'a';
-- user a
select user, host, current_connections, total_connections from performance_schema.accounts where user = 'a';
-- quit a
-- connection main
truncate performance_schema.accounts;
select user, host, current_connections, total_connections from performance_schema.accounts where user is not null;
truncate performance_schema.users;
truncate performance_schema.hosts;
select user, current_connections, total_connections from performance_schema.users where user is not null;
select host, current_connections, total_connections from performance_schema.hosts where host is not null;
# Tables that need no privilege.
create user nobody@localhost;
-- user nobody
select count(*) > 300 from performance_schema.global_status;
select variable_value > 0 from performance_schema.session_status where variable_name = 'Bytes_sent';
select count(*) > 0 from performance_schema.session_account_connect_attrs;
select count(*) from performance_schema.session_connect_attrs;
select count(*) from performance_schema.threads;
-- connection main
# Sessions that setup_actors leaves out.
update performance_schema.setup_actors set enabled = 'NO', history = 'NO';
insert into performance_schema.setup_actors values ('localhost', 'a', '%', 'YES', 'NO');
-- connection other
select instrumented, history from performance_schema.threads where processlist_id = connection_id();
-- user a
select instrumented, history from performance_schema.threads where processlist_id = connection_id();
