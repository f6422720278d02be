"""DBT3 on a running Selkie and on DuckDB, in turn in the same run: ratios that a busy machine spoils less than times.

Each query runs N times on both, alternately, and the best times count. The answers of both are compared with each other,
and with reference answers if there are some for the scale. Needs `pip install duckdb`; a peer with wrong answers fails
the run too. With --load both get their tables from `tpchgen-cli tbl -s SCALE`; DuckDB has no indexes.

usage: beside.py PORT DATABASE [--tables DIR --load] [--scale S] [--answers DIR] [--runs N] [--lanes N] [--peer-memory 4GB]
                 [--set VARIABLE=VALUE]
"""

import argparse
import math
import os

import duckdb
import duckdb_peer
from dbt3 import HERE, compare, connect, load, query, run, same


def differences(ours, theirs):
    """The first difference between the rows of two answers, as a text; empty if there is none."""
    if len(ours) != len(theirs):
        return f"{len(ours)} rows beside {len(theirs)}"
    for line, (one, other) in enumerate(zip(ours, theirs), 1):
        if not all(same(str(a), str(b)) for a, b in zip(one, other, strict=True)):
            return f"row {line}: {one} beside {other}"
    return ""


def problems(number, ours, theirs, options):
    found = differences(ours, theirs)
    if found:
        yield f"q{number:02}: {found}"
    if os.path.exists(os.path.join(options.answers, f"q{number:02}_sf{options.scale}.csv")):
        for name, rows in (("Selkie", ours), ("DuckDB", theirs)):
            try:
                compare(number, rows, options.answers, options.scale)
            except AssertionError as problem:
                yield f"{name}: {problem}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("database")
    parser.add_argument("--tables")
    parser.add_argument("--load", action="store_true")
    parser.add_argument("--scale", default="0.01")
    parser.add_argument("--answers", default=os.path.join(HERE, "answers"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--lanes", type=int, default=2, help="threads of DuckDB")
    parser.add_argument("--peer-memory", default="", help="memory_limit of DuckDB, for example 4GB")
    parser.add_argument("--set", action="append", default=[], help="session variable of Selkie")
    parser.add_argument("--only", type=int, nargs="*")
    options = parser.parse_args()
    peer = duckdb.connect(options.database)
    peer.execute(f"SET threads = {options.lanes}")
    if options.peer_memory:
        peer.execute(f"SET memory_limit = '{options.peer_memory}'")
    if options.load:
        load(options.port, options.tables)
        duckdb_peer.load(peer, options.tables)
    own = connect(options.port, "dbt3")
    for variable in options.set:
        own.cursor().execute(f"SET SESSION {variable}")
    totals, logs, failed = [0.0, 0.0], [], 0
    for number in options.only or range(1, 23):
        text, best, answers = query(number), [math.inf, math.inf], [None, None]
        for _ in range(options.runs):
            for at, one in enumerate((lambda: run(own, text), lambda: duckdb_peer.run(peer, text))):
                answers[at], seconds = one()
                best[at] = min(best[at], seconds)
        for problem in problems(number, *answers, options):
            failed += 1
            print(problem)
        totals = [total + seconds for total, seconds in zip(totals, best)]
        logs.append(math.log(best[0] / best[1]))
        print(f"| {number:2} | {best[0]:7.3f} | {best[1]:7.3f} | {best[0] / best[1]:6.2f} |", flush=True)
    mean = math.exp(sum(logs) / len(logs))
    print(f"| sum | {totals[0]:7.3f} | {totals[1]:7.3f} | {totals[0] / totals[1]:6.2f} |")
    print(f"DuckDB {duckdb.__version__} with {options.lanes} threads; geometric mean of the ratios {mean:.2f}; {failed} failed")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
