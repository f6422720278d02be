"""Server CPU per query of sysbench's scripts, servers in turn on the same core.

usage: cpu.py --server NAME=PORT[,PID] ... [--scripts A,B] [--modes auto,disable] [--threads 8]
              [--seconds 10] [--rounds 4] [--tables 4] [--rows 100000] [--server-core 0] [--client-core 1]

Each server must be running and accept root without a password. Its process is pinned to one core
and sysbench to another. The result is the user and system time of the server's process during
a run, divided by the number of sysbench's queries. Every round runs all servers before the next begins, and
every other round in the opposite order, because the first one of a round measures a few percent higher.
Prints per script and mode the median in microseconds, and the ratio to the last server named: of all CPU time, and
of user time alone, which depends less on how many writes and answers the kernel happened to put together.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys

import pymysql

SCRIPTS = ("oltp_point_select,oltp_read_only,oltp_read_write,oltp_write_only,oltp_insert,"
           "oltp_update_index,oltp_update_non_index,select_random_points,select_random_ranges")
TICK = os.sysconf("SC_CLK_TCK")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--server", action="append", required=True)
    parser.add_argument("--scripts", default=SCRIPTS)
    parser.add_argument("--modes", default="auto,disable")
    for name, value in (("threads", 8), ("seconds", 10), ("rounds", 4), ("tables", 4), ("rows", 100000),
                        ("server-core", 0), ("client-core", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    return parser.parse_args()


def pid_listening(port):
    out = subprocess.run(["ss", "-ltnpH", f"sport = :{port}"], capture_output=True, text=True).stdout
    found = re.search(r"pid=(\d+)", out)
    return int(found.group(1)) if found else sys.exit(f"nobody listens on port {port}")


class Server:
    def __init__(self, text):
        self.name, _, where = text.partition("=")
        port, _, pid = where.partition(",")
        self.port = int(port)
        self.pid = int(pid) if pid else pid_listening(self.port)

    def sql(self, *statements):
        with pymysql.connect(host="127.0.0.1", port=self.port, user="root", autocommit=True) as connection:
            for statement in statements:
                connection.cursor().execute(statement)

    def cpu(self):
        with open(f"/proc/{self.pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return [int(field) / TICK for field in fields[11:13]]

    def pin(self, core):
        subprocess.run(["taskset", "-acp", str(core), str(self.pid)], check=True, stdout=subprocess.DEVNULL)


def sysbench(server, options, script, command, *more):
    call = ["taskset", "-c", str(options.client_core), "sysbench", script, "--db-driver=mysql",
            "--mysql-host=127.0.0.1", f"--mysql-port={server.port}", "--mysql-user=root",
            "--mysql-db=sbtest", f"--tables={options.tables}", f"--table-size={options.rows}", *more, command]
    done = subprocess.run(call, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{server.name}: {script}: {(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def measure(server, options, script, mode):
    before = server.cpu()
    out = sysbench(server, options, script, "run", f"--threads={options.threads}",
                   f"--time={options.seconds}", f"--db-ps-mode={mode}")
    queries = int(re.search(r"queries:\s+(\d+)", out).group(1))
    user, system = ((after - at) * 1e6 / max(queries, 1) for after, at in zip(server.cpu(), before))
    return user + system, user


def main():
    options = arguments()
    servers = [Server(text) for text in options.server]
    for server in servers:
        server.sql("DROP DATABASE IF EXISTS sbtest", "CREATE DATABASE sbtest")
        sysbench(server, options, "oltp_read_write", "prepare")
        server.pin(options.server_core)
    print(f"{'server CPU, us per query':32}", *(f"{server.name:>10}" for server in servers), f"{'ratio':>8} {'user':>8}")
    for script in options.scripts.split(","):
        for mode in options.modes.split(","):
            costs = {server.name: [] for server in servers}
            for turn in range(options.rounds):
                for server in servers if turn % 2 == 0 else reversed(servers):
                    costs[server.name].append(measure(server, options, script, mode))
            medians = [list(map(statistics.median, zip(*costs[server.name]))) for server in servers]
            ratios = (first / last for first, last in zip(medians[0], medians[-1]))
            print(f"{script + ' ' + mode:32}", *(f"{total:10.2f}" for total, _ in medians),
                  *(f"{ratio:8.2f}" for ratio in ratios), flush=True)


if __name__ == "__main__":
    main()
