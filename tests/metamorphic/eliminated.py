"""Outer joins that may be removed: each query runs with and without `table_elimination`, which must agree.

Tables have keys of one and several columns, unique ones with NULLs, of texts and of their starts. A query joins some of
them by LEFT and RIGHT JOIN, nested in any way, with conditions that fill a key, nearly fill it, or compare it as another
type; it reads the columns of some tables, alone, grouped, counted, sorted, in a view, a subquery or a set operation.

usage: eliminated.py [--seed N] [--seconds S] PORT
"""

import argparse
import random
import sys
import time

import pymysql

TABLES = [
    "create table {0} (a int primary key, b int, c int, s varchar(5), unique (b))",
    "create table {0} (a int, b int, c int, s varchar(5), primary key (a, b))",
    "create table {0} (a int, b int, c int, s varchar(5), unique (a, c), unique (s))",
    "create table {0} (a int, b int, c int, s varchar(5) collate utf8mb4_bin, unique (s(2)), key (b))",
    "create table {0} (a int unsigned primary key, b decimal(5,1) unique, c int, s varchar(5) unique)",
    "create table {0} (a int primary key, b double unique, c date unique, s varchar(5))",
    "create table {0} (a int, b int, c int, s varchar(5), unique (a, b) using hash) engine=memory",
    "create table {0} (a int, b int, c int, s varchar(5) unique)",
]
TEXTS = ["a", "A", "a ", "b", "ab", "1", "1.0", "01", "2", "02", "2.0", None]


