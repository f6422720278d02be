"""The expected tables after a history of definitions and rows: the model of history.py.

Columns are of two kinds, numbers and texts, and change their types only within a kind, so that the model's values never
depend on a conversion. Must not ask the server anything.
"""

import copy

# Each type can hold every row id of a long history, because foreign keys refer to row ids.
INTS = ["MEDIUMINT", "INT", "BIGINT", "DECIMAL(12,0)"]
TEXTS = ["VARCHAR(40)", "VARCHAR(80)", "VARCHAR(300)", "CHAR(40)", "TEXT", "VARBINARY(60)"]


class Column:
    def __init__(self, name, kind, ty, null=True, default=None, base=None, add=0, stored=False):
        self.name, self.kind, self.ty, self.null, self.default = name, kind, ty, null, default
        # A generated column: `base` + `add`.
        self.base, self.add, self.stored = base, add, stored

    def sql(self):
        if self.base:
            return f"`{self.name}` {self.ty} AS (`{self.base}` + {self.add}) {'STORED' if self.stored else 'VIRTUAL'}"
        out = f"`{self.name}` {self.ty}" + ("" if self.null else " NOT NULL")
        if self.default is not None:
            out += f" DEFAULT {literal(self.default)}"
        return out

    def fill(self):
        """Returns the value for rows older than the column."""
        if self.default is not None or self.null:
            return self.default
        return 0 if self.kind == "int" else ""


def literal(value):
    return "NULL" if value is None else str(value) if isinstance(value, int) else f"'{value}'"


class Index:
    def __init__(self, name, columns, unique=False):
        self.name, self.columns, self.unique = name, columns, unique

    def sql(self):
        kind = "PRIMARY KEY" if self.name == "PRIMARY" else f"{'UNIQUE ' if self.unique else ''}KEY `{self.name}`"
        return f"{kind} ({', '.join(self.parts())})"

    def parts(self):
        return [f"`{name}`" + (f"({length})" if length else "") for name, length in self.columns]

    def key(self, row):
        values = [row[name] for name, _ in self.columns]
        return None if any(v is None for v in values) else tuple(
            v[:length] if length else v for v, (_, length) in zip(values, self.columns))


class Foreign:
    """`column` of a table refers to `rid` of `parent`."""

    def __init__(self, name, column, parent, on_delete, on_update):
        self.name, self.column, self.parent = name, column, parent
        self.on_delete, self.on_update = on_delete, on_update

    def sql(self, parent=None):
        return (f"CONSTRAINT `{self.name}` FOREIGN KEY (`{self.column}`) REFERENCES `{(parent or self.parent).name}` "
                f"(`rid`) ON DELETE {self.on_delete} ON UPDATE {self.on_update}")


