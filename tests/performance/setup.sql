# The tables that switch what is measured.
select name, enabled from performance_schema.setup_consumers;
update performance_schema.setup_consumers set enabled = 'YES' where name like 'events_statements%';
select name, enabled from performance_schema.setup_consumers where name like '%statements%';
update performance_schema.setup_consumers set enabled = 'NO' where name = 'events_statements_history' limit 1;
update performance_schema.setup_consumers set enabled = 'X' where name like 'events_statements%';
update performance_schema.setup_consumers set enabled = NULL where name like 'events_statements%';
update performance_schema.setup_consumers set name = 'X';
update performance_schema.setup_consumers set nothing = 'X';
delete from performance_schema.setup_consumers;
insert into performance_schema.setup_consumers values ('a', 'YES');
truncate performance_schema.setup_consumers;
select * from performance_schema.setup_actors;
insert into performance_schema.setup_actors values ('h', 'u', '%', 'YES', 'NO');
insert into performance_schema.setup_actors values ('h', 'u', '%', 'YES', 'NO');
insert into performance_schema.setup_actors (host) values ('a'), ('b');
insert into performance_schema.setup_actors set host = 'c', enabled = 'NO';
insert into performance_schema.setup_actors values (1, 2);
insert into performance_schema.setup_actors select 'd', user, role, history, enabled from performance_schema.setup_actors where host = 'h';
-- sorted
select * from performance_schema.setup_actors;
update performance_schema.setup_actors set user = 'k' where host = 'h';
update performance_schema.setup_actors set history = 'YES', enabled = 'NO' where host = 'h';
update performance_schema.setup_actors set enabled = default where host = 'c';
update performance_schema.setup_actors as s set s.enabled = 'NO' where s.host = 'a';
-- sorted
select * from performance_schema.setup_actors;
delete from performance_schema.setup_actors where host in ('a', 'b') order by host limit 1;
delete from performance_schema.setup_actors where length(host) = 1 and host <> '%';
select * from performance_schema.setup_actors;
set @on = 'NO';
prepare s from 'update performance_schema.setup_actors set enabled = ? where host = ?';
set @host = '%';
execute s using @on, @host;
select * from performance_schema.setup_actors;
deallocate prepare s;
truncate performance_schema.setup_actors;
select * from performance_schema.setup_actors;
insert into performance_schema.setup_actors values ('%', '%', '%', 'YES', 'YES');
select name, enabled, timed from performance_schema.setup_instruments where name in ('statement/sql/select', 'statement/sql/checksum', 'statement/com/Ping') order by name;
update performance_schema.setup_instruments set enabled = 'NO', timed = 'NO' where name = 'statement/sql/do';
select name, enabled, timed from performance_schema.setup_instruments where name = 'statement/sql/do';
update performance_schema.setup_instruments set name = 'a' where name = 'statement/sql/do';
truncate performance_schema.setup_instruments;
delete from performance_schema.setup_instruments;
select * from performance_schema.setup_timers where name = 'statement';
update performance_schema.setup_timers set timer_name = 'MICROSECOND' where name = 'statement';
select * from performance_schema.setup_timers where name = 'statement';
update performance_schema.threads set instrumented = 'NO', history = 'NO' where processlist_id = connection_id();
select instrumented, history from performance_schema.threads where processlist_id = connection_id();
update performance_schema.threads set processlist_id = 1 where processlist_id = connection_id();
delete from performance_schema.threads;
truncate performance_schema.threads;
truncate performance_schema.session_connect_attrs;
truncate performance_schema.performance_timers;
insert into performance_schema.accounts values ('a', 'b', 1, 1);
update performance_schema.accounts set user = 'x';
delete from performance_schema.accounts;
# Privileges. UPDATE needs SELECT only of the columns that it reads.
create user v@localhost;
grant update on performance_schema.* to v@localhost;
-- user v
update performance_schema.setup_actors set history = 'NO';
update performance_schema.setup_consumers set enabled = 'YES' where name = 'statements_digest';
-- connection main
create user w@localhost;
grant select on performance_schema.* to w@localhost;
-- user w
select enabled from performance_schema.setup_consumers where name = 'statements_digest';
update performance_schema.setup_consumers set enabled = 'YES';
truncate performance_schema.events_statements_summary_by_digest;
insert into performance_schema.setup_actors (host) values ('a');
delete from performance_schema.setup_actors;
-- connection main
grant update, insert, delete, drop on performance_schema.* to w@localhost;
-- quit w
-- user w
update performance_schema.setup_consumers set enabled = 'YES' where name = 'statements_digest';
truncate performance_schema.events_statements_summary_by_digest;
insert into performance_schema.setup_actors (host) values ('a');
delete from performance_schema.setup_actors where host = 'a';
update performance_schema.accounts set user = 'x';
