-- SUM and AVG of one expression, whose additions may be done once for both.
CREATE TABLE t (g INT, n BIGINT, u BIGINT UNSIGNED, d DECIMAL(15,2), w DECIMAL(40,5), f DOUBLE, s VARCHAR(10));
INSERT INTO t VALUES (1, 9223372036854775807, 18446744073709551615, 1.25, 12345678901234567890123456789.12345, 0.5, '1.5'),
  (1, 9223372036854775807, 18446744073709551615, 2.50, -1.5, 1.25, '2'), (2, NULL, NULL, NULL, NULL, NULL, NULL),
  (3, -5, 7, -99999.99, 0, -1e10, '-3'), (3, 6, 0, 100000.01, 1, 1e10, '4');
SELECT g, SUM(n), AVG(n), SUM(u), AVG(u), SUM(d), AVG(d) FROM t GROUP BY g ORDER BY g;
SELECT g, AVG(w), SUM(w), AVG(f), SUM(f), AVG(s), SUM(s) FROM t GROUP BY g ORDER BY g;
SELECT SUM(n), AVG(n), AVG(d), SUM(d), AVG(DISTINCT d), SUM(DISTINCT d), SUM(d * 2), AVG(d * 2), COUNT(d) FROM t;
SELECT AVG(d), SUM(d) FROM t WHERE g > 5;
SELECT g, SUM(d) / COUNT(d) = AVG(d) FROM t GROUP BY g WITH ROLLUP;
SET div_precision_increment = 8;
SELECT AVG(n), SUM(n), AVG(d), SUM(d) FROM t WHERE g = 3;
SET div_precision_increment = DEFAULT;
-- Each call of a function and each assignment belongs to one of them.
SET @n = 0;
SELECT SUM(@n := @n + 1), AVG(@n := @n + 1) FROM t;
SELECT @n;
CREATE FUNCTION up(x INT) RETURNS INT BEGIN SET @up = @up + x; RETURN @up; END;
SET @up = 0;
SELECT SUM(up(1)), AVG(up(1)) FROM t;
SELECT SUM(RAND()) = AVG(RAND()) * 5 FROM t;
-- Sums and products at the ends of 64 bits.
CREATE TABLE e (a DECIMAL(18,0), b DECIMAL(18,2), c DECIMAL(10,0));
INSERT INTO e VALUES (999999999999999999, 9999999999999999.99, 2147483648), (-999999999999999999, -9999999999999999.99, -2147483648),
  (2147483647, 0.01, 2147483647), (4294967296, NULL, 4294967295), (0, 0, 0);
SELECT a + a, a - b, b + 1, 1 - b, 0.5 - a, a * c, c * c, b * b, a * a, c * 2147483647 FROM e;
SELECT SUM(a * c), AVG(a * c), SUM(c * c), SUM(b - a), AVG(b - a), SUM(a), AVG(a) FROM e;
SELECT a + 9223372036854775807, 9223372036854775807 - a, a * -1, -c * c FROM e;
DROP FUNCTION up;
DROP TABLE t, e;
