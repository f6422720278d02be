#!/usr/bin/env python3
"""What the binary log and a replica cost: flushes, throughput, and processor time of the server.

usage: costs.py SELKIE [PART ...] [--rounds 10] [--seconds 3] [--scripts A,B] [--transactions 20000] [--lazy]

Parts:
  commits   32 clients insert with the log on and off: transactions a second, commits per fsync of the server
  cpu       user and system time of the server per query of sysbench's write mixes, log on and off, and MariaDB's with its log
  apply     rows that a replica applies per second of its processor time, with one thread and four, beside a MariaDB's

All servers flush at every commit (innodb_flush_log_at_trx_commit=1, sync_binlog=1), but a replica that is Selkie flushes
behind its groups, which it can get again; with --lazy MariaDB's replicas do not flush either. Servers take turns in each round, every
other round in the opposite order. Prints medians, ratios of medians, and in brackets the quartiles of the ratios of single
rounds, which tell the noise. The server is on one core, the client and a primary on the other. 3, 8 and 5 min.
"""
import argparse
import contextlib
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "sysbench")]
import cpu  # noqa: E402
from beside_mariadb import MariaDb  # noqa: E402
from selkie import Server  # noqa: E402

DURABLE = ["--innodb-flush-log-at-trx-commit=1", "--sync-binlog=1", "--innodb-buffer-pool-size=1G", "--innodb-log-file-size=1G"]
LOG = ["--log-bin=binlog", "--binlog-format=ROW"]
MIXES = "oltp_insert,oltp_update_index,oltp_update_non_index,oltp_write_only,oltp_read_write"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("selkie")
    parser.add_argument("parts", nargs="*", default=[])
    parser.add_argument("--scripts", default=MIXES)
    parser.add_argument("--kinds", default="small,bulk")
    parser.add_argument("--lazy", action="store_true")
    for name, value in (("rounds", 10), ("seconds", 3), ("clients", 32), ("transactions", 20000), ("tables", 4), ("rows", 50000)):
        parser.add_argument(f"--{name}", type=int, default=value)
    given = parser.parse_args()
    given.client_core, given.threads = 1, 8
    return given


class Side:
    """A server with a name, as sysbench/cpu.py measures it."""

    def __init__(self, name, server):
        self.name, self.server = name, server.start()
        self.port, self.pid = server.port, server.process.pid

    def rows(self, *texts):
        connection = self.server.connect()
        with connection, connection.cursor() as cursor:
            for text in texts:
                cursor.execute(text)
            return list(cursor.fetchall())

    def status(self):
        numbers = self.rows("SHOW GLOBAL STATUS")
        return {name: int(value) for name, value in numbers if value.isdigit()}

    def cpu(self):
        return cpu.Server.cpu(self)

    def pin(self, core=0):
        cpu.Server.pin(self, core)

    def sysbench(self, given, script, command, *more):
        return cpu.sysbench(self, given, script, command, *more)

    def fill(self, given):
        self.rows("DROP DATABASE IF EXISTS sbtest", "CREATE DATABASE sbtest")
        self.sysbench(given, "oltp_read_write", "prepare")


@contextlib.contextmanager
def sides(**servers):
    begun = []
    try:
        for name, server in servers.items():
            begun.append(server)
            servers[name] = Side(name, server)
        yield list(servers.values())
    finally:
        for server in begun:
            server.remove()


def in_turn(given, members, measure):
    """What `measure` finds of each member, a list by member with one entry a round."""
    found = [[] for _ in members]
    for turn in range(given.rounds):
        for at in range(len(members)) if turn % 2 == 0 else reversed(range(len(members))):
            found[at].append(measure(members[at]))
    return found


