# Scalar aggregates that are correlated by equalities: their groups may be joined.
CREATE TABLE o (id INT PRIMARY KEY, k INT, x INT, s VARCHAR(20), u BIGINT UNSIGNED, d DATE);
CREATE TABLE i (id INT PRIMARY KEY, k INT, v DECIMAL(8,1), n INT NOT NULL, s VARCHAR(20), b VARCHAR(20) COLLATE utf8mb4_bin, f DOUBLE, t VARCHAR(20));
INSERT INTO o SELECT seq, IF(seq % 7 = 0, NULL, seq % 11), seq % 4, ELT(1 + seq % 5, 'a', 'A', 'b', '1', NULL), seq % 3, '2024-01-01' + INTERVAL seq DAY FROM seq_1_to_400;
INSERT INTO i SELECT seq, IF(seq % 5 = 0, NULL, seq % 8), IF(seq % 9 = 0, NULL, seq % 4), seq % 3, ELT(1 + seq % 4, 'a', 'A', 'b', '01'), ELT(1 + seq % 4, 'a', 'A', 'b', 'B'), seq % 6, ELT(1 + seq % 3, '1', '01', '1.0') FROM seq_1_to_200;
# A row without a group has the aggregate's value over no rows.
SELECT COUNT(*), SUM(id) FROM o WHERE x = (SELECT COUNT(*) FROM i WHERE i.k = o.k);
SELECT COUNT(*), SUM(id) FROM o WHERE (SELECT COUNT(v) FROM i WHERE i.k = o.k) = 0;
SELECT COUNT(*), SUM(id) FROM o WHERE x > (SELECT COALESCE(SUM(v), 0) FROM i WHERE i.k = o.k);
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT IFNULL(AVG(v), 9) FROM i WHERE i.k = o.k);
SELECT COUNT(*), SUM(id) FROM o WHERE x > (SELECT BIT_OR(n) FROM i WHERE i.k = o.k);
SELECT COUNT(*), SUM(id) FROM o WHERE x >= (SELECT BIT_XOR(n) FROM i WHERE i.k = o.k);
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT BIT_AND(n) FROM i WHERE i.k = o.k);
SELECT COUNT(*), SUM(id) FROM o WHERE (SELECT BIT_AND(n) FROM i WHERE i.k = o.k) = 18446744073709551615;
SELECT COUNT(*), SUM(id) FROM o WHERE x <> (SELECT MAX(v) IS NULL FROM i WHERE i.k = o.k);
SELECT COUNT(*), SUM(id) FROM o WHERE x = (SELECT CASE WHEN COUNT(*) = 0 THEN 3 ELSE MIN(n) END FROM i WHERE i.k = o.k);
SELECT COUNT(*), SUM(id) FROM o WHERE (SELECT SUM(v) FROM i WHERE i.k = o.k) IS NULL;
SELECT COUNT(*), SUM(id) FROM o WHERE x <=> (SELECT MIN(v) FROM i WHERE i.k = o.k);
SELECT COUNT(*), SUM(id) FROM o WHERE x > (SELECT MIN(v) FROM i WHERE i.k = o.k) IS NOT TRUE;
SELECT COUNT(*), SUM(id) FROM o WHERE x > (SELECT SUM(v) FROM i WHERE i.k = o.k) OR x = 1;
SELECT COUNT(*), SUM(id) FROM o WHERE (SELECT MAX(v) FROM i WHERE i.k = o.k) = (SELECT 1 + MIN(n) FROM i WHERE i.k = o.x);
SELECT COUNT(*), SUM(id) FROM o WHERE x > (SELECT SUM(v) - COUNT(*) FROM i WHERE i.k = o.k);
# NULL is no group that a comparison by <=> might skip.
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT COUNT(*) FROM i WHERE i.k <=> o.k);
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT COUNT(*) FROM i WHERE i.k = o.k AND i.n = o.x);
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT COUNT(*) FROM i WHERE i.k = o.k AND i.n < o.x);
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT COUNT(*) FROM i WHERE i.k = o.k AND o.x = 1);
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT COUNT(*) FROM i WHERE i.k + 1 = o.k);
# Values that a comparison calls equal may be in several groups.
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT COUNT(*) - 40 FROM i WHERE i.b = o.s COLLATE utf8mb4_general_ci);
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT COUNT(*) - 40 FROM i WHERE i.s = o.s COLLATE utf8mb4_bin);
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT COUNT(*) - 40 FROM i WHERE i.s = o.s);
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT COUNT(*) - 190 FROM i WHERE i.t = o.u);
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT COUNT(*) - 60 FROM i WHERE i.n = o.u);
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT COUNT(*) - 30 FROM i WHERE i.f = o.k);
# Duplicates below the aggregation.
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT COUNT(*) FROM (SELECT DISTINCT k, n FROM i) q WHERE q.k = o.k);
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT COUNT(*) - 30 FROM (SELECT DISTINCT k, n FROM i) q JOIN i ON i.n = q.n WHERE q.k = o.k);
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT COUNT(DISTINCT n, v) FROM i WHERE i.k = o.k);
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT COUNT(*) - 30 FROM i LEFT JOIN i j ON i.id = j.n WHERE i.k = o.k);
SELECT COUNT(*), SUM(p.id) FROM o JOIN o p ON o.k = p.id WHERE p.x < (SELECT SUM(v) - 20 FROM i WHERE i.k = o.k);
SELECT COUNT(*), SUM(o.id) FROM o LEFT JOIN i ON o.k = i.id WHERE o.x < (SELECT COUNT(*) FROM i j WHERE j.k = i.id);
# Not one aggregation.
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT COUNT(*) FROM i WHERE i.k = o.k HAVING COUNT(*) > 18);
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT COUNT(*) FROM i WHERE i.k = o.k LIMIT 0);
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT COUNT(*) FROM i WHERE i.k = o.k LIMIT 1 OFFSET 1);
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT COUNT(*) FROM i WHERE i.k = o.k GROUP BY i.k);
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT MAX(v) FROM (SELECT v, k FROM i ORDER BY id LIMIT 50) q WHERE q.k = o.k);
# Runs that leave something behind, and values that change.
SET @a = 0;
SELECT COUNT(*) FROM o WHERE id < 30 AND x <= (SELECT COUNT(@a := @a + 1) FROM i WHERE i.k = o.k AND i.id < 10);
SELECT @a > 0;
SELECT COUNT(*) FROM o WHERE (SELECT MAX(RAND()) FROM i WHERE i.k = o.k) > 1;
CREATE TABLE log (n INT AUTO_INCREMENT PRIMARY KEY);
CREATE FUNCTION noted(a INT) RETURNS INT BEGIN INSERT INTO log VALUES (NULL); RETURN a; END;
SELECT COUNT(*) FROM o WHERE id < 30 AND x < (SELECT SUM(noted(n)) FROM i WHERE i.k = o.k AND i.id < 10);
SELECT COUNT(*) > 0 FROM log;
# Errors and warnings of rows that belong to no row of the statement.
CREATE TABLE e (k INT, n BIGINT, s VARCHAR(10));
INSERT INTO e SELECT seq % 5, seq, seq FROM seq_1_to_100;
INSERT INTO e VALUES (99, 9223372036854775807, 'x'), (99, 9223372036854775807, 'y');
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT SUM(n + 1) FROM e WHERE e.k = o.k);
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT SUM(s) FROM e WHERE e.k = o.k);
SHOW COUNT(*) WARNINGS;
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT MAX(n) * 2 FROM e WHERE e.k = o.k);
SELECT COUNT(*), SUM(id) FROM o WHERE x < (SELECT MAX(100 / (n - 9223372036854775807)) + 100 FROM e WHERE e.k = o.k);
SHOW COUNT(*) WARNINGS;
SELECT COUNT(*), SUM(id) FROM o WHERE k < 5 AND x < (SELECT COUNT(*) FROM e WHERE e.k = o.k AND s + 0 > 3);
SHOW COUNT(*) WARNINGS;
UPDATE o SET x = x + 1 WHERE k < 5 AND x < (SELECT SUM(s) FROM e WHERE e.k = o.k);
SELECT SUM(x) FROM o;
UPDATE o SET x = x - 1 WHERE k < 5 AND x > (SELECT COUNT(*) - 19 FROM e WHERE e.k = o.k);
SELECT SUM(x) FROM o;
DELETE FROM o WHERE x > (SELECT COALESCE(SUM(v), 0) FROM i WHERE i.k = o.k);
SELECT COUNT(*) FROM o;
DROP FUNCTION noted;
DROP TABLE o, i, e, log;
-- A side of the comparison with columns of both queries.
CREATE TABLE mixed_outer (k INT);
INSERT INTO mixed_outer VALUES (1),(2),(3),(4);
CREATE TABLE mixed_inner (k INT, v INT, doc TEXT);
INSERT INTO mixed_inner VALUES (1,10,'[{"x":1}]'),(2,20,'bad'),(3,-30,'[]');
SELECT k FROM mixed_outer o WHERE (SELECT SUM(i.v) FROM mixed_inner i WHERE i.k + o.k = 5) > 0;
SELECT k FROM mixed_outer o WHERE (SELECT COUNT(*) FROM mixed_inner i WHERE i.k = o.k + i.v) = 0;
SELECT k FROM mixed_outer o WHERE (SELECT SUM(v) FROM mixed_inner i WHERE o.k = 2) = 0;
-- A document that no row asks for.
SELECT COUNT(*) FROM mixed_outer o WHERE k = 1 AND (SELECT SUM(j.x) FROM mixed_inner i, JSON_TABLE(i.doc, '$[*]' COLUMNS (x INT PATH '$.x')) j WHERE i.k = o.k) = 1;
