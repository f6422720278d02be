#!/usr/bin/env python3
"""Prepared branches through sessions, clean restarts and kill -9.

    xa.py BINARY
"""

import os
import sys
import time

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from selkie import Server  # noqa: E402


def run(connection, *statements):
    rows = None
    for statement in statements:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            rows = cursor.fetchall()
    return rows


def code(connection, statement):
    try:
        run(connection, statement)
    except pymysql.MySQLError as error:
        return error.args[0]
    return 0


def branches(connection):
    return sorted(row[3] for row in run(connection, "XA RECOVER"))


def prepare(server, name, *changes):
    session = server.connect(database="x")
    run(session, f"XA START '{name}'", *changes, f"XA END '{name}'", f"XA PREPARE '{name}'")
    session.close()


def rows(connection):
    return run(connection, "SELECT a, b, LEFT(c, 3) FROM t ORDER BY a")


def taken_back(binary):
    """A snapshot still sees rows that a branch of an earlier life deletes, although the branch rolled back later writes to them."""
    server = Server(binary).start()
    session = server.connect()
    run(session, "CREATE DATABASE x", "USE x", "CREATE TABLE t (a INT PRIMARY KEY, b INT)",
        "CREATE TABLE other (a INT)", "INSERT INTO t SELECT seq, seq FROM seq_1_to_50")
    prepare(server, "b", "DELETE FROM t WHERE a <= 20", "SAVEPOINT s", "INSERT INTO t SELECT seq, 0 FROM seq_1_to_20",
            "ROLLBACK TO s", "UPDATE t SET b = 0 WHERE a = 50")
    server.kill()
    server.start()
    reader, session = server.connect(database="x"), server.connect(database="x")
    run(reader, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION WITH CONSISTENT SNAPSHOT")
    seen = "SELECT COUNT(*), SUM(b) FROM t"
    assert run(reader, seen) == ((50, 1275),)
    run(session, "XA COMMIT 'b'")
    for _ in range(3):
        # Commits prune versions once the snapshot has reached a certain age.
        time.sleep(0.2)
        run(session, *["INSERT INTO other VALUES (1)"] * 100)
        assert run(reader, seen) == ((50, 1275),), run(reader, seen)
    assert run(session, seen) == ((30, 1015),), run(session, seen)
    assert run(session, "CHECK TABLE t EXTENDED")[0][3] == "OK"
    server.stop()


def partitioned(binary):
    """After a restart a branch still keeps the definitions of the partitioned tables that it changed."""
    server = Server(binary).start()
    session = server.connect()
    run(session, "CREATE DATABASE x", "USE x",
        "CREATE TABLE p (a INT PRIMARY KEY) PARTITION BY HASH (a) PARTITIONS 3",
        "CREATE TABLE v (a INT PRIMARY KEY) WITH SYSTEM VERSIONING PARTITION BY SYSTEM_TIME "
        "(PARTITION h HISTORY, PARTITION c CURRENT)", "INSERT INTO p VALUES (1), (2)", "INSERT INTO v VALUES (1)")
    prepare(server, "b", "INSERT INTO p VALUES (20)", "DELETE FROM v")
    changes = ["ALTER TABLE p REMOVE PARTITIONING", "TRUNCATE TABLE p", "RENAME TABLE p TO q", "DROP TABLE p",
               "ALTER TABLE p TRUNCATE PARTITION p0", "CREATE OR REPLACE TABLE p (a INT)", "DROP TABLE v",
               "ALTER TABLE v ADD COLUMN b INT"]
    for end in [server.kill, server.stop]:
        end()
        server.start()
        session = server.connect(database="x")
        run(session, "SET lock_wait_timeout = 0, system_versioning_alter_history = KEEP")
        for change in changes:
            assert code(session, change) == 1205, change
    run(session, "XA COMMIT 'b'")
    assert run(session, "SELECT a FROM p ORDER BY a") == ((1,), (2,), (20,))
    assert run(session, "SELECT COUNT(*) FROM v") == ((0,),)
    run(session, "ALTER TABLE p REMOVE PARTITIONING", "DROP TABLE v")
    server.stop()


def main():
    taken_back(sys.argv[1])
    partitioned(sys.argv[1])
    server = Server(sys.argv[1])
    server.start()
    setup = server.connect()
    run(setup, "CREATE DATABASE x", "USE x",
        "CREATE TABLE t (a INT PRIMARY KEY, b INT, c LONGTEXT, UNIQUE KEY (b)) ENGINE=InnoDB",
        "INSERT INTO t VALUES (1, 1, REPEAT('one', 20000)), (2, 2, 'two'), (3, 3, 'thr')")
    prepare(server, "commit", "UPDATE t SET c = REPEAT('new', 30000) WHERE a = 1", "SAVEPOINT s",
            "UPDATE t SET c = 'gone' WHERE a = 1", "ROLLBACK TO s", "INSERT INTO t VALUES (10, 10, 'ten')")
    prepare(server, "rollback", "DELETE FROM t WHERE a = 2", "INSERT INTO t VALUES (11, 11, 'elf')")
    loser = server.connect(database="x")
    run(loser, "BEGIN", "UPDATE t SET b = 33 WHERE a = 3")

    def still_there():
        session = server.connect(database="x")
        run(session, "SET innodb_lock_wait_timeout = 1, lock_wait_timeout = 1")
        assert branches(session) == [b"commit", b"rollback"], branches(session)
        assert rows(session) == ((1, 1, "one"), (2, 2, "two"), (3, 3, "thr")), rows(session)
        assert code(session, "UPDATE t SET b = 5 WHERE a = 1") == 1205
        assert code(session, "INSERT INTO t VALUES (12, 10, '')") == 1205
        assert code(session, "DELETE FROM t WHERE a = 2") == 1205
        assert code(session, "XA START 'commit'") == 1440
        assert code(session, "DROP TABLE t") == 1205
        return session

    still_there().close()
    for end in [server.kill, server.stop, server.kill]:
        end()
        server.start()
        session = still_there()
        # A transaction cut short by the crash is rolled back; a session that needs its row waits for that.
        run(session, "UPDATE t SET b = 3 WHERE a = 3", "CREATE TABLE other (a INT)", "DROP TABLE other")
    run(session, "XA COMMIT 'commit'", "XA ROLLBACK 'rollback'")
    server.kill()
    server.start()
    session = server.connect(database="x")
    assert branches(session) == []
    assert rows(session) == ((1, 1, "new"), (2, 2, "two"), (3, 3, "thr"), (10, 10, "ten"))
    assert run(session, "SELECT LENGTH(c) FROM t WHERE a = 1") == ((90000,),)
    assert run(session, "CHECK TABLE t")[0][3] == "OK"
    run(session, "UPDATE t SET b = b + 100, c = 'x'", "DROP TABLE t")
    server.stop()
    print("xa: ok")


if __name__ == "__main__":
    main()
