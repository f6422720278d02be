"""Counters that many sessions read and then write: no increment may be lost.

usage: lost_updates.py PORT [COMMITS] [SESSIONS] [ROWS]

Each session, at REPEATABLE READ with innodb_snapshot_isolation=ON, reads a row without locking it
and writes its value plus one; after a conflict (1020, 1213) it tries again. At the end the sum of the
rows must equal the number of acknowledged commits. Default: 1,000,000 commits by 32 sessions over 16
rows. Errors other than conflicts fail.
"""

import random
import sys
import threading
import time

import pymysql

CONFLICTS = (1020, 1213, 1205)


def connect(port):
    return pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True)


def work(port, rows, budget, seed, totals):
    chance = random.Random(seed)
    connection = connect(port)
    cursor = connection.cursor()
    cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    cursor.execute("SET SESSION innodb_snapshot_isolation=ON")
    done = conflicts = 0
    while done < budget:
        row = chance.randrange(rows)
        try:
            cursor.execute("BEGIN")
            cursor.execute("SELECT n FROM lost_updates.t WHERE id = %s", (row,))
            value = cursor.fetchone()[0]
            cursor.execute("UPDATE lost_updates.t SET n = %s WHERE id = %s", (value + 1, row))
            cursor.execute("COMMIT")
            done += 1
        except pymysql.MySQLError as error:
            if error.args[0] not in CONFLICTS:
                totals.append(error)
                return
            conflicts += 1
            cursor.execute("ROLLBACK")
    totals.append((done, conflicts))


def main():
    given = dict(enumerate(map(int, sys.argv[1:])))
    port, commits, sessions, rows = given[0], given.get(1, 1_000_000), given.get(2, 32), given.get(3, 16)
    admin = connect(port).cursor()
    admin.execute("DROP DATABASE IF EXISTS lost_updates")
    admin.execute("CREATE DATABASE lost_updates")
    admin.execute("CREATE TABLE lost_updates.t (id INT PRIMARY KEY, n BIGINT) ENGINE=InnoDB")
    for row in range(rows):
        admin.execute("INSERT INTO lost_updates.t VALUES (%s, 0)", (row,))
    totals, begun = [], time.monotonic()
    threads = [threading.Thread(target=work, args=(port, rows, commits // sessions, seed, totals))
               for seed in range(sessions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    errors = [total for total in totals if not isinstance(total, tuple)]
    if errors:
        raise SystemExit(f"lost updates: {errors[0]}")
    done, conflicts = (sum(column) for column in zip(*totals))
    admin.execute("SELECT SUM(n) FROM lost_updates.t")
    found = int(admin.fetchone()[0])
    admin.execute("DROP DATABASE lost_updates")
    seconds = time.monotonic() - begun
    print(f"lost updates: {done} commits, {conflicts} conflicts, {done - found} lost, {seconds:.0f} s")
    sys.exit(0 if found == done else 1)


main()
