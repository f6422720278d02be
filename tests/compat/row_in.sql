-- IN of rows with NULLs in any column: true, false or unknown.
CREATE TABLE a (id INT PRIMARY KEY, x INT, y INT, n INT NOT NULL);
CREATE TABLE b (x INT, y INT, n INT NOT NULL);
INSERT INTO a VALUES (1, 3, 3, 1), (2, 3, NULL, 1), (3, NULL, 3, 1), (4, NULL, NULL, 1), (5, 4, 4, 2), (6, 3, 4, 2), (7, 5, 5, 3);
INSERT INTO b VALUES (3, NULL, 1), (4, 4, 2), (NULL, 5, 2);
-- unordered
SELECT id FROM a WHERE (x, y) IN (SELECT x, y FROM b);
-- unordered
SELECT id FROM a WHERE (x, y) NOT IN (SELECT x, y FROM b);
-- unordered
SELECT id FROM a WHERE NOT ((x, y) IN (SELECT x, y FROM b));
-- unordered
SELECT id FROM a WHERE NOT NOT ((x, y) IN (SELECT x, y FROM b));
-- unordered
SELECT id FROM a WHERE ((x, y) IN (SELECT x, y FROM b)) IS NULL;
-- unordered
SELECT id FROM a WHERE ((x, y) NOT IN (SELECT x, y FROM b)) IS UNKNOWN;
-- unordered
SELECT id FROM a WHERE ((x, y) IN (SELECT x, y FROM b)) IS NOT TRUE;
-- unordered
SELECT id FROM a WHERE ((x, y) IN (SELECT x, y FROM b)) IS FALSE;
-- unordered
SELECT id FROM a WHERE (x, y) IN (SELECT x, y FROM b) XOR 1;
-- unordered
SELECT id FROM a WHERE (x, y) IN (SELECT x, y FROM b) XOR 0;
-- unordered
SELECT id FROM a WHERE (x, y) NOT IN (SELECT x, y FROM b) OR id = 2;
-- unordered
SELECT id FROM a WHERE COALESCE((x, y) IN (SELECT x, y FROM b), 1);
-- unordered
SELECT id FROM a WHERE CASE WHEN (x, y) NOT IN (SELECT x, y FROM b) THEN 1 ELSE id = 1 END;
SELECT id, (x, y) IN (SELECT x, y FROM b) AS i, (x, y) NOT IN (SELECT x, y FROM b) AS n FROM a ORDER BY id;
-- unordered
SELECT id FROM a WHERE (x, n) NOT IN (SELECT x, n FROM b);
-- unordered
SELECT id FROM a WHERE (n, x) NOT IN (SELECT n, x FROM b);
-- unordered
SELECT id FROM a WHERE (n, y) IN (SELECT n, y FROM b) IS NULL;
-- unordered
SELECT id FROM a WHERE (n, n) NOT IN (SELECT n, n FROM b);
-- unordered
SELECT id FROM a WHERE (x, y, n) NOT IN (SELECT x, y, n FROM b);
-- unordered
SELECT id FROM a WHERE (n, x, y) NOT IN (SELECT n, x, y FROM b);
-- unordered
SELECT id FROM a WHERE (x, y) NOT IN (SELECT x, y FROM b WHERE b.n = a.n);
-- unordered
SELECT id FROM a WHERE (x, y) NOT IN (SELECT x, y FROM b WHERE b.n < a.n);
-- unordered
SELECT id FROM a WHERE ((x, y) IN (SELECT x, y FROM b WHERE b.n = a.n)) IS NULL;
-- unordered
SELECT id FROM a WHERE (x, y) NOT IN (SELECT x, y FROM b WHERE n > 5);
-- unordered
SELECT id FROM a WHERE (x, y) NOT IN (SELECT x, MAX(y) FROM b GROUP BY x);
-- unordered
SELECT id FROM a WHERE (x, y) NOT IN (SELECT b.x, c.y FROM b LEFT JOIN b c ON b.n = c.n AND c.y = 4);
-- unordered
SELECT id FROM a WHERE (x, n) NOT IN (SELECT b.x, c.n FROM b LEFT JOIN b c ON b.x = c.x);
-- unordered
SELECT id FROM a WHERE (x, y) NOT IN (SELECT x, y FROM b UNION ALL SELECT 5, NULL);
-- unordered
SELECT id FROM a WHERE (3, y) NOT IN (SELECT x, y FROM b);
-- unordered
SELECT id FROM a WHERE (x, NULL) NOT IN (SELECT x, y FROM b);
-- unordered
SELECT id FROM a WHERE (x, y) <> ALL (SELECT x, y FROM b);
-- unordered
SELECT id FROM a WHERE NOT (x, y) = ANY (SELECT x, y FROM b);
SELECT x, y, COUNT(*) FROM a GROUP BY x, y HAVING (x, y) NOT IN (SELECT x, y FROM b) ORDER BY x, y;
SELECT x, MAX(y) AS m FROM a GROUP BY x HAVING (x, m) NOT IN (SELECT x, y FROM b) ORDER BY x;
SELECT p.id, q.id FROM a p LEFT JOIN a q ON p.n = q.n AND (q.x, q.y) NOT IN (SELECT x, y FROM b) ORDER BY p.id, q.id;
SELECT p.id, q.id FROM a p JOIN a q ON p.n = q.n WHERE (p.x, q.y) NOT IN (SELECT x, y FROM b) ORDER BY p.id, q.id;
CREATE TABLE i (x INT, y INT, KEY (x, y));
INSERT INTO i SELECT x, y FROM b;
-- unordered
SELECT id FROM a WHERE (x, y) NOT IN (SELECT x, y FROM i);
-- unordered
SELECT id FROM a WHERE ((x, y) IN (SELECT x, y FROM i)) IS NULL;
-- unordered
SELECT id FROM a WHERE (x, y) NOT IN ((3, NULL), (4, 4));
-- unordered
SELECT id FROM a WHERE ((x, y) IN ((3, NULL), (4, 4))) IS NULL;
CREATE TABLE s (x VARCHAR(5), y VARCHAR(5));
CREATE TABLE u (x VARCHAR(5), y VARCHAR(5));
INSERT INTO s VALUES ('a', 'B'), ('a', 'c'), ('d', 'e'), (NULL, 'e');
INSERT INTO u VALUES ('A', 'b'), ('a', NULL);
-- unordered
SELECT * FROM s WHERE (x, y) NOT IN (SELECT x, y FROM u);
-- unordered
SELECT * FROM s WHERE ((x, y) IN (SELECT x, y FROM u)) IS NULL;
PREPARE s FROM 'SELECT COUNT(*) FROM a WHERE (x, y) NOT IN (SELECT x, y FROM b WHERE n <= ?)';
SET @n = 1;
EXECUTE s USING @n;
UPDATE a SET n = 100 WHERE (x, y) NOT IN (SELECT x, y FROM b);
SELECT id FROM a WHERE n = 100 ORDER BY id;
UPDATE a, b SET a.n = 200 WHERE (a.x, a.y) NOT IN (SELECT x, y FROM i) AND b.x = 4;
SELECT id FROM a WHERE n = 200 ORDER BY id;
DELETE FROM a WHERE (x, y) NOT IN (SELECT x, y FROM b);
SELECT id FROM a ORDER BY id;
DELETE FROM a WHERE ((x, y) IN (SELECT x, y FROM b)) IS NULL;
SELECT id FROM a ORDER BY id;
