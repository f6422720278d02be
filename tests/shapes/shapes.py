"""Statements of one shape, which differ only in their literals, answer as if each were planned by itself.

Each statement of a grammar (literals in all places of SELECT, INSERT, REPLACE, UPDATE and DELETE) is sent
eight times with different values: by a session whose texts may share plans, and by a session whose texts may not
(a session with a temporary table plans each text). Rows, metadata, warnings, errors, counts and the
contents of the tables afterwards must be equal.

usage: shapes.py BINARY [--seconds N] [--seed S | --fresh] [--port P]   (P: of a running server; BINARY is ignored)
"""

import argparse
import os
import random
import re
import sys
import time

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from selkie import Server  # noqa: E402

TYPES = [
    "TINYINT", "TINYINT UNSIGNED", "SMALLINT", "INT", "INT UNSIGNED", "BIGINT", "BIGINT UNSIGNED",
    "INT(5) ZEROFILL", "DECIMAL(8,2)", "DECIMAL(3,0) UNSIGNED", "FLOAT", "DOUBLE", "FLOAT(7,2)",
    "VARCHAR(255)", "VARCHAR(20)", "VARCHAR(1)", "VARCHAR(254)", "VARCHAR(256)", "VARCHAR(300)", "CHAR(10)",
    "CHAR(255)", "VARCHAR(255) COLLATE utf8mb4_bin", "VARCHAR(20) CHARACTER SET latin1",
    "VARCHAR(255) CHARACTER SET latin1", "VARCHAR(255) CHARACTER SET ascii",
    "VARCHAR(20) CHARACTER SET ucs2", "VARBINARY(255)", "BINARY(5)", "VARBINARY(300)",
    "TINYTEXT", "TEXT", "TINYBLOB", "BLOB", "ENUM('a','b','7','1')", "SET('a','b','7','1')",
    "DATE", "DATETIME", "DATETIME(3)", "TIMESTAMP NULL", "TIME", "TIME(2)", "YEAR", "BIT(4)", "BIT(1)",
    "JSON", "INET6", "UUID", "INET4",
]
LONG = ("TEXT", "BLOB", "JSON")
KEYS = ["", "KEY(c)", "UNIQUE(c)", "KEY(c,n)", "PRIMARY KEY(c)", "CHECK(c<>'7')", "KEY(n)"]
INTS = ["0", "1", "2", "7", "5", "10", "12", "100", "127", "128", "255", "256", "300", "2023", "1970", "32767",
        "32768", "65535", "65536", "2147483647", "2147483648", "4294967295", "4294967296", "99999999",
        "20230215", "20230231", "20230215101112", "123456", "999999999999999999", "007"]
TEXTS = ["", "a", "b", "A", "ab", "a,b", "7", "1", " 1", "1 ", "01", "1.5", "1.555", "-1", "5x", "x5", "1e2", "1e400", "0",
         "2023-02-15", "2023-02-31", "2023-2-5", "20230215", "0000-00-00", "2023-00-00",
         "2023-02-15 10:11:12", "2023-02-15 10:11:12.3456", "2023-02-15T10:11:12", "10:11:12", "838:59:59",
         "900:00:00", "-1:00", "2023", "300", "99999999999", "9223372036854775808", "18446744073709551615",
         "it''s", "a\\\\b", "a\\nb", "a%", "_", "%", '{"a":1}', "[1]", "{", "::1", "1.2.3.4", "ffff",
         "123e4567-e89b-12d3-a456-426614174000", "2037-12-31 00:00:00", "2040-01-01", "1969-12-31",
         "a ", "a  ", "x" * 10, "x" * 11, "x" * 19, "x" * 20 + " ", "x" * 21]
TEXTS += ["y" * n for n in (254, 255, 256, 257, 300, 301)] + ["y" * 255 + "  ", "y" * 300 + " ", "y" * 400]
MODES = ["", "STRICT_TRANS_TABLES", "STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE",
         "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO", "ANSI_QUOTES,STRICT_TRANS_TABLES",
         "NO_BACKSLASH_ESCAPES", "NO_AUTO_VALUE_ON_ZERO,ONLY_FULL_GROUP_BY",
         "STRICT_TRANS_TABLES,PAD_CHAR_TO_FULL_LENGTH,ALLOW_INVALID_DATES", "PIPES_AS_CONCAT,IGNORE_SPACE"]
