"""Time from KILL, or from a statement's timeout, to its end: at most 100 ms, at any moment. Work of every kind is
started and ended: parsing, planning, functions, sorts and joins, DDL, information_schema. A sleeping statement that
is killed at the same moment shows how busy the machine is.

usage: ends.py BINARY [--seconds S] [--seed N] [--only WORD]
"""

import argparse
import contextlib
import os
import random
import sys
import tempfile
import threading
import time

import pymysql

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import shapes  # noqa: E402
from selkie import Server  # noqa: E402

# Seconds that a statement may take to end, in addition to those of a sleeping one. Builds without optimisation need more.
LATE = float(os.environ.get("SELKIE_END_SECONDS", "0.1"))
# The timeout of a statement in seconds.
TIME = 0.15
# Number of tries for a late statement: another process may have had the processor.
TRIES = 4
PACKET = 16 << 20
# Protocol: a packet of this length is continued by the next one; the flag that another result follows.
MOST_OF_PACKET = (1 << 24) - 1
MORE_RESULTS = 8
LONG_TEXT = 1 << 20
ROWS = 200_000


def numbered(text, count, by=","):
    return by.join(text.format(i=i, j=i + 1) for i in range(count))


WIDE = numbered("c{i} INT DEFAULT {i}", 1000)

SETUP = [
    "CREATE DATABASE d", "USE d",
    "CREATE TABLE t (a INT, b INT, s VARCHAR(100), KEY k (a))", "INSERT INTO t VALUES (1,2,'x'),(2,3,'xy'),(3,NULL,NULL),(NULL,1,'')",
    "CREATE TABLE scratch (a INT, b INT, s VARCHAR(100))", "CREATE TABLE heap (a INT, s VARCHAR(100)) ENGINE=MEMORY",
    "CREATE FUNCTION f(a INT) RETURNS INT RETURN a", "CREATE PROCEDURE nothing() DO 1",
    f"CREATE TABLE wide ({WIDE})", "INSERT INTO wide () VALUES (),(),()",
    "CREATE TABLE parent (id INT PRIMARY KEY)", f"INSERT INTO parent SELECT seq FROM seq_1_to_{ROWS // 4}",
]
# Objects that statements may redefine; they are made again then.
BIG = "(id INT PRIMARY KEY, a INT, b INT, s VARCHAR(200), KEY k (a), KEY l (s))"
TABLES = {
    "one": ["CREATE TABLE one (a INT)", "INSERT INTO one VALUES (1)"],
    "copy": [f"CREATE TABLE copy {BIG}"],
    "big": [f"CREATE TABLE big {BIG}",
            f"INSERT INTO big SELECT seq, seq*7919%100003, seq%100, CONCAT('row', seq*7919%100003, REPEAT('x', 60)) FROM seq_1_to_{ROWS}"],
    "child": ["CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id) ON DELETE CASCADE)",
              f"INSERT INTO child SELECT seq, seq%{ROWS // 4}+1 FROM seq_1_to_{ROWS}"],
}

LONG = "CONCAT('[',REPEAT('{\"a\":[1,2,{\"b\":\"c\"}]},',600000),'1]')"
PATHS = numbered("'$.a{i}',{i}", 40_000)
DOCUMENT = "CONCAT('{',(SELECT GROUP_CONCAT('\"k',seq,'\":',seq) FROM seq_1_to_50000),'}')"

