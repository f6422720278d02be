"""The statements whose privileges are compared: kind, text, privileges needed, statement that undoes it.

A kind is a name of `crates/exec/src/required.rs`; `tests/privileges/kinds.txt` lists them. A need is
`PRIVILEGES@WHERE`: `*` for everything, a database, `database.table`, `proc:NAME` or `func:NAME`.
Statements that change nothing are marked `reads`; `rows` are compared where the answer itself depends
on privileges.
"""

from dataclasses import dataclass, field

A, B = "my_a", "my_b"

FIXTURE = f"""
DROP DATABASE IF EXISTS {B}; DROP DATABASE IF EXISTS {A}; CREATE DATABASE {A}; CREATE DATABASE {B};
CREATE TABLE {A}.p (id INT PRIMARY KEY, a INT, b INT, KEY ka (a)); INSERT INTO {A}.p VALUES (1, 1, 1), (2, 2, 2);
CREATE TABLE {A}.t (id INT PRIMARY KEY, a INT, b INT); INSERT INTO {A}.t VALUES (1, 1, 1), (2, 2, 2);
CREATE TABLE {A}.tt (id INT PRIMARY KEY, a INT); INSERT INTO {A}.tt VALUES (1, 1);
CREATE TABLE {B}.t (id INT PRIMARY KEY, a INT, b INT); INSERT INTO {B}.t VALUES (1, 1, 1), (3, 3, 3);
CREATE TRIGGER {A}.tr BEFORE INSERT ON {A}.tt FOR EACH ROW SET NEW.a = 5;
CREATE EVENT {A}.ev ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01' DO SELECT 1;
CREATE DEFINER=root@localhost VIEW {A}.vd AS SELECT id, a, b FROM {A}.t;
CREATE DEFINER=root@localhost SQL SECURITY INVOKER VIEW {A}.vi AS SELECT id, a, b FROM {A}.t;
CREATE SEQUENCE {A}.s; CREATE FUNCTION {A}.f() RETURNS INT RETURN 1; CREATE PROCEDURE {A}.pr() SELECT 1;
CREATE DEFINER=root@localhost PROCEDURE {A}.pd() SQL SECURITY DEFINER SELECT COUNT(*) FROM {A}.t;
CREATE DEFINER=root@localhost PROCEDURE {A}.pi() SQL SECURITY INVOKER SELECT COUNT(*) FROM {A}.t;
CREATE DEFINER=root@localhost FUNCTION {A}.fd() RETURNS INT SQL SECURITY DEFINER RETURN (SELECT COUNT(*) FROM {A}.t);
CREATE DEFINER=root@localhost FUNCTION {A}.fi() RETURNS INT SQL SECURITY INVOKER RETURN (SELECT COUNT(*) FROM {A}.t);
CREATE VIEW {A}.vf AS SELECT {A}.fi() AS n;
CREATE DATABASE IF NOT EXISTS other_db; CREATE OR REPLACE TABLE other_db.z (z INT);
CREATE OR REPLACE TABLE other_db.k (z INT PRIMARY KEY, b INT UNIQUE);
"""


@dataclass
class Case:
    kind: str
    sql: str
    needs: list = field(default_factory=list)
    reads: bool = False
    rows: bool = False
    undo: list = field(default_factory=list)
    before: list = field(default_factory=list)
    direct: bool = False  # Not allowed inside programs.


CASES = []


def case(kind, sql, *needs, **options):
    CASES.append(Case(kind, sql, list(needs), **options))


def read(kind, sql, *needs, **options):
    case(kind, sql, *needs, reads=True, **options)


def shown(kind, sql, *needs, **options):
    case(kind, sql, *needs, reads=True, rows=True, **options)


t, t2, p, vd, vi = f"{A}.t", f"{B}.t", f"{A}.p", f"{A}.vd", f"{A}.vi"

# Reading.
read("query", f"SELECT id FROM {t}", f"SELECT@{t}")
read("query", f"SELECT b FROM {t}", f"SELECT@{t}")
read("query", f"SELECT * FROM {t}", f"SELECT@{t}")
read("query", f"SELECT COUNT(*) FROM {t}", f"SELECT@{t}")
read("query", f"SELECT 1 FROM {t} x JOIN {t2} y USING (id)", f"SELECT@{t}", f"SELECT@{t2}")
read("query", f"SELECT (SELECT MAX(b) FROM {t2})", f"SELECT@{t2}")
read("query", f"SELECT id FROM {t} FOR UPDATE", f"SELECT@{t}")
read("query", f"SELECT id FROM {t} WHERE EXISTS (SELECT 1 FROM {t2} WHERE b = 1)", f"SELECT@{t}", f"SELECT@{t2}")
read("query", f"WITH c AS (SELECT a FROM {t}) SELECT * FROM c", f"SELECT@{t}")
read("query", f"SELECT id FROM {t} UNION SELECT b FROM {t2}", f"SELECT@{t}", f"SELECT@{t2}")
read("query", f"SELECT id FROM {t} ORDER BY b", f"SELECT@{t}")
read("query", f"SELECT id FROM {vd}", f"SELECT@{vd}")
read("query", f"SELECT b FROM {vd}", f"SELECT@{vd}")
read("query", f"SELECT id FROM {vi}", f"SELECT@{vi}", f"SELECT@{t}")
read("query", f"SELECT b FROM {vi}", f"SELECT@{vi}", f"SELECT@{t}")
read("query", f"SELECT * FROM {A}.vf", f"SELECT@{A}.vf", f"EXECUTE@func:{A}.fi")
read("query", f"SELECT {A}.f()", f"EXECUTE@func:{A}.f")
read("query", f"SELECT {A}.fd()", f"EXECUTE@func:{A}.fd")
read("query", f"SELECT {A}.fi()", f"EXECUTE@func:{A}.fi", f"SELECT@{t}")
read("query", f"SELECT {A}.nosuch()", f"EXECUTE@{A}")
read("query", f"SELECT * FROM {A}.nosuch", f"SELECT@{A}.nosuch")
read("query", f"SELECT nosuch FROM {t}", f"SELECT@{t}")
read("query", "SELECT * FROM nodb.x", "SELECT@nodb.x")
case("query", f"SELECT NEXTVAL({A}.s)", f"INSERT@{A}.s", f"SELECT@{A}.s")
read("query", f"SELECT LASTVAL({A}.s)", f"SELECT@{A}.s")
case("query", f"SELECT SETVAL({A}.s, 50)", f"INSERT@{A}.s")
read("query", f"SELECT * FROM {A}.s", f"SELECT@{A}.s")
read("query", "SELECT LOAD_FILE('/nosuch/file')", "FILE@*")
read("query", "SELECT 1 INTO OUTFILE '/nosuch/place'", "FILE@*")
read("query", "SELECT 1 INTO @x")
read("query", f"VALUES (1), (2)")
read("query", f"SELECT DEFAULT(b) FROM {t}", f"SELECT@{t}")
read("query", "SELECT COUNT(*) FROM mysql.user", "SELECT@mysql.user")
read("query", "SELECT COUNT(*) > 0 FROM mysql.proc", "SELECT@mysql.proc")
read("query", "SELECT COUNT(*) > 0 FROM information_schema.INNODB_TRX", "PROCESS@*")
for name in ("BUFFER_PAGE", "CMP_PER_INDEX", "FT_CONFIG", "SYS_FOREIGN", "SYS_FOREIGN_COLS", "TABLESPACES_ENCRYPTION"):
    read("query", f"SELECT COUNT(*) >= 0 FROM information_schema.INNODB_{name}", "PROCESS@*")
