-- Order of the rows of outer joins without ORDER BY. A small join buffer gives another one.
SET join_buffer_size = 262144;
CREATE TABLE t1 (a INT);
INSERT INTO t1 VALUES (1),(2),(3),(4),(5);
CREATE TABLE t2 (b INT, c INT);
INSERT INTO t2 VALUES (1,1),(3,1),(3,2),(5,1),(5,2);
CREATE TABLE keyed (b INT PRIMARY KEY, c INT);
INSERT INTO keyed VALUES (3,1),(1,1),(5,2);
-- A join buffer: rows without a match come behind the others.
SELECT * FROM t1 LEFT JOIN t2 ON a = b;
SELECT * FROM t1 LEFT JOIN t2 ON a < b AND c = 2 AND a > 3;
SELECT * FROM t2 RIGHT JOIN t1 ON a = b;
-- Rows found by a key, and rows of a derived table: each left row with its matches or without.
SELECT * FROM t1 LEFT JOIN keyed ON a = b;
SELECT * FROM t1 LEFT JOIN keyed ON a = b AND c = 1;
SELECT * FROM t1 LEFT JOIN keyed ON a = b AND c + a > 4;
SELECT * FROM t1 LEFT JOIN (SELECT b, MAX(c) AS c FROM t2 GROUP BY b) AS d ON a = b;
SELECT * FROM t1 LEFT JOIN (SELECT b, MAX(c) AS c FROM t2 GROUP BY b) AS d ON a = b AND c > 1;
-- Without join buffers.
SET optimizer_switch = 'outer_join_with_cache=off';
SELECT * FROM t1 LEFT JOIN t2 ON a = b;
SELECT * FROM t1 LEFT JOIN t2 ON a = b AND c = 2;
SELECT * FROM t1 LEFT JOIN t2 ON a = b AND c + a > 4;
SELECT * FROM t1 LEFT JOIN t2 ON a < b AND c = 2;
SELECT * FROM t1 LEFT JOIN t2 ON a < b AND c + a > 4;
SELECT * FROM t1 LEFT JOIN t2 ON a = b AND FALSE;
SELECT * FROM t1 LEFT JOIN (t2 JOIN keyed USING (b)) ON a = t2.b AND a > 1;
SELECT * FROM t1 LEFT JOIN t2 ON a = b LEFT JOIN keyed AS k ON k.b = t2.b + 2;
SET optimizer_switch = DEFAULT;
SET join_cache_level = 0;
SELECT * FROM t1 LEFT JOIN t2 ON a = b;
-- More rows than fit in a batch.
CREATE TABLE many (a INT, b INT);
INSERT INTO many SELECT seq, seq % 7 FROM seq_1_to_5000;
CREATE TABLE few (b INT, c INT);
INSERT INTO few VALUES (1,1),(1,2),(1,3),(3,1),(3,2),(6,1);
SET @before = 0, @falls = 0;
SELECT COUNT(*), SUM(c) FROM (SELECT many.a, c FROM many LEFT JOIN few ON many.b = few.b) AS d;
SELECT SUM(falls), COUNT(*) FROM (SELECT (@falls := a < @before) AS falls, (@before := a) AS a
  FROM many LEFT JOIN few ON many.b = few.b) AS d;
SET @before = 0;
SELECT SUM(falls), COUNT(*) FROM (SELECT (@falls := a < @before) AS falls, (@before := a) AS a
  FROM many LEFT JOIN few ON many.b = few.b AND few.c + many.a > 1000) AS d;
SET @before = 0;
SELECT SUM(falls), COUNT(*) FROM (SELECT (@falls := a < @before) AS falls, (@before := a) AS a
  FROM many LEFT JOIN few ON many.b > few.b AND few.c > 1) AS d;
DROP TABLE t1, t2, keyed, many, few;
