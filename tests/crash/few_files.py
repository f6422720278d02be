"""A server that may have few files open: many tables and many clients must not use up its descriptors.

The process gets a low limit (`ulimit -n`). Sessions make, change, read and drop far more tables than there are
descriptors; then as many clients connect as are let in, statements run that need files of their own, and all tables
are read again, also after a kill -9. No statement may fail but a connection for which there is no room (1040), no row
may be missing, and the server must stay alive.

usage: few_files.py BINARY [LIMIT TABLES]
"""

import os
import random
import sys
import threading

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from selkie import Server  # noqa: E402

WORKERS = 4
NO_ROOM = 1040
# A small pool and a small log, so that pages are written and read again; small sorts, so that they need files.
OPTIONS = ["--innodb-buffer-pool-size=16M", "--innodb-log-file-size=32M", "--selkie-statement-memory=4M", "--log-bin=log"]


def rows(connection, statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()


class Worker(threading.Thread):
    """Makes and changes tables of its own, and knows what is in them."""

    def __init__(self, server, number, tables):
        super().__init__()
        self.server, self.number, self.tables = server, number, tables
        self.random = random.Random(number)
        self.sums = {}
        self.failure = None

    def run(self):
        try:
            with self.server.connect(database="few") as connection:
                for n in range(self.tables):
                    self.change(connection, f"t{self.number}_{n}")
        except Exception as failure:  # noqa: BLE001
            self.failure = failure

    def change(self, connection, name):
        rows(connection, f"CREATE TABLE {name} (a INT PRIMARY KEY, b INT, c VARCHAR(9000), KEY (b), KEY (c(20)))")
        values = [self.random.randrange(1000) for _ in range(5)]
        tuples = ", ".join(f"({a}, {b}, REPEAT('{b}', {self.random.choice([1, 3000])}))" for a, b in enumerate(values))
        rows(connection, f"INSERT INTO {name} VALUES {tuples}")
        self.sums[name] = sum(values)
        old = self.random.choice(list(self.sums))
        match self.random.randrange(6):
            case 0:
                rows(connection, f"DROP TABLE {old}")
                del self.sums[old]
            case 1:
                rows(connection, f"TRUNCATE {old}")
                self.sums[old] = 0
            case 2:
                rows(connection, f"ALTER TABLE {old} ADD COLUMN IF NOT EXISTS d INT DEFAULT 3, ALGORITHM=COPY")
            case _:
                rows(connection, f"UPDATE {old} SET b = b + 1 WHERE a IN (0, 1)")
                self.sums[old] = rows(connection, f"SELECT COALESCE(SUM(b), 0) FROM {old}")[0][0]


def check(server, workers):
    """All tables have their rows, in each index."""
    with server.connect(database="few") as connection:
        for name, expected in [item for worker in workers for item in worker.sums.items()]:
            for index in ("PRIMARY", "b"):
                found = rows(connection, f"SELECT COALESCE(SUM(b), 0) FROM {name} FORCE INDEX ({index})")[0][0]
                assert found == expected, f"{name}, {index}: {found} instead of {expected}"


def crowd(server, limit):
    """Connects until there is no room, and runs statements that need files on the connections."""
    crowd = []
    try:
        while len(crowd) < limit + 50:
            crowd.append(server.connect(database="few"))
        raise AssertionError(f"{len(crowd)} connections with {limit} descriptors")
    except pymysql.MySQLError as refused:
        assert refused.args[0] == NO_ROOM, refused
    sorted_rows = "SELECT seq, REPEAT(seq, 40) AS c FROM seq_1_to_60000 ORDER BY c DESC LIMIT 59999, 1"
    for n, connection in enumerate(crowd[:6]):
        assert rows(connection, sorted_rows)[0][0] == 10000, "a sort in files"
        rows(connection, "FLUSH BINARY LOGS")
        rows(connection, f"CREATE TABLE crowd{n} AS SELECT seq, REPEAT('x', 500) AS c FROM seq_1_to_5000")
        assert rows(connection, f"SELECT COUNT(DISTINCT c), COUNT(*) FROM crowd{n}") == ((1, 5000),)
    print(f"{len(crowd)} connections at once", flush=True)
    for connection in crowd:
        connection.close()


def attack(server, limit, tables):
    with server.connect() as connection:
        rows(connection, "CREATE DATABASE few")
        shown = dict(rows(connection, "SHOW VARIABLES LIKE '%open_files%'"))
        assert int(shown["open_files_limit"]) == limit and int(shown["innodb_open_files"]) < limit, shown
    workers = [Worker(server, n, tables // WORKERS) for n in range(WORKERS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.failure is None, repr(worker.failure)
    check(server, workers)
    crowd(server, limit)
    check(server, workers)
    server.kill()
    server.start()
    check(server, workers)
    kept = sum(len(worker.sums) for worker in workers)
    used = len(os.listdir(f"/proc/{server.process.pid}/fd"))
    print(f"{kept} tables, {3 * kept} files, {used} descriptors of {limit}", flush=True)
    assert used < limit < 3 * kept


def main():
    binary, *numbers = sys.argv[1:]
    limit, tables = [int(number) for number in numbers] or [220, 400]
    server = Server(binary, options=OPTIONS, files=limit)
    try:
        server.start()
        attack(server, limit, tables)
        server.stop()
    finally:
        server.remove()


if __name__ == "__main__":
    main()
