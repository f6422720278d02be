"""Random statements of history.py: each changes a copy of the model and lists the errors it may give.

A Change is the statement, the model after it, the errors of which one must come (`fails`), and the errors that
may come (`may`). The model does not predict the latter, on purpose, because MariaDB's reasons are many.
"""

from model import INTS, TEXTS, Column, Foreign, Index, Table, World, literal

ACTIONS = ["RESTRICT", "CASCADE", "CASCADE", "SET NULL"]
LETTERS = "abcdefgh"
# Probability that a key may lead to any table.
AROUND = 0.2
# Errors for an ALGORITHM= or LOCK= that is not possible.
REFUSED = {1845, 1846}
# Errors for an index that a foreign key needs.
NEEDED = {1553, 1833, 1834, 1025}


class Change:
    def __init__(self, sql, world, fails=(), may=(), tables=()):
        self.sql, self.world, self.fails, self.may = sql, world, set(fails), set(may)
        self.tables = list(tables)


class Changes:
    """Makes changes; names are never used twice."""

    def __init__(self, rng):
        self.rng = rng
        self.last = 0
        self.around = AROUND

    def name(self, letter):
        self.last += 1
        return f"{letter}{self.last}"

    def rid(self):
        self.last += 1
        return self.last

    def value(self, column):
        if column.null and self.rng.random() < 0.2:
            return None
        if column.kind == "int":
            return self.rng.randrange(1000) if self.rng.random() < 0.7 else self.rng.randrange(6)
        size = self.rng.choice([0, 1, 3, 12, 30])
        return "".join(self.rng.choice(LETTERS) for _ in range(size))

    def column(self, kind=None):
        kind = kind or self.rng.choice(["int", "int", "text"])
        ty = self.rng.choice(INTS if kind == "int" else TEXTS)
        column = Column(self.name("c"), kind, ty, null=self.rng.random() < 0.6)
        if self.rng.random() < 0.6:
            column.default = self.value(Column("", kind, ty, null=False))
        return column

    def generated(self, table):
        bases = [c.name for c in table.columns if c.kind == "int" and not c.base
                 and c.name not in {f.column for f in table.foreign} | {n for n, _ in table.triggers.values()}]
        base = self.rng.choice(bases)
        return Column(self.name("g"), "int", "BIGINT", base=base, add=self.rng.randrange(9),
                      stored=self.rng.random() < 0.5)

    def place(self, table, untouched):
        return self.rng.choice([None, None, "FIRST"] + untouched)

    def index(self, table, columns, unique=None):
        chosen = self.rng.sample(columns, min(len(columns), self.rng.choice([1, 1, 2, 3])))
        parts = []
        for name in chosen:
            column = table.column(name)
            prefix = column.kind == "text" and (column.ty == "TEXT" or self.rng.random() < 0.3)
            parts.append((name, self.rng.choice([2, 5, 20]) if prefix else None))
        unique = self.rng.random() < 0.25 if unique is None else unique
        return Index(self.name("i"), parts, unique)

    def foreign(self, world, table, column):
        """Returns a key to a table of a lower level; now and then to any table, also to itself, so that keys form cycles."""
        around = self.rng.random() < self.around
        tables = [*world.tables.values(), *([] if table.name in world.tables else [table])]
        parents = [t for t in tables if (around or t.level < table.level) and t.serves("rid")]
        if not parents:
            return None
        parent = self.rng.choice(parents)
        on_delete = self.rng.choice(ACTIONS if parent.level < table.level else ["CASCADE", "SET NULL"])
        return Foreign(self.name("f"), column, parent, on_delete, self.rng.choice(ACTIONS))

    def new_table(self, world, name, level):
        table = Table(name, level)
        for _ in range(self.rng.randrange(1, 5)):
            table.columns.append(self.column())
        if self.rng.random() < 0.4:
            table.columns.append(self.generated(table))
        if self.rng.random() < 0.3:
            table.indexes = [Index(self.name("u"), [("rid", None)], unique=True)]
        for _ in range(self.rng.randrange(3)):
            table.indexes.append(self.index(table, table.names()))
        if self.rng.random() < 0.5:
            column = Column(self.name("c"), "int", "INT")
            key = self.foreign(world, table, column.name)
            if key:
                table.columns.append(column)
                table.foreign.append(key)
        return table

    def create(self, world, level):
        after = world.copy()
        table = self.new_table(after, self.name("t"), level)
        after.tables[table.name] = table
        return Change(f"CREATE TABLE `{table.name}` {table.sql()}", after, tables=[table.name])

    def replace(self, world, name):
        after = world.copy()
        old = after.tables.pop(name)
        referred = world.referred(world.tables[name])
        others = [n for n in after.tables if n != name]
        how = self.rng.choice(["new", "like", "select"]) if others else "new"
        fails = {1451, 1217} if referred else ()
        if how == "new":
            table = self.new_table(after, name, old.level)
            sql = f"CREATE OR REPLACE TABLE `{name}` {table.sql()}"
        else:
            source = after.tables[self.rng.choice(others)]
            table = Table(name, old.level)
            table.columns = [Column(c.name, c.kind, c.ty, c.null, c.default, c.base, c.add, c.stored)
                             for c in source.columns]
            table.indexes = [Index(i.name, list(i.columns), i.unique) for i in source.indexes]
            table.checks = dict(source.checks)
            word = "LIKE"
            if how == "select":
                table.indexes, table.checks, word = [], {}, "AS SELECT * FROM"
                table.rows = [dict(row) for row in source.rows]
                for column in table.columns:
                    column.base = None
            sql = f"CREATE OR REPLACE TABLE `{name}` {word} `{source.name}`"
        after.tables[name] = table
        return Change(sql, after, fails, tables=[name])

    def drop(self, world, name):
        after = world.copy()
        after.tables.pop(name)
        fails = {1451, 1217} if world.referred(world.tables[name]) else ()
        return Change(f"DROP TABLE `{name}`", after, fails)

    def truncate(self, world, name):
        after = world.copy()
        after.tables[name].rows = []
        fails = {1701} if world.referred(world.tables[name]) else ()
        return Change(f"TRUNCATE TABLE `{name}`", after, fails, tables=[name])

    def rename(self, world, name):
        after = world.copy()
        others = [n for n in world.tables if n != name]
        if others and self.rng.random() < 0.6:
            other, between = self.rng.choice(others), self.name("z")
            a, b = after.tables[name], after.tables[other]
            a.name, b.name = other, name
            after.tables[name], after.tables[other] = b, a
            sql = f"RENAME TABLE `{name}` TO `{between}`, `{other}` TO `{name}`, `{between}` TO `{other}`"
            return Change(sql, after, tables=[name, other])
        new = self.name("t")
        table = after.tables.pop(name)
        table.name = new
        after.tables[new] = table
        word = self.rng.choice([f"RENAME TABLE `{name}` TO", f"ALTER TABLE `{name}` RENAME"])
        return Change(f"{word} `{new}`", after, tables=[new])

    def trigger(self, world, name):
        after = world.copy()
        table = after.tables[name]
        if table.triggers and self.rng.random() < 0.5:
            gone = self.rng.choice(list(table.triggers))
            del table.triggers[gone]
            return Change(f"DROP TRIGGER `{gone}`", after, tables=[name])
        columns = [c for c in table.free() if c.kind == "int" and not c.base]
        if not columns:
            return None
        column, trigger, value = self.rng.choice(columns).name, self.name("r"), self.rng.randrange(1000)
        table.triggers[trigger] = (column, value)
        return Change(f"CREATE TRIGGER `{trigger}` BEFORE INSERT ON `{name}` FOR EACH ROW SET NEW.`{column}` = {value}",
                      after, tables=[name])

    def index_statement(self, world, name):
        after = world.copy()
        table = after.tables[name]
        if self.rng.random() < 0.4 and len(table.indexes) > 1:
            index = self.rng.choice([i for i in table.indexes if i.columns[0] != ("rid", None)] or [None])
            if index:
                table.indexes.remove(index)
                word = "`PRIMARY`" if index.name == "PRIMARY" else f"`{index.name}`"
                return Change(f"DROP INDEX {word} ON `{name}`", after, may=NEEDED, tables=[name])
        index = self.index(table, table.names())
        table.indexes.append(index)
        fails = {1062} if table.duplicate(index) else ()
        sql = f"CREATE {'UNIQUE ' if index.unique else ''}INDEX `{index.name}` ON `{name}` ({', '.join(index.parts())})"
        return Change(sql, after, fails, tables=[name])

    def alter(self, world, name, simple=False):
        return Alter(self, world, name).make(simple)


