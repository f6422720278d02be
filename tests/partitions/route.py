#!/usr/bin/env python3
"""Compares two servers in which partition a row is, and which partitions a query reads.

usage: route.py PORT REFERENCE_PORT [--seed N] [--rounds N] [--shown N]

Each round makes the same partitioned table on both servers, inserts the same rows (INSERT IGNORE, so that rows without a
partition are left out), and compares: the definition as shown, the warnings, the rows of every partition, results of
queries and their lists of partitions in EXPLAIN PARTITIONS, rows moved by UPDATE. Lists with
more or fewer partitions than the reference's are only counted: the former cost time, the latter are right if the rows are.
Needs pymysql and accounts root without a password.
"""
import argparse
import random
import sys

import pymysql

TEXTS = ["", "a", "A", "abc", "ABC  ", "b", "ba", "zz", "ä", "Ä", "日本", "x" * 12, "m", "M1", " "]
DATES = ["2020-01-01", "2021-06-30", "2022-02-28", "2023-12-31", "2024-02-29", "1999-12-31", "2038-01-19", "1970-01-01"]
TIMES = ["00:00:00", "12:34:56", "23:59:59", "01:00:00"]


def moment(rng):
    return f"{rng.choice(DATES)} {rng.choice(TIMES)}"


def integer(low, high):
    def value(rng):
        return rng.choice([rng.randint(-50, 50), rng.randint(low, high), low, high, 0, 1, 32, 8224])
    return lambda rng: max(low, min(high, value(rng)))


# Type, a value of it as a literal.
TYPES = {
    "tinyint": integer(-128, 127),
    "smallint unsigned": integer(0, 65535),
    "mediumint": integer(-8388608, 8388607),
    "int": integer(-2**31, 2**31 - 1),
    "int unsigned": integer(0, 2**32 - 1),
    "bigint": integer(-2**63, 2**63 - 1),
    "bigint unsigned": integer(0, 2**64 - 1),
    "decimal(10,2)": lambda rng: f"{rng.randint(-10**6, 10**6) / 100:.2f}",
    "double": lambda rng: rng.choice([0, 1.5, -3e7, 1e100, rng.random()]),
    "float": lambda rng: rng.choice([0, 1.5, -3e7, 0.25]),
    "year": lambda rng: rng.choice([1901, 2000, 2024, 2155]),
    "bit(10)": lambda rng: rng.randint(0, 1023),
    "date": lambda rng: f"'{rng.choice(DATES)}'",
    "datetime": lambda rng: f"'{moment(rng)}'",
    "datetime(3)": lambda rng: f"'{moment(rng)}.{rng.randint(0, 999):03}'",
    "timestamp": lambda rng: f"'{moment(rng).replace('1970-01-01', '1970-01-02').replace('1999', '2005')}'",
    "time": lambda rng: f"'{rng.choice(TIMES)}'",
    "varchar(20)": lambda rng: f"'{rng.choice(TEXTS)}'",
    "char(20)": lambda rng: f"'{rng.choice(TEXTS)}'",
    "varchar(20) character set latin1": lambda rng: f"'{rng.choice(TEXTS[:10])}'",
    "varchar(20) collate utf8mb4_bin": lambda rng: f"'{rng.choice(TEXTS)}'",
    "varchar(20) collate utf8mb4_unicode_ci": lambda rng: f"'{rng.choice(TEXTS)}'",
    "varchar(20) collate utf8mb4_uca1400_ai_ci": lambda rng: f"'{rng.choice(TEXTS)}'",
    "varbinary(20)": lambda rng: f"'{rng.choice(TEXTS)}'",
    "binary(20)": lambda rng: f"'{rng.choice(TEXTS[:9])}'",
    "enum('a','b','zz')": lambda rng: rng.choice(["'a'", "'b'", "'zz'"]),
    "set('a','b','zz')": lambda rng: rng.choice(["'a'", "'b,zz'", "''"]),
    "inet6": lambda rng: rng.choice(["'::1'", "'2001:db8::ff'"]),
    "uuid": lambda rng: rng.choice(["'00112233-4455-6677-8899-aabbccddeeff'", "'ffffffff-0000-1111-2222-333333333333'"]),
}
INTEGERS = [t for t in TYPES if "int" in t]
# MariaDB refuses values above 2^63 of a BIGINT UNSIGNED column in COLUMNS when it opens the table (1654).
LISTABLE = [t for t in INTEGERS if t != "bigint unsigned"] + ["date", "datetime", "datetime(3)", "time"] + [t for t in TYPES if "char" in t or "binary" in t]

