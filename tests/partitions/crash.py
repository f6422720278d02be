#!/usr/bin/env python3
"""kill -9 within changes of partitions: afterwards a table is as before the change or as after it, in definition and rows.

One session changes a table by ADD, DROP, TRUNCATE, REORGANIZE, EXCHANGE and CONVERT PARTITION until the server is killed.
After each restart the partitions, their rows and those of the other table must be those before or after the statement in
progress, CHECK TABLE must find nothing, and no file of a leaf that is gone may be left.

usage: crash.py BINARY [--seconds N] [--seed N]
"""
import argparse
import copy
import os
import random
import sys
import threading
import time

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from selkie import Server  # noqa: E402

STEP = 100
ROWS = 300


class State:
    """Partitions as [name, bound, rows], and the rows of the table `other` or None."""

    def __init__(self):
        self.parts, self.other, self.names = [["p0", STEP, set()]], set(), 1

    def copy(self):
        return copy.deepcopy(self)

    def name(self):
        self.names += 1
        return f"p{self.names}"

    def start(self, at):
        return self.parts[at - 1][1] if at else 0

    def shown(self):
        other = None if self.other is None else sorted(self.other)
        return [(name, bound, sorted(rows)) for name, bound, rows in self.parts], other


def change(state, rng):
    """A statement and the state after it."""
    after = state.copy()
    parts = after.parts
    at = rng.randrange(len(parts))
    name, bound, rows = parts[at]
    kind = rng.choice(["add", "add", "drop", "truncate", "split", "merge", "exchange", "convert", "fill", "fill"])
    if kind == "add":
        new = after.name()
        parts.append([new, parts[-1][1] + STEP, set()])
        return f"ALTER TABLE t ADD PARTITION (PARTITION {new} VALUES LESS THAN ({parts[-1][1]}))", after
    if kind == "drop" and len(parts) > 1:
        del parts[at]
        return f"ALTER TABLE t DROP PARTITION {name}", after
    if kind == "truncate":
        parts[at][2] = set()
        return f"ALTER TABLE t TRUNCATE PARTITION {name}", after
    middle = (state.start(at) + bound) // 2
    if kind == "split" and middle > state.start(at):
        one, two = after.name(), after.name()
        parts[at:at + 1] = [[one, middle, {r for r in rows if r < middle}], [two, bound, {r for r in rows if r >= middle}]]
        return (f"ALTER TABLE t REORGANIZE PARTITION {name} INTO (PARTITION {one} VALUES LESS THAN ({middle}), "
                f"PARTITION {two} VALUES LESS THAN ({bound}))", after)
    if kind == "merge" and at + 1 < len(parts):
        new = after.name()
        _, end, more = parts[at + 1]
        parts[at:at + 2] = [[new, end, rows | more]]
        both = f"{name}, {state.parts[at + 1][0]}"
        return f"ALTER TABLE t REORGANIZE PARTITION {both} INTO (PARTITION {new} VALUES LESS THAN ({end}))", after
    if kind == "exchange" and after.other is not None and all(state.start(at) <= row < bound for row in after.other):
        parts[at][2], after.other = after.other, rows
        return f"ALTER TABLE t EXCHANGE PARTITION {name} WITH TABLE other", after
    if kind == "convert" and after.other is None and len(parts) > 1:
        after.other = rows
        del parts[at]
        return f"ALTER TABLE t CONVERT PARTITION {name} TO TABLE other", after
    if kind == "convert" and after.other is not None:
        end = parts[-1][1]
        if all(end <= row < end + STEP for row in after.other):
            new = after.name()
            parts.append([new, end + STEP, after.other])
            after.other = None
            return f"ALTER TABLE t CONVERT TABLE other TO PARTITION {new} VALUES LESS THAN ({end + STEP})", after
    if len(rows) < ROWS:
        values = sorted({rng.randrange(state.start(at), bound) for _ in range(30)} - rows)
        if values:
            parts[at][2] = rows | set(values)
            return "INSERT INTO t VALUES " + ", ".join(f"({v}, {v})" for v in values), after
    return "DO 1", after