NAMES = ["utf8mb4", "utf8mb4 COLLATE utf8mb4_bin", "latin1", "utf8mb3", "binary", "utf8mb4 COLLATE utf8mb4_unicode_ci"]
SETTINGS = ["sql_safe_updates=1", "sql_safe_updates=0", "sql_select_limit=2", "sql_select_limit=DEFAULT",
            "foreign_key_checks=0", "foreign_key_checks=1", "unique_checks=0", "unique_checks=1",
            "sql_auto_is_null=1", "sql_auto_is_null=0", "time_zone='+02:00'", "time_zone='+00:00'",
            "sql_notes=0", "sql_notes=1", "div_precision_increment=2", "div_precision_increment=4",
            "check_constraint_checks=0", "check_constraint_checks=1", "max_error_count=2", "max_error_count=64",
            "insert_id=77", "old_mode=''", "sql_warnings=1", "updatable_views_with_limit=NO",
            "character_set_results=NULL", "character_set_results=utf8mb4", "collation_connection=latin1_swedish_ci",
            "group_concat_max_len=5", "timestamp=1700000000", "timestamp=1600000000", "system_versioning_alter_history=KEEP"]


# The warning that a text is no number.
CONVERTED = b"1292"
# A query that reads more than one table.
JOINS = re.compile(r" JOIN |STRAIGHT_JOIN|, t\w+ [uv]\b|\(SELECT ")