# Expression over c, type of c, values to compare it with.
FUNCTIONS = [
    ("to_days(c)", "date", lambda rng: f"to_days('{rng.choice(DATES)}')"),
    ("to_days(c)", "datetime", lambda rng: f"to_days('{rng.choice(DATES)}')"),
    ("to_seconds(c)", "datetime", lambda rng: f"to_seconds('{rng.choice(DATES)}')"),
    ("year(c)", "date", lambda rng: rng.randint(1995, 2040)),
    ("year(c)", "datetime", lambda rng: rng.randint(1995, 2040)),
    ("month(c)", "date", lambda rng: rng.randint(1, 12)),
    ("quarter(c)", "date", lambda rng: rng.randint(1, 4)),
    ("dayofweek(c)", "date", lambda rng: rng.randint(1, 7)),
    ("weekday(c)", "datetime", lambda rng: rng.randint(0, 6)),
    ("dayofyear(c)", "date", lambda rng: rng.randint(1, 366)),
    ("yearweek(c,1)", "date", lambda rng: rng.randint(199501, 203953)),
    ("hour(c)", "time", lambda rng: rng.randint(0, 23)),
    ("time_to_sec(c)", "time", lambda rng: rng.randint(0, 86400)),
    ("extract(year_month from c)", "date", lambda rng: rng.randint(199501, 203912)),
    ("unix_timestamp(c)", "timestamp", lambda rng: rng.randint(0, 2**31 - 1)),
    ("c div 10", "int", lambda rng: rng.randint(-10, 10)),
    ("c mod 7", "int", lambda rng: rng.randint(-6, 6)),
    ("abs(c)", "int", lambda rng: rng.randint(0, 100)),
    ("c * 2 + 1", "mediumint", lambda rng: rng.randint(-100, 100)),
    ("ceiling(c)", "decimal(10,2)", lambda rng: rng.randint(-10000, 10000)),
    ("floor(c)", "decimal(10,2)", lambda rng: rng.randint(-10000, 10000)),
]


def rising(values, number):
    return sorted(set(values), key=number)


def as_number(text):
    return float(str(text))


