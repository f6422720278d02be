"""A proxy that sends every command of a client to two servers, answers with the first server's answer, and records where
the two answers differ.

Accounts have no password here: the proxy accepts every client and logs in at both servers with its user name.
"""

import collections
import dataclasses
import re
import socket
import struct
import threading

import wire

# Statements whose rows depend on the time or on the server.
OF_THE_MOMENT = re.compile(
    r"\b(now|rand|uuid|connection_id|sysdate|unix_timestamp|curdate|curtime|utc_timestamp|version)\s*\(|"
    r"current_timestamp|show\s+(full\s+|global\s+|session\s+)*(variables|status|processlist)|processlist|"
    r"global_(variables|status)|session_(variables|status)|@@|^\s*(explain|analyze)", re.IGNORECASE)
A_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?")


@dataclasses.dataclass
class Difference:
    kind: str
    statement: str
    detail: str


def shape(statement):
    """Returns the statement without its values; differences with equal shapes are counted once."""
    text = re.sub(r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|\b\d+(\.\d+)?\b", "?", statement[:2500])
    text = re.sub(r"\(\s*\?(\s*,\s*\?)*\s*\)", "(?)", text)
    return re.sub(r"\s+", " ", re.sub(r"(\(\?\)\s*,\s*)+", "", text)).strip()[:400]


def compare(command, statement, here, there):
    """Describes the first difference of two answers as (kind, detail), or None."""
    if [a.kind for a in here] != [a.kind for a in there]:
        told = [[a.message or a.kind for a in answers] for answers in (here, there)]
        return "outcome", f"{told[0]} instead of {told[1]}"
    for ours, theirs in zip(here, there):
        for field in ("code", "message", "affected", "insert_id", "info", "parameters"):
            if getattr(ours, field) != getattr(theirs, field):
                return field, f"{getattr(ours, field)} instead of {getattr(theirs, field)}"
        columns = [[wire.column(c) for c in answer.columns] for answer in (ours, theirs)]
        if command != wire.FIELD_LIST and columns[0] != columns[1]:
            differing = [pair for pair in zip(*columns) if pair[0] != pair[1]]
            return "columns", f"{differing[:3]} of {len(columns[0])} and {len(columns[1])}"
        if OF_THE_MOMENT.search(statement) or command == wire.FIELD_LIST:
            continue
        difference = compare_rows(command, statement, ours.rows, theirs.rows)
        if difference:
            return difference
        if ours.warnings != theirs.warnings:
            return "warnings", f"{ours.warnings} instead of {theirs.warnings}"
    return None


def compare_rows(command, statement, here, there):
    if here == there:
        return None
    if command == wire.QUERY:
        here, there = ([tuple(None if v is None else A_MOMENT.sub("a moment", v) for v in wire.text_row(row))
                        for row in rows] for rows in (here, there))
    if collections.Counter(here) == collections.Counter(there):
        ordered = re.search(r"\border\s+by\b(?!\s+null\b)", statement, re.IGNORECASE)
        return ("order", first_difference(here, there)) if ordered and here != there else None
    return "rows", first_difference(here, there)


def first_difference(here, there):
    at = next((n for n, (a, b) in enumerate(zip(here, there)) if a != b), min(len(here), len(there)))
    ours, theirs = (str(rows[at])[:500] if at < len(rows) else "nothing" for rows in (here, there))
    return f"row {at} of {len(here)} and {len(there)}: {ours} instead of {theirs}"


class Connection:
    """A client's connection and its two logins."""

    def __init__(self, mirror, client):
        self.mirror, self.client = mirror, wire.Stream(client)
        self.servers, self.statements = [], {}

    def login(self):
        """Accepts the client if both servers do. If only one refuses, that is a difference."""
        greetings = []
        for port in self.mirror.ports:
            connected = socket.create_connection(("127.0.0.1", port))
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.servers.append(wire.Stream(connected))
            greetings.append(self.servers[-1].read()[1])
        self.client.write(wire.frame(0, wire.greeting(wire.until_zero(greetings[0], 1)[0])))
        sequence, packet, _ = self.client.read()
        login, outcomes = wire.Login.read(packet), []
        for server in self.servers:
            server.write(wire.frame(1, login.packet()))
            outcomes.append(server.read()[1])
        if outcomes[0][0] != outcomes[1][0]:
            self.mirror.note("outcome", "login", str(outcomes))
        self.client.write(wire.frame(sequence + 1, outcomes[0]))
        return outcomes[0][0] == outcomes[1][0] == 0

    def serve(self):
        try:
            while self.login_done or self.login_now():
                if not self.command():
                    return
        except (EOFError, OSError):
            pass
        finally:
            for stream in [self.client, *self.servers]:
                stream.socket.close()

    login_done = False

    def login_now(self):
        self.login_done = self.login()
        return self.login_done

    def command(self):
        """Runs one command and compares its answers. Returns False when the client leaves."""
        _, packet, raw = self.client.read()
        command = packet[0]
        if command == wire.QUIT:
            return False
        if command == wire.CHANGE_USER:
            raise EOFError
        frames = [raw, raw]
        statement = packet[1:].decode("utf8", "replace") if command in (wire.QUERY, wire.PREPARE) else f"command {command}"
        if command in wire.OF_STATEMENT:
            number = struct.unpack_from("<I", packet, 1)[0]
            other, statement = self.statements.get(number, (number, statement))
            frames[1] = wire.frame(0, packet[:1] + struct.pack("<I", other) + packet[5:])
        for server, sent in zip(self.servers, frames):
            server.write(sent)
        if command in wire.WITHOUT_ANSWER:
            return True
        answers = [wire.Reader(server, command).read() for server in self.servers]
        if answers[0][1][-1].kind == "infile":
            answers = self.file(answers)
        (reply, here), (_, there) = answers
        if command == wire.PREPARE and here[0].kind == there[0].kind == "prepared":
            self.statements[here[0].statement] = (there[0].statement, statement)
        difference = compare(command, statement, here, there)
        self.mirror.count(command)
        if difference:
            self.mirror.note(difference[0], statement, difference[1])
        self.client.write(reply)
        return True

    def file(self, answers):
        """Passes the file of LOAD DATA LOCAL on to the servers that ask for it."""
        asked = [server for server, (_, found) in zip(self.servers, answers) if found[-1].kind == "infile"]
        self.client.write(answers[0][0])
        while True:
            _, content, raw = self.client.read()
            for server in asked:
                server.write(raw)
            if not content:
                break
        return [wire.Reader(server, wire.QUERY).read() if server in asked else answer
                for server, answer in zip(self.servers, answers)]


class Mirror:
    """Listens on a port of its own until it is closed."""

    def __init__(self, here, there):
        self.ports, self.differences, self.commands = (here, there), {}, 0
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=Connection(self, client).serve, daemon=True).start()

    def note(self, kind, statement, detail):
        with self.lock:
            self.differences.setdefault((kind, shape(statement)), []).append(Difference(kind, statement, detail))

    def count(self, command):
        with self.lock:
            self.commands += command in (wire.QUERY, wire.EXECUTE)

    def taken(self):
        """Returns the differences found since the last call, and the number of statements."""
        with self.lock:
            found, commands = self.differences, self.commands
            self.differences, self.commands = {}, 0
        return found, commands

    def close(self):
        self.listener.close()