class Alter:
    """One ALTER TABLE with several actions; no two actions affect the same column."""

    def __init__(self, changes, world, name):
        self.changes, self.rng = changes, changes.rng
        self.world = world.copy()
        self.name = name
        self.table = self.world.tables[name]
        self.touched, self.parts, self.placed = set(), [], []
        self.fails, self.may, self.checks = set(), set(), []
        self.before = self.table.names()

    def make(self, simple):
        kinds = [self.add_column, self.add_column, self.drop_column, self.change_column, self.change_column,
                 self.rename_column, self.set_default, self.add_index, self.add_index, self.drop_index,
                 self.rename_index, self.primary, self.add_foreign, self.add_foreign, self.add_foreign_column,
                 self.drop_foreign, self.add_check, self.drop_check, self.other]
        if simple:
            kinds = [self.add_column, self.drop_column, self.set_default, self.add_index, self.drop_index, self.other]
        for _ in range(self.rng.choice([1, 1, 2, 3, 5])):
            self.rng.choice(kinds)()
        if not self.parts:
            self.parts.append("FORCE")
        for column, place in self.placed:
            self.table.move(column, place)
        for check in self.checks:
            self.fails |= check()
        if self.rng.random() < 0.2:
            self.parts.append("ALGORITHM=" + self.rng.choice(["INSTANT", "NOCOPY", "INPLACE", "COPY"]))
            self.may |= REFUSED
        if self.rng.random() < 0.15:
            self.parts.append("LOCK=" + self.rng.choice(["NONE", "SHARED", "EXCLUSIVE"]))
            self.may |= REFUSED
        if len(self.fails) > 0:
            # The model does not predict the first error.
            self.may |= NEEDED
        sql = f"ALTER TABLE `{self.name}` " + ", ".join(self.parts)
        return Change(sql, self.world, self.fails, self.may, [self.name])

    def where(self, column):
        """Returns a position for a column, as SQL; it does not refer to columns that the statement changes."""
        landmarks = [n for n in self.before if n in self.table.names() and n not in self.touched and n != column.name]
        place = self.rng.choice([None, None, None, "FIRST"] + landmarks)
        if place is None:
            return ""
        self.touched.add(place)
        self.placed.append((column, place))
        return " FIRST" if place == "FIRST" else f" AFTER `{place}`"

    def free(self, indexed=True):
        triggers = {name for name, _ in self.table.triggers.values()}
        return [c for c in self.table.free(indexed) if c.name not in self.touched | triggers and c.name in self.before]

    def add_column(self):
        column = self.changes.column() if self.rng.random() < 0.75 else self.changes.generated(self.table)
        if column.base and (column.base in self.touched or column.base not in self.before):
            return
        if column.base:
            self.touched.add(column.base)
        where = self.where(column)
        self.touched.add(column.name)
        self.table.add_column(column)
        self.parts.append(f"ADD COLUMN {column.sql()}{where}")

    def drop_column(self):
        unique = {n for i in self.table.indexes if i.unique for n, _ in i.columns}
        free = [c for c in self.free() if c.name not in unique]
        if not free or len(self.table.columns) < 3:
            return
        column = self.rng.choice(free)
        self.touched.add(column.name)
        self.table.drop_column(column.name)
        self.parts.append(f"DROP COLUMN `{column.name}`")
        self.may |= NEEDED

    def change_column(self):
        free = [c for c in self.free() if not c.base]
        if not free:
            return
        old = self.rng.choice(free)
        self.touched.add(old.name)
        indexed = any(n == old.name for i in self.table.indexes for n, _ in i.columns)
        key = any(n == old.name for i in self.table.indexes if i.name == "PRIMARY" for n, _ in i.columns)
        types = INTS if old.kind == "int" else [t for t in TEXTS if t != "TEXT" or not indexed]
        new = Column(old.name, old.kind, self.rng.choice(types + [old.ty] * 3), old.null, old.default)
        if self.rng.random() < 0.3 and not key:
            new.null = not new.null
            if old.null and any(row[old.name] is None for row in self.table.rows):
                self.fails.add(1265)
        verb = f"MODIFY COLUMN {new.sql()}"
        if self.rng.random() < 0.3:
            new.name = self.changes.name("c")
            verb = f"CHANGE COLUMN `{old.name}` {new.sql()}"
        self.touched.add(new.name)
        where = self.where(new)
        self.table.set_column(old.name, new)
        self.parts.append(verb + where)

    def rename_column(self):
        free = [c for c in self.free()]
        if not free:
            return
        old = self.rng.choice(free)
        new = Column(self.changes.name("c"), old.kind, old.ty, old.null, old.default, old.base, old.add, old.stored)
        self.touched |= {old.name, new.name}
        self.table.set_column(old.name, new)
        self.parts.append(f"RENAME COLUMN `{old.name}` TO `{new.name}`")

    def set_default(self):
        free = [c for c in self.free() if not c.base]
        if not free:
            return
        column = self.rng.choice(free)
        self.touched.add(column.name)
        column.default = self.changes.value(Column("", column.kind, column.ty, null=False))
        if column.ty != "TEXT":
            self.parts.append(f"ALTER COLUMN `{column.name}` SET DEFAULT {literal(column.default)}")
        else:
            self.parts.append(f"ALTER COLUMN `{column.name}` SET DEFAULT ({literal(column.default)})")

    def add_index(self):
        columns = [c.name for c in self.table.columns if c.name not in self.touched]
        if not columns:
            return
        index = self.changes.index(self.table, columns)
        self.touched |= {n for n, _ in index.columns}
        self.table.indexes.append(index)
        self.checks.append(lambda: {1062} if self.table.duplicate(index) else set())
        self.parts.append("ADD " + index.sql())

    def drop_index(self):
        keep = [i for i in self.table.indexes if i.columns[0] != ("rid", None) and i.name != "PRIMARY"]
        keep = [i for i in keep if not {n for n, _ in i.columns} & self.touched]
        if not keep:
            return
        index = self.rng.choice(keep)
        self.touched |= {n for n, _ in index.columns}
        self.table.indexes.remove(index)
        self.parts.append(f"DROP INDEX `{index.name}`")
        self.may |= NEEDED

    def rename_index(self):
        found = [i for i in self.table.indexes if i.name != "PRIMARY"
                 and not {n for n, _ in i.columns} & self.touched]
        if not found:
            return
        index, name = self.rng.choice(found), self.changes.name("i")
        self.touched |= {n for n, _ in index.columns}
        self.parts.append(f"RENAME INDEX `{index.name}` TO `{name}`")
        index.name = name

    def primary(self):
        """Drops the primary key, adds one, or replaces it."""
        if "PRIMARY" in self.touched or "rid" in self.touched:
            return
        has = [i for i in self.table.indexes if i.name == "PRIMARY"]
        columns = [c.name for c in self.table.columns
                   if not c.null and not c.base and c.name not in self.touched and c.ty != "TEXT"]
        self.touched |= {"PRIMARY", "rid"} | set(columns)
        if has:
            self.table.indexes.remove(has[0])
            self.parts.append("DROP PRIMARY KEY")
            if not self.table.serves("rid"):
                index = Index(self.changes.name("u"), [("rid", None)], unique=True)
                self.table.indexes.append(index)
                self.parts.append("ADD " + index.sql())
            if self.rng.random() < 0.3:
                self.may |= NEEDED
                return
        chosen = self.rng.sample(columns, min(len(columns), self.rng.choice([1, 2])))
        if not chosen or self.rng.random() < 0.5:
            chosen = ["rid"]
        index = Index("PRIMARY", [(n, None) for n in chosen], unique=True)
        self.table.indexes.append(index)
        self.checks.append(lambda: {1062} if self.table.duplicate(index) else set())
        self.parts.append("ADD " + index.sql())
        self.may |= NEEDED

    def add_foreign(self):
        generated = {c.base for c in self.table.columns if c.base}
        triggers = {name for name, _ in self.table.triggers.values()}
        # If a column has two keys, the one made first acts; the model does not know which one this is.
        keyed = {f.column for f in self.table.foreign}
        used = self.touched | {"rid"} | generated | triggers | keyed | set(self.table.checks.values())
        columns = [c for c in self.table.columns
                   if c.ty == "INT" and c.null and not c.base and c.name not in used]
        if columns:
            self.foreign_over(self.rng.choice(columns))

    def foreign_over(self, column):
        key = self.changes.foreign(self.world, self.table, column.name)
        primary = {n for i in self.table.indexes if i.name == "PRIMARY" for n, _ in i.columns}
        if not key or column.name in primary or key.parent is self.table and "rid" in self.touched:
            return
        self.touched.add(column.name)
        self.table.foreign.append(key)
        self.parts.append("ADD " + key.sql())

        def check():
            values = {row[column.name] for row in self.table.rows} - {None}
            return {1452} if values - key.parent.rids() else set()
        self.checks.append(check)

    def add_foreign_column(self):
        column = Column(self.changes.name("c"), "int", "INT")
        if self.rng.random() < 0.3:
            column.default = self.rng.choice([*self.rng.choice(list(self.world.tables.values())).rids(), 5])
        where = self.where(column)
        self.table.add_column(column)
        self.parts.append(f"ADD COLUMN {column.sql()}{where}")
        self.foreign_over(column)

    def drop_foreign(self):
        keys = [f for f in self.table.foreign if f.column not in self.touched]
        if not keys:
            return
        key = self.rng.choice(keys)
        self.touched.add(key.column)
        self.table.foreign.remove(key)
        self.parts.append(f"DROP FOREIGN KEY `{key.name}`")

    def add_check(self):
        free = [c for c in self.free() if c.kind == "int" and not c.base]
        if not free:
            return
        column, name = self.rng.choice(free), self.changes.name("k")
        self.touched.add(column.name)
        self.table.checks[name] = column.name
        self.parts.append(f"ADD CONSTRAINT `{name}` CHECK (`{column.name}` > -1000000)")

    def drop_check(self):
        names = [n for n, column in self.table.checks.items() if column not in self.touched]
        if not names:
            return
        name = self.rng.choice(names)
        self.touched.add(self.table.checks.pop(name))
        self.parts.append(f"DROP CONSTRAINT `{name}`")

    def other(self):
        self.parts.append(self.rng.choice([
            "FORCE", f"COMMENT='{self.changes.name('x')}'", "ENGINE=InnoDB", "ROW_FORMAT=DYNAMIC",
            "CONVERT TO CHARACTER SET utf8mb4", "AUTO_INCREMENT=7"]))


__all__ = ["Change", "Changes", "World"]
