"""A write load on data larger than the buffer pool, second by second, to find stalls.

Loads sysbench's tables, runs one of its scripts, and prints the median second, the worst second
after warm-up, their ratio, the peak resident memory, and commits per log flush; also the worst
calm second, in which other processes took less than a fifth of the machine. Then it sends
kill -9 and measures the seconds until the server answers a query that reads a table. Any error but a
deadlock fails, and so does a value beyond the limits given as options; without limits it only measures.

The sizes are small by default. The full run is
    stalls.py BINARY --tables 8 --rows 1000000 --pool 512M --seconds 600 --floor 0.7 --recovery 20
and the same with --mariadb instead of BINARY shows the limits of the machine: a MariaDB with
equal settings (flush at commit, doublewrite, no binary log, same pool and log size).

usage: stalls.py BINARY|--mariadb [OPTIONS]
"""

import argparse
import contextlib
import os
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from selkie import Server  # noqa: E402

MARIADB = ["--no-defaults", "--user=root", "--innodb-flush-method=O_DIRECT", "--skip-log-bin",
           "--innodb-doublewrite=ON", "--performance-schema=OFF", "--max-connections=512"]
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class MariaDb(Server):
    """A private MariaDB with the same options."""

    def start(self, seconds=120):
        if not os.path.isdir(self.datadir):
            subprocess.run(
                ["mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={self.datadir}",
                 "--auth-root-authentication-method=normal", "--skip-test-db"],
                check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        log = open(os.path.join(self.root, "server.log"), "ab")
        self.process = subprocess.Popen(
            ["mariadbd", *MARIADB, f"--datadir={self.datadir}", f"--port={self.port}",
             f"--socket={self.socket}", "--bind-address=127.0.0.1", *self.options],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(pymysql.MySQLError, OSError):
                self.connect().close()
                return self
            time.sleep(0.05)
        raise RuntimeError(f"MariaDB did not start:\n{self.log()}")


class Memory(threading.Thread):
    """Records the peak resident memory of a process, read every half second."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.most, self.done = pid, 0, False

    def run(self):
        while not self.done:
            with contextlib.suppress(OSError), open(f"/proc/{self.pid}/status") as status:
                kib = re.search(r"VmRSS:\s+(\d+)", status.read())
                self.most = max(self.most, int(kib.group(1)) << 10 if kib else 0)
            time.sleep(0.5)


def size(text):
    return int(text[:-1]) * UNITS[text[-1].upper()] if text[-1].isalpha() else int(text)


def parse():
    a = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    a.add_argument("binary", nargs="?")
    a.add_argument("--mariadb", action="store_true")
    a.add_argument("--tables", type=int, default=4)
    a.add_argument("--rows", type=int, default=250_000)
    a.add_argument("--pool", default="128M")
    a.add_argument("--log", default="512M", help="innodb_log_file_size")
    a.add_argument("--script", default="oltp_read_write")
    a.add_argument("--threads", type=int, default=16)
    a.add_argument("--seconds", type=int, default=60)
    a.add_argument("--warmup", type=int, default=10)
    a.add_argument("--floor", type=float, help="least ratio of worst calm second to median")
    a.add_argument("--recovery", type=float, help="most seconds from start to the first answer")
    a.add_argument("--overhead", help="most resident bytes beyond the pool and its twentieth")
    a.add_argument("--group", type=float, help="least commits per log flush")
    a.add_argument("--keep", help="directory for the data; used again if it is there")
    a.add_argument("--series", action="store_true", help="print every second")
    a.add_argument("--option", action="append", default=[], help="another server option")
    return a.parse_args()


def sysbench(args, server, command, *more):
    return [
        "sysbench", args.script, "--db-driver=mysql", "--mysql-host=127.0.0.1",
        f"--mysql-port={server.port}", "--mysql-user=root", "--mysql-db=sbtest",
        f"--tables={args.tables}", f"--table-size={args.rows}", *more, command]


def load(args, server):
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW DATABASES LIKE 'sbtest'")
        if cursor.fetchall():
            return
        cursor.execute("CREATE DATABASE sbtest")
    started = time.monotonic()
    subprocess.run(sysbench(args, server, "prepare", f"--threads={min(args.tables, 4)}"),
                   check=True, stdout=subprocess.DEVNULL)
    print(f"loaded {args.tables} x {args.rows} rows in {time.monotonic() - started:.0f} s",
          flush=True)


def counters(server):
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL STATUS")
        return {name.lower(): value for name, value in cursor.fetchall()}


def log_flushes(status):
    """MariaDB counts only the flushes of all its files together."""
    return int(status.get("innodb_os_log_fsyncs", status.get("innodb_data_fsyncs", 0)))


class Others:
    """Returns the part of the machine that other processes took since the last call."""

    def __init__(self, *ours):
        self.ours, self.last = ours, None

    def look(self):
        with open("/proc/stat") as stat:
            ticks = [int(n) for n in stat.readline().split()[1:9]]
        busy, whole = sum(ticks) - ticks[3] - ticks[4], sum(ticks)
        for pid in self.ours:
            with contextlib.suppress(OSError), open(f"/proc/{pid}/stat") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
                busy -= int(fields[11]) + int(fields[12])
        before, self.last = self.last, (busy, whole)
        return (busy - before[0]) / max(whole - before[1], 1) if before else 1.0


WATCHED = ["innodb_buffer_pool_pages_flushed", "innodb_data_reads", "innodb_os_log_fsyncs",
           "innodb_checkpoint_age", "innodb_buffer_pool_pages_dirty", "innodb_buffer_pool_wait_free"]


class Watch:
    """Records the server's work in each second, to explain slow ones."""

    def __init__(self, server):
        self.connection = server.connect()
        self.looks = []

    def look(self):
        with self.connection.cursor() as cursor:
            cursor.execute("SHOW GLOBAL STATUS WHERE Variable_name IN %s", [WATCHED])
            self.looks.append({name.lower(): int(value) for name, value in cursor.fetchall()})

    def explain(self, second):
        before, after = self.looks[second - 1], self.looks[second]
        gauges = ("innodb_checkpoint_age", "innodb_buffer_pool_pages_dirty")
        return ", ".join(f"{name.removeprefix('innodb_')} {value - (0 if name in gauges else before[name])}"
                         for name, value in after.items())


def run(args, server, watch):
    """Returns transactions per second and others' part of the machine, one pair a second, and the
    whole output."""
    command = sysbench(args, server, "run", f"--threads={args.threads}", f"--time={args.seconds}",
                       "--report-interval=1")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    others = Others(server.process.pid, process.pid)
    seconds, output = [], []
    for line in process.stdout:
        output.append(line)
        if found := re.search(r"\[ \d+s \].* tps: ([\d.]+)", line):
            seconds.append((float(found.group(1)), others.look()))
            watch.look()
    if process.wait() != 0 or any("FATAL" in line for line in output):
        print("".join(output[-15:]), server.log(), sep="\n", file=sys.stderr)
        raise SystemExit("stalls: the load ended with an error")
    return seconds, "".join(output)


def recover(args, server):
    server.kill()
    started = time.monotonic()
    server.start(600)
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM sbtest.sbtest1 WHERE id < 1000")
        cursor.fetchall()
    return time.monotonic() - started


def disk_use(path):
    return sum(e.stat().st_size for e in os.scandir(path) if e.is_file())


def measure(args, server):
    load(args, server)
    before, memory = counters(server), Memory(server.process.pid)
    memory.start()
    watch = Watch(server)
    pairs, output = run(args, server, watch)
    seconds = [tps for tps, _ in pairs]
    memory.done = True
    after = counters(server)
    steady = seconds[args.warmup:-1] or seconds
    median, worst = statistics.median(steady), min(steady)
    ratio = worst / median if median else 0.0
    calm = [tps for tps, taken in pairs[args.warmup:-1] if taken < 0.2]
    calm_ratio = min(calm, default=median) / median if median else 0.0
    flushes = log_flushes(after) - log_flushes(before)
    done = int(re.search(r"transactions:\s+(\d+)", output).group(1))
    latency = re.search(r"95th percentile:\s+([\d.]+)", output).group(1)
    most = re.search(r"max:\s+([\d.]+)", output).group(1)
    excess = memory.most - size(args.pool) * 1.05
    if args.series:
        print(" ".join(f"{s:.0f}" for s in seconds))
    print(f"{args.script}: median {median:.0f} tps, worst second {worst:.0f}, ratio {ratio:.2f},"
          f" {sum(s < 0.7 * median for s in steady)} of {len(steady)} seconds under 70 %")
    slow = [at for at in range(args.warmup, len(seconds) - 1) if seconds[at] < 0.7 * median]
    for at in slow[:20]:
        print(f"second {at}: {seconds[at]:.0f} tps, others {pairs[at][1]:.2f}, {watch.explain(at)}")
    print(f"calm seconds: {len(calm)}, the worst {min(calm, default=0):.0f}, ratio {calm_ratio:.2f}")
    print(f"latency: 95 % {latency} ms, most {most} ms; {done / max(flushes, 1):.1f} commits per"
          f" log flush ({done} / {flushes})")
    print(f"resident: {memory.most >> 20} MiB at most, pool {size(args.pool) >> 20} MiB, beyond"
          f" 105 % of it {excess / (1 << 20):.0f} MiB", flush=True)
    seconds_back = recover(args, server)
    print(f"kill -9: answers again after {seconds_back:.1f} s", flush=True)
    broken = [
        args.floor is not None and calm_ratio < args.floor and f"worst calm second {calm_ratio:.2f}",
        args.overhead is not None and excess > size(args.overhead) and "too much memory",
        args.group is not None and done < args.group * flushes and "too many log flushes",
        args.recovery is not None and seconds_back > args.recovery and "recovery took too long"]
    return [b for b in broken if b]


def main():
    args = parse()
    if not args.binary and not args.mariadb:
        raise SystemExit(__doc__)
    options = [f"--innodb-buffer-pool-size={size(args.pool)}",
               f"--innodb-log-file-size={size(args.log)}", *args.option]
    kind = MariaDb if args.mariadb else Server
    server = kind(args.binary, datadir=args.keep, options=options).start()
    try:
        broken = measure(args, server)
        server.stop(600)
    finally:
        server.remove()
        if args.keep is None:
            shutil.rmtree(server.datadir, ignore_errors=True)
    if broken:
        raise SystemExit("stalls: " + ", ".join(broken))


if __name__ == "__main__":
    main()
