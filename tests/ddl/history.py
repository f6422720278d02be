"""Random histories of definitions and rows against a model of the tables, over many lives of one data directory.

Each step changes definitions or rows, waits for metadata locks, is killed, or ends the server (cleanly, by kill -9, or
by kill -9 within a statement). Branches stay prepared over some of these steps, and views and sequences are used too.
After each step a scan and every index of a table return the model's columns and rows, CHECK TABLE finds nothing, and
no error came that the model does not expect.

usage: history.py BINARY [--seconds N] [--seed N]... [--fresh]     without seeds: some fixed ones; --fresh: a new one
"""

import argparse
import os
import random
import sys
import threading
import time

import pymysql

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import side  # noqa: E402
import upserts  # noqa: E402
from branches import Branch  # noqa: E402
from changes import Change, Changes  # noqa: E402
from model import World, literal  # noqa: E402
from selkie import Server  # noqa: E402
from views import SCHEMA, Beside  # noqa: E402

FIXED = [1, 2]
DATABASE = "h"
# Number of statements shown of a failed history.
LINES = int(os.environ.get("LINES", 25))
OPTIONS = ["--innodb-buffer-pool-size=64M"]


class Problem(Exception):
    """A result that the model does not expect."""


def plain(value):
    if value is None or isinstance(value, (str, int)):
        return value
    return value.decode() if isinstance(value, (bytes, bytearray)) else int(value)


def names(columns):
    return ", ".join(f"`{name}`" for name in columns)


def ordered(rows):
    return sorted(rows, key=lambda row: [(v is None, str(type(v)), v if v is not None else 0) for v in row])


class Background:
    """A statement that runs on a connection of its own, at once or after `start`; it may be prepared before."""

    def __init__(self, history, sql, start=True, prepared=False):
        self.connection = history.connect()
        self.sql, self.error, self.rows = sql, None, None
        if prepared:
            history.query(f"PREPARE w FROM {self.connection.escape(sql)}", self.connection)
            self.sql = "EXECUTE w"
        self.thread = threading.Thread(target=self.run)
        if start:
            self.start()

    def start(self):
        self.thread.start()

    def run(self):
        try:
            with self.connection.cursor() as cursor:
                cursor.execute(self.sql)
                self.rows = cursor.fetchall()
        except pymysql.MySQLError as error:
            self.error = error.args

    def join(self):
        self.thread.join(60)
        if self.thread.is_alive():
            raise Problem(f"still running after a minute: {self.sql}")
        try:
            self.connection.close()
        except pymysql.MySQLError:
            pass


