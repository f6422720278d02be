"""Prepared statements of the binary protocol with parameters of every type, beside a MariaDB.

usage: beside.py PORT REFERENCE_PORT [--seed N] [--seconds N] [--cases N] [--case SEED] [--kinds gone,rows,...] [--all]

A case prepares a statement and executes it some times: with other values, other types or without types, with data sent in
pieces, with a cursor, after a reset, after a change of its table, with packets that are cut off. Both servers get the same
bytes. --case repeats one case and shows everything; --all goes on after a difference.
"""

import argparse
import collections
import pathlib
import random
import re
import sys
import time

import pymysql

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import statements  # noqa: E402
import values  # noqa: E402
from wire import Client, Gone  # noqa: E402

KNOWN = pathlib.Path(__file__).with_name("known.tsv")
DATABASE = "prepared"
# The most severe first.
KINDS = ("gone", "rows", "error", "message", "type", "flags", "length", "decimals", "charset", "name", "warnings")
MODES = ("STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION", "", "TRADITIONAL",
         "NO_ZERO_DATE,NO_ZERO_IN_DATE", "ALLOW_INVALID_DATES")
SETUP = (f"CREATE OR REPLACE DATABASE {DATABASE} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", f"USE {DATABASE}",
         "SET sql_mode = ''", "SET time_zone = '+00:00'", "SET NAMES utf8mb4 COLLATE utf8mb4_general_ci")


class Step:
    """Something that is done to a prepared statement. `run` gets a client and the number of the statement. What is `broken`
    must be answered; it is the last step, and MariaDB, which reads beyond the end of packets, does not get it."""

    def __init__(self, name, run, broken=False):
        self.name, self.run, self.broken = name, run, broken


class Case:
    def __init__(self, seed):
        self.seed, self.random = seed, random.Random(seed)
        self.text, column = statements.statement(self.random)
        self.mode = self.random.choice(MODES)
        self.charset = self.random.choice(["utf8mb4"] * 8 + ["latin1", "binary"])
        self.column = column
        self.changes = not self.text.startswith(("SELECT", "WITH", "VALUES", "("))
        # Indexes make a table slow to create.
        self.table = self.random.choice(["t"] * 4 + ["ti"])
        # Odd packets are rare, so that most cases are those of clients.
        self.odd = self.random.random() < 0.3
        self.steps = self.plan(self.text.count("?"))

    def plan(self, count):
        steps = []
        bound = None
        for at in range(self.random.choice((1, 2, 2, 3))):
            if bound and self.random.random() < 0.15:
                steps.append(self.between())
            again = bound and self.random.random() < 0.4
            if again:
                given = [self.like(value) for value in bound]
            else:
                given = [values.some(self.random, self.odd) for _ in range(count)]
            steps += self.execution(given, 0 if again and self.random.random() < 0.6 else 1, at == 0)
            bound = given
        if self.odd and self.random.random() < 0.3:
            steps.append(Step("close, execute, close", self.closed(count)))
        elif self.odd and count:
            steps.append(self.broken([values.some(self.random, True) for _ in range(count)]))
        return steps

    def like(self, value):
        """Another value of the same type."""
        if value.kind == values.NULL:
            return value
        other = values.of_kind(self.random, value.kind & 0xFF, self.odd)
        return values.Value(value.kind, other.data, other.name + (" (as before)" if other.kind != value.kind else ""))

    def between(self):
        roll = self.random.random()
        if roll < 0.3 or not self.changes:
            return Step("reset", lambda client, statement: client.reset(statement))
        text = statements.alter(self.random, self.column)
        return Step(text, lambda client, statement: client.sql(text))

    def execution(self, given, bound, first):
        roll = self.random.random()
        # MariaDB confuses the data with an earlier value of another type.
        if given and first and roll < 0.1:
            yield self.long(given)
        body = values.packet(given, bound)
        # MariaDB ends when it opens a cursor for RETURNING.
        cursor = 1 if self.random.random() < 0.15 and "RETURNING" not in self.text else 0
        name = f"execute {given} {'types' if bound else 'no types'}{' cursor' * cursor}"
        yield Step(name, lambda client, statement: client.execute(statement, body, cursor))
        if cursor:
            for _ in range(self.random.choice((1, 2, 3))):
                yield self.fetch(self.random.choice((0, 1, 2, 3, 100, 2**32 - 1)))

    def fetch(self, rows):
        return Step(f"fetch {rows}", lambda client, statement: client.fetch(statement, rows))

    def long(self, given):
        """Data of a parameter in pieces; the parameter may be of any type."""
        at = self.random.randrange(len(given) + self.odd)
        pieces = [self.random.choice(values.TEXTS).encode() for _ in range(self.random.choice((1, 2)))]
        if at < len(given):
            kind = given[at].kind if self.odd else self.random.choice(values.STRINGS)
            given[at] = values.Value(kind, b"", f"{given[at]} long {pieces} as {values.NAMES[kind & 0xFF]}")

        def run(client, statement):
            for piece in pieces:
                client.long_data(statement, at, piece)

        return Step(f"long data of {at}", run)

    def broken(self, given):
        body = bytearray(values.packet(given, self.random.choice((0, 1, 1, 1, 2))))
        change = self.random.choice(("cut", "cut", "bits", "bitmap", "more"))
        if change == "cut":
            del body[self.random.randrange(len(body) + 1):]
        elif change == "bits" and body:
            body[self.random.randrange(len(body))] ^= 1 << self.random.randrange(8)
        elif change == "bitmap" and body:
            body[0] = self.random.randrange(256)
        elif change == "more":
            body += b"\x01\x02\x03"
        cursor = self.random.choice((0, 0, 0, 1, 2, 4, 8, 255))
        return Step(f"broken execute {given} {change} {bytes(body).hex()} flags {cursor}",
                    lambda client, statement: client.execute(statement, bytes(body), cursor), broken=True)

    def closed(self, count):
        def run(client, statement):
            client.close_statement(statement)
            answer = client.execute(statement, bytes(count))
            client.close_statement(statement)
            return answer

        return run


