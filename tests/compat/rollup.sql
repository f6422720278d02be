-- GROUP BY WITH ROLLUP: levels end where a key changes, each after the groups it consists of.
CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(10), c DECIMAL(6,2), d DATE, KEY (b, a));
INSERT INTO t VALUES (1, 1, 'x', 1.5, '2024-01-01'), (2, 1, 'X', 1.50, '2024-01-01'), (3, 1, 'y', NULL, NULL), (4, 2, 'x', 2, '2024-01-02'), (5, NULL, 'x', 2, NULL), (6, NULL, NULL, 3, NULL), (7, 2, 'y', 4, '2024-01-01');
SELECT a, COUNT(*), SUM(c) FROM t GROUP BY a WITH ROLLUP;
SELECT a, b, COUNT(*), SUM(c), MIN(id) FROM t GROUP BY a, b WITH ROLLUP;
SELECT a, b, COUNT(*) FROM t GROUP BY a DESC, b WITH ROLLUP;
SELECT COUNT(*), GROUP_CONCAT(id ORDER BY id) FROM t GROUP BY b, a, c WITH ROLLUP;
SELECT b, COUNT(DISTINCT a) FROM t GROUP BY b, d WITH ROLLUP;
SELECT d, c, a, COUNT(*) FROM t GROUP BY d, c, a WITH ROLLUP LIMIT 5;
SELECT a + 1, COUNT(*) FROM t GROUP BY a + 1 WITH ROLLUP HAVING COUNT(*) > 1;
SELECT a, COUNT(*) FROM t WHERE id > 100 GROUP BY a WITH ROLLUP;
SELECT COUNT(*), SUM(n) FROM (SELECT a, b, COUNT(*) AS n FROM t GROUP BY a, b WITH ROLLUP) q;
SELECT q.b FROM (SELECT a, b, COUNT(*) AS n FROM t GROUP BY a, b WITH ROLLUP) q WHERE q.a IS NULL;
-- More rows than one batch, and groups that continue in the next batch.
SELECT COUNT(*), SUM(a), SUM(b), SUM(n) FROM (SELECT seq DIV 3 AS a, seq AS b, COUNT(*) AS n FROM seq_1_to_20000 GROUP BY a, b WITH ROLLUP) q;
SELECT seq DIV 7000 AS a, COUNT(*), MIN(seq), MAX(seq) FROM seq_1_to_20000 GROUP BY a WITH ROLLUP;
SELECT seq DIV 10000 AS a, seq DIV 5000 AS b, COUNT(*) FROM seq_1_to_20000 GROUP BY a, b WITH ROLLUP;
