"""Reading data from a damaged directory with innodb_force_recovery, 1 to 6.

A page of rows is damaged: without the option its table cannot be read, from level 1 on all other rows can. A transaction
was cut short: up to 2 it is rolled back, with 3 and 4 its rows stay locked and invisible, from 5 on they count as
committed. The undo snapshot or the log is missing: the server starts with 5 or 6. With 5 and 6 no byte of the directory
changes, and writes are refused with MariaDB's errors.

usage: force_recovery.py BINARY
"""

import hashlib
import os
import shutil
import sys

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from selkie import Server  # noqa: E402

ROWS = 4000
PAGE = 16384
SCHEMA = """CREATE DATABASE d
CREATE TABLE d.t (id INT PRIMARY KEY, k INT, s VARCHAR(300), KEY (k))
CREATE TABLE d.other (id INT PRIMARY KEY, s VARCHAR(100))
INSERT INTO d.t SELECT seq, seq % 97, REPEAT('x', 250) FROM d.seq_1_to_4000
INSERT INTO d.other SELECT seq, 'kept' FROM d.seq_1_to_10"""


def ask(server, query):
    """Returns rows, or the number of the error."""
    with server.connect(read_timeout=60) as connection, connection.cursor() as cursor:
        try:
            cursor.execute(query)
            return [tuple(row) for row in cursor.fetchall()]
        except pymysql.MySQLError as error:
            return error.args[0]


def start(server, level=0):
    server.options = [f"--innodb-force-recovery={level}", "--innodb-buffer-pool-size=16M"]
    server.start()


def refuses(server, level=0):
    try:
        start(server, level)
    except RuntimeError as error:
        return str(error)
    server.kill()
    return None


def state(server):
    """Returns the contents of the database's files."""
    out = {}
    for name in sorted(os.listdir(server.datadir)):
        if name == "control" or name.startswith(("data.", "log.", "snapshot.", "undo", "doublewrite")):
            with open(os.path.join(server.datadir, name), "rb") as file:
                out[name] = hashlib.sha1(file.read()).hexdigest()
    return out


def file_of(server, table):
    """Returns the file of a table's rows: the longest data file of the directory."""
    names = [n for n in os.listdir(server.datadir) if n.startswith("data.")]
    return max((os.path.join(server.datadir, n) for n in names), key=lambda n: (count(n), n))


def count(name):
    """Returns the number of pages in use: those that are not blank."""
    with open(name, "rb") as file:
        data = file.read()
    return sum(1 for at in range(0, len(data), PAGE) if data[at:at + 4] != b"\0\0\0\0")


def damage(name, page):
    with open(name, "r+b") as file:
        file.seek(page * PAGE + 5000)
        file.write(os.urandom(64))


def check_damaged_page(server, image):
    damage(file_of(server, "t"), 20)
    start(server)
    answer = ask(server, "SELECT SUM(LENGTH(s)) FROM d.t")
    assert isinstance(answer, int), f"a damaged page was read: {answer}"
    assert ask(server, "SELECT COUNT(*) FROM d.other") == [(10,)]
    server.kill()
    for level in range(1, 7):
        start(server, level)
        rows = ask(server, "SELECT id, k, s FROM d.t FORCE INDEX (PRIMARY)")
        assert isinstance(rows, list) and ROWS - 200 < len(rows) < ROWS, f"level {level}: {str(rows)[:80]}"
        assert all(k == n % 97 and s == "x" * 250 for n, k, s in rows)
        backwards = ask(server, "SELECT id FROM d.t ORDER BY id DESC")
        assert len(backwards) == len(rows), f"{len(backwards)} backwards, {len(rows)} forwards"
        found = ask(server, "SELECT id, s FROM d.t FORCE INDEX (k) WHERE k = 5")
        assert isinstance(found, list) and 0 < len(found) <= ROWS // 97 + 1
        lost = set(range(1, ROWS + 1)) - {row[0] for row in rows}
        if level < 5:
            assert ask(server, f"INSERT INTO d.other VALUES ({100 + level}, 'new')") == []
            assert isinstance(ask(server, f"UPDATE d.t SET k = 1 WHERE id = {min(lost)}"), (int, list))
        server.stop()
        print(f"level {level}: {len(rows)} of {ROWS} rows beside a damaged page", flush=True)
    restore(server, image)


