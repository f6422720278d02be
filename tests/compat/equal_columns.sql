-- Equal columns, several of them in one table: every equality is applied.
CREATE TABLE ad (id INT PRIMARY KEY, c INT);
CREATE TABLE o (id INT PRIMARY KEY, bill INT, ship INT);
INSERT INTO ad VALUES (1, 10), (2, 20), (3, 20);
INSERT INTO o VALUES (1, 1, 1), (2, 1, 2), (3, 2, 2), (4, NULL, 2), (5, 2, NULL), (6, NULL, NULL), (7, 9, 9);
-- unordered
SELECT o.id, ad.id FROM o, ad WHERE o.bill = ad.id AND o.ship = ad.id;
-- unordered
SELECT o.id, ad.id FROM o STRAIGHT_JOIN ad ON o.bill = ad.id AND o.ship = ad.id;
-- unordered
SELECT o.id, ad.id FROM ad STRAIGHT_JOIN o ON o.bill = ad.id AND o.ship = ad.id;
-- unordered
SELECT o.id, ad.id FROM o JOIN ad IGNORE INDEX (PRIMARY) ON o.bill = ad.id AND o.ship = ad.id;
-- unordered
SELECT o.id, ad.id FROM o LEFT JOIN ad ON o.bill = ad.id AND o.ship = ad.id;
-- unordered
SELECT o.id, ad.id FROM ad LEFT JOIN o ON o.bill = ad.id AND o.ship = ad.id;
-- unordered
SELECT o.id FROM o WHERE EXISTS (SELECT 1 FROM ad WHERE o.bill = ad.id AND o.ship = ad.id);
-- unordered
SELECT o.id FROM o WHERE NOT EXISTS (SELECT 1 FROM ad WHERE o.bill = ad.id AND o.ship = ad.id);
-- unordered
SELECT o.id FROM o WHERE o.bill IN (SELECT ad.id FROM ad WHERE o.ship = ad.id);
-- unordered
SELECT ad.id FROM ad WHERE id IN (SELECT bill FROM o WHERE ship = bill);
-- unordered
SELECT ad.id FROM ad WHERE (id, id) IN (SELECT bill, ship FROM o);
-- unordered
SELECT ad.id FROM ad WHERE (id, id) NOT IN (SELECT bill, ship FROM o WHERE bill IS NOT NULL AND ship IS NOT NULL);
-- unordered
SELECT a.id, b.id, o.id FROM ad a, ad b, o WHERE a.id = o.bill AND b.id = o.ship AND a.id = b.id;
-- unordered
SELECT a.id, b.c, o.id FROM ad a, ad b, o WHERE a.id = o.bill AND b.c = o.ship * 10 AND a.c = b.c AND a.id = o.ship;
-- unordered
SELECT x.id, y.id FROM o x, o y WHERE x.bill = y.bill AND x.bill = y.ship AND x.ship = y.bill;
-- unordered
SELECT x.id, y.id FROM o x, o y WHERE x.bill = y.ship AND x.ship = y.bill AND x.bill = x.ship;
-- unordered
SELECT o.id FROM o JOIN (SELECT id, id AS again FROM ad WHERE c = 20 LIMIT 10) d ON o.bill = d.id AND o.ship = d.again;
-- unordered
SELECT o.id FROM o JOIN (SELECT c, MAX(id) AS most, MIN(id) AS least FROM ad GROUP BY c) d ON o.bill = d.most AND o.bill = d.least;
-- unordered
SELECT o.id FROM o JOIN (SELECT DISTINCT id AS bill, id AS ship FROM ad) d USING (bill, ship);
-- unordered
SELECT * FROM o NATURAL JOIN (SELECT id AS bill, id AS ship FROM ad LIMIT 10) d;
-- unordered
WITH d AS (SELECT id AS p, id AS q FROM ad UNION ALL SELECT 1, 2) SELECT o.id, d.p, d.q FROM o JOIN d ON o.bill = d.p AND o.ship = d.q AND d.p = d.q;
-- unordered
SELECT o.id, ad.id FROM o, ad WHERE o.bill = ad.id AND o.ship = ad.id AND ad.id = 2;
-- unordered
SELECT o.id, ad.id FROM o, ad WHERE o.bill = ad.id AND o.ship = ad.id AND o.ship > 1;
SELECT COUNT(*) FROM o, ad HAVING SUM(o.bill = ad.id AND o.ship = ad.id) = 2;
-- unordered
SELECT o.id, ad.id FROM o JOIN ad ON o.bill = ad.id WHERE o.ship = ad.id;
-- unordered
SELECT o.id, ad.id FROM o JOIN ad ON o.bill <=> ad.id AND o.ship = ad.id;
CREATE TABLE k (n INT, m INT, KEY (n));
INSERT INTO k VALUES (NULL, 1), (NULL, NULL), (1, 1), (1, 2), (2, 2);
-- unordered
SELECT o.id, k.n, k.m FROM o JOIN k ON o.bill <=> k.n AND o.bill = k.n;
-- unordered
SELECT o.id, k.n, k.m FROM o LEFT JOIN k ON o.bill <=> k.n AND o.bill = k.n;
-- unordered
SELECT o.id, k.n, k.m FROM o LEFT JOIN k ON o.bill = k.n AND o.ship = k.n;
-- unordered
SELECT o.id, k.n, k.m FROM o JOIN k ON o.bill = k.n AND o.bill = k.m AND o.ship = k.m;
CREATE TABLE s (a VARCHAR(10), b VARCHAR(10), c VARCHAR(10) COLLATE utf8mb4_bin, KEY (a));
CREATE TABLE r (a VARCHAR(10) PRIMARY KEY);
INSERT INTO s VALUES ('a', 'A', 'a'), ('a', 'b', 'A'), ('B', 'b ', 'b'), ('c', NULL, NULL);
INSERT INTO r VALUES ('A'), ('b'), ('C');
-- unordered
SELECT * FROM s, r WHERE s.a = r.a AND s.b = r.a;
-- unordered
SELECT * FROM s, r WHERE s.a = r.a AND s.b = r.a AND s.c = s.a;
CREATE TABLE o2 (a INT, b INT, c INT, KEY (a));
CREATE TABLE d (id INT PRIMARY KEY);
INSERT INTO o2 VALUES (1, 1, 1), (1, 1, 2), (1, 2, 1), (2, 2, 2);
INSERT INTO d VALUES (1), (2);
UPDATE o2, d SET c = c + 100 WHERE o2.a = d.id AND o2.b = d.id;
-- unordered
SELECT * FROM o2;
UPDATE d JOIN o2 ON o2.a = d.id AND o2.b = d.id AND o2.c = d.id + 100 SET o2.c = 0;
-- unordered
SELECT * FROM o2;
DELETE o2 FROM d JOIN o2 ON o2.a = d.id AND o2.b = d.id;
SELECT * FROM o2;
INSERT INTO o2 SELECT id, id + 1, 5 FROM d;
DELETE FROM o2 USING o2, d WHERE o2.a = d.id AND d.id = o2.b;
-- unordered
SELECT * FROM o2;
