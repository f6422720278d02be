# Views of the schema sys, each behind a line of dashes. A view whose name begins with x$ has bare numbers.
----
sys.statement_analysis AS
SELECT sys.format_statement(digest_text) AS query, schema_name AS db,
  IF(sum_no_good_index_used > 0 OR sum_no_index_used > 0, '*', '') AS full_scan, count_star AS exec_count,
  sum_errors AS err_count, sum_warnings AS warn_count, sys.format_time(sum_timer_wait) AS total_latency,
  sys.format_time(max_timer_wait) AS max_latency, sys.format_time(avg_timer_wait) AS avg_latency,
  sys.format_time(sum_lock_time) AS lock_latency, sum_rows_sent AS rows_sent,
  ROUND(IFNULL(sum_rows_sent / NULLIF(count_star, 0), 0)) AS rows_sent_avg, sum_rows_examined AS rows_examined,
  ROUND(IFNULL(sum_rows_examined / NULLIF(count_star, 0), 0)) AS rows_examined_avg,
  sum_rows_affected AS rows_affected,
  ROUND(IFNULL(sum_rows_affected / NULLIF(count_star, 0), 0)) AS rows_affected_avg,
  sum_created_tmp_tables AS tmp_tables, sum_created_tmp_disk_tables AS tmp_disk_tables, sum_sort_rows AS rows_sorted,
  sum_sort_merge_passes AS sort_merge_passes, digest AS digest, first_seen AS first_seen, last_seen AS last_seen
FROM performance_schema.events_statements_summary_by_digest ORDER BY sum_timer_wait DESC
----
sys.`x$statement_analysis` AS
SELECT digest_text AS query, schema_name AS db,
  IF(sum_no_good_index_used > 0 OR sum_no_index_used > 0, '*', '') AS full_scan, count_star AS exec_count,
  sum_errors AS err_count, sum_warnings AS warn_count, sum_timer_wait AS total_latency,
  max_timer_wait AS max_latency, avg_timer_wait AS avg_latency, sum_lock_time AS lock_latency,
  sum_rows_sent AS rows_sent, ROUND(IFNULL(sum_rows_sent / NULLIF(count_star, 0), 0)) AS rows_sent_avg,
  sum_rows_examined AS rows_examined,
  ROUND(IFNULL(sum_rows_examined / NULLIF(count_star, 0), 0)) AS rows_examined_avg,
  sum_rows_affected AS rows_affected,
  ROUND(IFNULL(sum_rows_affected / NULLIF(count_star, 0), 0)) AS rows_affected_avg,
  sum_created_tmp_tables AS tmp_tables, sum_created_tmp_disk_tables AS tmp_disk_tables, sum_sort_rows AS rows_sorted,
  sum_sort_merge_passes AS sort_merge_passes, digest AS digest, first_seen AS first_seen, last_seen AS last_seen
FROM performance_schema.events_statements_summary_by_digest ORDER BY sum_timer_wait DESC
----
sys.statements_with_errors_or_warnings AS
SELECT sys.format_statement(digest_text) AS query, schema_name AS db, count_star AS exec_count, sum_errors AS errors,
  IFNULL(sum_errors / NULLIF(count_star, 0), 0) * 100 AS error_pct, sum_warnings AS warnings,
  IFNULL(sum_warnings / NULLIF(count_star, 0), 0) * 100 AS warning_pct, first_seen AS first_seen,
  last_seen AS last_seen, digest AS digest
FROM performance_schema.events_statements_summary_by_digest WHERE sum_errors > 0 OR sum_warnings > 0
ORDER BY sum_errors DESC, sum_warnings DESC
----
sys.`x$statements_with_errors_or_warnings` AS
SELECT digest_text AS query, schema_name AS db, count_star AS exec_count, sum_errors AS errors,
  IFNULL(sum_errors / NULLIF(count_star, 0), 0) * 100 AS error_pct, sum_warnings AS warnings,
  IFNULL(sum_warnings / NULLIF(count_star, 0), 0) * 100 AS warning_pct, first_seen AS first_seen,
  last_seen AS last_seen, digest AS digest