class History:
    errors = pymysql.MySQLError

    def __init__(self, binary, seed):
        self.seed, self.rng = seed, random.Random(seed)
        self.changes = Changes(self.rng)
        self.server = Server(binary, options=OPTIONS).start()
        self.world, self.log, self.sessions = World(), [], []
        self.steps = 0
        admin = self.server.connect()
        with admin.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4")
            cursor.execute(f"CREATE DATABASE {SCHEMA}")
        admin.close()
        self.beside = Beside(self)
        for level in range(3):
            self.run(self.changes.create(self.world, level))

    def connect(self, **options):
        return self.server.connect(database=DATABASE, read_timeout=60, ssl_disabled=True, **options)

    def session(self):
        """Returns one of a few long-lived sessions, with its prepared statements and plans."""
        if len(self.sessions) < 3:
            self.sessions.append(self.connect())
        return self.rng.choice(self.sessions)

    def query(self, sql, connection=None):
        try:
            with (connection or self.session()).cursor() as cursor:
                cursor.execute(sql)
                return [tuple(plain(v) for v in row) for row in cursor.fetchall()]
        except pymysql.MySQLError as error:
            raise Problem(f"{error.args} for {sql}") from error

    def error_of(self, sql):
        try:
            with self.session().cursor() as cursor:
                cursor.execute(sql)
        except pymysql.MySQLError as error:
            return error.args
        return None

    def drop_sessions(self):
        for session in self.sessions:
            session.close()
        self.sessions = []

    def problem(self, text):
        return Problem(text)

    # Changes

    def run(self, change, session=None):
        self.log.append(change.sql)
        error = None
        try:
            with (session or self.session()).cursor() as cursor:
                cursor.execute(change.sql)
        except pymysql.MySQLError as found:
            error = found.args
        self.settle(change, error)

    def settle(self, change, error):
        """Applies the effect of a change to the model."""
        if error is None:
            if change.fails:
                raise Problem(f"no error of {sorted(change.fails)} for {change.sql}")
            self.world = change.world
            return
        self.log.append(f"  -- {error}")
        if error[0] not in change.fails | change.may:
            raise Problem(f"{error} (expected: {sorted(change.fails | change.may)}) for {change.sql}")

    def some_table(self):
        return self.rng.choice(list(self.world.tables))

    def locked(self, change):
        """Runs the change under LOCK TABLES of the only session."""
        session = self.session()
        (name,) = [n for n in self.world.tables if f"ALTER TABLE `{n}` " in change.sql]
        self.query(f"LOCK TABLES `{name}` WRITE", session)
        self.log.append(f"under LOCK TABLES `{name}` WRITE")
        self.run(change, session)
        self.query("UNLOCK TABLES", session)

    def some_change(self):
        rng, changes, world = self.rng, self.changes, self.world
        if len(world.tables) < 3:
            return changes.create(world, rng.randrange(3))
        name = self.some_table()
        roll = rng.random()
        if roll < 0.62:
            return changes.alter(world, name)
        if roll < 0.74:
            return changes.index_statement(world, name)
        if roll < 0.80:
            return changes.rename(world, name)
        if roll < 0.85:
            return changes.trigger(world, name) or changes.alter(world, name)
        if roll < 0.88:
            return changes.truncate(world, name)
        if roll < 0.93:
            return changes.replace(world, name)
        if roll < 0.95:
            return changes.drop(world, name)
        return changes.create(world, rng.randrange(3)) if len(world.tables) < 5 else changes.alter(world, name)

    # Rows

    def insert(self, world, name):
        """Returns an INSERT into a table of `world`, and a function that applies its effect to another state."""
        table = world.tables[name]
        optional = [c for c in table.columns if not c.base and c.name != "rid" and (c.null or c.default is not None)]
        given = [c for c in table.columns if not c.base and (c not in optional or self.rng.random() < 0.6)]
        rows = []
        for _ in range(self.rng.choice([1, 1, 3, 8])):
            row = {c.name: self.changes.value(c) for c in given}
            row["rid"] = self.changes.rid()
            for key in table.foreign:
                if key.column in row and row[key.column] is not None and self.rng.random() < 0.8:
                    row[key.column] = self.rng.choice([*key.parent.rids(), None])
            rows.append(row)
        values = ", ".join("(" + ", ".join(literal(row[c.name]) for c in given) + ")" for row in rows)
        sql = f"INSERT INTO `{name}` ({names(c.name for c in given)}) VALUES {values}"
        return sql, lambda state: inserted(state, name, rows)

    def update(self, world, name):
        table = world.tables[name]
        columns = [c for c in table.columns if not c.base and c.name != "rid"]
        if not table.rows or not columns:
            return self.insert(world, name)
        column = self.rng.choice(columns)
        value = self.changes.value(column)
        for key in table.foreign:
            if key.column == column.name and self.rng.random() < 0.8:
                value = self.rng.choice([*key.parent.rids(), None])
        where, chosen, read = self.where(table)
        if any(f.parent is table for f in table.foreign) and any(r["rid"] == value and chosen(r) for r in table.rows):
            value = None
        sql = f"UPDATE `{name}` SET `{column.name}` = {literal(value)} WHERE {where}"

        def apply(state):
            must_have(state.tables[name], column.name, read)
            return updated(state, name, column.name, value, chosen)
        return sql, apply

    def delete(self, world, name):
        where, chosen, read = self.where(world.tables[name])

        def apply(state):
            table = state.tables[name]
            must_have(table, read)
            gone = {row["rid"] for row in table.rows if chosen(row)}
            return None if state.delete(table, gone) else 1451
        return f"DELETE FROM `{name}` WHERE {where}", apply

    def renumber(self, world, name):
        table = world.tables[name]
        if not table.rows:
            return self.insert(world, name)
        old, new = self.rng.choice(table.rows)["rid"], self.changes.rid()
        return (f"UPDATE `{name}` SET rid = {new} WHERE rid = {old}",
                lambda state: None if state.renumber(state.tables[name], old, new) else {1451, 1062, 1761})

    def where(self, table):
        """Returns a condition, a function that evaluates it for a row, and the column it reads."""
        index = self.rng.choice(table.indexes) if table.indexes and self.rng.random() < 0.6 else None
        if index and table.rows and index.columns[0][0] in table.names():
            name = index.columns[0][0]
            value = self.rng.choice(table.rows)[name]
            if value is None:
                return f"`{name}` IS NULL", lambda row: row[name] is None, name
            return f"`{name}` = {literal(value)}", lambda row: row[name] == value, name
        rids = self.rng.sample(sorted(table.rids()), min(len(table.rows), self.rng.choice([1, 2, 5])))
        return f"rid IN ({', '.join(map(str, rids or [0]))})", lambda row: row["rid"] in rids, "rid"

    def some_rows(self, world, name, known=False):
        """Returns a statement with an outcome that follows from current definitions; `known` allows all kinds of statements."""
        kinds = [self.insert, self.insert, self.insert, self.update, self.update, self.delete, self.renumber]
        if known:
            kinds += [lambda *given: upserts.replace(self, *given), lambda *given: upserts.upsert(self, *given)]
        return self.rng.choice(kinds)(world, name)

    def certain_rows(self, world, name):
        """The same, without statements whose outcome depends on the order of foreign keys."""
        for _ in range(5):
            sql, apply = self.some_rows(world, name, known=True)
            if not world.is_tangled(world.tables[name]) or apply(world.copy()) is None:
                return sql, apply
        return "DO 0", lambda state: None

    def rows_change(self, name):
        return self.change_of(name, *self.certain_rows(self.world, name))

    def change_of(self, name, sql, apply):
        after = self.world.copy()
        error = apply(after)
        error = error if error is None or isinstance(error, set) else {error, 1062, 1451}
        may = {1451, 1296} if self.world.is_tangled(self.world.tables[name]) else ()
        return Change(sql, after, error or (), may, tables=list(self.world.tables))

    def deletion(self, target, name, rids):
        """Returns a DELETE of some rows of a table, through a view."""
        def apply(state):
            return None if state.delete(state.tables[name], set(rids)) else 1451
        return self.change_of(name, f"DELETE FROM {target} WHERE rid IN ({', '.join(map(str, rids or [0]))})", apply)

    def transaction(self):
        """Runs some statements in one transaction, which is committed or rolled back."""
        connection = self.connect(autocommit=False)
        world = self.world
        for _ in range(self.rng.randrange(1, 5)):
            change = self.rows_change(self.rng.choice(list(self.world.tables)))
            self.log.append("trx: " + change.sql)
            error = None
            try:
                with connection.cursor() as cursor:
                    cursor.execute(change.sql)
            except pymysql.MySQLError as found:
                error = found.args
            self.settle(change, error)
        if self.rng.random() < 0.5:
            connection.rollback()
            self.world = world
            self.log.append("trx: ROLLBACK")
        else:
            connection.commit()
        connection.close()

    # Waiting

    def wait(self):
        """A change waits for a reader, and later statements wait for the change."""
        name = self.some_table()
        reader = self.connect(autocommit=False)
        self.query(f"SELECT COUNT(*) FROM `{name}`", reader)
        change = self.changes.alter(self.world, name, simple=True)
        if self.rng.random() < 0.15:
            change = self.changes.rename(self.world, name)
        elif self.rng.random() < 0.1:
            change = self.changes.truncate(self.world, name)
        killed, prepared = self.rng.random() < 0.2, self.rng.random() < 0.4
        tangled = self.world.is_tangled(self.world.tables[name])
        sql, apply = (self.insert if tangled else self.some_rows)(self.world, name)
        writer = Background(self, sql, start=False, prepared=prepared)
        counter = Background(self, f"SELECT COUNT(*) FROM `{name}`", start=False, prepared=prepared)
        self.log.append(f"reader of {name}; waits: {change.sql}")
        changer = Background(self, change.sql)
        time.sleep(0.1)
        self.log.append(f"behind it{', prepared' if prepared else ''}: {sql}")
        writer.start()
        counter.start()
        time.sleep(0.1)
        if killed:
            self.query(f"KILL QUERY {changer.connection.thread_id()}")
            change.may.add(1317)
            if change.fails:
                change.fails.add(1317)
            changer.join()
        reader.rollback()
        reader.close()
        for one in changer, writer, counter:
            one.join()
        if counter.error and counter.error[0] != 1146:
            raise Problem(f"{counter.error} for {counter.sql}")
        self.settle(change, changer.error)
        self.settle_rows(name, change, writer, apply)

    def settle_rows(self, name, change, writer, apply):
        """Statements that waited ran on the definitions of that time."""
        after = self.world.copy()
        if name not in after.tables:
            expected = {1146}
        else:
            try:
                expected = apply(after)
            except KeyError:
                expected = {1054}
        if expected is None and writer.error is None:
            self.world = after
            return
        expected = expected if isinstance(expected, set) else {expected, 1062, 1451}
        if writer.error is None or writer.error[0] not in expected:
            raise Problem(f"{writer.error} (expected: {expected}) behind {change.sql} for {writer.sql}")

    # Storms

    def storm(self):
        """Sessions insert and delete rows in a table and its parent while both are changed; then the rows are compared."""
        name = self.some_table()
        keys = [f for f in self.world.tables[name].foreign if f.on_delete == "CASCADE" and f.parent.name != name]
        parent = keys[0].parent.name if keys else None
        storm = Storm(self, name, parent, keys[0].column if keys else None)
        storm.run()

    # Restarts

    def restart(self):
        self.drop_sessions()
        how = self.rng.choice(["stop", "kill", "kill within"])
        self.log.append(f"-- {how}")
        if how == "kill within":
            return self.kill_within()
        if how == "kill":
            # Uncommitted rows are gone.
            connection = self.connect(autocommit=False)
            change = self.rows_change(self.some_table())
            try:
                with connection.cursor() as cursor:
                    cursor.execute(change.sql)
            except pymysql.MySQLError:
                pass
            self.server.kill()
            connection.close()
        else:
            self.server.stop()
        self.server.start()
        return None

    def kill_within(self):
        change = self.some_change()
        self.log.append(f"kill -9 within {change.sql}")
        running = Background(self, change.sql)
        time.sleep(self.rng.random() * 0.08)
        self.server.kill()
        running.join()
        self.server.start()
        before, self.sessions = self.world, []
        if running.error is None:
            self.settle(change, None)
        elif running.error[0] not in (2013, 2006, 0):
            self.settle(change, running.error)
        elif not change.fails:
            # The change is done completely or not at all.
            self.world = change.world
            try:
                self.verify_dropped(before)
                self.verify_all()
            except Problem:
                self.world = before

    # Checks

    def verify_dropped(self, before):
        """Checks that dropped indexes are gone. Tables may have further indexes, made for foreign keys."""
        for name, table in self.world.tables.items():
            if name not in before.tables:
                continue
            dropped = {i.name for i in before.tables[name].indexes} - {i.name for i in table.indexes}
            there = {row[2] for row in self.query(f"SHOW INDEX FROM `{name}`")}
            if dropped & there:
                raise Problem(f"indexes of {name}: {dropped & there} should be gone")

    def verify(self, name):
        table = self.world.tables[name]
        columns = [row[0] for row in self.query(f"SHOW COLUMNS FROM `{name}`")]
        if columns != table.names():
            raise Problem(f"columns of {name}: {columns}, expected {table.names()}")
        indexes = {}
        for row in self.query(f"SHOW INDEX FROM `{name}`"):
            indexes.setdefault(row[2], []).append((row[4], row[7]))
        if "PRIMARY" in indexes and all(index.name != "PRIMARY" for index in table.indexes):
            raise Problem(f"{name} has a primary key")
        for index in table.indexes:
            found = indexes.get(index.name)
            if [part[0] for part in found or []] != [part[0] for part in index.columns]:
                raise Problem(f"index {index.name} of {name}: {found}, expected {index.columns}")
        expected = ordered([tuple(row[c] for c in columns) for row in table.rows])
        every, ignore = names(columns), f"IGNORE INDEX ({names(indexes)})" if indexes else ""
        self.same(f"SELECT {every} FROM `{name}` {ignore}", expected)
        for index, parts in indexes.items():
            first, force = parts[0][0], f"FORCE INDEX (`{index}`)"
            low = "-99999999" if table.column(first).kind == "int" else "''"
            condition, at = f"`{first}` IS NULL OR `{first}` >= {low}", columns.index(first)
            self.same(f"SELECT {every} FROM `{name}` {force} WHERE {condition}", expected)
            self.same(f"SELECT `{first}` FROM `{name}` {force} WHERE {condition}", [(row[at],) for row in expected])
        found = self.query(f"CHECK TABLE `{name}` EXTENDED")
        unsupported = "The storage engine for the table doesn't support check"
        if [row[2:] for row in found] not in ([("status", "OK")], [("note", unsupported)]):
            raise Problem(f"CHECK TABLE: {found}")

    def same(self, sql, expected):
        found = ordered(self.query(sql))
        if found != ordered(expected):
            missing = [row for row in expected if row not in found]
            extra = [row for row in found if row not in expected]
            raise Problem(f"{sql}: {len(found)} rows, expected {len(expected)}; missing {missing[:3]}, extra {extra[:3]}")

    def verify_definitions(self):
        """Checks definitions, not rows."""
        of = f"FROM information_schema.%s WHERE %s = '{DATABASE}'"
        tables = self.world.tables.values()
        self.same("SELECT table_name, column_name, data_type, is_nullable, column_default "
                  + of % ("columns", "table_schema") + " AND generation_expression IS NULL",
                  [(t.name, c.name, *definition(c)) for t in tables for c in t.columns if not c.base])
        self.same("SELECT constraint_name, table_name, referenced_table_name, delete_rule, update_rule "
                  + of % ("referential_constraints", "constraint_schema"),
                  [(f.name, t.name, f.parent.name, f.on_delete, f.on_update) for t in tables for f in t.foreign])
        self.same("SELECT table_name, constraint_name " + of % ("check_constraints", "constraint_schema"),
                  [(t.name, name) for t in tables for name in t.checks])
        self.same("SELECT event_object_table, trigger_name " + of % ("triggers", "trigger_schema"),
                  [(t.name, name) for t in tables for name in t.triggers])

    def verify_all(self):
        self.verify_definitions()
        found = sorted(row[0] for row in self.query("SHOW TABLES"))
        if found != sorted(self.world.tables):
            raise Problem(f"tables {found}, expected {sorted(self.world.tables)}")
        for name in self.world.tables:
            self.verify(name)
        self.beside.verify()

    def step(self):
        self.steps += 1
        roll = self.rng.random()
        if roll < 0.43:
            change = self.some_change()
            if self.rng.random() < 0.1 and change.sql.startswith("ALTER TABLE") and "FOREIGN" not in change.sql:
                self.locked(change)
            else:
                self.run(change)
            for name in change.tables:
                if name in self.world.tables:
                    self.verify(name)
        elif roll < 0.75:
            self.run(self.rows_change(self.some_table()))
        elif roll < 0.81:
            self.transaction()
        elif roll < 0.87:
            self.wait()
        elif roll < 0.89:
            self.storm()
        elif roll < 0.91:
            side.run(self)
        elif roll < 0.96:
            self.beside.step()
        elif roll < 0.98:
            Branch(self).run()
        else:
            self.restart()
            self.verify_all()
        if self.steps % 15 == 0:
            self.verify_all()

    def end(self, failed):
        for session in self.sessions:
            session.close()
        if failed:
            self.server.kill()
            print(f"seed {self.seed}: the directory is kept: {self.server.root}")
        else:
            self.server.stop()
            self.server.remove()


