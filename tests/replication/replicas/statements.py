"""Statements in the log of a MariaDB primary (STATEMENT and MIXED), with all that a statement takes from its session."""

import re
import subprocess

from . import compare, report
from .chain import LEDGER, SAFE, Writers, lost, savepoints
from .load import SCRIPTS, expected_errors, finish, run_script

CHECKS = ["statement_format", "mixed_format", "scripts_in_mixed_format", "session_context", "character_sets", "temporary_tables", "events_of_the_primary", "time_of_statements", "view_in_latin1", "load_in_statements",
          "load_of_statements", "formats_change", "bytes_of_files"]
TEXTS = """-- errors: 1062
CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a VARCHAR(60), b DOUBLE, c INT, d DATETIME(6), e DECIMAL(20,6), KEY (c));
INSERT INTO t (a, b) VALUES ('rand', RAND()), ('rand', RAND()); INSERT INTO t (a, c) VALUES ('last', LAST_INSERT_ID()); UPDATE t SET b = RAND() * 5 WHERE id = 2;
SET @s = 'v\\'q', @i = -5, @u = 18446744073709551615, @r = 1.5e10, @d = -12345.678, @n = NULL, @`odd name` = _latin1'\xe9', @b = x'00ff', @l = REPEAT('l', 3000);
INSERT INTO t (a, b, c, e) VALUES (@s, @r, @i, @d), (CONCAT(@u, @n), @u, NULL, NULL), (@`odd name`, NULL, @n, @i + @d), (HEX(@b), LENGTH(@l), @i, @d * 2);
SET timestamp = 1700000000.654321; INSERT INTO t (a, d) VALUES ('stamp', NOW(6)), (UNIX_TIMESTAMP(), CURRENT_TIMESTAMP(3)), (CURDATE(), UTC_TIMESTAMP(6)); SET timestamp = DEFAULT;
INSERT INTO t (a, d) VALUES ('now', NOW(6)), (CURTIME(6), NOW()); UPDATE t SET d = NOW(6) WHERE a = 'last';
SET insert_id = 500; INSERT INTO t (a) VALUES ('insert id'), ('next'); SET auto_increment_increment = 10, auto_increment_offset = 7; INSERT INTO t (a) VALUES ('step'), ('step'); SET auto_increment_increment = 1, auto_increment_offset = 1;
CREATE TABLE nul (id INT PRIMARY KEY AUTO_INCREMENT, a INT); INSERT INTO nul (a) VALUES (1);
SET sql_mode = ''; INSERT INTO t (a, c) VALUES (REPEAT('long', 40), 99999999999), ('zero', 'abc'); SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'; INSERT INTO t (id, a) VALUES (0, 'zero id'); SET sql_mode = DEFAULT;
SET sql_mode = 'PIPES_AS_CONCAT,ANSI_QUOTES'; INSERT INTO t ("a") VALUES ('p' || 'q'); SET sql_mode = DEFAULT;
SET lc_time_names = 'de_DE'; INSERT INTO t (a) VALUES (DATE_FORMAT('2020-03-01', '%M %W')); SET lc_time_names = 'en_US';
SET time_zone = '+02:00'; CREATE TABLE ts (id INT PRIMARY KEY, a TIMESTAMP NULL, b DATETIME, c VARCHAR(40)); INSERT INTO ts VALUES (1, '2020-06-01 12:00:00', NOW(), FROM_UNIXTIME(1600000000));
SET time_zone = '-07:30'; INSERT INTO ts VALUES (2, NOW(), '2020-01-01', UNIX_TIMESTAMP('2020-01-01 00:00:00')); UPDATE ts SET a = '2021-01-01 00:00:00' WHERE id = 1; SET time_zone = 'SYSTEM'; INSERT INTO ts VALUES (3, '2020-06-01 12:00:00', FROM_UNIXTIME(5), '');
SET foreign_key_checks = 0; CREATE TABLE c (a INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (a) ON DELETE CASCADE); INSERT INTO c VALUES (1, 1); CREATE TABLE p (a INT PRIMARY KEY); SET foreign_key_checks = 1; INSERT INTO p VALUES (1), (2); INSERT INTO c VALUES (2, 2); DELETE FROM p WHERE a = 1;
CREATE TABLE l (n INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(60)); CREATE TRIGGER tr BEFORE UPDATE ON ts FOR EACH ROW SET NEW.c = CONCAT('t', OLD.id); UPDATE ts SET b = '2000-01-01' WHERE id > 1;
DELIMITER //
CREATE PROCEDURE p1(x INT, y VARCHAR(20)) BEGIN DECLARE v DATETIME DEFAULT '2001-02-03 04:05:06'; INSERT INTO l (a) VALUES (CONCAT(x, y)); SET x = x + 1; UPDATE t SET c = x, d = v WHERE a = y; IF x > 3 THEN DELETE FROM l WHERE a = '1y'; END IF; END//
CREATE FUNCTION f1(x INT) RETURNS INT DETERMINISTIC BEGIN RETURN x * 3; END//
CREATE FUNCTION f2(x INT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO p VALUES (x); RETURN x; END//
DELIMITER ;
CALL p1(1, 'y'); CALL p1(5, 'last'); SET @q = 'from var'; CALL p1(2, @q); INSERT INTO t (a, c) VALUES ('func', f1(14)); SELECT f2(40), f2(41); SET @x = f2(42);
PREPARE s FROM 'INSERT INTO t (a, c, b) VALUES (?, ?, ?)'; SET @a = 'prep''d', @b = 7, @c = 0.25; EXECUTE s USING @a, @b, @c; EXECUTE s USING @c, NULL, @b;
CREATE VIEW v AS SELECT id, a, c FROM t WHERE c > 5 WITH CHECK OPTION; UPDATE v SET a = 'through view' ORDER BY id; INSERT INTO v (a, c) VALUES ('into view', 77);
BEGIN; INSERT INTO t (a) VALUES ('in'); SAVEPOINT `s``p`; INSERT INTO t (a) VALUES ('out'); ROLLBACK TO `s``p`; UPDATE t SET c = 1 WHERE a = 'in'; COMMIT; BEGIN; DELETE FROM t; ROLLBACK;
CREATE TABLE my (a INT PRIMARY KEY, b INT) ENGINE=MyISAM; INSERT INTO my VALUES (1, 1), (2, 2); BEGIN; INSERT INTO my VALUES (3, 3); INSERT INTO t (a) VALUES ('undone'); ROLLBACK; INSERT INTO my VALUES (4, 4), (1, 1), (5, 5); BEGIN; INSERT INTO t (a) VALUES ('kept'); UPDATE my SET b = 9 WHERE a = 2; COMMIT;
UPDATE t, my SET t.c = my.b, my.b = my.b + 1 WHERE t.id = my.a; DELETE t FROM t JOIN my ON my.a = t.id WHERE my.a = 1; INSERT INTO my SELECT id + 100, c FROM t WHERE id < 5; REPLACE INTO my VALUES (2, 20); INSERT INTO my VALUES (2, 1) ON DUPLICATE KEY UPDATE b = b + 100;
CREATE TABLE cs SELECT id, a FROM t ORDER BY id LIMIT 3; CREATE TABLE cs2 (k INT AUTO_INCREMENT PRIMARY KEY) SELECT a FROM cs; TRUNCATE cs; INSERT INTO cs SELECT k, a FROM cs2; DELETE FROM cs ORDER BY id LIMIT 1; UPDATE cs SET a = 'lim' ORDER BY id DESC LIMIT 1;
INSERT INTO l (a) VALUES (LENGTH(UUID()) = 1), (CONNECTION_ID() = 0), (VERSION() = ''), (FOUND_ROWS() > 1000), (DATABASE()), (USER() = '');
XA START 'st'; INSERT INTO t (a) VALUES ('xa'); XA END 'st'; XA PREPARE 'st'; XA COMMIT 'st'; XA START 'st2'; INSERT INTO t (a) VALUES ('gone'); XA END 'st2'; XA PREPARE 'st2'; XA ROLLBACK 'st2';
SET check_constraint_checks = 0; CREATE TABLE ck (a INT CHECK (a > 5)); INSERT INTO ck VALUES (1); SET check_constraint_checks = 1;
CREATE DATABASE IF NOT EXISTS other_db; CREATE TABLE other_db.x (a INT); INSERT INTO other_db.x VALUES (LAST_INSERT_ID() > 0); USE other_db; INSERT INTO x VALUES (5); INSERT INTO d.l (a) VALUES (DATABASE()); DROP TABLE x; USE d; DROP DATABASE other_db;
"""
# STATEMENT refuses them.
SEQUENCES = """CREATE SEQUENCE sq; INSERT INTO t (a, c) VALUES ('seq', NEXTVAL(sq)), ('seq', NEXTVAL(sq)); SELECT SETVAL(sq, 50); INSERT INTO nul (a) SELECT NEXTVAL(sq) FROM cs;
"""