class Grammar:
    """Statements as lists of texts and of slots: 'i' for a number and 's' for a text."""

    def __init__(self, rng, tables):
        self.rng, self.tables = rng, tables

    def slot(self, kind=None):
        return [("i" if self.rng.random() < 0.45 else "s") if kind is None else kind]

    def value(self):
        """Returns a value to store or to compare with."""
        pick = self.rng.random()
        if pick < 0.72:
            return [self.slot()]
        word = self.rng.choice(["NULL", "DEFAULT(n)", "-", "CONCAT(", "n+", "1+", "NOW()", "IF(1,", "1.5", "(", "CAST("])
        if word == "-":
            return ["-", self.slot("i")]
        if word == "CONCAT(":
            return ["CONCAT(", self.slot(), ",", self.slot("s"), ")"]
        if word in ("n+", "1+"):
            return [word, self.slot("i")]
        if word == "IF(1,":
            return ["IF(1,", self.slot(), ",", self.slot(), ")"]
        if word == "(":
            return ["(", self.slot(), ")"]
        if word == "CAST(":
            return ["CAST(", self.slot(), " AS CHAR(3))"]
        return [word]

    def compared(self):
        return self.rng.choice(["c", "c", "c", "c", "n", "id", "id", "t.c", "g"])

    def predicate(self, depth=0):
        r = self.rng
        pick = r.random()
        if depth < 2 and pick < 0.25:
            sign = r.choice([" AND ", " OR ", " AND ", " XOR "])
            return ["(", *self.predicate(depth + 1), sign, *self.predicate(depth + 1), ")"]
        if pick < 0.62:
            sign = r.choice(["=", "=", "=", "<", ">", "<=", ">=", "<>", "<=>", "!="])
            left, right = [self.compared()], self.value()
            return [*right, sign, *left] if r.random() < 0.15 else [*left, sign, *right]
        if pick < 0.70:
            return [self.compared(), r.choice([" BETWEEN ", " NOT BETWEEN "]), *self.value(), " AND ", *self.value()]
        if pick < 0.82:
            items = []
            for _ in range(r.choice([1, 2, 2, 3, 5])):
                items += [*self.value(), ","]
            return [self.compared(), r.choice([" IN (", " IN (", " NOT IN ("]), *items[:-1], ")"]
        if pick < 0.87:
            return [self.compared(), r.choice([" LIKE ", " NOT LIKE "]), self.slot()]
        if pick < 0.90:
            return ["NOT (", *self.predicate(depth + 1), ")"]
        if pick < 0.92:
            return ["(c,n)=(", *self.value(), ",", *self.value(), ")"]
        if pick < 0.94:
            return ["COALESCE(c,", self.slot(), ")=", self.slot()]
        if pick < 0.96:
            return [self.slot("i")]
        return r.choice([["c IS NULL"], ["n+", self.slot("i"), ">", self.slot("i")], ["c REGEXP ", self.slot("s")],
                         ["c=", self.slot(), " AND c=", self.slot()], ["c=", self.slot(), " COLLATE utf8mb4_bin"],
                         ["c=n"], ["1=", self.slot("i")], ["CASE c WHEN ", self.slot(), " THEN 1 END"]])

    def where(self):
        return [" WHERE ", *self.predicate()] if self.rng.random() < 0.95 else []

    def tail(self, limit_only=False):
        r, out = self.rng, []
        if r.random() < 0.4:
            out += [" ORDER BY ", *r.choice([["id"], ["c"], ["c DESC,id"], [self.slot("i")], ["n DESC, id"]])]
        if r.random() < 0.2:
            out += [" LIMIT ", self.slot("i")]
            if not limit_only and r.random() < 0.3:
                out += [" OFFSET ", self.slot("i")]
        return out

    def select(self, table):
        r = self.rng
        items = r.choice([["*"], ["id,c"], ["c"], ["id"], ["n,c,id"], ["COUNT(*)"], ["c,COUNT(*)"], ["MIN(c),MAX(n)"],
                          ["id,", self.slot()], ["COALESCE(c,", self.slot(), ")"], ["c=", self.slot()],
                          ["SUM(n)"], ["GROUP_CONCAT(id ORDER BY id SEPARATOR ", self.slot("s"), ")"],
                          ["id,CASE WHEN c=", self.slot(), " THEN ", self.slot(), " ELSE ", self.slot(), " END x"],
                          ["ROUND(n,", self.slot("i"), ")"], ["LEFT(c,", self.slot("i"), ")"], ["id,c AS ", ["s"]]])
        head = r.choice(["SELECT ", "SELECT ", "SELECT ", "SELECT DISTINCT ", "SELECT SQL_CALC_FOUND_ROWS ", "SELECT HIGH_PRIORITY "])
        out = [head, *items, f" FROM {table} t", *self.where()]
        if items == ["c,COUNT(*)"] or r.random() < 0.05:
            out += r.choice([[" GROUP BY c"], [" GROUP BY c HAVING COUNT(*)>", self.slot("i")], [" GROUP BY ", self.slot("i")],
                             [" GROUP BY c WITH ROLLUP"], [" GROUP BY c,", self.slot()]])
        out += self.tail()
        if r.random() < 0.08:
            out += [r.choice([" FOR UPDATE", " LOCK IN SHARE MODE"])]
        return out

    def joined(self, table):
        """Returns a query of one to three tables with subqueries; LIMIT only with a total order."""
        r = self.rng
        aliases = ["t", "u", "v"][:r.choice([1, 2, 2, 3])]
        on_column = lambda alias: r.choice(["n", "n", "id", "id", "c"])  # noqa: E731
        out, outer = [f"{table} t"], r.random() < 0.5
        for at, alias in enumerate(aliases[1:]):
            other = r.choice(self.tables)
            if r.random() < 0.15 and not outer:
                out += [f", {other} {alias}"]
                continue
            word = r.choice([" LEFT JOIN ", " LEFT JOIN ", " JOIN "]) if outer else r.choice([" JOIN ", " INNER JOIN ", " STRAIGHT_JOIN "])
            out += [word, f"{other} {alias} ON {alias}.{on_column(alias)}={aliases[at]}.{on_column(alias)}"]
            if r.random() < 0.4:
                out += [" AND ", f"{alias}.{r.choice(['n', 'c', 'id'])}", *self.equal()]
        conditions = []
        for _ in range(r.choice([1, 1, 2, 2, 3])):
            column = f"{r.choice(aliases)}.{r.choice(['id', 'id', 'n', 'c', 'g'])}"
            conditions += [" AND ", *r.choice([[column, *self.equal()], [column, *self.equal()], [column, *self.equal()],
                                               ["(", column, *self.equal(), " OR ", column, *self.equal(), ")"],
                                               [column, r.choice(["<", ">", "<>", "<=>"]), self.slot()],
                                               [column, " BETWEEN ", self.slot(), " AND ", self.slot()],
                                               self.subquery(column), self.subquery(column),
                                               [f"{column} IS NULL"], [column, "=", f"{r.choice(aliases)}.n"]])]
        ids = ",".join(f"{alias}.id" for alias in aliases)
        items = r.choice(["*", ids, f"{aliases[-1]}.c,{ids}", "COUNT(*)", f"MIN({aliases[-1]}.c),MAX(t.n)", f"t.n,COUNT({aliases[-1]}.id)"])
        entry = []
        if items == ids and r.random() < 0.5:
            entry = [f",(SELECT MAX(w.n) FROM {r.choice(self.tables)} w WHERE w.id", *self.equal(), ")", r.choice(["", " x"])]
        out = [r.choice(["SELECT ", "SELECT ", "SELECT DISTINCT ", "SELECT SQL_CALC_FOUND_ROWS "]), items, *entry, " FROM ", *out, " WHERE ", *conditions[1:]]
        if items.startswith("t.n,"):
            out += [" GROUP BY t.n"]
        elif r.random() < 0.1:
            derived = ["(SELECT n,COUNT(*) k FROM ", r.choice(self.tables), " w WHERE w.", r.choice(["c", "n", "id"]), *self.equal(), " GROUP BY n) d"]
            return ["SELECT t.id,d.k FROM ", f"{table} t JOIN ", *derived, " ON d.n=t.n WHERE t.", r.choice(["c", "id", "n"]), *self.equal()]
        elif r.random() < 0.4 and not items.startswith(("COUNT", "MIN")):
            out += [f" ORDER BY {ids}"]
            if r.random() < 0.6:
                out += [" LIMIT ", self.slot("i"), *r.choice([[], [",", self.slot("i")]])]
        return out

    def subquery(self, column):
        r, other = self.rng, self.rng.choice(self.tables)
        where = f"w.{r.choice(['c', 'n', 'id'])}"
        return r.choice([
            [r.choice(["EXISTS", "NOT EXISTS"]), f"(SELECT 1 FROM {other} w WHERE w.n={column} AND {where}", *self.equal(), ")"],
            [column, r.choice([" IN ", " IN ", " NOT IN "]), f"(SELECT w.n FROM {other} w WHERE {where}", *self.equal(), ")"],
            [column, r.choice(["=", "<", ">="]), f"(SELECT MAX(w.n) FROM {other} w WHERE {where}", *self.equal(), ")"],
            [f"(SELECT COUNT(*) FROM {other} w WHERE w.n={column} AND {where}", *self.equal(), ")", r.choice(["=", ">"]), self.slot("i")],
            [column, " IN (SELECT w.id FROM ", other, " w WHERE ", where, *self.equal(), " UNION SELECT ", self.slot("i"), ")"]])

    def equal(self):
        r = self.rng
        if r.random() < 0.75:
            return ["=", self.slot()]
        items = []
        for _ in range(r.choice([1, 2, 3])):
            items += [self.slot(), ","]
        return [r.choice([" IN (", " IN (", " NOT IN ("]), *items[:-1], ")"]

    def insert(self, table):
        r = self.rng
        word = r.choice(["INSERT INTO ", "INSERT INTO ", "INSERT IGNORE INTO ", "REPLACE INTO ", "INSERT "])
        upsert = word.startswith("INSERT") and r.random() < 0.3
        if r.random() < 0.15:
            out = [word, table, " SET c=", *self.value(), ",n=", *self.value()]
        else:
            names, many = r.choice([(["c", "n"], None), (["c"], None), (["id", "c", "n"], None), (["id", "c"], None), (["c", "n", "g"], None)])
            out = [word, table, "(" + ",".join(names) + ") VALUES "]
            for at in range(r.choice([1, 1, 1, 2, 3])):
                out += ["," if at else "", "("]
                for column, name in enumerate(names):
                    out += ["," if column else "", *(["DEFAULT"] if name == "g" else self.value())]
                out += [")"]
        if upsert:
            out += [" ON DUPLICATE KEY UPDATE c=", *r.choice([self.value(), ["VALUES(c)"], ["c"]])]
            if r.random() < 0.3:
                out += [",n=", *r.choice([["n+", self.slot("i")], ["LAST_INSERT_ID(id)"], self.value()])]
        return out

    def update(self, table):
        r = self.rng
        out = ["UPDATE ", r.choice(["", "", "IGNORE "]), f"{table} t SET c=", *self.value()]
        if r.random() < 0.3:
            out += [",n=", *self.value()]
        return out + self.where() + self.tail(limit_only=True)

    def delete(self, table):
        return [self.rng.choice(["DELETE FROM ", "DELETE IGNORE FROM "]), f"{table}", *self.bare(self.where()), *self.tail(limit_only=True)]

    @staticmethod
    def bare(parts):
        return [p.replace("t.c", "c") if isinstance(p, str) else p for p in parts]

    def statement(self):
        table = self.rng.choice(self.tables)
        make = self.rng.choice([self.select] * 5 + [self.joined] * 4 + [self.insert] * 3 + [self.update] * 2 + [self.delete])
        return table, self.commented(make(table))

    def commented(self, parts):
        """Returns the statement with a comment now and then."""
        if self.rng.random() < 0.1:
            at = self.rng.randrange(1, len(parts) + 1)
            parts.insert(at, self.rng.choice([" /* it's 5 */ ", " -- 'x\n ", " # 7\n ", "/**/"]))
        return parts


