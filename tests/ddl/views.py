"""Views and sequences beside the tables of history.py, in a schema of their own.

A view reads the table that now has its table's name and columns, and gives an error if there is none. A sequence never
returns a number twice, over renames and restarts.
"""

SCHEMA = "hv"
# Errors if the view's table or column is missing.
INVALID = {1356, 1146}


class Beside:
    def __init__(self, history):
        self.history, self.rng = history, history.rng
        # Views: name -> table and columns. Sequences: name -> last number.
        self.views, self.sequences = {}, {}

    def step(self):
        roll = self.rng.random()
        if roll < 0.25 or not self.views:
            self.create_view()
        elif roll < 0.45:
            self.write_view()
        elif roll < 0.55 and len(self.views) > 4:
            name = self.rng.choice(list(self.views))
            self.statement(f"DROP VIEW {SCHEMA}.`{name}`")
            del self.views[name]
        elif roll < 0.65 or not self.sequences:
            name = self.history.changes.name("s")
            cache = self.rng.choice(["", " CACHE 3", " NOCACHE", " CACHE 1000"])
            self.statement(f"CREATE SEQUENCE {SCHEMA}.`{name}`{cache}")
            self.sequences[name] = 0
        else:
            self.use_sequence()

    def statement(self, sql):
        self.history.log.append(sql)
        return self.history.query(sql)

    def create_view(self):
        table = self.history.world.tables[self.history.some_table()]
        columns = ["rid"] + self.rng.sample(table.names(), self.rng.randrange(min(3, len(table.columns))))
        columns = list(dict.fromkeys(columns))
        name = self.history.changes.name("v")
        kind = self.rng.choice(["", "ALGORITHM=MERGE ", "ALGORITHM=TEMPTABLE "])
        self.statement(f"CREATE {kind}VIEW {SCHEMA}.`{name}` AS SELECT {self.listed(columns)} FROM `{table.name}`")
        self.views[name] = (table.name, columns, "TEMPTABLE" not in kind)

    def listed(self, columns):
        return ", ".join(f"`{c}`" for c in columns)

    def table_of(self, name):
        """Returns the table that the view reads now, if it has the columns."""
        table_name, columns, _ = self.views[name]
        table = self.history.world.tables.get(table_name)
        return table if table and set(columns) <= set(table.names()) else None

    def write_view(self):
        """Deletes rows through a view."""
        fit = [n for n, (_, _, updatable) in self.views.items() if updatable and self.table_of(n)]
        if not fit:
            return
        view = self.rng.choice(fit)
        table = self.table_of(view)
        rids = self.rng.sample(sorted(table.rids()), min(len(table.rows), 2))
        change = self.history.deletion(f"{SCHEMA}.`{view}`", table.name, rids)
        if not (change.fails and self.history.world.is_tangled(table)):
            self.history.run(change)

    def use_sequence(self):
        name = self.rng.choice(list(self.sequences))
        roll = self.rng.random()
        if roll < 0.15:
            new = self.history.changes.name("s")
            self.statement(f"RENAME TABLE {SCHEMA}.`{name}` TO {SCHEMA}.`{new}`")
            self.sequences[new] = self.sequences.pop(name)
        elif roll < 0.25:
            start = self.sequences[name] + self.rng.randrange(1, 5000)
            self.statement(f"ALTER SEQUENCE {SCHEMA}.`{name}` RESTART WITH {start}")
            self.sequences[name] = start - 1
        elif roll < 0.3 and len(self.sequences) > 2:
            self.statement(f"DROP SEQUENCE {SCHEMA}.`{name}`")
            del self.sequences[name]
        else:
            ((value,),) = self.statement(f"SELECT NEXTVAL({SCHEMA}.`{name}`)")
            if value <= self.sequences[name]:
                raise self.history.problem(f"sequence {name} gave {value} after {self.sequences[name]}")
            self.sequences[name] = value

    def verify(self):
        for name, (table_name, columns, _) in self.views.items():
            table = self.table_of(name)
            sql = f"SELECT {self.listed(columns)} FROM {SCHEMA}.`{name}`"
            if table:
                self.history.same(sql, [tuple(row[c] for c in columns) for row in table.rows])
                continue
            error = self.history.error_of(sql)
            if error is None or error[0] not in INVALID:
                raise self.history.problem(f"{error} for {sql}, which reads {columns} of {table_name}")
        expected = sorted([*self.views, *self.sequences])
        found = sorted(row[0] for row in self.history.query(f"SHOW TABLES FROM {SCHEMA}"))
        if found != expected:
            raise self.history.problem(f"views and sequences {found}, expected {expected}")