def from_mariadb(check):
    """Selkie logs rows for some of them; a MariaDB between two others logs failed statements wrongly itself."""
    check.wants = lambda topology: topology[0] == "M" and "M" not in topology[1:-1]
    return check


def under_format(chain, name, how):
    """All texts in a format, to replicas whose own settings are others."""
    for node in chain.followers:
        node.rows("SET GLOBAL time_zone='+05:30'", "SET GLOBAL sql_mode=''", "SET GLOBAL collation_server='latin1_swedish_ci'")
    chain.primary.rows(f"SET GLOBAL binlog_format={name}")
    chain.follow(how)
    run_script(chain, TEXTS + (SEQUENCES if name == "MIXED" else ""), name)
    finish(chain, f"statements in format {name}")


@from_mariadb
def statement_format(chain):
    """binlog_format=STATEMENT."""
    under_format(chain, "STATEMENT", "position")


@from_mariadb
def mixed_format(chain):
    """binlog_format=MIXED."""
    under_format(chain, "MIXED", "gtid")


@from_mariadb
def scripts_in_mixed_format(chain):
    """The scripts of the row format, with statements where MariaDB takes them."""
    chain.primary.rows("SET GLOBAL binlog_format=MIXED")
    chain.follow()
    for path in SCRIPTS:
        text = path.read_text()
        run_script(chain, text, path.stem)
        if not finish(chain, f"{path.stem} ({expected_errors(text)})"):
            break


