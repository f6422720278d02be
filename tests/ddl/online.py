"""Indexes are added and dropped while writers change rows: each index must equal its table, before and after kill -9.

Eight writers insert, update (keys, primary keys and letter case too), delete, roll back to savepoints and roll back, at
two isolation levels. Meanwhile one session adds an index of any kind, compares it with the table in one snapshot, runs
CHECK TABLE, and drops it. A unique index either fails with 1062 or holds. Then come cycles of kill -9 in the middle of
an ALTER: after the restart the definition has the index or not, and CHECK TABLE finds nothing.

usage: online.py BINARY [--seconds N] [--cycles N] [--rows N] [--seed N] [--port N]
"""

import argparse
import contextlib
import os
import random
import sys
import threading
import time

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from selkie import Server  # noqa: E402

WRITERS = 8
# Deadlocks, waits, duplicates, and reads of an index through a snapshot from before it.
EXPECTED = {1205, 1213, 1062, 1412}

TABLE = """CREATE TABLE t (
    id INT AUTO_INCREMENT PRIMARY KEY, a INT, b VARCHAR(40) COLLATE utf8mb4_general_ci, c INT NOT NULL, d TEXT, u INT,
    v INT AS (a % 7) VIRTUAL, s INT AS (c + 1) STORED, KEY own (c))"""
ROWS = """INSERT INTO t (a, b, c, d, u)
    SELECT IF(seq % 11, seq % 500, NULL), CONCAT('Name', seq % 300), seq % 1000, REPEAT(CHAR(97 + seq % 26), seq % 200),
    IF(seq % 9, seq, NULL) FROM seq_1_to_{}"""

# The definition of an index, and the columns it covers.
INDEXES = [
    ("INDEX k (a)", "a"),
    ("INDEX k (b)", "b"),
    ("INDEX k (b(5), a)", "a"),
    ("INDEX k (c DESC, a)", "c a"),
    ("INDEX k (s, u)", "s u"),
    ("INDEX k (v)", "v"),
    ("INDEX k (d(100))", ""),
    ("INDEX k (a) IGNORED", ""),
    ("UNIQUE k (a, id)", "a"),
    ("UNIQUE k (u)", "u"),
    ("UNIQUE k (u)", "u"),
    ("UNIQUE k (u DESC, v)", "u"),
    ("INDEX k (a, b, c), ADD INDEX k2 (u)", "a b c"),
]