read("query", "SELECT COUNT(*) >= 0 FROM information_schema.INNODB_FT_DEFAULT_STOPWORD")
# A unique key over a column on which there may be no privilege.
shown("query", "SELECT constraint_name, column_name FROM information_schema.key_column_usage WHERE table_schema = 'other_db' AND table_name = 'k' ORDER BY 1", "SELECT@other_db.k")
read("query", "SELECT COUNT(*) >= 0 FROM information_schema.CLIENT_STATISTICS", "PROCESS@*")
read("do", f"DO (SELECT MAX(a) FROM {t})", f"SELECT@{t}")
read("do", f"DO {A}.f()", f"EXECUTE@func:{A}.f")

# Changing rows.
case("insert", f"INSERT INTO {t} (id) VALUES (9)", f"INSERT@{t}")
case("insert", f"INSERT INTO {t} VALUES (9, 9, 9)", f"INSERT@{t}")
case("insert", f"INSERT INTO {t} (id, a) VALUES (9, 9) ON DUPLICATE KEY UPDATE a = 3", f"INSERT@{t}", f"UPDATE@{t}")
case("insert", f"INSERT INTO {t} (id, a) VALUES (9, 9) ON DUPLICATE KEY UPDATE a = a + 3", f"INSERT@{t}", f"UPDATE@{t}", f"SELECT@{t}")
case("insert", f"INSERT INTO {t} (id, a) VALUES (9, 9) ON DUPLICATE KEY UPDATE b = VALUES(a)", f"INSERT@{t}", f"UPDATE@{t}", f"SELECT@{t}")
case("insert", f"INSERT INTO {t} (id, a) SELECT id + 10, b FROM {t2}", f"INSERT@{t}", f"SELECT@{t2}")
case("insert", f"INSERT INTO {t} (id) VALUES (9) RETURNING id", f"INSERT@{t}", f"SELECT@{t}")
case("insert", f"INSERT INTO {t} (id) VALUES (9) RETURNING b", f"INSERT@{t}", f"SELECT@{t}")
case("insert", f"INSERT INTO {vd} (id) VALUES (9)", f"INSERT@{vd}")
case("insert", f"INSERT INTO {vi} (id) VALUES (9)", f"INSERT@{vi}", f"INSERT@{t}")
case("insert", f"INSERT INTO {A}.tt (id) VALUES (9)", f"INSERT@{A}.tt")
case("insert", f"REPLACE INTO {t} (id) VALUES (1)", f"INSERT@{t}", f"DELETE@{t}")
case("insert", f"REPLACE INTO {t} (id) SELECT id FROM {t2}", f"INSERT@{t}", f"DELETE@{t}", f"SELECT@{t2}")
case("insert", f"INSERT INTO {t} SET id = 9, a = DEFAULT(b)", f"INSERT@{t}", f"SELECT@{t}")
case("insert", f"INSERT INTO {A}.nosuch VALUES (1)", f"INSERT@{A}.nosuch")
case("update", f"UPDATE {t} SET a = 3", f"UPDATE@{t}")
case("update", f"UPDATE {t} SET b = 3", f"UPDATE@{t}")
case("update", f"UPDATE {t} SET a = a + 3", f"UPDATE@{t}", f"SELECT@{t}")
case("update", f"UPDATE {t} SET a = 3 WHERE id = 1", f"UPDATE@{t}", f"SELECT@{t}")
case("update", f"UPDATE {t} SET a = 3 ORDER BY b LIMIT 1", f"UPDATE@{t}", f"SELECT@{t}")
case("update", f"UPDATE {t} x JOIN {t2} y ON x.id = y.id SET x.a = y.b", f"UPDATE@{t}", f"SELECT@{t}", f"SELECT@{t2}")
case("update", f"UPDATE {t}, {t2} SET {t}.a = 1", f"UPDATE@{t}", f"SELECT@{t2}")
case("update", f"UPDATE {t} SET a = (SELECT MAX(b) FROM {t2})", f"UPDATE@{t}", f"SELECT@{t2}")
case("update", f"UPDATE {vd} SET a = 3", f"UPDATE@{vd}")
case("update", f"UPDATE {vi} SET a = 3", f"UPDATE@{vi}", f"UPDATE@{t}")
case("delete", f"DELETE FROM {t}", f"DELETE@{t}")
case("delete", f"DELETE FROM {t} WHERE id = 1", f"DELETE@{t}", f"SELECT@{t}")
case("delete", f"DELETE FROM {t} ORDER BY b LIMIT 1", f"DELETE@{t}", f"SELECT@{t}")
case("delete", f"DELETE FROM {t} RETURNING b", f"DELETE@{t}", f"SELECT@{t}")
case("delete", f"DELETE {t} FROM {t} JOIN {t2} USING (id)", f"DELETE@{t}", f"SELECT@{t}", f"SELECT@{t2}")
case("delete", f"DELETE FROM {t} USING {t}, {t2} WHERE {t2}.b = 1", f"DELETE@{t}", f"SELECT@{t2}")
case("delete", f"DELETE FROM {vd}", f"DELETE@{vd}")
case("delete", f"DELETE FROM {vi}", f"DELETE@{vi}", f"DELETE@{t}")
case("load data", f"LOAD DATA INFILE '/nosuch/file' INTO TABLE {t}", "FILE@*", f"INSERT@{t}")
case("load data", f"LOAD DATA INFILE '/nosuch/file' REPLACE INTO TABLE {t}", "FILE@*", f"INSERT@{t}", f"DELETE@{t}")
case("load data", f"LOAD DATA INFILE '/nosuch/file' INTO TABLE {t} (id, @x) SET b = @x", "FILE@*", f"INSERT@{t}", f"UPDATE@{t}")
case("truncate", f"TRUNCATE TABLE {t}", f"DROP@{t}")
case("truncate", f"TRUNCATE TABLE {A}.nosuch", f"DROP@{A}.nosuch")
case("truncate", f"TRUNCATE TABLE {vd}", f"DROP@{vd}")
read("call", f"CALL {A}.pr()", f"EXECUTE@proc:{A}.pr")
read("call", f"CALL {A}.pd()", f"EXECUTE@proc:{A}.pd")
read("call", f"CALL {A}.pi()", f"EXECUTE@proc:{A}.pi", f"SELECT@{t}")
read("call", f"CALL {A}.nosuch()", f"EXECUTE@{A}")
read("handler", f"HANDLER {t} OPEN", f"SELECT@{t}", direct=True)
read("handler", f"HANDLER {A}.nosuch OPEN", f"SELECT@{A}.nosuch", direct=True)