@from_mariadb
def session_context(chain):
    """What a session has set is known to each statement, and only to it."""
    chain.primary.rows("SET GLOBAL binlog_format=STATEMENT")
    chain.follow()
    primary = chain.primary
    primary.rows("CREATE DATABASE d CHARACTER SET latin1 COLLATE latin1_bin", "CREATE DATABASE `e-f`", "CREATE TABLE d.t (a INT, b VARCHAR(60) CHARACTER SET utf8mb4)")
    settings = ("sql_mode=''", "sql_mode='STRICT_ALL_TABLES,NO_ZERO_DATE'", "time_zone='+09:00'", "collation_connection=utf8mb4_bin", "character_set_client=latin1",
                "collation_server=koi8r_bin", "collation_database=ucs2_bin", "auto_increment_increment=3", "foreign_key_checks=0", "timestamp=5.000001",
                "lc_time_names='ru_RU'", "sql_auto_is_null=1", "explicit_defaults_for_timestamp=0", "rand_seed1=5, rand_seed2=7", "insert_id=44")
    for number, setting in enumerate(settings):
        primary.rows("USE d", f"SET {setting}", f"CREATE TABLE t{number} (id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(40) CHARACTER SET utf8mb4, t TIMESTAMP, e CHAR(3))",
                     f"INSERT INTO t{number} (a) VALUES (DATE_FORMAT(FROM_UNIXTIME(1600000000), '%H %M')), (IF('a' = 'A', 'ci', 'bin')), (RAND()), (NOW(3))",
                     f"INSERT INTO t VALUES ({number}, CONCAT(UNIX_TIMESTAMP('2020-01-01 00:00:00'), COLLATION('x'), @@lc_time_names))", "USE `e-f`",
                     f"CREATE TABLE u{number} (a CHAR(5))", "INSERT INTO d.t VALUES (-1, DATABASE())")
        primary.rows("INSERT INTO d.t VALUES (1000, CONCAT(IF('a' = 'A', 'ci', 'bin'), UNIX_TIMESTAMP('2020-01-01 00:00:00')))", database="d")
    finish(chain, "settings of sessions")


