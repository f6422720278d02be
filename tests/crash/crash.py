"""kill -9 in the middle of a write load, again and again; nothing acknowledged may be missing.

Every worker commits transactions of two ledger rows and one increment of its own counter, and
autocommitted single rows. What was acknowledged is remembered here, outside the server. After
every restart: each acknowledged row is there, no transaction is there in part, counters agree with
the ledger, and CHECK TABLE compares every index with its table.

usage: crash.py BINARY CYCLES [SEED]
"""

import os
import random
import sys
import threading
import time
import zlib

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from selkie import Server  # noqa: E402

WORKERS = 8
SCHEMA = [
    "CREATE DATABASE crash",
    """CREATE TABLE crash.ledger (
        id BIGINT AUTO_INCREMENT PRIMARY KEY, worker INT NOT NULL, seq INT NOT NULL,
        part INT NOT NULL, payload VARCHAR(400) NOT NULL, checksum BIGINT NOT NULL,
        UNIQUE KEY place (worker, seq, part), KEY by_checksum (checksum))""",
    "CREATE TABLE crash.counters (worker INT PRIMARY KEY, n INT NOT NULL, KEY by_n (n))",
]


class Worker(threading.Thread):
    """Writes until the server dies; `acked` are sequence numbers known to be committed."""

    def __init__(self, server, number, first, seed):
        super().__init__(daemon=True)
        self.server, self.number, self.seq = server, number, first
        self.random = random.Random(seed)
        self.acked = []
        self.problem = None

    def run(self):
        try:
            connection = self.server.connect(read_timeout=60, write_timeout=60)
            with connection.cursor() as cursor:
                while True:
                    self.write(connection, cursor)
                    self.acked.append(self.seq)
                    self.seq += 1
        except (pymysql.err.OperationalError, pymysql.err.InterfaceError, OSError) as error:
            if error.args and error.args[0] not in (0, 2003, 2006, 2013):
                self.problem = error
        except pymysql.MySQLError as error:
            self.problem = error

    def write(self, connection, cursor):
        connection.begin()
        for part in range(2):
            payload = "".join(self.random.choices("abcdefgh", k=self.random.randrange(10, 400)))
            checksum = zlib.crc32(payload.encode())
            cursor.execute(
                "INSERT INTO crash.ledger (worker, seq, part, payload, checksum)"
                " VALUES (%s, %s, %s, %s, %s)", (self.number, self.seq, part, payload, checksum))
        cursor.execute("UPDATE crash.counters SET n = n + 1 WHERE worker = %s", (self.number,))
        connection.commit()


def verify(server, acked, attempted):
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT worker, seq, part, payload, checksum FROM crash.ledger")
        present = {}
        for worker, seq, part, payload, checksum in cursor.fetchall():
            assert zlib.crc32(payload.encode()) == checksum, f"row {worker}/{seq} is damaged"
            present.setdefault((worker, seq), set()).add(part)
        cursor.execute("SELECT worker, n FROM crash.counters")
        counters = dict(cursor.fetchall())
        for table in ("ledger", "counters"):
            cursor.execute(f"CHECK TABLE crash.{table} EXTENDED")
            verdict = cursor.fetchall()
            assert verdict[-1][3] == "OK", verdict
    missing = acked - present.keys()
    assert not missing, f"{len(missing)} acknowledged transactions are missing: {sorted(missing)[:5]}"
    partial = [key for key, parts in present.items() if parts != {0, 1}]
    assert not partial, f"transactions there in part: {partial[:5]}"
    unknown = present.keys() - attempted
    assert not unknown, f"rows nobody wrote: {sorted(unknown)[:5]}"
    for worker in range(WORKERS):
        rows = sum(1 for key in present if key[0] == worker)
        assert counters[worker] == rows, f"counter {worker} is {counters[worker]}, rows {rows}"
    return present.keys()


def cycle(server, rng, number, acked, attempted, next_seq):
    workers = [Worker(server, w, next_seq[w], rng.random()) for w in range(WORKERS)]
    for worker in workers:
        worker.start()
    time.sleep(rng.uniform(0.2, 1.2))
    server.kill()
    for worker in workers:
        worker.join(60)
        assert not worker.is_alive() and worker.problem is None, worker.problem
        acked.update((worker.number, seq) for seq in worker.acked)
        attempted.update((worker.number, seq) for seq in range(next_seq[worker.number], worker.seq + 1))
        next_seq[worker.number] = worker.seq + 1
    started = time.monotonic()
    server.start()
    present = verify(server, acked, attempted)
    acked |= present
    print(f"cycle {number}: {len(acked)} transactions, back in {time.monotonic() - started:.1f} s",
          flush=True)


def main():
    binary, cycles = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    rng = random.Random(seed)
    server = Server(binary, options=["--innodb-buffer-pool-size=64M"]).start()
    try:
        with server.connect() as connection, connection.cursor() as cursor:
            for statement in SCHEMA:
                cursor.execute(statement)
            for worker in range(WORKERS):
                cursor.execute("INSERT INTO crash.counters VALUES (%s, 0)", (worker,))
        acked, attempted, next_seq = set(), set(), [0] * WORKERS
        for number in range(1, cycles + 1):
            cycle(server, rng, number, acked, attempted, next_seq)
        server.stop()
    finally:
        server.remove()
    print(f"crash: {cycles} cycles, {len(acked)} transactions, nothing lost")


if __name__ == "__main__":
    main()
