CREATE TABLE u(id INT NOT NULL, k1 INT NOT NULL, k2 INT, x INT NOT NULL, y INT NOT NULL DEFAULT 5, b VARCHAR(10), PRIMARY KEY(id), KEY kk(k1,k2), UNIQUE uu(x), UNIQUE ux(y,b), KEY i2(id,b));
INSERT INTO u VALUES(1,2,3,4,5,'b');
-- meta
SELECT * FROM u;
-- meta
SELECT * FROM u a JOIN u b USING(id);
-- meta
SELECT * FROM u a LEFT JOIN u b ON a.id=b.k1;
CREATE VIEW v AS SELECT * FROM u;
-- meta
SELECT k2,b FROM v;
-- meta
SELECT k2,b,id FROM (SELECT * FROM u) d;
-- meta
SELECT k2+1,CONCAT(b) FROM u;
SET NAMES utf8mb4 COLLATE utf8mb4_unicode_520_ci;
-- meta
SELECT b,'x',k1 FROM u;
-- meta
SELECT b FROM u UNION SELECT 'a';
SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci;
-- meta
SELECT b,'x' FROM u;
-- meta
SHOW WARNINGS;
SET collation_connection=utf8mb4_bin;
-- meta
SELECT b,'x' FROM u;
SET NAMES latin1 COLLATE latin1_german1_ci;
-- meta
SELECT b,'x',_binary'a' FROM u;
SET character_set_results=utf8mb4;
-- meta
SELECT b,'x' FROM u;
SET character_set_results=NULL;
-- meta
SELECT b,'x',_latin1'a' FROM u;
SET NAMES utf8mb4;
-- meta
SELECT b,'x' FROM u;
SET CHARACTER SET utf8mb4;
-- meta
SELECT b,'x' FROM u;
