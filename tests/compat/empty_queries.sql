-- Queries that count as empty, and syntax errors of SHOW.
CREATE TABLE eq (id INT);
INSERT INTO eq VALUES (1), (2);
CREATE PROCEDURE eq_sent() BEGIN SELECT * FROM eq; SELECT * FROM eq WHERE id = 6; END;
CREATE PROCEDURE eq_into(OUT x INT) SELECT id INTO x FROM eq WHERE id = 5;
CREATE PROCEDURE eq_insert() INSERT INTO eq SELECT * FROM eq WHERE id = 5;
CREATE PROCEDURE eq_cursor() BEGIN DECLARE x INT; DECLARE c CURSOR FOR SELECT id FROM eq WHERE id = 7; DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END; OPEN c; FETCH c INTO x; CLOSE c; END;
CREATE FUNCTION eq_in(x INT) RETURNS INT RETURN x IN (SELECT id FROM eq WHERE id < 0);
CREATE FUNCTION eq_f(x INT) RETURNS INT BEGIN DECLARE y INT; SELECT id INTO y FROM eq WHERE id = x; RETURN y; END;
FLUSH STATUS;
SELECT * FROM eq WHERE id = 9;
SHOW STATUS LIKE 'Empty_queries';
SHOW TABLES LIKE 'nothing';
SHOW STATUS LIKE 'Empty_queries';
CALL eq_sent();
SHOW STATUS LIKE 'Empty_queries';
CALL eq_into(@x);
SHOW STATUS LIKE 'Empty_queries';
SELECT id INTO @x FROM eq WHERE id = 5;
SHOW STATUS LIKE 'Empty_queries';
SELECT eq_f(99);
SHOW STATUS LIKE 'Empty_queries';
-- These do not count.
CALL eq_cursor();
CALL eq_insert();
SELECT eq_in(1);
SHOW WARNINGS;
SHOW STATUS LIKE 'nothing';
DELETE FROM eq WHERE id = 99 RETURNING id;
INSERT INTO eq SELECT * FROM eq WHERE id = 9;
SET @x = (SELECT id FROM eq WHERE id = 9);
SHOW STATUS LIKE 'Empty_queries';
DROP TABLE eq;
DROP PROCEDURE eq_sent;
DROP PROCEDURE eq_into;
DROP PROCEDURE eq_insert;
DROP PROCEDURE eq_cursor;
DROP FUNCTION eq_in;
DROP FUNCTION eq_f;
-- The line of what follows an unknown name.
SHOW nothing
here;
SHOW nothing /*
*/ here;
SHOW FULL
nothing here;
