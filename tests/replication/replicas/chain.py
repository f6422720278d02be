"""A row of servers of which each next one replicates from the one before it."""

import contextlib
import threading
import time

import pymysql

from . import report
from .nodes import gtids, until

FATAL = (1236, 1593, 1595, 1623)
WAIT = 45


class Chain:
    """`nodes[0]` is the primary."""

    def __init__(self, name, nodes):
        self.name, self.nodes = name, nodes
        self.primary, self.replica, self.last = nodes[0], nodes[1], nodes[-1]
        self.followers = nodes[1:]

    def links(self):
        return list(zip(self.nodes, self.nodes[1:]))

    def clean(self):
        for node in reversed(self.nodes):
            node.clean()

    def follow(self, how="gtid", start=True):
        for source, node in self.links():
            node.follow(source, how, start)

    def stop(self):
        for node in self.followers:
            node.rows("STOP SLAVE")

    def start(self):
        for node in self.followers:
            node.rows("START SLAVE")

    def catch_up(self, seconds=WAIT, domains=None):
        """Waits until all have the groups of the primary; an error of a replica ends the check."""
        target = gtids(self.primary.variable("gtid_binlog_pos"))
        if domains is not None:
            target = {domain: gtid for domain, gtid in target.items() if domain in domains}
        for source, node in self.links():
            wait(source, node, target, seconds)

    def restart_replication(self, **options):
        self.stop()
        self.start()
        self.catch_up(**options)


def wait(source, node, target, seconds=WAIT):
    """Waits until a server has what the target position says, and in file and offset mode also the end of the log."""
    deadline, found, state = time.monotonic() + seconds, None, {}
    while True:
        state = node.status()
        check_errors(node, state)
        found = gtids(node.variable("gtid_slave_pos"))
        place = (state["Relay_Master_Log_File"], state["Exec_Master_Log_Pos"])
        if found == target and (state["Using_Gtid"] != "No" or place == source.place()):
            return
        if time.monotonic() > deadline:
            shown = {name: state[name] for name in ("Slave_IO_Running", "Slave_SQL_Running", "Slave_IO_State", "Last_IO_Error", "Last_SQL_Error", "Using_Gtid")}
            raise report.Failed(f"{node} did not catch up in {seconds} s: expected gtid_slave_pos {target} and {source.place()}, got {found} and "
                                f"{place}; {shown}")
        time.sleep(0.03)


def check_errors(node, state):
    report.require(state, f"{node}: SHOW SLAVE STATUS is empty")
    if state["Last_SQL_Errno"]:
        raise report.Failed(f"{node}: expected no error of the applier, got {state['Last_SQL_Errno']}: {state['Last_SQL_Error']}")
    if state["Last_IO_Errno"] in FATAL:
        raise report.Failed(f"{node}: expected no error of the receiver, got {state['Last_IO_Errno']}: {state['Last_IO_Error']}")


def running(node, seconds=20):
    """Waits until both threads of a replica run and the receiver is connected."""
    deadline = time.monotonic() + seconds
    while True:
        state = node.status() or {}
        if state.get("Slave_IO_Running") == "Yes" and state.get("Slave_SQL_Running") == "Yes":
            return
        shown = {name: state.get(name) for name in ("Slave_IO_Running", "Slave_SQL_Running", "Last_IO_Error", "Last_SQL_Error")}
        report.require(time.monotonic() < deadline, f"expected within {seconds} s: both threads of {node} run: {shown}")
        time.sleep(0.05)


def sql_error(node, number, seconds=20):
    """Waits until the applier has stopped with an error; returns the status."""
    def stopped():
        state = node.status()
        return state if state and state["Slave_SQL_Running"] == "No" and state["Last_SQL_Errno"] else None
    state = until(stopped, f"the applier of {node} stops with {number}", seconds)
    report.same("Last_SQL_Errno", state["Last_SQL_Errno"], number)
    report.same("Last_Errno", state["Last_Errno"], number)
    report.same("Last_Error is Last_SQL_Error", state["Last_Error"], state["Last_SQL_Error"])
    return state


def io_error(node, number, seconds=20):
    """Waits for an error of the receiver; returns the status."""
    def failed():
        state = node.status()
        return state if state and state["Last_IO_Errno"] else None
    state = until(failed, f"the receiver of {node} has error {number}", seconds)
    report.same("Last_IO_Errno", state["Last_IO_Errno"], number)
    return state


