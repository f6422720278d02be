# Sort keys of DISTINCT rows that are functions of them, some of them alike.
CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(10), n INT);
INSERT INTO t VALUES (1, 'b', 3), (2, 'a', 1), (3, 'b', 3), (4, 'c', 2);
SELECT DISTINCT a AS x, a AS y FROM t ORDER BY HEX(x), HEX(y);
SELECT DISTINCT n AS x, n AS y FROM t ORDER BY -x, -y, x;
SELECT DISTINCT a FROM t ORDER BY LENGTH(a), HEX(a) DESC, LENGTH(a);
SELECT DISTINCT a FROM t ORDER BY HEX(a) DESC, HEX(a) LIMIT 2;
SELECT DISTINCT n FROM t ORDER BY n + 1, n + 1;
SELECT DISTINCT a, COUNT(*) AS c FROM t GROUP BY a, n ORDER BY HEX(a), HEX(a);