class Test:
    def __init__(self, server, seed):
        self.server, self.rng = server, random.Random(seed)
        self.problems, self.counts = [], {}
        self.lock, self.next = threading.Lock(), 1 << 20
        self.stop = threading.Event()

    def count(self, what):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + 1

    def number(self):
        with self.lock:
            self.next += 1
            return self.next

    def connect(self, **options):
        return self.server.connect(database="online", **options)

    def load(self, rows):
        with self.server.connect() as connection, connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE online")
            cursor.execute("USE online")
            cursor.execute(TABLE)
            cursor.execute(ROWS.format(rows))
            cursor.execute("SELECT MAX(id) FROM t")
            self.top = cursor.fetchone()[0]

    # Writers.

    def statement(self, rng):
        some, row = rng.randrange(500), rng.randrange(1, self.top)
        a = rng.choice(["NULL", some, some])
        u = rng.choice([self.number()] * 24 + [row, "NULL"])
        name = rng.choice(["name", "NAME", "Näme"]) + str(rng.randrange(300))
        return rng.choice([
            f"INSERT INTO t (a, b, c, d, u) VALUES ({a}, '{name}', {some}, REPEAT('x', {some}), {u})",
            f"INSERT INTO t (a, b, c, u) VALUES ({a}, '{name}', 1, {u}), ({a}, '{name}', 2, {self.number()})",
            f"REPLACE INTO t (id, a, b, c, u) VALUES ({row}, {a}, '{name}', {some}, {u})",
            f"INSERT IGNORE INTO t (id, a, c, u) VALUES ({row}, {a}, {some}, {u})",
            f"INSERT INTO t (id, a, c) VALUES ({row}, {a}, 3) ON DUPLICATE KEY UPDATE a = {a}, b = '{name}'",
            f"UPDATE t SET a = {a}, c = {some} WHERE id = {row}",
            f"UPDATE t SET b = '{name}' WHERE id = {row}",
            f"UPDATE t SET b = IF(b = UPPER(b), LOWER(b), UPPER(b)) WHERE id BETWEEN {row} AND {row + 5}",
            f"UPDATE t SET u = {u} WHERE id = {row}",
            f"UPDATE t SET d = REPEAT('{name}', {some % 30}) WHERE id = {row}",
            f"UPDATE t SET id = {self.number()} WHERE id = {row}",
            f"UPDATE t SET a = a + 1 WHERE c = {some}",
            f"DELETE FROM t WHERE id = {row}",
            f"DELETE FROM t WHERE c = {some} LIMIT 3",
            f"SELECT a, b FROM t WHERE a = {some} LIMIT 5",
        ])

    def write(self, seed):
        rng = random.Random(seed)
        try:
            connection = self.connect(autocommit=False)
            cursor = connection.cursor()
            cursor.execute("SET innodb_lock_wait_timeout = 2")
            while not self.stop.is_set():
                level = rng.choice(["READ COMMITTED", "REPEATABLE READ"])
                cursor.execute(f"SET SESSION TRANSACTION ISOLATION LEVEL {level}")
                self.transact(connection, cursor, rng)
            connection.close()
        except (pymysql.MySQLError, OSError) as error:
            if not self.stop.is_set():
                self.problems.append(f"writer: {error}")

    def transact(self, connection, cursor, rng):
        try:
            for step in range(rng.randrange(1, 5)):
                if step == 2:
                    cursor.execute("SAVEPOINT s")
                cursor.execute(self.statement(rng))
                if step == 3 and rng.random() < 0.5:
                    cursor.execute("ROLLBACK TO s")
            if rng.random() < 0.1:
                time.sleep(rng.random() * 0.1)
            connection.rollback() if rng.random() < 0.3 else connection.commit()
            self.count("transactions")
        except (pymysql.err.OperationalError, pymysql.err.IntegrityError) as error:
            if error.args[0] not in EXPECTED:
                raise
            self.count(error.args[0])
            connection.rollback()

    # The session that adds indexes.

    def alter(self, connection, sql):
        try:
            with connection.cursor() as cursor:
                cursor.execute(f"ALTER TABLE t {sql}")
            return True
        except pymysql.MySQLError as error:
            self.count(f"ALTER {error.args[0]}")
            if error.args[0] not in EXPECTED:
                self.problems.append(f"{sql}: {error}")
            return False

    def add_one(self, connection):
        definition, covered = self.rng.choice(INDEXES)
        if "UNIQUE k (u" in definition:
            self.remove_duplicates(connection)
        if not self.alter(connection, f"ADD {definition}"):
            return
        self.count("added")
        self.compare(definition, covered)
        drop = "DROP INDEX k, DROP INDEX k2" if "k2" in definition else "DROP INDEX k"
        self.alter(connection, drop)

    def remove_duplicates(self, connection):
        with connection.cursor() as cursor, contextlib.suppress(pymysql.MySQLError):
            cursor.execute("SELECT MAX(id) FROM t GROUP BY u HAVING COUNT(*) > 1 AND u IS NOT NULL")
            for row in cursor.fetchall():
                cursor.execute("UPDATE t SET u = NULL WHERE id = %s", row)

    def compare(self, definition, covered):
        """Compares the index with the table in one snapshot."""
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            columns = ", ".join(f"COALESCE({c}, 'null')" for c in ["id", *covered.split()])
            sums = f"COUNT(*), SUM(CRC32(CONCAT_WS('|', {columns}))), SUM(id)"
            cursor.execute(f"SELECT {sums} FROM t FORCE INDEX (PRIMARY)")
            rows = cursor.fetchone()
            if covered:
                cursor.execute(f"SELECT {sums} FROM t FORCE INDEX (k)")
                if cursor.fetchone() != rows:
                    self.problems.append(f"{definition}: the index differs from the table")
            if "UNIQUE k (u)" in definition:
                cursor.execute("SELECT u, COUNT(*) FROM t FORCE INDEX (PRIMARY) WHERE u IS NOT NULL "
                               "GROUP BY u HAVING COUNT(*) > 1")
                if twice := cursor.fetchall():
                    self.problems.append(f"{definition}: duplicates {twice[:3]}")
            connection.rollback()
        self.check(definition)

    def check(self, when):
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute("CHECK TABLE t EXTENDED")
            told = cursor.fetchall()
            if told[-1][3] != "OK":
                self.problems.append(f"{when}: CHECK TABLE says {told}")

    # The parts of the test.

    def beside_writers(self, work):
        self.stop.clear()
        writers = [threading.Thread(target=self.write, args=(self.rng.random(),)) for _ in range(WRITERS)]
        [writer.start() for writer in writers]
        try:
            work()
        finally:
            self.stop.set()
            [writer.join() for writer in writers]

    def loop(self, seconds):
        end = time.monotonic() + seconds
        with self.connect() as connection:
            while time.monotonic() < end and not self.problems:
                self.add_one(connection)

    def kill_in_the_middle(self):
        def work():
            def alter():
                with contextlib.suppress(pymysql.MySQLError, OSError), self.connect() as connection:
                    for definition, _ in self.rng.sample(INDEXES, 3):
                        drop = ", DROP INDEX IF EXISTS k2" if self.rng.random() < 0.5 else ""
                        self.alter_quietly(connection, f"ADD {definition}")
                        self.alter_quietly(connection, f"DROP INDEX IF EXISTS k{drop}")

            thread = threading.Thread(target=alter)
            thread.start()
            time.sleep(0.1 + self.rng.random() * 1.5)
            self.stop.set()
            self.server.kill()
            thread.join()

        self.beside_writers(work)
        self.server.start()
        self.check("after kill -9")
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SHOW INDEX FROM t")
            for name in {row[2] for row in cursor.fetchall()} & {"k", "k2"}:
                self.count("there after kill")
                cursor.execute(f"ALTER TABLE t DROP INDEX {name}")
        self.count("killed")

    def alter_quietly(self, connection, sql):
        with contextlib.suppress(pymysql.err.IntegrityError), connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE t {sql}")


def main():
    a = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    a.add_argument("binary")
    a.add_argument("--seconds", type=float, default=15)
    a.add_argument("--cycles", type=int, default=3)
    a.add_argument("--rows", type=int, default=6_000)
    a.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    a.add_argument("--port", type=int)
    args = a.parse_args()
    print(f"online indexes, seed {args.seed}", flush=True)
    server = Server(args.binary, options=["--innodb-buffer-pool-size=64M"])
    server.port = args.port or server.port
    server.start()
    try:
        test = Test(server, args.seed)
        test.load(args.rows)
        test.beside_writers(lambda: test.loop(args.seconds))
        test.check("after the writers")
        for _ in range(args.cycles):
            if test.problems:
                break
            test.kill_in_the_middle()
        print(test.counts)
        if test.problems:
            raise SystemExit("\n".join(test.problems[:5]))
        if not test.counts.get("added"):
            raise SystemExit("no index was added")
        server.stop()
    finally:
        server.remove()


if __name__ == "__main__":
    main()
