-- With --selkie-columns=FORCE and several lanes: aggregates that threads may compute in parts, and those they may not.
CREATE TABLE t (id INT PRIMARY KEY, n INT, c DECIMAL(12,2), f DOUBLE, s VARCHAR(20), d DATE, b BIT(4));
INSERT INTO t SELECT seq, seq % 7, seq / 4, 1 / seq, ELT(seq % 3 + 1, 'a', 'A ', NULL), DATE_ADD('2000-01-01', INTERVAL seq DAY), seq % 16 FROM seq_1_to_3000;
-- Parameters in arguments, in keys and in conditions.
PREPARE q FROM 'SELECT SUM(c + ?), COUNT(*), MIN(n * ?) FROM t WHERE n > ?';
EXECUTE q USING 1, 2, 3;
EXECUTE q USING 1.5, -1, 0;
PREPARE q FROM 'SELECT SUM(c + ?), COUNT(*) FROM t';
EXECUTE q USING 7;
PREPARE q FROM 'SELECT n + ? AS k, COUNT(*) FROM t WHERE n BETWEEN ? AND ? GROUP BY k ORDER BY k';
EXECUTE q USING 10, 2, 4;
-- Sums of floating-point numbers depend on the order of the rows.
SELECT SUM(f), AVG(f), MIN(f), MAX(f) FROM t;
SELECT n, SUM(f) FROM t GROUP BY n ORDER BY n;
-- Groups have the text and the order of their first rows.
SELECT s, COUNT(*), SUM(c), AVG(n), MIN(d), MAX(d) FROM t GROUP BY s;
SELECT n, COUNT(s), COUNT(DISTINCT s), SUM(b), MAX(b + 0) FROM t GROUP BY n;
SELECT s, MIN(s), MAX(s) FROM t GROUP BY s;
-- Warnings and errors are those of one thread, in its order.
SELECT COUNT(*) FROM t WHERE n / (id - 2999) > 1;
SELECT n, SUM(c / (id - 2998)) FROM t WHERE id > 2990 GROUP BY n;
SELECT SUM(n * 9223372036854775807) FROM t;
SELECT COUNT(*) FROM t WHERE s > 0;
SET time_zone = '+05:00', timestamp = 1000000000;
SELECT COUNT(*), MAX(id) FROM t WHERE d < NOW();
SELECT COUNT(*), SUM(c) FROM t WHERE d < CURRENT_TIMESTAMP - INTERVAL 300 DAY AND n IN (1, 2, NULL);
SET time_zone = DEFAULT, timestamp = DEFAULT;
SET @least = 4;
SELECT COUNT(*), SUM(c) FROM t WHERE n >= @least;
DROP TABLE t;
