"""kill -9 while column groups are built, tables are loaded and reports spill: nothing lost, nothing left behind.

A changer updates, inserts and deletes facts and remembers the sum of what was acknowledged. A loader fills tables of its own
by LOAD DATA and INSERT .. SELECT, analyzes them, which builds their column groups, and drops some. Reporters run statements
that need several times their memory; each answer is compared with a serial scan of the rows in the same snapshot. After
every restart the temporary directory is empty, the data directory has no files but the server's, CHECK TABLE EXTENDED finds
nothing, each load is there as a whole or not at all, the sum is the acknowledged one, and columns and rows answer alike.

usage: reports.py BINARY CYCLES [SEED]      200 cycles take about 9 minutes
"""

import os
import random
import re
import shutil
import sys
import tempfile
import time

import pymysql

sys.path[:0] = [os.path.join(os.path.dirname(__file__), ".."), os.path.join(os.path.dirname(__file__), "../spill")]
from crash import Session, rows  # noqa: E402
from limits import open_files  # noqa: E402
from selkie import Server  # noqa: E402

FACTS = 60_000
LOADED = 20_000
OPTIONS = ["--innodb-buffer-pool-size=32M", "--selkie-columns=FORCE", "--selkie-lanes=3", "--sort-buffer-size=64K",
           "--join-buffer-size=64K", "--tmp-memory-table-size=64K", "--innodb-log-file-size=8M", "--local-infile=1"]
SCHEMA = f"""CREATE DATABASE r
CREATE TABLE r.facts (id INT PRIMARY KEY, g INT NOT NULL, v BIGINT NOT NULL, s VARCHAR(60) NOT NULL, KEY (g))
INSERT INTO r.facts SELECT seq, seq * 7919 % 3001, seq, CONCAT('fact ', seq * 104729 % 59999) FROM r.seq_1_to_{FACTS}
ANALYZE TABLE r.facts"""
REPORTS = [
    "SELECT COUNT(*), SUM(n), SUM(t) FROM (SELECT s, COUNT(*) n, SUM(v) t FROM r.facts GROUP BY s) q",
    "SELECT COUNT(*), SUM(a.v), SUM(b.v) FROM r.facts a JOIN r.facts b ON a.s = b.s",
    "SELECT COUNT(*), SUM(n * (v % 5)) FROM (SELECT v, ROW_NUMBER() OVER (PARTITION BY g ORDER BY s, id) n FROM r.facts) q",
    "SELECT COUNT(*), SUM(CRC32(s)) FROM (SELECT DISTINCT s, v FROM r.facts) q",
    "SELECT COUNT(*), SUM(v) FROM r.facts",
]
# Files that a data directory has while its server runs.
OURS = re.compile(r"control|(selkie\.)?lock|doublewrite|undo|(data|log|snapshot|spare)\.\d+|.*\.(pem|pid|cnf|sock)|column_groups\.(list|new)|[a-z_]*log[a-z_.0-9]*")


class Changer(Session):
    """Changes facts. `sum`: of all acknowledged values; `unsure`: the sum if the last statement was carried out too."""

    def __init__(self, server, rng, total, top):
        super().__init__(server, rng)
        self.sum, self.unsure, self.top = total, total, top

    def work(self, connection, cursor):
        choice = self.random.random()
        first = self.random.randrange(1, FACTS - 100)
        if choice < 0.5:
            (there, _), = rows(cursor, f"SELECT COUNT(*), SUM(v) FROM r.facts WHERE id BETWEEN {first} AND {first + 50}")
            change, grown = f"UPDATE r.facts SET v = v + 3 WHERE id BETWEEN {first} AND {first + 50}", 3 * there
        elif choice < 0.75:
            self.top += 1
            change, grown = f"INSERT INTO r.facts VALUES ({self.top}, 5, 11, CONCAT('new ', {self.top}))", 11
        else:
            (gone,), = rows(cursor, f"SELECT COALESCE(SUM(v), 0) FROM r.facts WHERE id BETWEEN {first} AND {first + 1}")
            change, grown = f"DELETE FROM r.facts WHERE id BETWEEN {first} AND {first + 1}", -gone
        self.unsure = self.sum + int(grown)
        cursor.execute(change)
        self.sum = self.unsure


class Loader(Session):
    """Fills tables; each has all rows of its loads or none."""

    options = {"local_infile": True}

    def __init__(self, server, rng, number, path):
        super().__init__(server, rng)
        self.number, self.path, self.full = number, path, {}

    def work(self, connection, cursor):
        self.number += 1
        name = f"r.l{self.number}"
        cursor.execute(f"CREATE TABLE {name} (id INT PRIMARY KEY, g INT, v BIGINT, s VARCHAR(60), KEY (s))")
        if self.random.random() < 0.5:
            cursor.execute(f"LOAD DATA LOCAL INFILE '{self.path}' INTO TABLE {name}")
        else:
            cursor.execute(f"INSERT INTO {name} SELECT seq, seq % 7, seq, CONCAT('row ', seq) FROM r.seq_1_to_{LOADED}")
        self.full[name] = True
        cursor.execute(f"ANALYZE TABLE {name}")
        if self.random.random() < 0.3:
            cursor.execute(f"ALTER TABLE {name} ADD INDEX (g, v)")
        if self.random.random() < 0.5:
            self.full[name] = None
            cursor.execute(f"DROP TABLE {name}")


