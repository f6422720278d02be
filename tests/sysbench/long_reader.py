#!/usr/bin/env python3
"""The cost of an idle REPEATABLE READ reader for writers, and whether versions are pruned nevertheless.

    long_reader.py PORT [SECONDS [ROUNDS [WRITERS]]]

Writers update random rows of one table by primary key. Each round has three parts: without a reader; SECONDS with a reader
that has read the table once and is idle then; and without one again. The parts without take a minute at most. Prints
updates a second and the server's processor time per update in each part, the counters of undo at the end of the part with
the reader, and the ratios of that part to the other two. Fails if the reader no longer sees its snapshot, or if versions
are not pruned meanwhile. With SECONDS=300 this is the acceptance test: the reader is idle for five minutes.
"""

import os
import random
import re
import statistics
import subprocess
import sys
import threading
import time

import pymysql

ROWS = 10_000
ALONE = 60
TICK = os.sysconf("SC_CLK_TCK")


def connect(port):
    return pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True)


def query(connection, text):
    with connection.cursor() as cursor:
        cursor.execute(text)
        return cursor.fetchall()


def status(connection):
    names = "Variable_name LIKE 'Selkie_undo%' OR Variable_name LIKE 'Innodb_history%'"
    return {name: int(value) for name, value in query(connection, f"SHOW STATUS WHERE {names}")}


def server_cpu(port):
    """Returns processor seconds of the process that listens on the port."""
    out = subprocess.run(["ss", "-ltnpH", f"sport = :{port}"], capture_output=True, text=True).stdout
    with open(f"/proc/{re.search(r'pid=([0-9]+)', out).group(1)}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


class Writers:
    def __init__(self, port, count):
        self.port = port
        self.stop = False
        self.done = [0] * count
        self.threads = [threading.Thread(target=self.run, args=(port, n)) for n in range(count)]
        for thread in self.threads:
            thread.start()

    def run(self, port, number):
        connection = connect(port)
        query(connection, "USE long_reader")
        dice = random.Random(number)
        while not self.stop:
            at = dice.randrange(ROWS)
            query(connection, f"UPDATE t SET n = n + 1, pad = CONCAT(n, '{at:020}') WHERE id = {at}")
            self.done[number] += 1

    def measure(self, seconds):
        """Returns updates a second, and microseconds of the server's processor time per update."""
        before, cpu, start = sum(self.done), server_cpu(self.port), time.monotonic()
        time.sleep(seconds)
        done = sum(self.done) - before
        return done / (time.monotonic() - start), (server_cpu(self.port) - cpu) * 1e6 / max(done, 1)

    def end(self):
        self.stop = True
        for thread in self.threads:
            thread.join()


def checksum(connection):
    return query(connection, "SELECT SUM(n), COUNT(*), SUM(CRC32(pad)) FROM t")


def main():
    port = int(sys.argv[1])
    seconds, rounds, count = (list(map(int, sys.argv[2:])) + [5, 4, 4][len(sys.argv) - 2:])[:3]
    control = connect(port)
    query(control, "CREATE OR REPLACE DATABASE long_reader")
    query(control, "USE long_reader")
    query(control, "CREATE TABLE t (id INT PRIMARY KEY, n INT, pad VARCHAR(200), KEY (n)) ENGINE=InnoDB")
    for first in range(0, ROWS, 1000):
        values = ",".join(f"({n}, 0, '')" for n in range(first, first + 1000))
        query(control, f"INSERT INTO t VALUES {values}")
    writers = Writers(port, count)
    alone, beside = [], []
    failed = False
    try:
        writers.measure(min(seconds, 5))
        for _ in range(rounds):
            alone.append(writers.measure(min(seconds, ALONE)))
            reader = connect(port)
            query(reader, "USE long_reader")
            query(reader, "BEGIN")
            seen, before = checksum(reader), status(control)
            beside.append(writers.measure(seconds))
            after = status(control)
            again = checksum(reader)
            query(reader, "COMMIT")
            reader.close()
            alone.append(writers.measure(min(seconds, ALONE)))
            changes = {name: after[name] - before.get(name, 0) for name in after}
            parts = (("alone", alone[-2]), ("with reader", beside[-1]), ("alone", alone[-1]))
            print("  ".join(f"{name} {rate:.0f}/s {cpu:.1f} us" for name, (rate, cpu) in parts), flush=True)
            print("  at the end:", *(f"{n.lower()}={v}" for n, v in sorted(after.items())))
            pruned = changes.get("Selkie_undo_pruned_versions", 0)
            updates = beside[-1][0] * seconds
            # Every row and index entry may keep one version for the reader; all others must be pruned.
            if seen != again or (updates > 20 * ROWS and pruned < updates / 2):
                failed = True
                print(f"  FAILED: same answer {seen == again}, {pruned} versions pruned")
    finally:
        writers.end()
    rate, cpu = (statistics.median(b[n] for b in beside) / statistics.median(a[n] for a in alone) for n in (0, 1))
    print(f"with an idle reader writers run at {rate:.3f} of their rate without one, at {cpu:.3f} of the processor time")
    sys.exit(failed)


if __name__ == "__main__":
    main()
