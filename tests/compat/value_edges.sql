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
-- what is stored
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
-- what clients are told of columns that pass through temporary tables, and of derived tables
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
