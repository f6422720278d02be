"""Sessions insert and delete rows in a table and its parent while both are changed, in any order; then invariants are
checked.

Each writer knows its own rows by their rid. Other columns get their defaults, which the changes modify. The model takes
them from the table when a scan and every index agree on them.
"""

import random
import threading
import time

import pymysql

# Errors of race losers, and of defaults that a unique index accepts only once.
LOST = {1213, 1205, 1062}
SECONDS = 1.0


class Storm:
    def __init__(self, history, name, parent, column):
        self.history, self.name, self.parent, self.column = history, name, parent, column
        self.stop = time.monotonic() + SECONDS
        self.problems, self.made = [], []
        self.lock = threading.Lock()
        self.next = history.changes.last

    def rid(self):
        with self.lock:
            self.next += 1
            return self.next

    def run(self):
        tables = [n for n in (self.name, self.parent) if n]
        if any(self.is_unfit(n) for n in tables):
            return
        self.history.log.append(f"storm over {self.name}, parent {self.parent}")
        seeds = [self.history.rng.random() for _ in range(4)]
        threads = [threading.Thread(target=self.write, args=(seed,)) for seed in seeds[:3]]
        threads.append(threading.Thread(target=self.change, args=(seeds[3], tables)))
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        if self.problems:
            raise self.history.problem(f"storm over {self.name}, parent {self.parent}: {self.problems[:3]}")
        self.take_over()

    def is_unfit(self, name):
        """Returns whether the table does not fit: a column besides rid needs a value, another table's rows refer to its rows, or
        a second key keeps its rows."""
        table = self.history.world.tables[name]
        needs = any(not c.null and c.default is None and not c.base and c.name != "rid" for c in table.columns)
        others = [t for t, _ in self.history.world.children(table) if t.name != self.name]
        keys = [f for f in table.foreign if f.column != self.column]
        keeps = any(f.column == self.column and f.on_delete != "CASCADE" for f in table.foreign)
        return needs or others or keeps or any(table.column(f.column).default is not None for f in keys)

    def write(self, seed):
        rng, live = random.Random(seed), []
        connection = self.history.connect(autocommit=False)
        while time.monotonic() < self.stop and not self.problems:
            made, gone, statements = set(), None, []
            if len(live) < 4 or rng.random() < 0.6:
                top = self.rid()
                made.add(top)
                if self.parent:
                    statements.append(f"INSERT INTO `{self.parent}` (rid) VALUES ({top})")
                    for _ in range(2):
                        rid = self.rid()
                        made.add(rid)
                        statements.append(f"INSERT INTO `{self.name}` (rid, `{self.column}`) VALUES ({rid}, {top})")
                else:
                    statements.append(f"INSERT INTO `{self.name}` (rid) VALUES ({top})")
            else:
                gone = rng.choice(live)
                statements.append(f"DELETE FROM `{self.parent or self.name}` WHERE rid = {min(gone)}")
            if self.execute(connection, statements):
                if gone:
                    live.remove(gone)
                else:
                    live.append(made)
        connection.close()
        with self.lock:
            self.made += live

    def execute(self, connection, statements):
        try:
            with connection.cursor() as cursor:
                for sql in statements:
                    cursor.execute(sql)
            connection.commit()
            return True
        except pymysql.MySQLError as error:
            connection.rollback()
            if error.args[0] not in LOST:
                self.problems.append((error.args, sql))
            return False

    def change(self, seed, tables):
        rng, connection = random.Random(seed), self.history.connect()
        added = {name: [] for name in tables}
        while time.monotonic() < self.stop and not self.problems:
            name, new = rng.choice(tables), f"s{self.rid()}"
            kind = rng.choice(["column", "column", "index", "force", "drop", "drop"])
            if kind == "drop" and added[name]:
                sql = added[name].pop(rng.randrange(len(added[name])))
            elif kind == "index":
                sql, undo = f"ADD INDEX `{new}` (rid)", f"DROP INDEX `{new}`"
                if name == self.name and self.column:
                    sql = f"ADD INDEX `{new}` (rid, `{self.column}`)"
                added[name].append(undo)
            elif kind == "force":
                sql = "FORCE"
            else:
                sql = f"ADD COLUMN `{new}` INT DEFAULT {rng.randrange(9)} {rng.choice(['', 'FIRST'])}"
                added[name].append(f"DROP COLUMN `{new}`")
            self.alter(connection, f"ALTER TABLE `{name}` {sql}")
        for name, rest in added.items():
            for sql in rest:
                self.alter(connection, f"ALTER TABLE `{name}` {sql}")
        connection.close()

    def alter(self, connection, sql):
        for _ in range(50):
            try:
                with connection.cursor() as cursor:
                    cursor.execute(sql)
                return
            except pymysql.MySQLError as error:
                if error.args[0] not in (1213, 1205):
                    self.problems.append((error.args, sql))
                    return
        self.problems.append(("never done", sql))

    def take_over(self):
        history, world = self.history, self.history.world
        made = set().union(*self.made) if self.made else set()
        for name in {self.name, self.parent or self.name}:
            table = world.tables[name]
            columns = table.names()
            rows = history.query(f"SELECT {', '.join(f'`{c}`' for c in columns)} FROM `{name}`")
            rows = [dict(zip(columns, row)) for row in rows]
            found, before = {row["rid"] for row in rows}, table.rids()
            tops = {min(rids) for rids in self.made}
            mine = (tops if name == self.parent else made - tops) if self.parent else made
            if found != before | mine:
                raise history.problem(f"storm over {self.name}, parent {self.parent}: {name} has rows "
                                      f"{sorted(found ^ (before | mine))[:5]} too many or too few")
            old = {row["rid"]: row for row in table.rows}
            wrong = [row for row in rows if row["rid"] in old and row != old[row["rid"]]]
            if wrong:
                raise history.problem(f"storm over {self.name}: rows of before changed: {wrong[:3]}")
            table.rows = rows
        history.changes.last = max(history.changes.last, self.next)
        for name in {self.name, self.parent or self.name}:
            history.verify(name)
