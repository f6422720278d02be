#!/usr/bin/env python3
"""Random UPDATE and DELETE FOR PORTION OF, and keys without overlaps under writers at every isolation level.

Part one, beside a MariaDB: one session changes portions of rows. Both servers must give the same answers and rows, and
the days of every key must be those of a model.
Part two: several sessions insert, update, move and delete rows of a few keys without overlaps in transactions, some of
which roll back, in tables of three shapes. Rows of a key must never overlap, in no snapshot and not at the end, and the
answered commits of each session must be there.

usage: portions.py PORT MARIADB_PORT [--seed N] [--seconds N]
"""
import argparse
import random
import sys
import threading
import time

import pymysql

DAYS = 200
KEYS = 4
LEVELS = ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"]
KEY = {"pk": "PRIMARY KEY (k, p WITHOUT OVERLAPS)", "uniq": "n INT AUTO_INCREMENT PRIMARY KEY, UNIQUE (k, p WITHOUT OVERLAPS)",
       "parts": "UNIQUE (k, p WITHOUT OVERLAPS)"}
# Rows of one key lie in several partitions.
TAIL = {"parts": " PARTITION BY RANGE COLUMNS (s) (PARTITION a VALUES LESS THAN ('2000-03-01'), "
                 "PARTITION b VALUES LESS THAN ('2000-05-01'), PARTITION c VALUES LESS THAN (MAXVALUE))"}


def connect(port, database=None):
    return pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True, database=database)


def day(number):
    """Day `number` as SQL."""
    return time.strftime("'%Y-%m-%d'", time.gmtime(946684800 + number * 86400))


def ask(connection, statement):
    """What a client sees of a statement: its counts or its error."""
    with connection.cursor() as cursor:
        try:
            cursor.execute(statement)
            return cursor.rowcount, (cursor._result.message or b""), None
        except pymysql.MySQLError as error:
            return None, b"", error.args


def rows(connection, query):
    with connection.cursor() as cursor:
        cursor.execute(query)
        return sorted(cursor.fetchall())


def table(kind):
    plain = kind == "plain"
    key = "" if plain else ", " + KEY[kind]
    return f"(k INT, x INT, s DATE, e DATE, g INT AS (DATEDIFF(e, s)) STORED, PERIOD FOR p (s, e){key}){TAIL.get(kind, '')}"


def beside(selkie, mariadb, rng, rounds):
    """Part one."""
    both = [connect(selkie), connect(mariadb)]
    for connection in both:
        for statement in ("DROP DATABASE IF EXISTS portions", "CREATE DATABASE portions", "USE portions",
                          "SET SESSION innodb_lock_wait_timeout = 5"):
            ask(connection, statement)
    for number in range(rounds):
        kind = rng.choice(["plain", "pk", "uniq"])
        days = {}  # (key, day) -> value of x, where keys do not overlap
        for connection in both:
            ask(connection, "DROP TABLE IF EXISTS t")
            ask(connection, "CREATE TABLE t " + table(kind))
        for _ in range(25):
            statement, effect = change(rng)
            answers = [ask(connection, statement) for connection in both]
            if answers[0] != answers[1]:
                sys.exit(f"round {number}, {kind}: {statement}\n  MariaDB {answers[1]}\n  Selkie  {answers[0]}")
            if answers[0][2] is None and kind != "plain":
                effect(days)
        found = [rows(connection, "SELECT k, x, s, e, g FROM t") for connection in both]
        if found[0] != found[1]:
            sys.exit(f"round {number}, {kind}: rows differ\n  MariaDB {found[1]}\n  Selkie  {found[0]}")
        if kind != "plain":
            pieces = {}
            start = time.gmtime(946684800)
            for k, x, s, e, _ in found[0]:
                first = (s - type(s)(start.tm_year, start.tm_mon, start.tm_mday)).days
                for at in range(first, first + (e - s).days):
                    if (k, at) in pieces:
                        sys.exit(f"round {number}, {kind}: two rows of key {k} on day {at}")
                    pieces[k, at] = x
            if pieces != days:
                sys.exit(f"round {number}, {kind}: the days differ from the model: {set(pieces.items()) ^ set(days.items())}")


def change(rng):
    """A statement and its effect on the days of a table without overlaps, if it succeeds."""
    key, x = rng.randrange(KEYS), rng.randrange(100)
    start = rng.randrange(DAYS)
    end = start + rng.randint(1, 60)
    kind = rng.choice(["insert", "insert", "insert", "update", "update", "delete", "move"])
    within = f"FOR PORTION OF p FROM {day(start)} TO {day(end)}"

    def insert(days):
        days.update({(key, at): x for at in range(start, end)})

    def update(days):
        days.update({place: x for place in days if place[0] == key and start <= place[1] < end})

    def delete(days):
        for place in [place for place in days if place[0] == key and start <= place[1] < end]:
            del days[place]

    def move(days):
        moved = {place: value for place, value in days.items() if place[0] == key and start <= place[1] < end}
        for place in moved:
            del days[place]
        days.update({(key + 1, at): value for (_, at), value in moved.items()})

    if kind == "insert":
        return f"INSERT INTO t (k, x, s, e) VALUES ({key}, {x}, {day(start)}, {day(end)})", insert
    if kind == "update":
        return f"UPDATE t {within} SET x = {x} WHERE k = {key} ORDER BY s", update
    if kind == "delete":
        return f"DELETE FROM t {within} WHERE k = {key} ORDER BY s", delete
    return f"UPDATE t {within} SET k = k + 1 WHERE k = {key} ORDER BY s", move


