"""Plays a schedule on a server and notes what each statement gives and who waits until when.

Whether a statement waits is asked of the server (SHOW ENGINE INNODB STATUS), so that a slow machine
does not look like a lock.
"""

import queue
import threading
import time

import pymysql

# How long a statement may take before the server is asked whether it waits.
PATIENCE = 0.03
# How often in a row it has to say so: whoever was let go may not have noticed yet.
CONFIRMATIONS = 3
LIMIT = 20
# MariaDB removes deleted rows in the background; without a pause what it locks depends on how far that is.
PURGE = 0.015


class Session(threading.Thread):
    """One connection; statements are given to it and their outcomes taken from it."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.connection = server.connect(server.database)
        self.number = self.connection.thread_id()
        self.todo, self.done, self.waiting = queue.Queue(), queue.Queue(), False
        self.start()

    def run(self):
        while (sql := self.todo.get()) is not None:
            self.done.put(outcome(self.connection, sql))
        self.connection.close()

    def result(self, seconds):
        try:
            return self.done.get(timeout=seconds)
        except queue.Empty:
            return None


def outcome(connection, sql):
    try:
        with connection.cursor() as cursor:
            affected = cursor.execute(sql)
            if cursor.description is None:
                return f"ok {affected}"
            return "rows " + " ".join(sorted(str(row) for row in cursor.fetchall()))
    except pymysql.MySQLError as error:
        return f"error {error.args[0]}"


class Server:
    """A server and a database in it."""

    def __init__(self, port, database):
        self.port, self.database = port, database
        self.admin = self.connect(None)
        self.execute(f"CREATE OR REPLACE DATABASE {database} CHARACTER SET latin1")
        self.execute(f"USE {database}")

    def connect(self, database):
        # A context for TLS costs more than the whole schedule.
        return pymysql.connect(host="127.0.0.1", port=self.port, user="root", database=database, autocommit=True,
                               ssl_disabled=True)

    def execute(self, sql):
        with self.admin.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()

    def set_up(self, lines):
        self.execute("SET foreign_key_checks = 0")
        self.execute("DROP TABLE IF EXISTS c, t")
        self.execute("SET foreign_key_checks = 1")
        for line in lines:
            if line.startswith("setup:"):
                outcome(self.admin, line.partition(":")[2])

    def close(self):
        self.execute(f"DROP DATABASE {self.database}")
        self.admin.close()

    def waits(self, session):
        """Whether the session's transaction waits for a lock, as the server says."""
        report = self.execute("SHOW ENGINE INNODB STATUS")[0][2]
        transactions = report.partition("LIST OF TRANSACTIONS FOR EACH SESSION:")[2].split("---TRANSACTION")
        return any(f"thread id {session.number}," in one and "LOCK WAIT" in one for one in transactions)

    def settled(self, session):
        """What the session's statement gave, or None if it waits."""
        deadline, seen = time.monotonic() + LIMIT, 0
        while seen < CONFIRMATIONS:
            if (result := session.result(PATIENCE)) is not None:
                return result
            if time.monotonic() > deadline:
                return "hangs"
            seen = seen + 1 if self.waits(session) else 0
        return None

    def play(self, lines):
        """The notes: for each line that is not set-up a list of its text and what came of it."""
        self.set_up(lines)
        sessions = {name: Session(self) for name in "AB"}
        try:
            return [self.step(sessions, line) for line in lines if not line.startswith("setup:")]
        finally:
            self.end(sessions)

    def end(self, sessions):
        for session in sessions.values():
            if session.waiting:
                outcome(self.admin, f"KILL {session.number}")
            session.todo.put(None)
        for session in sessions.values():
            session.join(10)

    def step(self, sessions, line):
        name, _, sql = line.partition(":")
        session = sessions[name]
        if session.waiting:
            return [line, "(still waits)"]
        session.todo.put(sql.strip())
        result = self.settled(session)
        session.waiting = result is None
        notes = [line, "waits" if result is None else result]
        for other, waiter in sessions.items():
            if waiter.waiting and waiter is not session and (result := self.settled(waiter)) is not None:
                waiter.waiting = False
                notes.append(f"{other} goes on: {result}")
        if session.waiting and len(notes) > 2 and (result := self.settled(session)) is not None:
            session.waiting = False
            notes.append(f"{name} goes on: {result}")
        if sql.strip() in ("COMMIT", "ROLLBACK"):
            time.sleep(PURGE)
        return notes

    def indexes(self, sql):
        """The index by which a statement would reach each table; None if it would read nothing."""
        try:
            rows = self.execute("EXPLAIN " + sql)
        except pymysql.MySQLError as error:
            return [error.args[0]]
        if rows[0][3] is None:
            return None
        # All of the primary key is all of the table.
        return [None if (row[3], row[5]) == ("index", "PRIMARY") else row[5] for row in rows]
