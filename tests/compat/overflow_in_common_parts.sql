-- Errors of aggregates whose arguments have parts in common.
CREATE TABLE o (a BIGINT, b BIGINT, c BIGINT);
INSERT INTO o VALUES (9000000000000000000, 1, 9), (1, 2, 3);
SELECT SUM((a + b) * c), AVG((a + b) * c * 2) FROM o;
SELECT SUM((a + b) - c), AVG((a + b) * c) FROM o;
SELECT SUM((a + a) - c), AVG((a + a) * c) FROM o;
SELECT SUM((a + b) - c), AVG((a + b) - c + 1), SUM(a + b) FROM o WHERE a < 9;
DROP TABLE o;
