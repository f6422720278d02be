"""Makes what differs as small as it gets: first the statement, then the tables it needs."""

import re

from tree import smaller

TRIES = 250


class Reducer:
    """`differs(tables, tree)` asks both servers; a smaller case counts if it differs in the same way."""

    def __init__(self, differs, tables, tree, difference):
        self.differs, self.tables, self.tree, self.difference = differs, tables, tree, difference
        self.tries = TRIES

    def run(self):
        self.reduce_tree()
        self.tables = [t for t in self.tables if re.search(rf"\b{t.name}\b", str(self.tree))]
        self.reduce_tables()
        self.reduce_tree()
        return self

    def still(self, tables, tree):
        self.tries -= 1
        found = self.differs(tables, tree)
        same = found is not None and found.kind == self.difference.kind and (
            found.kind != "error" or found.detail == self.difference.detail)
        # A server that is gone is worse than whatever was found before.
        if same or found is not None and found.kind == "gone":
            self.difference = found
            return True
        return False

    def reduce_tree(self):
        while self.tries > 0:
            shortest = sorted((t for t in smaller(self.tree) if len(str(t)) < len(str(self.tree))),
                              key=lambda t: len(str(t)))
            for tree in shortest:
                if self.tries <= 0:
                    return
                if self.still(self.tables, tree):
                    self.tree = tree
                    break
            else:
                return

    def reduce_tables(self):
        for at, table in enumerate(self.tables):
            for change in self.table_changes(table):
                smaller_table = change(self.tables[at])
                tables = self.tables[:at] + [smaller_table] + self.tables[at + 1:]
                if smaller_table is not self.tables[at] and self.still(tables, self.tree):
                    self.tables = tables

    def table_changes(self, table):
        yield lambda t: t.without_keys() if t.keys else t
        for column in table.columns:
            if not re.search(rf"\b{column.name}\b", str(self.tree)) and "*" not in str(self.tree):
                yield lambda t, column=column: t.without_column(column)
        if "*" in str(self.tree):
            for column in table.columns:
                yield lambda t, column=column: t.without_column(column) if len(t.columns) > 1 else t
        for first in reversed(range(len(table.rows))):
            yield lambda t, first=first: t.without_rows(first, 1)
