-- Groups of an index of which only the ends are read ("Using index for group-by"): NULL, conditions, descending order,
-- rows deleted, changed by other sessions or equal only by collation.
CREATE TABLE g (id INT PRIMARY KEY, u INT, v INT, w INT NOT NULL, s VARCHAR(10), KEY uv (u, v), KEY sw (s, w), KEY vu (v DESC, u));
INSERT INTO g SELECT seq, NULLIF(seq % 7, 0), NULLIF(seq % 40, 3), seq % 5, ELT(1 + seq % 6, 'a', 'A', 'b', 'ab', 'AB', NULL) FROM seq_1_to_4000;
ANALYZE TABLE g;
SELECT DISTINCT u FROM g ORDER BY u;
SELECT DISTINCT u + 1 FROM g ORDER BY 1;
SELECT u, MIN(v), MAX(v) FROM g GROUP BY u ORDER BY u;
SELECT u, MAX(v) FROM g WHERE u > 2 GROUP BY u ORDER BY u;
SELECT u, MIN(v) FROM g WHERE u IN (1, 4, 99) OR u IS NULL GROUP BY u ORDER BY u;
SELECT v, MIN(id), MAX(id) FROM g WHERE v < 4 GROUP BY v ORDER BY v;
SELECT u, MAX(id) FROM g GROUP BY u HAVING MAX(id) > 3995 ORDER BY u;
SELECT v, MAX(u), MIN(u) FROM g WHERE v BETWEEN 2 AND 5 GROUP BY v ORDER BY v;
SELECT UPPER(s), MIN(w), MAX(w) FROM g GROUP BY s ORDER BY s;
SELECT s, MAX(w) FROM g WHERE s LIKE 'a%' GROUP BY s ORDER BY s;
SELECT COUNT(DISTINCT u), COUNT(DISTINCT u, v), SUM(DISTINCT u) FROM g;
SELECT COUNT(DISTINCT u), SUM(DISTINCT u), AVG(DISTINCT u), MIN(u) FROM g;
SELECT COUNT(DISTINCT s) FROM g;
SELECT COUNT(*) FROM (SELECT DISTINCT u, v FROM g) d;
-- every group has NULLs before its least value, one has nothing else
UPDATE g SET v = NULL WHERE u = 5 OR id % 3 = 0;
SELECT u, MIN(v), MAX(v) FROM g GROUP BY u ORDER BY u;
DELETE FROM g WHERE u = 2;
SELECT DISTINCT u FROM g ORDER BY u;
a: BEGIN;
a: UPDATE g SET u = 20 WHERE u = 3;
a: DELETE FROM g WHERE u = 4;
a: INSERT INTO g VALUES (5000, 3, 1000, 0, 'zz');
a: SELECT u, MIN(v), MAX(v) FROM g GROUP BY u ORDER BY u;
SELECT u, MIN(v), MAX(v) FROM g GROUP BY u ORDER BY u;
SELECT COUNT(DISTINCT u), COUNT(DISTINCT s) FROM g;
a: ROLLBACK;
a: SELECT u, MIN(v), MAX(v) FROM g GROUP BY u ORDER BY u;
-- the clustered index
CREATE TABLE c (a VARCHAR(10), b INT, x INT, PRIMARY KEY (a, b));
INSERT INTO c SELECT CONCAT('k', seq % 9), seq, seq % 3 FROM seq_1_to_3000;
ANALYZE TABLE c;
SELECT DISTINCT a FROM c;
SELECT a, MIN(b), MAX(b) FROM c GROUP BY a;
SELECT a, MAX(b) FROM c WHERE a >= 'k5' GROUP BY a ORDER BY a DESC;
SELECT a, MAX(b) FROM c WHERE x = 1 GROUP BY a;
PREPARE p FROM 'SELECT a, MAX(b) FROM c WHERE a > ? GROUP BY a';
EXECUTE p USING 'k6';
EXECUTE p USING 'k2';
EXECUTE p USING NULL;
-- a prefix key does not know which text is the least
CREATE TABLE p (a VARCHAR(20), b INT, c INT, PRIMARY KEY (a(3), b, c));
INSERT INTO p SELECT CONCAT('abc', CHAR(122 - seq % 20)), seq % 3, seq FROM seq_1_to_3000;
ANALYZE TABLE p;
SELECT b, MIN(a), MAX(a) FROM p GROUP BY b ORDER BY b;
SELECT COUNT(DISTINCT b), MAX(a) FROM p;
-- EXPLAIN; MariaDB estimates twice as many groups
EXPLAIN SELECT DISTINCT u FROM g;
EXPLAIN SELECT u, MIN(v), MAX(v) FROM g GROUP BY u;
EXPLAIN SELECT u, MIN(v), MAX(v) FROM g WHERE u > 2 GROUP BY u;
EXPLAIN SELECT COUNT(DISTINCT a) FROM c;
EXPLAIN FORMAT=JSON SELECT DISTINCT u FROM g;
