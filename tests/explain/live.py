"""Plans of running statements: SHOW EXPLAIN, SHOW ANALYZE and EXPLAIN FOR CONNECTION from a second session, and
many of them while the statements are killed.

usage: live.py PORT [SECONDS]
"""

import json
import random
import sys
import threading
import time

import pymysql

TABLES = """
CREATE DATABASE live
CREATE TABLE live.t (a INT PRIMARY KEY, b INT, KEY b (b))
INSERT INTO live.t SELECT seq, seq % 50 FROM seq_1_to_1000
CREATE TABLE live.s (x INT)
INSERT INTO live.s VALUES (1), (2), (3)
CREATE TABLE live.u (x INT)
CREATE PROCEDURE live.p() SELECT SLEEP(30) FROM live.s
CREATE USER live_one, live_two
GRANT ALL ON live.* TO live_one
GRANT ALL ON live.* TO live_two
"""

# Statement, whether SHOW EXPLAIN answers, whether SHOW ANALYZE does, text of the note.
TARGETS = [
    ("SELECT SLEEP(30) FROM t WHERE b = 3", True, True, None),
    ("SELECT (SELECT SLEEP(30) FROM s LIMIT 1) FROM t LIMIT 3", True, True, None),
    ("SELECT * FROM (SELECT SLEEP(30), x FROM s GROUP BY x) d", True, True, None),
    ("CALL p()", True, True, "SELECT SLEEP(30) FROM live.s"),
    ("EXECUTE IMMEDIATE 'SELECT SLEEP(30) FROM s'", True, True, "SELECT SLEEP(30) FROM s"),
    ("ANALYZE SELECT SLEEP(30) FROM s", True, True, None),
    ("UPDATE s SET x = 1 WHERE SLEEP(30)", True, True, None),
    ("DELETE FROM s WHERE SLEEP(30)", True, True, None),
    ("INSERT INTO u SELECT SLEEP(30) FROM s", True, True, None),
    ("INSERT INTO u VALUES (SLEEP(30))", True, False, None),
    ("SELECT SLEEP(30)", True, False, None),
    ("DO SLEEP(30)", False, False, None),
    ("SET @x = (SELECT SLEEP(30))", False, False, None),
]


class Session:
    def __init__(self, port, user="root", database="live"):
        self.connection = pymysql.connect(host="127.0.0.1", port=port, user=user, database=database, autocommit=True)

    def run(self, statement):
        with self.connection.cursor() as cursor:
            cursor.execute(statement)
            rows = cursor.fetchall()
            while cursor.nextset():
                pass
            return rows

    def error(self, statement):
        try:
            self.run(statement)
        except pymysql.MySQLError as error:
            return error.args[0]
        return None

    @property
    def id(self):
        return self.connection.thread_id()


def wait_for(session, target, state="User sleep"):
    until = time.monotonic() + 20
    query = f"SELECT 1 FROM information_schema.processlist WHERE id = {target.id} AND state = '{state}'"
    while not session.run(query):
        assert time.monotonic() < until, f"the state {state} is not reached"
        time.sleep(0.01)


def background(work):
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def check_targets(port):
    observer = Session(port)
    for statement, explains, analyzes, text in TARGETS:
        target = Session(port)
        thread = background(lambda: target.error(statement))
        wait_for(observer, target)
        asked = [(f"SHOW EXPLAIN FOR {target.id}", explains), (f"EXPLAIN FOR CONNECTION {target.id}", explains),
                 (f"SHOW ANALYZE FOR {target.id}", analyzes), (f"SHOW EXPLAIN FORMAT=JSON FOR {target.id}", explains),
                 (f"SHOW ANALYZE FORMAT=JSON FOR {target.id}", analyzes)]
        for question, answers in asked:
            if not answers:
                assert observer.error(question) == 1933, (statement, question)
                continue
            rows = observer.run(question)
            assert rows, (statement, question)
            notes = observer.run("SHOW WARNINGS")
            assert notes == (("Note", 1003, text or statement),), (statement, question, notes)
            if "JSON" in question:
                document = json.loads(rows[0][0])
                assert "query_block" in document, document
                assert ("r_query_time_in_progress_ms" in document) == ("ANALYZE" in question), document
        observer.run(f"KILL QUERY {target.id}")
        thread.join(20)
        assert not thread.is_alive(), statement
        assert observer.error(f"SHOW EXPLAIN FOR {target.id}") == 1933, statement
        target.connection.close()


def check_numbers(port):
    """The counts of a statement that waits in its third row."""
    observer, target = Session(port), Session(port)
    thread = background(lambda: target.error("SELECT x, IF(x = 3, SLEEP(30), 0) FROM s, t WHERE t.b = s.x"))
    wait_for(observer, target)
    rows = observer.run(f"SHOW ANALYZE FOR {target.id}")
    assert [row[2] for row in rows] and all(row[9] is not None for row in rows), rows
    observer.run(f"KILL QUERY {target.id}")
    thread.join(20)