class Sides:
    """The same statement on two databases, by sessions that plan differently."""

    def __init__(self, port):
        self.shared, self.alone = self.connect(port, "shapes_a"), self.connect(port, "shapes_b")
        # Whether sql_select_limit is set.
        self.limited = False
        self.both("SET timestamp=1700000000")
        self.run(self.alone, "CREATE TEMPORARY TABLE plans_alone(a INT)")

    @staticmethod
    def connect(port, database):
        options = {"host": "127.0.0.1", "port": port, "user": "root", "charset": "utf8mb4"}
        admin = pymysql.connect(**options)
        with admin.cursor() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS {database}")
            cursor.execute(f"CREATE DATABASE {database} CHARACTER SET utf8mb4")
        admin.close()
        return pymysql.connect(database=database, autocommit=None, use_unicode=False, conv={}, **options)

    def both(self, text):
        if text.startswith("SET sql_select_limit="):
            self.limited = not text.endswith("DEFAULT")
        return self.run(self.shared, text), self.run(self.alone, text)

    @staticmethod
    def warnings(text, raised):
        """Returns the warnings without what follows from the plan: which values a join or a subquery converts, and the
        number of a row that an UPDATE finds."""
        if JOINS.search(text):
            return sorted({one for one in raised if one[1] != CONVERTED})
        if text.startswith("UPDATE"):
            return [(level, code, re.sub(rb" at row \d+$", b"", message)) for level, code, message in raised]
        return raised

    def run(self, connection, text):
        cursor = connection.cursor()
        try:
            cursor.execute(text.encode())
        except pymysql.MySQLError as error:
            said = [("error", error.args)]
        else:
            result = cursor._result
            fields = [(f.name, f.type_code, f.length, f.scale, f.flags, f.charsetnr, f.table_name, f.org_name)
                      for f in result.fields] if cursor.description else None
            rows = cursor.fetchall() if fields else None
            if self.limited and rows and "ORDER BY" not in text:
                # Any rows may be the first ones.
                rows = len(rows)
            elif rows and JOINS.search(text) and "ORDER BY" not in text:
                # A join may be made in any order.
                rows = sorted(rows, key=repr)
            said = [("rows", fields, rows, result.affected_rows,
                     result.insert_id, result.message)]
        with connection.cursor() as cursor:
            cursor.execute(b"SHOW WARNINGS")
            said.append(("warnings", self.warnings(text, cursor.fetchall())))
            cursor.execute(b"SELECT LAST_INSERT_ID()")
            said.append(cursor.fetchall())
        return re.sub(r"shapes_[ab]", "shapes", repr(said))


