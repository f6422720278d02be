-- Semi, anti and mark joins whose small left side is the table and whose large right side probes: only
-- which rows of the table have a match is noted, by several threads where there are some.
CREATE TABLE few (id INT PRIMARY KEY, k INT, s VARCHAR(20), d DECIMAL(8,2));
INSERT INTO few SELECT seq, IF(seq % 7 = 0, NULL, seq * 13 % 900), CONCAT('name', seq % 5), seq / 4 FROM seq_1_to_40;
CREATE TABLE many (id INT PRIMARY KEY, k INT, s VARCHAR(20), v INT);
INSERT INTO many SELECT seq, IF(seq % 11 = 0, NULL, seq % 300 * 3), CONCAT('NAME', seq % 4), seq * 7 % 1000 FROM seq_1_to_6000;
ANALYZE TABLE few, many;
SELECT id, k FROM few WHERE k IN (SELECT k FROM many) ORDER BY id;
SELECT id, k FROM few WHERE EXISTS (SELECT 1 FROM many WHERE many.k = few.k AND many.v > few.id * 20) ORDER BY id;
SELECT id, k FROM few WHERE NOT EXISTS (SELECT 1 FROM many WHERE many.k = few.k) ORDER BY id;
SELECT id, k FROM few WHERE NOT EXISTS (SELECT 1 FROM many WHERE many.k = few.k AND many.s = few.s AND many.v <> few.id) ORDER BY id;
SELECT id, k FROM few WHERE k NOT IN (SELECT k FROM many WHERE k IS NOT NULL) ORDER BY id;
SELECT id, k FROM few WHERE k NOT IN (SELECT k FROM many) ORDER BY id;
SELECT id, k FROM few WHERE id < 4 OR k IN (SELECT k FROM many WHERE v > 990) ORDER BY id;
SELECT id, k IN (SELECT k FROM many WHERE v > 990 AND k IS NOT NULL) AS found FROM few ORDER BY id;
SELECT s, COUNT(*), SUM(k) FROM few WHERE EXISTS (SELECT 1 FROM many WHERE many.k = few.k) GROUP BY s ORDER BY s;
SELECT COUNT(*) FROM few WHERE d IN (SELECT v / 100 FROM many);
SELECT id FROM few WHERE k IN (SELECT k FROM many WHERE v > 500) AND EXISTS (SELECT 1 FROM many WHERE many.k = few.k + 3) ORDER BY id DESC LIMIT 5;
-- A condition that raises warnings belongs to the session.
SELECT COUNT(*) FROM few WHERE EXISTS (SELECT 1 FROM many WHERE many.k = few.k AND many.id < 30 AND many.s + 0 = 0);
-- What the transaction has changed is seen.
BEGIN;
DELETE FROM many WHERE k = (SELECT k FROM few WHERE id = 3);
UPDATE few SET k = -1 WHERE id = 5;
INSERT INTO many VALUES (9999, -1, 'new', 0);
SELECT id, k FROM few WHERE NOT EXISTS (SELECT 1 FROM many WHERE many.k = few.k) ORDER BY id;
ROLLBACK;
DELETE FROM few WHERE k IN (SELECT k FROM many WHERE v < 500);
SELECT COUNT(*), SUM(id) FROM few;
UPDATE few SET d = 0 WHERE NOT EXISTS (SELECT 1 FROM many WHERE many.k = few.k);
SELECT id, d FROM few ORDER BY id;
DROP TABLE few, many;