FUNCTIONS = {
    "json_set": f"SELECT LENGTH(JSON_SET('{{}}',{PATHS}))",
    "json_insert": f"SELECT LENGTH(JSON_INSERT('{{}}',{PATHS}))",
    "json_replace": f"SELECT LENGTH(JSON_REPLACE({DOCUMENT},{PATHS}))",
    "json_remove": f"SELECT LENGTH(JSON_REMOVE({DOCUMENT},{numbered(chr(39) + '$.k{i}' + chr(39), 40_000)}))",
    "json_array_append": "SELECT LENGTH(JSON_ARRAY_APPEND('[]'," + numbered("'$',{i}", 40_000) + "))",
    "json_array_insert": "SELECT LENGTH(JSON_ARRAY_INSERT('[]'," + numbered("'$[0]',{i}", 40_000) + "))",
    "json_object": "SELECT LENGTH(JSON_OBJECT(" + numbered("'k{i}',{i}", 100_000) + "))",
    "json_merge": f"SELECT LENGTH(JSON_MERGE_PRESERVE({DOCUMENT},{DOCUMENT})), LENGTH(JSON_MERGE_PATCH({DOCUMENT},{DOCUMENT}))",
    "json_keys": f"SELECT LENGTH(JSON_KEYS({DOCUMENT})), JSON_LENGTH({DOCUMENT})",
    "json_search": f"SELECT LENGTH(JSON_SEARCH({LONG},'all','%c%'))",
    "json_extract": f"SELECT LENGTH(JSON_EXTRACT({LONG},'$**.b'))",
    "json_detailed": f"SELECT LENGTH(JSON_DETAILED({LONG})), LENGTH(JSON_LOOSE({LONG}))",
    "json_normalize": f"SELECT LENGTH(JSON_NORMALIZE({LONG}))",
    "json_equals": f"SELECT JSON_EQUALS({LONG},{LONG}), JSON_EQUALS({DOCUMENT},{DOCUMENT})",
    "json_contains": "SELECT JSON_CONTAINS(CONCAT('[',REPEAT('[],',20000),'1]'),CONCAT('[',REPEAT('[2],',20000),'1]'))",
    "json_overlaps": "SELECT JSON_OVERLAPS(CONCAT('[',REPEAT('3,',100000),'1]'),CONCAT('[',REPEAT('2,',100000),'4]'))",
    "json_table": f"SELECT COUNT(*) FROM JSON_TABLE({LONG},'$[*]' COLUMNS(a INT PATH '$.a[0]', NESTED PATH '$.a[*]' COLUMNS(b INT PATH '$'))) x",
    "json_table nested": "SELECT COUNT(*) FROM JSON_TABLE(CONCAT('[',REPEAT(CONCAT('[',REPEAT('1,',3000),'1],'),800),'1]'),'$[*]' "
                         "COLUMNS(NESTED PATH '$[*]' COLUMNS(b INT PATH '$'))) x",
    "json_arrayagg": "SELECT LENGTH(JSON_ARRAYAGG(s)), LENGTH(JSON_OBJECTAGG(s,a)) FROM big",
    "xpath": "SELECT EXTRACTVALUE(CONCAT(REPEAT('<a>',20000),REPEAT('</a>',20000)),'//a//a//a//a//a')",
    "xml wide": "SELECT LENGTH(EXTRACTVALUE(CONCAT('<x>',REPEAT('<a b=\"c\">t</a>',500000),'</x>'),'//a[@b=\"c\"]'))",
    "xml sorted": "SELECT LENGTH(EXTRACTVALUE(CONCAT('<x>',REPEAT('<a><b/></a>',200000),'</x>'),'//b|//a|//b/..|//a/b'))",
    "updatexml": "SELECT UPDATEXML(CONCAT('<x>',REPEAT('<a/>',5000),'</x>'),'//a[count(//a)>1]','<b/>') IS NULL",
    "locate": "SELECT LOCATE(CONCAT(REPEAT('a',500000),'b'),REPEAT('a',1000000))",
    "locate case": "SELECT INSTR(REPEAT('a\u00e9',500000),CONCAT(REPEAT('a\u00e9',250000),'b'))",
    "substring_index": "SELECT LENGTH(SUBSTRING_INDEX(REPEAT('a.',8000000),'.',-7000000)), LENGTH(SUBSTRING_INDEX(REPEAT('aab',5000000),'ab',4000000))",
    "find_in_set": "SELECT FIND_IN_SET('x',REPEAT('a,',8000000)), FIELD('x'" + ",'y'" * 200_000 + ")",
    "replace": "SELECT LENGTH(REPLACE(REPEAT('ab',8000000),'a','b')), LENGTH(REPLACE(REPEAT('a',8000000),'aaaaab','b'))",
    "case": "SELECT LENGTH(UPPER(REPEAT('a\u00e9',5000000))), LENGTH(LOWER(REPEAT('A\u00c9',5000000))), LENGTH(REVERSE(REPEAT('a\u00e9',5000000)))",
    "charsets": "SELECT LENGTH(CONVERT(REPEAT('\u00e9',7000000) USING latin1)), LENGTH(CONVERT(REPEAT('\u4e2d',5000000) USING gbk)), "
                "LENGTH(CONVERT(REPEAT('\u4e2d',5000000) USING ujis)), LENGTH(CONVERT(REPEAT('a',4000000) USING utf32))",
    "collations": "SELECT REPEAT('a',16000000) COLLATE utf8mb4_unicode_ci = REPEAT('A',16000000), LENGTH(WEIGHT_STRING(REPEAT('\u00e9',4000000)))",
    "strcmp": "SELECT STRCMP(REPEAT('\u00e9',8000000),REPEAT('\u00c9',8000000)), REPEAT('a',16000000) LIKE REPEAT('a_',100)",
    "trim": "SELECT LENGTH(TRIM(REPEAT(' ',16000000))), LENGTH(TRIM('ab' FROM REPEAT('ab',8000000))), LENGTH(SOUNDEX(REPEAT('abc',5000000)))",
    "numbers": "SELECT REPEAT('1',16000000)+0, CAST(REPEAT('1',16000000) AS DECIMAL(65)), CONV(REPEAT('1',16000000),2,36), "
               "CAST(REPEAT('0',16000000) AS DOUBLE), FORMAT(REPEAT('1',16000000),2)",
    "dates": "SELECT STR_TO_DATE(REPEAT('1',16000000),REPEAT('%d',8000000)), LENGTH(DATE_FORMAT(NOW(),REPEAT('%W',8000000))), "
             "REPEAT('1',16000000)+INTERVAL 1 DAY, CAST(REPEAT('1:',8000000) AS TIME)",
    "uuid": "SELECT CAST(REPEAT('a',16000000) AS INET6), INET_ATON(REPEAT('1.',8000000)), IS_IPV6(REPEAT('1:',8000000))",
    "regexp": "SELECT LENGTH(REGEXP_REPLACE(REPEAT('a',1000000),'(a)|b|c','\\\\1'))",
    "regexp steps": "SELECT REPEAT('a',1000000) RLIKE '.*.*.*.*=.*b', CONCAT(REPEAT('a',40),'!') RLIKE '^(a|aa)+$'",
    # The library that compiles patterns cannot be interrupted; MariaDB takes as long for a pattern of 5 MB.
    "regexp pattern": "SELECT 'a' RLIKE REPEAT('(a|b)*',100000), 'a' RLIKE CONCAT('[',REPEAT('a',100000),']'), 'x' RLIKE REPEAT('a|',100000)",
    "like": "SELECT REPEAT('a',300000) LIKE CONCAT(REPEAT('%a',20000),'%b')",
    "ciphers": "SELECT LENGTH(AES_ENCRYPT(REPEAT('a',16000000),'k')), LENGTH(DES_ENCRYPT(REPEAT('a',16000000),'k')), LENGTH(ENCODE(REPEAT('a',16000000),'k'))",
    "digests": "SELECT SHA2(REPEAT('a',16000000),512), SHA1(REPEAT('a',16000000)), MD5(REPEAT('a',16000000)), CRC32(REPEAT('a',16000000)), "
               "PASSWORD(REPEAT('a',16000000)), OLD_PASSWORD(REPEAT('a',16000000))",
    "compress": "SELECT LENGTH(COMPRESS(REPEAT(RANDOM_BYTES(1000),16000))), LENGTH(UNCOMPRESS(COMPRESS(REPEAT('a',16000000))))",
    "bases": "SELECT LENGTH(FROM_BASE64(REPEAT('a',16000000))), LENGTH(TO_BASE64(REPEAT('a',11000000))), LENGTH(HEX(REPEAT('a',8000000))), "
             "LENGTH(UNHEX(REPEAT('a',16000000))), LENGTH(QUOTE(REPEAT('a',15000000)))",
    "sets": "SELECT LENGTH(EXPORT_SET(-1,REPEAT('a',100000),REPEAT('b',100000),',',64)), LENGTH(MAKE_SET(-1" + ",REPEAT('a',200000)" * 64 + "))",
    "elt": "SELECT ELT(99999" + ",REPEAT('a',100)" * 100_000 + ")",
    "concat": "SELECT LENGTH(CONCAT(" + numbered("REPEAT('a',100000)", 160) + ")), LENGTH(CONCAT_WS(REPEAT(',',100)," + numbered("'a'", 100_000) + "))",
    "columns": "SELECT LENGTH(COLUMN_CREATE(" + numbered("'c{i}',{i}", 60_000) + "))",
    "columns added": "SELECT LENGTH(COLUMN_ADD(COLUMN_CREATE('a',1)," + numbered("'c{i}',{i}", 60_000) + "))",
    "columns read": "SELECT LENGTH(COLUMN_JSON(COLUMN_CREATE(" + numbered("'c{i}',{i}", 60_000) + ")))",
    "benchmark": "SELECT BENCHMARK(1000000000,MD5('a'))",
    "benchmark large": "SELECT BENCHMARK(1000000000,SHA2(REPEAT('a',16000000),512))",
    "stored function": "SELECT SUM(f(a)) FROM big",
    "user variables": "SELECT MAX(@v:=@v+id) FROM big a JOIN (SELECT 1 FROM seq_1_to_100) b",
    "group_concat": "SELECT LENGTH(GROUP_CONCAT(DISTINCT s ORDER BY s DESC)) FROM big",
    "wide call": "SELECT GREATEST(" + numbered("a+{i}", 100_000) + ") FROM t",
    "wide case": "SELECT MAX(CASE a " + numbered("WHEN {i} THEN {j}", 50_000, " ") + " END) FROM big",
    "random_bytes": "SELECT COUNT(DISTINCT RANDOM_BYTES(1024)) FROM big",
}

