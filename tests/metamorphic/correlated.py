#!/usr/bin/env python3
"""Correlated scalar aggregates: a condition with one in WHERE, where the server may join groups instead, must agree with the
same condition in the select list, where the subquery runs once per row. With a second port, of a MariaDB, its rows count too.

A round is a table `o` and a table `i`, with keys of random types that meet in few values: NULLs, texts that differ in case,
in trailing spaces or in accents, numbers as text, dates as text. Errors must agree in the number only, and only if both
forms compute the subquery for the same rows.

usage: correlated.py [--seed N] [--seconds S] [--stop N] PORT [PORT_OF_MARIADB]
"""

import argparse
import random
import sys
import time

import pymysql

TEXTS = ["''", "'a'", "'A'", "'a '", "'\u00e4'", "'b'", "'B'", "'1'", "'01'", "'1.0'", "' 1'", "'1x'", "'2'", "'2024-02-29'",
         "'2024-2-29'", "'20240229'", "'2024-02-29 00:00:00'", "'10:11:12'", "'101112'", "NULL", "NULL"]
NUMBERS = ["0", "1", "2", "1.0", "1.5", "-1", "2.00", "9007199254740992", "9007199254740993", "20240229", "101112", "NULL", "NULL"]
TIMES = ["'2024-02-29'", "'2024-02-29 10:11:12'", "'2024-02-28'", "NULL"]
CLOCKS = ["'10:11:12'", "'00:00:00'", "'34:11:12'", "NULL"]
TYPES = {
    "INT": NUMBERS, "BIGINT": NUMBERS, "BIGINT UNSIGNED": NUMBERS, "DECIMAL(20,2)": NUMBERS, "DECIMAL(30,0)": NUMBERS, "DOUBLE": NUMBERS,
    "FLOAT": NUMBERS, "VARCHAR(30)": TEXTS, "VARCHAR(30) COLLATE utf8mb4_bin": TEXTS, "VARCHAR(30) CHARACTER SET latin1": TEXTS,
    "VARCHAR(30) COLLATE utf8mb4_unicode_ci": TEXTS, "CHAR(30)": TEXTS, "VARBINARY(30)": TEXTS,
    "DATE": TIMES, "DATETIME": TIMES, "DATETIME(3)": TIMES, "TIME": CLOCKS, "TIMESTAMP NULL": TIMES, "YEAR": ["2024", "2000", "1970", "NULL"],
    "BIT(8)": ["0", "1", "2", "NULL"], "ENUM('a','b','1','2')": ["'a'", "'b'", "'1'", "'2'", "NULL"], "BOOL": ["0", "1", "NULL"],
}
AGGREGATES = ["COUNT(*)", "COUNT(i.v)", "COUNT(DISTINCT i.v)", "SUM(i.v)", "SUM(DISTINCT i.v)", "AVG(i.v)", "MIN(i.v)", "MAX(i.v)", "MIN(i.k)",
              "MAX(i.w)", "BIT_OR(i.v)", "BIT_AND(i.v)", "BIT_XOR(i.v)", "STDDEV_POP(i.v)", "VAR_SAMP(i.v)", "GROUP_CONCAT(i.v ORDER BY i.id)",
              "MAX(i.d)", "MIN(i.t)", "SUM(i.x)", "JSON_ARRAYAGG(i.v)", "SUM(i.v + i.x)", "COUNT(i.k)", "MAX(1)", "MIN(NULL)"]
RESULTS = ["{}"] * 6 + ["0.5 * {}", "{} + 1", "COALESCE({}, 0)", "IFNULL({}, 7)", "{} IS NULL", "IF({} > 2, 1, NULL)", "CONCAT('a', {})", "-{}",
                        "{} = 0", "NULLIF({}, 0)", "{} + COUNT(*)", "COALESCE({}, COUNT(*))", "ROUND({}, 1)", "{} <=> NULL", "GREATEST({}, 1)",
                        "CASE WHEN COUNT(*) = 0 THEN 3 ELSE {} END", "1", "NOT {}", "{} DIV 2", "CAST({} AS CHAR)"]
