-- A variable that becomes NULL keeps its type; it holds only numbers and texts.
SET NAMES utf8mb4;
SET @i = 1, @d = 1.5, @s = 'x', @f = 1e0, @t = CURRENT_DATE;
SET @n = NULL, @i = NULL, @d = NULL, @s = NULL, @f = NULL, @t = NULL;
CREATE TABLE made AS SELECT @n, @i, @d, @s, @f, @t, @unset;
SHOW CREATE TABLE made;
-- meta
SELECT * FROM made;
DROP TABLE made;
SET @z = CAST(NULL AS DECIMAL(5, 2));
CREATE TABLE made AS SELECT @z;
SHOW CREATE TABLE made;
DROP TABLE made;
SET @z = 'x';
SELECT NULL INTO @z;
CREATE TABLE made AS SELECT @z;
SHOW CREATE TABLE made;
DROP TABLE made;
SELECT CAST(NULL AS DATE) INTO @z;
CREATE TABLE made AS SELECT @z;
SHOW CREATE TABLE made;
DROP TABLE made;
CREATE TABLE source (e ENUM('a', 'b'), s SET('a', 'b'), y YEAR, d DATE, t TIME, b TINYBLOB, tt TINYTEXT, mt MEDIUMTEXT, lt LONGTEXT, j JSON);
INSERT INTO source VALUES ('b', 'a,b', 1999, '2020-01-02', '10:11:12', 'blob', 'tiny', 'medium', 'long', '{}'), (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
SELECT * INTO @e, @s, @y, @d, @t, @b, @tt, @mt, @lt, @j FROM source LIMIT 1;
-- meta
SELECT @e, @s, @y, @d, @t, @b, @tt, @mt, @lt, @j;
SELECT @e + 0, @y + 1, CONCAT(@s, @e);
SELECT * INTO @e, @s, @y, @d, @t, @b, @tt, @mt, @lt, @j FROM source WHERE e IS NULL;
-- meta
SELECT @e, @s, @y, @d, @t, @b, @tt, @mt, @lt, @j;
SELECT @e2 := e, @y2 := y FROM source WHERE e IS NOT NULL;
-- meta
SELECT @e2, @y2;
-- A parameter that is NULL has no type.
CREATE TABLE texts (b VARCHAR(10));
INSERT INTO texts VALUES ('one'), ('2');
SET @a = 1;
SET @a = NULL;
PREPARE s FROM 'SELECT * FROM texts WHERE b = ?';
EXECUTE s USING @a;
PREPARE s FROM 'DELETE FROM texts WHERE b = ?';
EXECUTE s USING @a;
