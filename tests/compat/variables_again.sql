-- Texts that read system variables keep their plans, for the types that the variables have.
-- meta
SELECT @@sql_mode;
-- meta
SELECT @@sql_mode;
-- meta
SELECT @@sql_mode;
SET sql_mode = 'ANSI_QUOTES';
-- meta
SELECT @@sql_mode;
-- meta
SELECT @@sql_mode;
SET sql_mode = '';
-- meta
SELECT @@sql_mode;
-- meta
SELECT @@sql_mode, @@autocommit, @@max_allowed_packet > 1000;
SET autocommit = 0;
-- meta
SELECT @@sql_mode, @@autocommit, @@max_allowed_packet > 1000;
-- meta
SELECT @@sql_mode, @@autocommit, @@max_allowed_packet > 1000;
SET autocommit = 1;
-- meta
SELECT @@sql_mode, @@autocommit, @@max_allowed_packet > 1000;
-- meta
SELECT CONCAT(@@sql_mode, 'x') AS c, LENGTH(@@session.sql_mode) AS l, @@global.autocommit;
-- meta
SELECT CONCAT(@@sql_mode, 'x') AS c, LENGTH(@@session.sql_mode) AS l, @@global.autocommit;
SET sql_mode = 'NO_ZERO_DATE';
-- meta
SELECT CONCAT(@@sql_mode, 'x') AS c, LENGTH(@@session.sql_mode) AS l, @@global.autocommit;
SET sql_mode = DEFAULT;
CREATE TABLE t (a INT AUTO_INCREMENT PRIMARY KEY, b INT);
INSERT INTO t (b) VALUES (1), (2), (3);
SELECT @@last_insert_id, @@identity;
SELECT @@last_insert_id, @@identity;
INSERT INTO t (b) VALUES (4);
SELECT @@last_insert_id, @@identity;
SELECT @@last_insert_id, @@identity;
SELECT no_such FROM t;
SELECT @@error_count, @@warning_count;
SELECT no_such FROM t;
SELECT @@error_count, @@warning_count;
SELECT 1 / 0;
SELECT @@error_count, @@warning_count;
SELECT @@error_count, @@warning_count;
SELECT @@no_such;
SELECT @@no_such;
SELECT @@no_such;
SET @x = 1;
SELECT @x, @@autocommit;
SET @x = 'text';
SELECT @x, @@autocommit;
SELECT @x, @@autocommit;
SELECT a FROM t WHERE a = @@autocommit;
SELECT a FROM t WHERE a = @@autocommit;
SET autocommit = 0;
SELECT a FROM t WHERE a = @@autocommit;
SET autocommit = 1;
SELECT a FROM t WHERE a <= @@identity ORDER BY a DESC LIMIT 1;
SELECT a FROM t WHERE a <= @@identity ORDER BY a DESC LIMIT 1;
SET @@identity = 2;
SELECT a FROM t WHERE a <= @@identity ORDER BY a DESC LIMIT 1;
SELECT @@character_set_client, @@collation_connection;
SELECT @@character_set_client, @@collation_connection;
SET NAMES latin1;
SELECT @@character_set_client, @@collation_connection;
SET NAMES utf8mb4 COLLATE utf8mb4_bin;
SELECT @@character_set_client, @@collation_connection;
CREATE TABLE c AS SELECT @@sql_mode AS m, @@autocommit AS a, @@collation_connection AS c;
SHOW CREATE TABLE c;
DROP TABLE c;
SET sql_mode = 'ANSI_QUOTES';
CREATE TABLE c AS SELECT @@sql_mode AS m, @@autocommit AS a, @@collation_connection AS c;
SHOW CREATE TABLE c;
PREPARE s FROM 'SELECT @@sql_mode';
EXECUTE s;
SET sql_mode = 'ANSI,STRICT_ALL_TABLES';
EXECUTE s;
EXECUTE s;
