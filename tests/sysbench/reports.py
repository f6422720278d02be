"""Reports beside writers: sysbench's oltp_read_write alone, and while a session reads the same tables.

Prints transactions per second and the 99th percentile of both, and how many reports ended. With --check each report is
repeated by a serial scan of rows in its transaction, and another answer fails. --pause is the time between reports; the
limits --floor (share of the transactions) and --ceiling (times the percentile) fail if they are given and not kept.

usage: reports.py BINARY [--seconds N] [--tables N] [--rows N] [--threads N] [--check] [--pause SECONDS] [--floor S] [--ceiling T]
"""

import argparse
import os
import re
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from selkie import Server  # noqa: E402

REPORTS = [
    "SELECT COUNT(*), SUM(k), SUM(id * (k % 5)) FROM {}",
    "SELECT k % 10, COUNT(*), MIN(c), MAX(pad), SUM(id) FROM {} GROUP BY k % 10 ORDER BY 1",
    "SELECT COUNT(*), SUM(a.id) FROM {} a JOIN sbtest1 b ON a.id = b.k WHERE b.id % 7 = 1",
]


def sysbench(server, options, *command):
    found = subprocess.run(
        ["sysbench", "oltp_read_write", "--mysql-host=127.0.0.1", f"--mysql-port={server.port}", "--mysql-user=root",
         "--mysql-db=sb", f"--tables={options.tables}", f"--table-size={options.rows}", f"--threads={options.threads}",
         "--percentile=99", "--mysql-ignore-errors=1213,1205,1020", "--rand-type=uniform", *command],
        capture_output=True, text=True, timeout=900, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def measure(server, options, seconds):
    """Transactions per second, and the 99th percentile in ms."""
    text = sysbench(server, options, f"--time={seconds}", "run")
    rate, tail = re.search(r"transactions:.*\(([\d.]+) per", text), re.search(r"99th percentile:\s+([\d.]+)", text)
    return float(rate[1]), float(tail[1])


class Reporter(threading.Thread):
    """Reads the tables until it is stopped."""

    def __init__(self, server, options):
        super().__init__()
        self.server, self.options = server, options
        self.ended, self.done, self.differ = threading.Event(), 0, []

    def run(self):
        with self.server.connect(database="sb") as connection, connection.cursor() as cursor:
            def ask(query):
                cursor.execute(query)
                return cursor.fetchall()

            while not self.ended.is_set():
                query = REPORTS[self.done % len(REPORTS)].format(f"sbtest{self.done % self.options.tables + 1}")
                ask("START TRANSACTION WITH CONSISTENT SNAPSHOT")
                found = ask(query)
                if self.options.check:
                    ask("SET selkie_columns = OFF, selkie_lanes = 1")
                    if found != ask(query):
                        self.differ.append(query)
                    ask("SET selkie_columns = DEFAULT, selkie_lanes = DEFAULT")
                ask("COMMIT")
                self.done += 1
                time.sleep(self.options.pause)


def prepare(server, options):
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE sb")
        sysbench(server, options, "prepare")
        cursor.execute("USE sb")
        for table in range(1, options.tables + 1):
            cursor.execute(f"ANALYZE TABLE sbtest{table}")
            cursor.fetchall()
        # Reports let the tables have column groups.
        for _ in range(3):
            for table in range(1, options.tables + 1):
                for query in REPORTS:
                    cursor.execute(query.format(f"sbtest{table}"))
            time.sleep(3)
    measure(server, options, 3)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    for name, value in (("seconds", 15), ("tables", 2), ("rows", 500_000), ("threads", 16), ("rounds", 2)):
        parser.add_argument(f"--{name}", type=int, default=value)
    for name, value in (("pause", 0.0), ("floor", None), ("ceiling", None)):
        parser.add_argument(f"--{name}", type=float, default=value)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    server = Server(options.binary, options=["--innodb-buffer-pool-size=2G"])
    try:
        server.start()
        prepare(server, options)
        ratios = []
        for _ in range(options.rounds):
            alone = measure(server, options, options.seconds)
            reporter = Reporter(server, options)
            reporter.start()
            beside = measure(server, options, options.seconds)
            reporter.ended.set()
            reporter.join()
            assert not reporter.differ, reporter.differ
            assert reporter.done > 0, "no report ended"
            ratios.append((beside[0] / alone[0], beside[1] / alone[1]))
            print(f"alone {alone[0]:.0f} tps, p99 {alone[1]:.1f} ms; beside {reporter.done} reports {beside[0]:.0f} tps, "
                  f"p99 {beside[1]:.1f} ms: {ratios[-1][0]:.2f} and {ratios[-1][1]:.2f}", flush=True)
        share, times = max(share for share, _ in ratios), min(times for _, times in ratios)
        assert options.floor is None or share >= options.floor, share
        assert options.ceiling is None or times <= options.ceiling, times
        server.stop()
    finally:
        server.remove()


if __name__ == "__main__":
    main()
