-- ON UPDATE CURRENT_TIMESTAMP in columns that BEFORE triggers assign.
SET timestamp = 1400000000, time_zone = '+00:00';
CREATE TABLE tou1 (b INT PRIMARY KEY, a TIMESTAMP NOT NULL DEFAULT '2001-01-01' ON UPDATE NOW(), e DATETIME ON UPDATE NOW(), c INT);
INSERT INTO tou1 (b, c) VALUES (1, 1), (2, 2), (3, 3), (4, 4);
CREATE TRIGGER tou1_u BEFORE UPDATE ON tou1 FOR EACH ROW SET NEW.a = '2011-11-11 11:11:11';
UPDATE tou1 SET c = 5 WHERE b = 1;
SELECT * FROM tou1;
UPDATE tou1 SET c = c WHERE b = 1;
SELECT * FROM tou1;
UPDATE tou1 SET c = c + 1;
SELECT * FROM tou1;
-- From the first row for which a trigger assigns the column, it is left alone.
CREATE OR REPLACE TRIGGER tou1_u BEFORE UPDATE ON tou1 FOR EACH ROW SET NEW.a = IF(NEW.b = 3, '2003-03-03', OLD.a), NEW.e = IF(NEW.c = 0, NULL, NEW.e);
UPDATE tou1 SET c = c + 1;
SELECT * FROM tou1;
DROP TRIGGER tou1_u;
CREATE TRIGGER tou1_u BEFORE UPDATE ON tou1 FOR EACH ROW IF NEW.b = 2 THEN SET NEW.a = '2002-02-02'; END IF;
UPDATE tou1 SET c = c + 1;
SELECT b, a FROM tou1;
UPDATE tou1 SET a = '2000-01-01';
SELECT b, a FROM tou1;
UPDATE tou1 SET c = c + 1 ORDER BY b DESC;
SELECT b, a FROM tou1;
UPDATE tou1 SET a = '2000-01-01';
CREATE TABLE tou2 (b INT);
INSERT INTO tou2 VALUES (1), (2), (3);
UPDATE tou1 JOIN tou2 USING (b) SET c = c + 1;
SELECT b, a FROM tou1;
-- Rows of INSERT stand alone.
UPDATE tou1 SET a = '2000-01-01';
INSERT INTO tou1 (b) VALUES (1), (2), (3), (4), (5) ON DUPLICATE KEY UPDATE c = c + 1;
SELECT b, a FROM tou1;
DROP TABLE tou1, tou2;
