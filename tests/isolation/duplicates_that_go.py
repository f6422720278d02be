"""Upserts and REPLACE beside statements that move or delete the row in their way.

usage: duplicates_that_go.py PORT [STATEMENTS] [SESSIONS]

The row in the way of a new one may be gone, or have another key, before it is locked. Then the new row
is tried again: no upsert is forgotten, and no row is changed or deleted that is in nobody's way.
"""

import sys
import threading

import pymysql

ENGINES = ("InnoDB", "MyISAM", "MEMORY")


def connect(port, **options):
    return pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True, **options)


def together(port, sessions, rounds, work):
    """Runs work(cursor, session, round) in several sessions; gives all results."""
    out = []

    def one(number):
        with connect(port, database="duplicates") as connection:
            cursor, done = connection.cursor(), 0
            while done < rounds:
                try:
                    out.append((number, work(cursor, number, done)))
                    done += 1
                except pymysql.MySQLError as error:
                    # InnoDB may choose a statement as the victim of a deadlock.
                    if error.args[0] != 1213:
                        out.append((number, error))
                        return

    threads = [threading.Thread(target=one, args=(number,)) for number in range(sessions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    errors = [result for _, result in out if isinstance(result, Exception)]
    if errors:
        raise errors[0]
    return out


def one_row(cursor, query):
    cursor.execute(query)
    return cursor.fetchone()


def deleted(port, cursor, rounds, sessions):
    """Counters that are taken away while others add to them."""
    cursor.execute("CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL)")

    def work(own, session, _):
        if session == 0:
            own.execute("DELETE FROM t WHERE id = 1 RETURNING n")
            return sum(n for n, in own.fetchall())
        own.execute("INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE n = n + 1")
        return 0

    taken = sum(result for _, result in together(port, sessions, rounds, work))
    left = one_row(cursor, "SELECT COALESCE(SUM(n), 0) FROM t")[0]
    wanted = rounds * (sessions - 1)
    return None if taken + left == wanted else f"{taken} + {left} of {wanted} additions"


def moved(port, cursor, rounds, sessions):
    """Rows whose unique key others take away."""
    cursor.execute("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, k INT UNIQUE)")
    change = "INSERT INTO t (k) VALUES (1) ON DUPLICATE KEY UPDATE k = k + {}"
    results = together(port, sessions, rounds, lambda own, session, at: own.execute(
        change.format(1_000_000 + session * 10_000 + at)))
    affected = [result for _, result in results]
    count, largest = one_row(cursor, "SELECT COUNT(*), MAX(k) FROM t")
    if 0 in affected or count != affected.count(1) or largest > 2_000_000:
        return f"affected {sorted(set(affected))}, {count} rows of {affected.count(1)}, largest key {largest}"
    return None


def replaced(port, cursor, rounds, sessions):
    """Rows that are brought to safety before they are replaced."""
    cursor.execute("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, k INT UNIQUE, v INT, KEY (v))")

    def work(own, session, at):
        if session == 0:
            return own.execute(f"UPDATE t SET k = {1_000_000 + at} WHERE k = 1")
        own.execute(f"REPLACE INTO t (k, v) VALUES (1, {at})")
        return 0

    safe = sum(result for _, result in together(port, sessions, rounds, work))
    left = one_row(cursor, "SELECT COUNT(*) FROM t WHERE k <> 1")[0]
    return None if safe == left else f"{left} of {safe} rows are left"


def replaced_by_any_key(port, cursor, rounds, sessions):
    """As `replaced`, with two unique keys."""
    cursor.execute("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, k INT UNIQUE, l INT UNIQUE)")

    def work(own, session, at):
        if session == 0:
            return own.execute(f"UPDATE t SET k = {1_000_000 + at}, l = {1_000_000 + at} WHERE k = 1 OR l = 1 LIMIT 1")
        own.execute(f"REPLACE INTO t (k, l) VALUES (1, {session})")
        return 0

    safe = sum(result for _, result in together(port, sessions, rounds, work))
    left = one_row(cursor, "SELECT COUNT(*) FROM t WHERE k >= 1000000")[0]
    return None if safe == left else f"{left} of {safe} rows are left"


CASES = (deleted, moved, replaced, replaced_by_any_key)


def main():
    given = dict(enumerate(map(int, sys.argv[1:])))
    port, rounds, sessions = given[0], given.get(1, 150), given.get(2, 4)
    wrong = []
    for engine in ENGINES:
        for case in CASES:
            cursor = connect(port).cursor()
            cursor.execute("DROP DATABASE IF EXISTS duplicates")
            cursor.execute("CREATE DATABASE duplicates")
            cursor.execute("USE duplicates")
            cursor.execute(f"SET default_storage_engine = {engine}")
            found = case(port, cursor, rounds, sessions)
            if found:
                wrong.append(f"{engine}: {case.__name__}: {found}")
    connect(port).cursor().execute("DROP DATABASE duplicates")
    print("\n".join(wrong) or f"duplicates that go: {len(CASES)} cases for {len(ENGINES)} engines")
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
