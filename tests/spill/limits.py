#!/usr/bin/env python3
"""Statements whose rows need several times the memory that they may take, on a server with a small limit.

They must give the answers of a server without limits, twenty at once must stay within the server's limit, and no temporary
file and no memory may be left. A kill, a full disk and a directory that is gone end the statement with MariaDB's error;
the session, its transaction and the server live.

usage: limits.py BINARY
"""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from selkie import Server  # noqa: E402

ROWS = 150_000
LIMITS = ["--selkie-statement-memory=16M", "--selkie-memory-limit=512M", "--innodb-buffer-pool-size=64M"]
TABLE = "CREATE TABLE r (id INT PRIMARY KEY, g INT, s VARCHAR(200), d DECIMAL(20,4), j VARCHAR(60))"
FILL = f"""INSERT INTO r SELECT seq, seq * 7919 % 30011, CONCAT(REPEAT('text ', seq % 25), seq * 104729 % 149993), seq / 7,
    SHA2(seq, 224) FROM seq_1_to_{ROWS}"""
# Each needs far more than the limit of a statement; the outer query makes the answer small.
QUERIES = [
    "SELECT COUNT(*), SUM(CRC32(s) * (n % 7)) FROM (SELECT s, ROW_NUMBER() OVER (PARTITION BY g ORDER BY s, id) n FROM r) q",
    "SELECT COUNT(*), SUM(n), SUM(CRC32(m)) FROM (SELECT j, COUNT(*) n, MIN(s) m FROM r GROUP BY j) q",
    "SELECT COUNT(*), SUM(CRC32(s)) FROM (SELECT DISTINCT s, j FROM r) q",
    "SELECT COUNT(*), SUM(CRC32(a.s)), SUM(CRC32(b.s)) FROM r a JOIN r b ON a.j = b.j",
    "SELECT COUNT(*), COUNT(b.id), SUM(CRC32(b.s)) FROM r a LEFT JOIN r b ON CONCAT(a.j, a.g) = CONCAT(b.j, b.g + b.id % 2)",
    "SELECT COUNT(*) FROM (SELECT s, j FROM r UNION SELECT j, s FROM r) q",
    "SELECT COUNT(*) FROM (SELECT s, j FROM r EXCEPT SELECT s, j FROM r WHERE id % 3 = 0) q",
    "WITH w AS (SELECT s, j, id FROM r LIMIT 140000) SELECT COUNT(*), SUM(CRC32(a.s)) FROM w a JOIN w b ON a.id = b.id",
    "SELECT s, id FROM r ORDER BY s, id LIMIT 5 OFFSET 120000",
    "SELECT COUNT(*), SUM(CRC32(p)) FROM (SELECT REPEAT(j, 30) p, id FROM r ORDER BY MD5(id) LIMIT 60000) q",
    "SELECT SUM(CRC32(CONCAT(s, n))) FROM (SELECT s, COUNT(*) OVER (PARTITION BY g) n, id FROM r) q",
]


def open_files(server):
    """Temporary files that the server has open."""
    directory = f"/proc/{server.process.pid}/fd"
    links = []
    for name in os.listdir(directory):
        try:
            links.append(os.readlink(os.path.join(directory, name)))
        except OSError:
            continue
    return [link for link in links if os.path.basename(link).startswith("#") and link.endswith(" (deleted)")]


def make(server):
    with server.connect() as connection, connection.cursor() as cursor:
        for statement in ("CREATE DATABASE spill", "USE spill", TABLE, FILL, "ANALYZE TABLE r"):
            cursor.execute(statement)


def ask(connection, query):
    with connection.cursor() as cursor:
        try:
            cursor.execute(query)
        except pymysql.MySQLError as error:
            error.add_note(query)
            raise
        return cursor.fetchall()


def status(connection, name, scope=""):
    return int(ask(connection, f"SHOW {scope} STATUS LIKE '{name}'")[0][1])


def check_answers(server, expected):
    with server.connect(database="spill") as connection:
        before = status(connection, "Memory_used", "GLOBAL")
        for query, answer in zip(QUERIES, expected):
            begun = time.monotonic()
            ask(connection, "FLUSH STATUS")
            found = ask(connection, query)
            assert found == answer, f"{query}\n  {answer}\n  {found}"
            assert status(connection, "Created_tmp_files") > 0, f"no file was needed: {query}"
            print(f"  {time.monotonic() - begun:5.2f} s  {query[:100]}")
        analyzed = ask(connection, f"ANALYZE FORMAT=JSON {QUERIES[8]}")[0][0]
        assert '"r_sort_passes": ' in analyzed, analyzed
        assert not open_files(server), open_files(server)
        left = status(connection, "Memory_used", "GLOBAL") - before
        assert left < 32 << 20, f"{left} bytes are left"