# Tables.
case("create table", f"CREATE TABLE {B}.n (a INT)", f"CREATE@{B}.n")
case("create table", f"CREATE TABLE {t} (a INT)", f"CREATE@{t}")
case("create table", f"CREATE TABLE IF NOT EXISTS {t} (a INT)", f"CREATE@{t}")
case("create table", f"CREATE OR REPLACE TABLE {t} (a INT)", f"CREATE@{t}", f"DROP@{t}")
case("create table", f"CREATE TABLE {B}.n LIKE {t}", f"CREATE@{B}.n", f"SELECT@{t}")
case("create table", f"CREATE OR REPLACE TABLE {B}.t LIKE {t}", f"CREATE@{t2}", f"DROP@{t2}", f"SELECT@{t}")
case("create table", f"CREATE TABLE {B}.n LIKE {A}.nosuch", f"CREATE@{B}.n", f"SELECT@{A}.nosuch")
case("create table", f"CREATE TABLE {B}.n SELECT a FROM {t}", f"CREATE@{B}.n", f"INSERT@{B}.n", f"SELECT@{t}")
case("create table", f"CREATE TABLE {B}.n SELECT 1", f"CREATE@{B}.n", f"INSERT@{B}.n")
case("create table", f"CREATE OR REPLACE TABLE {t2} SELECT b FROM {t}", f"CREATE@{t2}", f"INSERT@{t2}", f"DROP@{t2}", f"SELECT@{t}")
case("create table", f"CREATE TABLE IF NOT EXISTS {t2} SELECT id + 20 AS id FROM {t}", f"CREATE@{t2}", f"INSERT@{t2}", f"SELECT@{t}")
case("create table", f"CREATE TEMPORARY TABLE {B}.tmp (a INT)", f"CREATE TEMPORARY TABLES@{B}")
case("create table", f"CREATE TEMPORARY TABLE {B}.tmp LIKE {t}", f"CREATE TEMPORARY TABLES@{B}", f"SELECT@{t}")
case("create table", f"CREATE TEMPORARY TABLE {B}.tmp SELECT a FROM {t}", f"CREATE TEMPORARY TABLES@{B}", f"SELECT@{t}")
case("create table", f"CREATE OR REPLACE TEMPORARY TABLE {B}.tmp (a INT)", f"CREATE TEMPORARY TABLES@{B}")
case("create table", f"CREATE TABLE {B}.n (a INT, FOREIGN KEY (a) REFERENCES {p} (id))", f"CREATE@{B}.n", f"REFERENCES@{p}")
case("create table", f"CREATE TABLE {B}.n (a INT, b INT, FOREIGN KEY (b) REFERENCES {p} (a))", f"CREATE@{B}.n", f"REFERENCES@{p}")
case("create table", f"CREATE TABLE {B}.n (a INT DEFAULT (NEXTVAL({A}.s)))", f"CREATE@{B}.n", f"SELECT@{A}.s", f"INSERT@{A}.s")
case("create table", f"CREATE TABLE nodb.n (a INT)", "CREATE@nodb.n")
case("create table", f"CREATE TABLE information_schema.n (a INT)", "CREATE@*")
case("create table", f"CREATE TABLE {B}.n (a INT) ENGINE=MRG_MyISAM UNION=({t})", f"CREATE@{B}.n", f"SELECT@{t}", f"UPDATE@{t}", f"DELETE@{t}")
case("alter table", f"ALTER TABLE {t} ADD c INT", f"ALTER@{t}")
case("alter table", f"ALTER TABLE {t} ADD c INT, ADD KEY (a)", f"ALTER@{t}")
case("alter table", f"ALTER TABLE {A}.nosuch ADD c INT", f"ALTER@{A}.nosuch")
case("alter table", f"ALTER TABLE {t} RENAME {B}.n", f"ALTER@{t}", f"DROP@{t}", f"CREATE@{B}.n", f"INSERT@{B}.n")
case("alter table", f"ALTER TABLE {t} RENAME {A}.n", f"ALTER@{t}", f"DROP@{t}", f"CREATE@{A}.n", f"INSERT@{A}.n")
case("alter table", f"ALTER TABLE {t} RENAME {t}", f"ALTER@{t}", f"DROP@{t}", f"CREATE@{t}", f"INSERT@{t}")
case("alter table", f"ALTER TABLE {t} RENAME {t2}", f"ALTER@{t}", f"DROP@{t}", f"CREATE@{t2}", f"INSERT@{t2}")
case("alter table", f"ALTER TABLE {t} RENAME {B}.n, ADD c INT", f"ALTER@{t}", f"DROP@{t}", f"CREATE@{B}.n", f"INSERT@{B}.n")
case("alter table", f"ALTER TABLE {t} RENAME mysql.evil", f"ALTER@{t}", f"DROP@{t}", "CREATE@mysql.evil", "INSERT@mysql.evil", undo=["DROP TABLE IF EXISTS mysql.evil"])
case("alter table", f"ALTER TABLE {t} RENAME information_schema.evil", f"ALTER@{t}", f"DROP@{t}")
case("alter table", f"ALTER TABLE {A}.nosuch RENAME {B}.n", f"ALTER@{A}.nosuch", f"DROP@{A}.nosuch", f"CREATE@{B}.n", f"INSERT@{B}.n")
case("alter table", f"ALTER TABLE {t} RENAME COLUMN a TO c", f"ALTER@{t}")
case("alter table", f"ALTER TABLE {t} ADD FOREIGN KEY (a) REFERENCES {p} (id)", f"ALTER@{t}", f"REFERENCES@{p}")
case("alter table", f"ALTER TABLE {t} ADD c INT DEFAULT (NEXTVAL({A}.s))", f"ALTER@{t}", f"SELECT@{A}.s", f"INSERT@{A}.s")
case("alter table", f"ALTER TABLE {t} DISCARD TABLESPACE", f"ALTER@{t}")
case("alter table", f"ALTER TABLE {t} ORDER BY a", f"ALTER@{t}")
case("alter table", f"ALTER TABLE {t} FORCE", f"ALTER@{t}")
case("alter table", f"ALTER TABLE {t} DROP COLUMN b", f"ALTER@{t}")
case("create index", f"CREATE INDEX i ON {t} (a)", f"INDEX@{t}")
case("create index", f"CREATE OR REPLACE INDEX i ON {t} (a)", f"INDEX@{t}")
case("create index", f"CREATE INDEX i ON {A}.nosuch (a)", f"INDEX@{A}.nosuch")
case("drop index", f"DROP INDEX ka ON {p}", f"INDEX@{p}")
case("drop index", f"DROP INDEX nosuch ON {t}", f"INDEX@{t}")
case("drop tables", f"DROP TABLE {t}", f"DROP@{t}")
case("drop tables", f"DROP TABLE {t}, {t2}", f"DROP@{t}", f"DROP@{t2}")
case("drop tables", f"DROP TABLE {A}.nosuch", f"DROP@{A}.nosuch")
case("drop tables", f"DROP TABLE IF EXISTS {A}.nosuch", f"DROP@{A}.nosuch")
case("drop tables", f"DROP TEMPORARY TABLE {A}.nosuch")
case("drop tables", f"DROP VIEW {vd}", f"DROP@{vd}")
case("drop tables", f"DROP VIEW IF EXISTS {A}.nosuch", f"DROP@{A}.nosuch")
case("drop tables", f"DROP SEQUENCE {A}.s", f"DROP@{A}.s")
case("rename tables", f"RENAME TABLE {t} TO {B}.n", f"ALTER@{t}", f"DROP@{t}", f"CREATE@{B}.n", f"INSERT@{B}.n")
case("rename tables", f"RENAME TABLE {t} TO {t2}", f"ALTER@{t}", f"DROP@{t}", f"CREATE@{t2}", f"INSERT@{t2}")
case("rename tables", f"RENAME TABLE {t} TO {B}.n, {p} TO {B}.n2", f"ALTER@{t}", f"DROP@{t}", f"CREATE@{B}.n", f"INSERT@{B}.n", f"ALTER@{p}", f"DROP@{p}", f"CREATE@{B}.n2", f"INSERT@{B}.n2")
case("rename tables", f"RENAME TABLE {A}.nosuch TO {B}.n", f"ALTER@{A}.nosuch", f"DROP@{A}.nosuch", f"CREATE@{B}.n", f"INSERT@{B}.n")
case("rename tables", f"RENAME TABLE {vd} TO {A}.vn", f"ALTER@{vd}", f"DROP@{vd}", f"CREATE@{A}.vn", f"INSERT@{A}.vn")
case("create sequence", f"CREATE SEQUENCE {B}.n", f"CREATE@{B}.n")
case("create sequence", f"CREATE OR REPLACE SEQUENCE {A}.s", f"CREATE@{A}.s", f"DROP@{A}.s")
case("create sequence", f"CREATE TEMPORARY SEQUENCE {B}.n", f"CREATE TEMPORARY TABLES@{B}")
case("alter sequence", f"ALTER SEQUENCE {A}.s RESTART 5", f"ALTER@{A}.s")
case("create view", f"CREATE VIEW {B}.n AS SELECT 1 AS a", f"CREATE VIEW@{B}.n")
case("create view", f"CREATE VIEW {B}.n AS SELECT id FROM {t}", f"CREATE VIEW@{B}.n", f"SELECT@{t}")
case("create view", f"CREATE VIEW {B}.n AS SELECT id, b FROM {t}", f"CREATE VIEW@{B}.n", f"SELECT@{t}")
case("create view", f"CREATE VIEW {B}.n AS SELECT * FROM {vd}", f"CREATE VIEW@{B}.n", f"SELECT@{vd}")
case("create view", f"CREATE OR REPLACE VIEW {vd} AS SELECT id FROM {t}", f"CREATE VIEW@{vd}", f"DROP@{vd}", f"SELECT@{t}")
case("create view", f"CREATE VIEW IF NOT EXISTS {vd} AS SELECT id FROM {t}", f"CREATE VIEW@{vd}", f"SELECT@{t}")
case("create view", f"CREATE DEFINER=root@localhost VIEW {B}.n AS SELECT 1 AS a", f"CREATE VIEW@{B}.n", "SET USER@*")
case("create view", f"CREATE DEFINER=gone@nowhere VIEW {B}.n AS SELECT 1 AS a", f"CREATE VIEW@{B}.n", "SUPER@*")
case("create view", f"ALTER VIEW {vd} AS SELECT id FROM {t}", f"CREATE VIEW@{vd}", f"DROP@{vd}", f"SELECT@{t}", "SET USER@*")
case("create view", f"CREATE VIEW {B}.n AS SELECT {A}.f() AS a", f"CREATE VIEW@{B}.n", f"EXECUTE@func:{A}.f")
case("create database", "CREATE DATABASE my_n", "CREATE@my_n", undo=["DROP DATABASE IF EXISTS my_n"])
case("create database", f"CREATE DATABASE IF NOT EXISTS {A}", f"CREATE@{A}")
case("create database", f"CREATE OR REPLACE DATABASE {B}", f"CREATE@{B}", f"DROP@{B}")
case("alter database", f"ALTER DATABASE {A} CHARACTER SET latin1", f"ALTER@{A}")
case("alter database", f"ALTER DATABASE nodb CHARACTER SET latin1", "ALTER@nodb")
case("drop database", f"DROP DATABASE {B}", f"DROP@{B}")
case("drop database", f"DROP DATABASE IF EXISTS nodb", "DROP@nodb")