class Run:
    def __init__(self, cursor, rng):
        self.cursor, self.rng = cursor, rng
        self.names, self.keyed = [], []

    def tables(self):
        self.cursor.execute("drop database if exists eliminated")
        self.cursor.execute("create database eliminated")
        self.cursor.execute("use eliminated")
        self.names, self.keyed = [f"t{number}" for number in range(5)], []
        for name in self.names:
            table = self.rng.choice(TABLES)
            self.keyed += [name] * ("(a int primary key" in table)
            self.cursor.execute(table.format(name))
            for _ in range(self.rng.choice([0, 1, 4, 8])):
                number = lambda: self.rng.choice([None, 0, 1, 1, 2, 3])
                self.cursor.execute(f"insert ignore into {name} values (%s, %s, %s, %s)",
                                    (self.rng.randrange(4), number(), number(), self.rng.choice(TEXTS)))

    def column(self, aliases):
        return f"{self.rng.choice(aliases)}.{self.rng.choice('aaabbcs')}"

    def condition(self, inner, outer):
        """A condition that compares columns of the inner tables with those of the outer ones, or with constants."""
        if self.rng.random() < 0.15:
            return f"{self.rng.choice(inner)}.s = {self.rng.choice(outer)}.{self.rng.choice('abs')}"
        if self.rng.random() < 0.15:
            # Says which rows of the outer side have a match, not which there are.
            return f"{self.column(outer)} = {self.rng.randrange(3)}"
        sign = self.rng.choice(["=", "=", "=", "=", "=", "<=>", "<"])
        right = self.rng.choice([self.column(outer), self.column(outer), self.column(outer + inner), "1", "'a'", "2.0",
                                 f"{self.column(outer)} + 1", f"(select max(b) from t0 where t0.a = {self.column(outer)})"])
        text = f"{self.column(inner)} {sign} {right}"
        return f"({text} or {self.column(inner)} = {self.column(outer)})" if self.rng.random() < 0.1 else text

    def conditions(self, inner, outer):
        return " and ".join(self.condition(inner, outer) for _ in range(self.rng.choice([1, 1, 1, 2, 2, 3])))

    def joined(self, depth):
        """A table expression, and the aliases in it."""
        if depth == 0 or self.rng.random() < 0.25:
            self.next += 1
            return f"{self.rng.choice(self.names)} x{self.next}", [f"x{self.next}"]
        (left, of_left), (right, of_right) = self.joined(depth - 1), self.joined(depth - 2 if depth > 1 else 0)
        kind = self.rng.choice(["left join", "left join", "left join", "right join", "join"])
        inner, outer = (of_left, of_right) if kind == "right join" else (of_right, of_left)
        return f"({left} {kind} {right} on {self.conditions(inner, outer)})", of_left + of_right

    def small(self):
        """One table with a nest whose conditions just fill keys, or just do not; only the first one is read."""
        first, second, third = (self.rng.choice(self.keyed or self.names if self.rng.random() < 0.7 else self.names)
                                for _ in range(3))
        if self.rng.random() < 0.5:
            return f"({first} x left join {second} y on {self.condition(['y'], ['x'])})"
        of_nest = self.rng.choice([self.condition(["z"], ["y"]), f"y.a = 1 and {self.condition(['z'], ['y'])}", "y.a = 1 and z.a = 1"])
        kind = self.rng.choice(["left join", "left join", "join"])
        inner = self.rng.choice([["y"], ["z"], ["y", "z"]])
        of_all = self.rng.choice(["y.c = x.b", "z.c = x.a", "y.a = x.b", "z.a = y.b and y.a = x.a", self.condition(inner, ["x"])])
        return f"({first} x left join ({second} y {kind} {third} z on {of_nest}) on {of_all})"

    def query(self):
        self.next = 0
        if self.rng.random() < 0.5:
            table, read = self.small(), ["x"]
        else:
            table, aliases = self.joined(self.rng.choice([1, 2, 3, 3]))
            read = self.rng.sample(aliases, self.rng.randint(1, max(1, len(aliases) // 2)))
        item, other = self.column(read), self.column(read)
        where = f" where {self.condition(read, read)}" if self.rng.random() < 0.4 else ""
        source = f"from {table}{where}"
        return self.rng.choice([
            f"select {item}, {other} {source}",
            f"select {item}, {other} {source}",
            f"select count(*) {source}",
            f"select {item}, count(*), sum({self.column(read)}) {source} group by {item}",
            f"select distinct {item} {source}",
            f"select {item} from (select {item.replace('.', '_')} {source}) d".replace(
                f"select {item.replace('.', '_')} ", f"select {item} as v, {other} as w ").replace(f"select {item} from", "select v from"),
            f"select a from t1 where a in (select {item} {source})",
            f"select a, (select count({item}) {source}) from t1",
            f"select {item} {source} union all select {other} {source}",
            f"select {item} {source} order by {other}, {item} limit 1000",
        ])


def answer(cursor, query):
    try:
        cursor.execute(query)
        return sorted(cursor.fetchall(), key=repr)
    except pymysql.MySQLError as error:
        return error.args


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    connection = pymysql.connect(host="127.0.0.1", port=options.port, user="root", autocommit=True)
    cursor = connection.cursor()
    deadline = time.monotonic() + options.seconds
    asked = removed = failed = number = 0
    print(f"seed {options.seed}")
    while time.monotonic() < deadline:
        number += 1
        run = Run(cursor, random.Random(options.seed * 1_000_003 + number))
        run.tables()
        for _ in range(60):
            query = run.query()
            answers, rows = [], []
            for switch in ("on", "off"):
                cursor.execute(f"set optimizer_switch = 'table_elimination={switch}'")
                answers.append(answer(cursor, query))
                rows.append(answer(cursor, f"explain {query}"))
            asked += 1
            removed += len(rows[0]) != len(rows[1])
            if answers[0] != answers[1]:
                failed += 1
                print(f"round {number}: {query}\n  on  {answers[0]}\n  off {answers[1]}")
                if failed > 5:
                    sys.exit(1)
    print(f"{asked} queries, {removed} without a table, {failed} differ")
    # A generator whose queries keep all tables tests nothing.
    sys.exit(bool(failed) or removed * 20 < asked)


if __name__ == "__main__":
    main()
