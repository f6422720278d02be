"""A replica that is read-only, how its threads are seen, and locks that hold it up."""

import time

from . import compare, report
from .chain import LEDGER, SAFE, Writers, running, two
from .nodes import until

# One replica is looked at.
WANTS = two
CHECKS = ["applier_is_not_read_only", "counts_of_rows", "process_list", "read_lock", "table_locks", "row_locks", "kill_of_threads", "readers_beside"]
TABLE = ("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY, b INT)", "INSERT INTO d.t VALUES (1, 1)")


def applier_is_not_read_only(chain):
    """read_only=1 stops accounts, not the applier."""
    for node in chain.followers:
        node.rows("SET sql_log_bin=0", "CREATE USER plain@'%'", "GRANT SELECT, INSERT ON *.* TO plain@'%'", "SET GLOBAL read_only=1")
    chain.follow()
    chain.primary.rows(*TABLE, "ALTER TABLE d.t ADD c INT", "CREATE USER made@h", "CREATE VIEW d.v AS SELECT 1", "DROP USER made@h")
    chain.catch_up()
    for node in chain.followers:
        report.same("rows", node.rows("SELECT * FROM d.t"), [(1, 1, None)])
        report.same("an account", node.error("INSERT INTO d.t VALUES (2, 2, 2)", user="plain"), 1290)


def counts_of_rows(chain):
    """Rows count as the statements that they are of."""
    chain.follow()
    chain.primary.rows(*TABLE)
    chain.catch_up()
    node, names = chain.replica, ("Com_delete", "Com_insert", "Com_update")
    counts = lambda: [int(row[1]) for row in node.rows(f"SHOW GLOBAL STATUS WHERE Variable_name IN {names}")]
    before = counts()
    chain.primary.rows("INSERT INTO d.t VALUES (2, 2), (3, 3)", "UPDATE d.t SET b = 5", "DELETE FROM d.t WHERE a = 3")
    chain.catch_up()
    report.same("counts", [after - old for after, old in zip(counts(), before)], [1, 1, 1])


def process_list(chain):
    """The threads are system users with MariaDB's commands and states."""
    chain.follow()
    chain.primary.rows(*TABLE)
    chain.catch_up()
    node = chain.replica
    rows = until(lambda: (lambda now: now if len(now) == 2 and all(row[6] for row in now) else None)(
        [row for row in node.rows("SHOW PROCESSLIST") if row[1] == "system user"]), "two system users with states")
    found = sorted((row[4], row[6]) for row in rows)
    report.same("commands and states", found, [("Slave_IO", "Waiting for master to send event"),
                                               ("Slave_SQL", "Slave has read all relay log; waiting for more updates")])
    report.same("databases", {row[3] for row in rows}, {None})
    names = node.rows("SELECT DISTINCT user FROM information_schema.processlist WHERE command IN ('Slave_IO', 'Slave_SQL')")
    report.same("users in information_schema.processlist", names, [("system user",)])
    dumps = [row for row in chain.primary.rows("SHOW PROCESSLIST") if row[4] == "Binlog Dump"]
    report.same("the primary's side", [(row[1], row[6]) for row in dumps], [("repl", "Master has sent all binlog to slave; waiting for more updates")])


def read_lock(chain):
    """FLUSH TABLES WITH READ LOCK holds the applier up until UNLOCK TABLES."""
    chain.follow()
    chain.primary.rows(*TABLE)
    chain.catch_up()
    node = chain.replica
    connection = node.connect()
    with connection, connection.cursor() as cursor:
        cursor.execute("FLUSH TABLES WITH READ LOCK")
        chain.primary.rows("INSERT INTO d.t VALUES (2, 2)", "CREATE TABLE d.u (a INT)")
        time.sleep(0.5)
        report.same("rows under the lock", node.value("SELECT COUNT(*) FROM d.t"), 1)
        report.same("the threads under the lock", (node.status()["Slave_IO_Running"], node.status()["Slave_SQL_Running"]), ("Yes", "Yes"))
        cursor.execute("UNLOCK TABLES")
    chain.catch_up()
    report.same("rows after it", node.value("SELECT COUNT(*) FROM d.t"), 2)


