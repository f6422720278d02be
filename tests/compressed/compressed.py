"""The compressed protocol: no data is lost, no length is trusted, with TLS and without.

usage: compressed.py BINARY

Starts a private server on loopback with a certificate of MariaDB's test data.
"""

import contextlib
import hashlib
import os
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import zlib

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from selkie import Server  # noqa: E402

DATA = "/usr/share/mysql/mysql-test/std_data/"
COMPRESS = 0x20
SHORT = 50


def expect(what, found, wanted):
    if found != wanted:
        raise SystemExit(f"{what}: expected {wanted!r}, found {found!r}")


class Frames:
    """A socket, and a file to read from, that put all data into frames."""

    def __init__(self, sock, owner):
        self.owner, self.sock = owner, sock
        self.number, self.plain, self.piece = 0, b"", 1 << 20
        self.seen, self.header = [], True

    def frame(self, content, claimed=None):
        packed = zlib.compress(content) if len(content) >= SHORT else content
        claimed = (len(content) if len(content) >= SHORT else 0) if claimed is None else claimed
        header = struct.pack("<I", len(packed) | self.number << 24) + struct.pack("<I", claimed)[:3]
        self.number = (self.number + 1) % 256
        return header + packed

    def sendall(self, data):
        # PyMySQL restarts packet numbers for each command.
        if data[3] == 0:
            self.number = 0
        pieces = range(0, len(data), self.piece)
        self.sock.sendall(b"".join(self.frame(data[at:at + self.piece]) for at in pieces))

    def exactly(self, count):
        got = b""
        while len(got) < count:
            piece = self.sock.recv(count - len(got))
            if not piece:
                raise EOFError
            got += piece
        return got

    def read_frame(self):
        header = self.exactly(7)
        length, claimed = struct.unpack("<I", header[:3] + b"\0")[0], struct.unpack("<I", header[4:] + b"\0")[0]
        expect("the number of a frame", header[3], self.number)
        self.number = (self.number + 1) % 256
        content = self.exactly(length)
        self.seen.append((length, claimed))
        if not claimed:
            return content
        content = zlib.decompress(content)
        expect("the length of a frame", len(content), claimed)
        return content

    def read(self, count):
        pieces, have = [self.plain], len(self.plain)
        while have < count:
            pieces.append(self.read_frame())
            have += len(pieces[-1])
        self.plain = b"".join(pieces)
        out, self.plain = self.plain[:count], self.plain[count:]
        # Packets in frames may have any number. PyMySQL checks the number in the header, which it reads separately.
        self.header = not self.header
        return out if self.header else out[:3] + bytes([self.owner._next_seq_id])

    def settimeout(self, seconds):
        self.sock.settimeout(seconds)

    def close(self):
        self.sock.close()


class Connection(pymysql.connections.Connection):
    """PyMySQL with compression."""

    def _request_authentication(self):
        super()._request_authentication()
        if self.server_capabilities & COMPRESS:
            self._sock = self._rfile = Frames(self._sock, self)


class At:
    def __init__(self, port):
        self.port = port

    def connect(self, tls=False, compressed=True, **options):
        options = {"user": "root", "charset": "utf8mb4", "autocommit": True, "host": "127.0.0.1", "port": self.port,
                   "max_allowed_packet": 64 << 20, **options}
        options.update({"ssl": ssl._create_unverified_context()} if tls else {"ssl_disabled": True})
        return Connection(client_flag=COMPRESS, **options) if compressed else pymysql.connect(**options)


