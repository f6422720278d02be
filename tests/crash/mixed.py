"""kill -9 over many lives of one directory, with a full undo snapshot and changes of definitions in every life.

Forty transactions that never end keep three MiB of undo in every checkpoint. Hundreds of branches are prepared and
stay so over some restarts. Parents and children change while their foreign key, columns and indexes do. Tables are
created and dropped. A table without transactions is written to, rows with automatic numbers are replaced. Some restarts
are killed too, some lives end cleanly. After each: all acknowledged changes are there and no others, no child is
without a parent, branches wait for their outcome, and CHECK TABLE EXTENDED finds nothing.

usage: mixed.py BINARY LIVES [SEED]      12 lives take about a minute and a half
"""

import os
import random
import sys
import threading
import time

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from crash import Session, rows  # noqa: E402
from selkie import Server  # noqa: E402

OPTIONS = ["--innodb-buffer-pool-size=16M", "--innodb-log-file-size=8M", "--max-connections=600"]
# Errors of sessions when the server ends cleanly.
STOPPED = (1053, 1317, 1927)
NEUTRAL = (1205, 1213, 1020, 1412)
OPEN, EACH = 40, 80
BRANCHERS = 3
# Bytes that a snapshot file keeps in any case.
RESERVED = 1 << 20
SCHEMA = """CREATE DATABASE m
CREATE TABLE m.parent (id BIGINT PRIMARY KEY, w INT NOT NULL, n INT NOT NULL DEFAULT 0, KEY (w))
CREATE TABLE m.child (id BIGINT AUTO_INCREMENT PRIMARY KEY, pid BIGINT NOT NULL, txt VARCHAR(200), KEY by_pid (pid), CONSTRAINT fk FOREIGN KEY (pid) REFERENCES m.parent (id) ON DELETE CASCADE ON UPDATE CASCADE)
CREATE TABLE m.open (id INT PRIMARY KEY, s VARCHAR(2000) NOT NULL)
CREATE TABLE m.filler (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(2000))
CREATE TABLE m.branch (id INT PRIMARY KEY, part INT NOT NULL, s VARCHAR(900), KEY (part))
CREATE TABLE m.numbered (id BIGINT AUTO_INCREMENT PRIMARY KEY, w INT, k INT, v BIGINT, s LONGTEXT, UNIQUE (w, k), KEY (s(20)))
CREATE TABLE m.plain (id INT PRIMARY KEY, s TEXT) ENGINE=MyISAM
INSERT INTO m.open SELECT seq, REPEAT('a', 1000) FROM m.seq_1_to_3240"""


class Patient(Session):
    """A session whose transactions may be victims of others."""

    def work(self, connection, cursor):
        try:
            self.attempt(connection, cursor)
        except pymysql.MySQLError as error:
            if error.args[0] not in NEUTRAL:
                raise
            self.unsure = None
            connection.rollback()


class Family(Patient):
    """Parents with two children each. `live`: acknowledged; `unsure`: possible effects of the last statement."""

    def __init__(self, server, rng, state):
        super().__init__(server, rng)
        self.state, self.unsure = state, None

    def attempt(self, connection, cursor):
        state, choice = self.state, self.random.random()
        if choice < 0.6 or len(state["live"]) < 5:
            state["next"] += 1
            pid = state["w"] * 1_000_000 + state["next"]
            self.unsure = (None, pid)
            connection.begin()
            cursor.execute("INSERT INTO m.parent (id, w) VALUES (%s, %s)", (pid, state["w"]))
            for part in range(2):
                cursor.execute("INSERT INTO m.child (pid, txt) VALUES (%s, %s)", (pid, f"{part}" * 50))
            connection.commit()
            state["live"].add(pid)
        else:
            pid = self.random.choice(sorted(state["live"]))
            moved = None
            if choice < 0.8:
                state["next"] += 1
                moved = state["w"] * 1_000_000 + state["next"]
            self.unsure = (pid, moved)
            if moved:
                cursor.execute("UPDATE m.parent SET id = %s WHERE id = %s", (moved, pid))
                state["live"].add(moved)
            else:
                cursor.execute("DELETE FROM m.parent WHERE id = %s", (pid,))
            state["live"].discard(pid)
        self.unsure = None


