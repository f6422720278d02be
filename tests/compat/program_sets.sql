-- Items of one SET see the values set by earlier items.
CREATE PROCEDURE several(x INT, OUT y INT) BEGIN DECLARE z INT; SET z = x + 1, y = z; END;
CALL several(5, @y);
SELECT @y;
CREATE FUNCTION chained(x INT) RETURNS VARCHAR(30) BEGIN DECLARE a, b, c INT DEFAULT 1; SET a = x, b = a + a, @v = b, c = @v + b; RETURN CONCAT_WS(',', a, b, @v, c); END;
SELECT chained(2), chained(7);
CREATE TABLE t (a INT, b INT, c INT);
CREATE TRIGGER t_before BEFORE INSERT ON t FOR EACH ROW SET NEW.b = NEW.a + 1, NEW.c = NEW.b * 2, NEW.a = NEW.c;
INSERT INTO t VALUES (1, 0, 0), (5, 0, 0);
SELECT * FROM t ORDER BY a;
CREATE PROCEDURE swapped(INOUT a INT, INOUT b INT) SET a = a + b, b = a - b, a = a - b;
SET @a = 3, @b = 8;
CALL swapped(@a, @b);
SELECT @a, @b;
CREATE PROCEDURE with_row() BEGIN DECLARE r ROW (a INT, b INT); SET r.a = 2, r.b = r.a * 5, @row = r.b; SELECT r.a, r.b, @row; END;
CALL with_row();
