-- ENUM and SET of the character set binary.
CREATE TABLE e (a ENUM('x','y'), b SET('p','q'), c VARCHAR(3), d ENUM('z') CHARACTER SET latin1) CHARACTER SET binary;
SHOW CREATE TABLE e;
INSERT INTO e VALUES ('x', 'p,q', 'v', 'z');
ALTER TABLE e CONVERT TO CHARACTER SET utf8mb4;
SHOW CREATE TABLE e;
SELECT column_name, character_set_name, collation_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'e' ORDER BY 1;
SELECT * FROM e;
ALTER TABLE e ADD f ENUM('n') CHARACTER SET binary DEFAULT 'n', CONVERT TO CHARACTER SET latin1;
SHOW CREATE TABLE e;
CREATE TABLE e2 LIKE e;
SHOW CREATE TABLE e2;
ALTER TABLE e DEFAULT CHARACTER SET binary;
SHOW CREATE TABLE e;
CREATE TABLE e3 (a ENUM('x') CHARACTER SET binary, b ENUM('x') COLLATE binary, c ENUM('x') CHARACTER SET utf8mb4 COLLATE utf8mb4_bin) CHARACTER SET utf8mb4;
SHOW CREATE TABLE e3;
DROP TABLE e, e2, e3;