def texts(rng, parts, count):
    """Returns the statement with other values each time: plain ones first, so that a plan is kept before the odd ones."""
    plain = {"i": ["1", "2", "3", "5"], "s": ["a", "b", "7", "1", "2023-02-15"]}
    odd = {"i": INTS, "s": TEXTS}
    plainly = rng.random() < 0.6
    for at in range(count):
        pool = plain if plainly and at < 3 else odd
        out = []
        for part in parts:
            if isinstance(part, str):
                out.append(part)
            else:
                value = rng.choice(pool[part[0]])
                out.append(value if part[0] == "i" else f"'{value}'")
        yield "".join(out)


LENGTHS = ["VARCHAR({})", "CHAR({})", "VARCHAR({}) COLLATE utf8mb4_bin", "VARCHAR({}) CHARACTER SET latin1", "VARBINARY({})"]
STORES = ["INSERT INTO w VALUES ({id},'{text}')", "REPLACE INTO w VALUES ({id},'{text}')", "UPDATE w SET c='{text}' WHERE id=1",
          "INSERT INTO w VALUES (1,'{text}') ON DUPLICATE KEY UPDATE c='{text}'", "INSERT INTO w VALUES ({id},'a'),({more},'{text}')"]


def lengths(sides):
    """Stores values of about the maximum length in each string type: a later text gives the result of a newly planned one."""
    failures = 0
    for ty in LENGTHS:
        for n in (1, 20, 254, 255, 256, 300):
            if ty.startswith("CHAR") and n > 255:
                continue
            sides.both(f"CREATE OR REPLACE TABLE w(id INT PRIMARY KEY, c {ty.format(n)})")
            sides.both("INSERT INTO w VALUES (1,'a')")
            for mode in ("STRICT_TRANS_TABLES", ""):
                sides.both(f"SET sql_mode='{mode}'")
                for store in STORES:
                    for at, text in enumerate(["a", "b", "x" * (n - 1), "x" * n, "x" * (n + 1), "x" * (n + 50), "x" * n + "  "]):
                        at = 10 * at + 2
                        statement = store.format(id=at, more=at + 1, text=text)
                        got = sides.both(statement)
                        if got[0] != got[1]:
                            report("length", 0, [f"{ty.format(n)} in mode '{mode}'"], statement, got)
                            failures += 1
                    sides.both("DELETE FROM w WHERE id>1 /* all */")
    return failures


