#!/usr/bin/env python3
"""Random transactions of many sessions at each isolation level; the rows they read are checked for anomalies.

usage: histories.py PORT [--seconds S] [--seed N] [--sessions N] [--levels NAME,...] [--only lists|registers] [--no-ddl]

Two kinds of histories run, each S seconds long at each level, while other sessions add and drop an index and a column.
In lists, sessions append values and find rows in every way (primary key, secondary index, ranges, joins), also missing
rows. In registers, each write moves the row in a secondary index. cycles.py knows the anomalies that a level
forbids. The seed gives the statements; their interleaving differs each time.
"""

import argparse
import collections
import random
import sys
import threading
import time

import pymysql

from cycles import Transaction, anomalies, check_checker

KEYS = 7
LEVELS = {"READ UNCOMMITTED": ("READ UNCOMMITTED", 0), "READ COMMITTED": ("READ COMMITTED", 0),
          "REPEATABLE READ": ("REPEATABLE READ", 0), "SNAPSHOT": ("REPEATABLE READ", 1), "SERIALIZABLE": ("SERIALIZABLE", 0)}
# Deadlock, lock wait timeout, row changed since the snapshot, definition changed, index missing now.
EXPECTED = {1213, 1205, 1020, 1412, 1176}
DDL = ["ALTER TABLE {t} ADD KEY extra (sk, k)", "ALTER TABLE {t} DROP KEY extra", "ALTER TABLE {t} ADD COLUMN more INT DEFAULT 7",
       "ALTER TABLE {t} DROP COLUMN more", "ALTER TABLE {t} FORCE"]


class Session:
    """A connection that records the reads and writes of its transactions."""

    def __init__(self, port, level, seed):
        isolation, snapshot = LEVELS[level]
        self.level, self.random = level, random.Random(seed)
        self.connection = pymysql.connect(host="127.0.0.1", port=port, user="root", database="histories", autocommit=False)
        self.ask(f"SET SESSION TRANSACTION ISOLATION LEVEL {isolation}")
        self.ask(f"SET SESSION innodb_snapshot_isolation = {snapshot}, innodb_lock_wait_timeout = 3")
        self.begin = 0.0

    def ask(self, sql):
        with self.connection.cursor() as cursor:
            self.affected = cursor.execute(sql)
            return cursor.fetchall()

    def lock(self):
        """Returns the lock of a read: its SQL text, and whether the rows stay unchanged."""
        chosen = self.random.random()
        if chosen < 0.2:
            return " FOR UPDATE", True
        if chosen < 0.3:
            return " LOCK IN SHARE MODE", True
        return "", self.level == "SERIALIZABLE"


class History:
    """The work of a run's sessions: `done` are (session's note, reads, writes) of each committed transaction."""

    def __init__(self):
        self.mutex, self.values = threading.Lock(), 0
        self.done, self.aborted, self.errors, self.wrong = [], set(), collections.Counter(), []

    def value(self):
        with self.mutex:
            self.values += 1
            return self.values