# Stored programs.
case("create routine", f"CREATE PROCEDURE {B}.n() SELECT 1", f"CREATE ROUTINE@{B}")
case("create routine", f"CREATE PROCEDURE {B}.n() SELECT * FROM {t}", f"CREATE ROUTINE@{B}")
case("create routine", f"CREATE FUNCTION {B}.n() RETURNS INT RETURN 1", f"CREATE ROUTINE@{B}")
case("create routine", f"CREATE OR REPLACE PROCEDURE {A}.pr() SELECT 2", f"CREATE ROUTINE@{A}", f"ALTER ROUTINE@proc:{A}.pr")
case("create routine", f"CREATE OR REPLACE FUNCTION {A}.f() RETURNS INT RETURN 2", f"CREATE ROUTINE@{A}", f"ALTER ROUTINE@func:{A}.f")
case("create routine", f"CREATE DEFINER=root@localhost PROCEDURE {B}.n() SELECT 1", f"CREATE ROUTINE@{B}", "SET USER@*")
case("create routine", f"CREATE DEFINER=gone@nowhere PROCEDURE {B}.n() SELECT 1", f"CREATE ROUTINE@{B}", "SET USER@*")
case("create routine", f"CREATE PROCEDURE IF NOT EXISTS {A}.pr() SELECT 1", f"CREATE ROUTINE@{A}")
case("create package", f"SET STATEMENT sql_mode=ORACLE FOR EXECUTE IMMEDIATE 'CREATE PACKAGE {B}.n AS PROCEDURE p; END'", f"CREATE ROUTINE@{B}")
case("create package", f"SET STATEMENT sql_mode=ORACLE FOR EXECUTE IMMEDIATE 'CREATE PACKAGE BODY {B}.nosuch AS PROCEDURE p AS BEGIN NULL; END; END'")
case("alter routine", f"ALTER PROCEDURE {A}.pr COMMENT 'c'", f"ALTER ROUTINE@proc:{A}.pr")
case("alter routine", f"ALTER FUNCTION {A}.f SQL SECURITY INVOKER", f"ALTER ROUTINE@func:{A}.f")
case("alter routine", f"ALTER PROCEDURE {A}.nosuch COMMENT 'c'", f"ALTER ROUTINE@{A}")
case("drop stored", f"DROP PROCEDURE {A}.pr", f"ALTER ROUTINE@proc:{A}.pr")
case("drop stored", f"DROP FUNCTION {A}.f", f"ALTER ROUTINE@func:{A}.f")
case("drop stored", f"DROP FUNCTION IF EXISTS {A}.nosuch", f"ALTER ROUTINE@{A}")
case("drop stored", f"DROP TRIGGER {A}.tr", f"TRIGGER@{A}.tt")
case("drop stored", f"DROP TRIGGER {A}.nosuch", f"TRIGGER@{A}")
case("drop stored", f"DROP TRIGGER IF EXISTS {A}.nosuch", f"TRIGGER@{A}")
case("drop stored", "DROP SERVER IF EXISTS nosuch", "FEDERATED ADMIN@*")
case("create trigger", f"CREATE TRIGGER {A}.tn BEFORE INSERT ON {t} FOR EACH ROW SET @x = 1", f"TRIGGER@{t}")
case("create trigger", f"CREATE TRIGGER {A}.tn BEFORE INSERT ON {t} FOR EACH ROW SET NEW.a = (SELECT MAX(a) FROM {t2})", f"TRIGGER@{t}")
case("create trigger", f"CREATE DEFINER=root@localhost TRIGGER {A}.tn BEFORE INSERT ON {t} FOR EACH ROW SET @x = 1", f"TRIGGER@{t}", "SET USER@*")
case("create trigger", f"CREATE OR REPLACE TRIGGER {A}.tr BEFORE INSERT ON {A}.tt FOR EACH ROW SET @x = 1", f"TRIGGER@{A}.tt")
case("create trigger", f"CREATE TRIGGER {A}.tn BEFORE INSERT ON {A}.nosuch FOR EACH ROW SET @x = 1", f"TRIGGER@{A}.nosuch")
EVERY = "ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01'"
case("create event", f"CREATE EVENT {A}.en {EVERY} DO SELECT 1", f"EVENT@{A}", undo=[f"DROP EVENT {A}.en"])
case("create event", f"CREATE DEFINER=root@localhost EVENT {A}.en {EVERY} DO SELECT 1", f"EVENT@{A}", "SET USER@*", undo=[f"DROP EVENT {A}.en"])
case("create event", f"CREATE EVENT IF NOT EXISTS {A}.ev {EVERY} DO SELECT 1", f"EVENT@{A}")
case("create event", f"CREATE OR REPLACE EVENT {A}.ev {EVERY} DO SELECT 2", f"EVENT@{A}")
case("alter event", f"ALTER EVENT {A}.ev DISABLE", f"EVENT@{A}")
case("alter event", f"ALTER DEFINER=root@localhost EVENT {A}.ev DISABLE", f"EVENT@{A}", "SET USER@*")
case("alter event", f"ALTER EVENT {A}.ev RENAME TO {B}.ev", f"EVENT@{A}", f"EVENT@{B}")
case("alter event", f"ALTER EVENT {A}.nosuch DISABLE", f"EVENT@{A}")
case("drop stored", f"DROP EVENT {A}.ev", f"EVENT@{A}")
case("drop stored", f"DROP EVENT {A}.nosuch", f"EVENT@{A}")
case("drop stored", f"DROP EVENT IF EXISTS {A}.nosuch", f"EVENT@{A}")
read("compound", f"BEGIN NOT ATOMIC SELECT b FROM {t}; END", f"SELECT@{t}", direct=True)
read("signal", "SIGNAL SQLSTATE '45000'")
read("get diagnostics", "GET DIAGNOSTICS @n = NUMBER")

