#!/usr/bin/env python3
"""Random changes of tables that cascades, triggers and functions change at the same time.

Whatever a statement does, and whether it fails: no row refers to a parent that is not there, computed columns have the
values of their expressions, indexes have the rows of their tables, and a rolled back statement leaves nothing.

    cascades.py BINARY [--seed N] [--seconds S] [--fresh]
"""

import argparse
import os
import random
import sys
import time

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from selkie import Server  # noqa: E402

ACTIONS = ["RESTRICT", "CASCADE", "CASCADE", "SET NULL"]
TABLES = ["q1", "q2", "q3", "q4"]
# Each counts rows that must not be.
WRONG = {
    "q2 without q1": "SELECT COUNT(*) FROM q2 LEFT JOIN q1 ON q2.a = q1.a WHERE q2.a IS NOT NULL AND q1.a IS NULL",
    "q3 without q3": "SELECT COUNT(*) FROM q3 x LEFT JOIN q3 y ON x.p = y.id WHERE x.p IS NOT NULL AND y.id IS NULL",
    "q4 without q2": "SELECT COUNT(*) FROM q4 LEFT JOIN q2 ON q4.q = q2.id WHERE q4.q IS NOT NULL AND q2.id IS NULL",
    "computed columns": "SELECT COUNT(*) FROM q2 WHERE NOT (g <=> b * 2) OR NOT (v <=> id * 2)",
    "computed key": "SELECT COUNT(*) FROM q4 WHERE NOT (h <=> IFNULL(q, 0) + c)",
}


