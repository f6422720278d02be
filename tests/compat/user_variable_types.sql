-- A user variable is read with its type before the statement; it holds a number or a text.
SET @k = 1;
SELECT @k := CONCAT_WS(',', @k, seq) FROM seq_1_to_3;
SELECT @k;
SET @n = 1;
SELECT @n := @n * 1.5e0 FROM seq_1_to_3;
SET @i = 1;
SELECT @i, @i := 'xyz', @i FROM seq_1_to_2;
SET @a = 10;
SELECT @a := '12abc', @a + 1, @a, CONCAT(@a, '-') FROM seq_1_to_2;
SHOW WARNINGS;
SET @f = 1.5e0;
SELECT @f := 7, @f, @f + 1, @f DIV 2, @f % 2 FROM seq_1_to_2;
SET @x = 18446744073709551615;
SELECT @x, @x := 1, @x - 2;
-- A variable that was never set is a text.
SELECT @r := @r + 1 FROM seq_1_to_3, (SELECT @r := 0) x;
SELECT @u1 := seq, @u1 + 1, @u1 FROM seq_1_to_2;
SELECT @u4 := 10, @u4 + 1;
SELECT @u5, @u5 := 5, @u5;

-- Running sums keep the decimals of the added values.
SET @t = 0;
SELECT @t := @t + seq * 1.25 FROM seq_1_to_3;
SELECT @t;
SELECT @t := @t - seq * 0.125 FROM seq_1_to_4;
SET @t = 0;
SELECT @t := ROUND(@t + seq * 1.255, 2) FROM seq_1_to_4;
SET @t = 0;
SELECT @t := IF(seq = 3, seq * 1.5, @t + seq * 1.5) FROM seq_1_to_4;
SET @t = 0;
SELECT @t := @t + CAST(seq * 1.5 AS DECIMAL(20,4)) x FROM seq_1_to_4;
-- Running products are right, too.
SET @t = 1;
SELECT ROUND(@t := @t * 1.5, 6) FROM seq_1_to_4;
SET @t = 1;
SELECT ROUND(@t := @t * 1.05 + 0.5, 6) FROM seq_1_to_4;
SET @t = 1;
SELECT ROUND(@t := @t / 2, 6) FROM seq_1_to_3;
SET @t = 0.5;
SELECT ROUND(@t := @t * 0.5, 6) FROM seq_1_to_3;

-- Dates and times are texts.
SET time_zone = '+03:00';
CREATE TABLE tz (t TIMESTAMP(3), d DATETIME(2), e DATE, f TIME);
INSERT INTO tz VALUES ('2024-05-05 12:00:00.123', '2024-05-05 12:00:00.12', '2024-05-05', '11:12:13');
SET @a = (SELECT t FROM tz);
SELECT t, d, e, f INTO @b, @c, @d, @e FROM tz;
SELECT @f := t, @g := d, @h := e, @i := f FROM tz;
SELECT @a, @b, @c, @d, @e, @f, @g, @h, @i;
CREATE PROCEDURE pz(OUT o TIMESTAMP, OUT p DATE, INOUT q TIME) SELECT t, e, f INTO o, p, q FROM tz;
SET @q = '10:10:10';
CALL pz(@o, @p, @q);
SELECT @o, @p, @q;
SELECT COUNT(*) FROM tz WHERE t = @b AND d = @c AND e = @d AND f = @e;
SELECT @d + INTERVAL 1 MONTH, DATEDIFF(@c, @d), YEAR(@d), DATE_FORMAT(@b, '%Y %H:%i'), @d + 0, @d > '2024-01-01', @d = e FROM tz;
SET time_zone = DEFAULT;
SELECT @a, @b, @o;
SET @dt = CAST('2024-01-01' AS DATE);
SELECT @dt, @dt := @dt + INTERVAL 1 DAY FROM seq_1_to_3;

-- A cached statement reads a variable with its current type.
SET @x = 1.5;
PREPARE q FROM 'SELECT @x, @x * 2';
EXECUTE q;
SET @x = '12';
EXECUTE q;
SET @x = NULL;
EXECUTE q;
SET @x = 3;
EXECUTE q;

-- INSERT IGNORE skips rows for which no AUTO_INCREMENT value is left.
CREATE TABLE ai (a TINYINT AUTO_INCREMENT PRIMARY KEY, b INT);
INSERT INTO ai VALUES (126, 1);
INSERT IGNORE INTO ai (b) VALUES (2), (3), (4);
SELECT * FROM ai;
INSERT INTO ai (b) VALUES (5);
INSERT IGNORE INTO ai (b) VALUES (5);

-- REAL is FLOAT in mode REAL_AS_FLOAT.
SET sql_mode = 'REAL_AS_FLOAT';
CREATE TABLE rf (a REAL, b DOUBLE, c REAL(10,3), d DOUBLE PRECISION);
SHOW CREATE TABLE rf;
SET sql_mode = DEFAULT;

-- A text that is no number is read as one without a warning.
SET @s = '12.7abc';
SELECT @s + 1, @s * 2, @s DIV 1, -@s, @s | 0, @s = 12, @s > 3, @s % 5, ROUND(@s), SUM(@s), IF(@s, 'y', 'n'), LEFT('abcdefghijklmnopq', @s) FROM seq_1_to_2;
SELECT CAST(@s AS SIGNED), CAST(@s AS DECIMAL(5,2)), CAST(@s AS DOUBLE);

-- A text in a variable, read as a date, has the decimals it shows, unless the statement assigns to the variable.
SET @t = CAST('2011-01-02 12:13:14' AS DATETIME), @f = '2011-01-02 12:13:14.5', @d = '2011-01-02';
SELECT @t + INTERVAL 1 MINUTE, @f + INTERVAL 1 MINUTE, @d + INTERVAL 1 HOUR, @t + INTERVAL 1 MICROSECOND;
SELECT TIMESTAMP(@t), TIMESTAMP(@f), TIME(@t), TIME(@f), TIMEDIFF(@t, @t), TIMEDIFF(@f, @t);
SELECT @t := '2012-01-02 12:13:14.25', @t + INTERVAL 1 MINUTE;
SELECT @t + INTERVAL 1 MINUTE;
PREPARE s FROM 'SELECT @t + INTERVAL 1 MINUTE';
EXECUTE s;
SET @t = '2013-01-02 12:13:14';
EXECUTE s;
SET @t = '2013-01-02 12:13:14.125';
EXECUTE s;
DEALLOCATE PREPARE s;
