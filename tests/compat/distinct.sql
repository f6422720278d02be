-- DISTINCT with an order of the same columns: few rows are sorted and equal ones dropped, many are hashed first.
CREATE TABLE d (id INT PRIMARY KEY, c VARCHAR(60) NOT NULL, n INT, x DECIMAL(12,3), f DOUBLE, l VARCHAR(2000), b VARBINARY(50), t DATETIME(3));
INSERT INTO d VALUES
 (1, 'abc', 1, 1.5, 0, 'x', 'a', '2020-01-01 00:00:00'), (2, 'ABC', 1, 1.50, -0.0, 'X', 'A', '2020-01-01 00:00:00.000'),
 (3, 'abc ', NULL, NULL, 1, NULL, 'a ', NULL), (4, 'a fairly long text that goes on for a while', 2, -3, 2, REPEAT('y', 1500), NULL, NULL),
 (5, 'a fairly long text that goes on for a whilE', 2, -3.000, 2, CONCAT(REPEAT('y', 1500), 'z'), 'b', '2021-01-01 00:00:00.001'),
 (6, 'a fairly long text that goes on for a white', NULL, 0, NULL, REPEAT('y', 1500), 'b', '2021-01-01 00:00:00.001'),
 (7, 'a fairly long text that goes on for a while ', 3, 0, NULL, CONCAT(REPEAT('Y', 1500), 'z'), 'b ', NULL), (8, '', 3, 0, 7, '', '', NULL);
SELECT DISTINCT c FROM d ORDER BY c;
SELECT DISTINCT c FROM d WHERE id BETWEEN 1 AND 7 ORDER BY c DESC;
SELECT DISTINCT n FROM d ORDER BY n;
SELECT DISTINCT n, c FROM d ORDER BY c, n DESC;
-- unordered
SELECT DISTINCT n, c FROM d ORDER BY n;
SELECT DISTINCT x FROM d ORDER BY x DESC;
SELECT DISTINCT ABS(f) FROM d ORDER BY 1;
SELECT DISTINCT HEX(b) FROM d ORDER BY 1;
SELECT DISTINCT t FROM d ORDER BY t;
SELECT DISTINCT c COLLATE utf8mb4_bin AS k FROM d ORDER BY k;
SELECT DISTINCT c COLLATE utf8mb4_unicode_nopad_ci AS k FROM d ORDER BY k;
SELECT DISTINCT c FROM d ORDER BY c LIMIT 2;
SELECT COUNT(*) FROM (SELECT DISTINCT c FROM d ORDER BY c) s;
SET max_sort_length = 64;
-- unordered
SELECT DISTINCT c FROM d ORDER BY c;
SET max_sort_length = DEFAULT;
CREATE TABLE many (id INT PRIMARY KEY, c VARCHAR(40) NOT NULL, n INT NOT NULL);
INSERT INTO many SELECT seq, CONCAT(IF(seq % 2, 'key ', 'KEY '), seq % 7), seq % 11 FROM seq_1_to_3000;
SELECT DISTINCT c FROM many ORDER BY c;
SELECT DISTINCT c, n FROM many ORDER BY n, c LIMIT 5;
SELECT DISTINCT n FROM many WHERE id <= 1024 ORDER BY n DESC;
SELECT DISTINCT c FROM many WHERE id <= 1025 ORDER BY c DESC;
DROP TABLE d, many;
