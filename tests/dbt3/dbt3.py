"""DBT3 (TPC-H): loads, indexes, analyzes, runs the 22 queries, and compares with reference answers.

Data comes from `tpchgen-cli tbl -s SCALE`, answers are files qNN_sfSCALE.csv. --beside PORT times a second server
in turn (already loaded, or loaded by --load).

usage: dbt3.py PORT --tables DIR --scale S [--answers DIR] [--load] [--runs N] [--beside PORT]
"""

import argparse
import os
import time
from decimal import Decimal, InvalidOperation

try:
    # A client in C: one in Python takes longer for the rows of an answer than the server.
    import MySQLdb as driver
except ImportError:
    import pymysql as driver

HERE = os.path.dirname(os.path.abspath(__file__))
QUERIES = os.path.join(HERE, "../../crates/bench/queries")
TABLES = ["region", "nation", "part", "supplier", "partsupp", "customer", "orders", "lineitem"]


def connect(port, database=None):
    return driver.connect(host="127.0.0.1", port=port, user="root", charset="utf8mb4",
                          autocommit=True, local_infile=True, database=database or "")


def statements(name):
    with open(os.path.join(QUERIES, name)) as file:
        return [line for line in file.read().split(";\n") if line.strip()]


def load(port, tables):
    connection = connect(port)
    cursor = connection.cursor()
    cursor.execute("DROP DATABASE IF EXISTS dbt3")
    cursor.execute("CREATE DATABASE dbt3")
    cursor.execute("USE dbt3")
    for statement in statements("schema.sql"):
        cursor.execute(statement)
    started = time.monotonic()
    for table in TABLES:
        before = time.monotonic()
        path = os.path.join(tables, table + ".tbl")
        rows = cursor.execute(f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE {table}"
                              r" FIELDS TERMINATED BY '|' LINES TERMINATED BY '|\n'")
        print(f"{port} load {table:9} {rows:8} rows {time.monotonic() - before:6.2f} s", flush=True)
    loaded = time.monotonic()
    for statement in statements("indexes.sql"):
        cursor.execute(statement)
    indexed = time.monotonic()
    cursor.execute("ANALYZE TABLE " + ", ".join(TABLES))
    print(f"{port} load {loaded - started:.1f} s, indexes {indexed - loaded:.1f} s,"
          f" analyze {time.monotonic() - indexed:.1f} s", flush=True)
    connection.close()


def query(number):
    with open(os.path.join(QUERIES, f"q{number:02}.sql")) as file:
        return file.read().rstrip().rstrip(";")


def run(connection, text):
    cursor = connection.cursor()
    started = time.monotonic()
    cursor.execute(text)
    rows = cursor.fetchall()
    return rows, time.monotonic() - started


def same(expected, got):
    got = "" if got is None else str(got).rstrip()
    expected = expected.rstrip()
    if expected == got:
        return True
    try:
        a, b = Decimal(expected), Decimal(got)
    except InvalidOperation:
        return False
    return abs(a - b) <= max(abs(a), abs(b)) * Decimal("1e-6") + Decimal("0.01") * (a != a.to_integral_value())


def compare(number, rows, answers, scale):
    with open(os.path.join(answers, f"q{number:02}_sf{scale}.csv"), encoding="utf-8") as file:
        expected = [line.split("|") for line in file.read().splitlines()[1:]]
    assert len(expected) == len(rows), f"q{number:02}: {len(rows)} rows, expected {len(expected)}"
    for line, (want, got) in enumerate(zip(expected, rows), 1):
        assert len(want) == len(got), f"q{number:02} row {line}: {got} for {want}"
        assert all(map(same, want, got)), f"q{number:02} row {line}: got {got}, expected {want}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--tables")
    parser.add_argument("--scale", default="0.01")
    parser.add_argument("--answers", default=os.path.join(HERE, "answers"))
    parser.add_argument("--load", action="store_true")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--beside", type=int)
    parser.add_argument("--only", type=int, nargs="*")
    options = parser.parse_args()
    ports = [options.port] + ([options.beside] if options.beside else [])
    if options.load:
        for port in ports:
            load(port, options.tables)
    connections = [connect(port, "dbt3") for port in ports]
    totals, failed = [0.0] * len(ports), 0
    for number in options.only or range(1, 23):
        best = []
        for at, connection in enumerate(connections):
            results = [run(connection, query(number)) for _ in range(options.runs)]
            best.append(min(seconds for _, seconds in results))
            totals[at] += best[at]
            try:
                compare(number, results[0][0], options.answers, options.scale)
            except AssertionError as problem:
                failed += 1
                print(f"{ports[at]}: {problem}")
        ratio = f"  ratio {best[0] / best[1]:5.2f}" if len(best) > 1 else ""
        print(f"q{number:02} " + " ".join(f"{seconds:8.3f} s" for seconds in best) + ratio, flush=True)
    print("sum " + " ".join(f"{seconds:8.3f} s" for seconds in totals))
    print(f"dbt3: {len(options.only or range(22)) * len(ports) - failed} passed, {failed} failed")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
