"""Statements on tables of engines without rollback: each sees all of those before it, and none fails.

usage: whole_tables.py PORT [STATEMENTS] [SESSIONS]

Several sessions run the same change at once, each so often. What it leaves must be as if the statements
had run one after the other: no addition is lost, no row is taken or counted twice, no key is missed.
"""

import sys
import threading
import time

import pymysql

ENGINES = ("MyISAM", "Aria", "MEMORY")

# A function that computes what it puts into a table from what it has read there.
READ_FIRST = """CREATE FUNCTION f() RETURNS INT BEGIN
    DECLARE x INT; SELECT n INTO x FROM u; UPDATE u SET n = x + 1; RETURN x; END"""

# Each case: statements that make the tables, the change, a query, and a function of the row that the query must find.
# In the change, {k} is the number of the session and {i} that of the round. The function gets the number of changes
# and the number of rows they affected.
CASES = {
    "UPDATE": (
        ["CREATE TABLE t (id INT PRIMARY KEY, n INT)", "INSERT INTO t VALUES (1, 0), (2, 0)"],
        "UPDATE t SET n = n + 1", "SELECT MIN(n), MAX(n) FROM t", lambda n, m: (n, n)),
    "UPDATE without keys": (
        ["CREATE TABLE t (n INT)", "INSERT INTO t VALUES (0)"],
        "UPDATE t SET n = n + 1", "SELECT n FROM t", lambda n, m: (n,)),
    "UPDATE of a key": (
        ["CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t VALUES (0)"],
        "UPDATE t SET id = id + 1", "SELECT id, COUNT(*) FROM t", lambda n, m: (n, 1)),
    "UPDATE with LIMIT": (
        ["CREATE TABLE t (id INT PRIMARY KEY, owner INT)", "INSERT INTO t SELECT seq, 0 FROM seq_1_to_1000"],
        "UPDATE t SET owner = {k} + 1 WHERE owner = 0 LIMIT 1", "SELECT COUNT(*) FROM t WHERE owner > 0",
        lambda n, m: (m,)),
    "UPDATE of two tables": (
        ["CREATE TABLE t (id INT PRIMARY KEY, n INT)", "CREATE TABLE u (id INT PRIMARY KEY, n INT)",
         "INSERT INTO t VALUES (1, 0)", "INSERT INTO u VALUES (1, 0)"],
        "UPDATE t JOIN u USING (id) SET t.n = t.n + 1, u.n = u.n - 1", "SELECT t.n, u.n FROM t, u",
        lambda n, m: (n, -n)),
    "ON DUPLICATE KEY UPDATE": (
        ["CREATE TABLE t (id INT PRIMARY KEY, n INT)"],
        "INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE n = n + 1", "SELECT n FROM t", lambda n, m: (n,)),
    "ON DUPLICATE KEY UPDATE of the key": (
        ["CREATE TABLE t (id BIGINT PRIMARY KEY, n INT)"],
        "INSERT INTO t VALUES (1, {i}) ON DUPLICATE KEY UPDATE id = id + 1000000 + {k} * 1000 + {i}",
        # A row that is changed counts as two.
        "SELECT COUNT(*) FROM t", lambda n, m: (2 * n - m,)),
    "REPLACE": (
        ["CREATE TABLE t (id INT PRIMARY KEY, k INT UNIQUE)"],
        "REPLACE INTO t VALUES ({i} % 3, ({i} + {k}) % 3)",
        "SELECT COUNT(*) = COUNT(DISTINCT id), COUNT(*) = COUNT(DISTINCT k) FROM t", lambda n, m: (1, 1)),
    "DELETE with LIMIT": (
        ["CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t SELECT seq FROM seq_1_to_1000"],
        "DELETE FROM t ORDER BY id LIMIT 1", "SELECT 1000 - COUNT(*) FROM t", lambda n, m: (m,)),
    "a trigger": (
        ["CREATE TABLE t (n INT)", "CREATE TABLE u (n INT)", "INSERT INTO u VALUES (0)",
         "CREATE TRIGGER r AFTER INSERT ON t FOR EACH ROW UPDATE u SET n = n + 1"],
        "INSERT INTO t VALUES (1), (2)", "SELECT n FROM u", lambda n, m: (2 * n,)),
    "a function": (
        ["CREATE TABLE u (n INT)", "INSERT INTO u VALUES (0)",
         "CREATE FUNCTION f() RETURNS INT BEGIN UPDATE u SET n = n + 1; RETURN 1; END"],
        "DO f() + f()", "SELECT n FROM u", lambda n, m: (2 * n,)),
    "a function that reads first": (
        ["CREATE TABLE u (n INT)", "INSERT INTO u VALUES (0)", READ_FIRST],
        "DO f() + f()", "SELECT n FROM u", lambda n, m: (2 * n,)),
    "a query of such a function": (
        ["CREATE TABLE t (n INT)", "INSERT INTO t VALUES (1), (2), (3)", "CREATE TABLE u (n INT)",
         "INSERT INTO u VALUES (0)", READ_FIRST],
        "SELECT f() + n INTO @sum FROM t LIMIT 1", "SELECT n FROM u", lambda n, m: (n,)),
    "such a function in a trigger, a view and a procedure": (
        ["CREATE TABLE t (n INT)", "CREATE TABLE u (n INT)", "INSERT INTO u VALUES (0)", READ_FIRST,
         "CREATE VIEW v AS SELECT f() AS n",
         "CREATE PROCEDURE p() BEGIN DECLARE x INT; SELECT n INTO x FROM v; END",
         "CREATE FUNCTION g() RETURNS INT BEGIN CALL p(); RETURN 1; END",
         "CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW SET NEW.n = g()"],
        "INSERT INTO t VALUES (1), (2)", "SELECT n FROM u", lambda n, m: (2 * n,)),
    "functions that change two tables in either order": (
        ["CREATE TABLE u (n INT)", "INSERT INTO u VALUES (0)", "CREATE TABLE w (n INT)", "INSERT INTO w VALUES (0)",
         "CREATE FUNCTION f() RETURNS INT BEGIN UPDATE u SET n = n + 1; UPDATE w SET n = n + 1; RETURN 1; END",
         "CREATE FUNCTION g() RETURNS INT BEGIN UPDATE w SET n = n + 1; UPDATE u SET n = n + 1; RETURN 1; END"],
        "DO IF({k} % 2, f(), g())", "SELECT u.n, w.n FROM u, w", lambda n, m: (n, n)),
    "INSERT ... SELECT": (
        ["CREATE TABLE t (id INT PRIMARY KEY)"],
        "INSERT INTO t SELECT COALESCE(MAX(id), 0) + 1 FROM t", "SELECT COUNT(*), MAX(id) FROM t",
        lambda n, m: (n, n)),
    "INSERT of a subquery": (
        ["CREATE TABLE t (id INT)"],
        "INSERT INTO t VALUES ((SELECT COUNT(*) + 1 FROM t u))", "SELECT COUNT(DISTINCT id), MAX(id) FROM t",
        lambda n, m: (n, n)),
}
# Compat: MariaDB's Aria lets statements insert into a table that they read side by side.
SIDE_BY_SIDE = ("INSERT ... SELECT", "INSERT of a subquery")


