"""Random schedules of two sessions, played step by step on MariaDB and on this server, and the differences.

usage: schedules PORT_OF_MARIADB PORT [--seed N] [--count N] [--seconds S] [--jobs N] [--show]

Each seed gives a schema, rows and an order of statements. The script compares for each statement: rows,
affected rows or the error's number, whether it waits, and which statement of the other session lets
it go on. If MariaDB answers a schedule the same way three times and this server answers differently, the schedule is
shortened as far as possible and printed as a script for run.py, with both results. Known differences
(known.py) are only counted. --show prints the results of one seed on both servers.
"""

import argparse
import collections
import itertools
import re
import sys
import threading
import time

from generate import schedule
from known import known
from play import Server
from reduce import both, differs, reduced

# Statements whose result depends on their plan.
READS = re.compile(r"SELECT|UPDATE|DELETE|(INSERT|INSERT IGNORE|REPLACE) INTO \w+ SELECT")
# Seconds after which a reduction ends with its current result.
REDUCTION = 120


class Search:
    """Seeds to try and differences found, shared by the threads."""

    def __init__(self, options):
        self.options, self.lock = options, threading.Lock()
        last = None if options.count is None else options.seed + options.count
        self.seeds = itertools.takewhile(lambda seed: last is None or seed < last, itertools.count(options.seed))
        self.end = time.monotonic() + options.seconds
        self.tried = self.found = 0
        self.reasons, self.failed = collections.Counter(), None

    def next_seed(self):
        with self.lock:
            if time.monotonic() > self.end or self.failed:
                return None
            self.tried += 1
            return next(self.seeds, None)

    def work(self, job):
        servers = []
        try:
            servers = [Server(port, f"schedules_{job}") for port in (self.options.mariadb, self.options.port)]
            while (seed := self.next_seed()) is not None:
                self.examine(servers, seed)
        except Exception as error:  # Any exception here fails the whole run.
            self.failed = error
        finally:
            for server in servers:
                server.close()

    def count(self, reason):
        self.reasons[reason] += 1

    def examine(self, servers, seed):
        lines = schedule(seed)
        if not differs(servers, lines, times=2):
            return
        lines = same_plans(servers, lines)
        if not differs(servers, lines):
            return self.count("another plan")
        until = time.monotonic() + REDUCTION
        lines = reduced(servers, lines, lambda: time.monotonic() > until)
        notes = both(servers, lines)
        reason = known(lines, notes)
        if len(same_plans(servers, lines)) < len(lines):
            reason = "another plan"
        with self.lock:
            if reason:
                self.count(reason)
            if not reason or self.options.all:
                self.found += not reason
                report(seed, lines, notes, reason)


def same_plans(servers, lines):
    """Returns the schedule without statements that reach their rows by different indexes."""
    for server in servers:
        server.set_up(lines)
    return [line for line in lines if same_plan(servers, line)]


def same_plan(servers, line):
    sql = line.partition(": ")[2]
    if line.startswith("setup:") or not READS.match(sql):
        return True
    theirs, ours = [server.indexes(sql) for server in servers]
    return theirs is None or theirs == ours


def report(seed, lines, notes, reason=None):
    print(f"# seed {seed}{': ' + reason if reason else ''}")
    for line in lines:
        if line.startswith("setup:"):
            print(line)
    for theirs, ours in zip(*notes):
        print(theirs[0])
        if theirs == ours:
            print("#   " + "; ".join(theirs[1:]))
        else:
            print("#   MariaDB: " + "; ".join(theirs[1:]))
            print("#   here:    " + "; ".join(ours[1:]))
    print(flush=True)


def show(options):
    servers = [Server(port, "schedules_show") for port in (options.mariadb, options.port)]
    lines = schedule(options.seed)
    report(options.seed, lines, both(servers, lines))
    for server in servers:
        server.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mariadb", type=int)
    parser.add_argument("port", type=int)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--count", type=int)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--all", action="store_true", help="print also what is known to differ")
    options = parser.parse_args()
    if options.show:
        return show(options)
    search = Search(options)
    threads = [threading.Thread(target=search.work, args=(job,)) for job in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if search.failed:
        raise search.failed
    for reason, count in sorted(search.reasons.items()):
        print(f"schedules: {count} times {reason}")
    print(f"schedules: {search.found} of {search.tried} differ")
    sys.exit(1 if search.found else 0)


main()