def ratio(mine, theirs):
    """The ratio of medians, and the quartiles of the ratios of rounds."""
    single = sorted(one / other for one, other in zip(mine, theirs))
    low, high = single[len(single) // 4], single[-1 - len(single) // 4]
    return f"{statistics.median(mine) / statistics.median(theirs):.2f} ({low:.2f} to {high:.2f})"


def line(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def insert(given, side):
    """Transactions a second, and commits per flush that the engine counts and per group of the binary log."""
    before = side.status()
    out = side.sysbench(given, "oltp_insert", "run", f"--threads={given.clients}", f"--time={given.seconds}")
    after = side.status()
    def per(name):
        grown = after.get(name, 0) - before.get(name, 0)
        return count / grown if grown else float("nan")
    count = int(re.search(r"transactions:\s+(\d+)", out)[1])
    rate = float(re.search(r"transactions:\s+\d+\s+\(([\d.]+) per", out)[1])
    return rate, per("Innodb_data_fsyncs"), per("Binlog_group_commits")


def traced(given, side):
    """Commits per system call that flushes, as strace counts them."""
    calls = subprocess.Popen(["strace", "-f", "-c", "-U", "name,calls", "-e", "trace=fsync,fdatasync,sync_file_range,pwritev2", "-p", str(side.pid)],
                             stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    time.sleep(1)
    out = side.sysbench(given, "oltp_insert", "run", f"--threads={given.clients}", f"--time={given.seconds}")
    calls.send_signal(signal.SIGINT)
    table = calls.communicate(timeout=30)[1]
    flushes = sum(int(number) for name, number in re.findall(r"^(\w+)\s+(\d+)", table, re.M) if name != "total")
    return int(re.search(r"transactions:\s+(\d+)", out)[1]) / max(flushes, 1)


def part_commits(given):
    with sides(on=Server(given.selkie, options=[*DURABLE, *LOG]), off=Server(given.selkie, options=DURABLE),
               mariadb=MariaDb(options=[*DURABLE, *LOG])) as members:
        for side in members:
            side.fill(given)
            side.pin()
        found = in_turn(given, members, lambda side: insert(given, side))
        line(f"{given.clients} clients, oltp_insert", "inserts a second", "commits per Innodb_data_fsyncs", "per group of the binary log",
             "per flush that strace sees")
        for side, rounds in zip(members, found):
            line(side.name, *(f"{statistics.median(column):,.1f}" for column in zip(*rounds)), f"{traced(given, side):.1f}")
        rates = [[entry[0] for entry in rounds] for rounds in found]
        print(f"on / off {ratio(rates[0], rates[1])}, on / MariaDB {ratio(rates[0], rates[2])}")


def part_cpu(given):
    with sides(on=Server(given.selkie, options=[*DURABLE, *LOG]), off=Server(given.selkie, options=DURABLE),
               mariadb=MariaDb(options=[*DURABLE, *LOG])) as members:
        for side in members:
            side.fill(given)
            side.pin()
        line("CPU of the server, us per query", *(side.name for side in members), "on / off", "on / MariaDB")
        for script in given.scripts.split(","):
            found = in_turn(given, members, lambda side, script=script: cpu.measure(side, given, script, "auto")[0])
            line(script, *(f"{statistics.median(rounds):.1f}" for rounds in found), ratio(found[0], found[1]), ratio(found[0], found[2]))


def backlog(given, primary, kind):
    """Writes on the primary; the number of rows changed."""
    names = ("Handler_write", "Handler_update", "Handler_delete")
    before = primary.status()
    if kind == "small":
        primary.sysbench(given, "oltp_write_only", "run", "--threads=8", "--time=0", f"--events={given.transactions}")
    else:
        texts = [f"INSERT INTO sbtest.bulk SELECT seq, seq % 1000, REPEAT('x', seq % 90) FROM sbtest.seq_{at}_to_{at + 999}"
                 for at in range(1, given.transactions * 4, 1000)]
        primary.rows("CREATE OR REPLACE TABLE sbtest.bulk (id INT PRIMARY KEY, k INT, c VARCHAR(100), KEY (k))", *texts,
                     "UPDATE sbtest.bulk SET c = CONCAT(c, '!') WHERE id % 2", "DELETE FROM sbtest.bulk WHERE id % 4 = 1")
    after = primary.status()
    return sum(after[name] - before[name] for name in names)


def apply(primary, replica, threads, rows):
    """Rows per second of processor time, from START SLAVE to the primary's end."""
    position = primary.rows("SELECT @@gtid_binlog_pos")[0][0]
    replica.rows(f"SET GLOBAL slave_parallel_threads={threads}")
    before = sum(replica.cpu())
    replica.rows("START SLAVE")
    reached = replica.rows(f"SELECT MASTER_GTID_WAIT('{position}', 300)")[0][0]
    used = sum(replica.cpu()) - before
    replica.rows("STOP SLAVE")
    if reached != 0:
        sys.exit(f"{replica.name} did not come to {position}: {replica.rows('SHOW SLAVE STATUS')}")
    return rows / used


def part_apply(given):
    replica = [*DURABLE, "--slave-net-timeout=60"]
    peer = [*replica, *(["--innodb-flush-log-at-trx-commit=0"] if given.lazy else [])]
    with sides(primary=MariaDb(options=[*DURABLE, *LOG, "--server-id=1"]),
               s1=Server(given.selkie, options=[*replica, "--server-id=2"]), m1=MariaDb(options=[*peer, "--server-id=3"]),
               s4=Server(given.selkie, options=[*replica, "--server-id=4"]), m4=MariaDb(options=[*peer, "--server-id=5"])) as members:
        primary, *replicas = members
        primary.pin(1)
        for side in replicas:
            side.pin(0)
            side.rows(f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={primary.port}, MASTER_USER='root', MASTER_USE_GTID=slave_pos")
        primary.fill(given)
        for side in replicas:
            apply(primary, side, 0, 0)
        line("rows applied per second of CPU", "Selkie, one thread", "MariaDB", "ratio", "Selkie, four threads", "MariaDB", "ratio")
        for kind in given.kinds.split(","):
            found = [[] for _ in replicas]
            for turn in range(given.rounds):
                rows = backlog(given, primary, kind)
                order = range(len(replicas)) if turn % 2 == 0 else reversed(range(len(replicas)))
                for at in order:
                    found[at].append(apply(primary, replicas[at], 0 if at < 2 else 4, rows))
            medians = [f"{statistics.median(column):,.0f}" for column in found]
            line(f"{kind} transactions", *medians[:2], ratio(found[0], found[1]), *medians[2:], ratio(found[2], found[3]))
        compare(primary, replicas)


def compare(primary, replicas):
    """All replicas have the primary's rows."""
    tables = ", ".join(f"sbtest.{name}" for (name,) in primary.rows("SHOW TABLES FROM sbtest"))
    sums = [side.rows(f"CHECKSUM TABLE {tables}") for side in (primary, *replicas)]
    if any(one != sums[0] for one in sums):
        sys.exit(f"the tables differ: {sums}")


PARTS = {name.removeprefix("part_"): part for name, part in list(globals().items()) if name.startswith("part_")}


def main():
    given = arguments()
    for name in given.parts or PARTS:
        PARTS[name](given)


if __name__ == "__main__":
    main()
