"""Statements of an account without READ ONLY ADMIN while the server has read_only=1.

usage: read_only.py PORT

Those of the first list are refused with 1290, those of the second are not.
"""

import sys

import pymysql

BEFORE = """
CREATE TABLE d.t (a INT)
INSERT INTO d.t VALUES (1), (2)
CREATE TABLE d.m (a INT) ENGINE=MyISAM
CREATE VIEW d.v AS SELECT * FROM d.t
CREATE SEQUENCE d.s
CREATE PROCEDURE d.writes() INSERT INTO d.t VALUES (9)
CREATE PROCEDURE d.writes_for_others() SQL SECURITY INVOKER INSERT INTO d.t VALUES (9)
CREATE PROCEDURE d.locks() SELECT a INTO @a FROM d.t LIMIT 1 FOR UPDATE
CREATE FUNCTION d.f() RETURNS INT BEGIN INSERT INTO d.t VALUES (9); RETURN 1; END
CREATE FUNCTION d.reads() RETURNS INT RETURN (SELECT COUNT(*) FROM d.t)
CREATE USER reader@localhost
GRANT ALL ON *.* TO reader@localhost WITH GRANT OPTION
REVOKE READ ONLY ADMIN, SUPER ON *.* FROM reader@localhost
SET GLOBAL read_only = 1
"""

REFUSED = """
INSERT INTO d.t VALUES (5)
INSERT INTO d.m VALUES (5)
INSERT INTO d.v VALUES (5)
UPDATE d.t SET a = 1 WHERE 0
SELECT * FROM d.t FOR UPDATE
SELECT * FROM d.m FOR UPDATE
SELECT * FROM d.v FOR UPDATE
SELECT (SELECT a FROM d.t LIMIT 1 FOR UPDATE)
LOCK TABLES d.t WRITE
LOCK TABLES d.m READ, d.t WRITE
START TRANSACTION READ WRITE
SELECT NEXTVAL(d.s)
SELECT SETVAL(d.s, 100)
CALL d.writes_for_others()
SELECT d.f()
SET @x = d.f()
SET PASSWORD = PASSWORD('')
SET DEFAULT ROLE NONE
UPDATE d.t, d.own SET d.t.a = 9
CREATE TABLE d.n (a INT)
ANALYZE TABLE d.t
OPTIMIZE TABLE d.t
DROP VIEW d.v
"""

DONE = """
SELECT * FROM d.t LOCK IN SHARE MODE
SELECT d.reads()
SELECT LASTVAL(d.s)
LOCK TABLES d.t READ
UNLOCK TABLES
START TRANSACTION READ ONLY
COMMIT
START TRANSACTION
SELECT * FROM d.t
COMMIT
CALL d.writes()
CALL d.locks()
INSERT INTO d.own SELECT * FROM d.t
SELECT * FROM d.own FOR UPDATE
UPDATE d.t, d.own SET d.own.a = 9
LOCK TABLES d.own WRITE
UNLOCK TABLES
ALTER TABLE d.own ADD b INT
TRUNCATE d.own
CREATE TEMPORARY TABLE d.second AS SELECT * FROM d.t
DROP TABLE d.own, d.second
CHECK TABLE d.t
"""


def lines(text):
    return text.strip().splitlines()


def main():
    port = int(sys.argv[1])
    root = pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True).cursor()
    root.execute("DROP DATABASE IF EXISTS d")
    root.execute("DROP USER IF EXISTS reader@localhost")
    root.execute("CREATE DATABASE d")
    wrong = []
    try:
        for statement in lines(BEFORE):
            root.execute(statement)
        cursor = pymysql.connect(host="127.0.0.1", port=port, user="reader", autocommit=True).cursor()
        cursor.execute("CREATE TEMPORARY TABLE d.own (a INT)")
        for statement in lines(REFUSED) + lines(DONE):
            wanted = 1290 if statement in lines(REFUSED) else 0
            try:
                cursor.execute(statement)
                found = 0
            except pymysql.MySQLError as error:
                found = error.args[0]
            if found != wanted:
                wrong.append(f"{statement}: {found} instead of {wanted}")
    finally:
        root.execute("SET GLOBAL read_only = 0")
    root.execute("DROP DATABASE d")
    root.execute("DROP USER reader@localhost")
    print("\n".join(wrong) or f"read-only: {len(lines(REFUSED))} statements refused, {len(lines(DONE))} done")
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
