"""Random statements with several tables: joins, subqueries, groups, windows, set operations and changes.

Expressions are simple, so that a difference comes from planning or execution. Columns
of a query are named x1, x2 ...; literals know the pool they were chosen from (see `tree.Node`).
"""

import re

from related import FEW, View
from schema import Column
from tree import Node, leaf, listed, optional

COMPARISONS = [" = ", " = ", " = ", " < ", " <= ", " > ", " >= ", " <> ", " <=> "]
PATTERNS = ["'a%'", "'%b'", "'_'", "'A%'", "'%'", "''", "'a_'"]
LITERALS = {
    "n": FEW["n"] + ["-1", "5", "10", "1.5", "127", "9223372036854775807"],
    "s": FEW["s"], "d": FEW["d"] + ["'1999-12-31'"], "i": ["0", "1", "2", "3"],
}
AGGREGATES = {
    "n": ["COUNT(*)", "COUNT({a})", "COUNT(DISTINCT {a})", "COUNT(DISTINCT {a}, {a})", "SUM({n})", "SUM(DISTINCT {n})",
          "AVG({n})", "MIN({n})", "MAX({n})", "BIT_OR({n})", "BIT_AND({n})", "STDDEV_POP({n})"],
    "s": ["MIN(HEX({s}))", "MAX({s})", "GROUP_CONCAT({n} ORDER BY 1 SEPARATOR '-')", "MIN({s})",
          "GROUP_CONCAT(DISTINCT HEX({s}) ORDER BY 1 DESC)"],
    "d": ["MIN({d})", "MAX({d})"],
}
WINDOWS = [
    "ROW_NUMBER() OVER ({p}ORDER BY {o}, {k})", "RANK() OVER ({p}ORDER BY {o})", "DENSE_RANK() OVER ({p}ORDER BY {o})",
    "PERCENT_RANK() OVER ({p}ORDER BY {o})", "CUME_DIST() OVER ({p}ORDER BY {o})", "NTILE({i}) OVER ({p}ORDER BY {o}, {k})",
    "LAG({a}, {i}) OVER ({p}ORDER BY {o}, {k})", "LEAD({a}, {i}) OVER ({p}ORDER BY {o}, {k})",
    "FIRST_VALUE({a}) OVER ({p}ORDER BY {o}, {k} {f})", "LAST_VALUE({a}) OVER ({p}ORDER BY {o}, {k} {f})",
    "NTH_VALUE({a}, 2) OVER ({p}ORDER BY {o}, {k} {f})", "SUM({n}) OVER ({p}ORDER BY {o}, {k} {f})",
    "COUNT({a}) OVER ({p}ORDER BY {o}, {k} {f})", "COUNT(*) OVER ({p}ORDER BY {o}, {k} {f})",
    "MIN({n}) OVER ({p}ORDER BY {o}, {k} {f})", "MAX({d}) OVER ({p}ORDER BY {o}, {k} {f})",
    "AVG({n}) OVER ({p}ORDER BY {n} {r})", "SUM({n}) OVER ({p}ORDER BY {n} DESC {r})", "COUNT(*) OVER ({p}ORDER BY {n} {r})",
    "MAX({n}) OVER ({p})", "SUM({n}) OVER ({p})", "BIT_OR({n}) OVER ({p}ORDER BY {o})", "SUM({n}) OVER ({p}ORDER BY {o})",
    "COUNT({a}) OVER ({p}ORDER BY {o} RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
]
BOUNDS = ["UNBOUNDED PRECEDING", "{} PRECEDING", "{} PRECEDING", "CURRENT ROW", "{} FOLLOWING", "{} FOLLOWING", "UNBOUNDED FOLLOWING"]
FAR = ["0", "1", "2", "3", "100", "9223372036854775807"]
AGGREGATED = re.compile(r"\b(COUNT|SUM|AVG|MIN|MAX|BIT_OR|BIT_AND|STDDEV_POP|GROUP_CONCAT)\(|GROUP BY|UNION|EXCEPT|INTERSECT")
HOLE = re.compile(r"\{(\w)\}")


class Source:
    """A table of FROM: `columns` of (name, kind), `keys` that together identify its rows, or None.

    `hidden` are those of `columns` that NATURAL and USING merged into others."""

    def __init__(self, node, columns, keys, hidden=frozenset()):
        self.node, self.columns, self.keys, self.hidden = node, columns, keys, hidden

    def shown(self):
        """Returns names of columns without their table, with duplicates."""
        return [name.split(".")[1] for name, _ in self.columns if name not in self.hidden]

    def hides(self, names):
        return {name for name, _ in self.columns if name.split(".")[1] in names}