def run(client, case, breaks):
    """Returns the steps of the case with what the server answered."""
    seen = []
    if case.changes:
        client.sql(f"CREATE OR REPLACE TABLE k LIKE {case.table}")
        client.sql("INSERT INTO k SELECT * FROM t WHERE id IN (2, 5)")
        client.sql("DROP TABLE IF EXISTS made")
    client.sql(f"SET sql_mode = '{case.mode}', @v = NULL, @w = NULL, timestamp = 1700000000.123456")
    client.sql(f"SET NAMES {case.charset}" + (" COLLATE utf8mb4_general_ci" if case.charset == "utf8mb4" else ""))
    statement, _, answer = client.prepare(case.text)
    seen.append(("prepare", answer, client.warnings()))
    if statement is not None:
        for step in (step for step in case.steps if not step.broken):
            answer = step.run(client, statement)
            seen.append((step.name, answer, client.warnings()))
        if case.changes:
            for text in statements.SHOWN:
                seen.append((text, client.sql(text), []))
        for step in (step for step in case.steps if step.broken and breaks):
            step.run(client, statement)
        client.close_statement(statement)
    client.sql("SET NAMES utf8mb4 COLLATE utf8mb4_general_ci, timestamp = DEFAULT, sort_buffer_size = DEFAULT")
    return seen


def attempt(client, case, breaks):
    try:
        return run(client, case, breaks)
    except Gone as error:
        client.connect()
        for text in SETUP[1:]:
            client.sql(text)
        return [("gone", str(error), [])]


def differences(ours, theirs):
    """Yields kind, step and description of what differs, the first step first."""
    if [step for step, *_ in ours] != [step for step, *_ in theirs]:
        yield "gone", ours[-1][0], f"{ours[-1]} instead of {theirs[-1]}"
        return
    for (step, left, left_warned), (_, right, right_warned) in zip(ours, theirs):
        if left is None or isinstance(left, str):
            continue
        yield from ((kind, step, shown) for kind, shown in of_answers(left, right))
        if left_warned != right_warned and left.get("error") == right.get("error"):
            yield "warnings", step, f"{shown_warnings(left_warned)} instead of {shown_warnings(right_warned)}"


def shown_warnings(rows):
    return [re.sub(rb"[\x00-\x1f]", b" ", row).decode(errors="replace") for row in rows]


def of_answers(left, right):
    wrong, meant = left.get("error"), right.get("error")
    if [error[0] for error in wrong] != [error[0] for error in meant]:
        yield "error", f"{wrong or brief(left)} instead of {meant or brief(right)}"
        return
    if wrong != meant:
        yield "message", f"{wrong} instead of {meant}"
    for kind in ("prepared", "fields"):
        for ours, theirs in zip(left.get(kind), right.get(kind)):
            yield from of_fields(ours, theirs, kind)
    for kind in ("count", "ok", "row", "cursor"):
        if left.get(kind) != right.get(kind):
            yield "rows", f"{kind}: {unlike(left.get(kind), right.get(kind))}"


