-- Groups of rows that come sorted by the keys are given as soon as they are complete.
CREATE TABLE g (a INT, b INT, c VARCHAR(20) COLLATE utf8mb4_general_ci, d DECIMAL(10,2), PRIMARY KEY (a, b), KEY (c, d)) CHARSET utf8mb4;
INSERT INTO g SELECT seq DIV 3, seq, CONCAT(IF(seq % 2, 'Key ', 'kEY '), seq DIV 5, IF(seq % 3, '', ' ')), seq / 7 FROM seq_1_to_12000;
-- One group that is longer than many batches.
INSERT INTO g SELECT 5000, seq, 'long', 1 FROM seq_20000_to_26000;
SELECT COUNT(*), SUM(n), SUM(s), MIN(a), MAX(a), MAX(n) FROM (SELECT a, COUNT(*) AS n, SUM(b) AS s FROM g GROUP BY a) x;
SELECT COUNT(*), SUM(n), SUM(s), MAX(n) FROM (SELECT c, COUNT(*) AS n, SUM(d) AS s FROM g FORCE INDEX (c) GROUP BY c) x;
SELECT COUNT(*), SUM(n), SUM(s) FROM (SELECT c, d, COUNT(*) AS n, SUM(d) AS s FROM g FORCE INDEX (c) GROUP BY c, d) x;
SELECT COUNT(*), SUM(n), MAX(l) FROM (SELECT a, COUNT(DISTINCT c) AS n, LENGTH(GROUP_CONCAT(b)) AS l FROM g GROUP BY a) x;
SELECT a, COUNT(*), MIN(b), MAX(c) FROM g GROUP BY a HAVING COUNT(*) > 3 OR a % 1500 = 7;
SELECT a, COUNT(*), SUM(b) FROM g GROUP BY a ORDER BY a LIMIT 2990, 3;
SELECT a, COUNT(*), SUM(b) FROM g GROUP BY a ORDER BY a DESC LIMIT 3;
SELECT DISTINCT n FROM (SELECT a, COUNT(*) AS n FROM g GROUP BY a) x ORDER BY n;
SELECT COUNT(*), SUM(n) FROM (SELECT a, COUNT(*) AS n FROM g WHERE b % 1000 = 1 GROUP BY a) x;
SELECT COUNT(*) FROM (SELECT a, COUNT(*) AS n FROM g WHERE b < 0 GROUP BY a) x;
SELECT SUM(n) FROM (SELECT a, @n := @n + 1 AS n FROM g, (SELECT @n := 0) i GROUP BY a) x WHERE a < 3000;
SELECT a, MAX(n) FROM (SELECT a, b, COUNT(*) AS n FROM g GROUP BY a, b) x WHERE a IN (4, 5000) GROUP BY a;
DROP TABLE g;