FROM performance_schema.events_statements_summary_by_digest WHERE sum_errors > 0 OR sum_warnings > 0
ORDER BY sum_errors DESC, sum_warnings DESC
----
sys.statements_with_full_table_scans AS
SELECT sys.format_statement(digest_text) AS query, schema_name AS db, count_star AS exec_count,
  sys.format_time(sum_timer_wait) AS total_latency, sum_no_index_used AS no_index_used_count,
  sum_no_good_index_used AS no_good_index_used_count,
  ROUND(IFNULL(sum_no_index_used / NULLIF(count_star, 0), 0) * 100) AS no_index_used_pct, sum_rows_sent AS rows_sent,
  sum_rows_examined AS rows_examined, ROUND(sum_rows_sent / count_star) AS rows_sent_avg,
  ROUND(sum_rows_examined / count_star) AS rows_examined_avg, first_seen AS first_seen, last_seen AS last_seen,
  digest AS digest
FROM performance_schema.events_statements_summary_by_digest
WHERE (sum_no_index_used > 0 OR sum_no_good_index_used > 0) AND digest_text NOT LIKE 'SHOW%'
ORDER BY ROUND(IFNULL(sum_no_index_used / NULLIF(count_star, 0), 0) * 100) DESC, sum_timer_wait DESC
----
sys.`x$statements_with_full_table_scans` AS
SELECT digest_text AS query, schema_name AS db, count_star AS exec_count, sum_timer_wait AS total_latency,
  sum_no_index_used AS no_index_used_count, sum_no_good_index_used AS no_good_index_used_count,
  ROUND(IFNULL(sum_no_index_used / NULLIF(count_star, 0), 0) * 100) AS no_index_used_pct, sum_rows_sent AS rows_sent,
  sum_rows_examined AS rows_examined, ROUND(sum_rows_sent / count_star) AS rows_sent_avg,
  ROUND(sum_rows_examined / count_star) AS rows_examined_avg, first_seen AS first_seen, last_seen AS last_seen,
  digest AS digest
FROM performance_schema.events_statements_summary_by_digest
WHERE (sum_no_index_used > 0 OR sum_no_good_index_used > 0) AND digest_text NOT LIKE 'SHOW%'
ORDER BY ROUND(IFNULL(sum_no_index_used / NULLIF(count_star, 0), 0) * 100) DESC, sum_timer_wait DESC
----
sys.statements_with_sorting AS
SELECT sys.format_statement(digest_text) AS query, schema_name AS db, count_star AS exec_count,
  sys.format_time(sum_timer_wait) AS total_latency, sum_sort_merge_passes AS sort_merge_passes,
  ROUND(IFNULL(sum_sort_merge_passes / NULLIF(count_star, 0), 0)) AS avg_sort_merges,
  sum_sort_scan AS sorts_using_scans, sum_sort_range AS sort_using_range, sum_sort_rows AS rows_sorted,
  ROUND(IFNULL(sum_sort_rows / NULLIF(count_star, 0), 0)) AS avg_rows_sorted, first_seen AS first_seen,
  last_seen AS last_seen, digest AS digest
FROM performance_schema.events_statements_summary_by_digest WHERE sum_sort_rows > 0 ORDER BY sum_timer_wait DESC
----
sys.`x$statements_with_sorting` AS
SELECT digest_text AS query, schema_name AS db, count_star AS exec_count, sum_timer_wait AS total_latency,
  sum_sort_merge_passes AS sort_merge_passes,
  ROUND(IFNULL(sum_sort_merge_passes / NULLIF(count_star, 0), 0)) AS avg_sort_merges,
  sum_sort_scan AS sorts_using_scans, sum_sort_range AS sort_using_range, sum_sort_rows AS rows_sorted,
  ROUND(IFNULL(sum_sort_rows / NULLIF(count_star, 0), 0)) AS avg_rows_sorted, first_seen AS first_seen,
  last_seen AS last_seen, digest AS digest
