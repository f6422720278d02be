#!/usr/bin/env python3
"""Selkie as a replica, and beside it MariaDB as primary, as replica and at both ends of a chain.

usage: replica.py SELKIE [--topology XY ...] [--only NAME ...] [--cycles N] [--seconds N] [--seed N] [--limit SECONDS] [--list]

A topology is a row of letters, M for MariaDB and S for Selkie: each server replicates from the one before it. Without
--topology each of MS, SS, SM, SSM and MSM runs the topics that DEFAULT gives it; with it all topics run. MM and MMM show
what MariaDB itself answers: all checks pass there. --only takes names of topics and of checks, as --list has them.
Checks that kill servers do so --cycles times and at least for --seconds; then they wait for replicas longer, too.
A check that fails says what was expected and what came, one line for each, and the next begins with clean servers.
All servers listen on loopback, have private directories, and end with the test. About 3 min.
"""
import argparse
import pathlib
import random
import signal
import subprocess
import sys
import time

import pymysql

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from replicas import chain as chains  # noqa: E402
from replicas import acks, crash, errors, filters, load, own_log, read_only, report, statements, stops  # noqa: E402
from replicas.nodes import Node  # noqa: E402

TOPICS = {"load": load, "statements": statements, "stops": stops, "crash": crash, "acks": acks, "errors": errors, "filters": filters, "read_only": read_only,
          "own_log": own_log}
DEFAULT = {"MS": list(TOPICS),
           "SS": ["load_by_position", "random_sessions", "stop_under_load", "primary_restarted", "crash", "acks", "own_log", "marked_for_skip", "temporary_tables", "time_of_statements", "versioned_tables", "versioned_by_transaction"],
           "SM": ["types_by_gtid", "random_sessions", "change_between_modes"],
           "SSM": ["load_by_gtid", "updates_of_a_load"],
           "MSM": ["images_minimal", "random_sessions", "mixed_format", "kill_middle", "updates_are_logged"]}


class Pool:
    """Servers of each make, which serve one topology after the other."""

    def __init__(self, binary):
        self.binary, self.nodes = binary, []

    def chain(self, name):
        free, chosen = list(self.nodes), []
        for kind in name:
            node = next((node for node in free if node.kind == kind), None)
            if node is None:
                node = Node(kind, len(self.nodes) + 1, self.binary)
                self.nodes.append(node)
            else:
                free.remove(node)
            chosen.append(node)
        return chains.Chain(name, chosen)

    def remove(self):
        for node in self.nodes:
            try:
                node.remove()
            except RuntimeError as error:
                print(f"{node}: {error}")


def checks(topic, module, names, topology):
    """The checks of a topic that are asked for and that this topology can run."""
    for name in module.CHECKS:
        check = getattr(module, name)
        if not names or topic in names or name in names:
            if all(wants(topology) for wants in (getattr(module, "WANTS", always), getattr(check, "wants", always))):
                yield name, check


def always(_topology):
    return True


def out_of_time(*_):
    raise report.Failed("the check did not end in time")


def clean(chain):
    """Empty servers; one that cannot be cleaned is replaced by a new one."""
    try:
        chain.clean()
    except (pymysql.MySQLError, OSError, RuntimeError, report.Failed, subprocess.SubprocessError) as error:
        print(f"  the servers start anew: {report.shorten(str(error))}")
        for node in chain.nodes:
            remove(node)
        chain.clean()


def remove(node):
    try:
        node.remove()
    except RuntimeError as error:
        report.current.line(str(error))


def run(chain, name, check, given):
    """Runs one check on clean servers; whether it passed."""
    begun = time.monotonic()
    report.current.begin(f"{chain.name} {name}")
    signal.signal(signal.SIGALRM, out_of_time)
    try:
        signal.alarm(given.limit + 3 * int(given.seconds))
        clean(chain)
        check(chain, given) if check.__code__.co_argcount > 1 else check(chain)
        for node in chain.nodes:
            report.require(node.is_alive(), f"{node} has ended: {node.server.log()[-500:]}")
    except report.Failed as error:
        report.current.line(str(error))
    except Exception as error:  # noqa: BLE001
        where = error.__traceback__
        while where.tb_next and where.tb_next.tb_frame.f_globals.get("__package__") == "replicas":
            where = where.tb_next
        place = f"{pathlib.Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}"
        report.current.line(f"{type(error).__name__} at {place}: {error}")
    finally:
        signal.alarm(0)
    for node in chain.nodes:
        panics = node.panics()
        if panics:
            report.current.line(f"{node} panicked: {panics[0]}")
            remove(node)
    passed = report.current.lines == 0
    print(f"{chain.name} {name}: {'ok' if passed else 'FAILED'}, {time.monotonic() - begun:.1f} s{report.current.done}", flush=True)
    return passed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("selkie")
    parser.add_argument("--topology", action="append", default=[])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--cycles", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    parser.add_argument("--limit", type=int, default=120)
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    known = {*TOPICS, *(name for module in TOPICS.values() for name in module.CHECKS)}
    unknown = [name for name in given.only if name not in known]
    if unknown or given.list:
        for topic, module in TOPICS.items():
            print(f"{topic}: {' '.join(module.CHECKS)}")
        sys.exit(f"unknown: {unknown}" if unknown else 0)
    pool, failed, count = Pool(given.selkie), [], 0
    try:
        for topology in given.topology or list(DEFAULT):
            names = given.only or ([] if given.topology else DEFAULT[topology])
            chain = pool.chain(topology)
            for topic, module in TOPICS.items():
                for name, check in checks(topic, module, names, topology):
                    count += 1
                    if not run(chain, name, check, given):
                        failed.append(f"{topology} {name}")
    finally:
        pool.remove()
    print(f"{count} checks, {len(failed)} failed{': ' if failed else ''}{', '.join(failed)}")
    sys.exit(len(failed) > 0 or count == 0)


if __name__ == "__main__":
    main()
