-- Names of columns of a row constructor, and of numeric constants.
VALUES (1, 'a', NULL, TRUE, +1, 'x' 'y', x'41', 0x41, 1.50, DATE'2024-01-01'), (2, 'b', 3, FALSE, 4, 'c', 'd', 'e', 'f', 'g');
VALUES ('  a', 1 + 1, CONCAT('a', 'b'));
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v;
SELECT `a` FROM (VALUES (1, 'a'), (2, 'b')) AS v;
CREATE TABLE t AS VALUES (1, 'a');
SHOW CREATE TABLE t;
VALUES (1, 'a') UNION SELECT 2, 'b';
SELECT _latin1 x'e9', _latin1 0xe9, _utf8mb4 b'1100001', _latin1'a';
-- The error for a missing sequence calls it a sequence.
SELECT NEXTVAL(nosuch);
SELECT NEXT VALUE FOR nosuch;
SELECT SETVAL(nosuch, 1);
SELECT LASTVAL(nosuch);
SELECT NEXTVAL(t);
-- A nullable generated column has the default NULL, one that is NOT NULL has none.
CREATE TABLE g (a INT NOT NULL, b INT AS (a + 1), c INT AS (a + 1) STORED, d INT);
SELECT column_name, column_default FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'g'
ORDER BY 1;
SHOW COLUMNS FROM g;
