-- What is told of columns of views, derived tables, groups and sorted rows.
CREATE TABLE i1 (id INT, n INT NOT NULL, c CHAR(3), KEY (n));
INSERT INTO i1 VALUES (1, 2, 'a'), (2, 3, 'b'), (3, 3, 'c');
CREATE TABLE m1 (id INT, n INT NOT NULL) ENGINE=MyISAM;
INSERT INTO m1 VALUES (1, 2);
CREATE VIEW vi AS SELECT id AS x, n AS y, c AS w, id + 1 AS e FROM i1;
CREATE VIEW vm AS SELECT id AS x, n AS y, id + 1 AS e FROM m1;
CREATE VIEW vg AS SELECT MAX(id) AS x, n AS y FROM i1 GROUP BY n;
CREATE VIEW vv AS SELECT x AS xx, e AS ee FROM vi;
-- meta
SELECT * FROM vi ORDER BY x;
-- meta
SELECT xx AS q, ee AS r FROM vv WHERE xx = 1;
-- meta
SELECT * FROM vg ORDER BY y;
-- meta
SELECT x, y, w, e FROM vi GROUP BY x;
-- meta
SELECT x AS q, e AS r FROM vi GROUP BY e;
-- meta
SELECT x, y, w, e FROM vi WHERE x = 1 GROUP BY x;
-- meta
SELECT x, y, e FROM vi GROUP BY x LIMIT 0;
-- meta
SELECT x, y, e FROM vi WHERE 1 = 0 GROUP BY x;
-- meta
SELECT y, COUNT(*) FROM vi GROUP BY y;
-- meta
SELECT DISTINCT x, y, e FROM vi ORDER BY x;
-- meta
SELECT DISTINCT x FROM vi LIMIT 0;
-- meta
SELECT x, e FROM vm GROUP BY x;
-- meta
SELECT x, e FROM vm WHERE x = 100 GROUP BY x;
-- meta
SELECT x, e FROM vm WHERE e = 1 GROUP BY e;
-- meta
SELECT DISTINCT x FROM vm;
-- meta
SELECT id AS k, n + 1 AS f FROM i1 GROUP BY id;
-- meta
SELECT id AS k, n + 1 AS f FROM i1 WHERE id = 1 GROUP BY id;
-- meta
SELECT c FROM i1 GROUP BY c;
-- meta
SELECT x AS q, e AS r, 1 AS o, y + 1 AS p FROM vi WHERE x = 1 ORDER BY RAND();
-- meta
SELECT x AS q, e AS r FROM vm ORDER BY RAND();
-- meta
SELECT id AS q, id + 1 AS r FROM i1 WHERE id = 1 ORDER BY UUID();
-- meta
SELECT id + 1 AS r FROM i1 ORDER BY RAND() LIMIT 0;
-- meta
SELECT vi.x AS q, vi.e AS r, i1.n AS s FROM vi JOIN i1 ON vi.x = i1.id ORDER BY vi.e;
SET @v = 1;
-- meta
SELECT * FROM (SELECT @v) d;
-- meta
SELECT * FROM (SELECT 1 AS z, 1.5 AS w, 'k' AS q, 1e0 AS f) d;
-- meta
SELECT * FROM (SELECT id, n, id + 1 AS e FROM i1) d ORDER BY id;
-- meta
SELECT * FROM (SELECT id, id + 1 AS e, 7 AS s FROM i1 ORDER BY id LIMIT 2) d;
-- meta
SELECT * FROM (SELECT MAX(id) AS m, MIN(c) AS t, COUNT(*) AS k FROM i1) d;
-- meta
SELECT * FROM (SELECT id FROM i1 UNION SELECT n FROM i1) d ORDER BY id;
-- meta
WITH r AS (SELECT id, n, id + 1 AS e, 5 AS s FROM i1) SELECT * FROM r ORDER BY id;
-- meta
WITH r AS (SELECT id, n FROM i1) SELECT a.id, b.n FROM r a JOIN r b ON a.id = b.id AND a.id = 1;
-- meta
WITH r AS (SELECT 5 AS v) SELECT * FROM r;
-- meta
WITH RECURSIVE r AS (SELECT id FROM i1 WHERE id = 1 UNION ALL SELECT id + 1 FROM r WHERE id < 3) SELECT * FROM r;
