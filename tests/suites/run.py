"""Runs test suites that others wrote for MariaDB's clients, unchanged, against a server.

usage: run.py PORT [--show] [SUITE ...]

Each suite is taken at a fixed version from a registry (sources.py) and run as its authors run it (runners.py). A test
fails here if it fails and is not in left_out.tsv (suite, pattern of the test's name, reason), where those stand that
fail beside MariaDB 10.11 too and those of features that answer 1235. An entry that matches no failure is told, and
fails as well, since it would hide what breaks later, unless its reason begins with "sometimes". A suite must have as many passing tests as PASSING says, so that one
that ran nothing fails. --show prints the failures and judges nothing: for a run on MariaDB.
"""

import fnmatch
import os
import sys
import time

import pymysql

import sources
from runners import SUITES

HERE = os.path.dirname(os.path.abspath(__file__))
LEFT_OUT = os.path.join(HERE, "left_out.tsv")
# Databases and accounts the suites expect.
DATABASES = ("suite", "suite2", "test_schema", "test_schema_2", "testj")
# The least number of tests that pass, by suite.
PASSING = {"pymysql": 150, "sqlalchemy": 2050, "django": 4800, "go-sql-driver": 380, "dbd-mariadb": 3000,
           "connector-j": 940}


def left_out():
    """The patterns of each suite, with their reasons."""
    entries = {}
    with open(LEFT_OUT) as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                suite, pattern, reason = line.rstrip("\n").split("\t")
                entries.setdefault(suite, {})[pattern] = reason
    return entries


def fresh_databases(port):
    connection = pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True)
    with connection.cursor() as cursor:
        for name in DATABASES:
            cursor.execute(f"DROP DATABASE IF EXISTS {name}")
            cursor.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
        cursor.execute("SET GLOBAL local_infile = 1")
    connection.close()


def judge(suite, outcomes, patterns):
    """Describes a run's faults, as lines."""
    failed = sorted({name for name, outcome in outcomes if outcome == "failed"})
    passed = sum(outcome == "passed" for _, outcome in outcomes)
    findings, used = [], set()
    for name in failed:
        matching = [pattern for pattern in patterns if fnmatch.fnmatchcase(name, pattern)]
        used.update(matching)
        if not matching:
            findings.append(f"{suite}: {name} failed")
    findings += [f"{suite}: {pattern} is left out and does not fail" for pattern, reason in patterns.items()
                 if pattern not in used and not reason.startswith("sometimes")]
    if passed < PASSING[suite]:
        findings.append(f"{suite}: only {passed} tests passed, {PASSING[suite]} are known to")
    return findings


def main():
    arguments = sys.argv[1:]
    show = "--show" in arguments
    port, *names = [argument for argument in arguments if argument != "--show"]
    sources.packages()
    patterns, findings = left_out(), []
    for suite in names or SUITES:
        fresh_databases(int(port))
        started = time.monotonic()
        outcomes = list(SUITES[suite](int(port)))
        counts = {kind: sum(outcome == kind for _, outcome in outcomes) for kind in ("passed", "failed", "skipped")}
        print(f"{suite}: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped, "
              f"{time.monotonic() - started:.0f} s", flush=True)
        if show:
            print("".join(f"  {name}\n" for name in sorted({n for n, o in outcomes if o == "failed"})), end="")
        else:
            findings += judge(suite, outcomes, patterns.get(suite, {}))
    print("\n".join(findings))
    raise SystemExit(bool(findings))


if __name__ == "__main__":
    main()