class Reporter(Session):
    """Runs reports by columns and by rows in one snapshot."""

    done = 0

    def work(self, connection, cursor):
        report = self.random.choice(REPORTS)
        cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        cursor.execute("SET selkie_columns = 'FORCE'")
        fast = rows(cursor, report)
        cursor.execute("SET selkie_columns = 'OFF', selkie_lanes = 1")
        slow = rows(cursor, report)
        cursor.execute("COMMIT")
        assert fast == slow, f"{report}: {fast} by columns, {slow} by rows"
        self.done += 1


class Life:
    """What is known over all lives of the server."""

    def __init__(self, rng, directory):
        self.rng, self.directory = rng, directory
        self.path = os.path.join(directory, "rows.txt")
        self.tmpdir = os.path.join(directory, "tmp")
        self.sum, self.top, self.number, self.reports, self.temporary = FACTS * (FACTS + 1) // 2, FACTS, 0, 0, 0
        os.mkdir(self.tmpdir)
        with open(self.path, "w") as file:
            file.writelines(f"{n}\t{n % 7}\t{n}\trow {n}\n" for n in range(1, LOADED + 1))

    def child(self):
        return random.Random(self.rng.random())


def check(server, life, changer, loader):
    left = os.listdir(life.tmpdir)
    assert not left, f"left in the temporary directory: {left}"
    odd = [name for name in os.listdir(server.datadir) if not OURS.fullmatch(name)
           and not os.path.isdir(os.path.join(server.datadir, name))]
    assert not odd, f"left in the data directory: {odd}"
    with server.connect() as connection, connection.cursor() as cursor:
        for (table,) in rows(cursor, "SHOW TABLES FROM r"):
            verdict = rows(cursor, f"CHECK TABLE r.{table} EXTENDED")
            assert verdict[-1][3] == "OK", verdict
            if table == "facts":
                continue
            (count,), = rows(cursor, f"SELECT COUNT(*) FROM r.{table}")
            known = loader.full.get(f"r.{table}")
            assert count in ((LOADED,) if known else (0, LOADED)), f"{table} has {count} rows"
            cursor.execute(f"DROP TABLE r.{table}")
            loader.full.pop(f"r.{table}", None)
        missing = [name for name, full in loader.full.items() if full]
        assert not missing, f"loaded tables are missing: {missing}"
        (total,), = rows(cursor, "SELECT SUM(v) FROM r.facts")
        assert total in (changer.sum, changer.unsure), f"sum {total}, acknowledged {changer.sum} or {changer.unsure}"
        for report in life.rng.sample(REPORTS, 2):
            fast = rows(cursor, report)
            cursor.execute("SET selkie_columns = 'OFF'")
            slow = rows(cursor, report)
            cursor.execute("SET selkie_columns = 'FORCE'")
            assert fast == slow, f"{report}: {fast} by columns, {slow} by rows"
        life.sum, life.top, life.number = total, changer.top + 1, loader.number


def cycle(server, life):
    changer = Changer(server, life.child(), life.sum, life.top)
    loader = Loader(server, life.child(), life.number, life.path)
    reporters = [Reporter(server, life.child()) for _ in range(2)]
    sessions = [loader, changer, *reporters]
    for session in sessions:
        session.start()
    time.sleep(life.rng.uniform(0.1, 1.5))
    life.temporary += bool(open_files(server))
    server.kill()
    for session in sessions:
        session.join(60)
        assert not session.is_alive() and session.problem is None, session.problem
    life.reports += sum(reporter.done for reporter in reporters)
    server.start()
    check(server, life, changer, loader)


def main():
    binary, cycles = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    directory = tempfile.mkdtemp(prefix="selkie-reports-")
    life = Life(random.Random(seed), directory)
    server = Server(binary, options=[*OPTIONS, f"--tmpdir={life.tmpdir}"]).start()
    try:
        with server.connect() as connection, connection.cursor() as cursor:
            for statement in SCHEMA.splitlines():
                cursor.execute(statement)
        for number in range(1, cycles + 1):
            cycle(server, life)
            if number % 10 == 0:
                print(f"cycle {number}: {life.number} loads, {life.reports} reports, {life.temporary} kills while spilling",
                      flush=True)
        server.stop()
        assert not os.listdir(life.tmpdir)
    finally:
        server.remove()
        shutil.rmtree(directory, ignore_errors=True)
    assert life.reports > 0 and (cycles < 10 or life.temporary > 0), "no report spilled"
    print(f"reports: {cycles} cycles, {life.number} loads, {life.reports} reports, killed {life.temporary} times"
          " while spilling, nothing lost, nothing left")


if __name__ == "__main__":
    main()
