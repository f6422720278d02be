"""kill -9 during a write load, again and again: no acknowledged change may be missing.

Writers commit transactions of two ledger rows and one increment of their own counter; a teller moves
money between two accounts; one session changes definitions; one keeps a large transaction open; one
prepares branches and ends some of them. Acknowledged changes are remembered outside the server.
After every restart: each acknowledged row is there, no transaction is applied in part, counters and
sums agree, AUTO_INCREMENT values are not repeated, definitions are complete, prepared branches wait for
their outcome, and CHECK TABLE EXTENDED compares every index with its table.

usage: crash.py BINARY CYCLES [SEED] [--xa]      100 cycles take about 3 minutes; 1000 are for a night
"""

import os
import random
import sys
import threading
import time
import zlib

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from selkie import Server  # noqa: E402

WRITERS = 4
ACCOUNTS = 20
MONEY = 1000
SCHEMA = [
    "CREATE DATABASE crash",
    """CREATE TABLE crash.ledger (
        id BIGINT AUTO_INCREMENT PRIMARY KEY, worker INT NOT NULL, seq INT NOT NULL,
        part INT NOT NULL, payload LONGTEXT NOT NULL, checksum BIGINT NOT NULL,
        UNIQUE KEY place (worker, seq, part), KEY by_checksum (checksum),
        FULLTEXT KEY words (payload))""",
    "CREATE TABLE crash.counters (worker INT PRIMARY KEY, n INT NOT NULL, KEY by_n (n))",
    "CREATE TABLE crash.accounts (id INT PRIMARY KEY, money INT NOT NULL, KEY by_money (money))",
    "CREATE TABLE crash.bulk (id INT PRIMARY KEY, n INT NOT NULL, filler VARCHAR(200), KEY by_n (n))",
    "CREATE TABLE crash.branches (id INT PRIMARY KEY, part INT NOT NULL, KEY by_part (part))",
    "CREATE TABLE crash.replaced SELECT 1 AS a UNION ALL SELECT 2",
    "CREATE DATABASE crash_replaced",
]
LOST = (0, 2003, 2006, 2013)


class Session(threading.Thread):
    """Works until the server dies."""

    # Of its connection.
    options = {}

    def __init__(self, server, rng):
        super().__init__(daemon=True)
        self.server, self.random, self.problem = server, rng, None

    def run(self):
        try:
            connection = self.server.connect(read_timeout=60, write_timeout=60, **self.options)
            with connection.cursor() as cursor:
                while True:
                    self.work(connection, cursor)
        except (pymysql.err.OperationalError, pymysql.err.InterfaceError, OSError) as error:
            if error.args and error.args[0] not in LOST:
                self.problem = error
        except (pymysql.MySQLError, AssertionError) as error:
            self.problem = error


class Writer(Session):
    """Writes two ledger rows and a counter; `acked` are (sequence number, largest id) known to be committed."""

    def __init__(self, server, rng, number, first):
        super().__init__(server, rng)
        self.number, self.seq, self.acked, self.top = number, first, [], 0

    def work(self, connection, cursor):
        connection.begin()
        for part in range(2):
            size = 30_000 if self.random.random() < 0.05 else 400
            payload = f"worker{self.number} seq{self.seq} part{part} "
            payload += self.random.choice("abcdefgh") * self.random.randrange(10, size)
            checksum = zlib.crc32(payload.encode())
            cursor.execute(
                "INSERT INTO crash.ledger (worker, seq, part, payload, checksum)"
                " VALUES (%s, %s, %s, %s, %s)", (self.number, self.seq, part, payload, checksum))
            top = cursor.lastrowid
        cursor.execute("UPDATE crash.counters SET n = n + 1 WHERE worker = %s", (self.number,))
        if self.random.random() < 0.1:
            connection.rollback()
            return
        connection.commit()
        self.top = top
        self.acked.append(self.seq)
        self.seq += 1


class Teller(Session):
    """Moves money between accounts; the sum stays."""

    def work(self, connection, cursor):
        source, target = self.random.sample(range(ACCOUNTS), 2)
        connection.begin()
        for account, amount in sorted([(source, -1), (target, 1)]):
            cursor.execute("UPDATE crash.accounts SET money = money + %s WHERE id = %s", (amount, account))
        connection.commit()