@from_mariadb
def character_sets(chain):
    """Texts in the character sets of their clients."""
    chain.primary.rows("SET GLOBAL binlog_format=STATEMENT")
    chain.follow()
    text = ("CREATE TABLE t{0} (a VARCHAR(20) CHARACTER SET utf8mb4, b VARCHAR(20) CHARACTER SET latin1, c VARCHAR(20) CHARACTER SET cp1251, d BLOB, "
            "`{1}` INT COMMENT '{1}'); INSERT INTO t{0} VALUES ('{1}', {2}, {3}, '{1}', 1); SET @v = '{1}'; INSERT INTO t{0} (a) VALUES (@v); "
            "CREATE VIEW v{0} AS SELECT '{1}' AS x; UPDATE t{0} SET a = CONCAT(a, '{1}') WHERE a = '{1}'; CREATE PROCEDURE p{0}() SELECT '{1}'; "
            "INSERT INTO t{0} (a) VALUES (_latin1 x'e9'), (CONVERT('{1}' USING utf16)); ALTER TABLE t{0} ADD e ENUM('{1}', 'b') DEFAULT '{1}';")
    chain.primary.rows("CREATE DATABASE d")
    for charset, encoding, letters in (("latin1", "cp1252", "\u00e9\u00df"), ("utf8mb4", "utf-8", "\u00e9\u0436\u20ac"), ("cp1251", "cp1251", "\u0436\u0424"),
                                       ("utf8mb3", "utf-8", "\u00e4\u0434"), ("gbk", "gbk", "\u4e2d\u6587"), ("sjis", "shift_jis", "\u8868\u793a"),
                                       ("koi8r", "koi8_r", "\u0429")):
        script = text.format(charset, letters, f"'{letters}'" if charset == "latin1" else "'x'", f"'{letters}'" if charset == "cp1251" else "'y'")
        errors, said = chain.primary.script(script.encode(encoding), "d", charset)
        report.same(f"errors in {charset}", (errors, said), ([], ""))
    finish(chain, "texts in character sets")


def view_in_latin1(chain):
    """A view keeps the character set of its client."""
    chain.follow()
    chain.primary.rows("CREATE DATABASE d", "SET NAMES latin1", "CREATE VIEW d.v AS SELECT 'e' AS x")
    finish(chain, "a view in latin1")


# Selkie logs texts in UTF-8.
view_in_latin1.wants = lambda topology: topology[0] == "M" and "S" not in topology[:-1]


