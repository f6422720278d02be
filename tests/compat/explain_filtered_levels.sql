CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c INT, KEY (a), KEY (b)) ENGINE=InnoDB;
INSERT INTO t SELECT seq, seq, seq * 7 % 100, seq FROM seq_1_to_100;
ANALYZE TABLE t;
CREATE TABLE u (id CHAR(8) PRIMARY KEY, path VARCHAR(40), KEY (path)) ENGINE=InnoDB CHARSET latin1;
INSERT INTO u SELECT CONCAT('k', seq), CASE WHEN seq < 4 THEN '/' WHEN seq < 20 THEN CONCAT('a/', seq) ELSE CONCAT('b/', seq % 3) END FROM seq_1_to_50;
ANALYZE TABLE u;
-- Ranges of other indexes count from level 2 on.
SET optimizer_use_condition_selectivity = 1;
EXPLAIN EXTENDED SELECT * FROM t WHERE a < 60 AND b < 50;
EXPLAIN EXTENDED SELECT * FROM t WHERE a < 60 AND b < 80 AND c < 3;
EXPLAIN EXTENDED SELECT * FROM t WHERE a < 60 AND b < 3 AND c < 3;
EXPLAIN EXTENDED SELECT * FROM t WHERE a = 60 AND b < 30;
EXPLAIN EXTENDED SELECT * FROM u WHERE (path = '/' OR path LIKE 'a%' OR path LIKE 'b%') AND id LIKE 'k30x%';
SET optimizer_use_condition_selectivity = 2;
EXPLAIN EXTENDED SELECT * FROM t WHERE a < 60 AND b < 50;
EXPLAIN EXTENDED SELECT * FROM t WHERE a < 60 AND b < 3 AND c < 3;
EXPLAIN EXTENDED SELECT * FROM t WHERE a = 60 AND b < 30;
SET optimizer_use_condition_selectivity = 4;
-- The primary key behind an index makes the range of a value of the index smaller.
EXPLAIN EXTENDED SELECT * FROM u WHERE (path = '/' OR path LIKE 'a%' OR path LIKE 'b%') AND id LIKE 'k30x%';
EXPLAIN EXTENDED SELECT * FROM u WHERE (path = '/' OR path LIKE 'a%') AND id LIKE 'k30x%';
EXPLAIN EXTENDED SELECT * FROM u WHERE path LIKE 'a%' AND id LIKE 'k30x%';
-- Conditions beside an OR narrow the ranges of its alternatives.
CREATE TABLE v (a INT, b INT, c INT, d INT, KEY (a, b)) ENGINE=InnoDB;
INSERT INTO v SELECT seq % 50, seq % 40, seq, seq FROM seq_1_to_2000;
FLUSH STATUS;
SELECT COUNT(*), SUM(d) FROM v FORCE INDEX (a) WHERE (a = 3 OR a = 7 AND c > 0) AND b < 9;
SHOW STATUS LIKE 'Handler_read_next';
SELECT COUNT(*), SUM(d) FROM v WHERE (a = 3 OR a = 7 AND c > 20 OR a > 47) AND b < 9;
SELECT a, b, COUNT(*) FROM v WHERE (a = 3 OR a = 7) AND (b = 7 OR b = 3 OR b > 38) GROUP BY a, b;
SELECT a, b, COUNT(*) FROM v WHERE (a = 3 OR a IN (4, 5)) AND b IN (4, 13, NULL) GROUP BY a, b;
SELECT COUNT(*) FROM v WHERE (a <=> NULL OR a = 5) AND b <=> NULL;