class Definition:
    """A random partitioning of (i int, c TYPE [not null], d TYPE2)."""

    def __init__(self, rng, connection):
        self.rng = rng
        self.second = rng.choice(["int", "date", "varchar(20)"])
        kind = rng.choice(["hash", "key", "key", "range", "list", "range columns", "list columns"])
        count = rng.choice([1, 2, 3, 5, 7, 16])
        self.type, self.clause = getattr(self, kind.replace(" ", "_"))(count, connection)

    def sample(self, connection, kind, wanted):
        return [TYPES[kind](self.rng) for _ in range(wanted)]

    def hash(self, count, _):
        linear = self.rng.choice(["", "linear "])
        if self.rng.random() < 0.5:
            kind = self.rng.choice(INTEGERS + ["year", "bit(10)"])
            return kind, f"{linear}hash (c) partitions {count}"
        expression, kind, _ = self.rng.choice(FUNCTIONS)
        return kind, f"{linear}hash ({expression}) partitions {count}"

    def key(self, count, _):
        linear = self.rng.choice(["", "linear "])
        algorithm = self.rng.choice(["", "", "algorithm = 1 ", "algorithm = 2 "])
        columns = self.rng.choice(["c", "c", "c, d", "d, c"])
        return self.rng.choice(list(TYPES)), f"{linear}key {algorithm}({columns}) partitions {count}"

    def range(self, count, connection):
        if self.rng.random() < 0.4:
            kind = self.rng.choice(INTEGERS)
            expression, constants = "c", TYPES[kind]
        else:
            expression, kind, constants = self.rng.choice(FUNCTIONS)
        values = [constants(self.rng) for _ in range(count)]
        numbers = {}
        for value in values:
            connection.execute(f"select {value}")
            numbers[connection.fetchone()[0]] = value
        bounds = [f"({numbers[number]})" for number in sorted(numbers)]
        if self.rng.random() < 0.5:
            bounds.append("maxvalue")
        parts = [f"partition p{at} values less than {bound}" for at, bound in enumerate(bounds)]
        return kind, f"range ({expression}){self.sub()} ({', '.join(parts)})"

    def list(self, count, connection):
        if self.rng.random() < 0.4:
            kind = self.rng.choice(INTEGERS)
            expression, constants = "c", TYPES[kind]
        else:
            expression, kind, constants = self.rng.choice(FUNCTIONS)
        numbers = {}
        for value in [constants(self.rng) for _ in range(count * 3)]:
            connection.execute(f"select {value}")
            numbers[connection.fetchone()[0]] = str(value)
        return kind, f"list ({expression}){self.sub()} ({self.lists(list(numbers.values()), count)})"

    def lists(self, values, count):
        if self.rng.random() < 0.5:
            values.append("null")
        self.rng.shuffle(values)
        shares = [values[at::count] for at in range(count)]
        parts = [f"partition p{at} values in ({', '.join(share)})" for at, share in enumerate(shares) if share]
        if self.rng.random() < 0.4:
            parts.append("partition pd default")
        return ", ".join(parts)

    def range_columns(self, count, connection):
        kind = self.rng.choice(LISTABLE)
        if self.rng.random() < 0.3 and self.second == "int":
            columns = "c, d"
            values = [f"{TYPES[kind](self.rng)}, {self.rng.randint(-20, 20)}" for _ in range(count)]
        else:
            columns = "c"
            values = [str(TYPES[kind](self.rng)) for _ in range(count)]
        key = values[:]
        # The server sorts the bounds.
        connection.execute("drop temporary table if exists bounds")
        connection.execute(f"create temporary table bounds (v int, c {kind}, d int)")
        for at, value in enumerate(key):
            extra = "" if "c, d" == columns else ", null"
            connection.execute(f"insert ignore into bounds values ({at}, {value}{extra})")
        connection.execute("select min(v) from bounds group by c, d order by c, d")
        order = [row[0] for row in connection.fetchall()]
        bounds = [f"({key[at]})" for at in order]
        if self.rng.random() < 0.5:
            bounds.append("(maxvalue, maxvalue)" if columns == "c, d" else "(maxvalue)")
        parts = [f"partition p{at} values less than {bound}" for at, bound in enumerate(bounds)]
        return kind, f"range columns ({columns}){self.sub()} ({', '.join(parts)})"

    def list_columns(self, count, _):
        kind = self.rng.choice(LISTABLE)
        values = list({str(TYPES[kind](self.rng)) for _ in range(count * 2)})
        return kind, f"list columns (c){self.sub()} ({self.lists(values, count)})"

    def sub(self):
        if self.rng.random() < 0.7:
            return ""
        method = self.rng.choice(["hash (i)", "linear hash (i)", "key (d)", "linear key (i, d)"])
        return f" subpartition by {method} subpartitions {self.rng.choice([1, 2, 3])}"


class Servers:
    def __init__(self, ports):
        self.cursors = []
        for port in ports:
            connection = pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True, charset="utf8mb4")
            cursor = connection.cursor()
            cursor.execute("create database if not exists route")
            cursor.execute("use route")
            cursor.execute("set time_zone = '+00:00', sql_mode = ''")
            self.cursors.append(cursor)

    def ask(self, sql):
        answers = []
        for cursor in self.cursors:
            try:
                cursor.execute(sql)
                answers.append(("ok", cursor.fetchall() if cursor.description else cursor.rowcount))
            except pymysql.MySQLError as error:
                answers.append(("error", error.args))
        return answers


