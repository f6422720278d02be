-- Keys of GROUP BY that a primary key among them decides, and those that look like it.
CREATE TABLE c (id INT PRIMARY KEY, name VARCHAR(30), v INT, e ENUM('a', 'b'), b BIT(3), j TEXT);
CREATE TABLE o (k INT PRIMARY KEY, cid INT, t DECIMAL(10,2), KEY (cid));
CREATE TABLE p (a INT, b INT, w VARCHAR(10) COLLATE utf8mb4_general_ci, PRIMARY KEY (a, b));
CREATE TABLE s (t VARCHAR(20) COLLATE utf8mb4_general_ci, n INT, m VARCHAR(9), PRIMARY KEY (t(2)));
INSERT INTO c SELECT seq, CONCAT('n', seq % 7), seq % 5, seq % 2 + 1, seq % 8, REPEAT('x', seq % 4) FROM seq_1_to_40;
INSERT INTO o SELECT seq, seq % 50 + 1, seq / 3 FROM seq_1_to_120;
INSERT INTO p VALUES (1, 1, 'x'), (1, 2, 'X'), (2, 1, 'y'), (2, 2, 'x');
INSERT INTO s VALUES ('ab', 1, 'p'), ('cd', 1, 'q'), ('Ef', 2, 'p');
SELECT c.id, c.name, c.e, c.b, c.j, SUM(o.t) AS x FROM c JOIN o ON o.cid = c.id GROUP BY c.id, c.name, c.e, c.b, c.j ORDER BY x DESC, c.name LIMIT 5;
SELECT c.name, c.id, c.v FROM c LEFT JOIN o ON o.cid = c.id WHERE c.v > 1 GROUP BY c.name, c.id, c.v HAVING c.v < 3 AND COUNT(o.k) > 0 ORDER BY c.name, c.id;
-- The inner side of an outer join: one group of rows without a match for each other key.
SELECT o.cid > 45 AS late, c.id, c.name, COUNT(*) FROM o LEFT JOIN c ON c.id = o.cid WHERE o.cid > 37 GROUP BY late, c.id, c.name ORDER BY late, c.id;
SELECT c.id, c.name, COUNT(*) FROM c JOIN o ON o.cid = c.id GROUP BY c.name, c.id WITH ROLLUP LIMIT 6;
-- A part of a primary key decides nothing.
SELECT a, w, COUNT(*) FROM p GROUP BY a, w ORDER BY a, w;
SELECT a, b, w, COUNT(*) FROM p GROUP BY w, b, a ORDER BY a, b;
SELECT t, n, m, COUNT(*) FROM s GROUP BY m, n, t ORDER BY t;
-- Two instances of one table.
SELECT x.a, y.b, x.w, y.w, COUNT(*) FROM p x JOIN p y ON x.a = y.a GROUP BY x.a, y.b, x.w, y.w ORDER BY x.a, y.b, BINARY x.w, BINARY y.w;
SELECT x.a, x.b, y.w, COUNT(*) FROM p x JOIN p y ON x.a = y.a GROUP BY x.a, x.b, y.w ORDER BY x.a, x.b, y.w;
-- Computed keys, and keys that are used twice.
SELECT c.id, UPPER(c.name), c.v + 1, COUNT(*) FROM c WHERE c.id < 6 GROUP BY c.id, UPPER(c.name), c.v + 1 ORDER BY 1;
SELECT DISTINCT c.name, c.v FROM c JOIN o ON o.cid = c.id GROUP BY c.id, c.name, c.v ORDER BY c.name, c.v LIMIT 5;
SELECT d.name, d.id, COUNT(*) FROM (SELECT id, name, v FROM c) d JOIN o ON o.cid = d.id WHERE d.v = 1 GROUP BY d.name, d.id ORDER BY d.id;
SELECT id, name, (SELECT MAX(t) FROM o WHERE o.cid = c.id) AS m FROM c WHERE id < 4 GROUP BY name, id ORDER BY id;
SELECT c.id, c.name, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC, c.name, c.id) AS r FROM c JOIN o ON o.cid = c.id GROUP BY c.id, c.name ORDER BY r LIMIT 4;
-- With its history a table has several rows of one primary key.
CREATE TABLE h (id INT PRIMARY KEY, name VARCHAR(9)) WITH SYSTEM VERSIONING;
INSERT INTO h VALUES (1, 'old'), (2, 'same');
UPDATE h SET name = 'new' WHERE id = 1;
SELECT id, name, COUNT(*) FROM h FOR SYSTEM_TIME ALL GROUP BY id, name ORDER BY id, name;
SELECT id, name, COUNT(*) FROM h GROUP BY id, name ORDER BY id, name;
PREPARE q FROM 'SELECT id, name, COUNT(*) FROM c WHERE id > ? GROUP BY name, id, v ORDER BY id LIMIT 2';
EXECUTE q USING 5;
EXECUTE q USING 20;
-- Below ROLLUP a primary key decides nothing: the other keys are NULL in some of its rows.
CREATE VIEW w AS SELECT id, name FROM c WHERE id < 4 GROUP BY id, name WITH ROLLUP;
SELECT id, name, COUNT(*) FROM w GROUP BY id, name ORDER BY id, name;
SELECT id, name, COUNT(*) FROM (SELECT id, name FROM c WHERE id < 4 GROUP BY id, name WITH ROLLUP) d GROUP BY id, name ORDER BY id, name;
SELECT DISTINCT id, name FROM (SELECT id, name, COUNT(*) AS n FROM c WHERE id < 4 GROUP BY id, name WITH ROLLUP) d ORDER BY n, id, name;
-- Equal texts with different prefixes.
CREATE TABLE x (t VARCHAR(20) COLLATE utf8mb4_unicode_ci, n INT, PRIMARY KEY (t(1)));
INSERT INTO x VALUES ('ß', 1), ('ss', 2);
SELECT t, n, COUNT(*) FROM x GROUP BY t, n ORDER BY n;
DROP VIEW w;
DROP TABLE c, o, p, s, h, x;