# Prepared statements, locks, transactions.
read("prepare", f"PREPARE st FROM 'SELECT b FROM {t}'", f"SELECT@{t}", direct=True)
read("execute immediate", f"EXECUTE IMMEDIATE 'SELECT b FROM {t}'", f"SELECT@{t}", direct=True)
read("execute", "EXECUTE nosuch", direct=True)
read("deallocate", "DEALLOCATE PREPARE nosuch", direct=True)
read("lock tables", f"LOCK TABLES {t} READ", f"LOCK TABLES@{A}", f"SELECT@{t}", direct=True)
read("lock tables", f"LOCK TABLES {t} WRITE", f"LOCK TABLES@{A}", f"SELECT@{t}", direct=True)
read("lock tables", f"LOCK TABLES {t} READ, {t2} WRITE", f"LOCK TABLES@{A}", f"SELECT@{t}", f"LOCK TABLES@{B}", f"SELECT@{t2}", direct=True)
read("lock tables", f"LOCK TABLES {vd} READ", f"LOCK TABLES@{A}", f"SELECT@{vd}", direct=True)
read("lock tables", f"LOCK TABLES {vi} READ", f"LOCK TABLES@{A}", f"SELECT@{vi}", f"SELECT@{t}", direct=True)
read("lock tables", f"LOCK TABLES {A}.nosuch READ", f"LOCK TABLES@{A}", f"SELECT@{A}.nosuch", direct=True)
read("unlock tables", "UNLOCK TABLES", direct=True)
read("transaction", "START TRANSACTION", direct=True)
read("transaction", "COMMIT")
read("xa", "XA RECOVER", direct=True)
read("xa", "XA START 'x'", direct=True, undo=[])
read("use", f"USE {A}", f"SELECT@{t}", direct=True)
read("use", "USE mysql", "SELECT@mysql.db", direct=True)
read("use", "USE nodb", "SELECT@nodb.x", direct=True)
read("help", "HELP 'nosuch'")