def check_errors(port):
    observer = Session(port)
    for question, code in [("SHOW EXPLAIN FOR 99999999", 1094), ("SHOW ANALYZE FOR 99999999", 1094),
                           ("EXPLAIN FOR CONNECTION 99999999", 1094), ("SHOW EXPLAIN FOR 1 + 0", 1204),
                           ("SHOW EXPLAIN FOR CONNECTION_ID()", 1204), ("SHOW EXPLAIN FOR (SELECT 1)", 1204),
                           ("EXPLAIN FOR 1", 1064), (f"SHOW EXPLAIN FOR {observer.id}", 1933)]:
        assert observer.error(question) == code, (question, observer.error(question))


def check_rights(port):
    one, two = Session(port, "live_one"), Session(port, "live_two")
    observer, same = Session(port), Session(port, "live_one")
    thread = background(lambda: one.error("SELECT SLEEP(30) FROM s"))
    wait_for(observer, one)
    assert two.error(f"SHOW EXPLAIN FOR {one.id}") == 1227
    assert two.error(f"SHOW ANALYZE FOR {one.id}") == 1227
    assert same.run(f"SHOW EXPLAIN FOR {one.id}")
    observer.run(f"KILL QUERY {one.id}")
    thread.join(20)


def check_row_lock(port):
    """A statement that waits for a row can be seen; nothing of it is waited for."""
    holder, waiter, observer = Session(port), Session(port), Session(port)
    holder.run("BEGIN")
    holder.run("UPDATE t SET b = b WHERE a = 7")
    thread = background(lambda: waiter.run("UPDATE t SET b = 1 WHERE a = 7"))
    until = time.monotonic() + 20
    while observer.error(f"SHOW EXPLAIN FOR {waiter.id}") == 1933:
        assert time.monotonic() < until, "the waiting statement is not seen"
    begun = time.monotonic()
    rows = observer.run(f"SHOW ANALYZE FOR {waiter.id}")
    assert rows[0][2] == "t" and time.monotonic() - begun < 5, rows
    holder.run("ROLLBACK")
    thread.join(20)
    assert not thread.is_alive()


STATEMENTS = [
    "SELECT COUNT(*) FROM t a, t b WHERE a.b + b.b = 3",
    "SELECT b, COUNT(*) FROM t GROUP BY b ORDER BY 2",
    "SELECT (SELECT MAX(x) FROM s WHERE s.x < t.b) FROM t",
    "WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 200) SELECT SUM(n) FROM r",
    "UPDATE t SET b = b + 0 WHERE a % 2 = 0",
    "INSERT INTO u SELECT a FROM t LIMIT 50",
    "ANALYZE FORMAT=JSON SELECT * FROM t ORDER BY b LIMIT 3",
    "SELECT * FROM t WHERE a = 5",
    "CALL p()",
]


def check_kills(port, seconds):
    """Statements, questions about them and kills at once: every answer is one of the known ones."""
    until = time.monotonic() + seconds
    targets = [Session(port) for _ in range(3)]
    problems, counts = [], {"statements": 0, "answers": 0, "kills": 0}

    def guarded(work):
        def run():
            chance = random.Random()
            try:
                while time.monotonic() < until:
                    work(chance)
            except BaseException as error:
                problems.append(error)
        return run

    def execute(target):
        def work(chance):
            statement = chance.choice(STATEMENTS)
            code = target.error(statement)
            if code not in (None, 1317, 1213, 1205):
                raise AssertionError((statement, code))
            counts["statements"] += 1
        return work

    def ask(observer):
        def work(chance):
            form = chance.choice(["SHOW EXPLAIN", "SHOW ANALYZE", "SHOW ANALYZE FORMAT=JSON", "SHOW EXPLAIN FORMAT=JSON"])
            code = observer.error(f"{form} FOR {chance.choice(targets).id}")
            if code not in (None, 1933):
                raise AssertionError((form, code))
            counts["answers"] += code is None
        return work

    def kill(observer):
        def work(chance):
            observer.error(f"KILL QUERY {chance.choice(targets).id}")
            counts["kills"] += 1
            time.sleep(0.002)
        return work

    works = [execute(target) for target in targets]
    works += [ask(Session(port)) for _ in range(2)] + [kill(Session(port))]
    threads = [background(guarded(work)) for work in works]
    last = Session(port)
    for thread in threads:
        while thread.is_alive() and time.monotonic() < until + 60:
            thread.join(0.1)
            # A procedure that began late sleeps longer than anybody waits.
            if time.monotonic() > until:
                for target in targets:
                    last.error(f"KILL QUERY {target.id}")
        assert not thread.is_alive(), "a session does not end"
    assert not problems, problems
    assert counts["answers"] > 20 and counts["kills"] > 100, counts
    return counts


def main():
    port, *seconds = map(int, sys.argv[1:])
    root = Session(port, database="mysql")
    for statement in TABLES.strip().splitlines():
        root.run(statement)
    check_targets(port)
    check_numbers(port)
    check_errors(port)
    check_rights(port)
    check_row_lock(port)
    counts = check_kills(port, seconds[0] if seconds else 5)
    root.run("DROP DATABASE live")
    root.run("DROP USER live_one, live_two")
    print("live plans:", ", ".join(f"{count} {name}" for name, count in counts.items()))


if __name__ == "__main__":
    main()
