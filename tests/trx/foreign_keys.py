#!/usr/bin/env python3
"""Foreign keys between sessions: which session waits for which, and the rows afterwards. The expected result of each case
was observed on MariaDB 10.11.

    foreign_keys.py BINARY
"""

import os
import sys
import threading
import time

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from selkie import Server  # noqa: E402

WAITS = 0.4


def run(connection, statement):
    """Returns rows affected, or the number of the error."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.rowcount
    except pymysql.MySQLError as error:
        return -error.args[0]


def rows(connection, statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()


class Pending:
    """A statement that waits for another session."""

    def __init__(self, connection, statement):
        self.result = None
        self.thread = threading.Thread(target=self.execute, args=(connection, statement))
        self.thread.start()
        time.sleep(WAITS)
        assert self.thread.is_alive(), f"{statement} did not wait: {self.result}"

    def execute(self, connection, statement):
        self.result = run(connection, statement)

    def end(self):
        self.thread.join()
        return self.result


def expect(got, wanted, what):
    assert got == wanted, f"{what}: {got}, not {wanted}"


def inserts_and_deletes(a, b):
    run(a, "INSERT INTO c VALUES (1, 1)")
    waiting = Pending(b, "DELETE FROM p WHERE id = 1")
    a.commit()
    expect(waiting.end(), -1451, "a parent deleted after its child came")
    b.rollback()

    run(a, "DELETE FROM p WHERE id = 2")
    waiting = Pending(b, "INSERT INTO c VALUES (2, 2)")
    a.commit()
    expect(waiting.end(), -1452, "a child inserted after its parent went")
    b.rollback()

    run(a, "INSERT INTO p VALUES (20)")
    waiting = Pending(b, "INSERT INTO c VALUES (20, 20)")
    a.commit()
    expect(waiting.end(), 1, "a child inserted after its parent came")
    b.commit()

    run(a, "INSERT INTO p VALUES (21)")
    waiting = Pending(b, "INSERT INTO c VALUES (21, 21)")
    a.rollback()
    expect(waiting.end(), -1452, "a child whose parent was rolled back")
    b.rollback()

    expect((run(a, "INSERT INTO c VALUES (30, 1)"), run(b, "INSERT INTO c VALUES (31, 1)")), (1, 1),
           "two children of one parent")
    a.commit()
    b.commit()


def newest_not_snapshot(a, b):
    rows(b, "SELECT * FROM p")
    run(a, "INSERT INTO p VALUES (3)")
    a.commit()
    expect(run(b, "INSERT INTO c VALUES (3, 3)"), 1, "a parent newer than the snapshot")
    b.commit()
    rows(b, "SELECT * FROM p")
    run(a, "DELETE FROM p WHERE id = 10")
    a.commit()
    expect(run(b, "INSERT INTO c VALUES (10, 10)"), -1452, "a parent only the snapshot has")
    b.rollback()


def cascades(a, b):
    run(a, "INSERT INTO c2 VALUES (1, 1)")
    a.commit()
    run(a, "UPDATE c2 SET a = 2 WHERE id = 1")
    waiting = Pending(b, "DELETE FROM p2 WHERE id = 1")
    a.commit()
    expect(waiting.end(), 1, "a parent whose child moved away")
    b.commit()
    expect(rows(a, "SELECT * FROM c2"), ((1, 2),), "the child that moved away")
    a.commit()


def definitions(a, b):
    run(a, "INSERT INTO c2 VALUES (5, 2)")
    expect(run(b, "DROP TABLE p2"), -1451, "a parent dropped while a child is written")
    a.commit()
    run(a, "INSERT INTO p2 VALUES (77, 7)")
    run(b, "CREATE TABLE c3 (a INT)")
    waiting = Pending(b, "ALTER TABLE c3 ADD FOREIGN KEY (a) REFERENCES p2 (id)")
    a.commit()
    expect(waiting.end(), 0, "a key added while its parent is written")
    expect(run(a, "INSERT INTO c3 VALUES (78)"), -1452, "the added key")
    a.rollback()


def main():
    server = Server(sys.argv[1])
    server.start()
    try:
        setup = server.connect()
        for statement in (
                "CREATE DATABASE f", "USE f", "CREATE TABLE p (id INT PRIMARY KEY)",
                "CREATE TABLE c (id INT PRIMARY KEY, a INT, FOREIGN KEY (a) REFERENCES p (id))",
                "CREATE TABLE p2 (id INT PRIMARY KEY, v INT)",
                "CREATE TABLE c2 (id INT PRIMARY KEY, a INT,"
                " FOREIGN KEY (a) REFERENCES p2 (id) ON DELETE CASCADE)",
                "INSERT INTO p VALUES (1), (2), (10)", "INSERT INTO p2 VALUES (1, 1), (2, 2)"):
            assert run(setup, statement) >= 0, statement
        a, b = (server.connect(database="f", autocommit=False) for _ in range(2))
        for case in (inserts_and_deletes, newest_not_snapshot, cascades, definitions):
            case(a, b)
        print("foreign keys: all passed")
    finally:
        server.kill()
        server.remove()


if __name__ == "__main__":
    main()
