"""Runs test suites of MariaDB clients, unchanged, against a server.

usage: run.py PORT [--show] [SUITE ...]

Each suite is taken at a fixed version from a registry (sources.py) and run as its authors run it (runners.py). A failing
test is a fault unless it is in left_out.tsv (suite, pattern of the test's name, reason). That file lists tests that
also fail with MariaDB 10.11, and tests of features that answer 1235. An entry without a failure is reported
and is a fault too, because it would hide later failures, unless its reason begins with "sometimes". At least the number of
tests in PASSING must pass in a suite, so that a suite that runs nothing fails. --show prints the failures and fails for
none: for a run on MariaDB.
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
# Databases and accounts that the suites expect.
DATABASES = ("suite", "suite2", "test_schema", "test_schema_2", "testj")
# Minimum number of passing tests, by suite.
PASSING = {"pymysql": 150, "sqlalchemy": 2050, "django": 4800, "go-sql-driver": 380, "dbd-mariadb": 3000,
           "connector-j": 940}


def left_out():
    """Returns the patterns of each suite, with their reasons."""
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
    """Returns a run's faults, as lines."""
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
