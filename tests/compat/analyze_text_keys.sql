-- Statistics of indexes whose entries go on with a primary key of text.
CREATE TABLE t1 (a INT, b INT, c CHAR(200), d CHAR(20), PRIMARY KEY (c, d), KEY (b), KEY (a, d))
  ENGINE=InnoDB;
INSERT INTO t1 SELECT seq % 3, seq % 4, CONCAT('Key', seq % 5), seq FROM seq_1_to_20;
ANALYZE TABLE t1 PERSISTENT FOR ALL;
SELECT index_name, prefix_arity, avg_frequency FROM mysql.index_stats
  WHERE db_name = DATABASE() ORDER BY 1, 2;
DROP TABLE t1;
