#!/usr/bin/env python3
"""Column groups while other sessions change the rows: what a transaction reads by groups is what it reads by rows.

Writers insert, update, delete, roll back and move rows; readers of every isolation level compare the answers with
selkie_columns OFF and FORCE, or ON after ANALYZE TABLE or repeated reading, inside one transaction. Then definitions change. Must not
compare two reads that may differ anyway: READ COMMITTED and READ UNCOMMITTED are compared while nobody writes.

    columns.py BINARY [--seconds N] [--seed N]
"""

import argparse
import os
import random
import sys
import threading
import time

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from selkie import Server  # noqa: E402

QUERIES = [
    "SELECT * FROM t",
    "SELECT COUNT(*), SUM(n), SUM(c), MIN(d), MAX(s), COUNT(b), SUM(f), SUM(u) FROM t",
    "SELECT id, n FROM t WHERE n % 7 = 3 AND s LIKE 'a%'",
    "SELECT s, COUNT(*), SUM(c) FROM t GROUP BY s ORDER BY s",
    "SELECT a.id, x.n FROM t a JOIN t x ON a.n = x.u WHERE a.c > 100 ORDER BY a.id, x.id LIMIT 100",
    "SELECT id, n, s FROM t WHERE s IN ('a', 'ab', 'changed') AND n > 5 OR s IS NULL",
    "SELECT s, n, COUNT(*), MIN(id) FROM t GROUP BY s, n",
    "SELECT id, MAX(n) FROM t WHERE s <> 'A' GROUP BY id HAVING MAX(n) > 60",
    "SELECT a.id, x.c FROM t a JOIN (SELECT n, COUNT(*) AS c FROM t WHERE id < 900 GROUP BY n) x ON x.n * 11 = a.u",
    "SELECT COUNT(*), SUM(a.c) FROM t a WHERE a.n IN (SELECT x.n FROM t x WHERE x.d > '2003-06-01' AND x.s = 'ab')",
    "SELECT COUNT(*), COUNT(x.id) FROM t a LEFT JOIN t x ON x.d = a.d AND x.s = a.s AND x.id > 8000",
]