class Run:
    def __init__(self, servers, most):
        self.servers, self.most = servers, most
        self.counts = {"compared": 0, "different": 0, "read more": 0, "read less": 0}
        self.shown = 0
        self.table = ""

    def compare(self, sql, form=lambda answer: answer):
        mine, reference = self.servers.ask(sql)
        self.counts["compared"] += 1
        if form(mine) != form(reference):
            self.counts["different"] += 1
            self.show(sql, mine, reference)
        return mine, reference

    def show(self, sql, mine, reference):
        self.shown += 1
        if self.shown <= self.most:
            print(f"--- {self.table}\n    {sql}\n    here:  {str(mine)[:600]}\n    there: {str(reference)[:600]}", flush=True)

    def partitions(self, sql):
        mine, reference = self.servers.ask(f"explain partitions {sql}")
        self.counts["compared"] += 1
        if mine[0] == "error" or reference[0] == "error":
            return self.show(sql, mine, reference)
        read = [set((answer[1][0][3] or "").split(",")) - {""} for answer in (mine, reference)]
        if read[0] == read[1]:
            return None
        if read[0] >= read[1]:
            self.counts["read more"] += 1
        else:
            self.counts["read less"] += 1
        return self.show(f"explain partitions {sql}", sorted(read[0]), sorted(read[1]))


def condition(rng, kind):
    value = lambda: TYPES[kind](rng)
    form = rng.randint(0, 8)
    if form == 0:
        return f"c = {value()}"
    if form == 1:
        return f"c in ({value()}, {value()}, {value()})"
    if form == 2:
        return "c is null"
    if form == 3:
        return f"c {rng.choice(['<', '<=', '>', '>='])} {value()}"
    if form == 4:
        return f"c between {value()} and {value()}"
    if form == 5:
        return f"c = {value()} or c = {value()}"
    if form == 6:
        return f"c > {value()} and c < {value()} and i = {rng.randint(0, 40)}"
    if form == 7:
        return f"c <=> {value()}"
    return f"c = {value()} and d is null"


def one_round(run, rng, number):
    servers = run.servers
    servers.ask("drop table if exists r")
    definition = Definition(rng, servers.cursors[1])
    engine = rng.choice(["innodb", "innodb", "myisam"])
    nulls = rng.choice(["", "", " not null"])
    if definition.type == "timestamp" and not nulls:
        nulls = " null"
    create = (f"create table r (i int, c {definition.type}{nulls}, d {definition.second}) engine={engine} "
              f"partition by {definition.clause}")
    run.table = f"round {number}: {create}"
    mine, reference = run.compare(create, lambda answer: answer[1][0] if answer[0] == "error" else "ok")
    if mine[0] == "error" or reference[0] == "error":
        return
    run.compare("show create table r")
    rows = []
    for i in range(40):
        c = TYPES[definition.type](rng) if nulls == " not null" or rng.random() < 0.9 else "null"
        d = TYPES[definition.second](rng) if rng.random() < 0.8 else "null"
        rows.append(f"({i}, {c}, {d})")
    run.compare(f"insert ignore into r values {', '.join(rows)}")
    run.compare("show warnings")
    _, (_, names) = run.compare("select partition_name, subpartition_name from information_schema.partitions "
                                "where table_schema = 'route' and table_name = 'r' order by partition_ordinal_position, "
                                "subpartition_ordinal_position")
    ordered = lambda answer: sorted(answer[1]) if answer[0] == "ok" else answer
    for part, sub in names:
        run.compare(f"select i from r partition ({sub or part})", ordered)
    for _ in range(6):
        where = condition(rng, definition.type)
        run.compare(f"select i from r where {where}", ordered)
        run.partitions(f"select * from r where {where}")
    run.compare(f"update ignore r set c = {TYPES[definition.type](rng)} where i < 5")
    run.compare(f"update ignore r set c = c where i < 50")
    run.compare("delete from r where i between 10 and 12")
    for part, sub in names:
        run.compare(f"select i from r partition ({sub or part})", ordered)
    run.compare("check table r")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ports", type=int, nargs=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--shown", type=int, default=10, help="differences to show")
    options = parser.parse_args()
    run = Run(Servers(options.ports), options.shown)
    for number in range(options.rounds):
        one_round(run, random.Random(options.seed * 1_000_003 + number), number)
    print(", ".join(f"{what} {count}" for what, count in run.counts.items()))
    sys.exit(1 if run.counts["different"] else 0)


if __name__ == "__main__":
    main()