CONDITIONS = ["o.x > ({})", "o.x = ({})", "o.x < ({})", "o.x <> ({})", "o.x <=> ({})", "({}) IS NULL", "({}) IS NOT NULL", "({}) > 0", "NOT (({}) > 0)",
              "o.x > ({}) OR o.x = 1", "o.x > ({}) AND o.x = 1", "COALESCE(({}), 5) > o.x", "o.x BETWEEN 0 AND ({})", "o.x IN (1, ({}))",
              "IF(o.x = 1, ({}), 1)", "o.x * 2 > ({}) + 1", "o.t = ({})", "o.d >= ({})", "CASE WHEN o.x = 1 THEN ({}) > 0 ELSE 1 END",
              "({}) = ({})", "o.x NOT BETWEEN ({}) AND 3", "o.x > ({}) IS NOT TRUE", "(o.x > ({})) IS UNKNOWN", "NOT (o.x > ({}))"]
LINKS = ["i.k = o.k"] * 10 + ["o.k = i.k"] * 3 + ["i.k <=> o.k", "i.k = o.k AND i.x = o.x", "i.x = o.x", "i.k = o.k AND i.x > 0", "i.x + 1 = o.x",
                              "i.k = o.k AND i.id <> 3", "i.k = o.k AND i.v > o.x", "i.k = o.k OR i.x = o.x", "CONCAT(i.k) = o.k", "i.k = CONCAT(o.k)",
                              "i.k = o.k AND i.w = o.w", "i.w = o.w", "i.t = o.t", "i.d = o.d", "i.d = o.t AND i.x = o.x", "i.k = o.k AND o.x = 1",
                              "i.x + o.x = 5", "i.x = o.x + i.v", "i.x - o.x = i.v", "i.v = 1", "o.x = 2"]


