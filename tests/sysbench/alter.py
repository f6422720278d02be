"""Throughput of writers and their longest statement before, during and after ALTER TABLE ... ADD INDEX.

Loads a table like sysbench's, lets writers run transactions of four statements (an update of a key, an update of another
column, a delete and an insert), and adds an index meanwhile. Prints transactions per second and the longest statement of
each phase, the duration of the ALTER, and the share of the throughput that is left during it; at the end CHECK TABLE.
With limits as options it fails beyond them.

usage: alter.py BINARY|--mariadb [--rows N] [--writers N] [--seconds N] [--op add|unique|drop] [--throughput X] [--longest MS]
"""

import argparse
import os
import random
import sys
import threading
import time

import pymysql

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from selkie import Server  # noqa: E402
from stalls import MariaDb  # noqa: E402

OPERATIONS = {
    "add": "ADD INDEX k_new (k, pad)",
    "unique": "ADD UNIQUE k_new (u)",
    "drop": "DROP INDEX k_1",
    "modify": "MODIFY k BIGINT NOT NULL",
}


class Writers:
    """Writers, each statement of which is timed."""

    def __init__(self, server, rows, count):
        self.server, self.rows, self.count = server, rows, count
        self.stop = threading.Event()
        self.threads = []
        self.done, self.longest, self.errors, self.numbers = [0] * count, [0.0] * count, {}, [0] * count

    def start(self):
        self.threads = [threading.Thread(target=self.run, args=(at,)) for at in range(self.count)]
        [thread.start() for thread in self.threads]

    def end(self):
        self.stop.set()
        [thread.join() for thread in self.threads]

    def timed(self, cursor, at, sql):
        begun = time.monotonic()
        try:
            cursor.execute(sql)
        finally:
            self.longest[at] = max(self.longest[at], time.monotonic() - begun)

    def run(self, at):
        rng = random.Random(at)
        connection = self.server.connect(database="sbtest", autocommit=False)
        cursor = connection.cursor()
        while not self.stop.is_set():
            row, k = rng.randrange(1, self.rows + 1), rng.randrange(self.rows)
            self.numbers[at] += 1
            u = (1 << 32) + self.numbers[at] * self.count + at
            try:
                self.timed(cursor, at, f"UPDATE sbtest1 SET k = k + 1 WHERE id = {row}")
                self.timed(cursor, at, f"UPDATE sbtest1 SET c = CONCAT(c, '') WHERE id = {(row * 7) % self.rows + 1}")
                row = rng.randrange(1, self.rows + 1)
                self.timed(cursor, at, f"DELETE FROM sbtest1 WHERE id = {row}")
                self.timed(cursor, at, "INSERT INTO sbtest1 (id, k, c, pad, u) VALUES "
                           f"({row}, {k}, REPEAT('c', 100), REPEAT('p', 50), {u})")
                self.timed(cursor, at, "COMMIT")
                self.done[at] += 1
            except pymysql.MySQLError as error:
                self.errors[error.args[0]] = self.errors.get(error.args[0], 0) + 1
                connection.rollback()
        connection.close()

    def phase(self, name, work):
        """Runs `work`; returns transactions per second and the longest statement in milliseconds."""
        before, begun = sum(self.done), time.monotonic()
        self.longest = [0.0] * self.count
        work()
        spent = time.monotonic() - begun
        rate, longest = (sum(self.done) - before) / spent, max(self.longest) * 1000
        print(f"{name:7} {spent:7.1f} s {rate:8.0f} transactions/s, longest statement {longest:7.1f} ms", flush=True)
        return rate, longest


def load(server, rows):
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE sbtest")
        cursor.execute("USE sbtest")
        cursor.execute("CREATE TABLE sbtest1 (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, k INT NOT NULL DEFAULT 0, "
                       "c VARCHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '', u BIGINT, KEY k_1 (k))")
        step = 100_000
        for first in range(0, rows, step):
            last = min(first + step, rows)
            cursor.execute("INSERT INTO sbtest1 SELECT seq, MOD(seq * 7919, %s), REPEAT('c', 100), REPEAT('p', 50), seq "
                           "FROM seq_%s_to_%s", (rows, first + 1, last))


def main():
    a = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    a.add_argument("binary", nargs="?")
    a.add_argument("--mariadb", action="store_true")
    a.add_argument("--rows", type=int, default=500_000)
    a.add_argument("--writers", type=int, default=8)
    a.add_argument("--seconds", type=float, default=10, help="length of the phases before and after")
    a.add_argument("--op", choices=OPERATIONS, default="add")
    a.add_argument("--throughput", type=float, help="least share of the throughput that is left during the ALTER")
    a.add_argument("--longest", type=float, help="longest statement during the ALTER, in milliseconds")
    a.add_argument("--pool", default="512M")
    a.add_argument("--port", type=int)
    args = a.parse_args()
    options = [f"--innodb-buffer-pool-size={args.pool}", "--innodb-log-file-size=512M"]
    server = (MariaDb if args.mariadb else Server)(args.binary, options=options)
    server.port = args.port or server.port
    server.start()
    writers = Writers(server, args.rows, args.writers)
    try:
        load(server, args.rows)
        writers.start()
        with server.connect(database="sbtest") as connection, connection.cursor() as cursor:
            writers.phase("warm up", lambda: time.sleep(args.seconds / 2))
            before, _ = writers.phase("before", lambda: time.sleep(args.seconds))
            during, longest = writers.phase("during",
                                            lambda: cursor.execute(f"ALTER TABLE sbtest1 {OPERATIONS[args.op]}"))
            writers.phase("after", lambda: time.sleep(args.seconds))
            writers.end()
            cursor.execute("CHECK TABLE sbtest1 EXTENDED")
            told = cursor.fetchall()
        share = during / before
        print(f"left during the ALTER: {share:.2f}; errors {writers.errors}; CHECK TABLE {told[-1][3]}", flush=True)
        if told[-1][3] != "OK":
            raise SystemExit(f"CHECK TABLE: {told}")
        if args.throughput and share < args.throughput:
            raise SystemExit(f"less than {args.throughput} of the throughput is left")
        if args.longest and longest > args.longest:
            raise SystemExit(f"a statement took longer than {args.longest} ms")
    finally:
        writers.end()
        server.remove()


if __name__ == "__main__":
    main()