class Definer(Patient):
    """Changes definitions of the family's tables, and creates and drops tables; each has two rows or none."""

    CHANGES = [
        ("ALTER TABLE m.child DROP FOREIGN KEY fk, ADD CONSTRAINT fk2 FOREIGN KEY (pid) REFERENCES m.parent (id)"
         " ON DELETE CASCADE ON UPDATE CASCADE",
         "ALTER TABLE m.child DROP FOREIGN KEY fk2, ADD CONSTRAINT fk FOREIGN KEY (pid) REFERENCES m.parent (id)"
         " ON DELETE CASCADE ON UPDATE CASCADE"),
        ("ALTER TABLE m.parent ADD COLUMN zc INT DEFAULT 5 FIRST", "ALTER TABLE m.parent DROP COLUMN zc"),
        ("ALTER TABLE m.child ADD INDEX zi (txt(9), pid)", "ALTER TABLE m.child DROP INDEX zi"),
        ("ALTER TABLE m.child FORCE", "ALTER TABLE m.parent FORCE"),
    ]

    def __init__(self, server, rng, state):
        super().__init__(server, rng)
        self.state = state

    def attempt(self, connection, cursor):
        for change in self.random.choice(self.CHANGES):
            try:
                cursor.execute(change)
            except pymysql.MySQLError as error:
                # An earlier life, or a lock, prevented its rollback.
                if error.args[0] not in (1005, 1022, 1060, 1061, 1091, 1826, *NEUTRAL):
                    raise
        self.state["n"] += 1
        name = f"m.t{self.state['n']}"
        cursor.execute(f"CREATE TABLE {name} (id INT PRIMARY KEY, s VARCHAR(50)) SELECT 1 AS id, 'x' AS s UNION SELECT 2, 'y'")
        step = self.random.choice(["TRUNCATE {}", "ALTER TABLE {} ADD INDEX (s)", "RENAME TABLE {0} TO {0}r", "DROP TABLE {}"])
        cursor.execute(step.format(name))


class Hoarder(Session):
    """Transactions that never end, and others that make the log long enough for checkpoints.

    `full`: when the last of them had done its work, None before.
    """

    full = None

    def work(self, connection, cursor):
        held = []
        for n in range(OPEN):
            other = self.server.connect(read_timeout=60, autocommit=False)
            held.append(other)
            with other.cursor() as inner:
                # The next-key lock also covers the row after the range, so this row belongs to no session.
                first = n * (EACH + 1) + 1
                inner.execute("UPDATE m.open SET s = REPEAT('b', 900) WHERE id BETWEEN %s AND %s",
                              (first, first + EACH - 1))
        self.full = time.time()
        while True:
            cursor.execute("INSERT INTO m.filler (s) SELECT REPEAT('c', 2000) FROM m.seq_1_to_300")
            cursor.execute("DELETE FROM m.filler ORDER BY id LIMIT 300")


class Brancher(Session):
    """Prepares branches and does not end them. `prepared`: acknowledged; `begun`: possibly prepared."""

    def __init__(self, server, rng, state):
        super().__init__(server, rng)
        self.state = state

    def work(self, connection, cursor):
        state = self.state
        if len(state["prepared"]) > 300:
            time.sleep(0.05)
            cursor.execute("DO 1")
            return
        with state["lock"]:
            state["n"] += 1
            n = state["n"]
            state["begun"].add(n)
        with self.server.connect(read_timeout=60) as other, other.cursor() as inner:
            inner.execute(f"XA START 'b{n}'")
            inner.execute("INSERT INTO m.branch VALUES (%s, 0, REPEAT('s', 800)), (%s, 1, 's')", (2 * n, 2 * n + 1))
            inner.execute("UPDATE m.branch SET s = REPEAT('t', 900) WHERE id = %s", (2 * n,))
            inner.execute(f"XA END 'b{n}'")
            inner.execute(f"XA PREPARE 'b{n}'")
            with state["lock"]:
                state["prepared"].add(n)
                state["begun"].discard(n)


class Plain(Session):
    """A table without transactions: an answered change stays, whatever happens to the transaction."""

    def __init__(self, server, rng, state):
        super().__init__(server, rng)
        self.state = state

    def work(self, connection, cursor):
        self.state["n"] += 1
        connection.begin()
        cursor.execute("INSERT INTO m.plain VALUES (%s, REPEAT('p', %s))", (self.state["n"], self.random.randrange(900)))
        connection.rollback()
        self.state["acked"].add(self.state["n"])


