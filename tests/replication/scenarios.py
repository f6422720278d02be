"""What record_corpus.py runs: for each name the statements, and optionally some before them, or sessions at once."""

TYPES = """
CREATE TABLE ty(id INT PRIMARY KEY, t1 TINYINT, t1u TINYINT UNSIGNED, s SMALLINT, m MEDIUMINT, i INT, b BIGINT, f FLOAT,
 db DOUBLE, de DECIMAL(12,4), de2 DECIMAL(5,0) UNSIGNED, de3 DECIMAL(65,30), bt BIT(11), bt8 BIT(8), bt1 BIT(1),
 bt64 BIT(64), dt DATE, y YEAR, ti TIME, ti3 TIME(3), ti6 TIME(6), dt0 DATETIME, dt1 DATETIME(1), dt6 DATETIME(6),
 ts0 TIMESTAMP NULL, ts3 TIMESTAMP(3) NULL, ts6 TIMESTAMP(6) NULL, c5 CHAR(5) CHARACTER SET latin1,
 cu CHAR(100) CHARACTER SET utf8mb4, vc VARCHAR(10) CHARACTER SET latin1, vl VARCHAR(300) CHARACTER SET latin1,
 bi BINARY(4), vb VARBINARY(4), tt TINYTEXT, tx TEXT, mt MEDIUMBLOB, lt LONGTEXT, e ENUM('a','b','c'),
 st SET('x','y','z'), js JSON, i4 INET4, i6 INET6, uu UUID, g POINT, gv INT AS (i+1) VIRTUAL, gs INT AS (i+2) STORED,
 nn INT);
INSERT INTO ty(id,t1,t1u,s,m,i,b,f,db,de,de2,de3,bt,bt8,bt1,bt64,dt,y,ti,ti3,ti6,dt0,dt1,dt6,ts0,ts3,ts6,c5,cu,vc,vl,bi,
 vb,tt,tx,mt,lt,e,st,js,i4,i6,uu,g) VALUES (1,-1,200,-2,-3,-4,-5,1.5,-2.5,-12345.6789,99,
 -12345678901234567890123456789012345.123456789012345678901234567890,b'10000000011',x'a5',1,x'8000000000000001',
 '2023-11-14',2023,'-01:02:03','-01:02:03.456','838:59:59.999999','2023-11-14 22:13:20','2023-11-14 22:13:20.9',
 '2023-11-14 22:13:20.123456','2023-11-14 22:13:20','2023-11-14 22:13:20.123','2023-11-14 22:13:20.000001','ab','cd',
 'ef','gh',x'01020000','a','tt','tx','mt','lt','b','x,z','{"a":1}','1.2.3.4','::1',
 '123e4567-e89b-12d3-a456-426655440000',POINT(1,2));
"""

