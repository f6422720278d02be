"""Depth and width: every construct that a client can repeat or nest, from 10 to 100,000 times, in every place it fits, as
text and prepared; and every function with unexpected arguments. Each statement must end soon, with a result or with an
error of MariaDB. The server must not crash or panic.

usage: deep.py BINARY [--seconds S] [--seed N] [--only WORD] [--systematic | --calls] [--time-is-told]
--systematic runs all shapes with all numbers in all places (hours) instead of random ones. --calls runs only functions.
With --time-is-told a slow statement is reported, and is no failure.
"""

import argparse
import contextlib
import os
import random
import struct
import sys
import time

import pymysql

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import calls  # noqa: E402
import shapes  # noqa: E402
from selkie import Server  # noqa: E402

# Time limit of a statement in seconds. Builds without optimisation, and busy machines, need more.
SECONDS = float(os.environ.get("SELKIE_STATEMENT_SECONDS", "10.0"))
NUMBERS = [10 << step for step in range(14)] + [100_000]
PACKET = 16 << 20
INTERNAL = 1815

# Places of an expression: statements with {} in its place.
PLACES = {
    "select": ["SELECT {}"],
    "from": ["SELECT {} FROM t"],
    "where": ["SELECT COUNT(*) FROM t WHERE {}"],
    "having": ["SELECT b FROM t GROUP BY b HAVING {}"],
    "group": ["SELECT COUNT(*) FROM t GROUP BY {}"],
    "order": ["SELECT a FROM t ORDER BY {}"],
    "on": ["SELECT COUNT(*) FROM t LEFT JOIN t x USING (a) JOIN t y ON {}"],
    "window": ["SELECT SUM(1) OVER (PARTITION BY {}) FROM t"],
    "derived": ["SELECT * FROM (SELECT {} x FROM t) y WHERE x=1"],
    "do": ["DO {}"],
    "set": ["SET @x={}"],
    "update": ["UPDATE t SET a={} WHERE a<0"],
    "delete": ["DELETE FROM scratch WHERE {}"],
    "insert": ["INSERT INTO scratch (a) VALUES ({})"],
    "explain": ["EXPLAIN SELECT {} FROM t"],
    "explain where": ["EXPLAIN SELECT a FROM t WHERE {}"],
    "explain extended": ["EXPLAIN EXTENDED SELECT a FROM t WHERE {}", "SHOW WARNINGS"],
    "explain json": ["EXPLAIN FORMAT=JSON SELECT a FROM t WHERE {} ORDER BY {}"],
    "analyze": ["ANALYZE SELECT a FROM t WHERE {}"],
    "analyze json": ["ANALYZE FORMAT=JSON SELECT {} FROM t WHERE {}"],
    "view": ["CREATE OR REPLACE VIEW w AS SELECT {} AS x FROM t", "SHOW CREATE VIEW w", "SELECT * FROM w", "SELECT * FROM w WHERE x=1",
             "EXPLAIN EXTENDED SELECT * FROM w WHERE x", "SHOW WARNINGS", "SELECT LENGTH(view_definition) FROM information_schema.views",
             "DROP VIEW IF EXISTS w"],
    "generated": ["CREATE OR REPLACE TABLE g (a INT, b INT, s VARCHAR(100), x INT AS ({}))", "SHOW CREATE TABLE g", "INSERT INTO g (a) VALUES (1)",
                  "SELECT * FROM g", "ALTER TABLE g ADD z INT", "UPDATE g SET a=2", "DROP TABLE IF EXISTS g"],
    "check": ["CREATE OR REPLACE TABLE g (a INT, b INT, s VARCHAR(100), CHECK ({}))", "SHOW CREATE TABLE g", "INSERT INTO g (a) VALUES (1)",
              "DROP TABLE IF EXISTS g"],
    "default": ["CREATE OR REPLACE TABLE g (a INT, b INT, s VARCHAR(100), x INT DEFAULT ({}))", "SHOW CREATE TABLE g", "INSERT INTO g (a) VALUES (1)",
                "SHOW COLUMNS FROM g", "DROP TABLE IF EXISTS g"],
    "procedure": ["CREATE OR REPLACE PROCEDURE p(a INT, b INT, s TEXT) SELECT {}", "SHOW CREATE PROCEDURE p", "CALL p(1,2,'x')", "DROP PROCEDURE IF EXISTS p"],
    "function": ["CREATE OR REPLACE FUNCTION p(a INT, b INT, s TEXT) RETURNS INT RETURN {}", "SELECT p(1,2,'x')", "DROP FUNCTION IF EXISTS p"],
    "trigger": ["CREATE OR REPLACE TRIGGER g BEFORE INSERT ON scratch FOR EACH ROW SET NEW.b={}", "INSERT INTO scratch (a) VALUES (1)",
                "DROP TRIGGER IF EXISTS g"],
    "body": ["BEGIN NOT ATOMIC DECLARE a INT DEFAULT 1; DECLARE b INT DEFAULT 2; DECLARE s TEXT DEFAULT 'x'; IF {} THEN DO 1; END IF; END"],
    "argument": ["CALL nothing({})"],
    "limit": ["SELECT a FROM t LIMIT {}"],
    "create select": ["CREATE OR REPLACE TABLE g AS SELECT {} x FROM t", "DROP TABLE IF EXISTS g"],
}
# Places of a query.
QUERY_PLACES = {
    "query": ["{}"],
    "explained": ["EXPLAIN {}"],
    "explained extended": ["EXPLAIN EXTENDED {}", "SHOW WARNINGS"],
    "explained json": ["EXPLAIN FORMAT=JSON {}"],
    "analyzed": ["ANALYZE FORMAT=JSON {}"],
    "viewed": ["CREATE OR REPLACE VIEW w AS {}", "SHOW CREATE VIEW w", "SELECT * FROM w", "EXPLAIN EXTENDED SELECT * FROM w", "DROP VIEW IF EXISTS w"],
    "as subquery": ["SELECT EXISTS({})"],
    "in list": ["SELECT a FROM t WHERE a IN ({})"],
    "as derived": ["SELECT COUNT(*) FROM ({}) q"],
    "as rows": ["INSERT INTO scratch (a) {}"],
    "as table": ["CREATE OR REPLACE TABLE g AS {}", "DROP TABLE IF EXISTS g"],
    "as body": ["CREATE OR REPLACE PROCEDURE p() {}", "CALL p()", "CALL p()", "DROP PROCEDURE IF EXISTS p"],
    "cursor": ["BEGIN NOT ATOMIC DECLARE c CURSOR FOR {}; OPEN c; CLOSE c; END"],
}
PROGRAM_PLACES = {
    "procedure": ["CREATE OR REPLACE PROCEDURE p() BEGIN {} END", "SHOW CREATE PROCEDURE p", "CALL p()", "CALL p()", "DROP PROCEDURE IF EXISTS p"],
    "function": ["CREATE OR REPLACE FUNCTION p() RETURNS INT BEGIN {} RETURN 1; END", "SELECT p()", "DROP FUNCTION IF EXISTS p"],
    "trigger": ["CREATE OR REPLACE TRIGGER g BEFORE INSERT ON scratch FOR EACH ROW BEGIN {} END", "INSERT INTO scratch (a) VALUES (1)",
                "DROP TRIGGER IF EXISTS g"],
    "event": ["CREATE OR REPLACE EVENT e ON SCHEDULE EVERY 1 DAY DISABLE DO BEGIN {} END", "DROP EVENT IF EXISTS e"],
    "block": ["BEGIN NOT ATOMIC {} END"],
}
CALL_PLACES = [["SELECT LENGTH({})"], ["DO {}"], ["SELECT {} IS NULL FROM t"], ["SELECT COUNT(*) FROM t WHERE {}"], ["SELECT a FROM t ORDER BY {}"],
               ["SELECT LENGTH({}) FROM t GROUP BY 1"], ["EXPLAIN EXTENDED SELECT {} FROM t"], ["SET @x={}", "SET @x=NULL"],
               ["CREATE OR REPLACE TABLE g AS SELECT {} AS x FROM one", "DROP TABLE IF EXISTS g"]]