OPERATORS = {
    "cross": "SELECT COUNT(*) FROM big a, big b, big c WHERE a.id+b.id+c.id=17",
    "hash join": "SELECT COUNT(*) FROM big x JOIN big y ON x.s=y.s WHERE x.b<y.b",
    "one key": "SELECT COUNT(*) FROM big x JOIN big y ON x.b=y.b",
    "key lookups": "SELECT SUM(y.b) FROM big x STRAIGHT_JOIN big y FORCE INDEX (k) ON y.a=x.a+1",
    "left join": "SELECT COUNT(*) FROM big x LEFT JOIN big y ON x.b>y.id AND y.id<500 AND x.id=y.a",
    "sort": "SELECT COUNT(*) FROM (SELECT * FROM big ORDER BY s, a LIMIT 1000000) x",
    "sort wide": "SELECT id FROM big ORDER BY " + numbered("a+{i}", 200) + " LIMIT 1",
    "sort cross": "SELECT COUNT(*) FROM (SELECT a.a, b.s FROM big a, big b ORDER BY b.s, a.a LIMIT 5000000) z",
    "group": "SELECT COUNT(*) FROM (SELECT s, a, COUNT(*), MAX(b) FROM big GROUP BY s, a) x",
    "rollup": "SELECT COUNT(*) FROM (SELECT 1 FROM big GROUP BY " + numbered("a%{j}", 60) + " WITH ROLLUP) x",
    "distinct": "SELECT COUNT(DISTINCT s, id) FROM big",
    "union": "SELECT COUNT(*) FROM (SELECT s FROM big UNION SELECT CONCAT(s,'y') FROM big) x",
    "intersect": "SELECT COUNT(*) FROM (SELECT s FROM big INTERSECT SELECT s FROM big EXCEPT SELECT s FROM big WHERE b=1) x",
    "window": "SELECT MAX(r) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY b ORDER BY s) r FROM big) z",
    "window frames": "SELECT MAX(r) FROM (SELECT MAX(a) OVER (ORDER BY id ROWS BETWEEN 5000 PRECEDING AND 5000 FOLLOWING) r FROM big) z",
    "window range": "SELECT MAX(r) FROM (SELECT SUM(a) OVER (ORDER BY a RANGE BETWEEN 9000 PRECEDING AND 9000 FOLLOWING) r FROM big) z",
    "recursion": "WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n+1 FROM r WHERE n<100000000) SELECT COUNT(*) FROM r",
    "recursion doubled": "WITH RECURSIVE r AS (SELECT 1 n UNION SELECT n+1 FROM r UNION SELECT n*2 FROM r WHERE n<100000000) SELECT COUNT(*) FROM r",
    "correlated": "SELECT COUNT(*) FROM big x WHERE (SELECT COUNT(*) FROM big y WHERE y.b=x.b AND y.id<x.id)>5",
    "exists": "SELECT COUNT(*) FROM big x WHERE NOT EXISTS (SELECT 1 FROM big y WHERE y.b+1=x.b+y.id AND y.a>x.a)",
    "in list": "SELECT COUNT(*) FROM big WHERE a IN (" + numbered("{i}", 200_000) + ")",
    "ranges": "SELECT COUNT(*) FROM big WHERE " + numbered("id BETWEEN {i}*7 AND {j}*7-3", 20_000, " OR "),
    "many scans": "SELECT " + numbered("(SELECT MAX(b) FROM big WHERE id>{i})", 50, "+"),
    "explain": "EXPLAIN SELECT COUNT(*) FROM " + numbered("big t{i}", 24) + " WHERE " + " AND ".join(
        f"t{i}.id=t{j}.a+{i}" for i in range(24) for j in range(i)),
    "analyze format": "ANALYZE FORMAT=JSON SELECT COUNT(*) FROM big x JOIN big y ON x.b=y.b",
    "limit": "SELECT id FROM big LIMIT 1 OFFSET 100000000",
    "like scan": "SELECT COUNT(*) FROM big a, big b WHERE a.s LIKE CONCAT('%',b.a,'%z')",
    "checksum": "CHECKSUM TABLE big, copy, big, copy, big EXTENDED",
    "series": "SELECT COUNT(*) FROM seq_1_to_100000000 WHERE seq%7=8",
    "sleep": "SELECT SLEEP(1) FROM big",
    "wide rows": "SELECT * FROM wide a, wide b, wide c, wide d, wide e, wide f",
    "long rows": "SELECT REPEAT(s,10000) FROM big",
}

