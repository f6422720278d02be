"""Random statements over random tables, as trees."""

import re

from schema import values_of
from templates import AGGREGATE, BY_KIND, LITERALS, UNITS, WINDOW
from tree import Node, leaf, listed, optional

HOLE = re.compile(r"\{(\w)\}")


class Scope:
    """Columns that can be named: (text, kind); `key` orders the rows of the only table, if there is one."""

    def __init__(self, columns, outer=None, key=None):
        self.columns, self.outer, self.key = columns, outer, key


class Grammar:
    def __init__(self, random, tables):
        self.random, self.tables = random, tables
        self.aliases = 0

    # Expressions

    def expr(self, kind, scope, depth):
        if kind == "a":
            kind = self.random.choice("nnsssdb" if depth > 0 else "nsd")
        elif self.random.random() < 0.06 and kind in "nsd":
            kind = self.random.choice("nsd")
        if depth <= 0 or self.random.random() < 0.25:
            return self.simple(kind, scope)
        if self.random.random() < 0.06 and self.tables:
            return self.subquery_expr(kind, scope, depth)
        if kind in BY_KIND:
            return self.filled(self.random.choice(BY_KIND[kind]), scope, depth)
        return self.simple(kind, scope)

    def simple(self, kind, scope):
        columns = self.columns(kind, scope)
        if columns and self.random.random() < 0.7:
            return leaf(self.random.choice(columns))
        kind = "n" if kind == "b" else kind
        return leaf(self.random.choice(LITERALS[kind]))

    def columns(self, kind, scope):
        all_ = list(scope.columns)
        if scope.outer and self.random.random() < 0.2:
            all_ += scope.outer.columns
        fitting = [name for name, of in all_ if of == kind]
        return fitting or ([name for name, _ in all_] if kind not in "ij" else [])

    def filled(self, template, scope, depth):
        parts, at = [], 0
        for hole in HOLE.finditer(template):
            parts.append(template[at:hole.start()])
            parts.append(self.hole(hole.group(1), scope, depth))
            at = hole.end()
        node = Node("expr", parts + [template[at:]])
        return node if template.endswith(")") and HOLE.sub("", template)[0].isalpha() else bracketed(node)

    def hole(self, kind, scope, depth):
        if kind == "u":
            return leaf(self.random.choice(UNITS), "unit")
        if kind == "k":
            return leaf(scope.key, "key")
        if kind == "p":
            return optional("PARTITION BY ", self.simple(self.random.choice("ns"), scope), " ") \
                if self.random.random() < 0.5 else leaf("", "key")
        return self.expr(kind, scope, depth - 1)

    def subquery_expr(self, kind, scope, depth):
        how = self.random.randrange(4)
        if kind != "b":
            return bracketed(self.one_value(kind, scope))
        if how == 0:
            return Node("expr", ["EXISTS(", self.query(1, scope, depth - 1), ")"])
        operator = self.random.choice([" IN (", " NOT IN (", " = ANY (", " > ALL (", " <> ANY ("])
        inner = self.random.choice("ns")
        return bracketed(Node("expr", [self.expr(inner, scope, depth - 1), operator,
                                       self.query(1, scope, depth - 1, [inner]), ")"]))

    def one_value(self, kind, outer):
        """Returns a query with exactly one row."""
        from_, scope = self.from_clause(outer, 1)
        what = self.random.choice(["MAX(", "MIN(", "COUNT(", "SUM("] if kind == "n" else ["MAX(", "MIN("])
        item = Node("expr", [what, self.expr(kind, scope, 1), ")"])
        return Node("query", ["SELECT ", item, from_, self.where(scope, 1)])

    # Queries

    def query(self, columns, outer=None, depth=2, kinds=None):
        if depth > 0 and self.random.random() < 0.08:
            kinds = kinds or [self.random.choice("nsd") for _ in range(columns)]
            operator = self.random.choice([" UNION ", " UNION ALL ", " EXCEPT ", " INTERSECT "])
            return Node("query", [self.query(columns, outer, depth - 1, kinds), operator,
                                  self.query(columns, outer, 0, kinds)])
        from_, scope = self.from_clause(outer, depth)
        if self.random.random() < 0.3:
            return self.grouped(columns, from_, scope, depth, kinds)
        items = [self.expr(k, scope, depth) for k in kinds or [self.random.choice("nnssdab") for _ in range(columns)]]
        if scope.key and not outer and self.random.random() < 0.2:
            items[-1] = self.filled(self.random.choice(WINDOW), scope, depth)
        distinct = optional("DISTINCT ") if self.random.random() < 0.15 else ""
        return Node("query", ["SELECT ", distinct, self.items(items, outer), from_, self.where(scope, depth)])

    def items(self, expressions, outer):
        return listed(expressions) if not outer else listed(expressions, sort="fixed")

    def grouped(self, columns, from_, scope, depth, kinds):
        count = self.random.choice([0, 1, 1, 2]) if columns > 1 else 0
        keys = [self.expr(self.random.choice("nsd"), scope, depth - 1) for _ in range(min(count, columns - 1))]
        keys = [k for k in keys if re.search("c[0-9]|id", str(k))]
        by_number = self.random.random() < 0.6
        items = keys if by_number else [leaf(str(k)) for k in keys]
        while len(items) < columns:
            items.append(self.aggregate(scope, depth))
        parts = ["SELECT ", listed(items), from_, self.where(scope, depth)]
        if keys:
            rollup = optional(" WITH ROLLUP") if self.random.random() < 0.1 else ""
            named = [str(at + 1) if by_number else str(k) for at, k in enumerate(keys)]
            parts.append(Node("group", [" GROUP BY ", ", ".join(named), rollup]))
            if self.random.random() < 0.3:
                parts.append(optional(" HAVING ", bracketed(Node("expr", [
                    self.aggregate(scope, 1), self.random.choice([" > ", " = ", " IS NOT NULL OR 1 < "]),
                    self.simple("n", Scope([]))]))))
        return Node("query", parts)

    def aggregate(self, scope, depth):
        return self.filled(self.random.choice(AGGREGATE), scope, min(depth, 2))

    def where(self, scope, depth):
        if self.random.random() < 0.5:
            return ""
        return optional(" WHERE ", self.expr("b", scope, depth))

    def from_clause(self, outer, depth):
        if not self.tables or (self.random.random() < 0.05 and not outer):
            return "", Scope([], outer)
        first, columns, key = self.table_ref(depth)
        parts = [" FROM ", first]
        for _ in range(self.random.choice([0, 0, 0, 1, 1, 2]) if depth > 0 else 0):
            key = None
            other, more, _ = self.table_ref(depth)
            columns = columns + more
            how = self.random.choice([" JOIN ", " LEFT JOIN ", " LEFT JOIN ", " RIGHT JOIN ", ", "])
            condition = "" if how == ", " else Node(
                "on", [" ON ", self.join_condition(Scope(columns, None), more, depth)])
            if how == ", ":
                how = " CROSS JOIN "
            parts.append(Node("optional", [how, other, condition], optional=True))
        return Node("from", parts), Scope(columns, outer, key)

    def join_condition(self, scope, more, depth):
        kind = self.random.choice("nnsd")
        left = self.columns(kind, scope)
        right = self.columns(kind, Scope(more))
        if self.random.random() < 0.6 and left and right:
            return Node("expr", [leaf(self.random.choice(left)), " = ", leaf(self.random.choice(right))])
        return self.expr("b", scope, min(depth, 1))

    def table_ref(self, depth):
        self.aliases += 1
        alias = f"a{self.aliases}"
        if depth > 1 and self.random.random() < 0.12:
            kinds = [self.random.choice("nsd") for _ in range(2)]
            inner = self.query(2, None, depth - 1, kinds)
            names = [f"{alias}.x1", f"{alias}.x2"]
            named = self.named(inner, ["x1", "x2"])
            return Node("table", ["(", named, f") {alias}"]), list(zip(names, kinds)), None
        table = self.random.choice(self.tables)
        columns = [(f"{alias}.{c.name}", c.kind) for c in table.columns] + [(f"{alias}.id", "n")]
        return leaf(f"{table.name} {alias}", "table"), columns, f"{alias}.id"

    def named(self, query, names):
        """Returns the query with names for its columns, which outer queries use."""
        node = query
        while isinstance(node.parts[0], Node):
            node = node.parts[0]
        items = next(part for part in node.parts if isinstance(part, Node) and part.separator)
        items.parts = [Node("item", [item, f" AS {name}"]) for item, name in zip(items.parts, names)]
        items.sort = "fixed"
        return query

    # Statements

    def select(self):
        columns = self.random.randint(1, 3)
        query = self.query(columns)
        parts = [query]
        if self.random.random() < 0.06:
            name, kinds = "w", [self.random.choice("nsd") for _ in range(2)]
            inner = self.named(self.query(2, None, 1, kinds), ["x1", "x2"])
            scope = Scope([(f"{name}.x1", kinds[0]), (f"{name}.x2", kinds[1])])
            items = [self.expr(self.random.choice("nsd"), scope, 1) for _ in range(columns)]
            parts = [f"WITH {name} AS (", inner, ") SELECT ", listed(items), f" FROM {name}", self.where(scope, 1)]
        if self.random.random() < 0.2:
            limit = f" LIMIT {self.random.randint(0, 5)}" if self.random.random() < 0.5 else ""
            direction = lambda: self.random.choice(["", " DESC"])
            order = ", ".join(f"{at + 1}{direction()}" for at in range(columns))
            parts += [optional(f" ORDER BY {order}", optional(limit))]
        return Node("statement", parts)

    def change(self):
        table = self.random.choice(self.tables)
        scope = Scope([(c.name, c.kind) for c in table.columns] + [("id", "n")])
        return self.random.choice([self.insert, self.insert, self.update, self.update, self.delete])(table, scope)

    def insert(self, table, scope):
        verb = self.random.choice(["INSERT", "INSERT", "INSERT IGNORE", "REPLACE"])
        columns = self.random.sample(table.columns, self.random.randint(1, len(table.columns)))
        values = listed([self.value(c) for c in columns], sort="fixed")
        names = ", ".join(["id"] + [c.name for c in columns])
        key = self.random.choice([str(self.random.randint(1, 20)), "50"])
        again = ""
        if verb.startswith("INSERT") and self.random.random() < 0.25:
            column = self.random.choice(columns)
            again = optional(f" ON DUPLICATE KEY UPDATE {column.name} = ", self.expr(column.kind, scope, 1))
        return Node("statement", [f"{verb} INTO {table.name} ({names}) VALUES ({key}, ", values, ")", again])

    def value(self, column):
        if self.random.random() < 0.5:
            return leaf(self.random.choice(values_of(column.type)))
        return self.expr(column.kind, Scope([]), 1)

    def update(self, table, scope):
        ignore = optional("IGNORE ") if self.random.random() < 0.3 else ""
        columns = self.random.sample(table.columns, self.random.randint(1, min(2, len(table.columns))))
        sets = listed([Node("set", [f"{c.name} = ", self.expr(c.kind, scope, 2)]) for c in columns])
        return Node("statement", ["UPDATE ", ignore, table.name, " SET ", sets, self.where(scope, 2)])

    def delete(self, table, scope):
        return Node("statement", [f"DELETE FROM {table.name} WHERE ", self.expr("b", scope, 2)])


def bracketed(node):
    return Node("expr", ["(", node, ")"])