FROM performance_schema.events_statements_summary_by_digest WHERE sum_sort_rows > 0 ORDER BY sum_timer_wait DESC
----
sys.statements_with_temp_tables AS
SELECT sys.format_statement(digest_text) AS query, schema_name AS db, count_star AS exec_count,
  sys.format_time(sum_timer_wait) AS total_latency, sum_created_tmp_tables AS memory_tmp_tables,
  sum_created_tmp_disk_tables AS disk_tmp_tables,
  ROUND(IFNULL(sum_created_tmp_tables / NULLIF(count_star, 0), 0)) AS avg_tmp_tables_per_query,
  ROUND(IFNULL(sum_created_tmp_disk_tables / NULLIF(sum_created_tmp_tables, 0), 0) * 100) AS tmp_tables_to_disk_pct,
  first_seen AS first_seen, last_seen AS last_seen, digest AS digest
FROM performance_schema.events_statements_summary_by_digest WHERE sum_created_tmp_tables > 0
ORDER BY sum_created_tmp_disk_tables DESC, sum_created_tmp_tables DESC
----
sys.`x$statements_with_temp_tables` AS
SELECT digest_text AS query, schema_name AS db, count_star AS exec_count, sum_timer_wait AS total_latency,
  sum_created_tmp_tables AS memory_tmp_tables, sum_created_tmp_disk_tables AS disk_tmp_tables,
  ROUND(IFNULL(sum_created_tmp_tables / NULLIF(count_star, 0), 0)) AS avg_tmp_tables_per_query,
  ROUND(IFNULL(sum_created_tmp_disk_tables / NULLIF(sum_created_tmp_tables, 0), 0) * 100) AS tmp_tables_to_disk_pct,
  first_seen AS first_seen, last_seen AS last_seen, digest AS digest
FROM performance_schema.events_statements_summary_by_digest WHERE sum_created_tmp_tables > 0
ORDER BY sum_created_tmp_disk_tables DESC, sum_created_tmp_tables DESC
----
sys.user_summary_by_statement_latency AS
SELECT IF(user IS NULL, 'background', user) AS user, SUM(count_star) AS total,
  sys.format_time(SUM(sum_timer_wait)) AS total_latency, sys.format_time(SUM(max_timer_wait)) AS max_latency,
  sys.format_time(SUM(sum_lock_time)) AS lock_latency, SUM(sum_rows_sent) AS rows_sent,
  SUM(sum_rows_examined) AS rows_examined, SUM(sum_rows_affected) AS rows_affected,
  SUM(sum_no_index_used) + SUM(sum_no_good_index_used) AS full_scans
FROM performance_schema.events_statements_summary_by_user_by_event_name
GROUP BY IF(user IS NULL, 'background', user) ORDER BY SUM(sum_timer_wait) DESC
----
sys.`x$user_summary_by_statement_latency` AS
SELECT IF(user IS NULL, 'background', user) AS user, SUM(count_star) AS total, SUM(sum_timer_wait) AS total_latency,
  SUM(max_timer_wait) AS max_latency, SUM(sum_lock_time) AS lock_latency, SUM(sum_rows_sent) AS rows_sent,
  SUM(sum_rows_examined) AS rows_examined, SUM(sum_rows_affected) AS rows_affected,
  SUM(sum_no_index_used) + SUM(sum_no_good_index_used) AS full_scans
FROM performance_schema.events_statements_summary_by_user_by_event_name
GROUP BY IF(user IS NULL, 'background', user) ORDER BY SUM(sum_timer_wait) DESC
----
sys.user_summary_by_statement_type AS
SELECT IF(user IS NULL, 'background', user) AS user, SUBSTRING_INDEX(event_name, '/', -1) AS statement,
  count_star AS total, sys.format_time(sum_timer_wait) AS total_latency,
  sys.format_time(max_timer_wait) AS max_latency, sys.format_time(sum_lock_time) AS lock_latency,
  sum_rows_sent AS rows_sent, sum_rows_examined AS rows_examined, sum_rows_affected AS rows_affected,
  sum_no_index_used + sum_no_good_index_used AS full_scans
