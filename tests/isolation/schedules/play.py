"""Plays a schedule on a server and records the result of each statement, and which session waits until when.

The script asks the server whether a statement waits (SHOW ENGINE INNODB STATUS), so that a slow machine
does not look like a lock wait.
"""

import queue
import threading
import time

import pymysql

# Seconds that a statement may take before the script asks the server whether it waits.
PATIENCE = 0.03
# Number of equal answers in a row that count: a session that was let go may not have noticed it yet.
CONFIRMATIONS = 3
LIMIT = 20
# MariaDB purges deleted rows in the background; without a pause its locks depend on the progress of the purge.
PURGE = 0.015


class Session(threading.Thread):
    """One connection; it takes statements and returns their results."""

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
        # Making a TLS context takes longer than the whole schedule.
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
        """Returns whether the session's transaction waits for a lock, according to the server."""
        report = self.execute("SHOW ENGINE INNODB STATUS")[0][2]
        transactions = report.partition("LIST OF TRANSACTIONS FOR EACH SESSION:")[2].split("---TRANSACTION")
        return any(f"thread id {session.number}," in one and "LOCK WAIT" in one for one in transactions)

    def settled(self, session):
        """Returns the result of the session's statement, or None if it waits."""
        deadline, seen = time.monotonic() + LIMIT, 0
        while seen < CONFIRMATIONS:
            if (result := session.result(PATIENCE)) is not None:
                return result
            if time.monotonic() > deadline:
                return "hangs"
            seen = seen + 1 if self.waits(session) else 0
        return None

    def play(self, lines):
        """Returns the notes: for each line that is not set-up a list of its text and its results."""
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
        """Returns for each table the index by which a statement would reach it; None if it would read nothing."""
        try:
            rows = self.execute("EXPLAIN " + sql)
        except pymysql.MySQLError as error:
            return [error.args[0]]
        if rows[0][3] is None:
            return None
        # Access by a complete primary key or by a full scan counts as the same.
        return [None if (row[3], row[5]) == ("index", "PRIMARY") else row[5] for row in rows]
