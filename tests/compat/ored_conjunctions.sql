-- An OR of conjunctions over several columns, each of which it limits.
CREATE TABLE p (id INT PRIMARY KEY, brand CHAR(10), box VARCHAR(10), size INT, bought DATE, price DECIMAL(10,2));
INSERT INTO p SELECT seq, CONCAT('b', seq % 7), ELT(seq % 5 + 1, 'SM', 'sm ', 'MED', 'LG', NULL), NULLIF(seq % 11, 3),
  DATE('2020-01-01') + INTERVAL seq % 400 DAY, seq % 1000 / 4 FROM seq_1_to_3000;
SELECT COUNT(*), SUM(id) FROM p WHERE (brand = 'B1' AND box IN ('sm', 'xx') AND size <= 4) OR (brand = 'b2' AND box LIKE 'm%' AND size BETWEEN 2 AND 8)
  OR (size IS NULL AND brand = 'b3' AND box = 'LG');
SELECT COUNT(*), SUM(id) FROM p WHERE (brand = 'b1' AND size = 1) OR box IS NULL;
SELECT COUNT(*), SUM(id) FROM p WHERE (NOT (brand = 'b1') AND NOT size = 1) OR (brand <=> NULL AND size <=> NULL) OR (box <=> NULL AND brand = 'b5' AND size <=> NULL);
SELECT COUNT(*), SUM(id) FROM p WHERE bought >= '2020-03-01' AND bought < '2020-05-01' AND price BETWEEN 3 AND 9.5 AND size < 9 AND size > 1;
SELECT COUNT(*), SUM(id) FROM p WHERE box LIKE '%m%' AND bought <> '2020-02-02' AND 5 >= size AND price > 10;
SELECT COUNT(*) FROM p WHERE size < 5 AND size IS NULL;
SELECT COUNT(*), SUM(id) FROM p WHERE price < size AND size > 4 AND brand IN ('b1', 'b6') AND bought >= DATE('2020-06-01');
-- Conditions that raise warnings or have effects see the rows that they see when tested one after the other.
SELECT COUNT(*) FROM p WHERE id < 5 AND size = 2 AND brand > 1;
SHOW WARNINGS;
SET @seen = 0;
SELECT COUNT(*) FROM p WHERE (@seen := @seen + 1) > 0 AND ((brand = 'b1' AND size = 1) OR (brand = 'b2' AND size = 2));
SELECT @seen;
SELECT COUNT(*) FROM p WHERE 1 / (size - 2) > 0.2 AND size < 5 AND id < 12;
SHOW WARNINGS;
DROP TABLE p;