CHANGES = {
    "update": "UPDATE big SET b=b+1",
    "update key": "UPDATE big SET a=a+1",
    "update join": "UPDATE big x JOIN big y ON x.b=y.b SET x.b=x.b",
    "delete": "DELETE FROM big WHERE SLEEP(0)=0",
    "delete join": "DELETE x FROM big x JOIN big y ON x.b=y.b WHERE y.id<0",
    "cascade": "DELETE FROM parent",
    "insert select": "INSERT INTO copy SELECT * FROM big",
    "insert cross": "INSERT INTO heap SELECT x.a, x.s FROM big x, big y",
    "insert ignore": "INSERT IGNORE INTO big SELECT x.* FROM big x, one",
    "on duplicate": "INSERT INTO big SELECT * FROM big x ON DUPLICATE KEY UPDATE b=x.b+1",
    "replace": "REPLACE INTO big SELECT * FROM copy UNION ALL SELECT id,a,b,s FROM big x",
    "values": "INSERT INTO scratch VALUES " + numbered("({i},{j},'x')", 300_000),
    "empty rows": "INSERT INTO wide VALUES " + numbered("()", 20_000),
    "empty rows many": "INSERT INTO wide VALUES " + numbered("()", 2_000_000),
    "wide update": "UPDATE wide SET " + numbered("c{i}=c{i}+1", 1000),
    "wide update deep": "UPDATE wide a, wide b, wide c, wide d, wide e SET " + numbered("a.c{i}=b.c{i}+1", 1000),
    "create select": "CREATE TABLE made AS SELECT x.* FROM big x, one",
    "create select keys": "CREATE TABLE made (PRIMARY KEY (id), KEY (s)) AS SELECT x.* FROM big x, one",
    "load": "LOAD DATA INFILE 'FILE' INTO TABLE copy",
    "load ignored": "LOAD DATA INFILE 'FILE' IGNORE INTO TABLE big",
    "load set": "LOAD DATA INFILE 'FILE' INTO TABLE copy (id,@a,b,s) SET a=LENGTH(REPEAT(@a,1000))",
    "outfile": "SELECT * FROM big x, one INTO OUTFILE 'OUT'",
}