class Replacer(Patient):
    """Rows whose numbers are automatic, known by another key: a number given twice would change another key's row."""

    def __init__(self, server, rng, state):
        super().__init__(server, rng)
        self.state, self.unsure = state, None

    def attempt(self, connection, cursor):
        key, self.state["n"] = self.random.randrange(12), self.state["n"] + 1
        new = None if self.random.random() < 0.2 else self.state["n"]
        self.unsure = (key, new)
        row = f"({self.state['w']}, {key}, {new}, REPEAT('r', {int(10 ** self.random.uniform(1, 5))}))"
        if new is None:
            cursor.execute(f"DELETE FROM m.numbered WHERE w = {self.state['w']} AND k = {key}")
        elif self.random.random() < 0.6:
            cursor.execute(f"REPLACE INTO m.numbered (w, k, v, s) VALUES {row}")
        else:
            cursor.execute(f"INSERT INTO m.numbered (w, k, v, s) VALUES {row} ON DUPLICATE KEY UPDATE v = VALUE(v), s = VALUE(s)")
        self.state["acked"][key] = new
        self.unsure = None


class States:
    """The known state over all lives."""

    def __init__(self):
        self.families = [{"w": w, "next": 0, "live": set()} for w in (1, 2)]
        self.definer, self.branches = {"n": 0}, {
            "lock": threading.Lock(), "n": 0, "begun": set(), "prepared": set(), "most": 0}
        self.plain = {"n": 0, "acked": set()}
        self.numbered = [{"w": w, "n": 0, "acked": {}} for w in (1, 2)]
        # Number of lives that ended after a checkpoint with the undo of all open transactions, and the largest size of it.
        self.saved, self.most = 0, 0

    def sessions(self, server, rng):
        child = lambda: random.Random(rng.random())  # noqa: E731
        return [Family(server, child(), state) for state in self.families] + [
            Brancher(server, child(), self.branches) for _ in range(BRANCHERS)] + [
            Definer(server, child(), self.definer), Hoarder(server, child()), Plain(server, child(), self.plain)] + [
            Replacer(server, child(), state) for state in self.numbered]


def check_families(cursor, sessions):
    for session in (s for s in sessions if isinstance(s, Family)):
        state = session.state
        there = {row[0] for row in rows(cursor, f"SELECT id FROM m.parent WHERE w = {state['w']}")}
        expected = set(state["live"])
        old, new = session.unsure or (None, None)
        if new in there or (old is not None and old not in there):
            expected.discard(old)
            expected |= {new} - {None}
        assert there == expected, f"lost {sorted(expected - there)[:5]}, too many {sorted(there - expected)[:5]}"
        state["live"] = there
    orphans = rows(cursor, "SELECT COUNT(*) FROM m.child c LEFT JOIN m.parent p ON p.id = c.pid WHERE p.id IS NULL")
    assert orphans[0][0] == 0, f"{orphans} children without parent"
    odd = rows(cursor, "SELECT COUNT(*) FROM (SELECT p.id FROM m.parent p LEFT JOIN m.child c ON c.pid = p.id"
                       " GROUP BY p.id HAVING COUNT(c.id) <> 2) x")
    assert odd[0][0] == 0, f"{odd} parents without two children"


def check_branches(cursor, state, rng):
    """Checks the branches; most stay prepared over a restart or two."""
    waiting = {int(row[3][1:]) for row in rows(cursor, "XA RECOVER")}
    state["most"] = max(state["most"], len(waiting))
    assert state["prepared"] <= waiting, f"branches are missing: {sorted(state['prepared'] - waiting)[:5]}"
    assert waiting <= state["prepared"] | state["begun"], "branches nobody prepared"
    state["begun"].clear()
    for n in sorted(waiting):
        if rng.random() < 0.25:
            outcome = rng.choice(["COMMIT", "ROLLBACK"])
            cursor.execute(f"XA {outcome} 'b{n}'")
            there = rows(cursor, f"SELECT LENGTH(s) FROM m.branch WHERE id IN ({2 * n}, {2 * n + 1}) ORDER BY id")
            assert [row[0] for row in there] == ([900, 1] if outcome == "COMMIT" else []), f"branch {n}: {there}"
            waiting.discard(n)
    state["prepared"] = waiting
    cursor.execute("DELETE FROM m.branch WHERE id IN (SELECT id FROM (SELECT id FROM m.branch) x)"
                   if not waiting else "DO 1")


def check_tables(cursor):
    for (table,) in rows(cursor, "SHOW TABLES FROM m"):
        if table != "branch":
            verdict = rows(cursor, f"CHECK TABLE m.{table} EXTENDED")
            assert verdict[-1][3] == "OK", verdict
        if table.startswith("t") and table[1].isdigit():
            (n,), = rows(cursor, f"SELECT COUNT(*) FROM m.{table}")
            assert n in (0, 2), f"{table} has {n} rows"
            cursor.execute(f"DROP TABLE m.{table}")


