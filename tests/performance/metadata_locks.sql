# Metadata locks of other sessions.
create database d;
create table d.t (a int primary key, b int);
create table d.u (a int primary key);
insert into d.t values (1, 1);
create user a@localhost;
grant all on *.* to a@localhost;
select enabled, timed from performance_schema.setup_instruments where name = 'wait/lock/metadata/sql/mdl';
-- user a
begin;
select * from d.t;
-- connection main
select count(*) from performance_schema.metadata_locks;
-- user a
commit;
-- connection main
update performance_schema.setup_instruments set enabled = 'YES' where name = 'wait/lock/metadata/sql/mdl';
-- user a
begin;
select * from d.t;
-- connection main
select object_type, object_schema, object_name, lock_type, lock_duration, lock_status, owner_thread_id = sys.ps_thread_id((select id from information_schema.processlist where user = 'a')) from performance_schema.metadata_locks where object_schema = 'd';
-- user a
update d.t set b = 2;
-- connection main
select object_type, object_schema, object_name, lock_type, lock_duration, lock_status from performance_schema.metadata_locks where object_schema = 'd' and lock_type = 'SHARED_WRITE';
-- user a
commit;
lock tables d.u write;
-- connection main
select object_type, object_schema, object_name, lock_type, lock_status from performance_schema.metadata_locks where object_schema = 'd' and object_type = 'TABLE';
-- user a
unlock tables;
-- connection main
select count(*) from performance_schema.metadata_locks where object_schema = 'd';
