"""Building blocks of chapters: chances, tables and columns, expressions of mixed types, and whole statements."""

from related import View
from schema import values_of
from tree import Node, leaf, listed, optional

MIXED = ["COALESCE({a}, {a})", "IFNULL({a}, {a})", "IFNULL({n}, {n})", "COALESCE({n}, {n}, {n})", "NULLIF({a}, {a})",
         "IF({b}, {n}, {n})", "IF({b}, {a}, {a})", "CASE WHEN {b} THEN {n} ELSE {n} END", "CASE WHEN {b} THEN {a} WHEN {b} THEN {a} END",
         "CASE {a} WHEN {a} THEN {a} ELSE {a} END", "GREATEST({n}, {n})", "LEAST({n}, {n})", "CONCAT({a}, {a})", "{n} + {n}",
         "{n} * {n}", "{n} - {n}", "-{n}", "ROUND({n}, 1)", "{b}", "{a}", "{a}", "{n}"]
LITERALS = {"n": ["0", "1", "2", "-1", "1.5", "2.25", "1e1", "100", "300", "70000", "5000000000", "NULL"],
            "s": ["'a'", "'B'", "''", "'1'", "'2.50'", "'1e1'", "'long text'", "NULL"],
            "d": ["'2024-01-01'", "DATE'2024-01-02'", "TIMESTAMP'2024-01-02 12:00:00'", "TIME'10:11:12'", "NULL"]}


class Pen:
    """`relations` has the tables; the pen has a `random` of its own."""

    def __init__(self, relations):
        self.relations, self.random = relations, relations.random
        self.tables = [t for t in relations.tables if not isinstance(t, View)]

    def chance(self, probability):
        return self.random.random() < probability

    def one(self, *choices):
        return self.random.choice(choices)

    def table(self):
        return self.random.choice(self.tables)

    def columns(self, table, prefix=""):
        return [(f"{prefix}{c.name}", c.kind) for c in table.columns] + [(f"{prefix}id", "n")]

    def literal(self, kind):
        return leaf(self.random.choice(LITERALS[kind]))

    def simple(self, kind, columns):
        """Returns a column or a literal; of any type if `kind` is a."""
        kind = self.one("n", "n", "s", "d") if kind == "a" else kind
        fitting = [name for name, of in columns if of == kind]
        return leaf(self.random.choice(fitting)) if fitting and self.chance(0.75) else self.literal(kind)

    def mixed(self, columns):
        """Returns an expression with operands of different types."""
        return self.filled(self.random.choice(MIXED), columns)

    def filled(self, template, columns):
        parts = []
        for piece in template.replace("}", "{").split("{"):
            if len(parts) % 2 == 0:
                parts.append(piece)
            elif piece == "b":
                parts.append(self.condition(columns))
            else:
                parts.append(self.simple(piece, columns))
        return Node("expr", parts)

    def condition(self, columns, depth=0):
        return self.relations.condition(columns, depth)

    def where(self, columns, depth=1, always=False):
        return optional(" WHERE ", self.condition(columns, depth)) if always or self.chance(0.7) else ""

    def value(self, column):
        """Returns a value for a column, sometimes one that the column cannot store."""
        if self.chance(0.1):
            return self.literal(self.one("n", "s", "d"))
        return leaf("NULL" if self.chance(0.1) else self.random.choice(values_of(column.type)))

    def some(self, sequence, most):
        return self.random.sample(sequence, self.random.randint(1, min(most, len(sequence))))


def statement(*parts):
    return Node("statement", parts)


def contents(name, by="id"):
    return statement(f"SELECT * FROM {name} ORDER BY {by}")


def definition(name):
    return statement(f"SHOW CREATE TABLE {name}")


def items(nodes, names):
    return listed([Node("item", [node, f" AS {name}"]) for node, name in zip(nodes, names)], sort="fixed")
