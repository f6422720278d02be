"""Values of OUT and INOUT parameters of procedures that prepared statements call, packet by packet.

usage: out_parameters.py PORT [--record]

The server's answers are compared with out_parameters.result, which --record writes from a MariaDB 10.11.
"""

import pathlib
import struct
import sys

import pymysql
from pymysql.constants import CLIENT
from pymysql.protocol import FieldDescriptorPacket

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from recorded import compare  # noqa: E402

RESULT = pathlib.Path(__file__).with_name("out_parameters.result")
PREPARE, EXECUTE = 0x16, 0x17
READ_ONLY_CURSOR = 1
MORE_RESULTS = 8
LONGLONG, STRING = 8, 254
SETUP = """
DROP DATABASE IF EXISTS procedures; CREATE DATABASE procedures; USE procedures
CREATE PROCEDURE one(OUT x INT) SET x = 5
CREATE PROCEDURE sums(INOUT a INT, IN b INT, OUT c VARCHAR(10)) BEGIN SET a = a + b; SET c = CONCAT('<', a, '>'); END
CREATE PROCEDURE kinds(OUT a DECIMAL(10,2), OUT b DATETIME(3), OUT c DOUBLE, OUT d BLOB, OUT e TINYINT UNSIGNED, OUT f DATE) \
    SELECT 1.5, '2026-01-02 03:04:05.678', 0.25, 'x', 200, '2026-11-23' INTO a, b, c, d, e, f
CREATE PROCEDURE rows_too(IN n INT, OUT twice INT) BEGIN SELECT 'first'; SET twice = 2 * n; SELECT 'second'; END
CREATE PROCEDURE fails(OUT x INT) BEGIN SET x = 1; SIGNAL SQLSTATE '45000'; END
CREATE PROCEDURE untouched(INOUT a VARCHAR(5), OUT b INT) BEGIN END
CREATE PROCEDURE plain(IN a INT) BEGIN SELECT CONCAT(a, '.'); END
"""
TEXTS = """
PREPARE s FROM 'CALL one(?)'; EXECUTE s USING @a; SELECT @a; EXECUTE s USING 1; EXECUTE s USING @b; SELECT @a, @b
PREPARE s FROM 'CALL sums(?, ?, ?)'; SET @a = 4; EXECUTE s USING @a, 3, @c; SELECT @a, @c
EXECUTE s USING @a, @a, @a; SELECT @a; EXECUTE s USING 1, 2, 3
PREPARE s FROM 'CALL sums(@m, ?, ?)'; SET @m = 1; EXECUTE s USING 3, @n; SELECT @m, @n
EXECUTE IMMEDIATE 'CALL rows_too(?, ?)' USING 7, @t; SELECT @t
PREPARE s FROM 'CALL one(? + 1)'; EXECUTE s USING @a; PREPARE s FROM 'CALL fails(?)'; SET @f = 9; EXECUTE s USING @f; SELECT @f
CALL one(1); CALL one(@o); SELECT @o; PREPARE s FROM 'CALL one(NULL)'; EXECUTE s
EXECUTE IMMEDIATE 'CALL one(?)' USING 1 + 1
CREATE PROCEDURE within() BEGIN DECLARE v INT DEFAULT 2; EXECUTE IMMEDIATE 'CALL one(?)' USING v; SELECT v; END; CALL within()
"""


