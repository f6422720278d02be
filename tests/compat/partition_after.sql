-- Rows of partitioned tables after changes of the definition around them, and reads that go on from a row.
CREATE TABLE words (c VARCHAR(9) CHARACTER SET utf8mb4) PARTITION BY LIST COLUMNS (c)
  (PARTITION p0 VALUES IN ('ж'), PARTITION p1 VALUES IN ('a'));
INSERT INTO words VALUES ('ж'), ('a');
SET NAMES latin1;
ALTER TABLE words ADD x INT;
SET NAMES utf8mb4;
SELECT c FROM words WHERE c = 'ж';
INSERT INTO words (c) VALUES ('ж');
SELECT count(*) FROM words PARTITION (p0);

-- A bound longer than its column, and the column that gets longer.
CREATE TABLE bounds (c VARCHAR(3)) PARTITION BY RANGE COLUMNS (c)
  (PARTITION p0 VALUES LESS THAN ('abcd'), PARTITION p1 VALUES LESS THAN (MAXVALUE));
INSERT INTO bounds VALUES ('abc'), ('abd'), ('abb');
ALTER TABLE bounds ADD x INT;
SELECT c FROM bounds WHERE c = 'abc';
ALTER TABLE bounds MODIFY c VARCHAR(10);
SELECT c FROM bounds WHERE c = 'abc';

-- KEY () follows a unique key.
CREATE TABLE keyed (a INT NOT NULL, b INT NOT NULL, UNIQUE u (a), UNIQUE v (a, b)) PARTITION BY KEY () PARTITIONS 4;
INSERT INTO keyed SELECT seq, seq FROM seq_1_to_20;
UPDATE keyed IGNORE INDEX (u, v) SET a = a + 1000;
SELECT min(a), max(a), count(*) FROM keyed;
ALTER TABLE keyed DROP INDEX u;
SELECT a, b FROM keyed WHERE a = 1001 AND b = 1;
SELECT count(*) FROM keyed t1 JOIN keyed t2 ON t1.a = t2.a AND t1.b = t2.b;
INSERT IGNORE INTO keyed VALUES (1005, 5);
SELECT count(*) FROM keyed;

-- HANDLER goes on behind a row of any leaf.
CREATE TABLE steps (a INT PRIMARY KEY, b INT, c INT UNSIGNED, KEY k (b), KEY l (c)) PARTITION BY HASH (a) PARTITIONS 3;
INSERT INTO steps VALUES (1, 1, 7), (2, 1, 7), (3, 1, 8), (4, 2, 8), (5, NULL, 8), (6, NULL, 7);
HANDLER steps OPEN;
HANDLER steps READ k FIRST LIMIT 10;
HANDLER steps READ k FIRST;
HANDLER steps READ k NEXT;
HANDLER steps READ k NEXT;
HANDLER steps READ k NEXT;
HANDLER steps READ k NEXT;
HANDLER steps READ k NEXT;
HANDLER steps READ k NEXT;
HANDLER steps READ k PREV;
HANDLER steps READ l LAST;
HANDLER steps READ l PREV;
HANDLER steps READ l PREV;
HANDLER steps READ l PREV;
HANDLER steps READ l PREV;
HANDLER steps READ l PREV;
HANDLER steps READ l PREV;
HANDLER steps READ `PRIMARY` FIRST;
HANDLER steps READ `PRIMARY` NEXT;
HANDLER steps READ `PRIMARY` NEXT;
HANDLER steps READ `PRIMARY` NEXT LIMIT 2;
HANDLER steps READ `PRIMARY` NEXT LIMIT 2;
HANDLER steps READ `PRIMARY` PREV;
HANDLER steps CLOSE;

-- Automatic values after a duplicate behind a new value.
CREATE TABLE numbered (id INT AUTO_INCREMENT PRIMARY KEY) PARTITION BY HASH (id) PARTITIONS 1;
INSERT INTO numbered VALUES (NULL);
INSERT IGNORE INTO numbered VALUES (2), (1);
INSERT INTO numbered VALUES (NULL);
SELECT * FROM numbered;

-- A table that others refer to, and searches of texts.
CREATE TABLE parent (id INT PRIMARY KEY);
CREATE TABLE child (id INT, FOREIGN KEY (id) REFERENCES parent (id));
CREATE TABLE ranges (id INT PRIMARY KEY) PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10));
ALTER TABLE ranges EXCHANGE PARTITION p0 WITH TABLE parent;
CREATE TABLE documents (id INT PRIMARY KEY, s TEXT, FULLTEXT ft (s)) PARTITION BY HASH (id) PARTITIONS 2;
INSERT INTO documents VALUES (1, 'red apple'), (2, 'green pear'), (3, 'green apple');
SELECT id FROM documents WHERE MATCH (s) AGAINST ('apple') ORDER BY id;
UPDATE documents SET s = 'green plum' WHERE id = 3;
SELECT id FROM documents WHERE MATCH (s) AGAINST ('+green -plum' IN BOOLEAN MODE) ORDER BY id;
ALTER TABLE documents DROP INDEX ft;
ALTER TABLE documents ADD FULLTEXT ft2 (s);
SELECT id FROM documents WHERE MATCH (s) AGAINST ('apple') ORDER BY id;
ALTER TABLE documents REMOVE PARTITIONING;
SELECT id FROM documents WHERE MATCH (s) AGAINST ('apple') ORDER BY id;
ALTER TABLE documents PARTITION BY HASH (id) PARTITIONS 3;
SELECT id FROM documents WHERE MATCH (s) AGAINST ('apple plum') ORDER BY id;
CHECK TABLE documents;
DROP TABLE documents;