SCENARIOS = {
    "types_plain": {"text": TYPES + "INSERT INTO ty(id) VALUES(2); DELETE FROM ty;"},
    "types_metadata_full": {"before": "SET GLOBAL binlog_row_metadata=FULL", "text": TYPES + """
CREATE TABLE pk(a VARCHAR(20), b INT UNSIGNED, c BLOB, PRIMARY KEY(a(3), b), e ENUM('q','''w'), s SET('1','2') CHARSET latin1);
INSERT INTO pk VALUES('abcdef', 4000000000, 'x', 'q', '1,2');
UPDATE pk SET c='y';
CREATE TABLE geo(p POINT, l LINESTRING, y POLYGON, mp MULTIPOINT, ml MULTILINESTRING, my MULTIPOLYGON, gc GEOMETRYCOLLECTION, g GEOMETRY);
INSERT INTO geo(p,l) VALUES (POINT(1,2), LINESTRING(POINT(0,0), POINT(1,1)));
"""},
    "types_metadata_minimal": {"before": "SET GLOBAL binlog_row_metadata=MINIMAL", "text": TYPES},
    "limits": {"text": """
SET sql_mode='';
CREATE TABLE n(a TINYINT, b SMALLINT, c MEDIUMINT, d INT, e BIGINT, f TINYINT UNSIGNED, g SMALLINT UNSIGNED,
 h MEDIUMINT UNSIGNED, i INT UNSIGNED, j BIGINT UNSIGNED, k FLOAT, l DOUBLE, y YEAR);
INSERT INTO n VALUES(-128,-32768,-8388608,-2147483648,-9223372036854775808,0,0,0,0,0,-3.402823466e38,-1.7976931348623157e308,0),
 (127,32767,8388607,2147483647,9223372036854775807,255,65535,16777215,4294967295,18446744073709551615,3.402823466e38,1.7976931348623157e308,2155),
 (0,0,0,0,0,128,32768,8388608,2147483648,9223372036854775808,1e-10,1e-300,1901),
 (NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0.1,0.1,NULL),(1,1,1,1,1,1,1,1,1,1,123456789,1e15,2000),
 (1,1,1,1,1,1,1,1,1,1,1e20,1e16,2000),(1,1,1,1,1,1,1,1,1,1,-0.0,123456.789,2000);
CREATE TABLE z(a DATE, b DATETIME, c DATETIME(2), d DATETIME(4), e DATETIME(5), f TIMESTAMP NULL, g TIMESTAMP(2) NULL, h TIMESTAMP(4) NULL, i TIMESTAMP(5) NULL);
INSERT INTO z VALUES(0,0,0,0,0,0,0,0,0),('2020-00-00','2020-00-10 00:00:00','9999-12-31 23:59:59.99','1000-01-01 00:00:00.0001','0001-01-01 00:00:00.00001','1970-01-01 00:00:01','2038-01-19 03:14:07.99','2000-01-01 00:00:00.9999','2000-01-01 00:00:00.00001');
CREATE TABLE ti(a TIME, b TIME(1), c TIME(2), d TIME(3), e TIME(4), f TIME(5), g TIME(6));
INSERT INTO ti VALUES('-838:59:59','-838:59:59.9','-838:59:59.99','-838:59:59.999','-838:59:59.9999','-838:59:59.99999','-838:59:59.999999'),
 ('-00:00:01','-00:00:00.5','-00:00:00.05','-00:00:00.005','-00:00:00.0005','-00:00:00.00005','-00:00:00.000005'),
 ('00:00:00','00:00:00','00:00:00','00:00:00','00:00:00','00:00:00','00:00:00'),
 ('838:59:59','01:00:00.1','00:01:00.01','00:00:01.001','00:00:00.0001','10:11:12.98765','12:34:56.789012'),
 ('-01:00:00','-00:01:00','-10:00:00.10','-00:00:01','-00:00:00.9','-01:01:01.00001','-00:00:01');
CREATE TABLE de(a DECIMAL(1,0), b DECIMAL(1,1), c DECIMAL(9,9), d DECIMAL(10,10), e DECIMAL(18,9), f DECIMAL(20,1), g DECIMAL(38,38), h DECIMAL(65,0), i DECIMAL(14,3));
INSERT INTO de VALUES(0,0,0,0,0,0,0,0,0),(9,.9,.123456789,.0123456789,123456789.987654321,1234567890123456789.5,.00000000000000000000000000000000000001,99999999999999999999999999999999999999999999999999999999999999999,-10000000000.001),
 (-9,-.9,-.000000001,-.9999999999,-1.1,-100000000000000000.1,-.1,-1000000000,12345678901.234);
CREATE TABLE bits(a BIT(1), b BIT(7), c BIT(8), d BIT(9), e BIT(63), f BIT(64));
INSERT INTO bits VALUES(0,0,0,0,0,0),(1,127,255,511,9223372036854775807,18446744073709551615),(1,1,1,1,1,1);
"""},
    "strings": {"text": """
CREATE TABLE s(a CHAR(0), b CHAR(255) CHARSET latin1, c CHAR(255), d VARCHAR(255) CHARSET latin1, e VARCHAR(256) CHARSET latin1,
 f VARBINARY(20), g BINARY(16), h TEXT, i BLOB, j VARCHAR(8000));
INSERT INTO s VALUES('', REPEAT('b',255), REPEAT('c',255), REPEAT('d',255), REPEAT('e',256), x'0001fe7f', x'00ff', REPEAT('h',1000), REPEAT(x'00',300), REPEAT('j',2000));
INSERT INTO s VALUES(NULL,'pad  ','a\\'b\\\\c','line\\nbreak\\ttab\\rret',x'01027f80ff','','','\\'quoted\\'','\\0nul','');
INSERT INTO s VALUES('','','\u00e4\u00f6\u20ac\U0001f600','','',NULL,NULL,NULL,NULL,NULL);
CREATE TABLE es(a ENUM('x','y''z'), b SET('a','b','c','d','e','f','g','h','i'), c ENUM('') NOT NULL, d SET('1','2','3','4','5','6','7','8','9','10','11','12','13','14','15','16','17','18','19','20','21','22','23','24','25','26','27','28','29','30','31','32','33'));
INSERT INTO es VALUES(1,'','','33,1'),(2,'a,i','',''),(NULL,NULL,'',NULL);
CREATE TABLE nets(a INET6, b INET4, c UUID);
INSERT INTO nets VALUES('::','0.0.0.0','00000000-0000-0000-0000-000000000000'),('2001:db8::ff','255.0.0.0','ffffffff-ffff-ffff-ffff-ffffffffffff'),('::ffff:1.2.3.4','10.0.0.1','123e4567-e89b-12d3-a456-426655440000');
CREATE TABLE js(a JSON, b LONGBLOB, c MEDIUMTEXT, d TINYBLOB);
INSERT INTO js VALUES('{"k":[1,2,{"x":"y"}]}', x'deadbeef', 'text', 'tiny');
"""},
    "long_strings": {"text": """
CREATE TABLE l(a VARCHAR(10000) CHARSET latin1, b TEXT, c LONGTEXT);
INSERT INTO l VALUES(REPEAT('ab',5000), REPEAT('t', 6000), REPEAT('u', 6000));
"""},
    "old_temporal": {"before": "SET GLOBAL mysql56_temporal_format=OFF", "text": """
CREATE TABLE o(a TIME, b DATETIME, c TIMESTAMP NULL);
INSERT INTO o VALUES('-12:34:56','2023-11-14 22:13:20','2023-11-14 22:13:20'),('00:00:00',NULL,NULL),('838:59:59','9999-12-31 23:59:59','1970-01-01 00:00:01');
SET GLOBAL mysql56_temporal_format=ON;
"""},
    "image_minimal": {"text": """
SET binlog_row_image=MINIMAL;
CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a VARCHAR(20), b INT UNSIGNED, x BLOB, gv INT AS (b+1) VIRTUAL, gs INT AS (b+2) STORED);
INSERT INTO t(a,b) VALUES('abc',7); UPDATE t SET b=9 WHERE id=1; UPDATE t SET x='blob'; DELETE FROM t;
CREATE TABLE u (a INT NOT NULL, b INT, c INT NOT NULL UNIQUE, d TEXT, UNIQUE(a,b)); INSERT INTO u VALUES(1,2,3,'d'); UPDATE u SET d='e'; DELETE FROM u;
CREATE TABLE k (a INT, b INT); INSERT INTO k VALUES(1,2),(NULL,3); UPDATE k SET a=5; DELETE FROM k;
"""},
    "image_noblob": {"text": """
SET binlog_row_image=NOBLOB;
CREATE TABLE t (id INT PRIMARY KEY, a TEXT, b BLOB, c INT, g GEOMETRY, v VARCHAR(3));
INSERT INTO t VALUES(1,'text','blob',3,POINT(1,1),'v'); UPDATE t SET c=4; UPDATE t SET a='other'; DELETE FROM t;
"""},
    "wide": {"text": "CREATE TABLE w(" + ",".join(f"c{n} TINYINT" for n in range(300)) + ", PRIMARY KEY(c0));"
             "INSERT INTO w(c0,c7,c8,c299) VALUES(1,2,3,4); SET binlog_row_image=MINIMAL; UPDATE w SET c255=9 WHERE c0=1;"},
    "compressed": {"before": "SET GLOBAL log_bin_compress=1; SET GLOBAL log_bin_compress_min_len=10", "text": """
CREATE TABLE t(a INT, b VARCHAR(1000));
INSERT INTO t VALUES(1,REPEAT('x',900)),(2,REPEAT('y',900));
UPDATE t SET b=REPEAT('z',800); DELETE FROM t;
SET binlog_format=STATEMENT; INSERT INTO t VALUES(1,'one'),(2,'two'),(3,'a longer text than the others');
"""},
    "statements": {"text": """
SET binlog_format=STATEMENT, timestamp=1700000000.123456;
CREATE TABLE t(id INT PRIMARY KEY AUTO_INCREMENT, a VARCHAR(40), b DOUBLE, ts DATETIME(6));
INSERT INTO t(a,b) VALUES('stm', RAND());
SET @s='v\\'q', @i=-5, @u=18446744073709551615, @r=1.5e10, @d=-12345.678, @n=NULL, @`odd name`=_latin1'x';
INSERT INTO t(a,b) VALUES(@s, LAST_INSERT_ID()),(@i, @u),(@r, @d),(@n, 1),(@`odd name`,2);
INSERT INTO t(a,ts) VALUES('now', NOW(6));
SET timestamp=1700000000;
SET foreign_key_checks=0; INSERT INTO t(a) VALUES('fk'); SET foreign_key_checks=1;
SET unique_checks=0; INSERT INTO t(a) VALUES('u'); SET unique_checks=1;
SET sql_auto_is_null=1; INSERT INTO t(a) VALUES('n'); SET sql_auto_is_null=0;
SET check_constraint_checks=0; INSERT INTO t(a) VALUES('c'); SET check_constraint_checks=1;
SET sql_if_exists=1; INSERT INTO t(a) VALUES('i'); SET sql_if_exists=0;
SET explicit_defaults_for_timestamp=0; INSERT INTO t(a) VALUES('e'); SET explicit_defaults_for_timestamp=1;
SET system_versioning_insert_history=1; INSERT INTO t(a) VALUES('h'); SET system_versioning_insert_history=0;
SET time_zone='+03:00'; INSERT INTO t(a,ts) VALUES('z',NOW()); SET time_zone='+00:00';
SET auto_increment_increment=3, auto_increment_offset=2; INSERT INTO t(a) VALUES('ai'); SET auto_increment_increment=1, auto_increment_offset=1;
SET lc_time_names='de_DE'; INSERT INTO t(a) VALUES('lc'); SET lc_time_names='en_US';
SET collation_database=utf8mb4_bin; INSERT INTO t(a) VALUES('cd'); SET collation_database=DEFAULT;
SET sql_mode='ANSI_QUOTES'; INSERT INTO t(a) VALUES('sm'); SET sql_mode=DEFAULT;
SET NAMES latin1; INSERT INTO t(a) VALUES('l1'); SET NAMES utf8mb4;
CREATE DEFINER=root@localhost PROCEDURE p1() INSERT INTO t(a) VALUES ('p'); CALL p1();
CREATE FUNCTION fn1() RETURNS INT DETERMINISTIC RETURN 3; UPDATE t SET b=fn1();
SET skip_parallel_replication=1; INSERT INTO t(a) VALUES('sp'); SET skip_parallel_replication=0;
SET gtid_domain_id=5; INSERT INTO t(a) VALUES('g'); SET gtid_domain_id=0;
SET gtid_seq_no=100; INSERT INTO t(a) VALUES('s'); SET server_id=77; INSERT INTO t(a) VALUES('s'); SET server_id=1;
SET skip_replication=1; INSERT INTO t(a) VALUES('sr'); SET skip_replication=0;
CREATE TEMPORARY TABLE tmp(a INT); INSERT INTO tmp VALUES(1); DROP TEMPORARY TABLE tmp;
CREATE TABLE my(a INT PRIMARY KEY) ENGINE=MyISAM; INSERT INTO my VALUES(1);
BEGIN; INSERT INTO t(a) VALUES('rb'); INSERT INTO my VALUES(2); ROLLBACK;
UPDATE t, my SET t.a=my.a WHERE t.id=my.a;
DROP TABLE t, my;
"""},
    "load_data": {"errors": True, "text": """
SET binlog_format=STATEMENT, read_buffer_size=8192;
CREATE TABLE t(a INT, b VARCHAR(100)); CREATE TABLE my(a INT PRIMARY KEY, b VARCHAR(100)) ENGINE=MyISAM;
LOAD DATA LOCAL INFILE '$WORK/short.txt' INTO TABLE t (a, b);
LOAD DATA INFILE '$WORK/load.txt' REPLACE INTO TABLE t FIELDS TERMINATED BY '\\t' (a, b);
LOAD DATA INFILE '$WORK/twice.txt' INTO TABLE my (a, b);
LOAD DATA INFILE '$WORK/load.txt' INTO TABLE my (a, nothing);
INSERT INTO my VALUES(1000,'x');
ALTER TABLE my ADD c INT NOT NULL; SET sql_mode='STRICT_ALL_TABLES';
LOAD DATA INFILE '$WORK/load.txt' INTO TABLE my (b, a);
SET binlog_format=ROW; LOAD DATA LOCAL INFILE '$WORK/short.txt' INTO TABLE t;
"""},
    "load_blocks": {"before": "SET GLOBAL max_allowed_packet=4096", "text": """
SET binlog_format=STATEMENT; CREATE TABLE t(a INT, b VARCHAR(100)); LOAD DATA INFILE '$WORK/load.txt' INTO TABLE t (a, b);
"""},
    "transactions": {"errors": True, "text": """
CREATE TABLE t(id INT PRIMARY KEY AUTO_INCREMENT, a VARCHAR(10)); CREATE TABLE my(a INT) ENGINE=MyISAM;
BEGIN; INSERT INTO t(a) VALUES('x'); SAVEPOINT s; INSERT INTO t(a) VALUES('z'); ROLLBACK TO s; DELETE FROM t WHERE a='x'; COMMIT;
BEGIN; INSERT INTO t(a) VALUES('q'); INSERT INTO my VALUES (3); ROLLBACK;
BEGIN; INSERT INTO t(a) VALUES('q'); SAVEPOINT `a``b`; INSERT INTO my VALUES (3); INSERT INTO t(a) VALUES('r'); ROLLBACK TO `a``b`; COMMIT;
XA START 'gt','bq',7; INSERT INTO t(a) VALUES('xa'); XA END 'gt','bq',7; XA PREPARE 'gt','bq',7; XA COMMIT 'gt','bq',7;
XA START 'gt'; INSERT INTO t(a) VALUES('xb'); XA END 'gt'; XA PREPARE 'gt'; XA ROLLBACK 'gt';
XA START 'one'; INSERT INTO t(a) VALUES('xc'); XA END 'one'; XA COMMIT 'one' ONE PHASE;
CREATE TABLE cs SELECT * FROM t LIMIT 1; TRUNCATE TABLE cs; DROP TABLE cs; FLUSH TABLES; ANALYZE TABLE t;
CREATE SEQUENCE sq; SELECT NEXTVAL(sq);
SET binlog_alter_two_phase=1; ALTER TABLE t ADD c INT DEFAULT 3; ALTER TABLE t ADD UNIQUE(c); SET binlog_alter_two_phase=0;
SET foreign_key_checks=0, unique_checks=0; INSERT INTO t(a) VALUES('nofk'); SET foreign_key_checks=1, unique_checks=1;
CREATE TABLE p(a INT PRIMARY KEY); CREATE TABLE c(a INT, FOREIGN KEY(a) REFERENCES p(a) ON DELETE CASCADE);
INSERT INTO p VALUES(1); INSERT INTO c VALUES(1); DELETE FROM p;
CREATE TABLE nk(a INT, v VARCHAR(5), UNIQUE(v)); INSERT INTO nk VALUES(1,'x'),(2,NULL); REPLACE INTO nk VALUES(3,'x');
INSERT INTO nk VALUES(9,'x') ON DUPLICATE KEY UPDATE a=5;
CREATE TABLE big(a INT, b VARCHAR(200)); INSERT INTO big SELECT seq, REPEAT('b',180) FROM seq_1_to_60;
SET binlog_annotate_row_events=0; INSERT INTO nk VALUES(10,'y');
"""},
    "group_commit": {"text": "CREATE TABLE t(a INT PRIMARY KEY); SET GLOBAL binlog_commit_wait_count=2;"
                             "SET GLOBAL binlog_commit_wait_usec=3000000;",
                     "at_once": ["INSERT INTO t VALUES(1);", "INSERT INTO t VALUES(2);"]},
    "no_checksum": {"before": "SET GLOBAL binlog_checksum=NONE", "text": """
CREATE TABLE t(a INT, b VARCHAR(10)); INSERT INTO t VALUES(1,'a'); UPDATE t SET b='b'; DELETE FROM t;
"""},
}
