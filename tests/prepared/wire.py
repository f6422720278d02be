"""Prepared statements as packets: sends what it is told, also what no client would send, and describes all that comes back."""

import struct

import pymysql
from pymysql.protocol import FieldDescriptorPacket

QUERY, PREPARE, EXECUTE, LONG_DATA, CLOSE, RESET, FETCH = 0x03, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x1C
CURSOR_EXISTS, MORE_RESULTS = 0x0040, 0x0008
# Part of a key, of a group, unique in a temporary table, and a few more: MariaDB's own flags, which depend on how it ran.
INTERNAL_FLAGS = 16384 | 32768 | 8 | 16 | 4 | 2
FIELDS = ("name", "org_name", "table", "charset", "length", "type", "flags", "decimals")


class Gone(Exception):
    """The server closed the connection or does not answer."""


class Answer:
    """An answer as the list of what stood in it. `parts` are pairs of a kind (fields, rows, warnings, ...) and a value."""

    def __init__(self):
        self.parts = []

    def add(self, kind, value):
        self.parts.append((kind, value))

    def get(self, kind):
        return [value for at, value in self.parts if at == kind]

    def __repr__(self):
        return repr(self.parts)


class Client:
    def __init__(self, port):
        self.port, self.connection = port, None

    def connect(self):
        self.close()
        self.connection = pymysql.connect(host="127.0.0.1", port=self.port, user="root", charset="utf8mb4", autocommit=True,
                                          conv={}, use_unicode=False, read_timeout=30, connect_timeout=10)

    def close(self):
        if self.connection and self.connection.open:
            self.connection.close()

    def send(self, command, body):
        try:
            self.connection._execute_command(command, body)
        except (pymysql.MySQLError, OSError) as error:
            raise Gone(str(error)) from error

    def packet(self, kind=None):
        """The next packet, which may be an error."""
        try:
            return self.connection._read_packet(*([kind] if kind else [])), None
        except pymysql.err.OperationalError as error:
            if error.args[0] in (2006, 2013):
                raise Gone(str(error)) from error
            return None, error.args
        except pymysql.MySQLError as error:
            return None, error.args
        except OSError as error:
            raise Gone(str(error)) from error

    def sql(self, text):
        """Runs a text and returns its rows, or its error."""
        answer = Answer()
        self.send(QUERY, text if isinstance(text, bytes) else text.encode())
        self.results(answer)
        return answer

    def warnings(self):
        return sorted(self.sql("SHOW WARNINGS").get("row"))

    def prepare(self, text):
        """Returns the number of a statement and its parameters, and the answer."""
        answer = Answer()
        self.send(PREPARE, text.encode())
        packet, error = self.packet()
        if error:
            answer.add("error", error)
            return None, 0, answer
        statement, columns, parameters = struct.unpack("<IHH", packet.get_all_data()[1:9])
        answer.add("count", (columns, parameters))
        if parameters:
            for _ in range(parameters + 1):
                self.packet()
        if columns:
            answer.add("prepared", [self.field() for _ in range(columns)])
            self.packet()
        return statement, parameters, answer

    def field(self):
        packet, _ = self.packet(FieldDescriptorPacket)
        return {"name": packet.name, "org_name": packet.org_name, "table": packet.table_name, "charset": packet.charsetnr,
                "length": packet.length, "type": packet.type_code, "flags": packet.flags & ~INTERNAL_FLAGS,
                "decimals": packet.scale}

    def execute(self, statement, body, cursor=0):
        answer = Answer()
        self.send(EXECUTE, struct.pack("<IBI", statement, cursor, 1) + body)
        self.results(answer)
        return answer

    def long_data(self, statement, parameter, data):
        self.send(LONG_DATA, struct.pack("<IH", statement, parameter) + data)

    def fetch(self, statement, rows):
        answer = Answer()
        self.send(FETCH, struct.pack("<II", statement, rows))
        self.rows(answer)
        return answer

    def reset(self, statement):
        answer = Answer()
        self.send(RESET, struct.pack("<I", statement))
        self.results(answer)
        return answer

    def close_statement(self, statement):
        self.send(CLOSE, struct.pack("<I", statement))

    def results(self, answer):
        while self.result(answer) & MORE_RESULTS:
            pass

    def result(self, answer):
        """One result; returns the status of the server after it."""
        packet, error = self.packet()
        if error:
            answer.add("error", error)
            return 0
        if packet.is_ok_packet():
            packet.advance(1)
            affected, last = packet.read_length_encoded_integer(), packet.read_length_encoded_integer()
            status, count = packet.read_struct("<HH")
            answer.add("ok", (affected, last))
            answer.add("warned", count)
            return status
        columns = packet.read_length_encoded_integer()
        answer.add("fields", [self.field() for _ in range(columns)])
        packet, error = self.packet()
        if error:
            answer.add("error", error)
            return 0
        status = struct.unpack("<H", packet.get_all_data()[3:5])[0]
        if status & CURSOR_EXISTS:
            answer.add("cursor", True)
            return status
        return self.rows(answer)

    def rows(self, answer):
        while True:
            packet, error = self.packet()
            if error:
                answer.add("error", error)
                return 0
            data = packet.get_all_data()
            if data[0] == 0xFE and len(data) < 9:
                count, status = struct.unpack("<HH", data[1:5])
                answer.add("warned", count)
                return status
            answer.add("row", data)
