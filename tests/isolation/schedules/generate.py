"""Schedules from a seed: a small schema with few rows, and the statements of two sessions in one order.

A schedule is a list of lines as in the scripts beside: `setup: SQL`, `A: SQL`, `B: SQL`.
"""

import random

LEVELS = ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"]
VALUES = list(range(5, 50, 5))
LOCKS = ["", "", " FOR UPDATE", " FOR UPDATE", " LOCK IN SHARE MODE", " LOCK IN SHARE MODE", " FOR UPDATE NOWAIT",
         " FOR UPDATE SKIP LOCKED", " LOCK IN SHARE MODE NOWAIT", " LOCK IN SHARE MODE SKIP LOCKED"]
ACTIONS = ["RESTRICT", "CASCADE", "SET NULL", "NO ACTION"]


def schedule(seed):
    return Generator(random.Random(seed)).lines()


class Table:
    """The generator's knowledge of a table: its columns, and for each column the indexes that begin with it."""

    def __init__(self, name, columns, indexes, parts):
        self.name, self.columns, self.indexes, self.parts = name, columns, indexes, parts

    def create(self):
        return f"setup: CREATE TABLE {self.name} ({', '.join(self.parts)}) ENGINE=InnoDB"


class Generator:
    def __init__(self, chance):
        self.chance = chance
        self.tables = [self.main_table()]
        if chance.random() < 0.3:
            self.tables.append(self.second_table())

    def often(self, probability):
        return self.chance.random() < probability

    def pick(self, choices):
        return self.chance.choice(choices)

    # The schema.

    def main_table(self):
        has_primary = (kind := self.chance.random()) < 0.93
        # Without a primary key InnoDB uses a unique key without NULLs as the clustered one.
        null = " NOT NULL" if has_primary and self.often(0.3) else ""
        parts, indexes = ["id INT NOT NULL", f"a INT{null}", "b INT", "v INT"], {}
        if has_primary:
            parts.append("PRIMARY KEY (id)" if kind < 0.85 else "PRIMARY KEY (id, b)")
            indexes["PRIMARY"] = "id"
        if self.often(0.55):
            parts.append("UNIQUE KEY u (a)" if self.often(0.8) else "UNIQUE KEY u (a, b)")
            indexes["u"] = "a"
        if self.often(0.55):
            parts.append("KEY k (b)" if self.often(0.8) else "KEY k (b, v)")
            indexes["k"] = "b"
        return Table("t", ["id", "a", "b", "v"], indexes, parts)

    def second_table(self):
        parts, indexes = ["id INT PRIMARY KEY", "p INT", "v INT", "KEY p (p)"], {"PRIMARY": "id", "p": "p"}
        if "PRIMARY KEY (id)" in self.tables[0].parts and self.often(0.7):
            actions = f"ON DELETE {self.pick(ACTIONS)} ON UPDATE {self.pick(ACTIONS)}"
            parts.append(f"FOREIGN KEY (p) REFERENCES t (id) {actions}")
        return Table("c", ["id", "p", "v"], indexes, parts)

    def rows(self):
        ids = sorted(self.chance.sample([10, 20, 30, 40], self.chance.randint(2, 4)))
        unique = self.chance.sample([10, 20, 30, 40], len(ids))
        nullable = "a INT" in self.tables[0].parts
        for at, row in enumerate(ids):
            a = "NULL" if nullable and self.often(0.15) else unique[at]
            b = self.pick([10, 20, 20, 30]) if self.often(0.9) or "(id, b)" in str(self.tables[0].parts) else "NULL"
            yield f"setup: INSERT INTO t VALUES ({row}, {a}, {b}, {self.pick([0, 1])})"
        if len(self.tables) > 1:
            for row in self.chance.sample([10, 20, 30], self.chance.randint(1, 3)):
                yield f"setup: INSERT INTO c VALUES ({row}, {self.pick([*ids, 'NULL'])}, {self.pick([0, 1])})"

    # Parts of statements.

    def value(self):
        return self.pick(VALUES)

    def condition(self, column):
        n = self.value()
        kinds = {f"{column} = {n}": 8, f"{column} > {n}": 2, f"{column} >= {n}": 2, f"{column} < {n}": 2,
                 f"{column} <= {n}": 2, f"{column} BETWEEN {n} AND {n + self.pick([5, 10, 15])}": 2,
                 f"{column} IN ({n}, {self.value()})": 2, f"{column} IS NULL": 0 if column == "id" else 1}
        text = self.chance.choices(list(kinds), list(kinds.values()))[0]
        return f"{text} AND v = {self.pick([0, 1])}" if self.often(0.15) else text

    def place(self, table):
        """Returns an index and a condition on its first column; without an index, on `v`."""
        if not table.indexes or self.often(0.06):
            return "", f"v = {self.pick([0, 1])}"
        index = self.pick(list(table.indexes))
        return f" FORCE INDEX ({index})", self.condition(table.indexes[index])

    def row(self, table):
        values = [self.value() for _ in table.columns]
        values[-1] = self.pick([0, 1])
        for at, column in enumerate(table.columns):
            nullable = column not in ("id", "v") and f"{column} INT NOT NULL" not in table.parts
            if nullable and self.often(0.1):
                values[at] = "NULL"
        return "(" + ", ".join(map(str, values)) + ")"

    def assignment(self, table):
        column = self.pick([*table.columns, *table.columns[1:], "v", "v"])
        if column == "v":
            return f"v = v {self.pick('+-')} 1"
        return f"{column} = {column} + {self.pick([5, 10])}" if self.often(0.2) else f"{column} = {self.value()}"

    # Statements.

    def select(self, table):
        hint, condition = self.place(table)
        order = ""
        if hint and self.often(0.25):
            order = f" ORDER BY {condition.split()[0]}{self.pick(['', ' DESC'])}"
            order += " LIMIT 1" if self.often(0.3) and "IN" not in condition else ""
        return f"SELECT * FROM {table.name}{hint} WHERE {condition}{order}{self.pick(LOCKS)}"

    def update(self, table):
        hint, condition = self.place(table)
        return f"UPDATE {table.name}{hint} SET {self.assignment(table)} WHERE {condition}"

    def delete(self, table):
        return f"DELETE FROM {table.name} WHERE {self.place(table)[1]}"

    def insert(self, table):
        rows = ", ".join(self.row(table) for _ in range(self.pick([1, 1, 1, 2])))
        kind = self.pick(["INSERT", "INSERT", "INSERT", "INSERT IGNORE", "REPLACE", "REPLACE", "ODKU", "ODKU"])
        if kind == "ODKU":
            return f"INSERT INTO {table.name} VALUES {rows} ON DUPLICATE KEY UPDATE {self.assignment(table)}"
        return f"{kind} INTO {table.name} VALUES {rows}"

    def insert_select(self, table):
        source = self.pick(self.tables)
        hint, condition = self.place(source)
        columns = ["id + 5"] + (source.columns[1:] + ["v"] * 3)[: len(table.columns) - 1]
        kind = self.pick(["INSERT", "INSERT", "INSERT IGNORE", "REPLACE"])
        return f"{kind} INTO {table.name} SELECT {', '.join(columns)} FROM {source.name}{hint} WHERE {condition}"

    def statement(self):
        table = self.tables[0] if self.often(0.75) else self.tables[-1]
        kinds = {self.select: 6, self.update: 5, self.delete: 3, self.insert: 6, self.insert_select: 1}
        return self.chance.choices(list(kinds), list(kinds.values()))[0](table)

    def session(self):
        yield f"SET SESSION TRANSACTION ISOLATION LEVEL {self.chance.choices(LEVELS, [1, 3, 6, 2])[0]}"
        if self.often(0.3):
            yield "SET SESSION innodb_snapshot_isolation = ON"
        begin = ["BEGIN", "BEGIN", "BEGIN", "START TRANSACTION WITH CONSISTENT SNAPSHOT"]
        if self.often(0.85):
            yield self.pick(begin)
        for _ in range(self.chance.randint(2, 6)):
            yield self.statement()
            extra = self.chance.random()
            if extra < 0.06:
                yield "SAVEPOINT s"
            elif extra < 0.10:
                yield "ROLLBACK TO s"
            elif extra < 0.18:
                yield self.pick(["COMMIT", "COMMIT", "ROLLBACK"])
                if self.often(0.8):
                    yield self.pick(begin)

    def lines(self):
        out = [table.create() for table in self.tables] + list(self.rows())
        sessions = {name: list(self.session()) for name in "AB"}
        while sessions["A"] or sessions["B"]:
            name = self.pick([name for name in "AB" for _ in sessions[name]])
            out.append(f"{name}: {sessions[name].pop(0)}")
        out += ["A: COMMIT", "B: COMMIT", "A: COMMIT", "B: COMMIT"]
        return out + [f"A: SELECT * FROM {table.name}" for table in self.tables]