class Writers:
    """Sessions that write to the primary until they are told to stop, and note what was acknowledged.

    `shapes` are functions (cursor, writer, number), one of which makes a transaction or a statement.
    """

    def __init__(self, node, shapes, count=3, first=0):
        self.node, self.shapes, self.stopped, self.acknowledged, self.errors = node, shapes, threading.Event(), [], []
        self.threads = [threading.Thread(target=self.write, args=(number,), daemon=True) for number in range(first, first + count)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()

    def write(self, writer):
        at = 0
        while not self.stopped.is_set():
            try:
                connection = self.node.connect()
                with connection, connection.cursor() as cursor:
                    while not self.stopped.is_set():
                        at += 1
                        shape = self.shapes[at % len(self.shapes)]
                        try:
                            shape(cursor, writer, at)
                            self.acknowledged.append((writer, at))
                        except pymysql.MySQLError as error:
                            if error.args[0] not in (1205, 1213, 1020, 1412):
                                raise
                            cursor.execute("ROLLBACK")
                        time.sleep(0.002)
            except Exception as error:  # noqa: BLE001
                if self.node.is_alive() and not (error.args and error.args[0] in (0, 1053, 1927, 2003, 2006, 2013)):
                    self.errors.append(repr(error))
                time.sleep(0.05)


LEDGER = """CREATE DATABASE led; USE led;
CREATE TABLE ledger(w INT, a INT, PRIMARY KEY(w, a)); CREATE TABLE twin LIKE ledger; CREATE TABLE nokey(w INT, a INT, s VARCHAR(50));
CREATE TABLE hot(id INT PRIMARY KEY, n INT); INSERT INTO hot VALUES (0, 0), (1, 0);
CREATE TABLE my(w INT, a INT, PRIMARY KEY(w, a)) ENGINE=MyISAM;
CREATE TABLE txt(id INT AUTO_INCREMENT PRIMARY KEY, s TEXT);
"""


def transaction(cursor, writer, at):
    cursor.execute("BEGIN")
    cursor.execute("INSERT INTO led.ledger VALUES (%s, %s)", (writer, at))
    cursor.execute("INSERT INTO led.twin VALUES (%s, %s)", (writer, at))
    cursor.execute("UPDATE led.hot SET n = n + 1 WHERE id = %s", (writer % 2,))
    cursor.execute("COMMIT")


def single(cursor, writer, at):
    cursor.execute("INSERT INTO led.ledger VALUES (%s, %s)", (writer, at))


def keyless(cursor, writer, at):
    cursor.execute("INSERT INTO led.nokey VALUES (%s, %s, 'x'), (%s, %s, NULL)", (writer, at, writer, at))
    cursor.execute("DELETE FROM led.nokey WHERE w = %s AND a < %s LIMIT 1", (writer, at - 8))
    cursor.execute("INSERT INTO led.ledger VALUES (%s, %s)", (writer, at))


def long_text(cursor, writer, at):
    cursor.execute("INSERT INTO led.txt(s) VALUES (REPEAT('t', %s))", (at % 7 * 9000,))
    cursor.execute("INSERT INTO led.ledger VALUES (%s, %s)", (writer, at))


def savepoints(cursor, writer, at):
    cursor.execute("BEGIN")
    cursor.execute("INSERT INTO led.ledger VALUES (%s, %s)", (writer, at))
    cursor.execute("SAVEPOINT s")
    cursor.execute("UPDATE led.hot SET n = -1 WHERE id = %s", (writer % 2,))
    cursor.execute("ROLLBACK TO s")
    cursor.execute("COMMIT")


def branch(cursor, writer, at):
    cursor.execute(f"XA START 'x{writer}', '{at}'")
    cursor.execute("INSERT INTO led.ledger VALUES (%s, %s)", (writer, at))
    for step in ("END", "PREPARE", "COMMIT"):
        cursor.execute(f"XA {step} 'x{writer}', '{at}'")


def definition(cursor, writer, at):
    cursor.execute(f"CREATE TABLE led.made{writer}_{at} (a INT PRIMARY KEY, b INT)")
    cursor.execute(f"INSERT INTO led.made{writer}_{at} VALUES (1, 1)")
    cursor.execute(f"ALTER TABLE led.made{writer}_{at} ADD c INT DEFAULT {at}, DROP b")
    cursor.execute(f"DROP TABLE IF EXISTS led.`made{writer}_{at - 6 * 7}`")
    cursor.execute("INSERT INTO led.ledger VALUES (%s, %s)", (writer, at))


def other_engine(cursor, writer, at):
    cursor.execute("INSERT INTO led.my VALUES (%s, %s)", (writer, at))
    cursor.execute("UPDATE led.my SET a = -a WHERE w = %s AND a = %s", (writer, at))
    cursor.execute("INSERT INTO led.ledger VALUES (%s, %s)", (writer, at))


# Groups that MariaDB applies together with its position, so that it survives a kill too.
SAFE = [transaction, single, savepoints]
ALL = [transaction, single, keyless, savepoints, long_text, definition, other_engine]


def lost(writers):
    """What the primary acknowledged and has not."""
    kept = set(writers.node.rows("SELECT w, a FROM led.ledger"))
    return [pair for pair in writers.acknowledged if pair not in kept]


@contextlib.contextmanager
def variable(node, name, value, before=None):
    """A global variable with another value while a check runs."""
    before = node.variable(name) if before is None else before
    node.rows(f"SET GLOBAL {name}={value!r}")
    try:
        yield
    finally:
        with contextlib.suppress(pymysql.MySQLError):
            node.rows(f"SET GLOBAL {name}={before!r}")


def two(topology):
    """For checks that look at a primary and one replica."""
    return len(topology) == 2


def only(**letters):
    """Marks a check that needs a make at a place: only(primary="M"), only(replica="S"), only(length=3)."""
    places = {"primary": lambda topology: topology[0], "replica": lambda topology: topology[1], "length": len}

    def mark(check):
        check.wants = lambda topology: all(places[place](topology) == letter for place, letter in letters.items())
        return check
    return mark