# Settings.
read("set", "SET @x = 1")
read("set", f"SET @x = (SELECT MAX(b) FROM {t})", f"SELECT@{t}")
read("set", "SET sql_mode = ''")
read("set", "SET SESSION sql_log_bin = 1", "BINLOG ADMIN@*")
case("set", "SET GLOBAL max_connections = 151", "CONNECTION ADMIN@*", undo=["SET GLOBAL max_connections = 500"])
case("set", "SET GLOBAL sort_buffer_size = 2097152", "SUPER@*")
case("set", "SET GLOBAL read_only = 0", "READ_ONLY ADMIN@*")
case("set", "SET GLOBAL init_connect = ''", "CONNECTION ADMIN@*")
case("set", "SET GLOBAL TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SUPER@*")
read("set", "SET PASSWORD = PASSWORD('')")
case("set", "SET PASSWORD FOR other@localhost = PASSWORD('')", "UPDATE@mysql")
case("set", "SET DEFAULT ROLE NONE")
case("set", "SET DEFAULT ROLE NONE FOR other@localhost", "UPDATE@mysql")
case("set", "SET DEFAULT ROLE other_role FOR other@localhost", "UPDATE@mysql")
read("set", "SET ROLE NONE")
read("set", "SET ROLE other_role")
read("set", "SET NAMES utf8mb4")
read("set statement", f"SET STATEMENT max_statement_time = 100 FOR SELECT b FROM {t}", f"SELECT@{t}")
case("set statement", f"SET STATEMENT max_statement_time = 100 FOR UPDATE {t} SET a = 1", f"UPDATE@{t}")

# Accounts.
gone = ["DROP USER IF EXISTS nu@localhost", "DROP ROLE IF EXISTS nr"]
case("create user", "CREATE USER nu@localhost", "CREATE USER@*", undo=gone)
case("create user", "CREATE USER nu@localhost", "INSERT@mysql", undo=gone)
case("create user", "CREATE OR REPLACE USER nu@localhost", "CREATE USER@*", undo=gone)
case("create user", "CREATE USER IF NOT EXISTS other@localhost", "CREATE USER@*")
case("create user", "ALTER USER other@localhost ACCOUNT UNLOCK", "CREATE USER@*")
case("create user", "ALTER USER CURRENT_USER IDENTIFIED BY ''", "CREATE USER@*")
case("create user", "ALTER USER CURRENT_USER ACCOUNT UNLOCK", "CREATE USER@*")
case("create role", "CREATE ROLE nr", "CREATE USER@*", undo=gone)
case("create role", "CREATE ROLE nr WITH ADMIN other@localhost", "CREATE USER@*", "SET USER@*", undo=gone)
case("drop accounts", "DROP USER nosuch@localhost", "CREATE USER@*")
case("drop accounts", "DROP ROLE nosuch", "CREATE USER@*")
case("drop accounts", "DROP USER IF EXISTS nosuch@localhost", "DELETE@mysql")
case("rename users", "RENAME USER nosuch@localhost TO nosuch2@localhost", "CREATE USER@*")
unother = ["REVOKE ALL PRIVILEGES, GRANT OPTION FROM other@localhost", "GRANT SELECT ON other_db.* TO other@localhost", "GRANT other_role TO other@localhost"]
case("grant", "GRANT SELECT ON *.* TO other@localhost", "SELECT@*", "GRANT OPTION@*", undo=unother)
case("grant", f"GRANT SELECT ON {A}.* TO other@localhost", f"SELECT@{A}", f"GRANT OPTION@{A}", undo=unother)
case("grant", f"GRANT SELECT ON {t} TO other@localhost", f"SELECT@{t}", f"GRANT OPTION@{t}", undo=unother)
case("grant", f"GRANT SELECT (b) ON {t} TO other@localhost", f"SELECT@{t}", f"GRANT OPTION@{t}", undo=unother)
case("grant", f"GRANT INSERT, SELECT (a) ON {t} TO other@localhost", f"SELECT@{t}", f"INSERT@{t}", f"GRANT OPTION@{t}", undo=unother)
case("grant", f"GRANT SELECT ON {t} TO brand@localhost", f"SELECT@{t}", f"GRANT OPTION@{t}", "CREATE USER@*", undo=unother + ["DROP USER IF EXISTS brand@localhost"])
case("grant", f"GRANT EXECUTE ON PROCEDURE {A}.pr TO other@localhost", f"EXECUTE@proc:{A}.pr", f"GRANT OPTION@proc:{A}.pr", undo=unother)
case("grant", f"GRANT ALTER ROUTINE ON FUNCTION {A}.f TO other@localhost", f"ALTER ROUTINE@func:{A}.f", f"GRANT OPTION@func:{A}.f", undo=unother)
case("grant", f"GRANT ALL ON {A}.* TO other@localhost", f"ALL PRIVILEGES@{A}", f"GRANT OPTION@{A}", undo=unother)
case("grant", f"GRANT SELECT ON {A}.nosuch TO other@localhost", f"SELECT@{A}", f"GRANT OPTION@{A}", undo=unother)
case("grant", f"REVOKE SELECT ON other_db.* FROM other@localhost", "SELECT@other_db", "GRANT OPTION@other_db", undo=unother)
case("grant", f"REVOKE SELECT ON {t} FROM other@localhost", f"SELECT@{t}", f"GRANT OPTION@{t}", undo=unother)
case("grant", "REVOKE ALL PRIVILEGES, GRANT OPTION FROM other@localhost", "CREATE USER@*", undo=unother)
case("grant", "GRANT other_role TO other@localhost", undo=unother)
case("grant", "REVOKE other_role FROM other@localhost", undo=unother)
case("grant", "GRANT PROXY ON other@localhost TO other2@localhost", undo=["REVOKE PROXY ON other@localhost FROM other2@localhost"])
case("grant", "GRANT USAGE ON *.* TO other@localhost", undo=unother)
case("grant", f"GRANT SELECT ON {A}.* TO PUBLIC", f"SELECT@{A}", f"GRANT OPTION@{A}", undo=[f"REVOKE SELECT ON {A}.* FROM PUBLIC"])

