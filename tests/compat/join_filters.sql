-- A join that has read one side drops rows of the other side early. It must not drop more than that.
CREATE TABLE k (id INT PRIMARY KEY, a INT, u INT UNSIGNED, d DATE, t DATETIME, s VARCHAR(10), n DECIMAL(8,2));
INSERT INTO k VALUES (1, 10, 10, '2020-01-10', '2020-01-10 10:00:00', 'ten', 10.00),
  (2, 20, 20, '2020-01-20', '2020-01-20 20:00:00', 'twenty', 20.00), (3, NULL, NULL, NULL, NULL, NULL, NULL),
  (4, 40, 4000000000, '2021-04-04', '2021-04-04 04:04:04', 'forty', 40.50), (5, -50, 5, '1999-12-31', '1999-12-31 23:59:59', 'x', -50);
CREATE TABLE f (id INT PRIMARY KEY AUTO_INCREMENT, a INT, u INT UNSIGNED, d DATE, t DATETIME, s VARCHAR(10), n DECIMAL(8,2), v INT);
INSERT INTO f (a, u, d, t, s, n, v)
  SELECT seq - 60, seq, DATE '2020-01-01' + INTERVAL seq DAY, TIMESTAMP '2020-01-10 00:00:00' + INTERVAL seq HOUR,
    ELT(seq % 4 + 1, 'ten', 'TWENTY', 'forty ', 'none'), seq + 0.5, seq % 7 FROM seq_1_to_300;
INSERT INTO f (a, v) VALUES (NULL, 100), (10, 101);
-- Kinds of keys.
SELECT f.id, k.id FROM f JOIN k ON f.a = k.a ORDER BY 1, 2;
SELECT f.id, k.id FROM f JOIN k ON f.u = k.u ORDER BY 1, 2;
SELECT f.id, k.id FROM f JOIN k ON f.a = k.u ORDER BY 1, 2;
SELECT f.id, k.id FROM f JOIN k ON f.d = k.d ORDER BY 1, 2;
SELECT f.id, k.id FROM f JOIN k ON f.t = k.t ORDER BY 1, 2;
SELECT f.id, k.id FROM f JOIN k ON f.d = k.t ORDER BY 1, 2;
SELECT COUNT(*), SUM(f.v) FROM f JOIN k ON f.s = k.s;
SELECT f.id, k.id FROM f JOIN k ON f.n = k.n ORDER BY 1, 2;
SELECT f.id, k.id FROM f JOIN k ON f.a = k.n ORDER BY 1, 2;
SELECT f.id, k.id FROM f JOIN k ON f.a <=> k.a ORDER BY 1, 2;
SELECT f.id, k.id FROM f JOIN k ON f.a = k.a AND f.u = k.u + 60 ORDER BY 1, 2;
-- Kinds of joins: which rows without a match are given.
SELECT COUNT(*), COUNT(k.id), SUM(f.v) FROM f LEFT JOIN k ON f.a = k.a;
SELECT COUNT(*), COUNT(k.id), SUM(f.v) FROM k RIGHT JOIN f ON f.a = k.a;
SELECT k.id, f.id FROM k LEFT JOIN f ON f.a = k.a ORDER BY 1, 2;
SELECT COUNT(*) FROM f WHERE f.a IN (SELECT a FROM k WHERE a > 0);
SELECT COUNT(*) FROM f WHERE f.a NOT IN (SELECT a FROM k WHERE a > 0);
SELECT COUNT(*) FROM f WHERE f.a NOT IN (SELECT a FROM k);
SELECT COUNT(*) FROM f WHERE EXISTS (SELECT 1 FROM k WHERE k.a = f.a AND k.id < f.v + 3);
SELECT COUNT(*) FROM f WHERE NOT EXISTS (SELECT 1 FROM k WHERE k.a = f.a);
SELECT id, a IN (SELECT f.a FROM f) AS found FROM k ORDER BY id;
SELECT id FROM k WHERE a IN (SELECT a FROM f WHERE v = 3 OR v = 101) ORDER BY id;
-- Through other joins, groups and derived tables.
SELECT f.id, k.id, g.id FROM f JOIN k ON f.a = k.a JOIN f g ON g.u = k.u ORDER BY 1, 2, 3;
SELECT f.id, g.id FROM f LEFT JOIN f g ON g.a = f.u JOIN k ON k.a = g.a ORDER BY 1, 2;
SELECT f.id, g.id FROM f LEFT JOIN f g ON g.a = f.u LEFT JOIN k ON k.a = g.a WHERE f.id IN (5, 20, 299) ORDER BY 1, 2;
SELECT k.id, x.c FROM k JOIN (SELECT a, COUNT(*) AS c FROM f GROUP BY a) x ON x.a = k.a ORDER BY 1;
SELECT k.id, x.c FROM k JOIN (SELECT v, COUNT(*) AS c, MAX(a) AS m FROM f GROUP BY v) x ON x.m = k.a ORDER BY 1;
SELECT k.id, x.a, x.c FROM k JOIN (SELECT a, COUNT(*) AS c FROM f GROUP BY a WITH ROLLUP) x ON x.a <=> k.a ORDER BY 1, 2, 3;
SELECT k.id, x.a FROM k JOIN (SELECT a FROM f ORDER BY a DESC LIMIT 245) x ON x.a = k.a ORDER BY 1;
SELECT k.id, x.a, x.r FROM k JOIN (SELECT a, ROW_NUMBER() OVER (ORDER BY id) AS r FROM f) x ON x.a = k.a ORDER BY 1, 3;
SELECT k.id, x.a FROM k JOIN (SELECT a FROM f UNION SELECT u FROM f) x ON x.a = k.a ORDER BY 1;
SELECT k.id, (SELECT COUNT(*) FROM f JOIN k k2 ON f.a = k2.a WHERE k2.id <= k.id) AS c FROM k ORDER BY 1;
-- Rows that a filter drops raise what they raise without it.
SELECT COUNT(*) FROM f JOIN k ON f.a = k.a WHERE f.s + 0 >= 0 AND f.v = 101;
SHOW WARNINGS;
SELECT COUNT(*) FROM (SELECT a, 1 / (v - 3) AS q FROM f) x JOIN k ON x.a = k.a WHERE q IS NULL;
SELECT COUNT(*) FROM f JOIN k ON f.a = k.a AND f.a / (f.v - 3) = k.id AND k.a < 30;
-- Nothing on one side.
SELECT COUNT(*) FROM f JOIN k ON f.a = k.a WHERE k.id > 100;
SELECT COUNT(*) FROM f JOIN k ON f.a = k.a WHERE f.id > 1000;
-- Changed rows beside a filter.
START TRANSACTION;
UPDATE f SET a = 40 WHERE id = 7;
DELETE FROM f WHERE a = 10;
INSERT INTO f (a, v) VALUES (20, 200), (-50, 201);
SELECT f.id, k.id FROM f JOIN k ON f.a = k.a ORDER BY 1, 2;
ROLLBACK;
SELECT f.id, k.id FROM f JOIN k ON f.a = k.a ORDER BY 1, 2;
DROP TABLE k, f;
