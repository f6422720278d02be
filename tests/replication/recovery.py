#!/usr/bin/env python3
"""Brings a lost database back to the moment before a mistake, as docs/point-in-time-recovery.md says.

usage: recovery.py SELKIE

A server is dumped while a session writes; then come more changes, a new file of the log, and DROP TABLE. A new server gets
the dump and the log up to the DROP TABLE, and must have all rows that were there.
"""
import pathlib
import re
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from selkie import Server  # noqa: E402

OPTIONS = ["--log-bin=binlog", "--binlog-format=ROW", "--server-id=1"]


def rows(server, text):
    connection = server.connect()
    with connection, connection.cursor() as cursor:
        cursor.execute(text)
        return cursor.fetchall()


def run(command, **options):
    return subprocess.run(command, check=True, capture_output=True, timeout=60, **options).stdout


def write(server, begun, ended):
    """Transactions of two rows whose sum is zero, until the event."""
    connection = server.connect(autocommit=False)
    with connection, connection.cursor() as cursor:
        number = 0
        while not ended.is_set():
            cursor.execute("INSERT INTO a.sums VALUES (NULL, %s), (NULL, -%s)", (number, number))
            connection.commit()
            number += 1
            if number > 20:
                begun.set()


def main():
    binary = sys.argv[1]
    lost, new = Server(binary, options=OPTIONS), Server(binary, options=OPTIONS)
    try:
        lost.start()
        rows(lost, "CREATE DATABASE a")
        rows(lost, "CREATE TABLE a.sums (id INT PRIMARY KEY AUTO_INCREMENT, n INT)")
        begun, ended = threading.Event(), threading.Event()
        writer = threading.Thread(target=write, args=(lost, begun, ended))
        writer.start()
        begun.wait(60)
        client = ["-h127.0.0.1", "-uroot", f"-P{lost.port}"]
        dump = run(["mariadb-dump", "--no-defaults", *client, "--single-transaction", "--master-data=2", "--gtid", "--databases", "a"])
        ended.set()
        writer.join()
        rows(lost, "FLUSH BINARY LOGS")
        rows(lost, "CREATE TABLE a.more (id INT PRIMARY KEY, t LONGTEXT)")
        rows(lost, "INSERT INTO a.more VALUES (1, 'one'), (2, REPEAT('x', 100000))")
        expected = [rows(lost, f"SELECT * FROM a.{table} ORDER BY id") for table in ("sums", "more")]
        rows(lost, "DROP TABLE a.sums, a.more")
        rows(lost, "CREATE TABLE a.later (id INT)")

        files = [row[0] for row in rows(lost, "SHOW BINARY LOGS")]
        events = rows(lost, f"SHOW BINLOG EVENTS IN '{files[-1]}'")
        # The group begins with its GTID, before the statement.
        at = next(number for number, event in enumerate(events) if "DROP TABLE" in event[5])
        before = events[at - 1][1]
        start = re.search(rb"MASTER_LOG_FILE='([^']+)', MASTER_LOG_POS=(\d+)", dump)
        first, place = start[1].decode(), start[2].decode()
        used = [f"{lost.datadir}/{name}" for name in files[files.index(first):]]
        log = run(["mariadb-binlog", "--no-defaults", f"--start-position={place}", f"--stop-position={before}", *used])

        new.start()
        client[-1] = f"-P{new.port}"
        run(["mariadb", "--no-defaults", *client], input=dump)
        run(["mariadb", "--no-defaults", *client, "--binary-mode"], input=log)
        got = [rows(new, f"SELECT * FROM a.{table} ORDER BY id") for table in ("sums", "more")]
        if got != expected or len(expected[0]) < 40:
            sys.exit(f"expected {[len(table) for table in expected]} rows, got {[len(table) for table in got]}, or others")
        print(f"recovered {len(got[0])} and {len(got[1])} rows")
    finally:
        for server in (lost, new):
            if server.process is not None:
                server.remove()


if __name__ == "__main__":
    main()
