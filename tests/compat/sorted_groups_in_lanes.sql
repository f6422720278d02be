-- Groups of rows that are sorted by their keys. With forced columns and lanes (tests/run.sh) each stretch of some dozen rows
-- is grouped by itself, so groups begin and end within stretches, go on over several, and fill one.
CREATE TABLE f (a INT, b INT, v BIGINT, d DECIMAL(30,4), t DATE, s VARCHAR(10), x DOUBLE, PRIMARY KEY (a, b));
INSERT INTO f SELECT seq * seq DIV 4000, seq, IF(seq % 7 = 0, NULL, seq * 1000003), seq / 8, '2020-01-01' + INTERVAL seq % 400 DAY,
  CHAR(97 + seq % 26), seq / 3 FROM seq_1_to_2000;
INSERT INTO f SELECT 5000 + seq, 1, seq, seq, NULL, NULL, seq FROM seq_1_to_300;
INSERT INTO f SELECT 7000 + seq DIV 500, seq, seq, seq, NULL, 's', 1 FROM seq_1_to_1499;
ANALYZE TABLE f;
SELECT COUNT(*), SUM(n), SUM(c), SUM(total), SUM(average), SUM(least), MAX(greatest), SUM(d), MIN(t) FROM
  (SELECT a, COUNT(*) n, COUNT(v) c, SUM(v) total, AVG(v) average, MIN(v) least, MAX(v) greatest, SUM(d) d, MAX(t) t FROM f GROUP BY a) q;
SELECT a, COUNT(*), SUM(v), AVG(d), MIN(d), MAX(t) FROM f GROUP BY a HAVING COUNT(*) > 20 OR a BETWEEN 600 AND 603;
SELECT a, COUNT(*) FROM f GROUP BY a ORDER BY a LIMIT 3 OFFSET 5;
SELECT a, COUNT(*) FROM f GROUP BY a ORDER BY a DESC LIMIT 3;
-- None, one and all rows pass.
SELECT a, SUM(v) FROM f WHERE v < 0 GROUP BY a;
SELECT a, SUM(v) FROM f WHERE v = 7000021 OR v = 8000024 GROUP BY a;
SELECT COUNT(*), SUM(n), SUM(s) FROM (SELECT a, b, COUNT(*) n, SUM(v) s FROM f GROUP BY a, b) q;
SELECT COUNT(*), SUM(n) FROM (SELECT b, a, COUNT(*) n FROM f WHERE a < 900 GROUP BY b, a) q;
-- Whose result depends on the order of additions, or on strings.
SELECT a, ROUND(SUM(x), 6), MIN(s), MAX(s), GROUP_CONCAT(b ORDER BY b) FROM f WHERE a IN (0, 1, 2, 900, 901) GROUP BY a;
SELECT a, COUNT(DISTINCT v), SUM(DISTINCT d) FROM f WHERE a BETWEEN 898 AND 900 GROUP BY a;
-- Joined to one row each, and to several.
CREATE TABLE names (a INT PRIMARY KEY, name VARCHAR(20));
INSERT INTO names SELECT DISTINCT a, CONCAT('name ', a) FROM f WHERE a % 3 = 0;
SELECT COUNT(*), SUM(n), SUM(total), MAX(name) FROM
  (SELECT f.a, MAX(names.a) k, MIN(name) name, COUNT(*) n, SUM(v) total FROM f JOIN names USING (a) GROUP BY f.a) q;
SELECT COUNT(*), SUM(n), SUM(k) FROM (SELECT f.a, COUNT(*) n, COUNT(names.a) k FROM f LEFT JOIN names USING (a) GROUP BY f.a) q;
-- Rows that this transaction has changed are looked up among those of the groups.
START TRANSACTION;
DELETE FROM f WHERE a % 5 = 1 AND b % 3 = 0;
UPDATE f SET v = -1 WHERE a = 250;
INSERT INTO f VALUES (250, 1000000, 17, 1, NULL, 'z', 0), (-3, 1, 17, 1, NULL, 'z', 0), (100000, 1, 17, 1, NULL, 'z', 0);
SELECT COUNT(*), SUM(n), SUM(total), MIN(a), MAX(a) FROM (SELECT a, COUNT(*) n, SUM(v) total FROM f GROUP BY a) q;
SELECT a, COUNT(*), SUM(v) FROM f GROUP BY a HAVING a IN (-3, 250, 100000);
ROLLBACK;
SELECT COUNT(*), SUM(n), SUM(total) FROM (SELECT a, COUNT(*) n, SUM(v) total FROM f GROUP BY a) q;
-- Keys that are equal without being the same bytes: the group shows that of its first row.
CREATE TABLE w (s VARCHAR(12) COLLATE utf8mb4_general_ci, b INT, v INT, PRIMARY KEY (s, b)) CHARSET utf8mb4;
INSERT INTO w SELECT ELT(1 + seq % 3, 'word', 'WORD', 'wörd'), seq, seq FROM seq_1_to_200;
INSERT INTO w SELECT ELT(1 + seq % 2, 'other', 'Other '), 1000 + seq, seq FROM seq_1_to_200;
SELECT LOWER(MIN(s)), COUNT(*), SUM(v), MIN(v), MAX(v) FROM w GROUP BY s;
-- Groups that fill many stretches, of columns without NULL.
CREATE TABLE g (a INT, b INT, v BIGINT NOT NULL, PRIMARY KEY (a, b));
INSERT INTO g SELECT 7000 + seq DIV 500, seq, seq FROM seq_1_to_1499;
ANALYZE TABLE g;
SELECT a, COUNT(*), SUM(v), MIN(v) FROM g GROUP BY a;
SELECT a, COUNT(*), SUM(v), MIN(v) FROM g WHERE v % 200 = 0 GROUP BY a;
DROP TABLE f, g, names, w;