class Round:
    def __init__(self, server, seed):
        self.rng, self.where, self.log = random.Random(seed), f"--seed {seed}", []
        self.connection = server.connect()
        self.errors = 0
        self.build()

    def query(self, sql):
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()

    def run(self, sql):
        self.log.append(sql)
        try:
            return self.query(sql)
        except pymysql.err.MySQLError as error:
            if error.args[0] in (1815, 2006, 2013):
                raise self.problem(f"{error}") from None
            self.errors += 1
            return None

    def problem(self, text):
        return AssertionError(f"{text}\n{self.where}\n" + "\n".join(f"{sql};" for sql in self.log))

    def build(self):
        action = lambda: f"ON DELETE {self.rng.choice(ACTIONS)} ON UPDATE {self.rng.choice(ACTIONS)}"
        for sql in ["DROP DATABASE IF EXISTS cascades", "CREATE DATABASE cascades", "USE cascades",
                    "CREATE TABLE q1 (id INT PRIMARY KEY, a INT UNIQUE)",
                    "CREATE TABLE q2 (id INT PRIMARY KEY, a INT, b INT, v INT AS (id * 2) VIRTUAL, "
                    f"g INT AS (b * 2) STORED, KEY (g), FOREIGN KEY (a) REFERENCES q1 (a) {action()})",
                    f"CREATE TABLE q3 (id INT PRIMARY KEY, p INT, b INT, FOREIGN KEY (p) REFERENCES q3 (id) {action()})",
                    "CREATE TABLE q4 (id INT PRIMARY KEY, q INT, c INT, h INT AS (IFNULL(q, 0) + c) VIRTUAL, KEY (h), "
                    f"FOREIGN KEY (q) REFERENCES q2 (id) {action()})",
                    "CREATE TABLE log (i INT AUTO_INCREMENT PRIMARY KEY, t INT)"]:
            self.query(sql)
        for name in ("f1", "f2"):
            self.run(f"CREATE FUNCTION {name} (i INT) RETURNS INT BEGIN {self.inner('i')}; RETURN i; END")
        for at in range(self.rng.randrange(4)):
            table = self.rng.choice(TABLES)
            event = self.rng.choice(["UPDATE", "UPDATE", "DELETE", "INSERT"])
            moment = self.rng.choice(["BEFORE", "AFTER"])
            row = self.rng.choice(["OLD", "NEW"] if event == "UPDATE" else ["OLD" if event == "DELETE" else "NEW"])
            self.run(f"CREATE TRIGGER t{at} {moment} {event} ON {table} FOR EACH ROW {self.inner(f'{row}.id')}")

    def inner(self, number):
        """A statement of a program."""
        near = f"{number} + {self.rng.randrange(-1, 2)}"
        return self.rng.choice([
            f"UPDATE q1 SET a = a + {self.rng.choice([10, 20])} WHERE id = {near}", f"DELETE FROM q1 WHERE id = {near}",
            f"DELETE FROM q2 WHERE id = {near}", f"UPDATE q2 SET id = id + 50 WHERE id = {near}",
            f"UPDATE q2 SET b = b + 1 WHERE id = {near}", f"DELETE FROM q3 WHERE id = {near}",
            f"UPDATE q3 SET id = id + 50 WHERE id = {near}", f"INSERT INTO log (t) VALUES ({near})",
            f"UPDATE q4 SET c = c + 1 WHERE id = {near}", f"INSERT IGNORE INTO q1 VALUES ({near}, {near})"])

    def fill(self):
        self.run("SET foreign_key_checks = 1")
        for table in reversed(TABLES):
            self.run(f"DELETE FROM {table}")
        rows = self.rng.randrange(3, 8)
        for sql in [f"INSERT IGNORE INTO q1 SELECT seq, seq FROM seq_1_to_{rows}",
                    f"INSERT IGNORE INTO q2 (id, a, b) SELECT seq, seq, 0 FROM seq_1_to_{rows}",
                    f"INSERT IGNORE INTO q3 SELECT seq, NULLIF(seq DIV 2, 0), 0 FROM seq_1_to_{rows}",
                    f"INSERT IGNORE INTO q4 (id, q, c) SELECT seq, seq, 0 FROM seq_1_to_{rows}"]:
            self.run(sql)

    def statement(self):
        rng = self.rng
        n, f = rng.randrange(1, 8), rng.choice(["f1", "f2"])
        where = rng.choice(["", "", f" WHERE id > {n}", f" WHERE id = {n}", f" WHERE {f}(id) > 0"])
        order = rng.choice(["", "", " ORDER BY id DESC", f" ORDER BY id LIMIT {n}"])
        value = rng.choice(["b + 1", f"{f}(id)", "b + id", "7"])
        ignore = rng.choice(["", "", " IGNORE"])
        return rng.choice([
            f"UPDATE{ignore} q2 SET b = {value}{where}{order}", f"UPDATE{ignore} q3 SET b = {value}{where}{order}",
            f"UPDATE{ignore} q2 SET id = id + 100, b = {value}{where}", f"UPDATE q3 SET id = id + 100{where}{order}",
            f"UPDATE{ignore} q1 SET a = a + 10{where}{order}", f"UPDATE q4 SET c = {f}(id){where}{order}",
            f"UPDATE{ignore} q1 x JOIN q2 y ON x.a = y.a SET x.a = x.a + 10, y.b = {rng.choice(['y.v', 'y.b + 1', '3'])}",
            f"UPDATE q2 y JOIN q4 z ON y.id = z.q SET y.id = y.id + 100, z.c = z.h + {n}, y.b = 4",
            "UPDATE q3 x JOIN q3 y ON x.id = y.p SET x.b = x.b + 1, y.b = y.b + 10, x.id = x.id + 100",
            f"DELETE{ignore} FROM {rng.choice(TABLES)}{where}{order}", f"DELETE FROM q3{where} RETURNING *",
            "DELETE x, y FROM q3 x JOIN q3 y ON x.id = y.p", f"DELETE y, x FROM q1 x JOIN q2 y ON x.a = y.a WHERE x.id < {n}",
            f"DELETE q2, q4 FROM q2 JOIN q4 ON q4.q = q2.id WHERE {f}(q2.id) > 0",
            f"INSERT{ignore} INTO q2 (id, a, b) VALUES ({n}, {n}, 1), ({n + 1}, NULL, 1) ON DUPLICATE KEY UPDATE b = {value}",
            f"INSERT{ignore} INTO q1 VALUES ({n}, {n + 10}) ON DUPLICATE KEY UPDATE a = VALUES(a)",
            f"REPLACE INTO q1 VALUES ({n}, {n}), ({n + 1}, {n + 20})", f"REPLACE INTO q2 (id, a, b) VALUES ({n}, {n}, 2)",
            f"REPLACE INTO q3 VALUES ({n}, {n + 1}, 2)", f"INSERT INTO q4 (id, q, c) VALUES ({n + 30}, {n}, {f}({n}))"])

    def contents(self):
        return [self.query(f"SELECT * FROM {table} ORDER BY id") for table in TABLES]

    def check(self):
        for what, sql in WRONG.items():
            if wrong := self.query(sql)[0][0]:
                raise self.problem(f"{wrong} rows are wrong: {what}")

    def play(self):
        self.fill()
        self.check()
        for _ in range(6):
            if self.rng.random() < 0.25:
                before = self.contents()
                self.query("BEGIN")
                self.run(self.statement())
                self.check()
                self.query("ROLLBACK")
                if self.contents() != before:
                    raise self.problem("a rollback left changes")
            else:
                self.run(self.statement())
            self.check()
        for row in self.query(f"CHECK TABLE {', '.join(TABLES)} EXTENDED"):
            if row[3] != "OK":
                raise self.problem(f"{row}")
        self.connection.close()


def main():
    options = argparse.ArgumentParser(usage=__doc__.rpartition("\n\n")[2].strip())
    options.add_argument("binary")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--seconds", type=float, default=10)
    options.add_argument("--fresh", action="store_true")
    options = options.parse_args()
    seed = random.randrange(1 << 30) if options.fresh else options.seed
    print(f"cascades: seed {seed}", flush=True)
    server = Server(options.binary).start()
    end, rounds, statements, errors = time.monotonic() + options.seconds, 0, 0, 0
    try:
        while time.monotonic() < end:
            one = Round(server, seed + rounds)
            one.play()
            rounds, statements, errors = rounds + 1, statements + len(one.log), errors + one.errors
        server.stop()
    finally:
        server.remove()
    print(f"cascades: {rounds} rounds, {statements} statements, {errors} of them errors, nothing wrong")


if __name__ == "__main__":
    main()