FROM performance_schema.events_statements_summary_by_user_by_event_name WHERE sum_timer_wait <> 0
ORDER BY IF(user IS NULL, 'background', user), sum_timer_wait DESC
----
sys.`x$user_summary_by_statement_type` AS
SELECT IF(user IS NULL, 'background', user) AS user, SUBSTRING_INDEX(event_name, '/', -1) AS statement,
  count_star AS total, sum_timer_wait AS total_latency, max_timer_wait AS max_latency, sum_lock_time AS lock_latency,
  sum_rows_sent AS rows_sent, sum_rows_examined AS rows_examined, sum_rows_affected AS rows_affected,
  sum_no_index_used + sum_no_good_index_used AS full_scans
FROM performance_schema.events_statements_summary_by_user_by_event_name WHERE sum_timer_wait <> 0
ORDER BY IF(user IS NULL, 'background', user), sum_timer_wait DESC
----
sys.host_summary_by_statement_latency AS
SELECT IF(host IS NULL, 'background', host) AS host, SUM(count_star) AS total,
  sys.format_time(SUM(sum_timer_wait)) AS total_latency, sys.format_time(MAX(max_timer_wait)) AS max_latency,
  sys.format_time(SUM(sum_lock_time)) AS lock_latency, SUM(sum_rows_sent) AS rows_sent,
  SUM(sum_rows_examined) AS rows_examined, SUM(sum_rows_affected) AS rows_affected,
  SUM(sum_no_index_used) + SUM(sum_no_good_index_used) AS full_scans
FROM performance_schema.events_statements_summary_by_host_by_event_name
GROUP BY IF(host IS NULL, 'background', host) ORDER BY SUM(sum_timer_wait) DESC
----
sys.`x$host_summary_by_statement_latency` AS
SELECT IF(host IS NULL, 'background', host) AS host, SUM(count_star) AS total, SUM(sum_timer_wait) AS total_latency,
  MAX(max_timer_wait) AS max_latency, SUM(sum_lock_time) AS lock_latency, SUM(sum_rows_sent) AS rows_sent,
  SUM(sum_rows_examined) AS rows_examined, SUM(sum_rows_affected) AS rows_affected,
  SUM(sum_no_index_used) + SUM(sum_no_good_index_used) AS full_scans
FROM performance_schema.events_statements_summary_by_host_by_event_name
GROUP BY IF(host IS NULL, 'background', host) ORDER BY SUM(sum_timer_wait) DESC
----
sys.host_summary_by_statement_type AS
SELECT IF(host IS NULL, 'background', host) AS host, SUBSTRING_INDEX(event_name, '/', -1) AS statement,
  count_star AS total, sys.format_time(sum_timer_wait) AS total_latency,
  sys.format_time(max_timer_wait) AS max_latency, sys.format_time(sum_lock_time) AS lock_latency,
  sum_rows_sent AS rows_sent, sum_rows_examined AS rows_examined, sum_rows_affected AS rows_affected,
  sum_no_index_used + sum_no_good_index_used AS full_scans
FROM performance_schema.events_statements_summary_by_host_by_event_name WHERE sum_timer_wait <> 0
ORDER BY IF(host IS NULL, 'background', host), sum_timer_wait DESC
----
sys.`x$host_summary_by_statement_type` AS
SELECT IF(host IS NULL, 'background', host) AS host, SUBSTRING_INDEX(event_name, '/', -1) AS statement,
  count_star AS total, sum_timer_wait AS total_latency, max_timer_wait AS max_latency, sum_lock_time AS lock_latency,
  sum_rows_sent AS rows_sent, sum_rows_examined AS rows_examined, sum_rows_affected AS rows_affected,
  sum_no_index_used + sum_no_good_index_used AS full_scans