def as_text(connection, statement):
    connection.query(statement)
    while connection._result is not None and connection._result.has_next:
        connection.next_result()


def read_result(connection):
    """Reads all result sets of a prepared statement."""
    more = True
    while more:
        packet = connection._read_packet()
        if packet.is_ok_packet():
            status = struct.unpack("<H", packet.get_all_data()[-4:-2])[0] if len(packet.get_all_data()) == 7 else 0
        else:
            while not connection._read_packet().is_eof_packet():
                pass
            while not (packet := connection._read_packet()).is_eof_packet():
                pass
            status = struct.unpack("<H", packet.get_all_data()[3:5])[0]
        more = bool(status & 8)


def as_prepared(connection, statement):
    connection._execute_command(0x16, statement)
    answer = connection._read_packet().get_all_data()
    number, columns, parameters = struct.unpack("<IHH", answer[1:9])
    for count in (parameters, columns):
        if count:
            while not connection._read_packet().is_eof_packet():
                pass
    if not parameters:
        for _ in range(2):
            connection._execute_command(0x17, struct.pack("<IBI", number, 0, 1))
            read_result(connection)
    connection._execute_command(0x19, struct.pack("<I", number))


class Attack:
    def __init__(self, server, time_is_told=False):
        self.time_is_told = time_is_told
        self.server, self.failures, self.count, self.slowest = server, [], 0, (0.0, "")
        self.connection = None

    def connected(self):
        if self.connection is None:
            self.connection = self.server.connect(database="d", read_timeout=SECONDS * 4, write_timeout=60)
        return self.connection

    def fail(self, name, what):
        self.failures.append(f"{name}: {what}")
        print(f"FAILED {name}: {what}", flush=True)

    def slow(self, name, what):
        """Reports a slow statement; it is a failure without --time-is-told."""
        if self.time_is_told:
            print(f"slow: {name}: {what}", flush=True)
        else:
            self.fail(name, what)

    def run(self, name, statement, prepared=False):
        """Runs a statement and checks how it ends."""
        if len(statement) > PACKET - 1024:
            return None
        connection, begun, code = self.connected(), time.monotonic(), 0
        try:
            (as_prepared if prepared else as_text)(connection, statement)
        except pymysql.MySQLError as error:
            code = error.args[0]
            if code == INTERNAL:
                self.fail(name, f"{error.args[1][:300]} of {statement[:200]}")
            if code in (0, 2006, 2013, 2014, 2027):
                self.lost(name, statement, error)
        except (UnicodeDecodeError, ValueError, TypeError, OverflowError):
            pass
        took = time.monotonic() - begun
        self.slowest = max(self.slowest, (took, name))
        if took > SECONDS:
            self.slow(name, f"{took:.1f} s, {code}: {statement[:120]}")
        self.count += 1
        return code

    def lost(self, name, statement, error):
        """The connection gave no answer: either the statement took too long, or the server crashed."""
        number, self.connection = self.connection.thread_id(), None
        time.sleep(0.5)
        if self.server.process.poll() is not None:
            self.fail(name, f"the server ended by {statement[:300]}\n{self.server.log()[-1000:]}")
            self.server.start()
            prepare(self)
            return
        self.slow(name, f"no answer ({error}) to {statement[:120]}")
        other = self.server.connect()
        with contextlib.suppress(pymysql.MySQLError):
            other.query(f"KILL {number}")
        until = time.monotonic() + 60
        while time.monotonic() < until:
            other.query(f"SELECT COUNT(*) FROM information_schema.processlist WHERE id={number}")
            if other._result.rows[0][0] == 0:
                break
            time.sleep(0.1)
        else:
            self.fail(name, "goes on 60 s after KILL")
        other.close()

    def panics(self):
        self.connected().query("SHOW GLOBAL STATUS LIKE 'Selkie_panics'")
        return int(self.connection._result.rows[0][1])