def definition(column):
    """Returns a column as information_schema shows it."""
    default = literal(column.default) if column.default is not None or column.null else None
    return column.ty.split("(")[0].lower(), "YES" if column.null else "NO", default


def inserted(state, name, rows):
    """Inserts rows into the model; returns the errors if that fails, and raises KeyError if a column is missing."""
    table = state.tables[name]
    for given in rows:
        row = upserts.prepared(table, given)
        if row is None:
            return upserts.MISSING
        table.rows.append(row)
        if table.duplicates():
            return {1062, 1452}
        if not state.has_parent(table, row):
            return {1452, 1062}
    return None


def must_have(table, *columns):
    """A statement that names a dropped column fails, with and without rows."""
    for column in columns:
        if column not in table.names():
            raise KeyError(column)


def updated(state, name, column, value, chosen):
    table = state.tables[name]
    definition = table.column_or_error(column)
    rows = [row for row in table.rows if chosen(row)]
    if rows and definition.base:
        return upserts.IGNORED
    for row in rows:
        row[column] = value
        table.compute(row)
    if rows and value is None and not definition.null:
        return {1048}
    if table.duplicates():
        return {1062, 1452}
    return None if all(state.has_parent(table, row) for row in rows) else {1452, 1062}


from storm import Storm  # noqa: E402


