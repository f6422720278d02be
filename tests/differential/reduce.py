"""Reduces a difference as far as possible: first the statement, then the tables it needs."""

import re
import time

from tree import smaller

TRIES = 250


class Reducer:
    """`differs(tables, tree)` asks both servers; a smaller case counts only if it differs in the same way.

    It stops after `TRIES` tries, or at `end` of the monotonic clock.
    """

    def __init__(self, differs, tables, tree, difference, end):
        self.differs, self.tables, self.tree, self.difference = differs, tables, tree, difference
        self.tries, self.end = TRIES, end

    def may_try(self):
        return self.tries > 0 and time.monotonic() < self.end

    def run(self):
        self.reduce_tree()
        self.tables = self.needed()
        self.reduce_tables()
        self.reduce_tree()
        return self

    def needed(self):
        """Returns the tables that the statement, or a view that it needs, names."""
        text, kept = str(self.tree), []
        for table in reversed(self.tables):
            if re.search(rf"\b{table.name}\b", text):
                kept.insert(0, table)
                text += table.create()
        return kept

    def still(self, tables, tree):
        self.tries -= 1
        found = self.differs(tables, tree)
        same = found is not None and found.kind == self.difference.kind and (
            found.kind != "error" or found.detail == self.difference.detail)
        # A crashed server is worse than any difference found before.
        if same or found is not None and found.kind == "gone":
            self.difference = found
            return True
        return False

    def reduce_tree(self):
        while self.may_try():
            shortest = sorted((t for t in smaller(self.tree) if len(str(t)) < len(str(self.tree))),
                              key=lambda t: len(str(t)))
            for tree in shortest:
                if not self.may_try():
                    return
                if self.still(self.tables, tree):
                    self.tree = tree
                    break
            else:
                return

    def reduce_tables(self):
        for at, table in enumerate(self.tables):
            for change in table.changes():
                smaller_table = change(self.tables[at])
                tables = self.tables[:at] + [smaller_table] + self.tables[at + 1:]
                if smaller_table is not self.tables[at] and self.may_try() and self.still(tables, self.tree):
                    self.tables = tables