class Definer(Session):
    """Creates, changes, replaces and drops tables of its own; every table has two rows, or none after TRUNCATE."""

    def __init__(self, server, rng, number):
        super().__init__(server, rng)
        self.number = number

    def work(self, connection, cursor):
        self.number += 1
        name = f"crash.d{self.number}"
        cursor.execute(f"CREATE TABLE {name} (id INT AUTO_INCREMENT PRIMARY KEY, a INT, b VARCHAR(50))")
        cursor.execute(f"INSERT INTO {name} (a, b) VALUES (1, 'one'), (2, 'two')")
        changes = [
            f"ALTER TABLE {name} ADD INDEX by_a (a)",
            f"ALTER TABLE {name} ADD FULLTEXT INDEX words (b)",
            f"ALTER TABLE {name} ADD COLUMN c INT DEFAULT 7",
            f"ALTER TABLE {name} ADD UNIQUE INDEX by_b (b), MODIFY a BIGINT",
            f"RENAME TABLE {name} TO {name}r",
            f"TRUNCATE TABLE {name}",
        ]
        for change in self.random.sample(changes, 3):
            cursor.execute(change)
            if change.startswith("RENAME"):
                break
        cursor.execute("CREATE OR REPLACE TABLE crash.replaced (KEY (b))"
                       " SELECT 1 AS a, REPEAT('x', 40) AS b UNION ALL SELECT 2, 'two'")
        cursor.execute("CREATE OR REPLACE DATABASE crash_replaced COMMENT 'with a table'")
        cursor.execute("CREATE TABLE crash_replaced.t SELECT 1 AS a UNION ALL SELECT 2")
        if self.random.random() < 0.7:
            cursor.execute(f"DROP TABLE IF EXISTS {name}, {name}r")


class Hoarder(Session):
    """A long transaction that never commits."""

    def work(self, connection, cursor):
        connection.begin()
        for start in range(0, 2000, 200):
            cursor.execute("UPDATE crash.bulk SET n = n + 1, filler = REPEAT('x', 150)"
                           " WHERE id BETWEEN %s AND %s", (start, start + 199))
            time.sleep(0.005)
        connection.rollback()


class Brancher(Session):
    """Prepares branches of two rows. `prepared`: acknowledged branches; `ended`: acknowledged outcomes."""

    def __init__(self, server, rng, number):
        super().__init__(server, rng)
        self.number, self.prepared, self.ending = number, set(), {}
        self.ended = {}

    def work(self, connection, cursor):
        self.number += 1
        n, outcome = self.number, self.random.choice(["COMMIT", "ROLLBACK"])
        cursor.execute(f"XA START 'b{n}'")
        cursor.execute("INSERT INTO crash.branches VALUES (%s, 0), (%s, 1)", (2 * n, 2 * n + 1))
        cursor.execute(f"XA END 'b{n}'")
        cursor.execute(f"XA PREPARE 'b{n}'")
        self.prepared.add(n)
        time.sleep(self.random.random() * 0.01)
        self.ending[n] = outcome
        cursor.execute(f"XA {outcome} 'b{n}'")
        self.ended[n] = outcome


class History:
    """All acknowledged changes, over all lives of the server."""

    def __init__(self, rng, xa):
        self.rng, self.xa = rng, xa
        self.acked, self.attempted, self.next_seq = set(), set(), [0] * WRITERS
        self.top, self.definitions, self.branch = 0, 0, 0

    def child(self):
        return random.Random(self.rng.random())

    def sessions(self, server):
        writers = [Writer(server, self.child(), n, self.next_seq[n]) for n in range(WRITERS)]
        others = [Teller(server, self.child()), Definer(server, self.child(), self.definitions),
                  Hoarder(server, self.child())]
        if self.xa:
            others.append(Brancher(server, self.child(), self.branch))
        return writers + others

    def learn(self, sessions):
        for session in sessions:
            session.join(60)
            assert not session.is_alive() and session.problem is None, session.problem
            if isinstance(session, Writer):
                n = session.number
                self.acked.update((n, seq) for seq in session.acked)
                self.attempted.update((n, seq) for seq in range(self.next_seq[n], session.seq + 1))
                self.next_seq[n] = session.seq + 1
                self.top = max(self.top, session.top)
            elif isinstance(session, Definer):
                self.definitions = session.number
            elif isinstance(session, Brancher):
                self.branch = session.number


def rows(cursor, query):
    cursor.execute(query)
    return cursor.fetchall()


def check_ledger(cursor, history):
    present = {}
    for worker, seq, part, payload, checksum in rows(
            cursor, "SELECT worker, seq, part, payload, checksum FROM crash.ledger"):
        assert zlib.crc32(payload.encode()) == checksum, f"row {worker}/{seq} is damaged"
        present.setdefault((worker, seq), set()).add(part)
    missing = history.acked - present.keys()
    assert not missing, f"{len(missing)} acknowledged transactions are missing: {sorted(missing)[:5]}"
    partial = [key for key, parts in present.items() if parts != {0, 1}]
    assert not partial, f"transactions there in part: {partial[:5]}"
    unknown = present.keys() - history.attempted
    assert not unknown, f"rows nobody wrote: {sorted(unknown)[:5]}"
    for worker, n in rows(cursor, "SELECT worker, n FROM crash.counters"):
        there = sum(1 for key in present if key[0] == worker)
        assert n == there, f"counter {worker} is {n}, rows {there}"
    history.acked |= present.keys()


