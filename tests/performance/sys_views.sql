# Views of the schema sys over statements.
create database d;
create table d.t (a int primary key, b int);
create user a@localhost;
grant all on *.* to a@localhost;
-- user a
use d;
insert into t values (1, 1), (2, 2), (3, 3);
select * from t where a = 1;
select * from t;
select * from t order by b;
select b, count(*) from t group by b;
select * from nix;
select 1/0;
update t set b = b + 1;
-- connection main
-- sorted
select query, db, full_scan, exec_count, err_count, warn_count, total_latency regexp ' (us|ms|s)$', max_latency = avg_latency, rows_sent, rows_sent_avg, rows_affected, rows_affected_avg, tmp_tables, tmp_disk_tables, rows_sorted, sort_merge_passes, length(digest), first_seen <= last_seen from sys.statement_analysis where db = 'd';
-- sorted
select query, db, full_scan, exec_count, total_latency > 1000, max_latency = avg_latency from sys.`x$statement_analysis` where db = 'd';
select query, db, exec_count, errors, error_pct, warnings, warning_pct from sys.statements_with_errors_or_warnings where db = 'd';
select query, db, exec_count, errors, error_pct, warnings, warning_pct from sys.`x$statements_with_errors_or_warnings` where db = 'd';
-- sorted
select query, db, exec_count, no_index_used_count, no_good_index_used_count, no_index_used_pct, rows_sent, rows_sent_avg from sys.statements_with_full_table_scans where db = 'd';
-- sorted
select query, db, exec_count, sort_merge_passes, avg_sort_merges, sorts_using_scans, sort_using_range, rows_sorted, avg_rows_sorted from sys.statements_with_sorting where db = 'd';
-- sorted
select query, db, exec_count, memory_tmp_tables, disk_tmp_tables, avg_tmp_tables_per_query, tmp_tables_to_disk_pct from sys.statements_with_temp_tables where db = 'd';
-- sorted
select user, statement, total, rows_sent, rows_affected, full_scans from sys.user_summary_by_statement_type where user = 'a' and statement in ('insert', 'select', 'update');
-- sorted
select user, rows_sent, rows_affected, full_scans, total_latency regexp ' (us|ms|s)$' from sys.user_summary_by_statement_latency where user in ('a', 'background');
select user, rows_sent, total_latency > 1000 from sys.`x$user_summary_by_statement_latency` where user = 'a';
select host, total > 5 from sys.host_summary_by_statement_latency;
select host, statement, total, rows_affected from sys.`x$host_summary_by_statement_type` where statement = 'insert';
select table_name, column_name, column_type, is_nullable from information_schema.columns where table_schema = 'sys' and table_name like '%statements\_with\_%' and table_name not like '%95th%' and (table_name not like '%full\_table%' or column_name not like 'rows%avg') order by table_name, ordinal_position;
select table_name, column_name, column_type, is_nullable from information_schema.columns where table_schema = 'sys' and table_name like '%statement\_analysis' order by table_name, ordinal_position;
select table_name, column_name, column_type, if(column_name = 'statement', '', is_nullable) from information_schema.columns where table_schema = 'sys' and (table_name like '%summary\_by\_statement\_latency' or table_name like '%summary\_by\_statement\_type') order by table_name, ordinal_position;
-- sorted
select table_name, table_type from information_schema.tables where table_schema = 'sys' and table_name like '%statement%';
