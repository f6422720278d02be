#!/usr/bin/env python3
"""Lets libraries of several languages read the binary logs that Selkie and MariaDB write of the same statements.

usage: readers.py SELKIE [--keep DIR] [--with NAME=COMMAND] ...

mysql-binlog-connector-java, which Debezium uses, reads what readers/writes.sql logs, by offset and by GTID, with
checksums; all that it reads has to be equal. Then a bit of an event is flipped: on the way to python-mysql-replication,
and in the file. The Java library skips checksums, so it relies on the server, as MariaDB's master_verify_checksum has it.
The Java program must be compiled before. --with names another reader: COMMAND FILE PORT GTIDS ..., as readers/reader.py
takes them; go-mysql reads the same from both too, and finds both kinds of damage. 10 s.
"""
import argparse
import contextlib
import pathlib
import shlex
import socket
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from beside_mariadb import MariaDb  # noqa: E402
from binlog_beside_mariadb import LOG, client  # noqa: E402
from selkie import Server  # noqa: E402

READERS = {"java": f"mvn -q -B -f {HERE}/readers/java/pom.xml exec:java -Dexec.args=",
           "python": f"{sys.executable} {HERE}/readers/reader.py"}
# The word in a row whose first letter is flipped, and the kind of events of new rows.
WORD, WRITE_ROWS = b"damaged", 23
END = "CREATE TABLE d.the_end (a INT); INSERT INTO d.the_end VALUES (1);"


class Failed(Exception):
    """A reader got something else than the servers have."""


def check(condition, text):
    if not condition:
        raise Failed(text)


class Flip:
    """Passes connections to a server, and flips a bit of the word in each event of new rows."""

    def __init__(self, port):
        self.to, self.listener = port, socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near = self.listener.accept()[0]
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.to))
            for begin in (self.ask, self.answer):
                threading.Thread(target=begin, args=(near, far), daemon=True).start()

    @staticmethod
    def ask(near, far):
        with contextlib.suppress(OSError):
            while data := near.recv(65536):
                far.sendall(data)
            far.shutdown(socket.SHUT_RDWR)

    @staticmethod
    def answer(near, far):
        with contextlib.suppress(OSError), near, far, far.makefile("rb") as packets:
            while len(head := packets.read(4)) == 4:
                packet = packets.read(int.from_bytes(head[:3], "little"))
                if len(packet) > 20 and packet[0] == 0 and packet[5] == WRITE_ROWS:
                    packet = packet.replace(WORD, b"D" + WORD[1:])
                near.sendall(head + packet)

    def close(self):
        self.listener.close()


def read(command, directory, places):
    """The lines that a reader prints of each place, which is a port and GTIDs."""
    base = str(directory / "lines")
    words = [base, *(str(word) for place in places for word in place)]
    given = shlex.split(command)
    # Maven takes all arguments as one.
    call = [*given[:-1], given[-1] + " ".join(words)] if given[-1].endswith("=") else [*given, *words]
    run = subprocess.run(call, capture_output=True, text=True, timeout=120, check=False)
    check(run.returncode == 0, f"{command}: {(run.stdout + run.stderr)[-2000:]}")
    return [pathlib.Path(f"{base}.{at}").read_text(encoding="utf-8").splitlines() for at in range(len(places))]


def same(mine, theirs, what):
    differ = [pair for pair in zip(mine, theirs) if pair[0] != pair[1]]
    check(mine == theirs, f"{what}: {len(mine)} and {len(theirs)} lines, the first that differ, Selkie's first:\n"
                          + "\n".join(line[:2000] for line in (differ or [("", "")])[0]))


def part_rows(name, command, servers, directory):
    """The same changes from both, by offset and by GTID."""
    (mine, theirs, mine_later, theirs_later) = read(
        command, directory, [(server.port, gtids) for gtids in ("-", "0-1-3") for server in servers])
    check(len(mine) > 30_000 and not any(line.startswith("error") for line in mine), f"{name}: {len(mine)} lines, {mine[-1:]}")
    same(mine, theirs, f"{name} by offset")
    same(mine_later, theirs_later, f"{name} by GTID")
    check(30_000 < len(mine_later) < len(mine) and set(mine_later) <= set(mine), f"{name}: {len(mine_later)} of {len(mine)} lines by GTID")
    print(f"{name}: {len(mine)} lines by offset and {len(mine_later)} by GTID are equal", flush=True)


def part_damage(name, command, servers, directory, where):
    """A flipped bit is found, and the row is not read."""
    found = read(command, directory, [(server.port, "-") for server in servers])
    for lines in found:
        rows = [line for line in lines if line.lower().startswith(("insert", "write"))]
        check(len(rows) <= 1 and lines[-1].startswith("error"), f"{name}, damage {where}: {lines[-3:]}")
    print(f"{name}, damage {where}: " + " | ".join(lines[-1][:150] for lines in found), flush=True)


def flipped(readers, servers, directory):
    """Damage on the way, then in the file."""
    flips = [Flip(server.port) for server in servers]
    for name, command in readers.items():
        if name != "java":
            part_damage(name, command, flips, directory, "on the way")
    for flip in flips:
        flip.close()
    for server in servers:
        damage(server)
    for name, command in readers.items():
        part_damage(name, command, servers, directory, "in the file")


def damage(server):
    """Flips a bit of a row in the server's file."""
    path = pathlib.Path(server.datadir) / "binlog.000001"
    whole = path.read_bytes()
    at = whole.rindex(WORD)
    path.write_bytes(whole[:at] + b"D" + whole[at + 1:])


def begin(server, text):
    client(server.port, "DROP DATABASE IF EXISTS d; RESET MASTER")
    errors = client(server.port, "CREATE DATABASE d; USE d;\n" + text + END)[1]
    check(not errors, f"the statements: {errors}")


def run(readers, servers, directory):
    writes = (HERE / "readers" / "writes.sql").read_text()
    for server in servers:
        server.start()
        begin(server, writes)
    for name, command in readers.items():
        # The Python module has rows of its own in serve.py.
        if name != "python":
            part_rows(name, command, servers, directory)
    for server in servers:
        begin(server, "CREATE TABLE t (a INT, b TEXT); INSERT INTO t VALUES (1, 'first'); INSERT INTO t VALUES (2, 'damaged');")
    flipped(readers, servers, directory)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("selkie")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--with", action="append", default=[], dest="more")
    given = parser.parse_args()
    readers = {**READERS, **dict(text.split("=", 1) for text in given.more)}
    servers = [Server(given.selkie, options=LOG), MariaDb(options=[*LOG, "--master-verify-checksum=1"])]
    with tempfile.TemporaryDirectory(prefix="readers-") as directory:
        try:
            run(readers, servers, given.keep or pathlib.Path(directory))
            servers[0].check_panics()
        except Failed as error:
            sys.exit(str(error))
        finally:
            for server in servers:
                server.remove()


if __name__ == "__main__":
    main()