def rows(connection, sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def one(connection, sql):
    found = rows(connection, sql)
    return found[0][0] if found else None


def status(connection):
    return rows(connection, "SHOW STATUS LIKE 'Compression'")[0][1]


def both(scenario):
    def run(at):
        for tls in (False, True):
            with contextlib.closing(at.connect(tls=tls)) as connection:
                scenario(connection)

    run.__name__ = scenario.__name__
    return run


def facts(at):
    connection = at.connect()
    expect("Compression", (status(connection), status(at.connect(compressed=False))), ("ON", "OFF"))
    expect("have_compress", one(connection, "SELECT @@have_compress"), "YES")
    connection._sock.seen.clear()
    connection.ping()
    expect("a short answer", connection._sock.seen, [(11, 0)])
    connection._sock.seen.clear()
    one(connection, "SELECT REPEAT('a', 1000)")
    expect("a longer answer", [claimed > 1000 > length for length, claimed in connection._sock.seen], [True])


@both
def large(connection):
    rows(connection, "SET GLOBAL max_allowed_packet = 67108864")
    value = one(connection, "SELECT @@session.max_allowed_packet")
    if value < 64 << 20:
        connection.connect()
    expect("a large value", len(one(connection, "SELECT REPEAT('0123456789', 2000000)")), 20_000_000)
    text = "".join(str(n) for n in range(1_500_000))
    expect("a large statement", one(connection, f"SELECT MD5('{text}')"), hashlib.md5(text.encode()).hexdigest())
    connection._sock.piece = (1 << 24) - 1
    noise = os.urandom(9 << 20).hex()
    expect("a statement of several frames", one(connection, f"SELECT MD5('{noise}')"),
           hashlib.md5(noise.encode()).hexdigest())
    found = rows(connection, "SELECT seq, REPEAT('x', 100) FROM mysql.seq_1_to_100000")
    expect("many rows", (len(found), sum(row[0] for row in found)), (100000, 5000050000))


def local_file(at):
    """LOAD DATA LOCAL: packets of the client in the middle of a command."""
    connection = at.connect(local_infile=True)
    rows(connection, "SET GLOBAL local_infile = 1")
    rows(connection, "CREATE OR REPLACE TABLE mysql.compressed_test (a INT, b TEXT)")
    with tempfile.NamedTemporaryFile("w") as file:
        file.writelines(f"{n}\t{'t' * 50}\n" for n in range(50000))
        file.flush()
        rows(connection, f"LOAD DATA LOCAL INFILE '{file.name}' INTO TABLE mysql.compressed_test")
        expect("rows", one(connection, "SELECT COUNT(*) FROM mysql.compressed_test"), 50000)
        command = ["mariadb", "--no-defaults", "-h127.0.0.1", f"-P{at.port}", "-uroot", "-C", "--local-infile=1", "-e",
                   f"LOAD DATA LOCAL INFILE '{file.name}' INTO TABLE mysql.compressed_test"]
        subprocess.run(command, check=True)
    expect("rows", one(connection, "SELECT COUNT(*) FROM mysql.compressed_test"), 100000)
    rows(connection, "DROP TABLE mysql.compressed_test")


@both
def odd_frames(connection):
    """Packets that are cut into frames at any place."""
    for piece in (1, 3, 7, 100):
        connection._sock.piece = piece
        expect(f"frames of {piece}", one(connection, f"SELECT REPEAT('b', {piece})"), "b" * piece)
    expect("random bytes", one(connection, f"SELECT x'{os.urandom(3000).hex()}' IS NULL"), 0)


@both
def slow_reader(connection):
    """Answers that compress badly, and a client that reads slowly."""
    connection._execute_command(3, "SELECT RANDOM_BYTES(1024), RANDOM_BYTES(1024), seq FROM mysql.seq_1_to_4000")
    time.sleep(0.5)
    columns, got = 0, 0
    while columns < 2:
        packet = connection._read_packet()
        columns += packet.is_eof_packet()
        got += 1
        if got % 500 == 0:
            time.sleep(0.05)
    expect("packets", got, 1 + 3 + 1 + 4000 + 1)


def pipelined(at):
    """Two commands before the first answer."""
    connection = at.connect()
    frames = connection._sock
    statement = b"\x03SELECT REPEAT('c', 100)"
    packet = struct.pack("<I", len(statement)) + statement
    frames.number = 0
    first = frames.frame(packet)
    frames.number = 0
    second = frames.frame(packet)
    frames.sock.sendall(first + second)
    for _ in range(2):
        frames.number, answer = 1, b""
        while b"c" * 100 not in answer:
            answer += frames.read_frame()


def answer_to(at, data):
    """Returns the error numbers received until the server closes."""
    connection = at.connect()
    frames = connection._sock
    frames.sock.settimeout(5)
    frames.number = 0
    frames.sock.sendall(data(frames))
    got = b""
    with contextlib.suppress(ConnectionError, TimeoutError):
        while piece := frames.sock.recv(65536):
            got += piece
    return struct.unpack_from("<H", got, 12)[0] if got[11:12] == b"\xff" else got


def lies(at):
    statement = b"\x03SELECT '" + b"x" * 60000 + b"'"
    packet = struct.pack("<I", len(statement)) + statement

    def numbered(frames):
        frames.number = 5
        return frames.frame(packet)

    damaged = lambda frames: frames.frame(packet)[:-1] + b"!"  # noqa: E731
    for what, data, wanted in (
        ("a length too large", lambda f: f.frame(packet, 0xFFFFFF), 1157),
        ("a length too small", lambda f: f.frame(packet, 100), 1157),
        ("damage", damaged, 1157),
        ("garbage", lambda f: b"\x40\0\0\0\x64\0\0" + b"g" * 64, 1157),
        ("a wrong number", numbered, 1156),
    ):
        expect(what, answer_to(at, data), wanted)
    expect("the server afterwards", one(at.connect(), "SELECT 1"), 1)


def command_line_client(at):
    for options in (["--skip-ssl"], ["--ssl"]):
        command = ["mariadb", "--no-defaults", "-h127.0.0.1", f"-P{at.port}", "-uroot", "-C", *options, "-Ne",
                   "SHOW STATUS LIKE 'Compression'; SELECT LENGTH(REPEAT('x', 5000000)), REPEAT('y', 200000)"]
        done = subprocess.run(command, capture_output=True, text=True)
        expect(f"mariadb -C {options}", (done.returncode, done.stdout[:15], len(done.stdout)),
               (0, "Compression\tON\n", 15 + 8 + 200001))


def main():
    server = Server(sys.argv[1], options=[f"--ssl-cert={DATA}server-cert.pem", f"--ssl-key={DATA}server-key.pem"])
    try:
        server.start()
        for scenario in (facts, large, local_file, odd_frames, slow_reader, pipelined, lies, command_line_client):
            scenario(At(server.port))
            print(f"compressed: {scenario.__name__} ok", flush=True)
        server.stop()
    except BaseException:
        print(server.log(), file=sys.stderr)
        raise
    finally:
        server.remove()
    print("compressed: ok")


main()
