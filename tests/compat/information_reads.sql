-- What reading information_schema adds to the session's counters.
CREATE DATABASE info_reads;
USE info_reads;
CREATE FUNCTION f1(s CHAR(20)) RETURNS INT RETURN 1;
CREATE PROCEDURE p1(a INT, b INT) SELECT 1;
CREATE PROCEDURE p2() SELECT 1;
CREATE TABLE t1 (a INT, b INT);
CREATE VIEW v1 AS SELECT * FROM t1;

-- Routines of one schema are read by the primary key of mysql.proc.
FLUSH STATUS;
SELECT SPECIFIC_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'info_reads';
SHOW STATUS LIKE 'Handler_read_%';
FLUSH STATUS;
SELECT SPECIFIC_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'info_reads' AND ROUTINE_NAME = 'P1';
SHOW STATUS LIKE 'Handler_read_%';
FLUSH STATUS;
SELECT SPECIFIC_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'info_reads' AND ROUTINE_NAME = 'p9';
SHOW STATUS LIKE 'Handler_read_%';
FLUSH STATUS;
SELECT SPECIFIC_NAME, ORDINAL_POSITION FROM information_schema.PARAMETERS WHERE SPECIFIC_SCHEMA = 'info_reads';
SHOW STATUS LIKE 'Handler_read_%';
FLUSH STATUS;
SELECT PARAMETER_NAME FROM information_schema.PARAMETERS WHERE SPECIFIC_SCHEMA = 'info_reads' AND SPECIFIC_NAME = 'p1' AND ROUTINE_TYPE = 'PROCEDURE';
SHOW STATUS LIKE 'Handler_read_%';

-- A name alone chooses the rows, but all routines are read.
SELECT COUNT(*) INTO @routines FROM information_schema.ROUTINES;
FLUSH STATUS;
SELECT SPECIFIC_NAME FROM information_schema.ROUTINES WHERE ROUTINE_NAME = 'f1';
SHOW STATUS LIKE 'Handler_read_rnd_next';
SELECT VARIABLE_VALUE = @routines FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME = 'Handler_read_next';
FLUSH STATUS;
SELECT SPECIFIC_NAME FROM information_schema.ROUTINES WHERE CONCAT(ROUTINE_SCHEMA) = 'info_reads' AND ROUTINE_NAME = 'p9';
SHOW STATUS WHERE Variable_name IN ('Handler_read_first', 'Handler_read_key', 'Handler_read_rnd_next');

-- Rows of other computed tables count as reads of a table.
FLUSH STATUS;
SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'info_reads';
SHOW STATUS LIKE 'Handler_read_%';
FLUSH STATUS;
SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'info_reads' AND COLUMN_NAME = 'a';
SHOW STATUS LIKE 'Handler_read_%';
FLUSH STATUS;
SHOW COLUMNS FROM t1;
SHOW STATUS LIKE 'Handler_read_%';
FLUSH STATUS;
SELECT COUNT(*) FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME LIKE 'Aborted%';
SHOW STATUS LIKE 'Handler_read_%';
DROP DATABASE info_reads;
