-- A text beyond the range of TIME compares as 838:59:59.999999, as a literal and as a parameter.
CREATE TABLE t (id INT PRIMARY KEY, c TIME(6), KEY (c));
INSERT IGNORE INTO t VALUES (1, '20240229'), (2, '-9000000'), (3, '838:59:59'), (4, '10:11:12');
SELECT id, c FROM t ORDER BY id;
SELECT id FROM t WHERE c = '20240229';
SELECT id FROM t IGNORE INDEX (c) WHERE c = '20240229';
SET @v = '20240229';
SELECT id FROM t WHERE c = @v;
SELECT id FROM t IGNORE INDEX (c) WHERE c = @v;
PREPARE s FROM 'SELECT id FROM t WHERE c = ? OR c = ?';
EXECUTE s USING @v, '-9000000';
-- With fewer digits 838:59:59 is stored.
CREATE TABLE u (id INT PRIMARY KEY, c TIME);
INSERT IGNORE INTO u VALUES (1, '20240229'), (2, '838:59:59');
SELECT id FROM u WHERE c = '20240229';
SELECT id FROM u WHERE c < '20240229';
SELECT id FROM u WHERE c = @v;
SELECT id FROM u WHERE c < @v;
