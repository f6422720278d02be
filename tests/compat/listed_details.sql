-- Details of lists that applications read: plugins of a library, columns of accounts, sizes of a table that has no
-- partitions, and expressions as deep as MariaDB reads them.
SHOW PLUGINS SONAME 'nosuch.so';
SHOW PLUGINS SONAME LIKE '%nosuch%';
SELECT column_name, column_type, is_nullable FROM information_schema.columns
  WHERE table_schema = 'mysql' AND table_name = 'user' AND column_name LIKE 'max%' ORDER BY ordinal_position;
CREATE TABLE t (a INT);
INSERT INTO t VALUES (1), (2), (3);
SELECT table_rows, avg_row_length, data_length FROM information_schema.partitions WHERE table_schema = DATABASE();
SELECT table_rows, avg_row_length, data_length FROM information_schema.tables WHERE table_schema = DATABASE();
EXECUTE IMMEDIATE CONCAT('SELECT ', REPEAT('(', 3000), '1', REPEAT(')', 3000), ' AS x');
EXECUTE IMMEDIATE CONCAT('SELECT ', REPEAT('(', 3000), 'a', REPEAT(')', 3000), ' AS x FROM t ORDER BY 1');
-- A condition of rows that other conditions leave out is not tried on them.
CREATE TABLE l (id INT PRIMARY KEY, k INT);
CREATE TABLE r (id INT PRIMARY KEY, v VARCHAR(20), f VARCHAR(10));
INSERT INTO l VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO r VALUES (1, '7', 'y'), (2, 'abc', 'n'), (3, 'xyz', 'n');
UPDATE l JOIN r ON l.id = r.id SET l.k = 9 WHERE r.f = 'y' AND l.k != CAST(r.v AS SIGNED);