# Maintenance of tables and the server.
for word in ("ANALYZE", "CHECK", "OPTIMIZE", "REPAIR", "CHECKSUM"):
    needs = {"CHECK": [f"SELECT@{t}"], "CHECKSUM": [f"SELECT@{t}"]}.get(word, [f"SELECT@{t}", f"INSERT@{t}"])
    read("table maintenance", f"{word} TABLE {t}", *needs, direct=True)
    read("table maintenance", f"{word} TABLE {A}.nosuch", *[n.replace(t, f"{A}.nosuch") for n in needs], direct=True)
read("table maintenance", f"ANALYZE TABLE {t}, {t2}", f"SELECT@{t}", f"INSERT@{t}", f"SELECT@{t2}", f"INSERT@{t2}", direct=True)
read("table maintenance", f"CHECK TABLE {vd}", f"SELECT@{vd}", direct=True)
read("table maintenance", f"CHECK TABLE {vi}", f"SELECT@{vi}", f"SELECT@{t}", direct=True)
for name in (t, f"{A}.nosuch"):
    read("cache index", f"CACHE INDEX {name} IN DEFAULT", f"INDEX@{name}", direct=True)
    read("cache index", f"LOAD INDEX INTO CACHE {name}", f"INDEX@{name}", direct=True)
for what in ("TABLES", "PRIVILEGES", "STATUS", "LOGS", "USER_RESOURCES", "HOSTS", "QUERY CACHE", "TABLES WITH READ LOCK",
             "TABLE_STATISTICS", "USER_STATISTICS", "ERROR LOGS"):
    read("flush", f"FLUSH {what}", "RELOAD@*", direct=True)
read("flush", f"FLUSH TABLES {t}", "RELOAD@*", direct=True)
read("flush", f"FLUSH TABLES {t} WITH READ LOCK", "RELOAD@*", f"LOCK TABLES@{A}", f"SELECT@{t}", direct=True)
read("flush", f"FLUSH TABLES {t} FOR EXPORT", "RELOAD@*", f"LOCK TABLES@{A}", f"SELECT@{t}", direct=True)
read("backup", "BACKUP STAGE START", "RELOAD@*", direct=True)
read("backup", "BACKUP UNLOCK", "RELOAD@*", direct=True)
read("reset", "RESET QUERY CACHE", "RELOAD@*", direct=True)
read("binlog", "BINLOG 'x'", "BINLOG REPLAY@*", direct=True)
read("purge logs", "PURGE BINARY LOGS TO 'nosuch'", "BINLOG ADMIN@*", direct=True)
read("change master", "CHANGE MASTER 'nosuch' TO MASTER_HOST=''", "REPLICATION SLAVE ADMIN@*", direct=True)
read("slave", "START SLAVE 'nosuch'", "REPLICATION SLAVE ADMIN@*", direct=True)
read("slave", "STOP ALL SLAVES", "REPLICATION SLAVE ADMIN@*", direct=True)
read("plugin", "INSTALL SONAME 'nosuch'", "INSERT@mysql.plugin", direct=True)
read("plugin", "UNINSTALL PLUGIN nosuch", "DELETE@mysql.plugin", direct=True)
read("kill", "KILL 999999999")
read("kill", "KILL USER other@localhost", "CONNECTION ADMIN@*")

# SHOW and its kin.
for sql, *needs in [
        ("SHOW DATABASES LIKE 'my\\_%'", f"SELECT@{t}"), ("SHOW DATABASES LIKE 'my\\_%'", "SHOW DATABASES@*"),
        (f"SHOW TABLES FROM {A}", f"SELECT@{t}"), (f"SHOW TABLES FROM {A}", f"EXECUTE@proc:{A}.pr"),
        (f"SHOW FULL TABLES FROM {A}", f"INSERT@{vd}"), (f"SHOW TABLES FROM nodb", "SELECT@nodb"),
        (f"SHOW COLUMNS FROM {t}", f"SELECT@{t}"), (f"SHOW FULL COLUMNS FROM {t}", f"INSERT@{t}"),
        (f"SHOW COLUMNS FROM {vd}", f"SELECT@{vd}"), (f"SHOW COLUMNS FROM {A}.nosuch", f"SELECT@{A}"),
        (f"SHOW INDEX FROM {t}", f"SELECT@{t}"), (f"SHOW INDEX FROM {p}", f"INDEX@{p}"),
        (f"SHOW TRIGGERS FROM {A}", f"TRIGGER@{A}.tt"), (f"SHOW TRIGGERS FROM {A}", f"SELECT@{A}.tt"),
        (f"SHOW CREATE TABLE {t}", f"SELECT@{t}"), (f"SHOW CREATE TABLE {t}", f"INSERT@{t}"),
        (f"SHOW CREATE TABLE {A}.nosuch", f"SELECT@{A}.nosuch"),
        (f"SHOW CREATE VIEW {vd}", f"SHOW VIEW@{vd}", f"SELECT@{vd}"), (f"SHOW CREATE TABLE {vd}", f"SHOW VIEW@{vd}", f"SELECT@{vd}"),
        (f"SHOW CREATE VIEW {t}", f"SHOW VIEW@{t}", f"SELECT@{t}"),
        (f"SHOW CREATE SEQUENCE {A}.s", f"SELECT@{A}.s"), (f"SHOW CREATE DATABASE {A}", f"SELECT@{A}"), (f"SHOW CREATE DATABASE {A}", f"SELECT@{t}"),
        (f"SHOW CREATE TRIGGER {A}.tr", f"TRIGGER@{A}.tt"), (f"SHOW CREATE TRIGGER {A}.nosuch", f"TRIGGER@{A}"),
        ("SHOW CREATE USER other@localhost", "SELECT@mysql"), ("SHOW CREATE USER",), ("SHOW GRANTS FOR other@localhost", "SELECT@mysql"),
        ("SHOW GRANTS FOR other_role", "SELECT@mysql"), ("SHOW GRANTS FOR PUBLIC", "SELECT@mysql"), ("SHOW GRANTS FOR nosuch@localhost", "SELECT@mysql"),
        ("SHOW ENGINE INNODB STATUS", "PROCESS@*"), ("SHOW ENGINE INNODB MUTEX", "PROCESS@*"), ("SHOW ENGINE MYISAM STATUS", "PROCESS@*"),
        ("SHOW ENGINE MYISAM LOGS", "FILE@*"), ("SHOW MASTER STATUS", "BINLOG MONITOR@*"), ("SHOW BINARY LOGS", "BINLOG MONITOR@*"),
        ("SHOW SLAVE STATUS", "SLAVE MONITOR@*"), ("SHOW SLAVE HOSTS", "REPLICATION MASTER ADMIN@*"), ("SHOW BINLOG EVENTS", "BINLOG MONITOR@*"),
        ("SHOW PRIVILEGES",), ("SHOW STATUS LIKE 'nosuch'",), ("SHOW VARIABLES LIKE 'nosuch'",), ("SHOW WARNINGS",),
        ("SHOW EVENTS FROM my_a", f"EVENT@{A}"), (f"SHOW CREATE EVENT {A}.ev", f"EVENT@{A}"), (f"SHOW CREATE EVENT {A}.nosuch", f"EVENT@{A}"), ("SHOW EXPLAIN FOR 999999", "PROCESS@*"), ("SHOW OPEN TABLES FROM nodb",),
        ("SHOW RELAYLOG EVENTS", "REPLICATION SLAVE ADMIN@*"), ("SHOW USER_STATISTICS", "PROCESS@*"), ("SHOW INDEX_STATISTICS",)]:
    rows = not any(w in sql for w in ("ENGINE", "MASTER STATUS", "SHOW CREATE TABLE my_a.v", "BINARY", "SLAVE", "PRIVILEGES", "STATISTICS"))
    case("show", sql, *needs, reads=True, rows=rows)