def definitions(rng, count):
    """Returns tables with one column of each type, with random keys and constraints; a view, triggers and foreign keys."""
    made = []
    for at in range(count):
        ty = TYPES[at] if at < len(TYPES) else rng.choice(TYPES)
        key = rng.choice(KEYS)
        if ty.endswith(LONG) and "(c" in key and "CHECK" not in key:
            key = key.replace("(c", "(c(10)")
        null = rng.choice(["", "NOT NULL", "NULL DEFAULT NULL"])
        if ty == "JSON" or "PRIMARY" in key:
            null = ""
        own = "id INT AUTO_INCREMENT, c " + ty + " " + null + ", n INT DEFAULT 3"
        own += ", g " + rng.choice(["INT AS (n+1)", "INT AS (n*2) STORED", "VARCHAR(255) AS (c)", "VARCHAR(20) AS (LEFT(c,3)) STORED"])
        keys = ["KEY(id)" if "PRIMARY" in key else "PRIMARY KEY(id)"] + ([key] if key else [])
        name = f"t{at}"
        lines = [f"CREATE TABLE {name}({own}, {', '.join(keys)}) ENGINE={rng.choice(['InnoDB', 'InnoDB', 'InnoDB', 'MyISAM'])}"]
        extra = rng.random()
        if extra < 0.12:
            lines.append(f"CREATE TRIGGER {name}_t BEFORE {rng.choice(['INSERT', 'UPDATE'])} ON {name} FOR EACH ROW SET NEW.n=NEW.n+1")
        elif extra < 0.24:
            lines.append(f"CREATE VIEW {name}v AS SELECT id,c,n,g FROM {name} WHERE n<5 WITH CHECK OPTION")
            name += "v"
        elif extra < 0.30:
            lines.append(f"CREATE TABLE {name}p(a INT PRIMARY KEY) ENGINE=InnoDB")
            lines.append(f"INSERT INTO {name}p VALUES (1),(3),(5)")
            lines.append(f"ALTER TABLE {name} ADD FOREIGN KEY (n) REFERENCES {name}p(a) ON UPDATE CASCADE")
        lines.append(f"INSERT IGNORE INTO {name}(c,n) VALUES ('a',1),('b',1),('7',3),('1',3),('2023-02-15',2),"
                     "('10:11:12',2),('yyyyyyyyyy',5),('::1',5),('1.2.3.4',5),('[1]',1)")
        made.append((name, lines))
    return made