def brief(answer):
    return f"{len(answer.get('row'))} rows, {answer.get('ok')}"


def unlike(left, right):
    """What differs of two lists, without the bytes that do not."""
    if len(left) != len(right) or not all(isinstance(value, bytes) for value in left + right):
        extra = [row for row in left if row not in right], [row for row in right if row not in left]
        return f"{len(left)}: {extra[0]} instead of {len(right)}: {extra[1]}"
    shown = []
    for at, (ours, theirs) in enumerate(zip(left, right)):
        if ours != theirs:
            same = next((at for at, pair in enumerate(zip(ours, theirs)) if pair[0] != pair[1]), 0)
            shown.append(f"row {at} from byte {same}: {ours[max(0, same - 20):same + 60]} instead of {theirs[max(0, same - 20):same + 60]}")
    return "; ".join(shown)


def of_fields(left, right, kind):
    for ours, theirs in zip(left, right):
        if ours["type"] != theirs["type"]:
            yield "type", f"{kind} {ours['name']!r}: {ours} instead of {theirs}"
            continue
        for key in ("flags", "length", "decimals", "charset"):
            if ours[key] != theirs[key]:
                yield key, f"{kind} {ours['name']!r}: {ours[key]} instead of {theirs[key]}, type {theirs['type']}"
        if any(ours[key] != theirs[key] for key in ("name", "org_name", "table")):
            yield "name", f"{kind}: {ours} instead of {theirs}"


def known():
    if not KNOWN.exists():
        return []
    lines = (line.split("\t") for line in KNOWN.read_text().splitlines() if line and not line.startswith("#"))
    return [(kind, re.compile(pattern)) for kind, pattern, _ in lines]


def judge(case, pair, expected, kinds):
    """The worst difference that is not known, as kind and text."""
    ours = attempt(pair[0], case, True)
    try:
        theirs = attempt(pair[1], case, False)
    except pymysql.MySQLError:
        print(f"prepared: MariaDB ended, at --case {case.seed} {case.text}")
        raise SystemExit(0) from None
    found = []
    for kind, step, shown in differences(ours, theirs):
        whole = f"{case.text} ## {case.mode} ## {step} ## {shown}"
        if kind in kinds and not any(listed in (kind, "*") and pattern.search(whole) for listed, pattern in expected):
            found.append((KINDS.index(kind), kind, step, shown))
    if not found:
        return None
    _, kind, step, shown = min(found, key=lambda entry: entry[0])
    return kind, f"{case.text}\n    mode {case.mode!r} charset {case.charset}\n    {step}\n    {shown}"


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("reference", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--cases", type=int, default=10**9)
    parser.add_argument("--case")
    parser.add_argument("--kinds", default=",".join(KINDS[:3]))
    parser.add_argument("--all", action="store_true")
    return parser.parse_args()


def main():
    options = arguments()
    pair = [Client(options.port), Client(options.reference)]
    for client in pair:
        client.connect()
        for text in (*SETUP, *statements.tables()):
            if error := client.sql(text).get("error"):
                raise SystemExit(f"{text}: {error}")
    if options.case:
        case = Case(options.case)
        print(case.text, repr(case.mode), case.charset)
        for ours, theirs in zip(attempt(pair[0], case, True), attempt(pair[1], case, False)):
            print(f"> {ours[0]}\n  ours   {ours[1]}\n         {ours[2]}\n  theirs {theirs[1]}\n         {theirs[2]}")
        return 0
    return loop(options, pair)


def loop(options, pair):
    expected, kinds = known(), options.kinds.split(",")
    counts = collections.Counter()
    print(f"prepared: --seed {options.seed}", flush=True)
    deadline = time.monotonic() + options.seconds
    ran = 0
    while ran < options.cases and time.monotonic() < deadline:
        case = Case(f"{options.seed}/{ran}")
        ran += 1
        if found := judge(case, pair, expected, kinds):
            counts[found[0]] += 1
            print(f"{found[0]}: --case {case.seed}\n    {found[1]}", flush=True)
            if not options.all:
                break
    print(f"prepared: {ran} cases, {dict(counts) or 'no differences'}")
    return 1 if counts else 0


if __name__ == "__main__":
    sys.exit(main())