for what in ("PROCEDURE", "FUNCTION"):
    name = {"PROCEDURE": ["pr", "pd"], "FUNCTION": ["f", "fd"]}[what]
    for n in name:
        k = f"{what[:4].lower()}:{A}.{n}"
        for priv in ("EXECUTE", "ALTER ROUTINE"):
            shown("show", f"SHOW CREATE {what} {A}.{n}", f"{priv}@{k}")
            shown("show", f"SELECT routine_name, routine_definition FROM information_schema.routines WHERE routine_schema = '{A}' AND routine_name = '{n}'", f"{priv}@{k}")
            shown("show", f"SELECT specific_name, ordinal_position FROM information_schema.parameters WHERE specific_schema = '{A}' AND specific_name = '{n}'", f"{priv}@{k}")
        shown("show", f"SHOW CREATE {what} {A}.{n}", "SELECT@mysql.proc")
    shown("show", f"SHOW CREATE {what} {A}.pr", f"CREATE ROUTINE@{A}")
    shown("show", f"SHOW {what} CODE {A}.pr", "SELECT@mysql.proc")
shown("query", f"SELECT routine_name, routine_definition FROM information_schema.routines WHERE routine_schema = '{A}' ORDER BY 1", "SELECT@mysql.proc")
shown("query", f"SELECT routine_name, routine_definition FROM information_schema.routines WHERE routine_schema = '{A}' ORDER BY 1", f"CREATE ROUTINE@{A}")
shown("query", f"SELECT routine_name, routine_definition FROM information_schema.routines WHERE routine_schema = '{A}' ORDER BY 1", f"SHOW VIEW@{A}")
for view, columns, where in [
        ("tables", "table_name, table_type", "table_schema"), ("columns", "table_name, column_name, privileges", "table_schema"),
        ("statistics", "table_name, index_name, column_name", "table_schema"), ("table_constraints", "table_name, constraint_name", "table_schema"),
        ("key_column_usage", "table_name, constraint_name, column_name", "table_schema"), ("views", "table_name, view_definition", "table_schema"),
        ("triggers", "trigger_name, action_statement", "trigger_schema"), ("schemata", "schema_name", "schema_name"),
        ("partitions", "table_name", "table_schema"), ("check_constraints", "constraint_name", "constraint_schema"),
        ("referential_constraints", "constraint_name", "constraint_schema"),
        ("schema_privileges", "grantee, privilege_type", "table_schema"), ("table_privileges", "table_name, privilege_type", "table_schema"),
        ("column_privileges", "table_name, column_name, privilege_type", "table_schema")]:
    sql = f"SELECT {columns} FROM information_schema.{view} WHERE {where} = '{A}' ORDER BY {columns}"
    for need in (f"SELECT@{t}", f"INSERT@{t}", f"REFERENCES@{p}", f"INDEX@{t}", f"ALTER@{p}", f"TRIGGER@{A}.tt", f"SELECT@{vd}",
                 f"SHOW VIEW@{vd}", f"EXECUTE@proc:{A}.pr", f"CREATE TEMPORARY TABLES@{A}", f"CREATE@{A}.new", "SHOW DATABASES@*", "SELECT@mysql"):
        shown("query", sql, need)
    shown("query", sql, f"SELECT@{vd}", f"SHOW VIEW@{vd}")
for view in ("user_privileges", "applicable_roles", "enabled_roles"):
    shown("query", f"SELECT * FROM information_schema.{view} WHERE '{view}' <> 'user_privileges' OR grantee LIKE '%other%' ORDER BY 1, 2" if view != "enabled_roles" else "SELECT * FROM information_schema.enabled_roles", "SELECT@mysql")
shown("query", "SELECT user FROM information_schema.processlist WHERE user = 'other'", "PROCESS@*")
shown("query", "SELECT COUNT(*) > 0 FROM mysql.procs_priv", "SELECT@mysql.procs_priv")

# Descriptions.
shown("describe", f"DESC {t}", f"SELECT@{t}")
shown("describe", f"DESC {t}", f"DELETE@{t}")
shown("describe", f"DESC {vd}", f"SELECT@{vd}")
read("explain", f"EXPLAIN SELECT b FROM {t}", f"SELECT@{t}")
read("explain", f"EXPLAIN SELECT b FROM {vd}", f"SELECT@{vd}", f"SHOW VIEW@{vd}")
read("explain", f"EXPLAIN SELECT b FROM {vi}", f"SELECT@{vi}", f"SHOW VIEW@{vi}", f"SELECT@{t}")
read("explain", f"ANALYZE SELECT b FROM {t}", f"SELECT@{t}")
read("explain", f"EXPLAIN UPDATE {t} SET a = 1", f"UPDATE@{t}")
read("explain", f"EXPLAIN DELETE FROM {t}", f"DELETE@{t}")
read("explain", f"EXPLAIN INSERT INTO {t} (id) VALUES (1)", f"INSERT@{t}")
case("unsupported", f"ALTER TABLE {t} EXCHANGE PARTITION p0 WITH TABLE {t2}", f"ALTER@{t}", f"INSERT@{t}", f"CREATE@{t}", f"ALTER@{t2}", f"DROP@{t2}")
case("define server", "CREATE SERVER srv FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'x')", "FEDERATED ADMIN@*", undo=["DROP SERVER IF EXISTS srv"])
case("define server", "ALTER SERVER nosuch OPTIONS (HOST 'x')", "FEDERATED ADMIN@*")
