#!/usr/bin/env python3
"""Gives binary logs of MariaDB to Selkie as `mariadb-binlog | mariadb` does, and compares the tables of both.

usage: replay.py SELKIE [NAME ...]     without a NAME: all scripts

The scripts are those of tests/replication/binlog, the scenarios of scenarios.py that are in row format, and those below.
Each runs on MariaDB in an empty database d, once for every row image. Then Selkie gets the log, and its tables have to
have MariaDB's rows. Of the scripts below the counters of automatic values are compared too; others use values up that
no row has. 150 s.
"""
import difflib
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
from binlog_beside_mariadb import MODE, client, rows, run_scripts, tables  # noqa: E402
from scenarios import SCENARIOS, TYPES  # noqa: E402

IMAGES = ("FULL", "MINIMAL", "NOBLOB")
# Selkie has no geometry.
PLAIN_TYPES = TYPES.replace(" g POINT,", "").replace(",uu,g)", ",uu)").replace(",POINT(1,2))", ")")

SCRIPTS = {
    "types": PLAIN_TYPES + """
INSERT INTO ty(id) VALUES(2),(3);
UPDATE ty SET vc='new', de=de+1, bt=b'1', e=3, st=7, ti3='-00:00:00.001', gv=DEFAULT WHERE id=1;
UPDATE ty SET c5='', bi=x'ff', uu='ffffffff-0000-4000-8000-000000000000', ts6='2001-02-03 04:05:06.000007' WHERE id=2;
UPDATE ty SET t1=NULL, b=NULL, lt=NULL, y=NULL, i=NULL; DELETE FROM ty WHERE id=3; INSERT INTO ty SELECT 4,t1,t1u,s,m,i,b,f,
 db,de,de2,de3,bt,bt8,bt1,bt64,dt,y,ti,ti3,ti6,dt0,dt1,dt6,ts0,ts3,ts6,c5,cu,vc,vl,bi,vb,tt,tx,mt,lt,e,st,js,i4,i6,uu,
 DEFAULT,DEFAULT,7 FROM ty WHERE id=1;
""",
    "no_keys": """
CREATE TABLE k(a INT, b VARCHAR(10), c DECIMAL(5,2)); INSERT INTO k VALUES(1,'x',1),(1,'x',1),(1,'x',1),(NULL,NULL,NULL),(NULL,NULL,NULL),(2,'y',0.5);
UPDATE k SET c=2 WHERE a=1 LIMIT 2; DELETE FROM k WHERE a IS NULL LIMIT 1; UPDATE k SET a=a+1; DELETE FROM k WHERE c=2 LIMIT 1;
CREATE TABLE bits(a BIT(3), b BIT(17)); INSERT INTO bits VALUES(1,2),(1,2),(7,131071); UPDATE bits SET b=b+1 WHERE a=1; DELETE FROM bits WHERE a=7;
CREATE TABLE floats(a FLOAT, b DOUBLE, t TEXT); INSERT INTO floats VALUES(0.1,0.1,'t'),(-0.0,1e300,''),(3.4e38,NULL,NULL); UPDATE floats SET t=concat(ifnull(t,''),'+'); DELETE FROM floats WHERE a=0;
""",
    "keys": """
CREATE TABLE t(id INT PRIMARY KEY, a INT, UNIQUE(a)); INSERT INTO t VALUES(1,1),(2,2),(3,3),(4,NULL),(5,NULL);
UPDATE t SET id=id+1 ORDER BY id DESC; UPDATE t SET id=id-1, a=a+10 ORDER BY id; UPDATE t SET a=NULL WHERE id=2; DELETE FROM t WHERE a IS NULL;
INSERT INTO t VALUES(9,9) ON DUPLICATE KEY UPDATE a=a+1; INSERT INTO t VALUES(9,0),(9,0),(9,0) ON DUPLICATE KEY UPDATE a=ifnull(a,0)+1;
INSERT INTO t VALUES(9,0),(1,0) ON DUPLICATE KEY UPDATE id=id+20; REPLACE INTO t VALUES(29,21),(3,21),(3,22);
CREATE TABLE u(a INT, b VARCHAR(10), c TEXT, UNIQUE(a,b)); INSERT INTO u VALUES(1,'x','1'),(1,NULL,'2'),(1,NULL,'3'),(NULL,'x','4'); UPDATE u SET c=concat(c,'!'); DELETE FROM u WHERE b IS NULL LIMIT 1;
CREATE TABLE i(a INT, b VARCHAR(10) COLLATE utf8mb4_general_ci, c INT, KEY(b), KEY(a)); INSERT INTO i VALUES(1,'a',1),(1,'A',2),(1,'a ',3),(NULL,NULL,4),(2,'a',1); UPDATE i SET c=c+1 WHERE a=1; DELETE FROM i WHERE b='a' LIMIT 2; UPDATE i SET a=3;
CREATE TABLE p(a VARCHAR(100), b TEXT, PRIMARY KEY(a(10)), KEY(b(5))); INSERT INTO p VALUES('one',repeat('b',20)),('two',repeat('b',21)); UPDATE p SET b=concat(b,'c'); UPDATE p SET a='three' WHERE a='two'; DELETE FROM p WHERE a='one';
CREATE TABLE ci(a VARCHAR(10) COLLATE utf8mb4_general_ci PRIMARY KEY, b INT); INSERT INTO ci VALUES('Key',1); UPDATE ci SET a='KEY'; UPDATE ci SET b=2; DELETE FROM ci WHERE a='key'; INSERT INTO ci VALUES('key',3);
CREATE TABLE d(a INT, b INT, PRIMARY KEY(a DESC, b)); INSERT INTO d VALUES(1,1),(1,2),(2,1); UPDATE d SET b=b+5; DELETE FROM d WHERE a=2;
CREATE TABLE lb(a BLOB, b INT, UNIQUE(a)); INSERT INTO lb VALUES('x',1),(repeat('y',5000),2),(NULL,3); UPDATE lb SET b=b+1; DELETE FROM lb WHERE a='x';
""",
    "generated": """
CREATE TABLE g(id INT PRIMARY KEY, a INT, v INT AS (a*2) VIRTUAL, s INT AS (a+1) STORED, vi INT AS (a-1) VIRTUAL, KEY(vi), t VARCHAR(20) AS (concat('t',a)) VIRTUAL UNIQUE);
INSERT INTO g(id,a) VALUES(1,1),(2,2),(3,NULL); UPDATE g SET a=a+10; UPDATE g SET id=id+1 ORDER BY id DESC; DELETE FROM g WHERE vi=11; SELECT count(*) FROM g WHERE vi=10;
CREATE TABLE h(a INT, v INT AS (a+1) VIRTUAL, s INT AS (v+1) STORED); INSERT INTO h(a) VALUES(1),(1),(2); UPDATE h SET a=3 WHERE a=1 LIMIT 1; DELETE FROM h WHERE a=2;
""",
    "counters": """
CREATE TABLE a(id INT PRIMARY KEY AUTO_INCREMENT, b INT); INSERT INTO a(b) VALUES(1),(2); INSERT INTO a VALUES(100,3); UPDATE a SET id=200 WHERE id=1; INSERT INTO a(b) VALUES(4); DELETE FROM a WHERE id=101;
CREATE SEQUENCE q START WITH 10 INCREMENT BY 5 CACHE 3; SELECT NEXTVAL(q),NEXTVAL(q),NEXTVAL(q),NEXTVAL(q); CREATE TABLE f(a INT DEFAULT NEXTVAL(q), b INT); INSERT INTO f(b) VALUES(1),(2); SELECT SETVAL(q,500);
""",
    "foreign": """
CREATE TABLE p(id INT PRIMARY KEY, u INT UNIQUE); CREATE TABLE c(id INT PRIMARY KEY, p INT, FOREIGN KEY(p) REFERENCES p(id) ON DELETE CASCADE ON UPDATE CASCADE);
CREATE TABLE n(id INT PRIMARY KEY, u INT, FOREIGN KEY(u) REFERENCES p(u) ON DELETE SET NULL ON UPDATE SET NULL); CREATE TABLE s(id INT PRIMARY KEY, up INT, FOREIGN KEY(up) REFERENCES s(id) ON DELETE CASCADE);
INSERT INTO p VALUES(1,1),(2,2),(3,3); INSERT INTO c VALUES(1,1),(2,1),(3,2); INSERT INTO n VALUES(1,1),(2,2),(3,3); INSERT INTO s VALUES(1,NULL),(2,1),(3,2),(4,4);
UPDATE p SET id=id+10 WHERE id=1; UPDATE p SET u=9 WHERE u=2; DELETE FROM p WHERE id=2; DELETE FROM p WHERE id=11; DELETE FROM s WHERE id=1;
SET foreign_key_checks=0; INSERT INTO c VALUES(50,999); DELETE FROM p; SET foreign_key_checks=1; SET unique_checks=0; INSERT INTO p VALUES(7,7); SET unique_checks=1;
""",
    "engines": """
CREATE TABLE m(a INT PRIMARY KEY, b VARCHAR(10)) ENGINE=MyISAM; CREATE TABLE t(a INT PRIMARY KEY, b VARCHAR(10)); CREATE TABLE r(a INT, b INT) ENGINE=Aria;
INSERT INTO m VALUES(1,'a'),(2,'b'); BEGIN; INSERT INTO t VALUES(1,'t'); INSERT INTO m VALUES(3,'c'); UPDATE t SET b='u'; COMMIT;
BEGIN; INSERT INTO t VALUES(2,'x'); INSERT INTO m VALUES(4,'d'); ROLLBACK; INSERT INTO r VALUES(1,1),(1,1); UPDATE r SET b=2 LIMIT 1; DELETE FROM r WHERE b=1; UPDATE m,t SET m.b='z', t.b='z' WHERE m.a=t.a;
CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW INSERT INTO r VALUES(new.a, -1); INSERT INTO t VALUES(10,'tr'),(11,'tr');
CREATE TRIGGER tu BEFORE UPDATE ON t FOR EACH ROW SET new.b=concat(new.b,'~'); UPDATE t SET b='w';
""",
    "many": """
CREATE TABLE b(id INT PRIMARY KEY, v VARCHAR(200), n INT, KEY(n)); INSERT INTO b SELECT seq, repeat(char(65+seq%26), seq%200), seq%7 FROM seq_1_to_5000;
UPDATE b SET v=concat(v,'+'), n=n+1 WHERE id%3=0; DELETE FROM b WHERE id%5=0; CREATE TABLE nk SELECT n, v FROM b WHERE id<800; UPDATE nk SET n=n+1; DELETE FROM nk WHERE n%2=0;
CREATE TABLE ni(n INT, v VARCHAR(200), KEY(n)) SELECT n, v FROM b WHERE id<600; UPDATE ni SET v='same'; DELETE FROM ni WHERE n=3;
CREATE TABLE blobs(a INT PRIMARY KEY, b LONGBLOB); INSERT INTO blobs VALUES(1,repeat('x',300000)),(2,''); UPDATE blobs SET b=concat(b,'y');
""",
}
# In statement format, of geometry, or of features that Selkie does not have.
LEFT_OUT = {"statements", "load_data", "load_blocks", "old_temporal", "types_plain", "types_metadata_full", "types_metadata_minimal",
            "image_noblob"}