def read(connection):
    with connection.cursor() as cursor:
        cursor.execute("SELECT partition_name, CAST(partition_description AS SIGNED) FROM information_schema.partitions "
                       "WHERE table_schema = 'crash' AND table_name = 't' ORDER BY partition_ordinal_position")
        parts = []
        for name, bound in cursor.fetchall():
            cursor.execute(f"SELECT id FROM t PARTITION ({name}) ORDER BY id")
            parts.append((name, bound, [row[0] for row in cursor.fetchall()]))
        cursor.execute("SHOW TABLES LIKE 'other'")
        other = None
        if cursor.fetchall():
            cursor.execute("SELECT id FROM other ORDER BY id")
            other = [row[0] for row in cursor.fetchall()]
        for table in ["t"] + (["other"] if other is not None else []):
            cursor.execute(f"CHECK TABLE {table} EXTENDED")
            answers = cursor.fetchall()
            if [answer[3] for answer in answers] != ["OK"]:
                raise SystemExit(f"crash: {answers}")
    return parts, other


def files(server):
    return sum(name.startswith("data.") for name in os.listdir(server.datadir))


def restarted(server):
    server.stop()
    server.start()
    return files(server)


class Life:
    def __init__(self, server, rng, state):
        self.server, self.rng = server, rng
        self.before, self.after, self.statement = state, state, "none"
        self.done, self.problem = 0, None

    def run(self):
        try:
            connection = self.server.connect(database="crash")
            with connection.cursor() as cursor:
                while True:
                    self.statement, self.after = change(self.before, self.rng)
                    cursor.execute(self.statement)
                    self.before = self.after
                    self.done += 1
        except (pymysql.OperationalError, pymysql.InterfaceError, OSError) as error:
            if error.args and error.args[0] not in (0, 2003, 2006, 2013):
                self.problem = f"{self.statement}: {error}"
        except pymysql.MySQLError as error:
            self.problem = f"{self.statement}: {error}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng, server = random.Random(options.seed), Server(options.binary)
    try:
        server.start()
        empty = restarted(server)
        connection = server.connect()
        with connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE crash")
            cursor.execute("USE crash")
            cursor.execute("CREATE TABLE t (id INT PRIMARY KEY, b INT, KEY (b)) PARTITION BY RANGE (id) "
                           f"(PARTITION p0 VALUES LESS THAN ({STEP}))")
            cursor.execute("CREATE TABLE other (id INT PRIMARY KEY, b INT, KEY (b))")
        connection.close()
        state, lives, statements, torn = State(), 0, 0, 0
        deadline = time.monotonic() + options.seconds
        while time.monotonic() < deadline:
            life = Life(server, rng, state)
            worker = threading.Thread(target=life.run)
            worker.start()
            time.sleep(rng.uniform(0.05, 1.2))
            server.kill()
            worker.join()
            if life.problem:
                raise SystemExit(f"crash: seed {options.seed}: {life.problem}")
            server.start()
            connection = server.connect(database="crash")
            found = read(connection)
            connection.close()
            if found not in (life.before.shown(), life.after.shown()):
                raise SystemExit(f"crash: seed {options.seed}, after {life.statement}\n found  {found}\n"
                                 f" before {life.before.shown()}\n after  {life.after.shown()}")
            state = life.after if found == life.after.shown() else life.before
            lives, statements, torn = lives + 1, statements + life.done, torn + (found == life.before.shown())
        connection = server.connect()
        connection.cursor().execute("DROP DATABASE crash")
        connection.close()
        if restarted(server) != empty:
            raise SystemExit(f"crash: seed {options.seed}: {files(server) - empty} files of leaves are left")
        print(f"crash: {lives} lives, {statements} statements, {torn} undone")
    finally:
        server.remove()


if __name__ == "__main__":
    main()
