"""Status counters of one statement at a time, beside those that MariaDB 10.11 counted.

Each statement runs in a session of its own between two readings of SHOW SESSION STATUS; the growth of the counters below
is compared with the recorded one. The readings themselves are subtracted by an empty statement. Differences that are
meant are listed in `workload.differs`, with a reason in docs/compatibility.md.

usage: workload.py PORT [--record | --accept | --show]
"""

import os
import re
import sys

import pymysql

HERE = os.path.dirname(os.path.abspath(__file__))

SETUP = """
CREATE DATABASE workload
USE workload
CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT, d VARCHAR(20), KEY b (b)) ENGINE=InnoDB
INSERT INTO t SELECT seq, seq % 50, seq % 7, CONCAT('v', seq % 30) FROM seq_1_to_1000
CREATE TABLE u (a INT PRIMARY KEY, b INT, v VARCHAR(10), KEY b (b)) ENGINE=InnoDB
INSERT INTO u SELECT seq, seq % 10, CONCAT('v', seq % 20) FROM seq_1_to_100
CREATE TABLE s (x INT, y INT) ENGINE=InnoDB
INSERT INTO s VALUES (1, 1), (2, 2), (3, NULL)
CREATE TABLE w (a INT PRIMARY KEY, b INT, KEY (b)) ENGINE=InnoDB
INSERT INTO w SELECT seq, seq FROM seq_1_to_20
CREATE VIEW v AS SELECT a, b FROM t
CREATE PROCEDURE p() BEGIN SELECT COUNT(*) FROM s; SELECT 1; END
CREATE FUNCTION f(n INT) RETURNS INT DETERMINISTIC RETURN n + 1
ANALYZE TABLE t, u, s, w
"""

STATEMENTS = """
SELECT 1
SELECT * FROM t WHERE a = 5
SELECT * FROM t WHERE a IN (5, 6, 7)
SELECT * FROM t WHERE a BETWEEN 5 AND 9
SELECT * FROM t WHERE b = 5
SELECT * FROM t WHERE b IN (1, 2)
SELECT * FROM t WHERE c = 3
SELECT COUNT(*) FROM t
SELECT MAX(a), MIN(a) FROM t
SELECT MAX(c) FROM t
SELECT * FROM t LIMIT 3
SELECT * FROM t ORDER BY a LIMIT 3
SELECT * FROM t ORDER BY a DESC LIMIT 3
SELECT * FROM t ORDER BY c
SELECT * FROM t ORDER BY c LIMIT 4
SELECT * FROM t WHERE a < 10 ORDER BY c
SELECT c, COUNT(*) FROM t GROUP BY c
SELECT c, COUNT(*) FROM t GROUP BY c ORDER BY 2
SELECT DISTINCT c FROM t
SELECT DISTINCT b FROM t
SELECT b, COUNT(*) FROM t GROUP BY b
SELECT * FROM s JOIN u ON u.a = s.x
SELECT * FROM s JOIN u ON u.b = s.x
SELECT * FROM s JOIN u ON u.v = s.x
SELECT * FROM s, u WHERE u.a < 5
SELECT * FROM s LEFT JOIN u ON u.a = s.x
SELECT * FROM s WHERE x IN (SELECT b FROM u)
SELECT * FROM s WHERE x NOT IN (SELECT b FROM u)
SELECT * FROM s WHERE EXISTS (SELECT 1 FROM u WHERE u.b = s.x)
SELECT x, (SELECT MAX(b) FROM u WHERE u.b = s.x) FROM s
SELECT (SELECT MAX(c) FROM t)
SELECT * FROM s UNION SELECT * FROM s
SELECT * FROM s UNION ALL SELECT * FROM s
SELECT * FROM (SELECT b, COUNT(*) n FROM u GROUP BY b LIMIT 5) d
SELECT * FROM v WHERE a = 3
SELECT a, ROW_NUMBER() OVER (ORDER BY b) FROM u LIMIT 3
WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 10) SELECT * FROM r
SELECT JSON_VALUE('{"a":1}', '$.a')
SELECT table_name FROM information_schema.tables WHERE table_schema = 'workload'
SELECT * FROM t WHERE a = 5 FOR UPDATE
INSERT INTO w VALUES (101, 1), (102, 2)
INSERT IGNORE INTO w VALUES (101, 1)
INSERT INTO w VALUES (101, 1) ON DUPLICATE KEY UPDATE b = 7
REPLACE INTO w VALUES (101, 8)
INSERT INTO w SELECT a + 1000, b FROM u WHERE a < 4
UPDATE w SET b = 5 WHERE a = 3
UPDATE w SET b = b + 1 WHERE b > 15
UPDATE w SET b = b + 1
UPDATE w, s SET w.b = 1 WHERE w.a = s.x
DELETE FROM w WHERE a = 5
DELETE FROM w WHERE b = 9
DELETE FROM w ORDER BY b LIMIT 2
DELETE w FROM w, s WHERE w.a = s.x
DELETE FROM w
BEGIN
COMMIT
ROLLBACK
SAVEPOINT a
CREATE TABLE z (a INT)
ALTER TABLE z ADD b INT
CREATE INDEX i ON z (a)
TRUNCATE TABLE z
DROP TABLE z
CREATE TEMPORARY TABLE z (a INT)
CREATE VIEW z AS SELECT 1
DROP VIEW z
CALL p()
SELECT f(1)
PREPARE a FROM 'SELECT 1'
EXECUTE IMMEDIATE 'SELECT 1'
SET @a = 1
DO 1
SHOW TABLES
SHOW VARIABLES LIKE 'version'
SHOW CREATE TABLE t
DESCRIBE t
EXPLAIN SELECT * FROM t
ANALYZE SELECT * FROM t
ANALYZE TABLE s
CHECK TABLE s
LOCK TABLES s READ
FLUSH TABLES
HANDLER t OPEN
SELECT * FROM t WHERE a = 5000
XA START 'x'
"""

