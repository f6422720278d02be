#!/usr/bin/env python3
"""Random queries whose operators may keep next to nothing in memory, compared with the same queries without ceilings.

Sorts, groups, DISTINCT, joins, windows, set operations and common tables must give the same rows in the same order
whether their rows are in memory or in temporary files. Only outer joins may order rows otherwise. No other server is needed.

usage: ceilings.py [--seed N] [--seconds S] PORT
"""

import argparse
import random
import time

import pymysql

COLUMNS = ["k", "s", "d", "x", "dt", "b"]
CEILINGS = [(1024, 128, 0), (65536, 65536, 65536), (4096, 1000, 5000), (30000, 30000, 30000), (200000, 100000, 100000)]
TABLE = """CREATE OR REPLACE TABLE {name} (
    id INT PRIMARY KEY, k INT, s VARCHAR(30) COLLATE utf8mb4_general_ci, d DECIMAL(25,5), x DOUBLE, dt DATETIME(2), b TEXT)"""
ROWS = """INSERT INTO {name} SELECT seq,
    IF(seq % {a} = 0, NULL, FLOOR(RAND({seed}) * {keys})),
    IF(seq % {b} = 0, NULL, CONCAT(CHAR(65 + seq % 3 + 32 * (seq % 2)), FLOOR(RAND({seed} + 1) * {texts}))),
    IF(seq % 17 = 0, NULL, FLOOR(RAND({seed} + 2) * 3000) / {divisor}),
    FLOOR(RAND({seed} + 3) * 1000) / 4,
    IF(seq % 9 = 0, NULL, DATE_ADD('2020-01-01', INTERVAL FLOOR(RAND({seed} + 4) * 9000) MINUTE)),
    REPEAT(CHAR(97 + seq % 26), seq % {length})
    FROM seq_1_to_{rows}"""


# Many groups, some of several rows, in the order of an index.
KEYED = ["CREATE OR REPLACE TABLE keyed (id INT PRIMARY KEY, a INT NOT NULL, KEY (a))",
         "INSERT INTO keyed SELECT seq, IF(seq < {begin}, seq, {begin} + (seq - {begin}) DIV 3) FROM seq_1_to_6000",
         "ANALYZE TABLE keyed"]


class Queries:
    """Makes queries over the tables t, u, v and keyed."""

    def __init__(self, rng):
        self.rng = rng
        self.kinds = [self.sorted, self.grouped, self.distinct, self.joined, self.exists, self.listed, self.united,
                      self.windows, self.common, self.rollup, self.filtered, self.report, self.updated, self.in_order,
                      self.examined, self.effects]

    def column(self):
        return self.rng.choice(COLUMNS)

    def where(self):
        return self.rng.choice(["", " WHERE t.k > 3", " WHERE t.s IS NOT NULL"])

    def make(self):
        return self.rng.choice(self.kinds)()

    def sorted(self):
        way = self.rng.choice(["", " DESC"])
        limit = self.rng.choice(["", " LIMIT 900", " LIMIT 2000 OFFSET 700"])
        last = self.rng.choice(["", ", id"])
        return f"SELECT * FROM t{self.where()} ORDER BY {self.column()}{way}, {self.column()}{last}{limit}"

    def grouped(self):
        a, b, c = self.column(), self.column(), self.column()
        return (f"SELECT {a} g1, {b} g2, COUNT(*), SUM(d), MIN(s), MAX(b), AVG(x), GROUP_CONCAT(id), COUNT(DISTINCT {c}), "
                f"BIT_XOR(k), STD(d) FROM t{self.where()} GROUP BY g1, g2")

    def distinct(self):
        order = self.rng.choice(["", " ORDER BY 2", f" ORDER BY {self.column()}"])
        return f"SELECT DISTINCT {self.column()}, {self.column()} FROM t{self.where()}{order}"

    def joined(self):
        kind, key = self.rng.choice(["JOIN", "LEFT JOIN"]), self.column()
        return (f"SELECT t.id, u.id, t.{self.column()}, u.{self.column()} FROM t {kind} u ON t.{key} = u.{key}{self.where()} "
                "LIMIT 20000")

    def exists(self):
        key, no = self.column(), self.rng.choice(["", "NOT "])
        return f"SELECT id, {self.column()} FROM t WHERE {no}EXISTS (SELECT 1 FROM u WHERE u.{key} = t.{key} AND u.k <> t.id)"

    def listed(self):
        key, no = self.column(), self.rng.choice(["", "NOT "])
        return f"SELECT id FROM t WHERE {key} {no}IN (SELECT {key} FROM u WHERE u.id > 5)"

    def united(self):
        key = self.column()
        return f"SELECT {key} FROM t UNION SELECT {key} FROM u UNION ALL SELECT {key} FROM v LIMIT 7000"

    def windows(self):
        return (f"SELECT id, ROW_NUMBER() OVER (PARTITION BY {self.column()} ORDER BY {self.column()}, id), "
                f"SUM(d) OVER (PARTITION BY {self.column()} ORDER BY {self.column()}, id), "
                f"LAG(s) OVER (ORDER BY {self.column()}, id) FROM t{self.where()}")

    def common(self):
        return (f"WITH w AS (SELECT {self.column()} a, COUNT(*) n FROM t GROUP BY 1) "
                "SELECT w1.a, w2.n FROM w w1 JOIN w w2 ON w1.n = w2.n LIMIT 3000")

    def rollup(self):
        a, b = self.rng.sample(COLUMNS, 2)
        return f"SELECT {a}, {b}, COUNT(*), SUM(d) FROM t GROUP BY {a}, {b} WITH ROLLUP"

    def filtered(self):
        key, kind = self.column(), self.rng.choice(["INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"])
        return f"SELECT {key} FROM t {kind} SELECT {key} FROM u"

    def report(self):
        a, b = self.column(), self.column()
        return (f"SELECT t.{self.column()} z, COUNT(*), MAX(u.d) FROM t JOIN u ON t.{a} = u.{a} "
                f"LEFT JOIN v ON v.{b} = u.{b} AND v.id < 50 GROUP BY z ORDER BY 2 DESC, 1 LIMIT 500")

    def in_order(self):
        kept = self.rng.choice(["", ", GROUP_CONCAT(id)"])
        return f"SELECT a, COUNT(*), MAX(id){kept} FROM keyed FORCE INDEX (a) GROUP BY a"

    def examined(self):
        key, most = self.column(), self.rng.randint(100, 3000)
        return self.rng.choice([f"SELECT DISTINCT {key} FROM t LIMIT ROWS EXAMINED {most}",
                                f"SELECT t.id FROM t JOIN v ON t.{key} = v.{key} LIMIT ROWS EXAMINED {most}"])

    def effects(self):
        """Expressions that must be computed once for each row, in the order of the rows."""
        a, b = self.column(), self.column()
        statement = self.rng.choice([
            f"SELECT @n := @n + 1, {a} FROM t ORDER BY {b}",
            f"SELECT {a}, MAX(@n := @n + 1) FROM t GROUP BY {a}",
            f"SELECT DISTINCT {a}, (@n := @n + 1) % 7 FROM t",
            f"SELECT t.id, v.id FROM t JOIN v ON t.{a} = v.{a} AND (@n := @n + 1) > 5 LIMIT 20000",
            f"SELECT t.id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.{a} = t.{a} AND (@n := @n + 1) % 3 = 0)",
        ])
        # Rows of the batch that reaches a LIMIT are computed too.
        return ["SET @n = 0", statement] + ([] if "LIMIT" in statement else ["SELECT @n"])

    def updated(self):
        key = self.column()
        return [f"UPDATE t JOIN u ON t.{key} = u.{key} SET t.x = t.x + u.id % 3",
                "SELECT COUNT(*), SUM(x), SUM(CRC32(CONCAT_WS(',', id, k, s, d, x))) FROM t"]


