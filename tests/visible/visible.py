"""Running transactions as tools see them: tables, the status report, counters; and selkie inspect.

usage: visible.py BINARY
"""

import os
import re
import subprocess
import sys
import threading
import time

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from selkie import Server  # noqa: E402


def rows(connection, query):
    with connection.cursor(pymysql.cursors.DictCursor) as cursor:
        cursor.execute(query)
        return cursor.fetchall()


def execute(connection, *statements):
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def status(connection, pattern):
    found = rows(connection, f"SHOW GLOBAL STATUS LIKE '{pattern}'")
    return {row["Variable_name"]: row["Value"] for row in found}


def report(connection):
    return rows(connection, "SHOW ENGINE INNODB STATUS")[0]["Status"]


def in_background(connection, *statements):
    """Runs statements in a thread; the returned list has their exceptions."""
    problems = []

    def run():
        try:
            execute(connection, *statements)
        except pymysql.MySQLError as error:
            problems.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, problems


def until(what, condition, seconds=10):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.02)


def prepare(server):
    admin = server.connect()
    execute(
        admin,
        "CREATE DATABASE visible",
        "CREATE TABLE visible.a (id INT PRIMARY KEY, v INT, n VARCHAR(20), KEY (v), KEY (n))",
        "INSERT INTO visible.a VALUES (1, 1, 'x'), (2, 2, 'yy'), (3, 3, 'z')",
    )
    return admin


def waits(server, admin):
    """One transaction waits for another: all tables and reports agree, and KILL ends the wait."""
    holder, waiter = server.connect(autocommit=False), server.connect()
    execute(holder, "UPDATE visible.a SET v = 10 WHERE id = 1")
    thread, problems = in_background(waiter, "UPDATE visible.a SET v = 11 WHERE id = 1")
    wanted = "SELECT * FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'"
    until("a transaction waits", lambda: rows(admin, wanted))
    waiting = rows(admin, wanted)[0]
    assert waiting["trx_mysql_thread_id"] == waiter.thread_id(), waiting
    assert waiting["trx_query"] == "UPDATE visible.a SET v = 11 WHERE id = 1", waiting
    assert waiting["trx_wait_started"] and waiting["trx_isolation_level"] == "REPEATABLE READ"
    joined = rows(admin, """
        SELECT r.trx_mysql_thread_id waiting, b.trx_mysql_thread_id blocking, b.trx_rows_modified n,
            l.lock_mode, l.lock_type, l.lock_table, l.lock_index, l.lock_data
        FROM information_schema.INNODB_LOCK_WAITS w
        JOIN information_schema.INNODB_TRX r ON r.trx_id = w.requesting_trx_id
        JOIN information_schema.INNODB_TRX b ON b.trx_id = w.blocking_trx_id
        JOIN information_schema.INNODB_LOCKS l ON l.lock_id = w.requested_lock_id""")
    assert len(joined) == 1, joined
    found = joined[0]
    assert (found["waiting"], found["blocking"]) == (waiter.thread_id(), holder.thread_id())
    assert (found["lock_mode"], found["lock_type"], found["lock_data"]) == ("X", "RECORD", "1")
    assert (found["lock_table"], found["lock_index"]) == ("`visible`.`a`", "PRIMARY"), found
    assert found["n"] == 1, found  # Rows, not index entries.
    process = rows(admin, f"SELECT * FROM information_schema.PROCESSLIST WHERE ID = {waiter.thread_id()}")
    assert process[0]["STATE"] == "Updating" and process[0]["TIME_MS"] > 0, process
    assert status(admin, "Innodb_row_lock_current_waits")["Innodb_row_lock_current_waits"] == "1"
    text = report(admin)
    assert re.search(r"^---TRANSACTION \d+, ACTIVE \d+ sec starting index read$", text, re.M), text
    assert re.search(r"^LOCK WAIT \d+ lock struct\(s\), heap size \d+, \d+ row lock\(s\)", text, re.M)
    assert re.search(r"^------- TRX HAS BEEN WAITING \d+ us FOR THIS LOCK TO BE GRANTED:\n"
                     r"RECORD LOCKS space id \d+ page no \d+ n bits \d+ index PRIMARY of table "
                     r"`visible`.`a` trx id \d+ lock_mode X .*waiting$", text, re.M), text
    execute(admin, f"KILL QUERY {waiter.thread_id()}")
    thread.join(10)
    assert problems and problems[0].args[0] == 1317, problems
    execute(holder, "ROLLBACK")
    assert not rows(admin, "SELECT * FROM information_schema.INNODB_LOCK_WAITS")