def run(binary, seed, seconds):
    started = time.monotonic()
    history = History(binary, seed)
    failed = True
    try:
        while time.monotonic() - started < seconds:
            history.step()
        history.verify_all()
        failed = False
    except Problem as problem:
        print(f"seed {seed}, step {history.steps}: {problem}")
        print("\n".join("  " + line for line in history.log[-LINES:]))
    finally:
        history.end(failed)
    if not failed:
        kinds = {"refused": "  -- (", "branches": "XA START", "replaced": "REPLACE INTO", "upserts": "ON DUPLICATE",
                 "by views and sequences": SCHEMA + ".`", "keys": "FOREIGN KEY (", "waits": "reader of"}
        lives = sum(line.startswith("-- ") for line in history.log) + 1
        counts = [f"{sum(word in line for line in history.log)} {kind}" for kind, word in kinds.items()]
        print(f"seed {seed}: {history.steps} steps, {len(history.log)} statements, nothing wrong; {lives} lives, {', '.join(counts)}")
    return not failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, action="append")
    parser.add_argument("--fresh", action="store_true")
    options = parser.parse_args()
    fresh = [random.SystemRandom().randrange(1 << 32)] if options.fresh else []
    seeds = [*(options.seed or []), *fresh] or FIXED
    print(f"seeds {seeds}")
    good = [run(options.binary, seed, options.seconds) for seed in seeds]
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