DDL = {
    "add index": "ALTER TABLE big ADD INDEX z (s, a, b)",
    "add unique": "ALTER TABLE big ADD UNIQUE z (s, a, b, id)",
    "add fulltext": "ALTER TABLE big ADD FULLTEXT z (s)",
    "copy": "ALTER TABLE big ADD z INT, ALGORITHM=COPY",
    "force": "ALTER TABLE big FORCE",
    "change type": "ALTER TABLE big MODIFY a BIGINT",
    "change set": "ALTER TABLE big CONVERT TO CHARACTER SET utf16",
    "add check": "ALTER TABLE big ADD CHECK (a>=0)",
    "add generated": "ALTER TABLE big ADD g INT AS (LENGTH(REPEAT(s,100))) STORED",
    "add foreign key": "ALTER TABLE child ADD FOREIGN KEY (id) REFERENCES child (id)",
    "engine": "ALTER TABLE big ENGINE=MEMORY",
    "order": "ALTER TABLE copy ORDER BY s",
    "partition": "ALTER TABLE copy PARTITION BY HASH (id) PARTITIONS 8",
    "check": "CHECK TABLE big, child, parent, big, child, big EXTENDED",
    "analyze": "ANALYZE TABLE big, child, big PERSISTENT FOR ALL",
    "optimize": "OPTIMIZE TABLE big",
    "create columns": f"CREATE TABLE made ({numbered('c{i} INT', 4000)})",
    "create enum": "CREATE TABLE made (e ENUM(" + numbered("'e{i}'", 60_000) + "))",
    "create checks": "CREATE TABLE made (a INT," + numbered("CHECK (a<>{i})", 20_000) + ")",
    "create generated": "CREATE TABLE made (c0 INT" + "".join(f",c{i} INT AS (c{i - 1}+1)" for i in range(1, 1000)) + ")",
    "create indexes": "CREATE TABLE made (a INT," + numbered("KEY k{i} (a)", 20_000) + ")",
    "create defaults": "CREATE TABLE made (" + numbered("c{i} INT DEFAULT ({i}+1)", 1000) + ")",
    "alter columns": "ALTER TABLE one " + numbered("ADD c{i} INT", 1000),
    "alter defaults": "ALTER TABLE one " + numbered("ALTER a SET DEFAULT {i}", 100_000),
    "create procedure": "CREATE PROCEDURE made() BEGIN " + "SET @x=1;" * 500_000 + "END",
    "create view": "CREATE VIEW made AS SELECT " + numbered("a+{i} c{i}", 4000) + " FROM t",
    "create view names": "CREATE VIEW made AS SELECT " + ",".join(["1"] * 4000),
    "drop": "DROP TABLE IF EXISTS " + numbered("none{i}", 300_000),
    "rename": "RENAME TABLE " + numbered("none{i} TO none{j}", 200_000),
    "grant": "GRANT " + numbered("SELECT (c{i})", 100_000) + " ON d.t TO root@localhost",
    "users": "DROP USER IF EXISTS " + numbered("u{i}", 200_000),
    "lock": "LOCK TABLES " + numbered("t t{i} READ", 100_000),
}

