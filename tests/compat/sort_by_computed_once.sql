# A sort key with an effect, or one that is an entry of the select list with a new value each time, is computed once for each row.
CREATE TABLE t (id INT PRIMARY KEY, g INT);
INSERT INTO t VALUES (1, 3), (2, 1), (3, 2), (4, 3), (5, 1), (6, 2), (7, 3);
SET @k = 0;
SELECT id, (@k := @k + 1) c FROM t ORDER BY c DESC;
SET @k = 0;
SELECT id, (@k := @k + 1) c FROM t ORDER BY g, c;
SET @k = 0;
SELECT id, (@k := @k + 1) c FROM t ORDER BY 2 DESC LIMIT 3;
SET @k = 0;
SELECT id FROM t ORDER BY (@k := @k + 1) DESC;
SELECT @k;
SET @k = 0;
SELECT id, @k := @k + 1 FROM t ORDER BY g, id;
SELECT SUM(r < p) FROM (SELECT r, LAG(r) OVER () p FROM (SELECT RAND() r FROM t ORDER BY r LIMIT 100) x) y;
DROP TABLE t;
