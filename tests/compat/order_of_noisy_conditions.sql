-- A condition that warns of a text is not tested for rows that a condition before it excludes.
CREATE TABLE n (a INT PRIMARY KEY, b VARCHAR(30));
INSERT INTO n VALUES (1, 'one'), (2, 'two'), (3, 'three'), (4, 'four');
CREATE TABLE t (a INT, d DATE, s TEXT);
INSERT INTO t VALUES (1, '2004-02-29', '12x'), (9, '2004-02-29', '13x');
SELECT a FROM t WHERE d = (SELECT MAX(b) FROM n WHERE a = 'two') AND s = 2;
SELECT a FROM t WHERE s = 2 AND d = (SELECT MAX(b) FROM n WHERE a = 'two');
SELECT a FROM t WHERE a LIKE '%z' AND s = 12;
SELECT a FROM t WHERE s = 12 AND a LIKE '%z';
SELECT a FROM t WHERE a + 0 = 9 AND s = 13;
SELECT a FROM t WHERE d = (SELECT MAX(d) + INTERVAL 1 DAY FROM t) AND s = 2;
PREPARE q FROM 'SELECT a FROM t WHERE d = (SELECT MAX(b) FROM n WHERE a = ?) AND s = ?';
SET @x = 'two', @y = 2;
EXECUTE q USING @x, @y;
-- A parameter that is no number warns where rows are compared with it.
PREPARE q FROM 'SELECT * FROM n WHERE a = ?';
EXECUTE q USING @x;
SET @x = '2x';
EXECUTE q USING @x;
PREPARE q FROM 'SELECT MAX(b) FROM n WHERE a = ?';
EXECUTE q USING @x;
SET @x = 'no';
EXECUTE q USING @x;
SELECT * FROM n WHERE a = 'two';
SELECT * FROM n WHERE a = '2x';
SET sql_mode = '';
PREPARE q FROM 'UPDATE n SET b = 1 WHERE a = ?';
EXECUTE q USING @x;
SET @x = '2x';
EXECUTE q USING @x;
-- A guard before a conversion keeps a strict statement from failing.
SET sql_mode = 'STRICT_TRANS_TABLES';
UPDATE t SET a = a + 1 WHERE a + 0 > 100 AND s > 12;
DELETE FROM t WHERE a LIKE '7%' AND s + 0 = 12;