WIDE_VIEWS = "WITH c0 AS (SELECT * FROM wide)" + "".join(f",c{i} AS (SELECT * FROM c{i - 1})" for i in range(1, 64))
PLANNING = {
    "columns": "SELECT " + numbered("a+{i}", 100_000) + " FROM t",
    "stars": "SELECT " + numbered("t.*", 30_000) + " FROM t",
    "wide stars": "SELECT " + numbered("wide.*", 3000) + " FROM wide",
    "wide joins": "SELECT * FROM " + numbered("wide t{i}", 61),
    "wide using": "SELECT COUNT(*) FROM wide " + numbered("JOIN wide t{i} USING (c1,c2,c3)", 50, " "),
    "wide natural": "SELECT COUNT(*) FROM wide t " + numbered("NATURAL JOIN wide t{i}", 40, " "),
    "wide derived": "SELECT " + numbered("(SELECT MAX(c1) FROM (SELECT * FROM wide LIMIT 1) x)", 4000),
    "wide chain": WIDE_VIEWS + " SELECT * FROM c63",
    "wide chain distinct": WIDE_VIEWS.replace("SELECT *", "SELECT DISTINCT *") + " SELECT COUNT(*) FROM c63",
    "wide nested": "SELECT * FROM " + "(SELECT * FROM " * 60 + "wide" + ") x" * 60,
    "wide unions": " UNION ALL ".join(["SELECT * FROM wide"] * 3000),
    "wide group": "SELECT * FROM wide GROUP BY " + numbered("c{i}", 1000),
    "wide order": "SELECT * FROM wide ORDER BY " + numbered("c{i}+1", 1000),
    "wide windows": "SELECT " + numbered("SUM(c{i}) OVER (ORDER BY c{i})", 900) + " FROM wide",
    "wide where": "SELECT COUNT(*) FROM wide WHERE " + numbered("c{i}=c{i}+{j}", 1000, " AND "),
    "wide subqueries": "SELECT COUNT(*) FROM wide WHERE " + numbered("c{i} IN (SELECT c{i} FROM wide)", 900, " AND "),
    "wide aggregates": "SELECT " + numbered("SUM(c{i}),MAX(c{i}),COUNT(DISTINCT c{i})", 1000) + " FROM wide",
    "wide insert": "INSERT INTO wide SELECT " + numbered("x.c{i}+1", 1000) + " FROM wide x ON DUPLICATE KEY UPDATE " + numbered("wide.c{i}=x.c{i}", 1000),
    "explain exists": "EXPLAIN EXTENDED SELECT " + " AND ".join(["EXISTS(SELECT 1 FROM t)"] * 20_000) + " FROM t",
    "explain exists correlated": "EXPLAIN SELECT COUNT(*) FROM t WHERE " + " OR ".join(["EXISTS(SELECT 1 FROM t u WHERE u.a=t.b)"] * 20_000),
    "explain unions": "EXPLAIN EXTENDED " + numbered("SELECT a FROM t WHERE a IN (SELECT b FROM t u WHERE u.a=t.a+{i})", 10_000, " UNION ALL "),
    "explain list": "EXPLAIN FORMAT=JSON SELECT COALESCE(" + numbered("(SELECT MAX(b) FROM t u WHERE u.a=t.b+{i})", 20_000) + ") FROM t",
    "prepared": "EXECUTE IMMEDIATE 'SELECT " + numbered("a+{i}", 100_000) + " FROM t'",
}

INFORMATION = {
    name: f"SELECT COUNT(*), MAX(LENGTH(CONCAT_WS(',',{columns}))) FROM information_schema.{name} a, seq_1_to_1000" for name, columns in {
        "columns": "column_type", "tables": "table_name", "statistics": "index_name", "table_constraints": "constraint_name",
        "key_column_usage": "constraint_name", "parameters": "dtd_identifier", "routines": "routine_name", "views": "view_definition",
        "triggers": "trigger_name", "collations": "collation_name", "user_privileges": "grantee", "global_variables": "variable_value",
        "global_status": "variable_value", "innodb_sys_tables": "name", "innodb_sys_columns": "name", "processlist": "info",
    }.items()
}
INFORMATION |= {
    "columns of columns": "SELECT COUNT(*) FROM information_schema.columns a JOIN information_schema.columns b USING (table_schema)",
    "columns again": "SELECT " + numbered("(SELECT COUNT(*) FROM information_schema.columns WHERE table_name LIKE '%{i}%')", 200, "+"),
    "columns nested": "SELECT COUNT(*) FROM one, seq_1_to_1000 WHERE seq<(SELECT COUNT(*) FROM information_schema.columns WHERE column_name<>seq)",
    "tables nested": "SELECT COUNT(*) FROM seq_1_to_1000 WHERE seq<(SELECT SUM(data_length+table_rows) FROM information_schema.tables WHERE table_name<>seq)",
    "show columns": "SHOW FULL COLUMNS FROM wide WHERE `Field` RLIKE '^(c|cc)*1(0|00)*$' OR SLEEP(0)",
    "schema like": "SELECT COUNT(*) FROM information_schema.columns WHERE column_name LIKE '" + "%c" * 5000 + "'",
}
FAMILIES = {"functions": FUNCTIONS, "operators": OPERATORS, "changes": CHANGES, "ddl": DDL, "planning": PLANNING, "information": INFORMATION}