def run(connection, statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()


def create(connection):
    run(connection, "DROP TABLE IF EXISTS t")
    run(connection, """CREATE TABLE t (id INT PRIMARY KEY, n INT, c DECIMAL(12,2) NOT NULL, d DATE, s VARCHAR(30),
        b TEXT, f DOUBLE, u BIGINT UNSIGNED, KEY (n)) CHARSET utf8mb4""")
    run(connection, """INSERT INTO t SELECT seq * 10, seq % 91, seq / 4, DATE_ADD('1999-12-31', INTERVAL seq DAY),
        ELT(seq % 4 + 1, 'a', 'A ', 'ab', NULL), IF(seq % 50 = 0, REPEAT('long', 5000), seq), seq / 3, seq * 11
        FROM seq_1_to_1500""")


def change(connection, rng):
    """A transaction of some changes, of which a third is rolled back."""
    run(connection, "BEGIN")
    for _ in range(rng.randrange(1, 8)):
        at = rng.randrange(0, 16_000)
        run(connection, rng.choice([
            f"INSERT IGNORE INTO t (id, n, c, s) VALUES ({at}, {at % 91}, {at % 1000}, 'a{at % 5}')",
            f"UPDATE t SET c = c + 1, s = 'changed' WHERE id BETWEEN {at} AND {at + 30}",
            f"UPDATE IGNORE t SET id = id + 1 WHERE id = {at // 10 * 10}",
            f"DELETE FROM t WHERE id BETWEEN {at} AND {at + 15}",
            f"INSERT INTO t (id, n, c) VALUES ({at}, 1, 1) ON DUPLICATE KEY UPDATE n = n + 1",
        ]))
    run(connection, rng.choice(["COMMIT", "COMMIT", "ROLLBACK"]))


def compare(connection, when):
    """Compares all queries by rows and by groups, in the transaction that the session is in."""
    for query in QUERIES:
        run(connection, "SET selkie_columns = OFF")
        expected = run(connection, query)
        run(connection, "SET selkie_columns = 'FORCE'")
        found = run(connection, query)
        assert found == expected, f"{when}: {query}\n{len(found)} rows by columns, {len(expected)} by rows"


class Writer(threading.Thread):
    def __init__(self, server, seed, stop):
        super().__init__()
        self.connection, self.rng, self.stop = server.connect(database="c"), random.Random(seed), stop
        self.error, self.count = None, 0

    def run(self):
        try:
            while not self.stop.is_set():
                try:
                    change(self.connection, self.rng)
                    self.count += 1
                except pymysql.MySQLError as error:
                    if error.args[0] not in (1205, 1213):
                        raise
                    self.connection.rollback()
        except Exception as error:  # noqa: BLE001
            self.error = error


def beside_writers(server, seconds, seed):
    """Snapshots of different age, each compared again and again, with own changes among them."""
    stop = threading.Event()
    writers = [Writer(server, seed + at, stop) for at in range(2)]
    readers, rng, rounds = [server.connect(database="c") for _ in range(3)], random.Random(seed), 0
    [run(reader, "START TRANSACTION WITH CONSISTENT SNAPSHOT") for reader in readers]
    [writer.start() for writer in writers]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        reader = rng.choice(readers)
        if rng.randrange(3) == 0:
            run(reader, "START TRANSACTION WITH CONSISTENT SNAPSHOT")
        if rng.randrange(4) == 0:
            try:
                run(reader, f"INSERT IGNORE INTO t (id, n, c) VALUES ({rng.randrange(20_000, 90_000)}, 1, 1)")
            except pymysql.MySQLError as error:
                if error.args[0] not in (1205, 1213):
                    raise
                run(reader, "START TRANSACTION WITH CONSISTENT SNAPSHOT")
        if rng.randrange(8) == 0:
            # With little memory wide columns are left out, or groups are missing.
            run(reader, f"SET GLOBAL selkie_column_memory = {rng.choice([0, 20_000, 60_000, 200_000])}")
        compare(reader, "beside writers")
        rounds += 1
    stop.set()
    [writer.join() for writer in writers]
    for writer in writers:
        if writer.error:
            raise writer.error
    run(readers[0], "SET GLOBAL selkie_column_memory = DEFAULT")
    [reader.close() for reader in readers]
    print(f"columns: {rounds} comparisons beside {sum(writer.count for writer in writers)} transactions of writers")


def levels(server):
    """Own changes and others' uncommitted ones at every level."""
    writer, reader = server.connect(database="c"), server.connect(database="c")
    run(writer, "BEGIN")
    run(writer, "UPDATE t SET n = -n WHERE id < 500")
    for level in ("READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ"):
        run(reader, f"SET SESSION TRANSACTION ISOLATION LEVEL {level}")
        run(reader, "BEGIN")
        run(reader, "UPDATE t SET c = c + 1 WHERE id > 14000")
        compare(reader, level)
        run(reader, "ROLLBACK")
        compare(reader, f"{level}, rolled back")
    run(writer, "ROLLBACK")
    compare(reader, "the writer rolled back")


def definitions(server):
    session = server.connect(database="c")
    for statement in ("ALTER TABLE t ADD COLUMN extra INT DEFAULT 7", "UPDATE t SET extra = 8 WHERE id % 20 = 0",
                      "ALTER TABLE t DROP COLUMN f, ADD COLUMN f DOUBLE DEFAULT 1.5", "ALTER TABLE t ADD INDEX (c)",
                      "ALTER TABLE t ENGINE=InnoDB", "TRUNCATE t", "INSERT INTO t (id, c) VALUES (1, 1), (2, 2)",
                      "DELETE FROM t"):
        run(session, statement)
        compare(session, statement)
        assert run(session, "CHECK TABLE t")[-1][-1] == "OK"


def analyzed(server):
    """ANALYZE builds groups of a larger table; what is changed and appended behind them is seen."""
    session = server.connect(database="c")
    run(session, "CREATE OR REPLACE TABLE big (id INT PRIMARY KEY AUTO_INCREMENT, n INT, s VARCHAR(20))")
    run(session, "INSERT INTO big (n, s) SELECT seq, CONCAT('s', seq % 10) FROM seq_1_to_60000")
    run(session, "SET selkie_columns = ON")
    before = dict(run(session, "SHOW STATUS LIKE 'Selkie_columns_%'"))
    run(session, "ANALYZE TABLE big")
    run(session, "UPDATE big SET n = 0 WHERE id % 1000 = 0")
    run(session, "DELETE FROM big WHERE id = 30000")
    run(session, "INSERT INTO big (n) VALUES (7), (8)")
    query = "SELECT COUNT(*), SUM(n), COUNT(s), MAX(id) FROM big"
    found = run(session, query)
    after = dict(run(session, "SHOW STATUS LIKE 'Selkie_columns_%'"))
    grown = {name: int(after[name]) - int(before[name]) for name in after}
    assert grown["Selkie_columns_built"] == 1, grown
    assert grown["Selkie_columns_patches"] == 60 and grown["Selkie_columns_rows_read"] == 59_940, grown
    run(session, "SET selkie_columns = OFF")
    assert run(session, query) == found, (run(session, query), found)
    run(session, "SET selkie_columns = ON")
    run(session, "UPDATE big SET n = n + 1")
    found = run(session, query)
    run(session, "SET selkie_columns = OFF")
    assert run(session, query) == found
    assert int(dict(run(session, "SHOW STATUS LIKE 'Selkie_columns_%'"))["Selkie_columns_filled"]) > 0


def status(connection, name):
    return int(run(connection, f"SHOW STATUS LIKE 'Selkie_columns_{name}'")[0][1])


def used(server):
    """A table that is read whole twice gets groups without being asked, and the answers stay the same."""
    session = server.connect(database="c")
    run(session, "CREATE OR REPLACE TABLE often (id INT PRIMARY KEY AUTO_INCREMENT, n INT, s VARCHAR(20))")
    run(session, "INSERT INTO often (n, s) SELECT seq % 1000, CONCAT('s', seq % 10) FROM seq_1_to_260000")
    query = "SELECT s, COUNT(*), SUM(n) FROM often GROUP BY s"
    expected, end, read = run(session, query), time.monotonic() + 60, 0
    while read < 260_000:
        assert time.monotonic() < end, f"{read} rows are read from groups"
        time.sleep(0.05)
        before = status(session, "rows_read")
        assert run(session, query) == expected
        read = status(session, "rows_read") - before
    run(session, "SET GLOBAL selkie_column_memory = 1")
    run(session, "ALTER TABLE often ENGINE=InnoDB")
    before = status(session, "built")
    run(session, "ANALYZE TABLE often")
    assert status(session, "built") <= before + 1, "more than one group beyond the limit of memory"
    assert run(session, query) == expected
    run(session, "SET GLOBAL selkie_column_memory = DEFAULT")


def fill(session, table, rows=260_000):
    run(session, f"CREATE OR REPLACE TABLE {table} (id INT PRIMARY KEY, n INT, s VARCHAR(100))")
    run(session, f"INSERT INTO {table} SELECT seq, seq % 1000, CONCAT(MD5(seq), SHA1(seq)) FROM seq_1_to_{rows}")


def read_by_groups(session, query):
    """Rows of a query that were read from groups; its answer must be that by rows."""
    run(session, "SET selkie_columns = OFF")
    expected = run(session, query), run(session, "SHOW WARNINGS")
    run(session, "SET selkie_columns = ON")
    before = status(session, "rows_read")
    assert (run(session, query), run(session, "SHOW WARNINGS")) == expected
    return status(session, "rows_read") - before


def short_of_memory(server):
    """Where memory is short, groups have the narrow columns; a wide one comes once it was read and there is room."""
    session = server.connect(database="c")
    narrow, wide = "SELECT SUM(n), MAX(id) FROM {}", "SELECT SUM(CRC32(s)) FROM {}"
    fill(session, "first")
    run(session, "SET GLOBAL selkie_column_memory = 5000000")
    run(session, "ANALYZE TABLE first")
    assert read_by_groups(session, narrow.format("first")) > 250_000
    # Lanes read the rows of a part whose group lacks the column; one that raises warnings is left to the session.
    for query in (wide, "SELECT s FROM {} WHERE s LIKE '%77%' OR n = 3", "SELECT COUNT(*) FROM {} WHERE s + n > 100000"):
        assert read_by_groups(session, query.format("first")) == 0
    run(session, "SET GLOBAL selkie_column_memory = 100000000")
    run(session, "ANALYZE TABLE first")
    assert read_by_groups(session, wide.format("first")) > 250_000
    # A wide column that nobody reads goes when another table needs the room.
    fill(session, "second")
    run(session, "SET GLOBAL selkie_column_memory = 1000000000")
    run(session, "ANALYZE TABLE second")
    full = status(session, "bytes")
    run(session, f"SET GLOBAL selkie_column_memory = {full}")
    fill(session, "third")
    run(session, "ANALYZE TABLE third")
    assert read_by_groups(session, narrow.format("third")) > 250_000
    assert status(session, "bytes") < full
    assert read_by_groups(session, wide.format("second")) == 0
    run(session, "DROP TABLE first, second, third")
    run(session, "SET GLOBAL selkie_column_memory = DEFAULT")


def compressed(server):
    """Long strings for which there is room only if they are compressed are read by groups."""
    session = server.connect(database="c")
    run(session, "CREATE OR REPLACE TABLE words (id INT PRIMARY KEY, n INT, s VARCHAR(200))")
    word = "ELT(1 + CRC32(CONCAT(seq, '{}')) % 5, 'furiously ', 'special ', 'requests ', 'haggle ', NULL)"
    words = ", ".join(word.format(at) for at in range(8))
    run(session, f"INSERT INTO words SELECT seq, seq % 10, IF(seq % 77 = 0, NULL, CONCAT_WS('', {words}, seq))"
                 " FROM seq_1_to_130000")
    run(session, "SET GLOBAL selkie_column_memory = 6000000")
    queries = ["SELECT COUNT(*), SUM(CRC32(s)), MIN(s), COUNT(s) FROM words",
               "SELECT n, COUNT(*) FROM words WHERE s NOT LIKE '%special%requests%' GROUP BY n ORDER BY n",
               "SELECT s FROM words WHERE s LIKE '%77' AND n = 7"]
    read_by_groups(session, queries[0])
    before = status(session, "compressed")
    run(session, "ANALYZE TABLE words")
    assert status(session, "compressed") > before
    for query in queries:
        assert read_by_groups(session, query) > 120_000, query
    run(session, "DROP TABLE words")
    run(session, "SET GLOBAL selkie_column_memory = DEFAULT")


def beside_limits(server):
    """The memory of groups takes no room from statements: 8 MB are sorted under a limit of 16 MB beside groups of 19."""
    session = server.connect(database="c")
    fill(session, "big")
    before = int(dict(run(session, "SHOW GLOBAL STATUS LIKE 'Memory_used'"))["Memory_used"])
    run(session, "ANALYZE TABLE big")
    run(session, f"SET GLOBAL selkie_memory_limit = {before + (16 << 20)}")
    try:
        run(session, "SELECT LENGTH(GROUP_CONCAT(s ORDER BY id)) FROM big WHERE id < 20000")
    finally:
        run(session, "SET GLOBAL selkie_memory_limit = DEFAULT")
    run(session, "DROP TABLE big")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    server = Server(options.binary, options=["--innodb-lock-wait-timeout=1", "--selkie-lanes=3"]).start()
    try:
        run(server.connect(), "CREATE DATABASE c")
        create(server.connect(database="c"))
        levels(server)
        beside_writers(server, options.seconds, options.seed)
        analyzed(server)
        used(server)
        short_of_memory(server)
        compressed(server)
        beside_limits(server)
        definitions(server)
    finally:
        server.stop()
    print("columns: passed")


if __name__ == "__main__":
    main()
