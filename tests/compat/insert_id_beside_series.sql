-- INSERT_ID that is not of the series of auto_increment_increment and auto_increment_offset.
CREATE TABLE t (a INT AUTO_INCREMENT PRIMARY KEY, b INT);
SET auto_increment_increment = 100, auto_increment_offset = 10;
INSERT INTO t (b) VALUES (1), (2);
SET insert_id = 400;
INSERT INTO t (b) VALUES (3), (4), (5);
INSERT INTO t (b) VALUES (6);
SET insert_id = 1005;
INSERT INTO t (a, b) VALUES (NULL, 7), (1030, 8), (NULL, 9);
SELECT * FROM t ORDER BY b;
SET auto_increment_increment = DEFAULT, auto_increment_offset = DEFAULT;
SET insert_id = 2000;
INSERT INTO t (b) VALUES (10), (11);
SELECT * FROM t WHERE b > 9 ORDER BY b;
