# Statements of one session, as tables of events and summaries show them.
update performance_schema.setup_consumers set enabled = 'YES' where name like 'events_statements%';
create database d;
create table d.t (a int primary key, b int);
create user a@localhost;
grant all on *.* to a@localhost;
-- user a
use d;
insert into t values (1, 1), (2, 2), (3, 3);
select * from t where a = 1;
select * from t where a = 2;
select * from t;
select * from t order by b;
select b, count(*) from t group by b;
update t set b = b + 1 where b = 3;
update t set b = b + 1 where a = 1;
delete from t where a = 5;
delete from t where b = 77;
replace into t values (1, 1);
selec 1;
select * from nix;
insert into t values (1, 1);
select 1/0;
select 1 union select 2;
set @a = 1;
begin;
commit;
rollback;
create table u (a int);
create temporary table v (a int);
drop temporary table v;
drop table u;
drop table if exists u2;
prepare s from 'select a from t where a = ?';
execute s using @a;
deallocate prepare s;
do 1;
checksum table t;
truncate t;
-- connection main
select event_name, sql_text, digest_text, current_schema, mysql_errno, returned_sqlstate, message_text, errors, warnings, rows_affected, rows_sent, select_full_join, select_range, select_scan, sort_rows, sort_scan, no_index_used, no_good_index_used, nesting_event_level, timer_end - timer_start = timer_wait, timer_wait > 0, end_event_id >= event_id, length(digest) from performance_schema.events_statements_history_long where thread_id = (select thread_id from performance_schema.threads where processlist_user = 'a') and event_name like 'statement/sql/%';
select count(*), min(event_name) from performance_schema.events_statements_history where thread_id = (select thread_id from performance_schema.threads where processlist_user = 'a');
select event_name, sql_text, digest_text from performance_schema.events_statements_current where thread_id = (select thread_id from performance_schema.threads where processlist_user = 'a');
select event_name, sql_text, end_event_id, timer_wait > 0, current_schema from performance_schema.events_statements_current where thread_id = (select thread_id from performance_schema.threads where processlist_id = connection_id());
-- sorted
select schema_name, digest_text, count_star, sum_errors, sum_warnings, sum_rows_affected, sum_rows_sent, sum_select_full_join, sum_select_range, sum_select_scan, sum_sort_rows, sum_sort_scan, sum_no_index_used, sum_timer_wait >= max_timer_wait, min_timer_wait > 0, avg_timer_wait >= min_timer_wait, first_seen <= last_seen, timestampdiff(minute, last_seen, now()) from performance_schema.events_statements_summary_by_digest where schema_name = 'd';
-- sorted
select event_name, count_star, sum_errors, sum_rows_affected, sum_rows_sent, sum_warnings from performance_schema.events_statements_summary_by_account_by_event_name where user = 'a' and count_star > 0 and event_name like 'statement/sql/%';
-- sorted
select event_name, count_star, sum_errors, sum_rows_affected, sum_rows_sent from performance_schema.events_statements_summary_by_user_by_event_name where user = 'a' and count_star > 0 and event_name like 'statement/sql/%';
select count_star from performance_schema.events_statements_summary_by_host_by_event_name where host = 'localhost' and event_name = 'statement/sql/insert';
select count_star, sum_rows_affected from performance_schema.events_statements_summary_global_by_event_name where event_name = 'statement/sql/insert';
select count_star from performance_schema.events_statements_summary_by_thread_by_event_name where event_name = 'statement/sql/insert' and thread_id = (select thread_id from performance_schema.threads where processlist_user = 'a');
# TRUNCATE moves the sums of a thread to its account, and so on.
truncate performance_schema.events_statements_summary_by_thread_by_event_name;
select count_star from performance_schema.events_statements_summary_by_thread_by_event_name where event_name = 'statement/sql/insert' and thread_id = (select thread_id from performance_schema.threads where processlist_user = 'a');
select count_star from performance_schema.events_statements_summary_by_account_by_event_name where event_name = 'statement/sql/insert' and user = 'a';
truncate performance_schema.events_statements_summary_by_account_by_event_name;
select count_star from performance_schema.events_statements_summary_by_account_by_event_name where event_name = 'statement/sql/insert' and user = 'a';
select count_star from performance_schema.events_statements_summary_by_user_by_event_name where event_name = 'statement/sql/insert' and user = 'a';
select count_star from performance_schema.events_statements_summary_by_host_by_event_name where event_name = 'statement/sql/insert' and host = 'localhost';
truncate performance_schema.events_statements_summary_by_user_by_event_name;
select count_star from performance_schema.events_statements_summary_by_user_by_event_name where event_name = 'statement/sql/insert' and user = 'a';
select count_star from performance_schema.events_statements_summary_by_host_by_event_name where event_name = 'statement/sql/insert' and host = 'localhost';
truncate performance_schema.events_statements_summary_by_host_by_event_name;
select count_star from performance_schema.events_statements_summary_by_host_by_event_name where event_name = 'statement/sql/insert' and host = 'localhost';
select count_star from performance_schema.events_statements_summary_global_by_event_name where event_name = 'statement/sql/insert';
truncate performance_schema.events_statements_summary_global_by_event_name;
select count_star from performance_schema.events_statements_summary_global_by_event_name where event_name = 'statement/sql/insert';
# Sums of a session that ends.
-- user a
select 7;
-- quit a
-- connection main
select count_star from performance_schema.events_statements_summary_by_user_by_event_name where event_name = 'statement/sql/select' and user = 'a';
truncate performance_schema.events_statements_summary_by_digest;
select digest_text, count_star from performance_schema.events_statements_summary_by_digest;
truncate performance_schema.events_statements_history;
truncate performance_schema.events_statements_history_long;
select sql_text from performance_schema.events_statements_history_long;
# What is switched off is not counted.
update performance_schema.setup_instruments set timed = 'NO' where name = 'statement/sql/do';
do 2;
select timer_wait from performance_schema.events_statements_history_long where sql_text = 'do 2';
update performance_schema.setup_consumers set enabled = 'NO' where name = 'statements_digest';
do 2, 3, 4;
select digest_text from performance_schema.events_statements_history_long where sql_text = 'do 2, 3, 4';
select count(*) from performance_schema.events_statements_summary_by_digest where digest_text like 'DO ?, ...%';
update performance_schema.setup_consumers set enabled = 'NO' where name = 'global_instrumentation';
truncate performance_schema.events_statements_summary_global_by_event_name;
do 5;
select count_star from performance_schema.events_statements_summary_global_by_event_name where event_name = 'statement/sql/do';
