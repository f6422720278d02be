CREATE TABLE t (f FLOAT(16,6), p TINYINT, d DOUBLE(10,2), e DOUBLE, m DECIMAL(10,4), v VARCHAR(10));
INSERT INTO t VALUES (1.1325, 3, 1.55, 1.23456, 1.2345, '2.3456');
-- meta
SELECT ROUND(f, p), TRUNCATE(f, p), ROUND(d, p), TRUNCATE(d, p), ROUND(e, p), ROUND(v, p), ROUND(m, p) FROM t;
-- meta
SELECT ROUND(f, 2), TRUNCATE(f, 2), ROUND(f), ROUND(f, 8), ROUND(d, f), ROUND(f, NULL), ROUND(d, -1), ROUND(1.5e0, p) FROM t;
-- meta
SELECT ROUND(f, p + 0), ROUND(f + 0, p), ROUND(f * d, p), ROUND(e + 1, p), TRUNCATE(v, p) FROM t;
CREATE TABLE u SELECT ROUND(f, p) a, TRUNCATE(d, p) b, ROUND(e, p) c, ROUND(v, p) d, ROUND(1.5e0, p) e, ROUND(f, NULL) g FROM t;
SHOW CREATE TABLE u;
SELECT * FROM u;
