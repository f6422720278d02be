"""Packets of the client protocol as far as a proxy has to read them: framing, greetings, logins and answers.

Only the protocol with EOF packets, without TLS and compression, is supported: the proxy offers `CAPABILITIES`, no others.
"""

import dataclasses
import struct

CONNECT_WITH_DB, PLUGIN_AUTH, PLUGIN_AUTH_LENENC = 1 << 3, 1 << 19, 1 << 21
# Long password, found rows, long flag, database, local files, 4.1, interactive, transactions, secure login, multiple
# statements and results, plugins.
CAPABILITIES = (1 | 1 << 1 | 1 << 2 | CONNECT_WITH_DB | 1 << 7 | 1 << 9 | 1 << 10 | 1 << 13 | 1 << 15 | 1 << 16 | 1 << 17
                | 1 << 18 | PLUGIN_AUTH)
QUIT, INIT_DB, QUERY, FIELD_LIST, STATISTICS, CHANGE_USER = 0x01, 0x02, 0x03, 0x04, 0x09, 0x11
PREPARE, EXECUTE, LONG_DATA, CLOSE, RESET, FETCH = 0x16, 0x17, 0x18, 0x19, 0x1A, 0x1C
OF_STATEMENT = (EXECUTE, LONG_DATA, CLOSE, RESET, FETCH)
WITHOUT_ANSWER = (LONG_DATA, CLOSE)
MORE_RESULTS, CURSOR_EXISTS = 8, 0x40
LONGEST = 0xFFFFFF


class Stream:
    """A socket as a sequence of packets. EOFError when the peer has gone."""

    def __init__(self, socket):
        self.socket, self.buffer = socket, bytearray()

    def read(self):
        """Reads one packet: returns its sequence number, its content, and its raw bytes."""
        raw, content = b"", b""
        while True:
            self.fill(4)
            length, sequence = int.from_bytes(self.buffer[:3], "little"), self.buffer[3]
            self.fill(4 + length)
            part = bytes(self.buffer[:4 + length])
            del self.buffer[:4 + length]
            raw, content = raw + part, content + part[4:]
            if length < LONGEST:
                return sequence, content, raw

    def fill(self, count):
        while len(self.buffer) < count:
            received = self.socket.recv(1 << 18)
            if not received:
                raise EOFError
            self.buffer += received

    def write(self, raw):
        self.socket.sendall(raw)


def frame(sequence, content):
    out = b""
    while True:
        part, content = content[:LONGEST], content[LONGEST:]
        out += len(part).to_bytes(3, "little") + bytes([sequence & 255]) + part
        sequence += 1
        if len(part) < LONGEST:
            return out


def length_encoded(packet, at):
    """Returns the length-encoded number at a position (None for NULL), and the position after it."""
    first = packet[at]
    if first < 251:
        return first, at + 1
    if first == 251:
        return None, at + 1
    size = {252: 2, 253: 3, 254: 8}[first]
    return int.from_bytes(packet[at + 1:at + 1 + size], "little"), at + 1 + size


def until_zero(packet, at):
    end = packet.index(0, at)
    return packet[at:end], end + 1


def greeting(version):
    """Returns a greeting that offers CAPABILITIES and asks for a native password, which is not checked."""
    low, high = CAPABILITIES & 0xFFFF, CAPABILITIES >> 16
    return (b"\x0a" + version + b"\0" + struct.pack("<I", 1) + b"12345678\0" + struct.pack("<HBHH", low, 45, 2, high)
            + bytes([21]) + bytes(10) + b"123456789012\0" + b"mysql_native_password\0")


@dataclasses.dataclass
class Login:
    """User and options of a login."""
    capabilities: int
    charset: int
    user: bytes
    database: bytes

    @staticmethod
    def read(packet):
        capabilities = struct.unpack_from("<I", packet)[0] & CAPABILITIES
        user, at = until_zero(packet, 32)
        answer, at = length_encoded(packet, at)
        at += answer or 0
        database = until_zero(packet, at)[0] if capabilities & CONNECT_WITH_DB else b""
        return Login(capabilities, packet[8], user, database)

    def packet(self):
        """Returns the packet that logs this user in without a password."""
        return (struct.pack("<IIB", self.capabilities | PLUGIN_AUTH, 1 << 30, self.charset) + bytes(23) + self.user + b"\0\0"
                + (self.database + b"\0" if self.capabilities & CONNECT_WITH_DB else b"") + b"mysql_native_password\0")


