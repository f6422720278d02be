"""Several sessions step by step: the rows each sees, lock waits, and the order in which waiters go on.

usage: run.py PORT [--record] [--match TEXT] [--part K/N]    --part K/N runs every Nth script, from the Kth

A script in scripts/ is a list of lines `NAME: SQL`; NAME is a session, `setup` runs before all.
A script whose first line is `levels` runs at all isolation levels, and at REPEATABLE READ and
SERIALIZABLE also with innodb_snapshot_isolation=ON. After each line the runner records the result:
rows, affected rows, or the error's number. A statement that has not ended after WAIT seconds, and that waits for
another session according to the server, is recorded as waiting. Its result is recorded after
the line that let it go on. `wait: SECONDS` lets waiting sessions go on by themselves, within that time.

--record writes the results of the server at PORT, a MariaDB 10.11, to the .result files; otherwise the
server's answers are compared with them.
"""

import argparse
import pathlib
import queue
import sys
import threading
import time

import pymysql

WAIT = 0.35
# Longest time in seconds of a slow statement that waits for no session.
PATIENCE = 20
IS_BLOCKED = """
    SELECT EXISTS (SELECT * FROM information_schema.innodb_trx
                   WHERE trx_mysql_thread_id = %s AND trx_state = 'LOCK WAIT')
        OR EXISTS (SELECT * FROM information_schema.processlist
                   WHERE id = %s AND (state LIKE 'Waiting for %%' OR state LIKE 'User %%'))"""
HERE = pathlib.Path(__file__).parent / "scripts"
LEVELS = ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"]


class Session(threading.Thread):
    """One connection; it takes statements and returns their results."""

    def __init__(self, port, settings):
        super().__init__(daemon=True)
        self.connection = pymysql.connect(host="127.0.0.1", port=port, user="root", database="isolation",
                                          autocommit=True)
        for setting in settings:
            self.connection.cursor().execute(setting)
        self.todo, self.done, self.waiting = queue.Queue(), queue.Queue(), False
        self.start()

    def run(self):
        while (sql := self.todo.get()) is not None:
            self.done.put(self.outcome(sql))
        self.connection.close()

    def outcome(self, sql):
        try:
            with self.connection.cursor() as cursor:
                affected = cursor.execute(sql)
                if cursor.description is None:
                    return f"ok {affected}"
                return "rows " + " ".join(str(row) for row in cursor.fetchall())
        except pymysql.MySQLError as error:
            return f"error {error.args[0]}"

    def result(self, seconds):
        try:
            return self.done.get(timeout=seconds)
        except queue.Empty:
            return None

    def result_unless_blocked(self, admin):
        """Returns the result, or None if the statement waits for another session (not only for a slow machine)."""
        deadline = time.monotonic() + PATIENCE
        while (result := self.result(WAIT)) is None and time.monotonic() < deadline:
            with admin.cursor() as cursor:
                cursor.execute(IS_BLOCKED, [self.connection.thread_id()] * 2)
                if cursor.fetchone() == (1,):
                    return self.result(0.01)
        return result or self.stuck(admin)

    def stuck(self, admin):
        """Prints what the server shows for a statement that neither ends nor waits for a session."""
        with admin.cursor() as cursor:
            cursor.execute("SELECT command, time, state, info FROM information_schema.processlist WHERE id = %s",
                           [self.connection.thread_id()])
            print(f"isolation: no answer in {PATIENCE} s, says the server: {cursor.fetchone()}")


def run_script(port, lines, settings):
    admin = pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True)
    with admin.cursor() as cursor:
        cursor.execute("DROP DATABASE IF EXISTS isolation")
        cursor.execute("CREATE DATABASE isolation CHARACTER SET latin1")
        cursor.execute("USE isolation")
        for line in lines:
            if line.startswith("setup:"):
                cursor.execute(line.partition(":")[2])
    sessions, notes = {}, []
    try:
        for line in lines:
            if not line.startswith("setup:"):
                notes += step((port, admin), sessions, settings, line)
    finally:
        for session in sessions.values():
            session.todo.put(None)
        deadline = time.monotonic() + 5
        for session in sessions.values():
            session.join(max(0.1, deadline - time.monotonic()))
        admin.cursor().execute("DROP DATABASE isolation")
        admin.close()
    return notes


def step(server, sessions, settings, line):
    (port, admin), (name, _, sql) = server, line.partition(":")
    if name == "wait":
        return [line] + gone_on(sessions, lambda session: session.result(float(sql)))
    if name not in sessions:
        sessions[name] = Session(port, settings)
    session = sessions[name]
    if session.waiting:
        return [line, "  (still waits)"]
    session.todo.put(sql.strip())
    result = session.result_unless_blocked(admin)
    session.waiting = result is None
    notes = [line, "  waits" if result is None else f"  {result}"]
    others = {n: s for n, s in sessions.items() if s is not session}
    notes += gone_on(others, lambda other: other.result_unless_blocked(admin))
    return notes + gone_on({name: session}, lambda session: session.result(0))


def gone_on(sessions, result_of):
    """Returns notes of sessions that no longer wait."""
    notes = []
    for name, session in sorted(sessions.items()):
        if session.waiting and (result := result_of(session)) is not None:
            session.waiting = False
            notes.append(f"  {name} goes on: {result}")
    return notes


def variants(lines):
    if not lines or lines[0] != "levels":
        yield "", lines, []
        return
    for level in LEVELS:
        modes = ("OFF", "ON") if level in ("REPEATABLE READ", "SERIALIZABLE") else ("OFF",)
        for mode in modes:
            settings = [f"SET SESSION TRANSACTION ISOLATION LEVEL {level}",
                        f"SET SESSION innodb_snapshot_isolation={mode}"]
            yield f"== {level}, innodb_snapshot_isolation={mode}", lines[1:], settings


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--match", default="")
    parser.add_argument("--part", default="1/1")
    options = parser.parse_args()
    failed, (part, parts) = 0, map(int, options.part.split("/"))
    scripts = sorted(script for script in HERE.glob("*.script") if options.match in script.name)
    for script in scripts[part - 1::parts]:
        lines = [line for line in script.read_text().splitlines() if line and not line.startswith("#")]
        notes = []
        for title, body, settings in variants(lines):
            notes += [title] if title else []
            notes += run_script(options.port, body, settings)
        expected = script.with_suffix(".result")
        if options.record:
            expected.write_text("\n".join(notes) + "\n")
            continue
        wanted = expected.read_text().splitlines()
        if notes != wanted:
            failed += 1
            report(script.name, wanted, notes)
    print(f"isolation: {failed} scripts differ" if failed else "isolation: ok")
    sys.exit(1 if failed else 0)


def report(name, wanted, found):
    import difflib
    print(f"isolation: {name} differs")
    for line in difflib.unified_diff(wanted, found, "expected", "found", lineterm="", n=3):
        print("   ", line)


main()