def check_numbered(cursor, sessions):
    for session in (s for s in sessions if isinstance(s, Replacer)):
        acked, unsure = session.state["acked"], session.unsure
        there = dict(rows(cursor, f"SELECT k, v FROM m.numbered WHERE w = {session.state['w']}"))
        if unsure and there.get(unsure[0]) == unsure[1]:
            acked[unsure[0]] = unsure[1]
        expected = {key: value for key, value in acked.items() if value is not None}
        assert there == expected, f"numbered rows {sorted(there.items())} instead of {sorted(expected.items())}"
    following = "SELECT auto_increment FROM information_schema.tables WHERE table_schema = 'm' AND table_name = 'numbered'"
    ((after, most),) = rows(cursor, f"SELECT ({following}), COALESCE(MAX(id), 0) FROM m.numbered")
    assert after > most, f"number {most} is there and {after} comes next"


def verify(server, states, sessions, rng):
    with server.connect(read_timeout=120) as connection, connection.cursor() as cursor:
        check_families(cursor, sessions)
        changed = rows(cursor, "SELECT COUNT(*) FROM m.open WHERE s <> REPEAT('a', 1000)")[0][0]
        assert changed == 0, f"{changed} rows of transactions that never committed"
        there = {row[0] for row in rows(cursor, "SELECT id FROM m.plain")}
        lost = states.plain["acked"] - there
        assert not lost, f"answered changes of a table without transactions are gone: {sorted(lost)[:5]}"
        check_numbered(cursor, sessions)
        check_branches(cursor, states.branches, rng)
        check_tables(cursor)
        left = rows(cursor, "SHOW CREATE TABLE m.child")[0][1]
        assert "FOREIGN KEY" in left, left


def life(server, states, rng):
    sessions = states.sessions(server, rng)
    for session in sessions:
        session.start()
    time.sleep(rng.uniform(0.5, 3.0))
    # Most lives end after a checkpoint that had to keep the undo of all transactions.
    if rng.random() < 0.8:
        hoarder = next(session for session in sessions if isinstance(session, Hoarder))
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and hoarder.is_alive() and not saved_since(server, hoarder.full):
            time.sleep(0.05)
        states.saved += saved_since(server, hoarder.full)
        states.most = max(states.most, undo_saved(server))
    # A clean end rolls back open transactions, and keeps prepared ones.
    if rng.random() < 0.15:
        server.stop()
    else:
        server.kill()
    for session in sessions:
        session.join(90)
        ended = session.problem is None or session.problem.args[0] in STOPPED
        assert not session.is_alive() and ended, f"{type(session).__name__}: {session.problem!r}"
    if rng.random() < 0.4:
        try:
            server.start(rng.uniform(0.05, 0.8))
        except RuntimeError as error:
            assert "did not answer" in str(error), error
        server.kill()
    server.start(120)
    verify(server, states, sessions, rng)


def snapshots(server):
    """Returns the snapshot files of undo."""
    names = [os.path.join(server.datadir, name) for name in ("snapshot.0", "snapshot.1")]
    return [os.stat(name) for name in names if os.path.exists(name)]


def undo_saved(server):
    return max(file.st_size for file in snapshots(server))


def saved_since(server, when):
    return when is not None and any(file.st_size > RESERVED and file.st_mtime > when for file in snapshots(server))


def told(states):
    return (f"{states.branches['n']} branches, {states.branches['most']} at once, {states.definer['n']} tables,"
            f" {states.plain['n']} changes without transaction, {states.saved} with undo of up to {states.most >> 10} KiB saved")


def main():
    binary, lives = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    rng, states = random.Random(seed), States()
    server = Server(binary, options=OPTIONS).start()
    try:
        with server.connect() as connection, connection.cursor() as cursor:
            for statement in SCHEMA.split("\n"):
                cursor.execute(statement)
        for number in range(1, lives + 1):
            life(server, states, rng)
            if number % 10 == 0:
                print(f"life {number}: {told(states)}", flush=True)
        assert states.saved > lives // 3, f"only {states.saved} lives ended after a checkpoint with the undo of all"
        server.stop()
    except (AssertionError, RuntimeError):
        print(server.log(), file=sys.stderr)
        raise
    finally:
        server.remove()
    print(f"mixed: {lives} lives, {told(states)}, nothing lost")


if __name__ == "__main__":
    main()
