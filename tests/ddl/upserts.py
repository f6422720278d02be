"""REPLACE and INSERT ... ON DUPLICATE KEY UPDATE for history.py: the statement, and its effect on a model of the tables."""

from model import literal


def conflicts(table, row):
    """Returns the rows that have one of the row's unique keys."""
    found = []
    for index in (i for i in table.indexes if i.unique):
        key = index.key(row)
        found += [other for other in table.rows if key is not None and index.key(other) == key and other not in found]
    return found


# Error for a value for a generated column; RENAME can bring such a column to this name.
IGNORED = {1906}
MISSING = {1364, 1048} | IGNORED


def prepared(table, given):
    """Returns the row to insert, or `None` if a column lacks a value or must not have one."""
    if any([table.column_or_error(column).base for column in given]):
        return None
    row = table.new_row({**given, **dict(table.triggers.values())})
    missing = any(row[c.name] is None and not c.null and not c.base for c in table.columns)
    return None if missing else row


def replaced(state, name, rows):
    table = state.tables[name]
    for given in rows:
        row = prepared(table, given)
        if row is None:
            return MISSING
        if not state.delete(table, {other["rid"] for other in conflicts(table, row)}):
            return {1451, 1062}
        table.rows.append(row)
        if not state.has_parent(table, row):
            return {1452, 1451}
    return None


def upserted(state, name, given, column, value):
    table = state.tables[name]
    row = prepared(table, given)
    if row is None:
        return MISSING
    found = conflicts(table, row)
    row = found[0] if found else row
    if found:
        if value is None and not table.column_or_error(column).null:
            return {1048}
        row[column] = value
        table.compute(row)
    else:
        table.rows.append(row)
    if table.duplicates():
        return {1062, 1452}
    return None if state.has_parent(table, row) else {1452, 1062}


def row_of(history, table):
    """Returns values for a new row, often with an existing rid."""
    changes, rng = history.changes, history.rng
    row = {c.name: changes.value(c) for c in table.columns if not c.base}
    # The model identifies rows by their rid.
    alone = any(index.unique and index.columns == [("rid", None)] for index in table.indexes)
    row["rid"] = rng.choice(sorted(table.rids())) if alone and table.rows and rng.random() < 0.6 else changes.rid()
    for key in table.foreign:
        value = rng.choice([*sorted(key.parent.rids()), None])
        # Whether a row may refer to itself depends on the order of indexes.
        row[key.column] = None if key.parent is table and value == row["rid"] else value
    return row


def listed(rows):
    columns = ", ".join(f"`{name}`" for name in rows[0])
    return f"({columns}) VALUES " + ", ".join("(" + ", ".join(map(literal, row.values())) + ")" for row in rows)


def replace(history, world, name):
    table = world.tables[name]
    rows = [row_of(history, table) for _ in range(history.rng.choice([1, 1, 2]))]
    return f"REPLACE INTO `{name}` {listed(rows)}", lambda state: replaced(state, name, rows)


def upsert(history, world, name):
    table = world.tables[name]
    row, keys = row_of(history, table), {f.column for f in table.foreign}
    columns = [c for c in table.columns if not c.base and c.name not in keys | {"rid"}]
    shown = prepared(table, row)
    # With two conflicting rows, the order of keys decides which one is changed.
    if not columns or shown is None or len(conflicts(table, shown)) > 1:
        return history.insert(world, name)
    column = history.rng.choice(columns)
    value = history.changes.value(column)
    sql = f"INSERT INTO `{name}` {listed([row])} ON DUPLICATE KEY UPDATE `{column.name}` = {literal(value)}"
    return sql, lambda state: upserted(state, name, row, column.name, value)