class Rounds:
    def __init__(self, ports, seed, stop):
        self.connections = [pymysql.connect(host="127.0.0.1", port=port, user="root", charset="utf8mb4", autocommit=True) for port in ports]
        self.seed, self.stop, self.failures, self.checks = seed, stop, 0, 0
        self.database = f"correlated_{seed}"
        for statement in (f"CREATE OR REPLACE DATABASE {self.database}", f"USE {self.database}", "SET sql_mode = ''",
                          "SET time_zone = '+00:00'", "SET timestamp = 1700000000"):
            self.everywhere(statement)

    def everywhere(self, statement):
        return [self.ask(connection, statement) for connection in self.connections]

    @staticmethod
    def ask(connection, statement):
        """Returns rows, or the number of the error."""
        with connection.cursor() as cursor:
            try:
                cursor.execute(statement)
                return list(cursor.fetchall())
            except pymysql.MySQLError as error:
                if error.args[0] in (2006, 2013) or "internal" in str(error).lower():
                    raise
                return error.args[0]

    def table(self, name, rng, kind, rows):
        key = rng.choice(["", "", "", ", KEY (k)"])
        values = [f"({at + 1}, {rng.choice(TYPES[kind])}, {rng.choice(['0', '1', '2', '3', 'NULL'])}, {rng.choice(['0', '1', '2', '1', 'NULL'])}, "
                  f"{rng.choice(TEXTS)}, {rng.choice(TIMES)}, {rng.choice(TEXTS)})" for at in range(rows)]
        none = "NOT NULL" if rng.random() < 0.2 and "NULL" not in kind else ""
        return [f"CREATE OR REPLACE TABLE {name} (id INT PRIMARY KEY, k {kind} {none}, v DECIMAL(8,1), x INT, w VARCHAR(30), d DATE, t VARCHAR(30){key})",
                f"INSERT IGNORE INTO {name} VALUES {', '.join(values)}"]

    def make(self, rng):
        self.rng = rng
        kind = rng.choice(list(TYPES))
        other = rng.choice(list(TYPES)) if rng.random() < 0.6 else kind
        # The comparison of two kinds of texts has faults of its own.
        self.alike = kind == other or TEXTS not in (TYPES[kind], TYPES[other])
        self.script = self.table("o", rng, kind, rng.choice([5, 40, 300])) + self.table("i", rng, other, rng.choice([1, 6, 40, 150]))
        for statement in self.script:
            self.everywhere(statement)

    def subquery(self):
        rng = self.rng
        result = rng.choice(RESULTS).format(rng.choice(AGGREGATES))
        link = rng.choice(LINKS)
        if rng.random() < 0.1:
            link = link.replace("o.k", f"o.k COLLATE {rng.choice(['utf8mb4_bin', 'utf8mb4_general_ci', 'utf8mb4_unicode_ci'])}")
        tail = rng.choice([""] * 12 + [" LIMIT 1", " LIMIT 0", " HAVING COUNT(*) > 1", " ORDER BY 1", " HAVING 1", " GROUP BY i.k"])
        source = rng.choice(["i"] * 8 + ["(SELECT * FROM i WHERE x > 0) i", "(SELECT DISTINCT k, v, x, w, d, t, 1 AS id FROM i) i", "i JOIN i j ON i.id = j.id",
                                         "i LEFT JOIN i j ON i.id = j.x"])
        return f"SELECT {result} FROM {source} WHERE {link}{tail}"

    def check(self):
        rng = self.rng
        condition = rng.choice(CONDITIONS)
        is_alone = " AND o" not in condition and " OR " not in condition
        condition = condition.format(*[self.subquery() for _ in range(condition.count("{}"))])
        for _ in range(rng.choice([0, 0, 0, 1])):
            is_alone = False
            condition += rng.choice([" AND ", " OR "]) + rng.choice(CONDITIONS[:5]).format(self.subquery())
        tables = rng.choice(["o"] * 5 + ["o JOIN o p ON o.id = p.id", "o LEFT JOIN i q ON o.x = q.id", "(SELECT * FROM o WHERE x < 3) o"])
        joined = f"SELECT o.id FROM {tables} WHERE {condition}"
        per_row = f"SELECT o.id, ({condition}) IS TRUE FROM {tables}"
        self.checks += 1
        found = self.everywhere(joined) if self.alike and "COLLATE" not in joined else [self.ask(self.connections[0], joined)]
        rows = self.ask(self.connections[0], per_row)
        values = [("joined", found[0]), ("per row", rows)] + [("MariaDB", rows) for rows in found[1:]]
        outcomes = [outcome if isinstance(outcome, int) else sorted(row[0] for row in outcome if len(row) == 1 or row[1]) for _, outcome in values]
        # Rows that the statement never asks the subquery for cannot give its errors. Of two conditions either may be asked first.
        if isinstance(rows, int) or any(outcome == 1242 or outcome == 1690 and not is_alone for outcome in outcomes):
            return
        if any(outcome != outcomes[0] for outcome in outcomes):
            self.failures += 1
            print(f"FAILED seed {self.seed}", *self.script, sep=";\n  ")
            print(f"  {joined};\n  {per_row};")
            for (name, _), outcome in zip(values, outcomes):
                print(f"    {name}: {outcome}", flush=True)
            if self.failures >= self.stop:
                raise SystemExit(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int, nargs="+")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--stop", type=int, default=1)
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 31)
    print(f"correlated: seed {seed}", flush=True)
    rounds, end, number = Rounds(options.port, seed, options.stop), time.monotonic() + options.seconds, 0
    while time.monotonic() < end:
        rounds.make(random.Random(f"{seed}/{number}"))
        number += 1
        for _ in range(12):
            rounds.check()
    rounds.everywhere(f"DROP DATABASE {rounds.database}")
    print(f"correlated: seed {seed}, {rounds.checks} checks, {rounds.failures} failed")
    return 1 if rounds.failures else 0


if __name__ == "__main__":
    sys.exit(main())