COUNTERS = re.compile(
    "^(Select_|Sort_|Created_tmp_tables|Handler_|Com_(?!select$)|Com_select|Feature_|Rows_(read|sent)|Empty_queries"
    "|Delete_scan|Update_scan|Questions|Executed_|Opened_)")


class Reader:
    def __init__(self, port):
        self.connection = pymysql.connect(host="127.0.0.1", port=port, user="root", database="workload", autocommit=True)

    def status(self):
        with self.connection.cursor() as cursor:
            cursor.execute("SHOW SESSION STATUS")
            return {name: int(value) for name, value in cursor.fetchall() if COUNTERS.match(name) and value.isdigit()}

    def growth(self, statement):
        before = self.status()
        with self.connection.cursor() as cursor:
            if statement:
                cursor.execute(statement)
                cursor.fetchall()
                while cursor.nextset():
                    cursor.fetchall()
        after = self.status()
        return {name: after[name] - before.get(name, 0) for name in after}


def measured(port):
    root = pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True)
    with root.cursor() as cursor:
        cursor.execute("DROP DATABASE IF EXISTS workload")
        for statement in SETUP.strip().splitlines():
            cursor.execute(statement)
            cursor.fetchall()
    out = []
    for statement in STATEMENTS.strip().splitlines():
        reader = Reader(port)
        reader.status()
        empty = reader.growth(None)
        found = reader.growth(statement)
        # A second, idle reading may differ from the first in what it costs.
        grown = {name: found[name] - empty.get(name, 0) for name in found}
        words = [f"{name}={count}" for name, count in sorted(grown.items()) if count]
        out.append(f"{statement}\n" + "".join(f"  {word}\n" for word in words))
        reader.connection.close()
    with root.cursor() as cursor:
        cursor.execute("DROP DATABASE workload")
    return out


def counts(block):
    statement, *words = block.splitlines()
    return statement, dict(word.strip().split("=") for word in words)


def differences(known, found):
    lines = []
    for expected, got in zip(known, found, strict=True):
        statement, expected = counts(expected)
        _, got = counts(got)
        for name in sorted(set(expected) | set(got)):
            pair = (expected.get(name, "0"), got.get(name, "0"))
            if pair[0] != pair[1]:
                lines.append(f"{statement}: {name} {pair[1]}, MariaDB {pair[0]}\n")
    return lines


def blocks(text):
    return re.findall(r"^\S.*\n(?:  .*\n)*", text, re.M)


def main():
    port, *options = sys.argv[1:]
    found = measured(int(port))
    result, differs = (os.path.join(HERE, f"workload.{end}") for end in ("result", "differs"))
    if "--record" in options:
        with open(result, "w") as file:
            file.writelines(found)
        return
    with open(result) as file:
        lines = differences(blocks(file.read()), found)
    if "--show" in options:
        sys.stdout.writelines(lines)
        return
    if "--accept" in options:
        with open(differs, "w") as file:
            file.writelines(lines)
        return
    with open(differs) as file:
        known = file.readlines()
    new, gone = [line for line in lines if line not in known], [line for line in known if line not in lines]
    sys.stdout.writelines(f"new: {line}" for line in new)
    sys.stdout.writelines(f"gone: {line}" for line in gone)
    print(f"counters: {len(found)} statements, {len(known)} known differences")
    sys.exit(1 if new or gone else 0)


if __name__ == "__main__":
    main()
