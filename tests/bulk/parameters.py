"""Parameters of prepared statements in the binary protocol: integers of every width, times, and packets that say too
little.

usage: parameters.py PORT [--record]

The server's answers are compared with parameters.result, which --record writes from a MariaDB 10.11.
"""

import pathlib
import struct
import sys

import pymysql
from pymysql.protocol import FieldDescriptorPacket

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from recorded import compare  # noqa: E402

RESULT = pathlib.Path(__file__).with_name("parameters.result")
PREPARE, EXECUTE = 0x16, 0x17
UNSIGNED = 0x8000
TINY, SHORT, LONG, LONGLONG, DOUBLE, DATE, TIME, DATETIME, DECIMAL, STRING = 1, 2, 3, 8, 5, 10, 11, 12, 246, 254
VALUES = [
    ("TINY", TINY, b"\xff"), ("TINY UNSIGNED", TINY | UNSIGNED, b"\xff"),
    ("SHORT", SHORT, b"\xfe\xff"), ("SHORT UNSIGNED", SHORT | UNSIGNED, b"\xfe\xff"),
    ("LONG", LONG, b"\xfd\xff\xff\xff"), ("LONG UNSIGNED", LONG | UNSIGNED, b"\xfd\xff\xff\xff"),
    ("LONGLONG", LONGLONG, b"\xfc" + b"\xff" * 7), ("LONGLONG UNSIGNED", LONGLONG | UNSIGNED, b"\xfc" + b"\xff" * 6 + b"\x7f"),
]
TIMES = [
    ("TIME", TIME, b"\x0c\x01\x03\0\0\0\x01\x02\x03\x05\0\0\0"), ("TIME of 40 days", TIME, b"\x08\0\x28\0\0\0\x01\x02\x03"),
]
# Values that are none of their type.
ODD = [
    ("DATE of month 13", DATE, b"\x04\xe8\x07\x0d\x01"), ("DATE of the year 10000", DATE, b"\x04\x10\x27\x01\x01"),
    ("DATETIME of hour 24", DATETIME, b"\x07\xe8\x07\x01\x01\x18\x00\x00"),
    ("DATETIME of a second in microseconds", DATETIME, b"\x0b\xe8\x07\x01\x01\x01\x02\x03\x40\x42\x0f\x00"),
    ("TIME of minute 60", TIME, b"\x08\x01\x00\x00\x00\x00\x01\x3c\x00"),
    ("TIME of 40 days and a fraction", TIME, b"\x0c\x00\x28\x00\x00\x00\x01\x02\x03\x05\x00\x00\x00"),
    ("DECIMAL of 400 digits", DECIMAL, b"\x051e400"), ("DECIMAL without digits", DECIMAL, b"\x01x"),
]
STATEMENTS = [
    "SELECT ?",
    "SELECT ?+1, COALESCE(?,1), CAST(? AS SIGNED), IF(1,?,2), CAST(? AS DECIMAL(20,5)), CONCAT(?)",
    "SELECT a FROM t WHERE a<? ORDER BY a",
]
# Statement, flag that types follow, types, null bitmap and values.
SHORT_PACKETS = [
    ("no types before", 0, [], b"\0", b"\x01\0\0\0"),
    ("nothing", None, [], b"", b""),
    ("half a value", 1, [LONG], b"\0", b"\x01\0"),
    ("an unknown type", 1, [100], b"\0", b"\x01"),
    ("a value", 1, [LONG], b"\0", b"\x01\0\0\0"),
    ("the same types", 0, [], b"\0", b"\x02\0\0\0"),
    ("a NULL", 0, [], b"\x01", b""),
    ("a text", 1, [STRING], b"\0", b"\x011"),
]


class Client:
    def __init__(self, port, out):
        self.connection = pymysql.connect(host="127.0.0.1", port=port, user="root", charset="utf8mb4", autocommit=True)
        self.out = out

    def sql(self, text):
        self.connection.cursor().execute(text)

    def warnings(self):
        cursor = self.connection.cursor()
        cursor.execute("SHOW WARNINGS")
        return cursor.fetchall()

    def prepare(self, text):
        self.connection._execute_command(PREPARE, text.encode())
        packet = self.connection._read_packet()
        statement, columns, parameters = struct.unpack("<IHH", packet.get_all_data()[1:9])
        for count in filter(None, (parameters, columns)):
            for _ in range(count + 1):
                self.connection._read_packet()
        return statement, parameters

    def execute(self, statement, body):
        try:
            self.connection._execute_command(EXECUTE, struct.pack("<IBI", statement, 0, 1) + body)
            self.answer()
        except pymysql.MySQLError as error:
            self.out.append(f"ERROR {error.args[0]}: {error.args[1]}")

    def answer(self):
        count = self.connection._read_packet().get_all_data()[0]
        for _ in range(count):
            packet = self.connection._read_packet(FieldDescriptorPacket)
            # Lengths of computed columns and of times, and whether a parameter can be NULL, are not the subject.
            length = f" length {packet.length}" if packet.type_code in (TINY, SHORT, LONG, LONGLONG) and count == 1 else ""
            self.out.append(f"  {packet.name}: type {packet.type_code}{length} flags {packet.flags & ~1}")
        self.connection._read_packet()
        while not (packet := self.connection._read_packet()).is_eof_packet():
            self.out.append(f"  row {packet.get_all_data().hex()}")


def types(kinds):
    return b"".join(struct.pack("<H", kind) for kind in kinds)


def run(port):
    out = []
    client = Client(port, out)
    for text in ("DROP DATABASE IF EXISTS parameters", "CREATE DATABASE parameters", "USE parameters", "CREATE TABLE t (a INT)",
                 "INSERT INTO t VALUES (-9),(0),(100)"):
        client.sql(text)
    for text in STATEMENTS:
        statement, count = client.prepare(text)
        for name, kind, value in VALUES + (TIMES if text == STATEMENTS[0] else []):
            out.append(f"> {text} -- {name}")
            bitmap = bytes((count + 7) // 8)
            client.execute(statement, bitmap + b"\x01" + types([kind] * count) + value * count)
    statement, _ = client.prepare("SELECT CONCAT(?)")
    for name, kind, value in ODD:
        out.append(f"> {name}")
        client.execute(statement, b"\0\x01" + types([kind]) + value)
        out += [f"  {level} {code} {message}" for level, code, message in client.warnings()]
    statement, _ = client.prepare("SELECT a FROM t WHERE a>? ORDER BY a")
    for name, flag, kinds, bitmap, value in SHORT_PACKETS:
        out.append(f"> {name}")
        client.execute(statement, bitmap + (b"" if flag is None else bytes([flag])) + types(kinds) + value)
    client.sql("DROP DATABASE parameters")
    return out


if __name__ == "__main__":
    compare("parameters", RESULT, run(int(sys.argv[1])))
