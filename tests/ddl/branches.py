"""An XA branch that stays prepared over restarts while other tables change: its rows and definitions wait for its outcome.

Until then its tables show the old rows, and no session can change their definitions.
"""

# Errors of sessions that wait for the branch: a lock on a row or a definition was not granted in time.
HELD = {1205}


class Branch:
    def __init__(self, history):
        self.history, self.rng = history, history.rng
        self.xid = history.changes.name("x")

    def run(self):
        history = self.history
        name = history.some_table()
        sql, apply = history.certain_rows(history.world, name)
        if not self.prepare(sql, apply):
            return
        related = self.related(name)
        for _ in range(self.rng.randrange(3)):
            self.rng.choice([self.restart, self.change_another, self.refuse])(name, related)
        self.look(name)
        outcome = self.rng.choice(["COMMIT", "ROLLBACK"])
        history.log.append(f"XA {outcome} '{self.xid}'")
        history.query(f"XA {outcome} '{self.xid}'")
        if outcome == "COMMIT":
            after = history.world.copy()
            apply(after)
            history.world = after
        for table in related:
            history.verify(table)

    def prepare(self, sql, apply):
        """Returns whether the branch is prepared: a failing statement prepares nothing, and a restart forgets an empty branch."""
        history, connection = self.history, self.history.connect()
        expected = apply(history.world.copy())
        history.log.append(f"XA START '{self.xid}'; {sql}")
        error, changed = None, 0
        with connection.cursor() as cursor:
            cursor.execute(f"XA START '{self.xid}'")
            try:
                changed = cursor.execute(sql)
            except history.errors as found:
                error = found.args
            cursor.execute(f"XA END '{self.xid}'")
            cursor.execute(f"XA {'PREPARE' if changed else 'ROLLBACK'} '{self.xid}'")
        connection.close()
        if (error is None) != (expected is None):
            raise history.problem(f"{error} (expected: {expected}) for {sql} in a branch")
        return changed > 0

    def related(self, name):
        """Returns the tables that the branch may lock: all tables that foreign keys lead to or from."""
        found, queue = {name}, [name]
        while queue:
            table = self.history.world.tables[queue.pop()]
            near = {f.parent.name for f in table.foreign} | {
                t.name for t, _ in self.history.world.children(table)}
            queue += near - found
            found |= near
        return sorted(found)

    def restart(self, name, related):
        self.history.drop_sessions()
        kill = self.rng.random() < 0.7
        self.history.log.append("-- kill, prepared" if kill else "-- stop, prepared")
        self.history.server.kill() if kill else self.history.server.stop()
        self.history.server.start()
        waiting = [row[3] for row in self.history.query("XA RECOVER")]
        if waiting != [self.xid]:
            raise self.history.problem(f"branches {waiting}, expected {self.xid}")

    def change_another(self, name, related):
        others = [n for n in self.history.world.tables if n not in related]
        if others:
            change = self.history.changes.alter(self.history.world, self.rng.choice(others), simple=True)
            self.history.run(change)

    def refuse(self, name, related):
        """The branch prevents changes of its table's definition."""
        connection = self.history.connect()
        sql = self.rng.choice([f"ALTER TABLE `{name}` FORCE", f"TRUNCATE TABLE `{name}`", f"DROP TABLE `{name}`",
                               f"RENAME TABLE `{name}` TO `{name}x`", f"ALTER TABLE `{name}` ADD COLUMN no INT"])
        self.history.log.append(f"refused: {sql}")
        try:
            with connection.cursor() as cursor:
                cursor.execute("SET lock_wait_timeout = 0")
                cursor.execute(sql)
        except self.history.errors as error:
            # A table with children may be refused for that reason first.
            if error.args[0] not in HELD | {1701, 1451}:
                raise self.history.problem(f"{error.args} for {sql} beside a branch") from error
            return
        finally:
            connection.close()
        raise self.history.problem(f"no error for {sql} beside a branch")

    def look(self, name):
        self.history.verify(name)
