-- Names that are found nowhere, or in the wrong place.
CREATE TABLE t1 (a INT, b CHAR(10));
INSERT INTO t1 VALUES (1,'a'),(2,'b'),(3,'c');
CREATE TABLE t2 (a INT, b CHAR(10));
INSERT INTO t2 VALUES (3,'c'),(4,'d');
-- An entry of the select list read by its own subquery, or by one before it.
SELECT (SELECT 1 FROM (SELECT 1) AS b HAVING a = 1) AS a;
SELECT (SELECT 1 FROM (SELECT 1) AS b HAVING b = 1) AS a,
  (SELECT 1 FROM (SELECT 1) AS c HAVING a = 1) AS b;
SELECT 2 AS a, (SELECT 1 FROM (SELECT 1) AS b HAVING a = 2) AS c;
SELECT (SELECT 1 FROM (SELECT 1) AS b WHERE a = 1) AS a;
SELECT (SELECT a) AS a;
SELECT (SELECT a) AS a FROM t1;
SELECT q + 1 AS q;
-- Mistakes in USING come before those in ON.
SELECT t1.a, t3.a FROM t1 JOIN t2 ON t2.a = t1.a LEFT JOIN t1 AS t3 USING (a);
SELECT t1.a, t3.a FROM t1 JOIN t2 ON t2.nothing = t1.a LEFT JOIN t1 AS t3 USING (a);
SELECT t1.a FROM t1 JOIN t2 ON t2.nothing = t1.a NATURAL LEFT JOIN t1 AS t3;
SELECT t1.a FROM t1 JOIN t2 ON t2.nothing = t1.a JOIN t1 AS t3 USING (other);
SELECT t1.a FROM t1 JOIN t2 ON t2.nothing = t1.a JOIN t1 AS t3 ON t3.other = 1;
-- The place in the message.
DO nothing;
DO 1, (SELECT nothing);
SELECT a FROM t1 WHERE nothing IN (SELECT a FROM t2);
SELECT a FROM t1 WHERE nothing IN (1, 2);
SELECT a FROM t1 WHERE a IN (SELECT nothing FROM t2);
SELECT a FROM t1 WHERE a IN (SELECT a FROM t2 WHERE nothing = 1);
SELECT a FROM t1 WHERE (nothing, a) IN (SELECT a, b FROM t2);
SELECT a FROM t1 WHERE nothing = ANY (SELECT a FROM t2);
SELECT a FROM t1 WHERE nothing > ALL (SELECT a FROM t2);
SELECT nothing IN (SELECT a FROM t2) FROM t1;
SELECT a FROM t1 HAVING nothing IN (SELECT a FROM t2);
SELECT a FROM t1 ORDER BY nothing IN (SELECT a FROM t2);
DELETE FROM t1 WHERE 1 + nothing NOT IN (SELECT a FROM t2);
-- Blanks at the start of an alias.
SELECT 1 AS ` x`, 2 AS `y `;
SELECT 1 AS ` `;
SELECT x FROM (SELECT 1 AS `  x`) AS d;
SELECT 1 AS ` x` UNION SELECT 2 AS ` z`;
CREATE TABLE t3 AS SELECT 1 AS ` x`;
SHOW CREATE TABLE t3;
CREATE TABLE t4 AS SELECT 1 AS ` `;
CREATE VIEW v1 AS SELECT 1 AS ` `;
CREATE VIEW v1 AS SELECT 1 AS ` x`;
SHOW CREATE VIEW v1;
CREATE VIEW v2 AS SELECT (SELECT 1 AS `  `);
PREPARE s FROM 'SELECT 1 AS ` x`';
EXECUTE s;
-- Several common tables in a view.
CREATE VIEW v2 AS WITH c AS (SELECT 1 AS x), d (z) AS (SELECT 2 AS y) SELECT x, z FROM c, d;
SHOW CREATE VIEW v2;
SELECT * FROM v2;
-- DEFAULT of names that are no columns of tables.
CREATE TABLE t5 (k INT PRIMARY KEY AUTO_INCREMENT, a INT DEFAULT 5, b INT NOT NULL);
INSERT INTO t5 VALUES (1, 1, 1);
SELECT a, 32 AS x FROM t5 GROUP BY a HAVING DEFAULT(x) IS NULL;
SELECT DEFAULT(x) FROM (SELECT a + 1 AS x FROM t5) AS d;
SELECT DEFAULT(x) FROM (SELECT a AS x FROM t5) AS d;
SELECT DEFAULT(b) FROM t5;
SELECT DEFAULT(k), DEFAULT(a) FROM t5;
SELECT DEFAULT(nothing) FROM t5;
-- Found rows of a union whose first part is in parentheses.
(SELECT SQL_CALC_FOUND_ROWS a FROM t1 LIMIT 2) UNION ALL (SELECT a FROM t2) LIMIT 2;
SELECT FOUND_ROWS();
(SELECT SQL_CALC_FOUND_ROWS a FROM t1) UNION (SELECT a FROM t2) LIMIT 1;
SELECT FOUND_ROWS();
(SELECT SQL_CALC_FOUND_ROWS a FROM t1) LIMIT 1;
SELECT FOUND_ROWS();
DROP VIEW v1, v2;
DROP TABLE t1, t2, t3, t5;
