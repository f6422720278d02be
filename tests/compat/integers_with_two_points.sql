-- The first point of a text does not count before a second one, if an integer column stores it.
SET sql_mode = '';
CREATE TABLE t (k INT, a INT, b BIGINT UNSIGNED, c TINYINT);
INSERT INTO t VALUES (1, '1.2.3', '1.2.3', '1.2.3'), (2, '255.1.2.3', '255.1.2.3', '255.1.2.3'), (3, '1.5.', '1.5.', '1.5.'), (4, '1..5', '1..5', '1..5'), (5, '.5.5', '.5.5', '.5.5'), (6, '-1.2.3', '-1.2.3', '-1.2.3'), (7, '1.2e1.5', '1.2e1.5', '1.2e1.5'), (8, '123456789.123456789.1', '123456789.123456789.1', '123456789.123456789.1'), (9, '2023.01.05', '2023.01.05', '2023.01.05'), (10, '1.2', '1.2x', '1.2 .');
SHOW WARNINGS;
SELECT * FROM t ORDER BY k;
SELECT CAST('1.2.3' AS SIGNED), '1.2.3' + 0, CAST('12.34.56' AS UNSIGNED), CAST('1.2.3' AS DECIMAL(5,2));
SET sql_mode = DEFAULT;
INSERT INTO t (a) VALUES ('1.2.3');
DROP TABLE t;