def temporary_tables(chain):
    """Temporary tables in the log: they belong to the primary's session, also over STOP SLAVE."""
    chain.primary.rows("SET GLOBAL binlog_format=STATEMENT")
    chain.follow()
    node, primary = chain.replica, chain.primary
    primary.rows("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY, b INT)")
    connection, other = primary.connect(database="d"), primary.connect(database="d")
    with connection, other:
        one, two = connection.cursor(), other.cursor()
        for cursor, number in ((one, 1), (two, 2)):
            cursor.execute("CREATE TEMPORARY TABLE tmp (a INT PRIMARY KEY, b INT)")
            cursor.execute(f"INSERT INTO tmp VALUES ({number}, {number}), ({number + 10}, 0)")
        one.execute("INSERT INTO t SELECT * FROM tmp")
        two.execute("INSERT INTO t SELECT * FROM tmp WHERE b > 0")
        chain.catch_up()
        report.same("Slave_open_temp_tables", node.rows("SHOW GLOBAL STATUS LIKE 'Slave_open_temp_tables'"), [("Slave_open_temp_tables", "2")])
        chain.stop()
        chain.start()
        one.execute("UPDATE tmp SET b = 100")
        one.execute("ALTER TABLE tmp ADD c INT DEFAULT 5")
        one.execute("INSERT INTO t SELECT a + 20, b + c FROM tmp")
        one.execute("CREATE TEMPORARY TABLE t (x INT)")
        one.execute("INSERT INTO t VALUES (1)")
        one.execute("DROP TEMPORARY TABLE t")
        one.execute("CREATE TABLE kept LIKE tmp")
        two.execute("RENAME TABLE tmp TO tmp2")
        two.execute("INSERT INTO t SELECT a + 40, b FROM tmp2")
    primary.rows("INSERT INTO d.t VALUES (99, 99)")
    chain.catch_up()
    compare.same_everything(chain)
    report.same("Slave_open_temp_tables at the end", node.rows("SHOW GLOBAL STATUS LIKE 'Slave_open_temp_tables'"), [("Slave_open_temp_tables", "0")])


def events_of_the_primary(chain):
    """An event of the primary does not run on replicas, whatever it says."""
    chain.follow()
    chain.primary.rows("CREATE DATABASE d", "USE d", "CREATE EVENT a ON SCHEDULE EVERY 1 DAY DO SELECT 1", "CREATE EVENT b ON SCHEDULE EVERY 1 DAY DISABLE DO SELECT 1",
                       "CREATE EVENT c ON SCHEDULE EVERY 1 DAY DISABLE ON SLAVE DO SELECT 1", "ALTER EVENT c DISABLE")
    chain.catch_up()
    status = "SELECT event_name, status FROM information_schema.events WHERE event_schema = 'd' ORDER BY 1"
    report.same("events", chain.replica.rows(status), [(name, "SLAVESIDE_DISABLED") for name in "abc"])


def time_of_statements(chain):
    """The log says how long a statement has taken."""
    chain.follow()
    chain.primary.rows("CREATE DATABASE d", "CREATE TABLE d.t (a INT)", "SET binlog_format=STATEMENT", "INSERT INTO d.t SELECT SLEEP(1.3)")
    file = f"{chain.primary.datadir}/{chain.primary.rows('SHOW MASTER STATUS')[0][0]}"
    lines = subprocess.run(["mariadb-binlog", "--no-defaults", file], capture_output=True, check=True, timeout=60).stdout.decode().splitlines()
    slept = next((at for at, line in enumerate(lines) if "SLEEP" in line), 0)
    head = next((line for line in reversed(lines[:slept]) if "exec_time=" in line), "")
    report.true("exec_time of 1 or 2", re.search(r"exec_time=[12]\b", head), head)
    chain.catch_up()


# A MariaDB between two others logs temporary tables wrongly itself.
temporary_tables.wants = lambda topology: "M" not in topology[1:-1]


