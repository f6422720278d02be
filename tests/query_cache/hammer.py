"""Writers and readers of the query cache: no reader sees a torn sum, or one older than what it has seen.

Each writer moves an amount between two rows and raises a number in a third one, in one transaction. So the
sum of all rows is constant, and the number only grows. Readers send the same queries again and again,
alone and in transactions at two levels; a reader that read a number after a commit was answered must not
get an older one. Invalidation by other tables' changes must not matter.

usage: hammer.py [--seconds N] [--writers N] [--readers N] PORT
"""

import argparse
import random
import sys
import threading
import time

import pymysql

ROWS = 10
SUM = "SELECT SUM(amount), MAX(number) FROM ledger"


def connect(port):
    link = pymysql.connect(host="127.0.0.1", port=port, user="root", database="hammer", autocommit=True)
    link.cursor().execute("SET query_cache_type = ON")
    return link


class Shared:
    """The highest number whose commit was answered."""

    def __init__(self):
        self.acknowledged, self.wrong, self.read, self.written = 0, [], 0, 0
        self.lock = threading.Lock()


def write(port, seed, shared, until):
    link, draw = connect(port), random.Random(seed)
    cursor = link.cursor()
    while time.time() < until and not shared.wrong:
        one, other = draw.sample(range(ROWS), 2)
        try:
            cursor.execute("BEGIN")
            cursor.execute("UPDATE ledger SET amount = amount - 1 WHERE id = %s", (one,))
            cursor.execute("UPDATE ledger SET amount = amount + 1 WHERE id = %s", (other,))
            cursor.execute("UPDATE ledger SET number = number + 1 WHERE id = 100")
            cursor.execute("SELECT SQL_NO_CACHE number FROM ledger WHERE id = 100")
            number = cursor.fetchone()[0]
            if draw.random() < 0.1:
                cursor.execute("ROLLBACK")
                continue
            cursor.execute("COMMIT")
        except pymysql.MySQLError as error:
            if error.args[0] not in (1213, 1205):
                shared.wrong.append(f"writer: {error}")
            continue
        with shared.lock:
            shared.acknowledged = max(shared.acknowledged, number)
            shared.written += 1
        time.sleep(draw.random() ** 3 * 0.1)


def read(port, seed, shared, until):
    link, draw = connect(port), random.Random(seed)
    cursor, seen = link.cursor(), 0

    def ask():
        cursor.execute(SUM)
        total, number = cursor.fetchone()
        shared.read += 1
        if total != 100 * ROWS:
            shared.wrong.append(f"reader: the sum is {total}")
        return number

    while time.time() < until and not shared.wrong:
        kind = draw.random()
        if kind < 0.7:
            least = max(shared.acknowledged, seen)
            seen = ask()
            if seen < least:
                shared.wrong.append(f"reader: {seen} after {least}")
            continue
        level = "REPEATABLE READ" if kind < 0.85 else "READ COMMITTED"
        cursor.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
        least = max(shared.acknowledged, seen)
        cursor.execute("BEGIN")
        numbers = [ask() for _ in range(4)]
        cursor.execute("COMMIT")
        seen = numbers[-1]
        if numbers != sorted(numbers) or numbers[0] < least:
            shared.wrong.append(f"{level}: {numbers} after {least}")
        if level == "REPEATABLE READ" and len(set(numbers)) > 1:
            shared.wrong.append(f"{level}: {numbers} in one transaction")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--writers", type=int, default=3)
    parser.add_argument("--readers", type=int, default=16)
    parser.add_argument("port", type=int)
    options = parser.parse_args()
    root = pymysql.connect(host="127.0.0.1", port=options.port, user="root", autocommit=True)
    cursor = root.cursor()
    for text in ["SET GLOBAL query_cache_type = ON", "CREATE DATABASE hammer", "USE hammer",
                 "CREATE TABLE ledger (id INT PRIMARY KEY, amount INT, number INT NOT NULL)"]:
        cursor.execute(text)
    values = [(at, 100, 0) for at in range(ROWS)] + [(100, 0, 0)]
    cursor.executemany("INSERT INTO ledger VALUES (%s, %s, %s)", values)
    shared, until = Shared(), time.time() + options.seconds
    works = [(write, at) for at in range(options.writers)] + [(read, at) for at in range(options.readers)]
    threads = [threading.Thread(target=work, args=(options.port, at, shared, until)) for work, at in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cursor.execute("SHOW GLOBAL STATUS LIKE 'Qcache_hits'")
    hits = int(cursor.fetchone()[1])
    if shared.wrong:
        sys.exit("\n".join(shared.wrong[:10]))
    if not hits or not shared.written:
        sys.exit(f"{hits} hits and {shared.written} commits: nothing was tried")
    print(f"hammer: {shared.read} answers, {hits} of them from the cache, {shared.written} commits: ok")


main()
