"""CPU time of a full-text index: its build, inserts and queries, for a server and its process.

Usage: measure.py --port PORT --pid PID [--documents N] [--engine NAME] [--scan]
"""

import argparse
import os
import random
import time

import pymysql

TICK = os.sysconf("SC_CLK_TCK")
QUERIES = [
    ("common word", "select count(*) from d where match(t) against('w1x')"),
    ("rare word", "select count(*) from d where match(t) against('w4000x')"),
    ("+a +b", "select count(*) from d where match(t) against('+w20x +w30x' in boolean mode)"),
    ("phrase", "select count(*) from d where match(t) against('\"w1x w2x\"' in boolean mode)"),
    ("two words, ten best", "select id from d where match(t) against('w5x w60x') order by match(t) against('w5x w60x') desc"
     " limit 10"),
    ("prefix", "select count(*) from d where match(t) against('w39*' in boolean mode)"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--pid", type=int, required=True)
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--engine", default="innodb")
    parser.add_argument("--scan", action="store_true", help="read all rows instead of the index")
    options = parser.parse_args()
    connection = pymysql.connect(host="127.0.0.1", port=options.port, user="root", autocommit=True)
    cursor = connection.cursor()

    def cpu():
        with open(f"/proc/{options.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def measure(what, statement, times=1):
        before, begun = cpu(), time.monotonic()
        for _ in range(times):
            cursor.execute(statement)
        rows = cursor.fetchall()
        used, wall = (cpu() - before) / times, (time.monotonic() - begun) / times
        shown = rows[0] if rows and len(rows) == 1 else ""
        print(f"{what:22} {used * 1000:10.1f} ms CPU {wall * 1000:10.1f} ms  {shown}", flush=True)

    cursor.execute("create database if not exists fulltext_measure")
    cursor.execute("use fulltext_measure")
    cursor.execute("drop table if exists d, e")
    cursor.execute(f"create table d (id int primary key auto_increment, t text) engine={options.engine}")
    chance = random.Random(1)
    weights = [1 / (n + 1) for n in range(5000)]
    words = [f"w{n}x" for n in range(5000)]
    for start in range(0, options.documents, 1000):
        count = min(1000, options.documents - start)
        texts = [(" ".join(chance.choices(words, weights, k=100)),) for _ in range(count)]
        cursor.executemany("insert into d (t) values (%s)", texts)
    cursor.execute("set global innodb_ft_enable_stopword = 1")
    measure("build", "alter table d add fulltext ft (t)")
    if options.scan:
        cursor.execute("set selkie_fulltext_scan = 1")
    cursor.execute("select count(*) from d where match(t) against('w1x')")
    for what, statement in QUERIES:
        measure(what, statement, 3 if options.scan else 5)
    if not options.scan:
        cursor.execute(
            f"create table e (id int primary key auto_increment, t text, fulltext ft (t)) engine={options.engine}"
        )
        measure("insert of 2000", "insert into e (t) select t from d where id <= 2000")
        before, begun = cpu(), time.monotonic()
        for _ in range(500):
            cursor.execute("insert into e (t) values (%s)", (" ".join(chance.choices(words, weights, k=100)),))
        print(f"{'single inserts, each':22} {(cpu() - before) * 2:10.3f} ms CPU {(time.monotonic() - begun) * 2:10.3f} ms")


if __name__ == "__main__":
    main()
