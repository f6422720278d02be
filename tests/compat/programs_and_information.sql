-- Changes of information_schema are refused where a program or a prepared statement is made.
CREATE DATABASE pai;
USE pai;
CREATE TABLE t (a INT);
CREATE PROCEDURE p1() INSERT INTO information_schema.TABLES VALUES (1);
CREATE PROCEDURE p2() IF 0 THEN DELETE FROM information_schema.SCHEMATA; END IF;
CREATE PROCEDURE p3() UPDATE information_schema.COLUMNS SET TABLE_SCHEMA = 'x';
CALL p3();
CREATE PROCEDURE p4() DROP TABLE t, information_schema.x;
CREATE PROCEDURE p5() CREATE TABLE information_schema.x (a INT);
CREATE PROCEDURE p6() CREATE TABLE x LIKE information_schema.TABLES;
CREATE PROCEDURE p7() DELETE s FROM information_schema.SCHEMATA s;
CREATE FUNCTION f1() RETURNS INT BEGIN REPLACE INTO information_schema.TABLES (TABLE_NAME) VALUES (1); RETURN 1; END;
CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW DELETE FROM information_schema.TABLES;
CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO TRUNCATE information_schema.TABLES;
PREPARE s FROM 'RENAME TABLE t TO information_schema.t';
PREPARE s FROM 'LOAD DATA INFILE "x" INTO TABLE information_schema.SCHEMATA';
PREPARE s FROM 'ALTER TABLE information_schema.SCHEMATA ADD a INT';
SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'pai' ORDER BY 1;
-- The schema must be named.
USE information_schema;
CREATE PROCEDURE pai.p8() DELETE FROM SCHEMATA;
DROP DATABASE pai;
