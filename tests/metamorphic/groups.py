"""Ends of groups of an index ("Using index for group-by"): each query runs with its indexes and without, which must agree.

Tables have NULLs, texts that are equal only by collation, and indexes with descending parts. Conditions stand on the parts
of a group, on the part whose ends are read, on those between, or on several: values, lists, ranges, NULL, OR, expressions.

usage: groups.py [--seed N] [--seconds S] PORT
"""

import argparse
import random
import sys
import time

import pymysql

INDEXES = ["abc", "asb", "abd", "abc, asb, abd"]
TEXTS = ["''", "'a'", "'A'", "'a '", "'b'", "'ab'", "'Ab'"]


class Run:
    def __init__(self, cursor, rng):
        self.cursor, self.rng = cursor, rng

    def table(self):
        self.null = self.rng.choice(["NULL", "NOT NULL"])
        self.cursor.execute("DROP TABLE IF EXISTS g")
        self.cursor.execute(f"""CREATE TABLE g (id INT PRIMARY KEY, a INT {self.null}, b INT {self.null}, c INT {self.null},
            s VARCHAR(5) {self.null}, KEY abc (a, b, c), KEY asb (a, s, b), KEY abd (a, b DESC, c))""")
        rows = [f"({row}, {self.value(6)}, {self.value(5)}, {self.value(40)}, {self.text()})"
                for row in range(self.rng.choice([30, 300, 3000]))]
        self.cursor.execute("INSERT INTO g VALUES " + ",".join(rows))
        self.cursor.execute("ANALYZE TABLE g")

    def is_null(self):
        return self.null == "NULL" and self.rng.random() < 0.1

    def value(self, most):
        return "NULL" if self.is_null() else self.rng.randrange(most)

    def text(self):
        return "NULL" if self.is_null() else self.rng.choice(TEXTS)

    def condition(self):
        column = self.rng.choice("bcas")
        if column == "s":
            return self.rng.choice(["s = 'a'", "s > 'a'", "s LIKE 'a%'", "s IN ('b', 'AB')", "s IS NULL", "s <= 'A'", "s <> 'b'",
                                    "LENGTH(s) = 1"])
        n = self.rng.randrange(42 if column == "c" else 8)
        return self.rng.choice([
            f"{column} = {n}", f"{column} = {n}", f"{column} = {n}", f"{column} > {n}", f"{column} <= {n}",
            f"{column} IN ({n}, {n + 1}, {n + 3})", f"{column} IS NULL", f"{column} IS NOT NULL", f"{column} <> {n}",
            f"{column} BETWEEN {n} AND {n + 3}", f"({column} < {n} OR {column} > {n + 2})", f"({column} = {n} OR {column} = {n + 2})",
            f"{column} <=> {n}", f"{column} <=> NULL", f"{column} % 2 = 1", f"{column} + c > 20"])

    def query(self):
        """A query with a place for the hint."""
        where = " AND ".join(self.condition() for _ in range(self.rng.randrange(1, 4)))
        if self.rng.random() < 0.15:
            where = f"({where}) OR {self.condition()}"
        group = self.rng.choice(["a", "a", "a", "a, b", "a, s"])
        items = self.rng.choice(["MIN(c)", "MAX(c)", "MIN(c), MAX(c)", "MIN(b), MAX(b)", "MAX(b)", "MIN(b)", "COUNT(DISTINCT b)",
                                 "MIN(s)"])
        return self.rng.choice([
            f"SELECT {group}, {items} FROM g {{}} WHERE {where} GROUP BY {group} ORDER BY {group}",
            f"SELECT {group}, {items} FROM g {{}} WHERE {where} GROUP BY {group} ORDER BY {group}",
            f"SELECT DISTINCT {group} FROM g {{}} WHERE {where}",
            f"SELECT COUNT(DISTINCT {group}) FROM g {{}} WHERE {where}"])

    def answer(self, query):
        """The rows in any order; texts that are equal by collation are the same."""
        self.cursor.execute(query)
        same = lambda value: value.lower().rstrip() if isinstance(value, str) else value
        return sorted(([same(value) for value in row] for row in self.cursor.fetchall()), key=repr)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    cursor = pymysql.connect(host="127.0.0.1", port=options.port, user="root", autocommit=True).cursor()
    cursor.execute("DROP DATABASE IF EXISTS metamorphic_groups")
    cursor.execute("CREATE DATABASE metamorphic_groups CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
    cursor.execute("USE metamorphic_groups")
    print(f"groups: seed {options.seed}", flush=True)
    run, end, asked, used = Run(cursor, random.Random(options.seed)), time.monotonic() + options.seconds, 0, 0
    while time.monotonic() < end:
        run.table()
        for _ in range(60):
            query = run.query()
            with_index = query.format(f"FORCE INDEX ({run.rng.choice(INDEXES)})")
            found, expected = run.answer(with_index), run.answer(query.format("IGNORE INDEX (abc, asb, abd)"))
            if found != expected:
                sys.exit(f"groups: differs: {with_index}\n{found[:5]}\n{expected[:5]}")
            cursor.execute("EXPLAIN " + with_index)
            asked, used = asked + 1, used + ("group-by" in repr(cursor.fetchall()))
    assert used > 0, "no query read the ends of groups"
    print(f"groups: {asked} queries, {used} by ends of groups, none differ")


if __name__ == "__main__":
    main()
