# Types of columns of combined queries, and the values in them.
SET sql_mode = '';
CREATE TABLE t (c CHAR(3), c1 CHAR(1) NOT NULL, b BINARY(3), v VARCHAR(4), vb VARBINARY(4), i INT, f FLOAT(7,3), g DOUBLE(8,2), n DECIMAL(5,2), e ENUM('a','bb'), s SET('a','bb'), d DATE, bt BIT(5), tt TINYTEXT, tx TEXT, mt MEDIUMTEXT, l TEXT CHARACTER SET latin1, tb TINYBLOB, a6 INET6, u UUID, w VARCHAR(300));
INSERT INTO t VALUES ('a ', 'x', 'b', 'v ', 'w', 5, 1.5, 2.5, 3.5, 'bb', 'a', '2024-01-02', b'101', 'tiny', 'text', 'medium', 'latin', 'blob', '::1', '123e4567-e89b-12d3-a456-426614174000', 'wide');
# CHAR and BINARY stay so beside all but longer kinds of strings.
CREATE TABLE x AS SELECT c AS a1, c AS a2, c AS a3, c AS a4, c AS a5, c AS a6, c AS a7, b AS b1, b AS b2, b AS b3 FROM t UNION SELECT c1, i, e, d, NULL, v, b, i, vb, d FROM t;
SHOW CREATE TABLE x;
SELECT HEX(a7), HEX(b1), HEX(b2), HEX(b3) FROM (SELECT c AS a7, b AS b1, b AS b2, b AS b3 FROM t UNION ALL SELECT b, i, vb, d FROM t) q ORDER BY 1, 2;
CREATE OR REPLACE TABLE x AS SELECT c COLLATE utf8mb4_bin AS a1, CONCAT(c) AS a2, c AS a3, 'a' AS a4, CAST('a' AS CHAR(3)) AS a5 FROM t UNION SELECT c, c, UPPER(c), c, c FROM t;
SHOW CREATE TABLE x;
# Numbers beside bytes take one byte for each character, bits count as text.
CREATE OR REPLACE TABLE x AS SELECT vb AS a1, vb AS a2, bt AS a3, bt AS a4, bt AS a5, bt AS a6, bt AS a7 FROM t UNION SELECT i, d, i, v, f, d, bt FROM t;
SHOW CREATE TABLE x;
SELECT HEX(a), HEX(b), HEX(c), HEX(d) FROM (SELECT bt AS a, bt AS b, bt AS c, bt AS d FROM t UNION ALL SELECT i, v, c, tx FROM t) q ORDER BY 1;
# Texts grow as if their bytes were characters.
CREATE OR REPLACE TABLE x AS SELECT tt AS a1, tt AS a2, tx AS a3, tx AS a4, mt AS a5, l AS a6, l AS a7, tb AS a8, tb AS a9 FROM t UNION SELECT tt, i, tx, c, mt, l, v, tb, w FROM t;
SHOW CREATE TABLE x;
INSERT INTO x (a3) VALUES (REPEAT('a', 300000));
SELECT LENGTH(a3) FROM x WHERE a3 LIKE 'aaa%';
CREATE OR REPLACE TABLE x AS SELECT COALESCE(tt, tt) AS a1, COALESCE(tx, c) AS a3, COALESCE(mt, i) AS a5, COALESCE(l, l) AS a6, COALESCE(vb, i) AS a7, COALESCE(f, i) AS a8 FROM t;
SHOW CREATE TABLE x;
# Fixed decimals.
CREATE OR REPLACE TABLE x AS SELECT f AS a1, f AS a2, g AS a3, g AS a4, f AS a5 FROM t UNION SELECT i, n, i, f, f FROM t;
SHOW CREATE TABLE x;
# Members beside addresses.
SELECT e FROM t UNION SELECT a6 FROM t;
SELECT a6 FROM t UNION SELECT s FROM t;
SELECT u FROM t UNION SELECT 1 UNION SELECT e FROM t;
SELECT u FROM t UNION SELECT e FROM t;
DROP TABLE t, x;