def metadata_wait(server, admin):
    holder, other = server.connect(autocommit=False), server.connect()
    execute(holder, "SELECT * FROM visible.a")
    thread, problems = in_background(other, "ALTER TABLE visible.a COMMENT 'x'")
    state = f"SELECT STATE FROM information_schema.PROCESSLIST WHERE ID = {other.thread_id()}"
    until("a wait for a definition is shown",
          lambda: rows(admin, state)[0]["STATE"] == "Waiting for table metadata lock")
    execute(holder, "COMMIT")
    thread.join(10)
    assert not problems, problems


def deadlock(server, admin):
    execute(admin, "SET GLOBAL innodb_print_all_deadlocks = ON")
    one, two = server.connect(autocommit=False), server.connect(autocommit=False)
    execute(one, "UPDATE visible.a SET v = 20 WHERE id = 1")
    execute(two, "UPDATE visible.a SET v = 20 WHERE id = 2")
    thread, problems = in_background(one, "UPDATE visible.a SET v = 21 WHERE id = 2")
    until("one waits", lambda: rows(admin, "SELECT * FROM information_schema.INNODB_LOCK_WAITS"))
    try:
        execute(two, "UPDATE visible.a SET v = 22 WHERE id = 1")
    except pymysql.MySQLError as error:
        problems.append(error)
    thread.join(10)
    assert [problem.args[0] for problem in problems] == [1213], problems
    execute(one, "ROLLBACK")
    execute(two, "ROLLBACK")
    text = report(admin)
    section = text.split("LATEST DETECTED DEADLOCK\n", 1)[1].split("TRANSACTIONS\n", 1)[0]
    for line in (
        r"^\*\*\* \(1\) TRANSACTION:$", r"^\*\*\* \(2\) TRANSACTION:$",
        r"^TRANSACTION \d+, ACTIVE \d+ sec", r"^MariaDB thread id \d+, OS thread handle \d+, query id \d+ ",
        r"^UPDATE visible.a SET v = 21 WHERE id = 2$", r"^UPDATE visible.a SET v = 22 WHERE id = 1$",
        r"^\*\*\* WAITING FOR THIS LOCK TO BE GRANTED:$", r"^\*\*\* CONFLICTING WITH:$",
        r"^RECORD LOCKS space id \d+ .* index PRIMARY of table `visible`.`a` trx id \d+ lock_mode X",
        r"^\*\*\* WE ROLL BACK TRANSACTION \([12]\)$",
    ):
        assert re.search(line, section, re.M), f"{line}\n{section}"
    assert status(admin, "Innodb_deadlocks")["Innodb_deadlocks"] == "1"
    assert "WE ROLL BACK TRANSACTION" in server.log()