class Lists:
    """Keys whose value is a list. A read is (key, list, whether it locks, also missing rows)."""

    table = "lists"

    def setup(self, ask):
        ask("CREATE OR REPLACE TABLE lists (k INT PRIMARY KEY, sk INT, v TEXT, KEY (sk)) ENGINE=InnoDB")
        ask("CREATE OR REPLACE TABLE pick (k INT PRIMARY KEY, one INT, KEY (one)) ENGINE=InnoDB")
        ask(f"INSERT INTO pick VALUES {', '.join(f'({k}, 1)' for k in range(KEYS))}")

    def operation(self, session, history, reads, appended):
        chosen = session.random
        if chosen.random() < 0.5:
            reads.append(self.read(session))
            return
        value, form = history.value(), chosen.randrange(8)
        appended.append(value)
        k = chosen.randrange(KEYS)
        last = min(KEYS, k + chosen.randint(1, 3))
        append = f"v = CONCAT(v, ',', '{value}')"
        if form == 0:
            session.ask(f"UPDATE lists SET {append} WHERE k = {k}")
        elif form == 1:
            session.ask(f"UPDATE lists FORCE INDEX (sk) SET {append} WHERE sk = {k}")
        elif form == 2:
            session.ask(f"UPDATE lists SET {append} WHERE k >= {k} AND k < {last}")
        elif form == 3:
            session.ask(f"UPDATE lists JOIN pick USING (k) SET {append} WHERE pick.k = {k}")
        elif form == 4:
            reads.append(self.write_what_was_read(session, k, value))
        elif form == 5:
            rows = ", ".join(f"({n}, {n}, '{value}')" for n in range(k, last))
            session.ask(f"INSERT INTO lists (k, sk, v) VALUES {rows} ON DUPLICATE KEY UPDATE {append}")
        else:
            session.ask(f"INSERT INTO lists (k, sk, v) VALUES ({k}, {k}, '{value}') ON DUPLICATE KEY UPDATE {append}")

    def write_what_was_read(self, session, k, value):
        """Reads with a lock and writes the whole list back."""
        rows = session.ask(f"SELECT v FROM lists WHERE k = {k} FOR UPDATE")
        if rows:
            session.ask(f"UPDATE lists SET v = '{rows[0][0]},{value}' WHERE k = {k}")
        return {k: parsed(rows[0][0]) if rows else []}, True

    def read(self, session):
        first = session.random.randrange(KEYS)
        last = min(KEYS, first + session.random.randint(1, 4))
        lock, locking = session.lock()
        form = session.random.choice([f"lists WHERE k = {first}", f"lists FORCE INDEX (sk) WHERE sk = {first}",
                                      f"lists WHERE k >= {first} AND k < {last}",
                                      f"lists FORCE INDEX (sk) WHERE sk >= {first} AND sk < {last}",
                                      f"lists FORCE INDEX (extra) WHERE sk >= {first} AND sk < {last}",
                                      f"lists IGNORE INDEX (sk, PRIMARY) WHERE sk BETWEEN {first} AND {last - 1}",
                                      f"pick JOIN lists USING (k) WHERE pick.k = {first}"])
        if "IGNORE" in form:
            form = f"lists USE INDEX () WHERE sk BETWEEN {first} AND {last - 1}"
        keys = range(first, first + 1 if form.endswith(f"= {first}") else last)
        seen = {k: [] for k in keys}
        seen.update((k, parsed(v)) for k, v in session.ask(f"SELECT k, v FROM {form}{lock}"))
        return seen, locking

    def normal(self, history, ask):
        """Returns (transactions, versions) for the checker; faults at any level go to history.wrong."""
        final = {k: parsed(v) for k, v in ask("SELECT k, v FROM lists")}
        writers, transactions = {}, []
        for note, reads, appended in history.done:
            transaction = Transaction(*note)
            writers.update(dict.fromkeys(appended, transaction))
            transactions.append((transaction, reads))
        for k, values in final.items():
            if len(set(values)) < len(values):
                history.wrong.append(f"a value is twice in the list of {k}")
            if lost := [v for v in values if v not in writers]:
                history.wrong.append(f"values of no transaction that committed in the list of {k}: {lost[:5]}")
        versions = {k: [writers[v] for v in values if v in writers] for k, values in final.items()}
        for transaction, reads in transactions:
            for seen, locking in reads:
                for k, values in seen.items():
                    self.note_read(history, transaction, (k, values, locking), final.get(k, []), writers)
        return [t for t, _ in transactions], versions

    def note_read(self, history, transaction, read, final, writers):
        k, values, locking = read
        if values != final[:len(values)]:
            of_aborted = [v for v in values if v in history.aborted]
            if history.level != "READ UNCOMMITTED":
                history.wrong.append(f"{'G1a' if of_aborted else 'not a prefix'}: {transaction.name} read {values} of {k}: {final}")
            return
        own = values and writers[values[-1]] is transaction
        following = final[len(values):]
        if values and not own and following and writers[following[0]] is writers[values[-1]] and history.level != "READ UNCOMMITTED":
            history.wrong.append(f"G1b: {transaction.name} read {values} of {k}: {final}")
        # Gap locks lock missing rows, from REPEATABLE READ on.
        if not values and locking and history.level.startswith("READ"):
            locking = False
        if not own:
            transaction.reads.append((k, len(values), locking))


