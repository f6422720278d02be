-- A conversion to a text is nullable; the length of a number with exponent is that of its text.
CREATE TABLE t (a INT NOT NULL, b VARCHAR(30) NOT NULL, u VARCHAR(5) CHARSET utf8mb4 NOT NULL) CHARSET latin1;
INSERT INTO t VALUES (1, 'x', 'y');
CREATE TABLE made CHARSET latin1 AS SELECT CAST(b AS CHAR) c1, CAST(b AS CHAR(3)) c2, CAST(a AS CHAR) c3, CAST(a AS BINARY) c4, CONVERT(b USING utf8mb4) c5, CONVERT(u USING latin1) c6, BINARY b c7, CAST('abc' AS BINARY) c8, BINARY 'abc' c9, CONVERT('abc' USING utf8mb3) c10, CAST(1 AS CHAR) c11, COALESCE(CAST(b AS CHAR), '') c12, CAST(b AS SIGNED) c13 FROM t;
SHOW CREATE TABLE made;
-- meta
SELECT CAST(b AS CHAR), BINARY b, CONVERT(b USING utf8mb4) FROM t;
SELECT COUNT(*) FROM t WHERE CAST(b AS CHAR) IS NULL;
DROP TABLE made;
CREATE TABLE made AS SELECT 1e0 a, 1.5e2 b, 123456789.5e0 c, -1e0 d, 1e0 + 1 e, 12345e-3 f, 1E+10 g;
SHOW CREATE TABLE made;
-- meta
SELECT * FROM made;
-- meta
SELECT 1e0 a, 1.5e2 b, 123456789.5e0 c, -1e0 d, 12345e-3 f, 1E+10 g, CONCAT(1.5e2), 1e0 = 1.0;
