# Arguments of aggregates that assign or call functions are computed row by row.
CREATE TABLE t (id INT PRIMARY KEY, g INT);
INSERT INTO t VALUES (1, 3), (2, 1), (3, 2), (4, 3), (5, 1), (6, 2), (7, 3);
SET @k = 0;
SELECT SUM(@k := @k + 1) FROM t;
SELECT @k;
SET @k = 0;
SELECT GROUP_CONCAT(@k := @k + 1 ORDER BY id) FROM t;
SET @k = '';
SELECT MAX(@k := CONCAT(@k, id)) FROM t;
SET @k = 0;
SELECT g, SUM(@k := @k + 1), COUNT(*) FROM t GROUP BY g;
CREATE TABLE calls (i INT);
CREATE FUNCTION f (i INT) RETURNS INT BEGIN INSERT INTO calls VALUES (i); RETURN i; END;
SELECT MAX(f(id)), MIN(f(id + 10)) FROM t;
SELECT * FROM calls;
DROP FUNCTION f;
DROP TABLE t, calls;
