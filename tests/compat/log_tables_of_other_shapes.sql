# A log table may have been replaced: more columns get their defaults; nothing is written to fewer, or to lists.
SET GLOBAL general_log = 0, GLOBAL slow_query_log = 0;
SET SESSION slow_query_log = 1;
SET @output = @@GLOBAL.log_output;
SET GLOBAL log_output = 'TABLE';
RENAME TABLE mysql.general_log TO mysql.kept_general, mysql.slow_log TO mysql.kept_slow;
CREATE TABLE mysql.general_log (
  event_time TIMESTAMP(6) NOT NULL, user_host MEDIUMTEXT NOT NULL, thread_id BIGINT UNSIGNED NOT NULL,
  server_id INT UNSIGNED NOT NULL, command_type VARCHAR(64) NOT NULL, argument MEDIUMTEXT NOT NULL,
  extra INT NOT NULL DEFAULT 7) ENGINE=CSV;
SET GLOBAL general_log = 1;
SELECT 'first';
SET GLOBAL general_log = 0;
SELECT command_type, argument, extra FROM mysql.general_log WHERE argument LIKE '%first%';
ALTER TABLE mysql.general_log DROP COLUMN extra, DROP COLUMN server_id;
SET GLOBAL general_log = 1;
SELECT 'second';
SET GLOBAL general_log = 0;
SELECT COUNT(*) FROM mysql.general_log WHERE argument LIKE '%second%';
ALTER TABLE mysql.general_log ADD COLUMN odd ENUM('a', 'b') NOT NULL AFTER event_time;
SET GLOBAL general_log = 1;
SELECT 'third';
SET GLOBAL general_log = 0;
SELECT COUNT(*) FROM mysql.general_log WHERE argument LIKE '%third%';
DROP TABLE mysql.general_log;
CREATE TABLE mysql.slow_log LIKE mysql.kept_slow;
ALTER TABLE mysql.slow_log ADD COLUMN extra INT NOT NULL DEFAULT 8;
SET GLOBAL slow_query_log = 1;
SET SESSION long_query_time = 0;
SELECT 'fourth';
SET SESSION long_query_time = 10;
SELECT sql_text, extra FROM mysql.slow_log WHERE sql_text LIKE '%fourth%';
SET GLOBAL slow_query_log = 0;
TRUNCATE TABLE mysql.slow_log;
ALTER TABLE mysql.slow_log DROP COLUMN extra, MODIFY COLUMN rows_sent VARCHAR(20) NOT NULL, MODIFY COLUMN user_host ENUM('a') NOT NULL;
SET GLOBAL slow_query_log = 1;
SET SESSION long_query_time = 0;
SELECT 'fifth';
SET SESSION long_query_time = 10;
SELECT COUNT(*) FROM mysql.slow_log WHERE sql_text LIKE '%fifth%';
SET GLOBAL slow_query_log = 0;
DROP TABLE mysql.slow_log;
RENAME TABLE mysql.kept_general TO mysql.general_log, mysql.kept_slow TO mysql.slow_log;
SET GLOBAL log_output = @output;