def connect(port, **options):
    return pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True, **options)


def together(port, sessions, work):
    """Runs work(cursor, session) in several sessions at once; gives what they return."""
    out = []

    def one(number):
        try:
            with connect(port, database="whole_tables") as connection:
                out.append(work(connection.cursor(), number))
        except pymysql.MySQLError as error:
            out.append(error)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(sessions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return out


def fresh(port, engine, statements):
    cursor = connect(port).cursor()
    cursor.execute("DROP DATABASE IF EXISTS whole_tables")
    cursor.execute("CREATE DATABASE whole_tables")
    cursor.execute("USE whole_tables")
    cursor.execute(f"SET default_storage_engine = {engine}")
    for statement in statements:
        cursor.execute(statement)
    return cursor


def check(port, engine, name, rounds, sessions):
    statements, change, query, wanted = CASES[name]
    cursor = fresh(port, engine, statements)
    affected = together(port, sessions, lambda own, k: sum(
        own.execute(change.format(k=k, i=i)) for i in range(rounds)))
    errors = [error for error in affected if isinstance(error, Exception)]
    if errors:
        return f"{engine}: {name}: {errors}"
    cursor.execute(query)
    found, right = cursor.fetchone(), wanted(rounds * sessions, sum(affected))
    return None if found == right else f"{engine}: {name}: {found} instead of {right}"


def check_reads(port, engine, rounds, sessions):
    """A query sees whole statements."""
    fresh(port, engine, ["CREATE TABLE t (id INT PRIMARY KEY, n INT)", "INSERT INTO t SELECT seq, 0 FROM seq_1_to_200"])

    def work(cursor, k):
        for _ in range(rounds):
            cursor.execute("SELECT MIN(n) = MAX(n) FROM t" if k == 0 else "UPDATE t SET n = n + 1")
            if k == 0 and cursor.fetchone() != (1,):
                return "a torn statement"
        return None

    wrong = [result for result in together(port, sessions, work) if result]
    return f"{engine}: queries: {wrong}" if wrong else None


def check_read_lock(port, engine, rounds):
    """FLUSH TABLES WITH READ LOCK beside functions that change tables: nobody waits in a circle."""
    fresh(port, engine, ["CREATE TABLE u (n INT)", "INSERT INTO u VALUES (0)", "CREATE TABLE t (n INT)", READ_FIRST,
                         "CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW SET NEW.n = f()"])
    changes = ("UPDATE u SET n = n + 1", "SELECT f()", "INSERT INTO t VALUES (1)")

    def work(cursor, k):
        cursor.execute("SET lock_wait_timeout = 30")
        for _ in range(rounds):
            for statement in ("FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES") if k == 0 else changes:
                cursor.execute(statement)

    wrong = [result for result in together(port, 4, work) if result]
    return f"{engine}: a read lock: {wrong}" if wrong else None


# Statements of a program that call the function g in places other than their conditions.
PLACES = {
    "ON of an UPDATE": "UPDATE s a JOIN s b ON g() < 0 SET a.n = 2",
    "ON of a DELETE": "DELETE a FROM s a JOIN s b ON g() < 0",
    "a point in history": "UPDATE s JOIN h FOR SYSTEM_TIME AS OF (NOW() + INTERVAL g() DAY) ON s.n = h.n SET s.n = 2",
    "a JSON_TABLE": "UPDATE s JOIN JSON_TABLE(CONCAT('[', g(), ']'), '$[*]' COLUMNS (n INT PATH '$')) j SET s.n = j.n",
}
# A statement of another session. Its text there may be one of the program.
OTHER = "id <> CONNECTION_ID() AND command = 'Query' AND db = 'whole_tables'"


def check_places(port, engine):
    """A function in any place of a statement of a program locks its tables before the program begins."""
    for name, statement in PLACES.items():
        cursor = fresh(port, engine, [
            "CREATE TABLE u (n INT)", "CREATE TABLE w (n INT)", "CREATE TABLE s (n INT) ENGINE = InnoDB",
            "INSERT INTO s VALUES (1)", "CREATE TABLE h (n INT) ENGINE = InnoDB WITH SYSTEM VERSIONING",
            "CREATE FUNCTION g() RETURNS INT BEGIN DECLARE x INT; SELECT COUNT(*) INTO x FROM u; RETURN x; END",
            f"CREATE FUNCTION f() RETURNS INT BEGIN INSERT INTO w VALUES (1); {statement}; RETURN 1; END"])
        cursor.execute("LOCK TABLES u WRITE")
        found = []

        def work(own, k):
            own.execute("SET lock_wait_timeout = 30")
            return own.execute("DO f()") and None

        reader = connect(port, database="whole_tables").cursor()
        other = threading.Thread(target=lambda: found.extend(together(port, 1, work)))
        other.start()
        while other.is_alive() and not reader.execute("SELECT 1 FROM information_schema.processlist WHERE " + OTHER):
            time.sleep(0.01)
        time.sleep(0.5)
        waits = other.is_alive()
        reader.execute("SET lock_wait_timeout = 2")
        try:
            # The program has not changed w yet, so it has no lock on its rows.
            reader.execute("UPDATE w SET n = n + 1")
        except pymysql.MySQLError as error:
            found.append(error)
        cursor.execute("UNLOCK TABLES")
        other.join()
        reader.execute("SELECT n FROM w")
        wrong = [error for error in found if error]
        if wrong or not waits or reader.fetchone() != (1,):
            return f"{engine}: LOCK TABLES beside {name}: {wrong}"
    return None


def check_lock_tables(port, engine):
    """A statement whose programs use a table that another session has locked waits with nothing of it."""
    for statement in ("INSERT INTO t VALUES (1)", "DO f()", "SELECT f()", "SELECT g()"):
        cursor = fresh(port, engine, [
            "CREATE TABLE u (n INT)", "CREATE TABLE t (n INT) ENGINE = InnoDB",
            "CREATE FUNCTION f() RETURNS INT BEGIN INSERT INTO u VALUES (1); RETURN 1; END",
            "CREATE FUNCTION g() RETURNS INT BEGIN DECLARE x INT; SELECT COUNT(*) INTO x FROM u; RETURN x; END",
            "CREATE TRIGGER r AFTER INSERT ON t FOR EACH ROW INSERT INTO u VALUES (1)"])
        ready = threading.Event()
        cursor.execute("LOCK TABLES u WRITE")

        def work(own, k):
            own.execute("SET lock_wait_timeout = 30")
            ready.set()
            return own.execute(statement) and None

        found = []
        other = threading.Thread(target=lambda: found.extend(together(port, 1, work)))
        other.start()
        ready.wait()
        time.sleep(0.3)
        try:
            waits = other.is_alive()
            cursor.execute("INSERT INTO u VALUES (2)")
            cursor.execute("UPDATE u SET n = n + 1")
            cursor.execute("SELECT COUNT(*) FROM u")
            rows = cursor.fetchone()
        except pymysql.MySQLError as error:
            found.append(error)
        cursor.execute("UNLOCK TABLES")
        other.join()
        wrong = [error for error in found if error]
        if wrong or not waits or rows != (1,):
            return f"{engine}: LOCK TABLES beside {statement}: {wrong}"
    return None


def main():
    given = dict(enumerate(map(int, sys.argv[1:])))
    port, rounds, sessions = given[0], given.get(1, 40), given.get(2, 3)
    wrong = []
    for engine in ENGINES:
        names = [name for name in CASES if engine != "Aria" or name not in SIDE_BY_SIDE]
        wrong += [check(port, engine, name, rounds, sessions) for name in names]
        wrong.append(check_reads(port, engine, rounds, sessions))
        wrong.append(check_read_lock(port, engine, rounds))
        wrong.append(check_lock_tables(port, engine))
        wrong.append(check_places(port, engine))
    connect(port).cursor().execute("DROP DATABASE whole_tables")
    wrong = [line for line in wrong if line]
    print("\n".join(wrong) or f"whole tables: {len(CASES) + 4} kinds of statements for {len(ENGINES)} engines")
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
