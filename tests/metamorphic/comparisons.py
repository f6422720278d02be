#!/usr/bin/env python3
"""Columns of every type compared with values of any type, in several forms that must agree; no other server is needed.

A round is a table of a random column with random keys, its twin without keys, and a table of one column of
another type. An index must find the rows that a scan of the twin finds. The following must agree with that: the condition
as a value, the sum of its three parts (true, false, unknown), the prepared condition, and the condition in a derived table,
in a group and in an aggregate. A join must return the pairs for which its condition is true. Two forms that differ do not
show which one is right.

usage: comparisons.py [--seed N] [--seconds S] [--stop N] PORT
"""

import argparse
import random
import sys
import time

import pymysql

NUMBERS = ["0", "1", "2", "-1", "7", "10", "127", "128", "255", "2024", "20240229", "20240229101112", "1.5", "-0.5", "0.1",
           "7.0", "1e0", "1.5e0", "2147483648", "9007199254740993", "9223372036854775807", "9223372036854775808",
           "-9223372036854775808", "18446744073709551615", "18446744073709551616", "1e19", "-1e30", "0x31", "b'111'",
           "99999999999999999999.5", "TRUE"]
TEXTS = ["''", "'a'", "'A'", "'b'", "'b '", "'ab'", "'\u00e4'", "'\u00df'", "'ss'", "'1'", "'01'", "'1.0'", "'1.5'", "' 7'", "'7x'", "'1e1'",
         "'2024-02-29'", "'2024-2-29'", "'20240229'", "'2024-02-29 10:11:12'", "'2024-02-29 00:00:00'", "'2024-02-30'",
         "'10:11:12'", "'10:11:12.5'", "'-01:00:00'", "'0'", "'::1'", "'::ffff:1.2.3.4'", "'1.2.3.4'", "'[1]'", "'{\"a\": 1}'",
         "'123e4567-e89b-12d3-a456-426614174000'", "'123E4567E89B12D3A456426614174000'", "'x'", "'x,y'", "'y,x'",
         "'18446744073709551615'", "'9007199254740993'", "x'61'", "x'00'", "_latin1'a'", "'a' COLLATE utf8mb4_bin"]
TIMES = ["DATE'2024-02-29'", "DATE'1970-01-01'", "TIMESTAMP'2024-02-29 00:00:00'", "TIMESTAMP'2024-02-29 10:11:12'",
         "TIMESTAMP'2024-02-29 10:11:12.345678'", "TIME'10:11:12'", "TIME'10:11:12.5'", "TIME'-01:00:00'", "TIME'838:59:59'",
         "TIME'240:00:00'"]
LITERALS = NUMBERS + TEXTS + TIMES + ["NULL"]
TYPES = ["TINYINT", "SMALLINT UNSIGNED", "INT", "INT UNSIGNED", "BIGINT", "BIGINT UNSIGNED", "DECIMAL(8,2)", "DECIMAL(65,30)",
         "DECIMAL(20,0)", "DECIMAL(10,3) UNSIGNED", "FLOAT", "DOUBLE", "BIT(1)", "BIT(10)", "BIT(64)", "YEAR", "DATE", "TIME",
         "TIME(3)", "DATETIME", "DATETIME(6)", "TIMESTAMP NULL", "TIMESTAMP(2) NULL", "CHAR(20)", "VARCHAR(40)",
         "VARCHAR(40) COLLATE utf8mb4_bin", "VARCHAR(40) COLLATE utf8mb4_unicode_ci", "VARCHAR(40) COLLATE utf8mb4_nopad_bin",
         "VARCHAR(40) COLLATE utf8mb4_general_nopad_ci", "VARCHAR(40) CHARACTER SET latin1", "VARCHAR(40) CHARACTER SET ucs2",
         "CHAR(20) CHARACTER SET ascii", "BINARY(4)", "VARBINARY(40)", "TINYTEXT", "TEXT", "BLOB", "ENUM('a','b','1','x','2')",
         "SET('a','b','1','x','y')", "JSON", "INET6", "INET4", "UUID"]
PREFIXED = ("TEXT", "BLOB", "JSON")
OPERATORS = ["=", "=", "=", "=", "<=>", "<", "<=", ">", ">=", "<>"]
CONTROLS = dict.fromkeys(range(32))