def table_locks(chain):
    """LOCK TABLES of a session of the replica holds up what changes the table."""
    chain.follow()
    chain.primary.rows(*TABLE)
    chain.catch_up()
    node = chain.replica
    connection = node.connect()
    with connection, connection.cursor() as cursor:
        cursor.execute("LOCK TABLES d.t READ")
        chain.primary.rows("INSERT INTO d.t VALUES (2, 2)")
        time.sleep(0.3)
        cursor.execute("SELECT COUNT(*) FROM d.t")
        report.same("rows under LOCK TABLES", cursor.fetchone()[0], 1)
        cursor.execute("UNLOCK TABLES")
        chain.catch_up()
        cursor.execute("BEGIN")
        cursor.execute("SELECT COUNT(*) FROM d.t")
        chain.primary.rows("ALTER TABLE d.t ADD c INT")
        time.sleep(0.3)
        report.same("columns while a transaction has read the table", len(node.rows("SHOW COLUMNS FROM d.t")), 2)
        cursor.execute("COMMIT")
    chain.catch_up()
    report.same("columns after it", len(node.rows("SHOW COLUMNS FROM d.t")), 3)


def row_locks(chain):
    """A session of the replica that holds a row: the group is tried again until it may go."""
    chain.follow()
    chain.primary.rows(*TABLE)
    chain.catch_up()
    node = chain.replica
    node.rows("STOP SLAVE", "SET GLOBAL innodb_lock_wait_timeout=1", "START SLAVE")
    try:
        connection = node.connect()
        with connection, connection.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("SELECT * FROM d.t WHERE a = 1 FOR UPDATE")
            chain.primary.rows("BEGIN", "INSERT INTO d.t VALUES (5, 5)", "UPDATE d.t SET b = 7 WHERE a = 1", "COMMIT")
            time.sleep(2.2)
            report.same("the applier while it waits", (node.status()["Slave_SQL_Running"], node.status()["Last_SQL_Errno"]), ("Yes", 0))
            cursor.execute("ROLLBACK")
        chain.catch_up()
        report.same("rows", node.rows("SELECT * FROM d.t ORDER BY a"), [(1, 7), (5, 5)])
        retried = int(node.rows("SHOW GLOBAL STATUS LIKE 'Slave_retried_transactions'")[0][1])
        report.true("Slave_retried_transactions counts", retried >= 1, retried)
    finally:
        node.rows("SET GLOBAL innodb_lock_wait_timeout=50")


def kill_of_threads(chain):
    """KILL of the applier stops it with an error, KILL of the receiver lets it connect again or stop."""
    chain.follow()
    chain.primary.rows(*TABLE)
    chain.catch_up()
    node = chain.replica
    running(node)
    number = next(row[0] for row in node.rows("SHOW PROCESSLIST") if row[4] == "Slave_SQL")
    node.rows(f"KILL {number}")
    chain.primary.rows("INSERT INTO d.t VALUES (2, 2)")
    until(lambda: node.status()["Slave_SQL_Running"] == "No", "the killed applier stops")
    node.rows("START SLAVE")
    chain.catch_up()
    number = next(row[0] for row in node.rows("SHOW PROCESSLIST") if row[4] == "Slave_IO")
    node.rows(f"KILL {number}")
    until(lambda: node.status()["Slave_IO_Running"] == "No", "the killed receiver stops")
    node.rows("START SLAVE")
    chain.primary.rows("INSERT INTO d.t VALUES (3, 3)")
    chain.catch_up()
    report.same("rows", node.value("SELECT COUNT(*) FROM d.t"), 3)


def readers_beside(chain):
    """Readers of the replica see whole groups only, while it applies."""
    chain.follow()
    chain.primary.script(LEDGER)
    torn = []
    with Writers(chain.primary, SAFE[:1], 2) as writers:
        until(lambda: chain.replica.value("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema='led' AND table_name='hot'"), "the tables arrive")
        connection = chain.replica.connect()
        with connection, connection.cursor() as cursor:
            for _ in range(100):
                cursor.execute("SELECT (SELECT COUNT(*) FROM led.ledger), (SELECT COUNT(*) FROM led.twin), (SELECT IFNULL(SUM(n), 0) FROM led.hot)")
                row = cursor.fetchone()
                if not row[0] == row[1] == row[2]:
                    torn.append(row)
                time.sleep(0.005)
    report.same("answers with a part of a group", torn, [])
    report.same("errors of the sessions", writers.errors, [])
    chain.catch_up()
    compare.same_everything(chain, "led")
