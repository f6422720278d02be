-- A query that is one group without GROUP BY has a row of NULLs if there are no rows, also in tables made of it.
CREATE TABLE t (a TINYINT UNSIGNED NOT NULL, b INT NOT NULL, v VARCHAR(5) NOT NULL);
CREATE TABLE r AS SELECT a + b s, CONCAT(v, 'x') c, COUNT(*) n, IFNULL(a, 0) i, SUM(a) sm, b > 1 g, 5 k, LENGTH(v) l, COALESCE(b, 7) z, COALESCE(a, b > 1) y, 'lit' li, b <=> NULL e, b IS NULL u FROM t;
SHOW CREATE TABLE r;
SELECT * FROM r;
SELECT (SELECT COUNT(*) + b FROM t), (SELECT b FROM t HAVING MAX(b) IS NULL) IS NULL, b IS NULL, COUNT(*), ISNULL(v), v IS NOT NULL, NOT b, b <=> NULL FROM t;
SELECT q.s IS NULL, q.s FROM (SELECT b + 1 s, COUNT(*) FROM t) q WHERE q.s IS NULL;
SELECT q.s FROM (SELECT b + 1 s, COUNT(*) FROM t) q WHERE q.s IS NOT NULL;
