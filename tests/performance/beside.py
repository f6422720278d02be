"""`performance_schema=ON` beside a MariaDB with the same option: what is measured, and the statements that switch it.

Each script of this directory is run on both servers; a line that ends with `;` is one statement. The servers must give the
same rows, counts and errors. Lines between the statements choose what runs them:

    -- connection NAME   another connection, opened when it is first named; `main` is the first
    -- quit NAME         ends a connection
    -- user NAME         the same, as this user
    -- sorted            the rows of the next statement are compared in no order

usage: beside.py BINARY [SCRIPT ...]
"""

import contextlib
import glob
import os
import sys
import time

import pymysql

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from beside_mariadb import MariaDb  # noqa: E402
from selkie import Server  # noqa: E402

# Small sizes, so that a script can reach them.
OPTIONS = ["--performance-schema=ON", "--performance-schema-events-statements-history-long-size=50",
           "--performance-schema-consumer-events-statements-history=ON",
           "--performance-schema-instrument=statement/sql/checksum=OFF",
           # No instruments, though consumers have these names.
           "--performance-schema-instrument=statements_digest=OFF",
           "--performance-schema-instrument=events_statements_history_long=ON"]


class Side:
    """The connections of a script to one server."""

    def __init__(self, server):
        self.server, self.connections = server, {}

    def connection(self, name, user="root"):
        if name not in self.connections:
            self.connections[name] = self.server.connect(user=user)
        return self.connections[name]

    def quit(self, name):
        connection = self.connections.pop(name)
        own = connection._sock.getsockname()[1]
        connection.close()
        # The server notices the end a moment later, and what it counts must not have questions about that in it.
        deadline = time.monotonic() + 30
        while is_connected(self.server.port, own) and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.2)

    def run(self, name, text):
        connection = self.connection(name)
        with connection.cursor() as cursor:
            try:
                count = cursor.execute(text)
                rows = [list(row) for row in cursor.fetchall()]
                return {"columns": [c[0] for c in cursor.description or []], "rows": rows, "count": count}
            except pymysql.MySQLError as error:
                return {"error": list(error.args)}

    def close(self):
        for connection in self.connections.values():
            with contextlib.suppress(pymysql.MySQLError, OSError):
                connection.close()
        self.connections = {}


def is_connected(port, client):
    """Whether a server has an open socket for a client's port, which the client may have closed."""
    with open("/proc/net/tcp") as table:
        for line in list(table)[1:]:
            local, remote, state = line.split()[1:4]
            ports = [int(address.rsplit(":", 1)[1], 16) for address in (local, remote)]
            # ESTABLISHED and CLOSE_WAIT.
            if ports == [port, client] and state in ("01", "08"):
                return True
    return False


def steps(path):
    """The directives and statements of a script, with the numbers of their lines."""
    text, begun = "", 0
    with open(path) as script:
        for number, line in enumerate(script, 1):
            if line.startswith("-- "):
                yield number, "directive", line[3:].split()
                continue
            if not text and (line.startswith("#") or not line.strip()):
                continue
            begun = begun if text else number
            text += line
            if line.rstrip().endswith(";"):
                yield begun, "statement", text.strip()[:-1]
                text = ""


def tell(own, other):
    """Prints where two answers differ."""
    if own.get("rows") != other.get("rows") and own.get("columns") == other.get("columns"):
        for side, these, those in (("Selkie ", own, other), ("MariaDB", other, own)):
            for row in these["rows"]:
                if row not in those["rows"]:
                    print(f"  {side} {row}")
    else:
        print(f"  Selkie  {own}\n  MariaDB {other}")


def asked(sides, name, text, is_sorted):
    """The answers of both sides.

    MariaDB counts a statement after it has answered it, so a question of another connection may come before the count:
    both sides are asked again, equally often, until they agree or have had time to.
    """
    for attempt in range(10):
        time.sleep(0.1 * min(attempt, 3))
        answers = [side.run(name, text) for side in sides]
        if is_sorted:
            for answer in answers:
                answer.get("rows", []).sort(key=repr)
        if answers[0] == answers[1] or not text.lstrip().lower().startswith("select"):
            break
    return answers


def run(path, sides):
    """Runs a script on both sides; returns the number of differences."""
    name, is_sorted, differing = "main", False, 0
    for line, kind, step in steps(path):
        if kind == "directive":
            if step[0] in ("connection", "user"):
                name = step[1]
                for side in sides:
                    side.connection(name, user=name if step[0] == "user" else "root")
            elif step[0] == "quit":
                for side in sides:
                    side.quit(step[1])
            elif step[0] == "sorted":
                is_sorted = True
            else:
                raise SystemExit(f"{path}:{line}: unknown directive {step}")
            continue
        answers = asked(sides, name, step, is_sorted)
        is_sorted = False
        if answers[0] != answers[1]:
            differing += 1
            print(f"{os.path.basename(path)}:{line}: {step}")
            tell(*answers)
    for side in sides:
        side.close()
    return differing


def main():
    binary, *wanted = sys.argv[1:]
    paths = sorted(glob.glob(os.path.join(HERE, "*.sql")))
    if wanted:
        paths = [path for path in paths if os.path.basename(path)[:-4] in wanted]
    differing = 0
    for path in paths:
        reference, server = MariaDb(OPTIONS), Server(binary, options=OPTIONS)
        try:
            reference.start()
            server.start()
            differing += run(path, [Side(server), Side(reference)])
            server.stop()
        finally:
            server.remove()
            reference.remove()
    if differing:
        raise SystemExit(f"performance: {differing} answers differ")
    print(f"performance: {len(paths)} scripts, all answers equal")


if __name__ == "__main__":
    main()
