"""Random bytes as SQL and malformed packets: the server and its other connections survive.

usage: hostile.py BINARY [STATEMENTS [SEED]]
"""

import contextlib
import os
import random
import socket
import struct
import sys

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from selkie import Server  # noqa: E402

WORDS = """select from where group by having order limit ( ) , . * + - / % = <> <=> := @ @@ ` ' "
 insert into values update set delete create table drop alter index t a b c int varchar(10) null
 not and or xor in exists between like case when then else end union all join left on using with
 recursive as as( 0 1 -1 1e400 0x 0xff b'01' _utf8mb4 collate interval day cast( convert( date
 '2020-01-01' /* */ -- # /*! ; begin commit rollback show tables databases variables explain
 count( sum( min( concat( substr( ? prepare execute""".split()


def random_statement(rng):
    if rng.random() < 0.3:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(200)))
    words = (rng.choice(WORDS) for _ in range(rng.randrange(1, 40)))
    text = " ".join(words).encode()
    if rng.random() < 0.1:
        text = b"SELECT " + b"(" * rng.randrange(20_000) + text
    return text


def run_statements(server, rng, count):
    connection = server.connect()
    for _ in range(count):
        statement = random_statement(rng)
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement)
        except pymysql.MySQLError as error:
            if error.args[0] in (0, 2006, 2013):
                raise AssertionError(f"connection lost by {statement[:200]!r}: {error}") from error
        except (UnicodeDecodeError, ValueError):
            pass
        except TypeError:
            pass
    connection.close()


def send_garbage(server, rng):
    """Sends a login of random bytes, or random commands after a real login."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", server.port), 5) as raw:
        raw.settimeout(0.2)
        with contextlib.suppress(OSError):
            raw.recv(1000)
        body = bytes(rng.randrange(256) for _ in range(rng.randrange(300)))
        raw.sendall(struct.pack("<I", len(body))[:3] + bytes([rng.randrange(3)]) + body)
        with contextlib.suppress(OSError):
            raw.recv(1000)


def send_malformed_commands(server, rng):
    with contextlib.suppress(OSError, pymysql.MySQLError):
        connection = server.connect(read_timeout=1)
        raw = connection._sock
        raw.settimeout(0.2)
        for _ in range(20):
            command = rng.choice([0x16, 0x17, 0x18, 0x19, 0x1A, 0x1C, 0x11, 0x04, 0x1B, rng.randrange(256)])
            if command in (0x01, 0x08, 0x0C, 0x0A):
                continue
            body = bytes([command]) + bytes(rng.randrange(256) for _ in range(rng.randrange(60)))
            raw.sendall(struct.pack("<I", len(body))[:3] + b"\0" + body)
            with contextlib.suppress(OSError):
                raw.recv(65536)
        raw.close()


def main():
    statements = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    rng = random.Random(seed)
    server = Server(sys.argv[1]).start()
    try:
        neighbour = server.connect()
        with neighbour.cursor() as cursor:
            cursor.execute("CREATE DATABASE neighbour")
            cursor.execute("USE neighbour")
            cursor.execute("CREATE TABLE t (a INT PRIMARY KEY)")
            cursor.execute("INSERT INTO t VALUES (1)")
        for _ in range(200):
            send_garbage(server, rng)
            send_malformed_commands(server, rng)
        run_statements(server, rng, statements)
        with neighbour.cursor() as cursor:
            cursor.execute("SELECT a FROM neighbour.t")
            assert cursor.fetchall() == ((1,),)
        server.stop()
    finally:
        server.remove()
    print(f"hostile: {statements} statements, server and neighbour stayed")


if __name__ == "__main__":
    main()