class Failed(Exception):
    pass


def report(kind, seed, history, text, got):
    print(f"{kind}: seed {seed}\n  " + "\n  ".join(history[-9:]), f"\n  {text}\n  shared: {got[0]}\n  alone:  {got[1]}", flush=True)


def play(sides, rng, seed, until, stop, counts):
    made = definitions(rng, len(TYPES) + 12)
    tables = []
    for name, lines in made:
        said = [sides.both(line) for line in lines]
        if not any(a.startswith("[('error'") for a, _ in said[:-1]):
            tables.append(name)
    grammar, failures, history = Grammar(rng, tables), 0, []
    while time.monotonic() < until and failures < stop:
        if rng.random() < 0.03:
            setting = rng.choice([f"SET sql_mode='{rng.choice(MODES)}'", f"SET NAMES {rng.choice(NAMES)}",
                                  f"SET {rng.choice(SETTINGS)}"])
            sides.both(setting)
            history.append(setting)
        table, parts = grammar.statement()
        before = len(history)
        for text in texts(rng, parts, 8):
            got = sides.both(text)
            counts["statements"] += 1
            counts["errors"] += got[0].startswith("[('error'")
            if got[0] != got[1]:
                report("text", seed, history[before:], text, got)
                settings = [line for line in history if line.startswith("SET ")]
                print("  after", "; ".join(settings[-12:]), "; table:", dict(made)[table], flush=True)
                failures += 1
                refill(sides, table, dict(made)[table])
                break
            history.append(text)
        if parts[0][:6] not in ("SELECT",):
            got = sides.both(f"SELECT * FROM {table} ORDER BY 1,2,3,4 /* all */")
            if got[0] != got[1] and failures < stop:
                report("rows", seed, history[before:], table, got)
                failures += 1
                refill(sides, table, dict(made)[table])
        if rng.random() < 0.05:
            refill(sides, table, dict(made)[table])
    return failures


def refill(sides, table, lines):
    sides.both("SELECT LAST_INSERT_ID(1)")
    sides.both(f"TRUNCATE {table.rstrip('v')} /* all */")
    sides.both(lines[-1])


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binary")
    arguments.add_argument("--seconds", type=float, default=30)
    arguments.add_argument("--seed", type=int)
    arguments.add_argument("--fresh", action="store_true", help="one new seed in place of the fixed ones")
    arguments.add_argument("--port", type=int)
    arguments.add_argument("--stop", type=int, default=5)
    arguments = arguments.parse_args()
    seeds = [arguments.seed] if arguments.seed is not None else [1, 2, 3]
    if arguments.fresh:
        seeds = [random.randrange(1 << 31)]
    server = None if arguments.port else Server(arguments.binary, options=["--thread-pool-size=1"]).start()
    failures, counts = 0, {"statements": 0, "errors": 0}
    try:
        for seed in seeds:
            sides = Sides(arguments.port or server.port)
            failures += lengths(sides) if seed == seeds[0] else 0
            until = time.monotonic() + arguments.seconds / len(seeds)
            failures += play(sides, random.Random(seed), seed, until, arguments.stop, counts)
    finally:
        if server:
            server.remove()
    print(f"shapes: seeds {seeds}, {counts['statements']} statements, {counts['errors']} of them errors, {failures} differ")
    raise SystemExit(1 if failures else 0)


if __name__ == "__main__":
    main()