def write(port, kind, seed, deadline, failures):
    """A session of part two."""
    rng = random.Random(seed)
    connection = connect(port, "portions")
    ask(connection, "SET SESSION innodb_lock_wait_timeout = 1")
    try:
        while time.monotonic() < deadline and not failures:
            ask(connection, f"SET SESSION TRANSACTION ISOLATION LEVEL {rng.choice(LEVELS)}")
            ask(connection, "BEGIN")
            for _ in range(rng.randint(1, 3)):
                error = ask(connection, writing(rng, kind))[2]
                # Duplicates, deadlocks, timeouts and rows that would end before they start are all in order.
                if error and error[0] not in (1062, 1213, 1205, 4025):
                    failures.append(f"{kind}: {error}")
            ask(connection, rng.choice(["COMMIT", "COMMIT", "ROLLBACK"]))
    except pymysql.MySQLError as error:
        failures.append(f"{kind}: {error}")


def writing(rng, kind):
    key, start = rng.randrange(2), rng.randrange(DAYS)
    end = start + rng.randint(1, 40)
    s, e = day(start), day(end)
    return f"/* {kind} */ " + rng.choice([
        f"INSERT INTO {kind} (k, x, s, e) VALUES ({key}, 1, {s}, {e})",
        f"INSERT IGNORE INTO {kind} (k, x, s, e) VALUES ({key}, 1, {s}, {e}), ({1 - key}, 1, {s}, {e})",
        f"UPDATE {kind} FOR PORTION OF p FROM {s} TO {e} SET x = x + 1 WHERE k = {key}",
        f"UPDATE {kind} FOR PORTION OF p FROM {s} TO {e} SET k = {1 - key} WHERE k = {key}",
        f"DELETE FROM {kind} FOR PORTION OF p FROM {s} TO {e} WHERE k = {key}",
        f"UPDATE {kind} SET s = s - INTERVAL {rng.randint(1, 9)} DAY WHERE k = {key} AND s > {s} LIMIT 1",
        f"UPDATE IGNORE {kind} SET e = e + INTERVAL {rng.randint(1, 9)} DAY WHERE k = {key} AND s > {s} LIMIT 2",
        f"UPDATE {kind} SET k = {1 - key} WHERE k = {key} AND s BETWEEN {s} AND {e}",
        f"DELETE FROM {kind} WHERE k = {key} AND s > {s} LIMIT 2",
    ])


def overlaps(connection, kind):
    """Pairs of rows of one key that overlap, in one snapshot."""
    found, last = [], {}
    for k, s, e in rows(connection, f"SELECT k, s, e FROM {kind}"):
        if k in last and s < last[k]:
            found.append((k, s, e))
        last[k] = max(e, last.get(k, e))
    return found


def contend(port, rng, seconds):
    """Part two."""
    connection = connect(port)
    for statement in ("DROP DATABASE IF EXISTS portions", "CREATE DATABASE portions", "USE portions"):
        ask(connection, statement)
    for kind in KEY:
        failed = ask(connection, f"CREATE TABLE {kind} {table(kind)}")[2]
        if failed:
            sys.exit(f"{kind}: {failed}")
    failures, deadline = [], time.monotonic() + seconds
    writers = [threading.Thread(target=write, args=(port, kind, rng.random(), deadline, failures))
               for kind in KEY for _ in range(4)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        for kind in KEY:
            found = overlaps(connection, kind)
            if found:
                failures.append(f"{kind}: rows overlap: {found}")
        time.sleep(0.05)
    for writer in writers:
        writer.join()
    for kind in KEY:
        if overlaps(connection, kind):
            failures.append(f"{kind}: rows overlap at the end")
        checked = rows(connection, f"CHECK TABLE {kind}")
        if checked[0][-1] != "OK":
            failures.append(f"{kind}: {checked}")
    if failures:
        sys.exit("\n".join(failures[:5]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("mariadb", type=int)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=6)
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 32) if options.seed is None else options.seed
    print(f"portions: seed {seed}", flush=True)
    rng = random.Random(seed)
    beside(options.port, options.mariadb, rng, options.rounds)
    contend(options.port, rng, options.seconds)


if __name__ == "__main__":
    main()