def check_many(server, expected):
    """Twenty at once: each gives its answer or says that memory is short, and the server keeps its limit."""
    refused, wrong, most = [], [], []

    def work(number, connection):
        query, answer = QUERIES[number % len(QUERIES)], expected[number % len(QUERIES)]
        try:
            if ask(connection, query) != answer:
                wrong.append(query)
        except pymysql.MySQLError as error:
            refused.append(error.args[0])
        connection.close()

    # Connected first: a login that waits behind the statements could be too late.
    connections = [server.connect(database="spill") for _ in range(20)]
    threads = [threading.Thread(target=work, args=arguments) for arguments in enumerate(connections)]
    [thread.start() for thread in threads]
    with server.connect() as connection:
        while any(thread.is_alive() for thread in threads):
            most.append(status(connection, "Memory_used", "GLOBAL"))
            time.sleep(0.05)
    assert not wrong, wrong
    assert set(refused) <= {1041}, refused
    assert len(refused) <= 2, refused
    assert max(most) < 640 << 20, max(most)
    print(f"  twenty at once: {len(refused)} refused, at most {max(most) >> 20} MiB")


def check_lanes(binary):
    """Lanes make groups of some rows while others go to a file: no group may come twice."""
    server = Server(binary, options=["--selkie-columns=FORCE", "--selkie-lanes=8", "--tmp-memory-table-size=0"])
    try:
        server.start()
        with server.connect() as connection:
            for statement in ("CREATE DATABASE spill", "USE spill", "CREATE TABLE f (id INT PRIMARY KEY, k INT)",
                              "INSERT INTO f SELECT seq, seq DIV 2000 FROM seq_1_to_400000", "ANALYZE TABLE f"):
                ask(connection, statement)
            query = "SELECT COUNT(*), COUNT(DISTINCT k), SUM(c) FROM (SELECT k, COUNT(*) c FROM f GROUP BY k) q"
            for _ in range(50):
                found = ask(connection, query)
                assert found == ((201, 201, 400000),), found
        server.stop()
        print("  lanes: passed")
    finally:
        server.remove()


def check_kill(server):
    with server.connect(database="spill") as connection, server.connect() as other:
        number = connection.thread_id()
        ended = []

        def work():
            try:
                ask(connection, QUERIES[4])
            except pymysql.MySQLError as error:
                ended.append((error.args[0], time.monotonic()))

        for seconds in (0.1, 0.4, 0.8):
            thread = threading.Thread(target=work)
            thread.start()
            time.sleep(seconds)
            killed = time.monotonic()
            ask(other, f"KILL QUERY {number}")
            thread.join()
            if ended:
                code, at = ended.pop()
                assert code == 1317 and at - killed < 0.5, (code, at - killed)
            assert not open_files(server), open_files(server)


def check_full_disk(binary):
    directory = tempfile.mkdtemp(prefix="selkie-spill-")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4M", "none", directory], capture_output=True)
    server = Server(binary, options=[*LIMITS, f"--tmpdir={directory}"])
    try:
        server.start()
        make(server)
        with server.connect(database="spill", autocommit=False) as connection:
            ask(connection, "INSERT INTO r (id) VALUES (-1)")
            if mounted.returncode == 0:
                for query in QUERIES[:5]:
                    try:
                        ask(connection, query)
                        raise AssertionError(f"4 MiB were enough: {query}")
                    except pymysql.MySQLError as error:
                        assert error.args[0] == 3 and "No space left" in error.args[1], error.args
                    assert not open_files(server), open_files(server)
                free = os.statvfs(directory)
                assert free.f_bfree > free.f_blocks * 0.9, "space is not free again"
                subprocess.run(["umount", directory], check=True)
            shutil.rmtree(directory)
            try:
                ask(connection, QUERIES[0])
                raise AssertionError("there is no directory")
            except pymysql.MySQLError as error:
                assert error.args[0] == 1, error.args
            assert ask(connection, "SELECT COUNT(*) FROM r WHERE id = -1") == ((1,),), "the transaction is gone"
            connection.commit()
        server.stop()
        print("  a full disk: " + ("passed" if mounted.returncode == 0 else "not checked, since nothing may be mounted"))
    finally:
        if os.path.ismount(directory):
            subprocess.run(["umount", directory], check=False)
        shutil.rmtree(directory, ignore_errors=True)
        server.remove()


def main(binary):
    plain = Server(binary)
    try:
        plain.start()
        make(plain)
        with plain.connect(database="spill") as connection:
            expected = [ask(connection, query) for query in QUERIES]
            assert status(connection, "Created_tmp_files") == 0
        plain.stop()
    finally:
        plain.remove()
    server = Server(binary, options=LIMITS)
    try:
        server.start()
        make(server)
        check_answers(server, expected)
        check_many(server, expected)
        check_kill(server)
        server.stop()
    finally:
        server.remove()
    check_lanes(binary)
    check_full_disk(binary)


if __name__ == "__main__":
    main(sys.argv[1])