def prepare(attack):
    connection = attack.server.connect()
    for statement in (
        "CREATE OR REPLACE DATABASE d", "USE d", "CREATE TABLE t (a INT, b INT, s VARCHAR(100), KEY k (a))", "CREATE TABLE one (a INT)",
        "INSERT INTO t VALUES (1,2,'x'),(2,3,'xy'),(3,NULL,NULL),(NULL,1,'')", "INSERT INTO one VALUES (1)",
        "CREATE TABLE scratch (a INT, b INT, s VARCHAR(100))", "CREATE FUNCTION f(a INT) RETURNS INT RETURN a", "CREATE PROCEDURE nothing() DO 1",
    ):
        connection.query(statement)
    connection.close()


def cases():
    """Returns (name, function from number to statements) of everything that can be repeated or nested."""
    groups = ((shapes.EXPRESSIONS, PLACES), (shapes.QUERIES, QUERY_PLACES), (shapes.PROGRAMS, PROGRAM_PLACES))
    for shapes_, places in groups:
        for shape, text in shapes_.items():
            for place, statements in places.items():
                yield f"{shape} / {place}", (lambda n, t=text, s=statements: [part.replace("{}", t(n)) for part in s])
    for name, statements in shapes.STATEMENTS.items():
        yield name, statements


