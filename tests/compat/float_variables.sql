-- A user variable set to a FLOAT has its exact value as a double.
CREATE TABLE t (id INT PRIMARY KEY, f FLOAT, g FLOAT(8,2), d DOUBLE(8,2));
INSERT INTO t VALUES (1, 9999.99, 9999.99, 9999.90), (2, 1.1, 1.1, 1.10);
SELECT f, g, d INTO @a, @b, @c FROM t WHERE id = 1;
SELECT @a, @b, @c, @a + 0, CONCAT(@b), @a = 9999.99;
-- meta
SELECT @c := f, @d := g, @e := d FROM t ORDER BY id;
SELECT @c, @d, @e, CONCAT(@c);
SET @e = (SELECT f FROM t WHERE id = 1), @g = (SELECT g FROM t WHERE id = 1);
SELECT @e, @g;
CREATE FUNCTION ff() RETURNS FLOAT RETURN 9999.99;
SELECT ff(), ff() + 0, CONCAT(ff());
SET @h = ff();
SELECT @h;
CREATE PROCEDURE po(OUT x FLOAT, OUT y FLOAT(8,2), OUT z DOUBLE) BEGIN DECLARE l FLOAT DEFAULT 9999.99; SET x = l, y = l, z = l, @l = l; SELECT x, y, z, l, CONCAT(l), l = 9999.99; END;
CALL po(@j, @k, @m);
SELECT @j, @k, @m, @l;
CREATE TABLE v AS SELECT @a a, @b b, @c c;
SHOW CREATE TABLE v;
SELECT * FROM v;
PREPARE s FROM 'SELECT ?, id FROM t WHERE f = ? ORDER BY id';
EXECUTE s USING @a, @a;
