-- Bytes beside text are refused if they are no text, and are text otherwise.
CREATE TABLE t (id INT PRIMARY KEY, c VARCHAR(10) CHARACTER SET utf8mb4, l VARCHAR(10) CHARACTER SET latin1);
INSERT INTO t VALUES (1, 'a', 'a'), (2, 'é', 'é');
SELECT id FROM t WHERE c = x'80';
SELECT id FROM t WHERE c = x'c3a9';
SELECT id FROM t WHERE c LIKE x'808182';
SELECT id FROM t WHERE c IN ('b', x'ff');
SELECT CONCAT(c, x'8081828384') FROM t;
SELECT COALESCE(c, x'80') FROM t;
SELECT IF(id = 1, c, x'80') FROM t;
SELECT c FROM t UNION SELECT x'80';
SELECT id FROM t WHERE l = x'80';
SELECT HEX(CONCAT(l, x'80')) FROM t ORDER BY id;
SELECT HEX(CONCAT('a', x'80'));
PREPARE s FROM 'SELECT id FROM t WHERE c = ?';
SET @b = x'c3a9';
EXECUTE s USING @b;