@from_mariadb
def load_in_statements(chain):
    """LOAD DATA in the log as blocks of the file."""
    chain.primary.rows("SET GLOBAL binlog_format=STATEMENT")
    chain.follow()
    run_script(chain, """-- errors: 1062
CREATE TABLE t (a INT, b VARCHAR(100)); CREATE TABLE k (a INT PRIMARY KEY, b VARCHAR(100), c INT DEFAULT 4); CREATE TABLE my (a INT PRIMARY KEY, b VARCHAR(100)) ENGINE=MyISAM;
LOAD DATA LOCAL INFILE '$WORK/short.txt' INTO TABLE t (a, b); LOAD DATA INFILE '$WORK/load.txt' INTO TABLE t FIELDS TERMINATED BY '\\t' ESCAPED BY '' IGNORE 5 LINES (a, @b) SET b = UPPER(@b);
LOAD DATA INFILE '$WORK/twice.txt' REPLACE INTO TABLE k (a, b) SET c = a * 2; LOAD DATA INFILE '$WORK/twice.txt' IGNORE INTO TABLE k CHARACTER SET latin1 (a, b);
LOAD DATA INFILE '$WORK/twice.txt' INTO TABLE my (a, b);
SET sql_mode = ''; LOAD DATA LOCAL INFILE '$WORK/load.txt' REPLACE INTO TABLE k CHARACTER SET utf8mb4 FIELDS TERMINATED BY 'i' OPTIONALLY ENCLOSED BY 'e' LINES STARTING BY '1' (b, a); SET sql_mode = DEFAULT;
BEGIN; LOAD DATA INFILE '$WORK/short.txt' INTO TABLE t; INSERT INTO t VALUES (0, 'same group'); COMMIT; BEGIN; LOAD DATA INFILE '$WORK/short.txt' INTO TABLE t; ROLLBACK; INSERT INTO t VALUES (0, 'end');
""", "load")
    finish(chain, "LOAD DATA in statements")


def texts_load(cursor, writer, at):
    cursor.execute("INSERT INTO led.txt (s) VALUES (CONCAT(RAND(), NOW(6), %s))", (at,))
    cursor.execute("SET @v = %s", (at,))
    cursor.execute("BEGIN")
    cursor.execute("INSERT INTO led.ledger VALUES (%s, @v)", (writer,))
    cursor.execute("UPDATE led.hot SET n = n + @v WHERE id = %s", (writer % 2,))
    cursor.execute("COMMIT")


@from_mariadb
def load_of_statements(chain):
    """Sessions at once, statements in the log; the replica stops and starts."""
    chain.primary.rows("SET GLOBAL binlog_format=STATEMENT")
    chain.follow("position")
    chain.primary.script(LEDGER)
    with Writers(chain.primary, [*SAFE, savepoints, texts_load]) as writers:
        for _ in range(4):
            for node in chain.followers:
                node.rows("STOP SLAVE", "START SLAVE")
    report.same("errors of the sessions", writers.errors, [])
    report.same("rows that the primary has lost", lost(writers), [])
    chain.catch_up()
    compare.same_everything(chain, "led")


@from_mariadb
def formats_change(chain):
    """Sessions of all formats on the same tables."""
    chain.follow()
    chain.primary.rows("CREATE DATABASE d", "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(30), b DOUBLE)")
    for number in range(30):
        chain.primary.rows(f"SET binlog_format={('ROW', 'STATEMENT', 'MIXED')[number % 3]}", f"INSERT INTO d.t (a, b) VALUES ('x{number}', RAND())",
                           f"UPDATE d.t SET b = b + {number} WHERE id % 7 = {number % 7}", f"DELETE FROM d.t WHERE id = {number - 5}")
    finish(chain, "formats that change")


@from_mariadb
def bytes_of_files(chain):
    """Statements with bytes that are no text: binary strings, NUL, quotes, long ones."""
    chain.primary.rows("SET GLOBAL binlog_format=STATEMENT")
    chain.follow()
    primary = chain.primary
    primary.rows("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY, b LONGBLOB)")
    connection = primary.connect(charset="latin1")
    with connection, connection.cursor() as cursor:
        for number, value in enumerate((bytes(range(256)), b"\0", b"'\"\\\n\r\x1a", b"\xff" * 70000, "\u00e9\u0436".encode())):
            cursor.execute("INSERT INTO d.t VALUES (%s, %s)", (number, value))
            cursor.execute("SET NAMES binary")
            cursor.execute(b"INSERT INTO d.t VALUES (%d, x'%s')" % (number + 100, value.hex().encode()))
            cursor.execute("SET NAMES latin1")
    finish(chain, "bytes")