# Statements of these kinds are rolled back at their end, which may take as long as they ran.
UNDONE = ("changes", "ddl")


class Statement(threading.Thread):
    """A statement that runs in a connection of its own, and the time of its end."""

    def __init__(self, connection, text):
        super().__init__(daemon=True)
        self.connection, self.text, self.ended, self.result = connection, text, None, None
        self.number = connection.thread_id()

    def run(self):
        try:
            self.connection._execute_command(3, self.text.encode())
            self.drain()
        except pymysql.MySQLError as error:
            self.result = error.args[0]
        finally:
            self.ended = time.monotonic()

    def packet(self):
        """Returns the first 16 MB of the next packet. pymysql would decode every column and row, which takes longer than the
        statement."""
        body, size = b"", MOST_OF_PACKET
        while size == MOST_OF_PACKET:
            head = self.connection._read_bytes(4)
            size = int.from_bytes(head[:3], "little")
            more = self.connection._read_bytes(size)
            body = body or more
        if body[:1] == b"\xff":
            pymysql.err.raise_mysql_exception(body)
        return body

    def drain(self):
        """Reads all results."""
        more = True
        while more:
            first = pymysql.protocol.MysqlPacket(self.packet(), "utf8mb4")
            if first.is_ok_packet():
                more = pymysql.protocol.OKPacketWrapper(first).server_status & MORE_RESULTS
                continue
            for _ in range(first.read_length_encoded_integer() + 1):
                self.packet()
            while True:
                row = self.packet()
                if row[:1] == b"\xfe" and len(row) < 9:
                    break
            more = int.from_bytes(row[3:5], "little") & MORE_RESULTS