def check_rest(cursor, history):
    (money,), = rows(cursor, "SELECT SUM(money) FROM crash.accounts")
    assert money == ACCOUNTS * MONEY, f"{money} is not what the accounts had"
    (changed,), = rows(cursor, "SELECT COUNT(*) FROM crash.bulk WHERE n <> 0")
    assert changed == 0, f"{changed} rows of a transaction that never committed"
    cursor.execute("INSERT INTO crash.ledger (worker, seq, part, payload, checksum) VALUES (99, 0, 0, '', 0)")
    given = cursor.lastrowid
    cursor.execute("DELETE FROM crash.ledger WHERE worker = 99")
    assert given > history.top, f"AUTO_INCREMENT gave {given} after {history.top}"
    history.top = given


def check_branches(cursor, history, brancher):
    """Ends prepared branches, by commit or rollback, and compares with the acknowledged state."""
    waiting = {int(row[3][1:]) for row in rows(cursor, "XA RECOVER")}
    promised = brancher.prepared - brancher.ending.keys()
    assert promised <= waiting, f"prepared branches are missing: {promised - waiting}"
    assert not waiting & brancher.ended.keys(), f"ended branches are back: {waiting & brancher.ended.keys()}"
    outcomes = {n: brancher.ending.get(n) for n in brancher.prepared | waiting}
    for n in waiting:
        outcomes[n] = history.rng.choice(["COMMIT", "ROLLBACK"])
        cursor.execute(f"XA {outcomes[n]} 'b{n}'")
    there = {row[0] for row in rows(cursor, "SELECT id FROM crash.branches")}
    for n, outcome in outcomes.items():
        both = {2 * n, 2 * n + 1}
        assert there & both == (both if outcome == "COMMIT" else set()), f"branch {n}: {outcome}"
    cursor.execute("DELETE FROM crash.branches")


def check_definitions(cursor):
    """The definer's tables are complete, and the table and the database that it replaces are there. Then its own tables are
    dropped, so that the next life starts clean."""
    tables = [row[0] for row in rows(cursor, "SHOW TABLES FROM crash")]
    fixed = {"ledger", "counters", "accounts", "bulk", "branches", "replaced"}
    assert fixed <= set(tables), tables
    for table in tables:
        verdict = rows(cursor, f"CHECK TABLE crash.{table} EXTENDED")
        assert verdict[-1][3] == "OK", verdict
        if table not in fixed - {"replaced"}:
            count = rows(cursor, f"SELECT COUNT(*) FROM crash.{table}")[0][0]
            assert count in ((2,) if table in fixed else (0, 2)), f"{table} has {count} rows"
        if table not in fixed:
            cursor.execute(f"DROP TABLE crash.{table}")
    for (table,) in rows(cursor, "SHOW TABLES FROM crash_replaced"):
        assert rows(cursor, f"SELECT COUNT(*) FROM crash_replaced.{table}") in (((2,),), [(2,)])


def verify(server, history, sessions):
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SET SESSION max_statement_time = 60")
        for session in sessions:
            if isinstance(session, Brancher):
                check_branches(cursor, history, session)
        check_ledger(cursor, history)
        check_rest(cursor, history)
        check_definitions(cursor)
        # Rows known for long are not read again and again.
        if len(history.acked) > 1500:
            cursor.execute("DELETE FROM crash.ledger")
            cursor.execute("UPDATE crash.counters SET n = 0")
            history.acked.clear()


def cycle(server, history, number):
    sessions = history.sessions(server)
    for session in sessions:
        session.start()
    time.sleep(history.rng.uniform(0.1, 0.9))
    server.kill()
    history.learn(sessions)
    started = time.monotonic()
    server.start()
    back = time.monotonic() - started
    verify(server, history, sessions)
    if number % 10 == 0:
        print(f"cycle {number}: {sum(history.next_seq)} transactions, {history.definitions} tables, "
              f"{history.branch} branches, back in {back:.2f} s", flush=True)


def fill(server):
    with server.connect() as connection, connection.cursor() as cursor:
        for statement in SCHEMA:
            cursor.execute(statement)
        counters = [(n, 0) for n in range(WRITERS)]
        cursor.executemany("INSERT INTO crash.counters VALUES (%s, %s)", counters)
        accounts = [(n, MONEY) for n in range(ACCOUNTS)]
        cursor.executemany("INSERT INTO crash.accounts VALUES (%s, %s)", accounts)
        bulk = [(n, 0, "filler") for n in range(2000)]
        cursor.executemany("INSERT INTO crash.bulk VALUES (%s, %s, %s)", bulk)


def main():
    arguments = [a for a in sys.argv[1:] if a != "--xa"]
    binary, cycles = arguments[0], int(arguments[1])
    seed = int(arguments[2]) if len(arguments) > 2 else random.randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    history = History(random.Random(seed), "--xa" in sys.argv)
    server = Server(binary, options=["--innodb-buffer-pool-size=16M"]).start()
    try:
        fill(server)
        for number in range(1, cycles + 1):
            cycle(server, history, number)
        server.stop()
    finally:
        server.remove()
    print(f"crash: {cycles} cycles, {sum(history.next_seq)} transactions, {history.definitions} tables, "
          f"{history.branch} branches, nothing lost")


if __name__ == "__main__":
    main()
