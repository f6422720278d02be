-- A selected variable has the maximum width of its type, and so has a column made from it.
SET @i = 1, @d = 1.5, @t = 'abc', @r = 1e0;
-- meta
SELECT @i, @d, @t, @r;
CREATE TABLE kinds AS SELECT @i, @d, @t, @r;
SHOW CREATE TABLE kinds;
SELECT * FROM kinds;
-- meta
SELECT @i FROM kinds LIMIT 1;
CREATE TABLE t (a INT, b VARCHAR(10), c DECIMAL(4, 1));
INSERT INTO t VALUES (1, 'x', 2.5);
SELECT @a := a, @b := b, @c := c FROM t;
-- meta
SELECT @a, @b, @c;