class Ends:
    def __init__(self, server, rng):
        self.server, self.rng, self.failures, self.worst = server, rng, [], []
        self.killer = server.connect()
        self.files = tempfile.mkdtemp(prefix="selkie-ends-")

    def connect(self, **settings):
        connection = self.server.connect(database="d", read_timeout=120, write_timeout=120)
        for name, value in settings.items():
            connection.query(f"SET {name}={value}")
        return connection

    def text(self, statement):
        out = os.path.join(self.files, f"out{self.rng.randrange(1 << 60)}")
        return statement.replace("'FILE'", f"'{self.files}/rows'").replace("'OUT'", f"'{out}'")

    def wait_for(self, statement):
        """Waits until a statement has begun: on a busy machine a KILL may come before it, and kills nothing."""
        end = time.monotonic() + 10
        while statement.is_alive() and time.monotonic() < end:
            with self.killer.cursor() as cursor:
                cursor.execute("SELECT COUNT(*) FROM information_schema.processlist WHERE command = 'Query' AND id = %s",
                               (statement.number,))
                if cursor.fetchone()[0]:
                    return
            time.sleep(0.01)

    def late(self, statement, after):
        """Ends a statement by KILL after `after` seconds, or by its timeout if `after` is None. Returns the seconds that it was
        late, minus those of a sleeping statement, and its error; None if it ended by itself."""
        timed = {} if after is not None else {"max_statement_time": TIME}
        changed = {"autocommit": 0, "max_recursive_iterations": 4294967295}
        connection, sleeping = self.connect(**timed, **changed), self.connect(**timed)
        if timed:
            after = TIME
        statements = [Statement(connection, statement), Statement(sleeping, "SELECT SLEEP(100)")]
        begun = time.monotonic()
        [one.start() for one in statements]
        statements[0].join(after)
        self.wait_for(statements[0])
        running, due = statements[0].is_alive(), begun + after
        if not timed:
            due = time.monotonic()
            for one in statements:
                self.killer.query(f"KILL QUERY {one.number}")
        statements[0].join(60)
        while statements[1].is_alive():
            # The sleeping statement may not have begun when it was killed.
            self.killer.query(f"KILL QUERY {statements[1].number}")
            statements[1].join(0.1)
        if statements[0].is_alive():
            raise AssertionError(f"goes on 60 s after it was to end: {statement[:200]}")
        late, base = (one.ended - due for one in statements)
        if statements[0].result == 1815:
            self.failures.append(f"internal error by {statement[:200]}")
        with contextlib.suppress(pymysql.MySQLError, OSError):
            connection.query("ROLLBACK")
            connection.close()
        sleeping.close()
        return (late - max(base, 0), statements[0].result) if running else None

    def judge(self, name, statement):
        """Ends the statement at several moments; a late end is tried again."""
        least = None
        for how in (None, 0.02, self.rng.uniform(0.02, 1.0)):
            # A statement's time begins when it has been read.
            if how is None and len(statement) > LONG_TEXT:
                continue
            tries, limit = [], LATE + ((how or TIME) if name.startswith(UNDONE) else 0)
            for _ in range(TRIES):
                got = self.late(self.text(statement), how)
                if got is None:
                    break
                tries.append(got)
                if got[0] <= limit:
                    break
            if tries:
                late, code = min(tries, key=lambda one: one[0])
                least = max(least or 0.0, late)
                if late > limit:
                    what = "its time" if how is None else f"KILL at {how:.2f} s"
                    self.failures.append(f"{name}: {late:.2f} s after {what} ({code})")
                    print("FAILED", self.failures[-1], flush=True)
        if least is not None:
            self.worst.append((least, name))
        if os.environ.get("VERBOSE"):
            print(name, least if least is None else f"{least * 1000:.0f} ms", flush=True)

    def prepare(self):
        connection = self.server.connect()
        for statement in (*SETUP, *(statement for table in TABLES.values() for statement in table)):
            connection.query(statement)
        connection.query(f"SELECT * FROM big INTO OUTFILE '{self.files}/rows'")
        self.made = {table: self.seen(connection, table) for table in TABLES}
        connection.close()

    @staticmethod
    def seen(connection, table):
        """Returns a table's definition and the number of its rows."""
        connection.query(f"SHOW CREATE TABLE {table}")
        definition = connection._result.rows[0][1]
        connection.query(f"SELECT COUNT(*) FROM {table}")
        return definition, connection._result.rows[0][0]

    def restore(self):
        """Undoes the changes of a statement that ran to its end."""
        connection = self.connect()
        connection.query("UNLOCK TABLES")
        for kind in ("TABLE", "VIEW", "PROCEDURE"):
            connection.query(f"DROP {kind} IF EXISTS made")
        for table, statements in TABLES.items():
            if self.seen(connection, table) != self.made[table]:
                for statement in (f"DROP TABLE {table}", *statements):
                    connection.query(statement)
        connection.close()


def shaped(rng):
    """Returns shapes of deep.py, as large as a packet allows."""
    for kind, every in (("expression", shapes.EXPRESSIONS), ("query", shapes.QUERIES), ("program", shapes.PROGRAMS)):
        for name, shape in every.items():
            number = rng.choice((1280, 10_240, 100_000))
            text = shape(number)
            if kind == "expression":
                place = rng.choice(("SELECT {}", "SELECT {} FROM t", "SELECT COUNT(*) FROM t WHERE {}", "SELECT a FROM t ORDER BY {}",
                                    "SELECT COUNT(*) FROM t GROUP BY {}", "UPDATE t SET a={} WHERE a<0", "EXPLAIN EXTENDED SELECT {} FROM t"))
                text = place.replace("{}", text)
            elif kind == "program":
                text = f"BEGIN NOT ATOMIC {text} END"
            if len(text) < PACKET - 1024:
                yield f"{kind} {name} {number}", text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    rng = random.Random(options.seed)
    server = Server(options.binary, options=["--innodb-buffer-pool-size=64M", "--secure-file-priv="]).start()
    until = time.monotonic() + options.seconds
    try:
        ends = Ends(server, rng)
        ends.prepare()
        cases = [(f"{family} {name}", text) for family, every in FAMILIES.items() for name, text in every.items()]
        cases = [case for case in cases + list(shaped(rng)) if options.only in case[0]]
        rng.shuffle(cases)
        done = 0
        for name, statement in cases:
            if time.monotonic() > until:
                break
            ends.judge(name, statement)
            if name.startswith(UNDONE):
                ends.restore()
            done += 1
        server.stop()
    finally:
        server.remove()
    print(f"{done} statements; last to end: " + ", ".join(f"{name} {late * 1000:.0f} ms" for late, name in sorted(ends.worst)[:-6:-1]))
    if ends.failures:
        raise SystemExit("\n".join(ends.failures))


if __name__ == "__main__":
    main()
