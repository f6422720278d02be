"""Report queries: sorted joins, chains of UNION, windows with aliases, GROUP_CONCAT, names in any letter case, user variables."""

import re

from chapters.pen import items, statement
from tree import Node, leaf, listed, optional

# Errors for aliases and columns only: a missing table usually means another mistake in the statement.
NAME = re.compile(r"\b(?:a\d+|[cx]\d|id)\b")
WINDOWS = ["ROW_NUMBER() OVER (PARTITION BY {a} ORDER BY {o})", "RANK() OVER (ORDER BY {a} DESC)",
           "DENSE_RANK() OVER (PARTITION BY {a} ORDER BY {a})", "SUM({n}) OVER (PARTITION BY {a} ORDER BY {o})",
           "COUNT(*) OVER (PARTITION BY {a})", "LAG({a}) OVER (ORDER BY {o})", "AVG({n}) OVER ()",
           "MAX({a}) OVER (PARTITION BY {a} ORDER BY {o} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"]


def total_order(pen, source, most=3):
    """Returns some columns in any direction, then the keys of all tables."""
    chosen = [leaf(f"{name}{pen.one('', ' DESC', ' ASC')}", "key") for name, _ in pen.some(source.columns, most)]
    return listed(chosen + [leaf(key, "key") for key in source.keys])


def limit(pen):
    return optional(pen.one(f" LIMIT {pen.random.randint(0, 5)}", f" LIMIT {pen.random.randint(0, 3)}, {pen.random.randint(1, 4)}"))


def sorted_joins(pen):
    found = []
    for _ in range(4):
        source = pen.relations.joined(pen.random.randint(1, 4), 0)
        if not source.keys:
            continue
        chosen = [pen.mixed(source.columns) for _ in range(pen.random.randint(1, 3))]
        query = ["SELECT ", listed(chosen), " FROM ", source.node, pen.where(source.columns), " ORDER BY ", total_order(pen, source)]
        found.append(statement(*query, limit(pen) if pen.chance(0.7) else ""))
    return found


def branch(pen, width):
    source = pen.relations.joined(pen.random.randint(1, 2), 0)
    if pen.chance(0.15):
        return Node("branch", ["SELECT ", listed([pen.literal(pen.one("n", "s", "d")) for _ in range(width)], sort="fixed")])
    chosen = listed([pen.mixed(source.columns) for _ in range(width)], sort="fixed")
    return Node("branch", ["SELECT ", chosen, " FROM ", source.node, pen.where(source.columns, 0)])


def unions(pen):
    found = []
    for _ in range(3):
        width = pen.random.randint(1, 3)
        parts = [branch(pen, width)]
        for _ in range(pen.random.randint(1, 3)):
            parts.append(optional(pen.one(" UNION ", " UNION ALL "), branch(pen, width)))
        found.append(statement(*parts))
    return found


def windows(pen):
    found = []
    for _ in range(3):
        source = pen.relations.joined(pen.random.randint(1, 2), 0)
        if not source.keys:
            continue
        order = ", ".join(source.keys)
        chosen = [pen.filled(pen.random.choice(WINDOWS).replace("{o}", "{a}, " + order), source.columns) for _ in range(2)]
        plain = leaf(pen.random.choice(source.columns)[0])
        query = Node("query", ["SELECT ", items([plain] + chosen, ["k", "w1", "w2"]), " FROM ", source.node, pen.where(source.columns, 0)])
        if pen.chance(0.4):
            found.append(statement("SELECT * FROM (", query, ") q WHERE ", pen.one("w1 <= 2", "w1 = w2", "w2 IS NOT NULL AND k IS NOT NULL", "k > w1")))
        else:
            found.append(statement(query, " ORDER BY ", pen.one("w1, k, w2, ", "w2 DESC, ", "k, w1 DESC, "), order, limit(pen)))
    return found


def concatenations(pen):
    found = []
    for _ in range(3):
        source = pen.relations.joined(pen.random.randint(1, 2), 0)
        if not source.keys:
            continue
        distinct = pen.chance(0.3)
        what = [pen.mixed(source.columns) for _ in range(1 if distinct else pen.random.randint(1, 2))]
        by = listed([leaf("1" + pen.one("", " DESC"), "key")]) if distinct else total_order(pen, source)
        separator = pen.one("", " SEPARATOR '; '", " SEPARATOR ''")
        few = optional(pen.one(" LIMIT 2", " LIMIT 1, 2")) if pen.chance(0.2) else ""
        chosen = Node("expr", ["HEX(" if distinct else "(", "GROUP_CONCAT(", "DISTINCT " if distinct else "", listed(what), " ORDER BY ", by, separator, few, "))"])
        group = leaf(pen.random.choice(source.columns)[0])
        grouped = optional(" GROUP BY ", group, optional(" ORDER BY ", group)) if pen.chance(0.7) else ""
        found.append(statement("SELECT ", chosen, " AS g, COUNT(*) FROM ", source.node, pen.where(source.columns), grouped))
    return found


def recased(pen, node):
    """Returns the same text with some names in capitals."""
    change = lambda text: NAME.sub(lambda name: name[0].upper() if pen.chance(0.15) else name[0], text)
    node = node.copy()
    for part in [node, *node.below()]:
        part.parts = [change(p) if isinstance(p, str) and "'" not in p else p for p in part.parts]
    return node


def cases_of_names(pen):
    return [recased(pen, pen.relations.select()) for _ in range(3)]


def user_variables(pen):
    names = ["@u1", "@u2", "@u3"]
    found = []
    own = [(name, kind) for name, kind in zip(names, "nsn")]
    for _ in range(3):
        table = pen.table()
        columns = pen.columns(table)
        kind = pen.random.randrange(4)
        if kind == 0:
            sets = [Node("set", [f"{pen.random.choice(names)} = ", pen.mixed(own)]) for _ in range(pen.random.randint(1, 3))]
            found.append(statement("SET ", listed(sets)))
        elif kind == 1:
            chosen = [Node("item", [f"{name} := ", pen.mixed(columns + [(name, "n")])]) for name in pen.some(names, 2)]
            found.append(statement("SELECT ", listed(chosen), f" FROM {table.name} ORDER BY id"))
        elif kind == 2:
            found.append(statement("SELECT ", items([pen.mixed(columns) for _ in range(2)], ["x1", "x2"]), f" FROM {table.name}", pen.where(columns),
                                   " ORDER BY id LIMIT 1 INTO @u1, @u2"))
        else:
            found.append(statement(f"SELECT @u1 := {pen.one('IFNULL(@u1, 0) + 1', 'CONCAT(IFNULL(@u2, 0), id)', '@u2')}, @u2 := id, @u1 FROM {table.name} ORDER BY id"))
        found.append(statement("SELECT @u1, @u2, @u3"))
    return found


CHAPTERS = [sorted_joins, unions, windows, concatenations, cases_of_names, user_variables]