class Registers:
    """Rows with a version that each write increments, and a secondary key that changes with it."""

    table = "registers"

    def setup(self, ask):
        ask("CREATE OR REPLACE TABLE registers (k INT PRIMARY KEY, sk INT, ver INT, val INT, KEY (sk), KEY (ver, val)) ENGINE=InnoDB")
        ask(f"INSERT INTO registers VALUES {', '.join(f'({k}, 0, 0, 0)' for k in range(KEYS))}")

    def operation(self, session, history, reads, written):
        k, form = session.random.randrange(KEYS), session.random.randrange(9)
        if form < 4:
            reads.append(self.read(session, k))
            return
        value = history.value()
        change = f"val = {value}, ver = ver + 1, sk = ver % 5"
        if form == 4:
            session.ask(f"UPDATE registers SET {change} WHERE k = {k}")
        elif form == 5:
            session.ask(f"INSERT INTO registers (k, sk, ver, val) VALUES ({k}, 9, 9, 9) ON DUPLICATE KEY UPDATE {change}")
        elif form == 6:
            session.ask(f"UPDATE registers SET {change} WHERE sk BETWEEN 1 AND 2 ORDER BY sk LIMIT 2")
        elif form == 7:
            session.ask(f"REPLACE INTO registers (k, sk, ver, val) SELECT k, (ver + 1) % 5, ver + 1, {value} FROM registers WHERE k = {k} FOR UPDATE")
        else:
            seen = session.ask(f"SELECT ver FROM registers WHERE k = {k} FOR UPDATE")
            reads.append(({k: seen[0][0]}, True))
            session.ask(f"UPDATE registers SET ver = {seen[0][0] + 1}, val = {value}, sk = {(seen[0][0] + 1) % 5} WHERE k = {k}")
        # The new version: a transaction sees its own writes.
        written += [(k, ver) for k, ver in session.ask(f"SELECT k, ver FROM registers WHERE val = {value}")]

    def read(self, session, k):
        lock, locking = session.lock()
        if session.random.random() < 0.4:
            rows = session.ask(f"SELECT k, sk, ver FROM registers WHERE k = {k}{lock}")
        elif session.random.random() < 0.5:
            rows = session.ask(f"SELECT k, sk, ver FROM registers FORCE INDEX (sk) WHERE sk BETWEEN {k % 4} AND {k % 4 + 1}{lock}")
        else:
            # Each row is on exactly one of the two sides, if the statement reads one snapshot.
            rows, locking = session.ask("SELECT k, sk, ver FROM registers FORCE INDEX (sk) WHERE sk < 2 UNION ALL "
                                        "SELECT k, sk, ver FROM registers FORCE INDEX (sk) WHERE sk >= 2"), session.level == "SERIALIZABLE"
            if session.level != "READ UNCOMMITTED" and sorted(r[0] for r in rows) != list(range(KEYS)):
                raise Wrong(f"both sides of a range together: {rows}")
        if any(sk != ver % 5 for _, sk, ver in rows):
            raise Wrong(f"columns of one row that were never together: {rows}")
        return {k: ver for k, _, ver in rows}, locking

    def normal(self, history, ask):
        final = dict(ask("SELECT k, ver FROM registers"))
        versions, transactions = {k: [None] * ver for k, ver in final.items()}, []
        for note, reads, written in history.done:
            transaction = Transaction(*note)
            transactions.append((transaction, reads))
            for k, ver in written:
                if ver > final[k] or versions[k][ver - 1] is not None:
                    history.wrong.append(f"lost update: version {ver} of {k} was written twice, or not kept")
                else:
                    versions[k][ver - 1] = transaction
        if missing := sorted(k for k, writers in versions.items() if None in writers):
            history.wrong.append(f"versions of no transaction that committed: of {missing}")
            return [], {}
        for transaction, reads in transactions:
            own = {(k, at + 1) for k, writers in versions.items() for at, w in enumerate(writers) if w is transaction} if reads else ()
            for seen, locking in reads:
                transaction.reads += [(k, ver, locking) for k, ver in seen.items() if (k, ver) not in own and ver <= final[k]]
        return [t for t, _ in transactions], versions


class Wrong(Exception):
    """Describes reads that are wrong in every transaction."""


def parsed(text):
    return [int(part) for part in text.split(",")]