FROM performance_schema.events_statements_summary_by_host_by_event_name WHERE sum_timer_wait <> 0
ORDER BY IF(host IS NULL, 'background', host), sum_timer_wait DESC
----
sys.`x$schema_flattened_keys` AS
SELECT table_schema, table_name, index_name, MAX(non_unique) AS non_unique,
  MAX(IF(sub_part IS NULL, 0, 1)) AS subpart_exists,
  GROUP_CONCAT(column_name ORDER BY seq_in_index SEPARATOR ',') AS index_columns
FROM information_schema.statistics
WHERE index_type = 'BTREE' AND table_schema NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')
GROUP BY table_schema, table_name, index_name
----
sys.schema_redundant_indexes AS
SELECT less.table_schema, less.table_name, less.index_name AS redundant_index_name,
  less.index_columns AS redundant_index_columns, less.non_unique AS redundant_index_non_unique,
  more.index_name AS dominant_index_name, more.index_columns AS dominant_index_columns,
  more.non_unique AS dominant_index_non_unique,
  IF(less.subpart_exists OR more.subpart_exists, 1, 0) AS subpart_exists,
  CONCAT('ALTER TABLE `', less.table_schema, '`.`', less.table_name, '` DROP INDEX `', less.index_name, '`') AS sql_drop_index
FROM sys.`x$schema_flattened_keys` less JOIN sys.`x$schema_flattened_keys` more USING (table_schema, table_name)
WHERE less.index_name <> more.index_name AND (
  (less.index_columns = more.index_columns AND (less.non_unique > more.non_unique
    OR (less.non_unique = more.non_unique
      AND IF(less.index_name = 'PRIMARY', '', less.index_name) > IF(more.index_name = 'PRIMARY', '', more.index_name))))
  OR (less.non_unique = 1 AND more.index_columns LIKE CONCAT(less.index_columns, ',%'))
  OR (more.non_unique = 0 AND less.index_columns LIKE CONCAT(more.index_columns, ',%')))
----
sys.schema_auto_increment_columns AS
SELECT table_schema, table_name, column_name, data_type, column_type, is_signed, is_unsigned, max_value, auto_increment,
  auto_increment / max_value AS auto_increment_ratio
FROM (SELECT c.table_schema, c.table_name, c.column_name, c.data_type, c.column_type, t.auto_increment,
    LOCATE('unsigned', c.column_type) = 0 AS is_signed, LOCATE('unsigned', c.column_type) > 0 AS is_unsigned,
    CASE c.data_type WHEN 'tinyint' THEN 255 WHEN 'smallint' THEN 65535 WHEN 'mediumint' THEN 16777215
      WHEN 'int' THEN 4294967295 WHEN 'bigint' THEN 18446744073709551615 END
      >> IF(LOCATE('unsigned', c.column_type) > 0, 0, 1) AS max_value
  FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
  WHERE c.table_schema NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')
    AND t.table_type = 'BASE TABLE' AND c.extra = 'auto_increment') counters
ORDER BY auto_increment_ratio DESC, max_value
----
sys.schema_object_overview AS
SELECT routine_schema AS db, routine_type AS object_type, COUNT(*) AS count
FROM information_schema.routines GROUP BY routine_schema, routine_type
UNION SELECT table_schema, table_type, COUNT(*) FROM information_schema.tables GROUP BY table_schema, table_type
UNION SELECT table_schema, CONCAT('INDEX (', index_type, ')'), COUNT(*) FROM information_schema.statistics
  GROUP BY table_schema, index_type
UNION SELECT trigger_schema, 'TRIGGER', COUNT(*) FROM information_schema.triggers GROUP BY trigger_schema
UNION SELECT event_schema, 'EVENT', COUNT(*) FROM information_schema.events GROUP BY event_schema
ORDER BY db, object_type
