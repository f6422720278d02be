-- Single statements whose results once differed.
CREATE TABLE t (a INT, b INT, KEY (a), KEY (b));
INSERT INTO t VALUES (1, 2), (1, 3), (2, 3), (NULL, 4);
-- A correlated subquery on a total row.
SELECT a, COUNT(*), (SELECT MAX(x.b) FROM t AS x WHERE x.a = t.a) AS m FROM t GROUP BY a WITH ROLLUP;
SELECT a, (SELECT COUNT(*) FROM t AS x WHERE x.a <=> t.a) AS m FROM t GROUP BY a WITH ROLLUP;
-- A program's numeric variable, compared with a literal and in a stored row.
CREATE TABLE j (d TEXT);
CREATE PROCEDURE p() BEGIN DECLARE i INT DEFAULT 0; INSERT INTO j VALUES (JSON_OBJECT('a', i)), (JSON_ARRAY(i, 'x')); SELECT JSON_OBJECT('a', i); END;
CALL p();
SELECT d FROM j;
-- Safe updates require a key.
SET sql_safe_updates = 1;
UPDATE t SET b = 5 WHERE a = 1 OR b = 2;
UPDATE t SET b = 5 WHERE b + 0 = 2;
DELETE FROM t WHERE a + 0 = 9;
SET sql_safe_updates = 0;
-- FLUSH of anything but STATUS does not reset the session's counters.
SELECT a FROM t WHERE a = 2;
SELECT variable_value > 0 FROM information_schema.session_status WHERE variable_name = 'Handler_read_key';
FLUSH TABLES;
SELECT variable_value > 0 FROM information_schema.session_status WHERE variable_name = 'Handler_read_key';
FLUSH LOGS;
SELECT variable_value > 0 FROM information_schema.session_status WHERE variable_name = 'Handler_read_key';
FLUSH STATUS;
SELECT variable_value > 0 FROM information_schema.session_status WHERE variable_name = 'Handler_read_key';
-- Division by zero and overflow of constants, in repeated texts of one shape.
SET sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO';
SELECT 1 / 0, a FROM t WHERE a = 1;
SELECT 1 / 0, a FROM t WHERE a = 2;
SELECT 5 DIV 0, a FROM t WHERE a = 2;
SELECT 9223372036854775807 + 1, a FROM t WHERE a = 1;
SELECT 9223372036854775807 + 2, a FROM t WHERE a = 2;
SELECT 9223372036854775806 + 1, a FROM t WHERE a = 2;
UPDATE t SET b = 1 / 0 WHERE a = 2;
UPDATE t SET b = 2 / 0 WHERE a = 2;
-- USING behind joins
CREATE TABLE j (a INT, b INT);
INSERT INTO j VALUES (1, 2);
SELECT * FROM j x LEFT JOIN j y JOIN j z ON 1 USING (a);
SELECT * FROM j x RIGHT JOIN j y NATURAL JOIN j z USING (a);
SELECT * FROM j x LEFT JOIN j y LEFT JOIN j z USING (a) USING (a);
SELECT * FROM j x LEFT JOIN j y LEFT JOIN j z USING (a) ON x.a = y.a;
SELECT * FROM j x JOIN j y LEFT JOIN j z USING (a) USING (a);
SELECT * FROM j x STRAIGHT_JOIN j y NATURAL JOIN j z USING (a);
DELETE x FROM j x RIGHT JOIN j y LEFT JOIN j z ON 1 USING (a, b);
-- unique keys compared with <=>
ALTER TABLE j ADD UNIQUE (b), ADD c INT NOT NULL DEFAULT 3 UNIQUE;
EXPLAIN SELECT * FROM j WHERE b <=> 2;
EXPLAIN SELECT * FROM j WHERE c <=> 3;
SELECT * FROM j WHERE c <=> NULL;
SELECT * FROM j WHERE b <=> NULL;
UPDATE j SET b = NULL;
SELECT * FROM j WHERE b <=> NULL;
DROP TABLE j;