def work(session, workload, history, stop):
    number = 0
    while time.monotonic() < stop:
        number += 1
        reads, writes, done = [], [], False
        first = history.values
        try:
            done = transaction(session, workload, history, (reads, writes))
        except Wrong as wrong:
            history.wrong.append(str(wrong))
        except pymysql.MySQLError as error:
            history.errors[error.args[0]] += 1
            if error.args[0] not in EXPECTED:
                history.wrong.append(f"error {error.args}")
        if done:
            name = f"{session.name}/{number}"
            with history.mutex:
                history.done.append(((name, session.begin, time.monotonic()), reads, writes))
        else:
            history.aborted.update(w for w in writes if isinstance(w, int))
            session.connection.rollback()
    session.connection.close()
    return first


def transaction(session, workload, history, notes):
    reads, writes = notes
    session.begin = time.monotonic()
    session.ask("BEGIN")
    for _ in range(session.random.randint(1, 5)):
        if session.random.random() < 0.08:
            undone = []
            session.ask("SAVEPOINT s")
            workload.operation(session, history, [], undone)
            session.ask("ROLLBACK TO SAVEPOINT s")
            history.aborted.update(w for w in undone if isinstance(w, int))
        else:
            workload.operation(session, history, reads, writes)
    if session.random.random() < 0.1:
        return False
    session.connection.commit()
    return True


def change_tables(port, table, stop, seed, history):
    """Runs online DDL as long as the other sessions run."""
    connection = pymysql.connect(host="127.0.0.1", port=port, user="root", database="histories", autocommit=True)
    source = random.Random(seed)
    cursor = connection.cursor()
    cursor.execute("SET SESSION lock_wait_timeout = 2, innodb_lock_wait_timeout = 2")
    while time.monotonic() < stop:
        try:
            cursor.execute(source.choice(DDL).format(t=table))
        except pymysql.MySQLError as error:
            # Also: already exists, and does not exist.
            if error.args[0] not in EXPECTED | {1060, 1061, 1091}:
                history.wrong.append(f"DDL: {error.args}")
        time.sleep(source.random() * 0.3)
    connection.close()


def run(options, level, workload, seed):
    admin = pymysql.connect(host="127.0.0.1", port=options.port, user="root", autocommit=True)
    def ask(sql):
        with admin.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()
    ask("CREATE OR REPLACE DATABASE histories")
    ask("USE histories")
    workload.setup(ask)
    history, stop = History(), time.monotonic() + options.seconds
    history.level = level
    threads = []
    for number in range(options.sessions):
        session = Session(options.port, level, f"{seed}/{level}/{number}")
        session.name = f"s{number}"
        threads.append(threading.Thread(target=work, args=(session, workload, history, stop)))
    if options.ddl:
        threads.append(threading.Thread(target=change_tables, args=(options.port, workload.table, stop, seed, history)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    transactions, versions = workload.normal(history, ask)
    found = history.wrong + anomalies(level, transactions, versions)
    if checked := [row for row in ask(f"CHECK TABLE {workload.table} EXTENDED") if row[3] != "OK"]:
        found.append(f"CHECK TABLE: {checked}")
    print(f"histories: {level:16} {workload.table:9} {len(transactions):6} transactions, errors {dict(history.errors)}, "
          f"{len(found)} anomalies", flush=True)
    for text in found[:options.shown]:
        print("   ", text[:400])
    ask("DROP DATABASE histories")
    admin.close()
    return not found


def main():
    options = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2])
    options.add_argument("port", type=int)
    options.add_argument("--seconds", type=float, default=3.5)
    options.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    options.add_argument("--sessions", type=int, default=8)
    options.add_argument("--levels", default=",".join(LEVELS))
    options.add_argument("--only", choices=["lists", "registers"])
    options.add_argument("--no-ddl", dest="ddl", action="store_false")
    options.add_argument("--shown", type=int, default=5)
    options = options.parse_args()
    check_checker()
    print(f"histories: --seed {options.seed}", flush=True)
    workloads = [w for w in (Lists(), Registers()) if options.only in (None, w.table)]
    results = [run(options, level, workload, options.seed) for level in options.levels.split(",") for workload in workloads]
    print("histories: ok" if all(results) else "histories: FAILED")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
