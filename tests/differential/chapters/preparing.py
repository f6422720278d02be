"""Prepared statements that are executed several times with values of different types."""

from chapters.pen import statement
from tree import listed
from ways import quoted, with_names

VALUES = ["1", "2", "0", "'1'", "'a'", "''", "NULL", "1.5", "'1.5'", "1e0", "-1", "DATE'2024-01-02'", "'2024-01-02'", "TIMESTAMP'2024-01-02 12:00:00'",
          "18446744073709551615", "x'61'", "TRUE", "20240102", "'B'", "2.50"]


def executed(pen, node):
    marked, literals = with_names(node, lambda _: "?")
    found = [statement(f"PREPARE ps FROM {quoted(str(marked))}")]
    names = ", ".join(f"@p{at}" for at in range(len(literals)))
    for _ in range(4):
        if literals:
            found.append(statement("SET ", ", ".join(f"@p{at} = {pen.random.choice(VALUES)}" for at in range(len(literals)))))
        found.append(statement("EXECUTE ps" + (f" USING {names}" if literals else "")))
    return found


def queries(pen):
    return executed(pen, pen.relations.select())


def lookups(pen):
    table = pen.table()
    columns = pen.columns(table)
    parts = [pen.relations.simple_condition(columns, 0) for _ in range(pen.random.randint(1, 2))]
    return executed(pen, statement(f"SELECT * FROM {table.name} WHERE ", listed(parts, " AND "), " ORDER BY id"))


def computed(pen):
    chosen = [pen.relations.computed(kind, [], 0) for kind in "nsd"] + [pen.relations.literal("n"), pen.relations.literal("s")]
    return executed(pen, statement("SELECT ", listed(pen.some(chosen, 4))))


def stored(pen):
    table = pen.table()
    column = pen.random.choice(table.columns)
    own = pen.columns(table)
    change = pen.one(statement(f"UPDATE {table.name} SET {column.name} = ", pen.relations.literal(column.kind), " WHERE ", pen.relations.simple_condition(own, 0)),
                     statement(f"REPLACE INTO {table.name} (id, {column.name}) VALUES (7, ", pen.relations.literal(column.kind), ")"),
                     statement(f"DELETE FROM {table.name} WHERE ", pen.relations.simple_condition(own, 0)))
    found = []
    for made in executed(pen, change):
        found += [made, statement(f"SELECT * FROM {table.name} ORDER BY id")] if str(made).startswith("EXECUTE") else [made]
    return found


CHAPTERS = [queries, lookups, computed, stored]