def check_unfinished(server):
    start(server)
    with server.connect(autocommit=False) as connection, connection.cursor() as cursor:
        cursor.execute("UPDATE d.other SET s = 'unfinished' WHERE id = 1")
        assert ask(server, "INSERT INTO d.other VALUES (50, 'durable')") == []
        server.kill()
    image = keep(server)
    for level in range(1, 7):
        before = state(server)
        start(server, level)
        (seen,), = ask(server, "SELECT s FROM d.other WHERE id = 1")
        if level < 5:
            assert seen == "kept", f"level {level}: {seen}"
            assert ask(server, "INSERT INTO d.other VALUES (51, 'new')") == []
            locked = ask(server, "SELECT s FROM d.other WHERE id = 1 FOR UPDATE NOWAIT")
            assert locked == (1205 if level >= 3 else [("kept",)]), f"level {level}: {locked}"
        else:
            expected = {"INSERT INTO d.other VALUES (51, 'new')": 1836 if level == 5 else 1036,
                        "UPDATE d.other SET s = 'x'": 1836 if level == 5 else 1036,
                        "DELETE FROM d.other": 1036}
            for statement, error in expected.items():
                assert ask(server, statement) == error, f"level {level}: {statement}: {ask(server, statement)}"
            for statement in ("DROP TABLE d.other", "CREATE TABLE d.n (a INT)", "TRUNCATE d.other",
                              "ALTER TABLE d.other ADD COLUMN c INT", "CREATE INDEX i ON d.other (s)"):
                assert isinstance(ask(server, statement), int), f"level {level}: {statement}"
            assert ask(server, "SELECT COUNT(*) FROM d.t") == [(ROWS,)]
        if level == 5:
            assert seen == "unfinished", seen
        server.stop() if level < 5 else server.kill()
        if level >= 5:
            assert state(server) == before, f"level {level} changed the directory"
        restore(server, image)
    start(server)
    assert ask(server, "SELECT s FROM d.other WHERE id = 1") == [("kept",)]
    server.stop()


def check_lost_files(server):
    """Each level starts without another missing file."""
    image = keep(server)
    for gone, least in (("snapshot.", 5), ("log.", 6), ("control", 6)):
        for name in os.listdir(server.datadir):
            if name.startswith(gone):
                os.remove(os.path.join(server.datadir, name))
        for level in (0, least - 1):
            refusal = refuses(server, level)
            assert refusal and gone.strip(".") in refusal, f"without {gone}, level {level}: {refusal}"
        start(server, least)
        assert ask(server, "SELECT COUNT(*), SUM(LENGTH(s)) FROM d.t") == [(ROWS, ROWS * 250)], gone
        server.stop()
        restore(server, image)


def check_lost_tables(server):
    """A file of the dictionary, or of one table, is missing: whatever a start answers, it deletes no other file."""
    image = keep(server)
    files = [name for name in sorted(os.listdir(server.datadir)) if name.startswith("data.")]
    for name in files[:6]:
        os.remove(os.path.join(server.datadir, name))
        if refuses(server) is None:
            print(f"without {name}: starts", flush=True)
        left = {name for name in os.listdir(server.datadir) if name.startswith("data.")}
        assert set(files) - {name} <= left, f"without {name} these went too: {set(files) - {name} - left}"
        restore(server, image)


def keep(server):
    image = server.datadir + "-image"
    shutil.rmtree(image, ignore_errors=True)
    shutil.copytree(server.datadir, image)
    return image


def restore(server, image):
    shutil.rmtree(server.datadir)
    shutil.copytree(image, server.datadir)


def main():
    server = Server(sys.argv[1])
    try:
        start(server)
        for statement in SCHEMA.split("\n"):
            answer = ask(server, statement)
            assert answer == [], f"{statement}: {answer}"
        server.stop()
        check_damaged_page(server, keep(server))
        check_unfinished(server)
        check_lost_files(server)
        check_lost_tables(server)
    except (AssertionError, RuntimeError):
        print(server.log(), file=sys.stderr)
        raise
    finally:
        server.remove()
    print("force recovery: rows came out of every damage that a level is for")


if __name__ == "__main__":
    main()
