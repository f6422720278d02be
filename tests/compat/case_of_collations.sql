-- The strings of a simple CASE are compared under one collation.
SET NAMES latin1;
SELECT CASE _latin1'a' COLLATE latin1_general_ci WHEN _latin1'a' COLLATE latin1_danish_ci THEN 1 END;
SELECT CASE _latin1'a' COLLATE latin1_general_ci WHEN _latin1'a' COLLATE latin1_danish_ci THEN 1 WHEN _latin1'a' COLLATE latin1_swedish_ci THEN 2 END;
SELECT CASE _latin1'a' COLLATE latin1_general_ci WHEN _latin1'a' COLLATE latin1_danish_ci THEN 1 WHEN _latin1'a' COLLATE latin1_swedish_ci THEN 2
  WHEN _latin1'a' COLLATE latin1_german1_ci THEN 3 END;
SELECT CASE 'a' WHEN 'A' THEN 'first' WHEN 'a' COLLATE latin1_bin THEN 'second' END a, CASE 'a' WHEN 'A' THEN 'first' WHEN 'b' THEN 2 END b;
SELECT CASE 'a' WHEN 'A' THEN 'first' WHEN 1 THEN 'number' WHEN 'a' COLLATE latin1_bin THEN 'third' END c;
SELECT CASE 'a' WHEN NULL THEN 'null' WHEN 'A' THEN 'first' WHEN 'a' COLLATE latin1_bin THEN 'third' END d;
CREATE TABLE t (a VARCHAR(5) COLLATE latin1_swedish_ci, b VARCHAR(5) COLLATE latin1_bin, n INT, d DATE, e ENUM('x', 'y')) CHARSET latin1;
INSERT INTO t VALUES ('a', 'A', 1, '2020-01-01', 'x'), ('B', 'b', 2, NULL, 'y'), (NULL, NULL, NULL, NULL, NULL);
SELECT CASE a WHEN 'A' THEN 1 WHEN 'b' THEN 2 ELSE 3 END e, CASE b WHEN 'a' THEN 1 WHEN 'b' THEN 2 ELSE 3 END f, CASE e WHEN 'X' THEN 1 ELSE 2 END g,
  CASE 'A' WHEN a THEN 'a' WHEN b THEN 'b' END h, CASE n WHEN '1' THEN 'one' WHEN 2 THEN 'two' END i, CASE d WHEN '2020-01-01' THEN 1 WHEN NULL THEN 2 END j FROM t;
SELECT CASE a WHEN b THEN 1 WHEN 'B' THEN 2 END k FROM t;
DROP TABLE t;