def counters(admin):
    before = status(admin, "Innodb%")
    execute(admin, "INSERT INTO visible.a VALUES (100, 1, 'c'), (101, 1, 'c')",
            "UPDATE visible.a SET v = 2 WHERE id = 100", "SELECT * FROM visible.a",
            "DELETE FROM visible.a WHERE id >= 100")
    after = status(admin, "Innodb%")
    grown = {name: int(after[name]) - int(before[name]) for name in after if after[name].isdigit()}
    exact = {"Innodb_rows_inserted": 2, "Innodb_rows_updated": 1, "Innodb_rows_deleted": 2}
    assert {name: grown[name] for name in exact} == exact, grown
    for name in ("buffer_pool_read_requests", "buffer_pool_write_requests", "log_write_requests",
                 "log_writes", "os_log_written", "rows_read", "lsn_current", "data_fsyncs"):
        assert grown[f"Innodb_{name}"] > 0, name
    pages = [int(after[f"Innodb_buffer_pool_pages_{what}"]) for what in ("total", "data", "free")]
    assert pages[0] == pages[1] + pages[2] > 0, pages
    for table in ("INNODB_METRICS", "INNODB_BUFFER_POOL_STATS", "INNODB_SYS_TABLES", "INNODB_SYS_INDEXES",
                  "INNODB_SYS_COLUMNS", "INNODB_SYS_FIELDS", "INNODB_SYS_TABLESPACES", "INNODB_CMP",
                  "INNODB_SYS_TABLESTATS"):
        assert rows(admin, f"SELECT * FROM information_schema.{table}"), table
    titles = ["BACKGROUND THREAD", "SEMAPHORES", "LATEST DETECTED DEADLOCK", "TRANSACTIONS", "FILE I/O",
              "LOG", "BUFFER POOL AND MEMORY", "ROW OPERATIONS"]
    places = [report(admin).index(f"\n{title}\n---") for title in titles]
    assert places == sorted(places), places


def tables(admin):
    def table(statement):
        return [list(row.values())[2:] for row in rows(admin, statement)]

    ok = [["status", "OK"]]
    for words in ("", " QUICK", " FAST", " MEDIUM", " EXTENDED", " CHANGED"):
        assert table(f"CHECK TABLE visible.a{words}") == ok, words
    assert table("ANALYZE TABLE visible.a") == ok
    note = "Table does not support optimize, doing recreate + analyze instead"
    assert table("OPTIMIZE TABLE visible.a") == [["note", note]] + ok
    execute(admin, "CREATE TABLE visible.s (b INT)", "INSERT INTO visible.s VALUES (1), (2)")
    assert rows(admin, "CHECKSUM TABLE visible.s")[0]["Checksum"] == 2865344526
    assert rows(admin, "CHECKSUM TABLE visible.s QUICK")[0]["Checksum"] is None


