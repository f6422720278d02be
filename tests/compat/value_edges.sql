CREATE TABLE t (id INT PRIMARY KEY, b BIT(10), f DOUBLE, f2 DOUBLE(10,2), fl FLOAT, s SET('a','b','c'), e ENUM('a','b','c'), tt TINYINT, y YEAR, vt VARCHAR(20), d DATE, dt6 DATETIME(6), t3 TIME(3), z INT(5) ZEROFILL);
INSERT INTO t VALUES (1,1,0.5,0.5,0.5,'a','c',0,2024,'12','2024-01-15','2024-01-15 10:11:12.5','10:11:12.345',127),(2,3,1.5,2.5,1.5,'a,b','a',NULL,0,'1.5','1999-12-31','1999-12-31 00:00:00','00:00:00',3),(3,512,-0.5,-1.5,-2.5,'','b',-1,1999,'a',NULL,NULL,NULL,NULL);
SELECT id, f << 1, f2 << 1, fl << 1, ~f, f2 | 0, f & 7, '2.5' | 0, '-2.5' | 0, '1e1' | 0, BIT_COUNT('1.5'), vt & 3 FROM t;
SELECT CONV(b, 10, 16), CONV(b, 16, 10), BIN(b), CONV(s, 10, 2), CONV('', 10, 2), CONV(y, 10, 16), UNHEX(JSON_OBJECT('a', id)) FROM t;
SELECT ROUND(e), ROUND(s), CEIL(e), FLOOR(s), TRUNCATE(e, 0), ROUND(b), ROUND(y), ROUND(e, -1), FLOOR(z), NULLIF(z, 5) FROM t;
SELECT GREATEST(id, s), LEAST(id, s), GREATEST(id, e), LEAST(e, 2), GREATEST(e, s), GREATEST(s, 1.5), LEAST(y, e), GREATEST(1, b'101'), GREATEST(1.5, 0x41) FROM t;
SELECT LEAST(TIMESTAMP'2024-02-29 23:59:59', '2024-03-10'), GREATEST(TIMESTAMP'2024-02-29 23:59:59', '2024-03-10 10:10:10.5'), GREATEST(TIMESTAMP'2024-02-29 23:59:59', 'abc');
SELECT (5, 1) = (tt, 1), ((5, 1) = (tt, 1)) IS NULL, ((5, 1) <> (tt, 1)) IS UNKNOWN, ISNULL((tt, 1) < (5, 1)), ((5, 1) = (tt, 1)) IS NOT NULL FROM t;
SELECT MAKETIME(1, 1, 5 / id), SEC_TO_TIME(5 / id), MAKETIME(1, 2, f2), TIME(f2), TIMESTAMP(f2) FROM t WHERE id = 3;
SELECT EXTRACT(WEEK FROM 0), EXTRACT(WEEK FROM TIME'-01:02:03'), EXTRACT(MINUTE FROM y) FROM t;
SELECT TRUNCATE(CAST(d AS TIME(3)), 5), ROUND(t3, 1), TRUNCATE(CAST(d AS DATETIME), 5) FROM t;
SELECT CAST(TIME'-01:00:00.5' AS UNSIGNED), CAST(TIME'-01:00:00' AS UNSIGNED), CAST(TIME'01:00:00.5' AS UNSIGNED);
SELECT FORMAT(-0.4e0, 0), FORMAT(-0.01e0, 1), FIND_IN_SET('b ', 'a,b'), FIND_IN_SET('b', 'a,b '), FIND_IN_SET('b', 'a,b'), LOG2(3);
-- an aggregate over columns of an outer query only, in its WHERE
SELECT a.id FROM t a WHERE (SELECT MAX(a.tt) FROM t b WHERE a.id = b.id) < 0;
SELECT a.id FROM t a WHERE (SELECT SUM(a.id) FROM t b) = 6;
-- stored values
CREATE TABLE s (n INT AUTO_INCREMENT PRIMARY KEY, s SET('a','b','c'));
INSERT IGNORE INTO s (s) VALUES ('12'), ('8'), ('100'), ('-1'), ('9abc'), ('a,12'), ('18446744073709551615'), ('99999999999999999999'), ('012');
SELECT s, s + 0 FROM s ORDER BY n;
CREATE TABLE b (n INT AUTO_INCREMENT PRIMARY KEY, b BIT(10));
INSERT IGNORE INTO b (b) VALUES (SQRT(3)), (-2.25), (1.5), (2.5), (2.5e0), (3.5e0), (-1), (5000), (-1e0), (-0.4), (1023.6e0);
SELECT HEX(b) FROM b ORDER BY n;
CREATE TABLE c (a INT CHECK (a > 5), j JSON);
INSERT IGNORE INTO c (a) VALUES (3);
INSERT IGNORE INTO c (a) VALUES (3), (7);
INSERT IGNORE INTO c (a, j) VALUES (7, 'bad');
SELECT * FROM c;
SET sql_mode = '';
CREATE TABLE bn (id INT, b BINARY(4) NOT NULL);
INSERT INTO bn (id) VALUES (1);
SELECT id, HEX(b) FROM bn;
SET sql_mode = DEFAULT;
SELECT TIMESTAMP(dt6, '2024-03-10'), ADDTIME(dt6, '2024-03-10'), ADDTIME(dt6, '1 10:00:00'), ROUND(dt6, NULL), UNIX_TIMESTAMP(0), UNIX_TIMESTAMP('0000-00-00') FROM t WHERE id = 1;
SELECT y, y = '0', y = '00', y = '0000', y = 0, y IN ('0', '24') FROM t;
SELECT CONCAT(LEAST(b, b)), CONCAT(IF(id, b, b)), HEX(CONCAT(b)), CONCAT(IFNULL(b, b)) FROM t;
SELECT SEC_TO_TIME(-9223372036854775808);
SELECT vt AND 1, vt IS TRUE FROM t WHERE vt = 'a';
SELECT 1 FROM t WHERE vt;
SELECT ADDTIME(JSON_OBJECT('a', 1), dt6) FROM t;
SELECT EXTRACT(DAY FROM JSON_ARRAY(1));
SELECT JSON_ARRAY(1) + INTERVAL 1 DAY;
SELECT nothing FROM t WHERE nowhere;
-- metadata of columns from temporary tables and derived tables
-- meta
SELECT w.x1 AS q, w.x2, w.x3 FROM (SELECT id AS x1, CONCAT(vt, 'a') AS x2, tt + 1 AS x3 FROM t) w;
-- meta
SELECT w.x1, w.x2 FROM (SELECT DISTINCT CONCAT(vt, 'a') AS x1, tt + 1 AS x2 FROM t) w;
-- meta
SELECT vt AS k, tt + 1 AS l FROM t UNION SELECT 'a', 2;
-- meta
SELECT tt + 1 AS p, CONCAT(vt, 'a') AS c, COUNT(*), CONCAT(MAX(vt), 'a') FROM t GROUP BY p, c;
-- meta
SELECT HEX(vt), DAYNAME(d), CAST(id AS CHAR), CHAR(id), FROM_BASE64(vt), 0x41, DATE_FORMAT(d, '%Y') FROM t;
-- keys of groups
SELECT (SELECT MIN(a.id) FROM t b) FROM t a GROUP BY 1;
SELECT id, (SELECT MIN(a.id) FROM t b) AS x FROM t a GROUP BY x;
SELECT ROW_NUMBER() OVER (ORDER BY id) AS x FROM t GROUP BY x;
CREATE TABLE k (a CHAR(3) CHARACTER SET ascii);
SELECT LOCATE(a, 'ä') FROM k;
SELECT TRIM(LEADING a FROM 'ä') FROM k;
SELECT DATE_FORMAT('0000-00-00', '%U %u %V %v %X %x'), DATE_FORMAT('2024-00-00', '%U %u %V %v'), DATE_FORMAT('2024-01-00', '%U %u %V %v %X %x');
CREATE TABLE fl (f FLOAT);
INSERT INTO fl VALUES (3.14159);
SELECT CAST(f AS DOUBLE), CAST(f AS FLOAT), CAST(f + 0 AS DOUBLE) FROM fl;
SELECT FIRST_VALUE(z) OVER (ORDER BY id), LAG(z) OVER (ORDER BY id) FROM t WHERE id < 3;
SELECT STR_TO_DATE(JSON_ARRAY(id, 1), '%Y') FROM t;
SELECT ADDTIME(JSON_EXTRACT('{}', '$.a'), dt6) FROM t;
SELECT HEX(0.5e0), HEX(1.5e0), HEX(2.5e0), HEX(-0.5e0), HEX(-1e30), HEX(1e30), HEX(CAST(-9223372036854775808 AS FLOAT));
-- all digits of a quotient: kept inside expressions and in columns, cut where it is shown or compared
CREATE TABLE quotient (id INT PRIMARY KEY AUTO_INCREMENT, d DOUBLE, f FLOAT, x DECIMAL(20,15), y DECIMAL(10,2), i INT, c VARCHAR(30), t TIME(6));
SET sql_mode = '';
INSERT INTO quotient (d, f, x, y, i, c, t) VALUES (5/3, 5/3, 5/3, 5/3, 5/3, 5/3, 5/3);
INSERT INTO quotient (d, f, x, y, i, c, t) VALUES (4999999/10000000, -(5/3), 4999999/10000000, 4999999/10000000, 4999999/10000000, 4999999/10000000, 4999999/10000000), (1, 1, 1, 1, 1, 1, 1);
INSERT INTO quotient (id, c) VALUES (1, 'a') ON DUPLICATE KEY UPDATE c = 5/3, d = id/7;
UPDATE quotient SET c = id/7, d = -(id/7) WHERE id = 2;
SET sql_mode = DEFAULT;
SELECT * FROM quotient ORDER BY id;
INSERT INTO quotient (c) VALUES (1.25), (1), (2.5), (NULL), (2);
SELECT c FROM quotient WHERE id > 3 ORDER BY id;
SELECT 1/3*3, 2*(5/3), 10000*(1/3), FLOOR(10000*(2/3)), SQRT(5/3), TRUNCATE(2/3, 6), CAST(5/3 AS DOUBLE), -(5/3), 5/3 + 1;
CREATE TABLE third (id INT, a DECIMAL(20,15), b DECIMAL(20,15), d DOUBLE);
INSERT INTO third VALUES (1, 0.333333333, 0.3333, 0.3333);
SELECT id/3 = 0.3333, a = 1/3, b = 1/3, 1/3 = b, d = 1/3, 1/3 IN (b, 7), a IN (1/3, 7), a BETWEEN 1/3 AND 1, b BETWEEN 1/3 AND 1, b <=> 1/3, 0.33331 > 1/3, 1/3*3 = 1, CASE 1/3 WHEN 0.3333 THEN 1 ELSE 0 END, (b, 1) = (1/3, 1), (a, 1) IN ((1/3, 1), (2, 2)) FROM third;
-- rows in a list: each place compares in one type
SELECT id, (id, c) IN ((id, '1'), (2.0, 1e0)), (c, 1) IN ((0, 1), ('a', 1)), ((id, 1), 2) IN (((1, 1), 2), ((2, 1), 2)) FROM quotient ORDER BY id;
SELECT a.id, b.id FROM quotient a RIGHT JOIN quotient b ON (b.id, b.c) IN ((9223372036854775807, a.id), (a.id, a.c)) ORDER BY 1, 2;
-- dates and times into ENUM and SET are texts
CREATE TABLE members (id INT PRIMARY KEY AUTO_INCREMENT, s SET('a','b','2024-01-01','00:00:01'), e ENUM('a','2024-01-01','00:00:01'));
SET sql_mode = '';
INSERT INTO members (s, e) VALUES (SEC_TO_TIME(-2.25), SEC_TO_TIME(2));
INSERT INTO members (s, e) VALUES (TIME'00:00:01', TIME'00:00:01'), (DATE'2024-01-01', DATE'2024-01-01');
CREATE TABLE times (t TIME(2), d DATE);
INSERT INTO times VALUES ('-00:00:02.25', '2024-01-01');
INSERT INTO members (s, e) SELECT t, d FROM times;
INSERT INTO members (s, e) SELECT d, t FROM times;
UPDATE members SET s = TIMESTAMP'2024-01-01 00:00:00' WHERE id = 3;
SELECT * FROM members ORDER BY id;
SET sql_mode = DEFAULT;
INSERT INTO members (s) VALUES (SEC_TO_TIME(1)), (SEC_TO_TIME(2));
