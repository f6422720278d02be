"""Random changes of related tables: of one table and of several, from values and from queries.

No result depends on the order in which rows are read: where it could, the statement has an ORDER BY.
"""

from related import View, some_value
from tree import Node, leaf, listed, optional


class Changes:
    def __init__(self, relations):
        self.relations, self.random = relations, relations.random
        self.tables = [t for t in relations.tables if not isinstance(t, View)]

    def chance(self, probability):
        return self.random.random() < probability

    def change(self):
        self.relations.ctes = []
        table = self.random.choice(self.tables)
        how = self.random.choice([self.insert, self.insert_query, self.update, self.update, self.delete,
                                  self.update_joined, self.delete_joined])
        return how(table)

    # Names of the table's columns in a statement on this table only.
    def own(self, table, prefix=""):
        return [(f"{prefix}{c.name}", c.kind) for c in table.columns] + [(f"{prefix}id", "n")]

    def unique(self, table):
        return {name for names, key in table.keys if key.startswith("UNIQUE") for name in names}

    def insert(self, table):
        verb = self.random.choice(["INSERT", "INSERT IGNORE", "INSERT", "REPLACE"])
        columns = self.random.sample(table.columns, self.random.randint(1, len(table.columns)))
        rows = []
        for _ in range(self.random.choice([1, 1, 2, 3])):
            values = [leaf(str(self.random.randint(1, 10)))] + [self.value(c) for c in columns]
            rows.append(Node("row", ["(", listed(values, sort="fixed"), ")"]))
        names = ", ".join(["id"] + [c.name for c in columns])
        again = self.again(table, columns) if verb != "REPLACE" and self.chance(0.5) else ""
        return Node("statement", [f"{verb} INTO {table.name} ({names}) VALUES ", listed(rows), again, self.returning(table)])

    def value(self, column):
        if self.chance(0.2):
            return leaf("DEFAULT" if self.chance(0.5) else "NULL")
        if self.chance(0.6):
            return self.relations.literal(column.kind)
        return leaf(some_value(self.random, column))

    def again(self, table, columns):
        sets = []
        for column in self.random.sample(table.columns, self.random.randint(1, min(2, len(table.columns)))):
            form = self.random.randrange(3)
            given = self.random.choice(columns)
            value = leaf(f"VALUES({given.name})") if form == 0 and given.kind == column.kind else (
                self.relations.literal(column.kind) if form == 1 else
                self.relations.scalar(column.kind, self.own(table, f"{table.name}."), 0))
            sets.append(Node("set", [f"{column.name} = ", value]))
        return optional(" ON DUPLICATE KEY UPDATE ", listed(sets))

    def returning(self, table):
        if not self.chance(0.3):
            return ""
        columns = self.own(table)
        items = [leaf(name) for name, _ in columns] if self.chance(0.5) else [
            self.relations.scalar(self.random.choice("nsd"), columns, 1) for _ in range(2)]
        return optional(" RETURNING ", listed(items))

    def insert_query(self, table):
        verb = self.random.choice(["INSERT", "INSERT IGNORE", "REPLACE"])
        columns = self.random.sample(table.columns, self.random.randint(1, min(3, len(table.columns))))
        kinds = ["n"] + [c.kind for c in columns]
        query = self.relations.ordered(self.relations.query(kinds, [], 1), kinds)
        names = ", ".join(["id"] + [c.name for c in columns])
        again = self.again(table, columns) if verb != "REPLACE" and self.chance(0.4) else ""
        return Node("statement", [f"{verb} INTO {table.name} ({names}) ", query, again, self.returning(table)])

    def sets(self, columns, chosen):
        return listed([Node("set", [f"{prefix}{c.name} = ", self.relations.scalar(c.kind, columns, 1)]) for prefix, c in chosen])

    def bounded(self, certain):
        """Returns ORDER BY the key, with a limit or without."""
        if not certain and self.chance(0.5):
            return ""
        order = self.random.choice([" ORDER BY id", " ORDER BY id DESC"])
        return Node("order", [order, optional(f" LIMIT {self.random.randint(0, 4)}") if self.chance(0.5) else ""])

    def update(self, table):
        ignore = optional("IGNORE ") if self.chance(0.3) else ""
        chosen = self.random.sample(table.columns, self.random.randint(1, min(2, len(table.columns))))
        own = self.own(table, f"{table.name}.") if self.chance(0.5) else self.own(table)
        certain = bool(self.unique(table) & {c.name for c in chosen})
        where = optional(" WHERE ", self.relations.condition(own, 2)) if self.chance(0.9) else ""
        return Node("statement", ["UPDATE ", ignore, table.name, " SET ", self.sets(own, [("", c) for c in chosen]), where,
                                  self.bounded(certain)])

    def delete(self, table):
        where = optional(" WHERE ", self.relations.condition(self.own(table), 2)) if self.chance(0.9) else ""
        order = self.bounded(False)
        return Node("statement", [f"DELETE FROM {table.name}", where, order, self.returning(table)])

    def joined(self, table, most):
        """Returns a join that contains the table, and the table's name in it."""
        source = self.relations.joined(self.random.randint(1, most), 1)
        self.relations.aliases += 1
        alias = f"a{self.relations.aliases}"
        target = type(source)(leaf(f"{table.name} {alias}", "target"), self.own(table, f"{alias}."), [f"{alias}.id"])
        pair = (source, target) if self.chance(0.5) else (target, source)
        return self.relations.join(*pair, []), alias

    def update_joined(self, table):
        free = [c for c in table.columns if c.name not in self.unique(table)]
        if not free:
            return self.update(table)
        source, alias = self.joined(table, 3)
        chosen = [(f"{alias}.", c) for c in self.random.sample(free, self.random.randint(1, min(2, len(free))))]
        ignore = optional("IGNORE ") if self.chance(0.3) else ""
        # A row with several join partners takes the value of any of them. So only its own columns are used, and each is set once.
        names = {f"{alias}.{c.name}" for _, c in chosen}
        usable = [column for column in self.own(table, f"{alias}.") if column[0] not in names]
        where = self.relations.where(source, [], 1)
        return Node("statement", ["UPDATE ", ignore, source.node, " SET ", self.sets(usable, chosen), where])

    def delete_joined(self, table):
        source, alias = self.joined(table, 3)
        where = self.relations.where(source, [], 1)
        if self.chance(0.5):
            return Node("statement", [f"DELETE {alias} FROM ", source.node, where])
        return Node("statement", [f"DELETE FROM {alias} USING ", source.node, where])
