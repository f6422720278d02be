"""The 22 queries of DBT3 on DuckDB, to compare with a fast analytical engine.

Loads the tables of `tpchgen-cli tbl -s SCALE` into a DuckDB file, without indexes, and runs the same
queries; the same code checks the answers. Needs `pip install duckdb`; not part of any test run.

usage: duckdb_peer.py DATABASE --tables DIR --scale S [--answers DIR] [--runs N] [--threads N]
"""

import argparse
import os
import time

import duckdb
from dbt3 import HERE, TABLES, compare, query, statements


def load(connection, tables):
    for statement in statements("schema.sql"):
        connection.execute(statement)
    for table in TABLES:
        before = time.monotonic()
        columns = [name for name, *_ in connection.execute(f"DESCRIBE {table}").fetchall()]
        # Each line ends with a separator.
        names = ", ".join(f"'{name}': 'VARCHAR'" for name in columns + ["rest"])
        path = os.path.join(tables, table + ".tbl")
        connection.execute(
            f"INSERT INTO {table} SELECT {', '.join(columns)} FROM read_csv('{path}', delim='|',"
            f" header=false, quote='', columns={{{names}}})")
        print(f"load {table:9} {time.monotonic() - before:6.2f} s", flush=True)


def run(connection, text):
    started = time.monotonic()
    rows = connection.execute(text).fetchall()
    return rows, time.monotonic() - started


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("database")
    parser.add_argument("--tables", required=True)
    parser.add_argument("--scale", default="0.01")
    parser.add_argument("--answers", default=os.path.join(HERE, "answers"))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()
    connection = duckdb.connect(options.database)
    connection.execute(f"SET threads = {options.threads}")
    load(connection, options.tables)
    total, failed = 0.0, 0
    for number in range(1, 23):
        results = [run(connection, query(number)) for _ in range(options.runs)]
        best = min(seconds for _, seconds in results)
        total += best
        try:
            compare(number, results[0][0], options.answers, options.scale)
        except AssertionError as problem:
            failed += 1
            print(problem)
        print(f"q{number:02} {best:8.3f} s", flush=True)
    print(f"DuckDB {duckdb.__version__}: sum {total:8.3f} s, {22 - failed} passed, {failed} failed")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