class Table:
    def __init__(self, name, level):
        self.name, self.level = name, level
        self.columns = [Column("rid", "int", "INT", null=False)]
        self.indexes = [Index("PRIMARY", [("rid", None)], unique=True)]
        self.foreign, self.checks, self.rows = [], {}, []
        self.triggers = {}
        self.engine = "InnoDB"

    def column(self, name):
        return next(c for c in self.columns if c.name == name)

    def column_or_error(self, name):
        """Returns the column, or raises KeyError."""
        return {c.name: c for c in self.columns}[name]

    def names(self):
        return [c.name for c in self.columns]

    def used(self):
        """Returns columns that anything but an index depends on."""
        return ({"rid"} | {name for name, _ in self.triggers.values()} | {c.base for c in self.columns if c.base} | {f.column for f in self.foreign}
                | set(self.checks.values()))

    def free(self, indexed=True):
        """Returns columns that may be dropped, changed and renamed."""
        used = self.used()
        if not indexed:
            used |= {name for index in self.indexes for name, _ in index.columns}
        return [c for c in self.columns if c.name not in used]

    def compute(self, row):
        for c in self.columns:
            if c.base:
                row[c.name] = None if row[c.base] is None else row[c.base] + c.add
        return row

    def new_row(self, given):
        row = {c.name: given.get(c.name, c.default) for c in self.columns}
        return self.compute(row)

    def duplicate(self, index, rows=None):
        keys = [k for k in map(index.key, self.rows if rows is None else rows) if k is not None]
        return index.unique and len(keys) != len(set(keys))

    def duplicates(self, rows=None):
        return any(self.duplicate(index, rows) for index in self.indexes)

    def rids(self):
        return {row["rid"] for row in self.rows}

    def serves(self, column, without=()):
        """Returns whether an index begins with a column, in its full length."""
        return any(i.columns[0] == (column, None) for i in self.indexes if i.name not in without)

    def sql(self, options=""):
        parts = [c.sql() for c in self.columns] + [i.sql() for i in self.indexes] + [f.sql() for f in self.foreign]
        parts += [f"CONSTRAINT `{n}` CHECK (`{c}` > -1000000)" for n, c in self.checks.items()]
        return f"({', '.join(parts)}) {options}"

    def set_column(self, old, new, place=None):
        """Replaces the column called `old` with `new`, at the position `place`: "FIRST" or a name."""
        at = self.names().index(old)
        self.columns[at] = new
        if old != new.name:
            for row in self.rows:
                row[new.name] = row.pop(old)
            for index in self.indexes:
                index.columns = [(new.name if n == old else n, length) for n, length in index.columns]
        self.move(new, place)

    def add_column(self, new, place=None):
        self.columns.append(new)
        self.move(new, place)
        for row in self.rows:
            row[new.name] = new.fill()
            self.compute(row)

    def move(self, column, place):
        if place is None:
            return
        self.columns.remove(column)
        at = 0 if place == "FIRST" else self.names().index(place) + 1
        self.columns.insert(at, column)

    def drop_column(self, name):
        self.columns.remove(self.column(name))
        for row in self.rows:
            del row[name]
        for index in self.indexes:
            index.columns = [part for part in index.columns if part[0] != name]
        self.indexes = [index for index in self.indexes if index.columns]

    def find_index(self, name):
        return next(i for i in self.indexes if i.name == name)


class World:
    """All tables by name."""

    def __init__(self):
        self.tables = {}

    def children(self, parent):
        return [(t, f) for t in self.tables.values() for f in t.foreign if f.parent is parent]

    def referred(self, table):
        """Returns whether foreign keys of other tables lead to it."""
        return any(child is not table for child, _ in self.children(table))

    def is_tangled(self, table):
        """Returns whether two ways of foreign keys lead from it to one table: then errors depend on the order of the keys."""
        seen, queue = [table], [table]
        while queue:
            children = [child for child, _ in self.children(queue.pop())]
            if any(child in seen for child in children) or len(children) != len(set(children)):
                return True
            seen += children
            queue += children
        return False

    def copy(self):
        return copy.deepcopy(self)

    def has_parent(self, table, row):
        return all(row[f.column] is None or row[f.column] in f.parent.rids() for f in table.foreign)

    def delete(self, table, rids):
        """Deletes rows and applies ON DELETE; returns False if a child's row prevents that."""
        if not rids:
            return True
        table.rows = [row for row in table.rows if row["rid"] not in rids]
        for child, key in self.children(table):
            found = [row for row in child.rows if row[key.column] in rids]
            if found and key.on_delete == "RESTRICT":
                return False
            if key.on_delete == "CASCADE" and not self.delete(child, {row["rid"] for row in found}):
                return False
            if key.on_delete == "SET NULL":
                for row in found:
                    row[key.column] = None
                    child.compute(row)
        return not any(t.duplicates() for t, _ in self.children(table))

    def renumber(self, table, old, new):
        """Gives a row a new, unused rid and applies ON UPDATE; returns False if a child's row prevents that."""
        for row in table.rows:
            if row["rid"] == old:
                row["rid"] = new
                table.compute(row)
        for child, key in self.children(table):
            found = [row for row in child.rows if row[key.column] == old]
            # A key within one table refuses every update that would cascade.
            if found and (key.on_update == "RESTRICT" or child is table):
                return False
            for row in found:
                row[key.column] = new if key.on_update == "CASCADE" else None
                child.compute(row)
        tables = [table] + [t for t, _ in self.children(table)]
        return not any(t.duplicates() for t in tables)