class Client:
    def __init__(self, port, out, flags=CLIENT.PS_MULTI_RESULTS):
        self.connection = pymysql.connect(host="127.0.0.1", port=port, user="root", charset="utf8mb4", autocommit=True,
                                          client_flag=flags | CLIENT.MULTI_RESULTS)
        self.out = out

    def sql(self, text):
        self.out.append(f"> {text}")
        cursor = self.connection.cursor()
        try:
            cursor.execute(text)
            more = True
            while more:
                self.out.extend(str(row) for row in cursor.fetchall() if cursor.description)
                more = cursor.nextset()
        except pymysql.MySQLError as error:
            self.out.append(f"ERROR {error.args[0]} {error.args[1]}")

    def packets(self):
        """Records the packets of an answer: column definitions, raw rows, end packets with their flags."""
        more = True
        while more:
            packet = self.connection._read_packet()
            if packet.is_ok_packet():
                packet.read(1)
                affected, number = packet.read_length_encoded_integer(), packet.read_length_encoded_integer()
                flags = packet.read_uint16()
                self.out.append(f"ok: affected {affected} id {number} flags {flags:#06x}")
            else:
                for _ in range(packet.read_length_encoded_integer()):
                    field = self.connection._read_packet(FieldDescriptorPacket)
                    self.out.append(f"column {field.name!r} of {field.table_name!r} type {field.type_code} length {field.length}"
                                    f" decimals {field.scale} flags {field.flags} charset {field.charsetnr}")
                self.out.append(f"head: flags {self.end(self.connection._read_packet()) & ~MORE_RESULTS:#06x}")
                row = self.connection._read_packet()
                while not row.is_eof_packet():
                    self.out.append(f"row {row.get_all_data().hex()}")
                    row = self.connection._read_packet()
                flags = self.end(row)
                self.out.append(f"end: flags {flags:#06x}")
            more = flags & MORE_RESULTS

    @staticmethod
    def end(packet):
        return struct.unpack("<xHH", packet.get_all_data()[:5])[1]

    def call(self, text, *values, cursor=0):
        """Prepares `text` and executes it twice with the binary protocol."""
        self.out.append(f"call> {text}  {values}")
        try:
            self.connection._execute_command(PREPARE, text)
            head = self.connection._read_packet()
            number, columns, parameters = struct.unpack("<IHH", head.get_all_data()[1:9])
            self.out.append(f"prepared: {columns} columns, {parameters} parameters")
            for count in filter(None, (parameters, columns)):
                for _ in range(count + 1):
                    self.connection._read_packet()
            nulls = sum(1 << at for at, value in enumerate(values) if value is None)
            body = nulls.to_bytes((len(values) + 7) // 8, "little") + b"\x01"
            body += b"".join(bytes([LONGLONG if isinstance(value, int) else STRING, 0]) for value in values)
            for value in values:
                if isinstance(value, int):
                    body += struct.pack("<q", value)
                elif value is not None:
                    body += bytes([len(value)]) + value.encode()
            for _ in range(2):
                self.connection._execute_command(EXECUTE, struct.pack("<IBI", number, cursor, 1) + (body if values else b""))
                self.packets()
        except pymysql.MySQLError as error:
            self.out.append(f"ERROR {error.args[0]} {error.args[1]}")


def binary(client):
    client.call("CALL one(?)", None)
    client.call("CALL one(?)", 3)
    client.call("CALL one(@x)")
    client.call("CALL one(3)")
    client.call("CALL sums(?, ?, ?)", 4, 3, None)
    client.call("CALL sums(?, ?, @y)", 4, 3)
    client.call("CALL sums(?, 1, ?)", "7", "text")
    client.call("CALL kinds(?, ?, ?, ?, ?, ?)", *[None] * 6)
    client.call("CALL rows_too(?, ?)", 21, None)
    client.call("CALL fails(?)", None)
    client.call("CALL untouched(?, ?)", "ab", 3)
    client.call("CALL plain(?)", 3)
    # A procedure's result sets open no cursor.
    client.call("CALL rows_too(?, ?)", 22, None, cursor=READ_ONLY_CURSOR)
    client.call("CALL plain(?)", 4, cursor=READ_ONLY_CURSOR)
    client.call("CALL untouched(?, ?)", "cd", 3, cursor=READ_ONLY_CURSOR)
    client.sql("SELECT @x, @y")


def main():
    out = []
    client = Client(int(sys.argv[1]), out)
    for text in SETUP.strip().split("\n")[0].split("; ") + SETUP.strip().split("\n")[1:]:
        client.sql(text)
    out.append("== binary")
    binary(client)
    out.append("== a client without PS_MULTI_RESULTS")
    other = Client(int(sys.argv[1]), out, 0)
    other.sql("USE procedures")
    other.call("CALL one(?)", None)
    out.append("== text")
    for line in TEXTS.strip().split("\n"):
        for text in line.split("; ") if "CREATE" not in line else line.rsplit("; ", 1):
            client.sql(text)
    client.sql("DROP DATABASE procedures")
    compare("out parameters", RESULT, out)


if __name__ == "__main__":
    main()