# Statements with little or no real depth must not give an error.
ACCEPTED = [
    "SELECT " + "(" * 3000 + "1" + ")" * 3000, "SELECT 1 FROM t WHERE " + shapes.EXPRESSIONS["or left"](2000),
    "SELECT 1 FROM t WHERE " + shapes.EXPRESSIONS["and right"](2000), "DO " + shapes.EXPRESSIONS["minus"](300).replace("a", "1"),
    shapes.QUERIES["union all constants"](4000), shapes.QUERIES["aggregate columns"](2000), shapes.QUERIES["group by"](2000),
    "EXPLAIN EXTENDED SELECT 1 FROM t WHERE " + shapes.EXPRESSIONS["plus"](300),
]


def accepted(attack):
    for statement in ACCEPTED:
        if code := attack.run("accepted", statement):
            attack.fail("accepted", f"{code}: {statement[:60]}")
    for statement in shapes.STATEMENTS["views doubled"](40):
        if attack.run("views doubled 40", statement) == INTERNAL:
            break


def once(attack, name, build, number, prepared):
    """Runs a shape with a number; returns its error or 0."""
    first = 0
    for statement in build(number):
        if len(statement) > PACKET - 1024:
            break
        code = attack.run(f"{name} {number}{' prepared' if prepared else ''}", statement, prepared)
        first = first or code
    return first


def systematic(attack, only):
    for name, build in cases():
        if only and only not in name:
            continue
        for number in NUMBERS:
            failures = len(attack.failures)
            code = once(attack, name, build, number, False)
            if number <= 640 or number == 10240:
                once(attack, name, build, number, True)
            if len(attack.failures) > failures:
                break
            if os.environ.get("VERBOSE"):
                print(f"{name} {number}: {code}, {attack.slowest}", flush=True)


def random_ones(attack, rng, until, only):
    """Runs cases and function calls in turn, in random order. A case runs with one number, often a large one."""
    every = [case for case in cases() if only in case[0]]
    pending, known = [], []
    while time.monotonic() < until:
        known = known or ([] if only else list(calls.calls(rng)))
        pending = pending or rng.sample(every, len(every))
        name, build = pending.pop()
        once(attack, name, build, rng.choice(NUMBERS), rng.random() < 0.3)
        for _ in range(min(3, len(known))):
            name, call = known.pop()
            prepared = rng.random() < 0.3
            for statement in rng.choice(CALL_PLACES):
                attack.run(name, statement.replace("{}", call), prepared)


def all_calls(attack, rng, until):
    while time.monotonic() < until:
        for name, call in calls.calls(rng):
            if time.monotonic() >= until:
                break
            for statement in rng.choice(CALL_PLACES):
                attack.run(name, statement.replace("{}", call), rng.random() < 0.3)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--only", default="")
    parser.add_argument("--systematic", action="store_true")
    parser.add_argument("--calls", action="store_true")
    parser.add_argument("--time-is-told", action="store_true")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    rng = random.Random(options.seed)
    server = Server(options.binary, options=["--innodb-buffer-pool-size=32M"]).start()
    try:
        attack = Attack(server, options.time_is_told)
        prepare(attack)
        until = time.monotonic() + options.seconds
        accepted(attack)
        if options.systematic:
            systematic(attack, options.only)
        elif options.calls:
            all_calls(attack, rng, until)
        else:
            random_ones(attack, rng, until, options.only)
        if attack.panics():
            attack.fail("Selkie_panics", attack.panics())
        server.stop()
    finally:
        server.remove(panics_fail=False)
    print(f"{attack.count} statements, slowest {attack.slowest[0]:.1f} s ({attack.slowest[1]})")
    if attack.failures:
        raise SystemExit(f"{len(attack.failures)} failures")


if __name__ == "__main__":
    main()
