-- A table without rows that is outer joined is a constant of NULLs, which the text leaves out.
CREATE TABLE t1 (a INT, b INT) ENGINE=MyISAM;
INSERT INTO t1 (b) VALUES (1), (2);
CREATE TABLE t2 (c INT, e INT) ENGINE=MyISAM;
CREATE TABLE t3 (c INT, d INT) ENGINE=MyISAM;
INSERT INTO t3 VALUES (1, 2), (3, 4);
EXPLAIN EXTENDED SELECT b FROM t1 LEFT JOIN t2 ON t2.c = a WHERE a IS NULL ORDER BY b;
EXPLAIN EXTENDED SELECT b, c FROM t1 LEFT JOIN t2 ON t2.c = a WHERE a IS NULL ORDER BY b;
EXPLAIN EXTENDED SELECT b, c FROM t2 RIGHT JOIN t1 ON t2.c = a WHERE a IS NULL ORDER BY b;
EXPLAIN EXTENDED SELECT t1.b, t2.e FROM t1 LEFT JOIN t2 ON t2.c = a WHERE t2.e IS NULL;
SELECT t1.b, t2.e FROM t1 LEFT JOIN t2 ON t2.c = a WHERE t2.e IS NULL;
-- With a row, or in an engine that does not count its rows, it is no constant.
EXPLAIN EXTENDED SELECT t1.b, t3.d FROM t1 LEFT JOIN t3 ON t3.c = a;
ALTER TABLE t2 ENGINE=InnoDB;
EXPLAIN EXTENDED SELECT t1.b, t2.e FROM t1 LEFT JOIN t2 ON t2.c = a;