def inspect(server, *arguments):
    command = [server.binary, "inspect", arguments[0], server.datadir, *arguments[1:]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout


def load(server, stop):
    connection = server.connect()
    number = 1000
    while not stop.is_set():
        execute(connection, f"INSERT INTO visible.a VALUES ({number}, {number % 7}, 'load {number % 5}')",
                f"UPDATE visible.a SET v = v + 1 WHERE id = {number - 3}")
        number += 1


def inspections(server):
    """Inspects a directory in use, after a kill, after a clean end, and with a damaged page."""
    stop = threading.Event()
    thread = threading.Thread(target=load, args=(server, stop), daemon=True)
    thread.start()
    time.sleep(0.5)
    for what in ("files", "undo", "check"):
        # The server may write between two reads of related data; the tool says so itself.
        looks = (inspect(server, what) for _ in range(5))
        code, text = next((look for look in looks if look[0] == 0), (1, "wrong five times"))
        assert code == 0, f"{what} of a directory in use\n{text}"
    stop.set()
    thread.join(10)
    open_one = server.connect(autocommit=False)
    execute(open_one, "UPDATE visible.a SET v = 77, n = 'unfinished'")
    time.sleep(1.2)
    server.kill()
    for what in ("files", "log", "undo", "check"):
        code, text = inspect(server, what)
        assert code == 0, f"{what} after a kill\n{text}"
    server.start()
    server.stop()
    code, text = inspect(server, "check")
    assert code == 0, text
    listed = inspect(server, "files")[1].splitlines()[1:-1]
    file = max((line.split() for line in listed), key=lambda fields: int(fields[4]))[0]
    code, text = inspect(server, "tree", file)
    assert code == 0 and "level 0:" in text, text
    code, text = inspect(server, "pages", file, "2")
    assert code == 0 and "lower fence" in text, text
    name = os.path.join(server.datadir, f"data.{int(file):010}")
    with open(name, "r+b") as data:
        data.seek(2 * 16384 + 9000)
        byte = data.read(1)
        data.seek(-1, os.SEEK_CUR)
        data.write(bytes([byte[0] ^ 1]))
    for arguments in (("check",), ("pages", file)):
        code, text = inspect(server, *arguments)
        assert code == 1 and "WRONG" in text, f"{arguments} of a damaged page: {code}\n{text}"
    done = subprocess.run([server.binary, "inspect", "check", server.root], capture_output=True)
    assert done.returncode == 2, done


def names_of_files(binary):
    """Schemas may be named as files of the storage, which makes some of them late."""
    server = Server(binary).start()
    try:
        admin = server.connect()
        names = ("undo", "control", "doublewrite", "lock")
        for name in names:
            execute(admin, f"CREATE DATABASE `{name}`", f"CREATE TABLE `{name}`.t (id INT PRIMARY KEY, v VARCHAR(200))")
        execute(admin, "USE `undo`", "INSERT INTO t SELECT seq, REPEAT('x', 200) FROM seq_1_to_150000", "BEGIN",
                "UPDATE t SET v = REPEAT('y', 200)")
        assert os.path.isfile(os.path.join(server.datadir, "undo")), "the undo is kept in memory"
        execute(admin, "ROLLBACK", *(f"DROP DATABASE `{name}`" for name in names[1:]))
        admin.close()
        server.stop()
        server.options.append("--skip-innodb-doublewrite")
        server.start()
        assert rows(server.connect(), "SELECT COUNT(*) n FROM `undo`.t WHERE v LIKE 'x%'") == [{"n": 150000}]
    finally:
        server.remove()


def changed_schemas_of_the_server(binary):
    """Whatever a user does to the schemas that the server fills, it starts again, with its own tables in them."""
    server = Server(binary).start()
    try:
        admin = server.connect()
        execute(admin, "CREATE OR REPLACE FUNCTION sys.format_time(a INT, b INT) RETURNS INT RETURN 1",
                "CREATE OR REPLACE VIEW sys.`x$schema_flattened_keys` AS SELECT 1 a", "ALTER DATABASE sys COLLATE utf8mb3_bin",
                "DROP DATABASE performance_schema", "CREATE DATABASE performance_schema")
        admin.close()
        server.stop()
        server.start()
        admin = server.connect()
        assert rows(admin, "SELECT sys.format_time(1, 2) f") == [{"f": 1}]
        assert rows(admin, "SELECT COUNT(*) > 3 n FROM sys.sys_config") == [{"n": 1}]
        assert rows(admin, "SELECT COUNT(*) n FROM performance_schema.threads") == [{"n": 0}]
        execute(admin, "CREATE USER u", "GRANT SELECT (thread_id) ON performance_schema.threads TO u")
        some = server.connect(user="u")
        assert rows(some, "SELECT thread_id FROM performance_schema.threads") in ([], ())
        try:
            rows(some, "SELECT processlist_info FROM performance_schema.threads")
            raise AssertionError("a privilege on one column is one on all")
        except pymysql.MySQLError as error:
            assert error.args[0] == 1143, error.args
        server.stop()
    finally:
        server.remove()


def main(binary):
    names_of_files(binary)
    changed_schemas_of_the_server(binary)
    server = Server(binary).start()
    try:
        admin = prepare(server)
        waits(server, admin)
        metadata_wait(server, admin)
        deadlock(server, admin)
        counters(admin)
        tables(admin)
        inspections(server)
        print("visible: all as tools expect")
    finally:
        server.remove()


if __name__ == "__main__":
    main(*sys.argv[1:])
