#!/usr/bin/env python3
"""What an idle REPEATABLE READ reader costs writers, and whether versions go all the same.

    long_reader.py PORT [SECONDS [ROUNDS [WRITERS]]]

Writers update random rows of one table by primary key. Rounds alternate: SECONDS without a reader, SECONDS with one that
has read the table once and then does nothing. Shows the rates, the counters of undo at the end of each part with a
reader, and the ratio. Fails if the reader no longer sees what it saw, or if versions are not reclaimed under it.
With SECONDS=300 this is the acceptance test: the reader is idle for five minutes.
"""

import random
import statistics
import sys
import threading
import time

import pymysql

ROWS = 10_000


def connect(port):
    return pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True)


def query(connection, text):
    with connection.cursor() as cursor:
        cursor.execute(text)
        return cursor.fetchall()


def status(connection):
    names = "Variable_name LIKE 'Selkie_undo%' OR Variable_name LIKE 'Innodb_history%'"
    return {name: int(value) for name, value in query(connection, f"SHOW STATUS WHERE {names}")}


class Writers:
    def __init__(self, port, count):
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

    def rate(self, seconds):
        before, start = sum(self.done), time.monotonic()
        time.sleep(seconds)
        return (sum(self.done) - before) / (time.monotonic() - start)

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
        writers.rate(min(seconds, 5))
        for _ in range(rounds):
            alone.append(writers.rate(seconds))
            reader = connect(port)
            query(reader, "USE long_reader")
            query(reader, "BEGIN")
            seen, before = checksum(reader), status(control)
            beside.append(writers.rate(seconds))
            after = status(control)
            again = checksum(reader)
            query(reader, "COMMIT")
            reader.close()
            changes = {name: after[name] - before.get(name, 0) for name in after}
            print(f"alone {alone[-1]:8.0f}/s  with reader {beside[-1]:8.0f}/s", flush=True)
            print("  at the end:", *(f"{n.lower()}={v}" for n, v in sorted(after.items())))
            pruned = changes.get("Selkie_undo_pruned_versions", 0)
            updates = beside[-1] * seconds
            # Every row and index entry may keep one version for the reader; what is beyond must go.
            if seen != again or (updates > 20 * ROWS and pruned < updates / 2):
                failed = True
                print(f"  FAILED: same answer {seen == again}, {pruned} versions pruned")
    finally:
        writers.end()
    ratio = statistics.median(beside) / statistics.median(alone)
    print(f"with an idle reader writers run at {ratio:.3f} of their rate without one")
    sys.exit(failed)


if __name__ == "__main__":
    main()