@dataclasses.dataclass
class Answer:
    """One result of a command. Its kind is ok, error, rows, prepared, infile or told (text of COM_STATISTICS)."""
    kind: str
    columns: list = dataclasses.field(default_factory=list)
    rows: list = dataclasses.field(default_factory=list)
    affected: int = 0
    insert_id: int = 0
    warnings: int = 0
    status: int = 0
    info: bytes = b""
    code: int = 0
    message: str = ""
    statement: int = 0
    parameters: int = 0


def is_end(packet):
    return packet[0] == 0xFE and len(packet) < 9


def read_ok(packet):
    affected, at = length_encoded(packet, 1)
    insert_id, at = length_encoded(packet, at)
    status, warnings = struct.unpack_from("<HH", packet, at)
    return Answer("ok", affected=affected, insert_id=insert_id, warnings=warnings, status=status, info=packet[at + 4:])


def read_error(packet):
    return Answer("error", code=struct.unpack_from("<H", packet, 1)[0], message=packet[3:].decode("utf8", "replace"))


class Reader:
    """Reads the whole answer to one command: its bytes and its contents."""

    def __init__(self, stream, command):
        self.stream, self.command, self.parts = stream, command, []

    def next(self):
        _, packet, raw = self.stream.read()
        self.parts.append(raw)
        return packet

    def read(self):
        answers = []
        if self.command in (FETCH, FIELD_LIST):
            answers.append(self.rows(Answer("rows")))
        elif self.command == STATISTICS:
            self.next()
            answers.append(Answer("told"))
        elif self.command == PREPARE:
            answers.append(self.prepared())
        else:
            while True:
                answers.append(self.result())
                if not answers[-1].status & MORE_RESULTS:
                    break
        return b"".join(self.parts), answers

    def result(self):
        packet = self.next()
        if packet[0] == 0xFF:
            return read_error(packet)
        if packet[0] == 0x00:
            return read_ok(packet)
        if packet[0] == 0xFB:
            return Answer("infile")
        if is_end(packet):
            return Answer("ok")
        answer = Answer("rows", columns=[self.next() for _ in range(length_encoded(packet, 0)[0])])
        answer.status = struct.unpack_from("<H", self.next(), 3)[0]
        if self.command == EXECUTE and answer.status & CURSOR_EXISTS:
            return answer
        return self.rows(answer)

    def rows(self, answer):
        while True:
            packet = self.next()
            if packet[0] == 0xFF:
                return read_error(packet)
            if is_end(packet):
                answer.warnings, answer.status = struct.unpack_from("<HH", packet, 1)
                return answer
            answer.rows.append(packet)

    def prepared(self):
        packet = self.next()
        if packet[0] == 0xFF:
            return read_error(packet)
        statement, columns, parameters = struct.unpack_from("<IHH", packet, 1)
        answer = Answer("prepared", statement=statement, parameters=parameters)
        for count, kept in ((parameters, False), (columns, True)):
            found = [self.next() for _ in range(count)]
            answer.columns += found if kept else []
            if count:
                self.next()
        return answer


def column(packet):
    """Returns name, type and character set from a column definition."""
    at, texts = 0, []
    for _ in range(6):
        length, at = length_encoded(packet, at)
        texts.append(packet[at:at + (length or 0)])
        at += length or 0
    charset, _, kind = struct.unpack_from("<HIB", packet, at + 1)
    return texts[4].decode("utf8", "replace"), kind, charset


def text_row(packet):
    at, values = 0, []
    while at < len(packet):
        length, at = length_encoded(packet, at)
        values.append(None if length is None else packet[at:at + length].decode("utf8", "replace"))
        at += length or 0
    return values
