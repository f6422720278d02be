# A range of the clustered key behind the parts of another index, in partitions.
CREATE TABLE t (id INT, a INT, c INT, PRIMARY KEY (id, a), KEY (c)) PARTITION BY HASH (id) PARTITIONS 3;
INSERT INTO t VALUES (1, 1, NULL), (2, 2, 5), (3, 1, 5), (30, 1, NULL), (31, 2, 5);
SELECT * FROM t WHERE c IS NULL AND id < 20 ORDER BY id;
SELECT * FROM t WHERE c = 5 AND id < 20 ORDER BY id;
SELECT * FROM t WHERE c = 5 AND id BETWEEN 3 AND 40 ORDER BY id;
SELECT * FROM t WHERE c = 5 AND id = 31;
SELECT * FROM t WHERE c = 5 AND id = 31 AND a > 1;
UPDATE t SET a = a + 10 WHERE c = 5 AND id < 20;
DELETE FROM t WHERE c IS NULL AND id > 20;
SELECT * FROM t ORDER BY id;
DROP TABLE t;
