"""A disk that fills up to the last byte under load and is freed again: no acknowledged change may be missing.

The data directory is on a small file system of its own: a loop-mounted ext4, else a tmpfs. Without
the right to mount either, the script says so and passes. Connections write rows of every size in transactions
and remember the acknowledged ones outside the server. Other files then take the rest of the
disk. From then on every statement must end with 1021, 1114 or success, reads must work, and the
server must stay alive. DELETE, TRUNCATE and DROP free space. When space is freed, writes succeed again. After a kill -9
and a restart with the disk full again, every acknowledged row is there and no transaction is applied in part.

usage: disk_full.py BINARY [MEBIBYTES] [SECONDS]
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zlib

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from selkie import Server  # noqa: E402

WORKERS = 6
FULL = (1021, 1114)
OPTIONS = ["--innodb-buffer-pool-size=32M", "--innodb-log-file-size=48M",
           "--innodb-log-buffer-size=2M"]
SCHEMA = """CREATE TABLE full.ledger (
    worker INT NOT NULL, seq INT NOT NULL, part INT NOT NULL, payload MEDIUMTEXT NOT NULL,
    checksum BIGINT NOT NULL, PRIMARY KEY (worker, seq, part), KEY by_checksum (checksum))"""


class SmallDisk:
    """A mounted file system of `mebibytes`, and files that fill it."""

    def __init__(self, mebibytes):
        self.root = tempfile.mkdtemp(prefix="selkie-full-")
        self.path = os.path.join(self.root, "disk")
        os.mkdir(self.path)
        self.kind = self.mount(mebibytes)

    def mount(self, mebibytes):
        image = os.path.join(self.root, "image")
        loop = [["truncate", f"--size={mebibytes}M", image], ["mkfs.ext4", "-q", "-m", "0", image],
                ["mount", "-o", "loop", image, self.path]]
        memory = [["mount", "-t", "tmpfs", "-o", f"size={mebibytes}M", "none", self.path]]
        for kind, commands in (("ext4", loop), ("tmpfs", memory)):
            try:
                for command in commands:
                    subprocess.run(command, check=True, capture_output=True)
                return kind
            except (OSError, subprocess.CalledProcessError):
                continue
        return None

    def fill(self):
        """Fills the free space, in pieces down to one byte."""
        with open(os.path.join(self.path, "ballast"), "ab", buffering=0) as ballast:
            step = 1 << 20
            while step:
                try:
                    if ballast.write(b"x" * step) < step:
                        step //= 2
                except OSError:
                    step //= 2

    def free(self):
        os.remove(os.path.join(self.path, "ballast"))

    def remove(self):
        if self.kind:
            subprocess.run(["umount", self.path], check=False)
        shutil.rmtree(self.root, ignore_errors=True)


class Worker(threading.Thread):
    """Writes transactions of two rows; `acked` are known to be committed, `refused` counts full-disk errors."""

    def __init__(self, server, number, first):
        super().__init__(daemon=True)
        self.server, self.number, self.seq = server, number, first
        self.random = random.Random(number * 1000 + first)
        self.acked, self.refused, self.dead, self.problem, self.stop = set(), 0, False, None, False

    def run(self):
        try:
            connection = self.server.connect(read_timeout=60, write_timeout=60)
            with connection.cursor() as cursor:
                while not self.stop:
                    self.attempt(connection, cursor)
                    self.seq += 1
        except (pymysql.err.OperationalError, pymysql.err.InterfaceError, OSError) as error:
            self.dead = True
            self.problem = error
        except (pymysql.MySQLError, AssertionError) as error:
            self.problem = error

    def attempt(self, connection, cursor):
        try:
            connection.begin()
            for part in range(2):
                length = self.random.choice((20, 300, 3_000, 300, 20, 40_000, 20, 300))
                payload = "".join(self.random.choices("abcdefgh", k=20)) * (length // 20)
                cursor.execute("INSERT INTO full.ledger VALUES (%s, %s, %s, %s, %s)",
                               (self.number, self.seq, part, payload, zlib.crc32(payload.encode())))
            connection.commit()
            self.acked.add((self.number, self.seq))
        except pymysql.MySQLError as error:
            if error.args[0] not in FULL:
                raise
            self.refused += 1
            connection.rollback()
            cursor.execute("SELECT COUNT(*) FROM full.ledger WHERE worker = %s AND seq < 10",
                           (self.number,))
            time.sleep(0.02)


def verify(server, acked):
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT worker, seq, part, checksum = CRC32(payload) FROM full.ledger")
        present = {}
        for worker, seq, part, good in cursor.fetchall():
            assert good, f"row {worker}/{seq} is damaged"
            present.setdefault((worker, seq), set()).add(part)
        cursor.execute("CHECK TABLE full.ledger EXTENDED")
        verdict = cursor.fetchall()
        assert verdict[-1][3] == "OK", verdict
    missing = acked - present.keys()
    assert not missing, f"{len(missing)} acknowledged transactions are missing: {sorted(missing)[:5]}"
    partial = [key for key, parts in present.items() if parts != {0, 1}]
    assert not partial, f"transactions there in part: {partial[:5]}"
    return len(present)


def wait(workers, seconds, until):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        broken = [w.problem for w in workers if w.problem]
        assert not broken, broken
        if until():
            return True
        time.sleep(0.05)
    return False


def make_room(server, disk):
    """Without a free byte, rows and tables can be deleted; each time the freed space is filled again."""
    with server.connect() as connection, connection.cursor() as cursor:
        for statement in ("DELETE FROM full.ledger WHERE seq < 20 LIMIT 50", "TRUNCATE full.second",
                          "DELETE FROM full.ledger WHERE worker = 0 LIMIT 50", "DROP TABLE full.third",
                          "TRUNCATE full.ledger"):
            disk.fill()
            cursor.execute(statement)
        cursor.execute("SELECT COUNT(*) FROM full.ledger")
        assert cursor.fetchone() == (0,), "rows are left"
        cursor.execute("INSERT INTO full.ledger VALUES (98, 0, 0, 'x', 0)")


def go(disk, binary, seconds):
    server = Server(binary, datadir=os.path.join(disk.path, "data"), options=OPTIONS).start()
    acked = set()
    try:
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE full")
            cursor.execute(SCHEMA)
            for table in ("second", "third"):
                cursor.execute(f"CREATE TABLE full.{table} (id INT PRIMARY KEY, s VARCHAR(500), KEY (s))")
                cursor.execute(f"INSERT INTO full.{table} SELECT seq, REPEAT('s', 400) FROM full.seq_1_to_2000")
        workers = [Worker(server, n, 0) for n in range(WORKERS)]
        for worker in workers:
            worker.start()
        wait(workers, seconds / 4, lambda: False)
        disk.fill()
        refused = wait(workers, seconds, lambda: all(w.refused > 3 for w in workers))
        assert refused, f"no full disk seen: {[w.refused for w in workers]}"
        wait(workers, 1, lambda: False)
        assert server.process.poll() is None, server.log()
        before = sum(len(w.acked) for w in workers)
        print(f"full: {before} transactions acknowledged, {sum(w.refused for w in workers)} refused",
              flush=True)
        disk.free()
        again = wait(workers, 20, lambda: sum(len(w.acked) for w in workers) > before + 50)
        assert again, "writes do not succeed after space was freed"
        disk.fill()
        wait(workers, 1, lambda: False)
        for worker in workers:
            worker.stop = True
        for worker in workers:
            worker.join(60)
            assert worker.problem is None and not worker.is_alive(), worker.problem
            acked |= worker.acked
        verify(server, acked)
        server.kill()
        server.start()
        present = verify(server, acked)
        make_room(server, disk)
        disk.free()
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute("INSERT INTO full.ledger VALUES (99, 0, 0, 'x', 0)")
        server.stop()
        print(f"disk full ({disk.kind}): {len(acked)} acknowledged, {present} there after a restart"
              " on the full disk")
    except (AssertionError, RuntimeError):
        print(server.log(), file=sys.stderr)
        raise
    finally:
        server.remove()


def main():
    binary = sys.argv[1]
    mebibytes = int(sys.argv[2]) if len(sys.argv) > 2 else 640
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 20
    disk = SmallDisk(mebibytes)
    try:
        if disk.kind is None:
            print("disk full: skipped, no right to mount a small file system here")
            return
        go(disk, binary, seconds)
    finally:
        disk.remove()


if __name__ == "__main__":
    main()