def scripts():
    out = dict(SCRIPTS)
    for path in sorted((HERE / "binlog").glob("*.sql")):
        out[f"binlog_{path.stem}"] = path.read_text()
    for name, scenario in SCENARIOS.items():
        if name not in LEFT_OUT and "at_once" not in scenario:
            # What is not in row format cannot be replayed by rows alone.
            text = scenario.get("before", "") + ";" + scenario["text"]
            text = re.sub(r"SET binlog_format=STATEMENT;.*", "", text)
            # An ALTER in two parts is given to BINLOG as a statement.
            out[f"scenario_{name}"] = text.replace("SET binlog_alter_two_phase=1;", "")
    return out


def counters(port):
    return rows(port, "SELECT table_name, auto_increment FROM information_schema.tables WHERE table_schema='d' AND auto_increment IS NOT NULL ORDER BY 1")


def replay(reference, server):
    """Gives the files of the reference's log to the server. Returns what went wrong, or nothing."""
    names = [line.split("\t")[0] for line in rows(reference.port, "SHOW BINARY LOGS")]
    text = subprocess.run(["mariadb-binlog", "--no-defaults", *[f"{reference.root}/data/{name}" for name in names]],
                          capture_output=True, check=False)
    if text.returncode != 0:
        return f"mariadb-binlog: {text.stderr.decode()[-500:]}"
    run = subprocess.run(["mariadb", "--no-defaults", "-h127.0.0.1", f"-P{server.port}", "-uroot", "--binary-mode"],
                         input=text.stdout, capture_output=True, check=False)
    # A statement that failed for some accounts only fails again, and ends the replay: it is a script's last.
    return run.stderr.decode()[-500:] if run.returncode and b"ERROR 1396" not in run.stderr else ""