class Rounds:
    def __init__(self, port, seed, stop):
        self.connection = pymysql.connect(host="127.0.0.1", port=port, user="root", charset="utf8mb4", autocommit=True)
        self.seed, self.stop, self.failures, self.checks, self.statements = seed, stop, 0, 0, 0
        self.database = f"comparisons_{seed}"
        for statement in (f"CREATE OR REPLACE DATABASE {self.database}", f"USE {self.database}", "SET sql_mode = ''",
                          "SET time_zone = '+00:00'", "SET timestamp = 1700000000"):
            self.ask(statement)

    def ask(self, statement):
        """Returns rows, or the error."""
        self.statements += 1
        with self.connection.cursor() as cursor:
            try:
                affected = cursor.execute(statement)
                return cursor.fetchall() if cursor.description else affected
            except pymysql.MySQLError as error:
                if error.args[0] in (2006, 2013) or "internal" in str(error).lower():
                    raise
                return error.args[0]

    def agree(self, first, others):
        """Checks that each (statement, reader of its rows) gives the result of the first one; errors are left to other tests."""
        self.checks += 1
        outcomes = [(statement, self.ask(statement), read) for statement, read in [first, *others]]
        if any(isinstance(rows, int) and statement.startswith(("SELECT", "EXECUTE")) for statement, rows, _ in outcomes):
            return
        read = [(statement, reading(rows)) for statement, rows, reading in outcomes]
        for statement, rows in read[1:]:
            if rows != read[0][1]:
                self.failed(read[0], (statement, rows))
                return

    def failed(self, first, second):
        self.failures += 1
        print(f"FAILED seed {self.seed}", *self.script, sep=";\n  ")
        print(f"  {first[0]};\n    {first[1]}\n  {second[0]};\n    {second[1]}", flush=True)
        if self.failures >= self.stop:
            raise SystemExit(1)

    def make(self, rng):
        self.rng, self.type, self.other = rng, rng.choice(TYPES), rng.choice(TYPES)
        values = rng.sample(LITERALS[:-1], 14) + rng.sample(self.near(self.type), 6) + ["NULL"]
        rows = ", ".join(f"({at + 1}, {value}, {rng.randint(0, 2)})" for at, value in enumerate(values))
        more = rng.sample(LITERALS[:-1], 5) + rng.sample(self.near(self.other), 4) + rng.sample(self.near(self.type), 3) + ["NULL"]
        others = ", ".join(f"({at + 1}, {value})" for at, value in enumerate(more))
        part = "c(10)" if self.type.endswith(PREFIXED) else "c"
        if rng.random() < 0.1 and "CHAR" in self.type:
            part = "c(2)"
        keys = rng.choice([f"KEY k ({part})", f"KEY k ({part})", f"KEY k ({part} DESC)", f"KEY k ({part}, n)", f"KEY k (n, {part})"])
        key_of_other = "q(10)" if self.other.endswith(PREFIXED) else "q"
        none = "NOT NULL" if rng.random() < 0.25 and "NULL" not in self.type else ""
        self.script = [f"CREATE OR REPLACE TABLE t (id INT PRIMARY KEY, c {self.type} {none}, n INT, {keys})",
                       f"CREATE OR REPLACE TABLE p (id INT PRIMARY KEY, c {self.type} {none}, n INT)",
                       f"CREATE OR REPLACE TABLE o (no INT PRIMARY KEY, q {self.other}{rng.choice(['', f', KEY ({key_of_other})'])})",
                       f"INSERT IGNORE INTO t VALUES {rows}", "INSERT INTO p SELECT * FROM t", f"INSERT IGNORE INTO o VALUES {others}"]
        for statement in self.script:
            self.ask(statement)

    @staticmethod
    def near(type_):
        """Returns literals that a column of the type stores unchanged."""
        if type_.startswith(("DATE", "TIMESTAMP", "YEAR", "TIME")):
            return TIMES + TEXTS[16:25]
        if type_.startswith(("INET", "UUID")):
            return ["'::1'", "'::ffff:1.2.3.4'", "'1.2.3.4'", "'::'", "'fe80::1'", "'0.0.0.0'", "'123e4567-e89b-12d3-a456-426614174000'",
                    "'00000000-0000-0000-0000-000000000001'"]
        text = type_.startswith(("CHAR", "VARCHAR", "TEXT", "TINYTEXT", "ENUM", "SET", "VARBINARY", "BINARY", "BLOB", "JSON"))
        return TEXTS[:16] if text else NUMBERS

    def constant(self):
        return self.rng.choice(self.near(self.type) if self.rng.random() < 0.5 else LITERALS)

    def predicate(self):
        rng, a, b, roll = self.rng, self.constant(), self.constant(), self.rng.random()
        if roll < 0.55:
            return rng.choice([f"c {rng.choice(OPERATORS)} {a}", f"{a} {rng.choice(OPERATORS)} c"])
        if roll < 0.65:
            return f"c {rng.choice(['', 'NOT '])}BETWEEN {a} AND {b}"
        if roll < 0.8:
            return f"c {rng.choice(['', '', 'NOT '])}IN ({', '.join([a, b, self.constant()][:rng.randint(1, 3)])})"
        if roll < 0.84:
            return f"c {rng.choice(['', 'NOT '])}LIKE {rng.choice(TEXTS)}"
        if roll < 0.88:
            return f"(c, n) {rng.choice(['=', '<=>', '<', '>='])} ({a}, {rng.randint(0, 2)})"
        if roll < 0.91:
            return f"(c, n) IN (({a}, 1), ({b}, {rng.choice(['0', '2', 'NULL'])}))"
        if roll < 0.95:
            return f"c {rng.choice(OPERATORS[4:])} {a} AND c {rng.choice(OPERATORS[4:])} {b}"
        return f"(c = {a} OR c {rng.choice(OPERATORS)} {b})"

    def conditions(self):
        p = self.predicate()
        ids = lambda rows: sorted(row[0] for row in rows)
        true = lambda rows: sorted(row[0] for row in rows if row[1])
        count = lambda rows: rows
        found = ("SELECT id FROM t WHERE " + p, ids)
        forms = [(f"SELECT id FROM p WHERE {p}", ids), (f"SELECT id, ({p}) FROM p", true), (f"SELECT id, ({p}) FROM t", true),
                 (f"SELECT id FROM t IGNORE INDEX (k) WHERE {p}", ids), (f"SELECT id FROM t FORCE INDEX (k) WHERE {p}", ids),
                 (f"SELECT id FROM (SELECT * FROM t LIMIT 1000) d WHERE {p}", ids),
                 (f"SELECT id FROM t WHERE {p} UNION ALL SELECT id FROM t WHERE ({p}) IS UNKNOWN AND 0", ids),
                 (f"SELECT id FROM p WHERE IF({p}, 1, 0)", ids), (f"SELECT id FROM t WHERE NOT (NOT ({p}))", ids),
                 (f"SELECT id FROM p WHERE id IN (SELECT id FROM t WHERE {p})", ids),
                 (f"SELECT id FROM p GROUP BY id HAVING MAX({p})", ids)]
        # IS UNKNOWN of a row comparison is false.
        if "(c, n)" not in p:
            forms.append((f"SELECT id FROM p WHERE id NOT IN (SELECT id FROM t WHERE NOT ({p}) UNION SELECT id FROM t WHERE ({p}) IS UNKNOWN)", ids))
        self.ask("PREPARE s FROM '" + f"SELECT id FROM t WHERE {p}".replace("\\", "\\\\").replace("'", "''") + "'")
        forms += [("EXECUTE s", ids), ("EXECUTE s", ids)]
        self.agree(found, forms)
        self.agree((f"SELECT COUNT(*), COUNT(c), SUM(n), COUNT(DISTINCT n) FROM t WHERE {p}", count),
                   [(f"SELECT COUNT(*), COUNT(c), SUM(n), COUNT(DISTINCT n) FROM p WHERE {p}", count)])

    def changes(self):
        p = self.predicate()
        same = lambda rows: rows
        for statement in ("UPDATE {} SET n = n + 10 WHERE {}", "DELETE FROM {} WHERE {}"):
            outcomes = []
            for table in "tp":
                self.ask("BEGIN")
                outcomes.append((statement.format(table, p), same(self.ask(statement.format(table, p)))))
                self.ask("ROLLBACK")
            self.checks += 1
            if outcomes[0][1] != outcomes[1][1]:
                self.failed(*outcomes)

    def parameter(self):
        """A literal equals a user variable with its value."""
        a, operator = self.rng.choice(NUMBERS[:-4] + TEXTS[:38]), self.rng.choice(OPERATORS)
        if a in ("0x31", "b'111'"):
            return
        ids = lambda rows: sorted(row[0] for row in rows)
        self.ask(f"SET @v = {a}")
        self.ask(f"PREPARE s FROM 'SELECT id FROM t WHERE c {operator} ?'")
        forms = [("EXECUTE s USING @v", ids), ("EXECUTE s USING @v", ids)]
        # A literal becomes latin1; beside a variable the column becomes utf8mb4, whose collation has other equal texts.
        if "latin1" not in self.type:
            forms.append((f"SELECT id FROM p WHERE c {operator} @v", ids))
        self.agree((f"SELECT id FROM t WHERE c {operator} {a}", ids), forms)

    def aggregates(self):
        same = lambda rows: rows
        for text in ("SELECT MIN(c), MAX(c), COUNT(c), COUNT(DISTINCT c) FROM {}", "SELECT MIN(c), MAX(c) FROM {} WHERE n = 1",
                     "SELECT n, MIN(c), MAX(c), COUNT(DISTINCT c) FROM {} GROUP BY n ORDER BY n", "SELECT COUNT(*) FROM {} GROUP BY c ORDER BY c",
                     "SELECT COUNT(*) FROM (SELECT DISTINCT c FROM {}) d", "SELECT HEX(c) = HEX(c), n FROM {} ORDER BY c, n",
                     "SELECT n, c IS NULL FROM {} ORDER BY c DESC, n LIMIT 3",
                     "SELECT RANK() OVER (ORDER BY c) r, COUNT(*) OVER (PARTITION BY c) FROM {} ORDER BY 1, 2",
                     "SELECT COUNT(*) FROM {} x WHERE c IN (SELECT c FROM {})", "SELECT COUNT(*) FROM {} x WHERE c NOT IN (SELECT c FROM {} WHERE c IS NOT NULL)",
                     "SELECT COUNT(*) FROM (SELECT c FROM {} UNION SELECT c FROM {}) d", "SELECT COUNT(*) FROM (SELECT c FROM {} INTERSECT SELECT c FROM {}) d"):
            # Any of several equal texts may represent them: most collations ignore control characters.
            same_text = lambda v: v.rstrip().lower().replace("\u00e4", "a").replace("\u00df", "ss").translate(CONTROLS)
            fold = lambda rows: [tuple(same_text(v) if isinstance(v, str) else v for v in row) for row in rows]
            self.agree((text.replace("{}", "t"), fold), [(text.replace("{}", "p"), fold), (text.replace("{}", "(SELECT * FROM p LIMIT 1000) z") if text.count("{}") == 1 else text.replace("{}", "p"), fold)])

    def joins(self):
        operator = self.rng.choice(OPERATORS[:7])
        pairs = lambda rows: sorted(row[:2] for row in rows)
        true = lambda rows: sorted(row[:2] for row in rows if row[2])
        ids = lambda rows: sorted({row[0] for row in rows})
        on = f"c {operator} q" if self.rng.random() < 0.7 else f"q {operator} c"
        self.agree((f"SELECT id, no FROM t, o WHERE {on}", pairs),
                   [(f"SELECT id, no FROM p JOIN o ON {on}", pairs), (f"SELECT id, no, {on} FROM p, o", true),
                    (f"SELECT id, no FROM t STRAIGHT_JOIN o ON {on}", pairs), (f"SELECT id, no FROM o STRAIGHT_JOIN t ON {on}", pairs),
                    (f"SELECT id, no FROM o IGNORE INDEX (q) STRAIGHT_JOIN t FORCE INDEX (k) ON {on}", pairs),
                    (f"SELECT id, no FROM (SELECT * FROM t LIMIT 1000) d JOIN o ON {on}", pairs),
                    (f"SELECT id, no FROM p JOIN (SELECT * FROM o LIMIT 1000) d ON {on}", pairs),
                    (f"SELECT id, no FROM t LEFT JOIN o ON {on} WHERE no IS NOT NULL", pairs),
                    (f"SELECT id, no FROM o LEFT JOIN t ON {on} WHERE id IS NOT NULL", pairs),
                    (f"SELECT id, no FROM o LEFT JOIN p ON {on} WHERE id > 0", pairs)])
        base = (f"SELECT id FROM p, o WHERE {on}", ids)
        self.agree(base, [(f"SELECT id FROM t WHERE EXISTS (SELECT 1 FROM o WHERE {on})", ids),
                          (f"SELECT id FROM p WHERE EXISTS (SELECT 1 FROM o IGNORE INDEX (q) WHERE {on})", ids),
                          (f"SELECT id FROM p WHERE id NOT IN (SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM o WHERE {on}))", ids),
                          (f"SELECT id FROM p WHERE (SELECT MAX({on}) FROM o)", ids), (f"SELECT id FROM p WHERE (SELECT COUNT(*) FROM o WHERE {on})", ids)]
                   + ([(f"SELECT id FROM t WHERE c IN (SELECT q FROM o)", ids), (f"SELECT id FROM p WHERE c = ANY (SELECT q FROM o)", ids),
                       (f"SELECT id FROM p WHERE (c, 1) IN (SELECT q, 1 FROM o)", ids),
                       (f"SELECT id FROM p WHERE c IN (SELECT q FROM o LIMIT 1000)", ids),
                       (f"SELECT id FROM t WHERE NOT (c NOT IN (SELECT q FROM o))", ids)] if operator == "=" else []))


FORMS = [Rounds.conditions] * 8 + [Rounds.joins] * 3 + [Rounds.parameter] * 3 + [Rounds.changes] * 2 + [Rounds.aggregates]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--stop", type=int, default=1)
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 31)
    print(f"comparisons: seed {seed}", flush=True)
    rounds, end, number = Rounds(options.port, seed, options.stop), time.monotonic() + options.seconds, 0
    while time.monotonic() < end:
        rounds.make(random.Random(f"{seed}/{number}"))
        number += 1
        for form in FORMS:
            form(rounds)
    rounds.ask(f"DROP DATABASE {rounds.database}")
    print(f"comparisons: seed {seed}, {rounds.checks} checks, {rounds.statements} statements, {rounds.failures} failed")
    return 1 if rounds.failures else 0


if __name__ == "__main__":
    sys.exit(main())
