CREATE TABLE t (f FLOAT(16,6), p TINYINT, d DOUBLE(10,2), e DOUBLE, m DECIMAL(10,4), v VARCHAR(10), g FLOAT, b BIGINT);
INSERT INTO t VALUES (1.1325, 3, 1.55, 1.23456, 1.2345, '2.3456', 1.5, 7);
-- meta
SELECT f * d, d * d, f * m, m * f, d * p, d * e, d * v, b * d, d * 1.5, d * 1.5e0 FROM t;
-- meta
SELECT d + f, f - d, d + m, d + p, d + e, d % f, MOD(d, m), d + 1.12345 FROM t;
-- meta
SELECT d / f, f / d, d / m, m / d, d / p, p / d, d / e, b / d, d / 1.5, d / v, g / d, 3 / d FROM t;
-- meta
SELECT -f, -d, -e, -g, -(d + 1), -(e + 1), -ROUND(d, 1), -(d * d), -ABS(d), -(-d) FROM t;
CREATE TABLE u SELECT f * d a, d / f b, d / p c, -f e, -d g, -(d + 1) h, -g i, p / d j, -(-d) k FROM t;
SHOW CREATE TABLE u;
SELECT * FROM u;
SELECT SUM(d * d), AVG(d * f), MAX(-d), d * d * d FROM t;