def check(reference, server, name, text, image):
    reset = "SET GLOBAL log_bin_compress=0; SET GLOBAL binlog_checksum=CRC32; SET GLOBAL binlog_row_metadata=NO_LOG;"
    client(reference.port, f"{reset} DROP DATABASE IF EXISTS d; SET GLOBAL sql_mode='{MODE}'; RESET MASTER;")
    client(server.port, f"DROP DATABASE IF EXISTS d; SET GLOBAL sql_mode='{MODE}'; RESET MASTER;")
    client(reference.port, f"SET binlog_row_image={image}; CREATE DATABASE d; USE d;\n{text}")
    wrong = replay(reference, server)
    mine, theirs = (tables(port) + (counters(port) if name in SCRIPTS else []) for port in (server.port, reference.port))
    if not wrong and mine == theirs:
        return True
    print(f"{name}, {image}: the tables differ (- MariaDB, + Selkie): {wrong}")
    print("\n".join(line[:300] for line in list(difflib.unified_diff(theirs, mine, lineterm="", n=1))[:30]))
    return False


def main():
    known = scripts()

    def check_all(server, reference, name):
        return all([check(reference, server, name, known[name], image) for image in IMAGES])

    run_scripts(sys.argv[1], sys.argv[2:] or list(known), check_all)


if __name__ == "__main__":
    main()