class Run:
    def __init__(self, port, seed):
        self.rng = random.Random(seed)
        connection = pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=False)
        self.cursor, self.connection = connection.cursor(), connection
        self.ask(f"CREATE OR REPLACE DATABASE spill_{seed}")
        self.ask(f"USE spill_{seed}")
        for name in "tuv":
            self.ask(TABLE.format(name=name))
            self.ask(ROWS.format(
                name=name, a=self.rng.randint(3, 20), b=self.rng.randint(5, 30), seed=self.rng.randint(1, 99),
                keys=self.rng.choice([200, 1000, 5000]), texts=self.rng.choice([100, 2000]),
                divisor=self.rng.choice([1, 8, 1000]), length=self.rng.choice([70, 300]),
                rows=self.rng.choice([500, 2000, 4000])))
        for statement in KEYED:
            self.ask(statement.format(begin=self.rng.randint(1000, 2500)))
        connection.commit()

    def ask(self, statement):
        try:
            self.cursor.execute(statement)
            return self.cursor.fetchall()
        except pymysql.MySQLError as error:
            return str(error)

    def answer(self, statements, ceilings):
        sort, join, table = ceilings
        self.ask(f"SET sort_buffer_size = {sort}, join_buffer_size = {join}, tmp_memory_table_size = {table}")
        self.ask("FLUSH STATUS")
        answers = [self.ask(statement) for statement in statements]
        self.connection.rollback()
        files = int(self.ask("SHOW STATUS LIKE 'Created_tmp_files'")[0][1])
        return answers, files

    def check(self, query):
        statements = [query] if isinstance(query, str) else query
        plain, none = self.answer(statements, ("DEFAULT",) * 3)
        assert not any(isinstance(answer, str) for answer in plain), (statements, plain)
        ceilings = self.rng.choice(CEILINGS)
        found, files = self.answer(statements, ceilings)
        assert none == 0, f"files without a ceiling: {statements}"
        if any("LEFT JOIN" in statement for statement in statements):
            plain, found = ([sorted(map(str, rows)) for rows in answers] for answers in (plain, found))
        if plain != found:
            for expected, given in zip(plain, found):
                rows = [pair for pair in zip(expected, given) if pair[0] != pair[1]]
                print(f"differs with {ceilings}: {statements}\n  {len(expected)} and {len(given)} rows, first: {rows[:1]}")
            return False, files
        return True, files


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("port", type=int)
    arguments = parser.parse_args()
    print(f"spill: seed {arguments.seed}")
    run = Run(arguments.port, arguments.seed)
    queries = Queries(run.rng)
    end = time.monotonic() + arguments.seconds
    count = failed = files = 0
    while time.monotonic() < end:
        is_right, own = run.check(queries.make())
        count, failed, files = count + 1, failed + (not is_right), files + own
    assert files > count / 4, f"only {files} temporary files for {count} queries"
    print(f"spill: {count} queries, {files} temporary files, {failed} differ")
    raise SystemExit(failed > 0)


main()