class Relations:
    def __init__(self, random, tables):
        self.random, self.tables, self.aliases, self.ctes = random, tables, 0, []
        self.large = any(len(t.rows) > 100 for t in tables)

    def chance(self, probability):
        return self.random.random() < probability

    # Scalars

    def literal(self, kind):
        if self.chance(0.04):
            return leaf("NULL")
        pool = LITERALS[kind]
        node = leaf(self.random.choice(pool), "literal")
        node.pool = kind
        return Node("expr", [node])

    def column(self, kind, columns):
        fitting = [name for name, of in columns if kind == "a" or of == kind]
        return self.random.choice(fitting) if fitting else None

    def scalar(self, kind, columns, depth=1):
        if kind == "a":
            kind = self.random.choice("nnsd")
        if self.chance(0.04):
            kind = self.random.choice("nsd")
        name = self.column(kind, columns)
        if name is None or self.chance(0.12):
            return self.literal(kind)
        if depth <= 0 or self.chance(0.75):
            return leaf(name)
        return self.computed(kind, columns, depth - 1)

    def computed(self, kind, columns, depth):
        part = lambda of=kind: self.scalar(of, columns, depth)
        forms = [["COALESCE(", part(), ", ", part(), ")"], ["IF(", self.condition(columns, 0), ", ", part(), ", ", part(), ")"],
                 ["NULLIF(", part(), ", ", part(), ")"], ["CASE ", part("n"), " WHEN ", self.literal("i"), " THEN ", part(), " END"]]
        if self.tables and depth >= 0:
            forms.append(["(", self.one_value(kind, columns), ")"])
        forms += {"n": [["(", part(), self.random.choice([" + ", " - ", " * ", " % "]), part(), ")"], ["ABS(", part(), ")"],
                        ["LENGTH(", part("s"), ")"], ["TO_DAYS(", part("d"), ")"]],
                  "s": [["CONCAT(", part(), ", ", part(), ")"], ["UPPER(", part(), ")"], ["LEFT(", part(), ", 1)"]],
                  "d": [["(", part(), " + INTERVAL ", self.literal("i"), " DAY)"]]}[kind]
        return Node("expr", self.random.choice(forms))

    # Conditions

    def condition(self, columns, depth=1):
        chosen = self.random.random()
        if depth > 0 and chosen < 0.35:
            operator = self.random.choice([" AND ", " AND ", " AND ", " OR ", " OR ", " XOR "])
            return Node("expr", ["(", self.condition(columns, depth - 1), operator, self.condition(columns, depth - 1), ")"])
        if depth > 0 and chosen < 0.42:
            return Node("expr", ["NOT (", self.condition(columns, depth - 1), ")"])
        if depth > 0 and chosen < 0.60 and self.tables:
            return self.subquery_condition(columns, depth - 1)
        return self.simple_condition(columns, depth)

    def simple_condition(self, columns, depth):
        kind = self.random.choice("nnnssd")
        part = lambda: self.scalar(kind, columns, depth)
        lit = lambda: self.literal(kind)
        name = self.column(kind, columns)
        left = leaf(name) if name and self.chance(0.85) else part()
        chosen = self.random.randrange(13)
        if chosen < 4:
            return Node("expr", ["(", left, self.random.choice(COMPARISONS), lit() if self.chance(0.5) else part(), ")"])
        if chosen == 4:
            return Node("expr", ["(", left, self.random.choice([" BETWEEN ", " NOT BETWEEN "]), lit(), " AND ", lit(), ")"])
        if chosen == 5:
            members = listed([lit() for _ in range(self.random.randint(1, 4))])
            return Node("expr", ["(", left, self.random.choice([" IN (", " IN (", " NOT IN ("]), members, "))"])
        if chosen == 6:
            return Node("expr", ["(", left, self.random.choice([" IS NULL", " IS NOT NULL"]), ")"])
        if chosen == 7:
            text = self.scalar("s", columns, 0)
            return Node("expr", ["(", text, self.random.choice([" LIKE ", " NOT LIKE "]), leaf(self.random.choice(PATTERNS)), ")"])
        if chosen == 8:
            ranges = [Node("expr", ["(", left, f" {a} ", lit(), " AND ", left, f" {b} ", lit(), ")"])
                      for a, b in ((">=", "<"), (">", "<="), ("=", "<>"))[:self.random.randint(1, 3)]]
            return Node("expr", ["(", listed(ranges, " OR "), ")"])
        if chosen == 9:
            return self.row_condition(columns)
        if chosen == 10:
            return Node("expr", ["(", self.simple_condition(columns, 0), self.random.choice([" IS TRUE", " IS NOT TRUE", " IS UNKNOWN"]), ")"])
        return Node("expr", ["(", left, " = ", part(), ")"])

    def row_condition(self, columns):
        kinds = [self.random.choice("nns") for _ in range(self.random.randint(2, 3))]
        row = lambda of: Node("expr", ["(", listed([of(k) for k in kinds], sort="fixed"), ")"])
        left = row(lambda k: self.scalar(k, columns, 0))
        if self.chance(0.5):
            rows = listed([row(self.literal) for _ in range(self.random.randint(1, 3))])
            return Node("expr", ["(", left, self.random.choice([" IN (", " NOT IN ("]), rows, "))"])
        return Node("expr", ["(", left, self.random.choice([" = ", " < ", " >= ", " <> ", " <=> "]),
                             row(lambda k: self.scalar(k, columns, 0)), ")"])

    def subquery_condition(self, columns, depth):
        how = self.random.randrange(6)
        if how < 2:
            query = self.query(["n"], columns, depth, exists=True)
            return Node("expr", ["(", self.random.choice(["EXISTS (", "NOT EXISTS ("]), query, "))"])
        if how < 4:
            kinds = [self.random.choice("nnsd") for _ in range(self.random.choice([1, 1, 1, 2, 3]))]
            left = listed([self.scalar(k, columns, 0) for k in kinds], sort="fixed")
            left = left if len(kinds) == 1 else Node("expr", ["(", left, ")"])
            query = self.query(kinds, columns, depth)
            return Node("expr", ["(", left, self.random.choice([" IN (", " IN (", " NOT IN ("]), query, "))"])
        kind = self.random.choice("nnsd")
        if how == 4:
            operator = self.random.choice([" = ANY (", " <> ALL (", " > ANY (", " <= ALL (", " < ALL (", " >= ANY ("])
            return Node("expr", ["(", self.scalar(kind, columns, 0), operator, self.query([kind], columns, depth), "))"])
        operator = self.random.choice(COMPARISONS)
        return Node("expr", ["(", self.scalar(kind, columns, 0), operator, "(", self.one_value(kind, columns), "))"])

    def one_value(self, kind, outer):
        """Returns a query with one row: a minimum or maximum, or a row by its key."""
        source = self.joined(1, 0)
        inner = source.columns + (outer if self.chance(0.4) else [])
        where = optional(" WHERE ", self.condition(inner, 0)) if self.chance(0.7) else ""
        if self.chance(0.3) and source.keys:
            value = self.scalar(kind, source.columns, 0)
            by = listed([leaf(k) for k in source.keys], sort="fixed")
            return Node("query", ["SELECT ", value, " FROM ", source.node, where, " ORDER BY ", by, " LIMIT 1"])
        what = self.random.choice(["MAX(", "MIN("] + (["COUNT(", "SUM("] if kind == "n" else []))
        return Node("query", ["SELECT ", what, self.scalar(kind, source.columns, 0), ") FROM ", source.node, where])

    # FROM

    def table_ref(self, depth):
        self.aliases += 1
        alias = f"a{self.aliases}"
        if depth > 0 and self.chance(0.18):
            kinds = [self.random.choice("nnsd") for _ in range(self.random.randint(1, 3))]
            query = self.query(kinds, [], depth - 1) if self.chance(0.8) else self.ordered(self.query(kinds, [], depth - 1), kinds)
            return Source(Node("table", ["(", query, f") {alias}"]), [(f"{alias}.x{i + 1}", k) for i, k in enumerate(kinds)], None)
        if self.ctes and self.chance(0.4):
            name, kinds = self.random.choice(self.ctes)
            return Source(leaf(f"{name} {alias}", "table"), [(f"{alias}.x{i + 1}", k) for i, k in enumerate(kinds)], None)
        table = self.random.choice(self.tables)
        columns = [(f"{alias}.{c.name}", c.kind) for c in table.columns]
        if isinstance(table, View):
            return Source(leaf(f"{table.name} {alias}", "table"), columns, None)
        hint = ""
        if table.keys and self.chance(0.1):
            key = self.random.choice(table.keys)[1].split("KEY ")[1].split(" ")[0]
            hint = optional(self.random.choice([" FORCE", " IGNORE"]) + f" INDEX ({key})")
        return Source(Node("table", [f"{table.name} {alias}", hint]), columns + [(f"{alias}.id", "n")], [f"{alias}.id"])

    def joined(self, count, depth, outer=[]):
        """Returns `count` joined tables, some of them in parentheses."""
        left = self.table_ref(depth)
        while count > 1:
            inside = self.random.randint(2, count - 1) if count > 2 and self.chance(0.25) else 1
            right = self.joined(inside, depth, outer)
            if inside > 1:
                right = Source(Node("table", ["(", right.node, ")"]), right.columns, right.keys, right.hidden)
            count -= inside
            left = self.join(left, right, outer)
        return left

    def join(self, left, right, outer):
        columns, hidden = left.columns + right.columns, left.hidden | right.hidden
        keys = left.keys + right.keys if left.keys and right.keys else None
        if self.chance(0.3) and (merged := self.merged_join(left, right)):
            how, using, hides = merged
            return Source(Node("join", [left.node, Node("optional", [how, right.node, using], optional=True)]),
                          columns, keys, hidden | hides)
        how = self.random.choice([" JOIN "] * 3 + [" LEFT JOIN "] * 3 + [" RIGHT JOIN ", " CROSS JOIN ", " STRAIGHT_JOIN "])
        if self.large and how in (" CROSS JOIN ", " STRAIGHT_JOIN "):
            how = " JOIN "
        on = "" if "CROSS" in how else Node("on", [" ON ", self.on(left, right, columns, outer)])
        return Source(Node("join", [left.node, Node("optional", [how, right.node, on], optional=True)]), columns, keys, hidden)

    def merged_join(self, left, right):
        """Returns NATURAL or USING as the words before and after the right side, and the columns that are hidden then."""
        sides = [left.shown(), right.shown()]
        shared = sorted(set(sides[0]) & set(sides[1]))
        # A name that a side has twice is ambiguous.
        if not shared or any(side.count(name) > 1 for side in sides for name in shared):
            return None
        how = self.random.choice(["JOIN ", "LEFT JOIN ", "RIGHT JOIN "])
        loser = left if how == "RIGHT JOIN " else right
        if self.chance(0.5):
            return f" NATURAL {how}", "", loser.hides(shared)
        names = self.random.sample(shared, min(len(shared), self.random.choice([1, 1, 2])))
        return f" {how}", f" USING ({', '.join(names)})", loser.hides(names)

    def on(self, left, right, columns, outer):
        """Returns equalities between the sides, sometimes several, also on one column, and other conditions."""
        parts = []
        for _ in range(self.random.choice([1, 1, 1, 2, 2, 3])):
            kind = self.random.choice("nnnssd")
            a, b = self.column(kind, left.columns), self.column(kind, right.columns)
            if a and b:
                parts.append(Node("expr", [leaf(a), self.random.choice([" = "] * 9 + [" <=> "]), leaf(b)]))
        if not parts or (self.chance(0.25) and not self.large):
            parts.append(self.condition(columns, self.random.choice([0, 0, 1])))
        return Node("expr", ["(", listed(parts, " AND "), ")"]) if len(parts) > 1 else parts[0]

    def count_of_tables(self, depth):
        if self.large:
            return self.random.choice([1, 1, 1, 2])
        return self.random.choice([1, 1, 2, 2, 3, 3, 4, 5, 6, 8] if depth > 1 else [1, 1, 1, 2, 2, 3])

    def where(self, source, outer, depth):
        if self.chance(0.2):
            return ""
        if outer and depth > 0 and self.chance(0.15):
            return optional(" WHERE ", self.subquery_condition(source.columns + outer * 2, depth - 1))
        columns = source.columns + (outer * 2 if outer and self.chance(0.5) else [])
        parts = [self.condition(columns, min(depth, 2))]
        for _ in range(self.random.choice([0, 0, 1, 2, 3]) if len(source.columns) > 3 else 0):
            kind = self.random.choice("nnsd")
            a, b = self.column(kind, source.columns), self.column(kind, columns)
            if a and b:
                parts.append(Node("expr", [leaf(a), " = ", leaf(b) if self.chance(0.7) else self.literal(kind)]))
        self.random.shuffle(parts)
        return optional(" WHERE ", listed(parts, " AND "))

    # Queries

    def query(self, kinds, outer=[], depth=2, exists=False, top=False):
        if depth > 0 and self.chance(0.12):
            return self.set_operation(kinds, outer, depth)
        source = self.joined(self.count_of_tables(depth), depth, outer)
        where = self.where(source, outer, depth)
        chosen = self.random.random()
        if chosen < 0.22:
            return self.grouped(kinds, source, where, outer, top)
        items = [self.scalar(k, source.columns + (outer if outer and self.chance(0.1) else []), 1) for k in kinds]
        if chosen < 0.34 and source.keys and not exists:
            items = [self.window(source, k) if self.chance(0.6) else item for k, item in zip(kinds, items)]
            if self.chance(0.2):
                return self.named_window(source, items, where, top)
        distinct = optional("DISTINCT ") if self.chance(0.15) else ""
        return Node("query", ["SELECT ", distinct, self.named(items, top), " FROM ", source.node, where])

    def named(self, items, top):
        return listed([Node("item", [item, f" AS x{at + 1}"]) for at, item in enumerate(items)], sort="list" if top else "fixed")

    def filled(self, template, columns, keys=()):
        parts, at = [], 0
        for hole in HOLE.finditer(template):
            parts += [template[at:hole.start()], self.hole(hole.group(1), columns, keys)]
            at = hole.end()
        return Node("expr", parts + [template[at:]])

    def hole(self, kind, columns, keys):
        if kind == "p":
            return optional("PARTITION BY ", self.scalar("a", columns, 0), " ") if self.chance(0.5) else ""
        if kind == "o":
            return Node("over", [self.scalar("a", columns, 0), self.random.choice(["", " DESC"])])
        if kind == "k":
            return listed([leaf(k, "key") for k in keys], sort="fixed")
        if kind in "fr":
            return self.frame("ROWS" if kind == "f" else "RANGE")
        return self.scalar(kind, columns, 0)

    def frame(self, unit):
        if self.chance(0.2):
            return leaf("", "frame")
        bound = lambda: self.random.choice(BOUNDS).format(self.random.choice(FAR if self.chance(0.3) else FAR[:4]))
        if self.chance(0.2):
            return optional(f"{unit} {self.random.choice(BOUNDS[:4]).format(self.random.choice(FAR[:4]))}")
        return optional(f"{unit} BETWEEN {bound()} AND {bound()}")

    def window(self, source, _):
        return self.filled(self.random.choice(WINDOWS), source.columns, source.keys)

    def named_window(self, source, items, where, top):
        """The first item uses a named window, the second one a window based on it."""
        items[0] = self.filled(self.random.choice(["COUNT({a}) OVER w", "SUM({n}) OVER (w {f})", "MAX({s}) OVER w", "LAST_VALUE({a}) OVER (w {f})"]),
                               source.columns, source.keys)
        window = self.filled(" WINDOW w AS ({p}ORDER BY {o}, {k})", source.columns, source.keys)
        return Node("query", ["SELECT ", self.named(items, top), " FROM ", source.node, where, Node("window", [window])])

    def aggregate(self, kind, columns):
        return self.filled(self.random.choice(AGGREGATES[kind]), columns)

    def grouped(self, kinds, source, where, outer, top):
        """Returns a grouped query: some columns are keys and the others aggregates."""
        is_key = [self.chance(0.5) for _ in kinds] if len(kinds) > 1 or self.chance(0.5) else [False]
        items, keys = [], []
        for kind, key in zip(kinds, is_key):
            name = self.column(kind, source.columns) if key else None
            items.append(leaf(name) if name else self.aggregate(kind, source.columns))
            keys += [name] if name and name not in keys else []
        keys += [leaf_ for leaf_ in [self.column("a", source.columns)] if leaf_ not in keys] if self.chance(0.3) else []
        parts = ["SELECT ", self.named(items, top), " FROM ", source.node, where]
        if keys:
            rollup = optional(" WITH ROLLUP") if self.chance(0.15) else ""
            parts.append(Node("group", [" GROUP BY ", listed([leaf(k, "key") for k in keys]), rollup]))
        if keys and self.chance(0.08):
            parts.append(optional(" HAVING ", Node("expr", ["(", leaf(self.random.choice(keys), "key"),
                                                             self.random.choice([" IS NULL", " IS NOT NULL"]), ")"])))
        elif self.chance(0.25):
            kind = self.random.choice("nnsd")
            parts.append(optional(" HAVING ", Node("expr", ["(", self.aggregate(kind, source.columns),
                                                             self.random.choice(COMPARISONS), self.literal(kind), ")"])))
        return Node("query", parts)

    def set_operation(self, kinds, outer, depth):
        parts = [self.branch(kinds, outer, depth - 1)]
        for _ in range(self.random.choice([1, 1, 2, 3])):
            operator = self.random.choice([" UNION ", " UNION ", " UNION ALL ", " UNION ALL ", " EXCEPT ", " INTERSECT "])
            parts.append(Node("optional", [operator, self.branch(kinds, outer, depth - 1)], optional=True))
        return Node("query", parts)

    def branch(self, kinds, outer, depth):
        """Returns one side of a set operation: plain, or in parentheses with an order of its own."""
        query = self.query(kinds, outer, 0)
        if self.chance(0.2):
            return Node("branch", ["(", self.ordered(query, kinds), ")"])
        return query

    def ordered(self, query, kinds, limit=None):
        """Returns the query with a total order, and with or without a limit."""
        by = []
        for at in self.random.sample(range(len(kinds)), len(kinds)):
            direction = self.random.choice(["", "", " DESC"])
            by.append(leaf(f"x{at + 1}{direction}", "key"))
        ties = [f"HEX(x{at + 1})" for at, kind in enumerate(kinds) if kind == "s"]
        # Functions of the result of an aggregate or of a set operation cannot be sorted by.
        if AGGREGATED.search(str(query)) and (ties or "ROLLUP" in str(query)):
            self.aliases += 1
            query = Node("query", ["SELECT * FROM (", query, f") a{self.aliases}"])
        by += [leaf(tie, "key") for tie in ties]
        bound = f" LIMIT {self.random.randint(0, 4)}" if limit or (limit is None and self.chance(0.6)) else ""
        if bound and self.chance(0.25):
            bound += f" OFFSET {self.random.randint(0, 3)}"
        return Node("query", [query, optional(" ORDER BY ", listed(by), optional(bound))])

    # Statements

    def kinds(self, most=4):
        return [self.random.choice("nnnssd") for _ in range(self.random.randint(1, most))]

    def select(self):
        self.ctes = []
        with_ = self.with_() if self.chance(0.15) else ""
        kinds = self.kinds()
        query = self.query(kinds, [], 2, top=True)
        if self.chance(0.08):
            query = Node("query", ["(", self.ordered(query, kinds), ")"])
        if self.chance(0.35):
            query = self.ordered(query, kinds)
        self.ctes = []
        return Node("statement", [with_, query])

    def with_(self):
        parts, recursive = [], False
        for at in range(self.random.choice([1, 1, 2])):
            name, kinds = f"w{at}", self.kinds(3)
            if self.chance(0.35):
                recursive, kinds = True, ["n", self.random.choice("nsd")]
                body = self.recursive(name, kinds)
            else:
                body = self.query(kinds, [], 1)
                body = self.ordered(body, kinds) if self.chance(0.2) else body
            names = ", ".join(f"x{i + 1}" for i in range(len(kinds)))
            parts.append(Node("cte", [f"{name} ({names}) AS (", body, ")"]))
            self.ctes.append((name, kinds))
        return Node("with", ["WITH RECURSIVE " if recursive else "WITH ", listed(parts), " "])

    def recursive(self, name, kinds):
        known, self.ctes = self.ctes, []
        source, self.aliases = self.joined(1, 0), self.aliases + 1
        self.ctes = known
        first = Node("query", ["SELECT ", self.named([leaf("1"), self.scalar(kinds[1], source.columns, 0)], False),
                               " FROM ", source.node])
        step, more = f"r{self.aliases}", self.joined(1, 0)
        columns = more.columns + [(f"{step}.x2", kinds[1])]
        join = optional(" JOIN ", more.node, " ON ", self.on(Source(None, [(f"{step}.x1", "n"), columns[-1]], None), more, columns, []))
        second = Node("query", ["SELECT ", listed([leaf(f"{step}.x1 + 1"), self.scalar(kinds[1], columns, 0)], sort="fixed"),
                                f" FROM {name} {step}", join, f" WHERE {step}.x1 < 4"])
        return Node("query", [first, self.random.choice([" UNION ", " UNION ALL "]), second])

    def view(self, name):
        kinds = self.kinds(3)
        query = self.query(kinds, [], 1)
        if self.chance(0.25):
            query = self.ordered(query, kinds)
        form = self.random.choice(["", "ALGORITHM=MERGE ", "ALGORITHM=TEMPTABLE "])
        return View(name, [Column(f"x{at + 1}", kind, "") for at, kind in enumerate(kinds)], str(query), form)
