#!/usr/bin/env python3
"""The share of MariaDB's language that the parser accepts: the statements of MariaDB's own tests, prepared.

usage: measure.py PORT --reference REFERENCE_PORT [--record] [--show N] [TEST | CATEGORY ...]
       measure.py PORT [TEST | CATEGORY ...]

Preparing parses the whole statement and runs nothing of it. Only SET of sql_mode and of the client's
character set is also run, because it changes the meaning of later statements. With a reference the script measures
the share of statements accepted by the reference that the server accepts too, and how often both report the
same place when both refuse (error 1064); `--record` stores the number of refused statements per category.
Without a reference, more refused statements than recorded are a failure.
"""

import argparse
import collections
import os
import re
import struct
import sys

import pymysql

from statements import statements

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(HERE, "..", "conformance", "tests.tsv")
RECORD = os.path.join(HERE, "refused.tsv")
DATABASE = "parser_measure"
COM_STMT_PREPARE, COM_STMT_CLOSE = 0x16, 0x19
SYNTAX_ERROR = 1064
CHANGES_MEANING = re.compile(
    rb"set\s+(names\b|character\s+set\b|(session\s+|local\s+|@@(session\.|local\.)?)?"
    rb"(sql_mode|character_set_client)\b|@\w+\s*:?=\s*@@(session\.|global\.)?sql_mode\b)", re.I)
GLOBAL = re.compile(rb"\bglobal\b", re.I)
NEAR = re.compile(r"right syntax to use near '(.*)' at line \d+$", re.S)


class Server:
    """A connection that prepares statements; `refusal` is None or the text near a syntax error."""

    def __init__(self, port):
        self.port = port
        self.connect()

    def connect(self):
        self.connection = pymysql.connect(host="127.0.0.1", port=self.port, user="root", charset="latin1",
                                          autocommit=True, use_unicode=False, read_timeout=30)
        self.run(f"CREATE DATABASE IF NOT EXISTS {DATABASE}".encode())
        self.run(f"USE {DATABASE}".encode())

    def run(self, statement):
        try:
            with self.connection.cursor() as cursor:
                cursor.execute(statement)
                return cursor.fetchall() if cursor.description else ()
        except pymysql.MySQLError:
            return ()

    def reset(self):
        self.run(b"SET NAMES latin1")
        self.run(b"SET SESSION sql_mode = DEFAULT")

    def mode(self):
        return self.run(b"SELECT @@sql_mode, @@character_set_client")

    def refusal(self, statement):
        try:
            self.prepare(statement)
        except pymysql.MySQLError as error:
            if not self.connection.open or error.args[0] in (2006, 2013):
                print(f"port {self.port}: connection lost at {statement!r}", file=sys.stderr)
                self.connect()
            elif error.args[0] == SYNTAX_ERROR:
                found = NEAR.search(str(error.args[1]))
                return found.group(1) if found else str(error.args[1])
        return None

    def prepare(self, statement):
        connection = self.connection
        connection._execute_command(COM_STMT_PREPARE, statement)
        answer = connection._read_packet().get_all_data()
        number, columns, parameters = struct.unpack_from("<IHH", answer, 1)
        for count in (parameters, columns):
            for _ in range(count + 1 if count else 0):
                connection._read_packet()
        connection._execute_command(COM_STMT_CLOSE, struct.pack("<I", number))


class Tally:
    """Counters of one category."""

    def __init__(self):
        self.statements = self.refused = self.taken_by_reference = self.taken = 0
        self.refused_by_both = self.same_place = 0

    def add(self, mine, reference):
        self.statements += 1
        self.refused += mine is not None
        if reference is None:
            self.taken_by_reference += 1
            self.taken += mine is None
        elif mine is not None:
            self.refused_by_both += 1
            self.same_place += mine == reference

    def row(self):
        return (f"{self.statements:8} {self.taken_by_reference:8} {share(self.taken, self.taken_by_reference):>8} "
                f"{self.refused_by_both:8} {share(self.same_place, self.refused_by_both):>8}")


def share(part, whole):
    return f"{100 * part / whole:.2f} %" if whole else "-"


def cases(names):
    """Returns every statement once: category, test and text, with the servers in the state that the test needs."""
    with open(TESTS) as file:
        for test, category in (line.split() for line in file):
            if not names or test in names or category in names:
                yield category, test


def each_statement(servers, names):
    seen = set()
    for category, test in cases(names):
        for server in servers:
            server.reset()
        mode = None
        for statement in statements(test):
            if CHANGES_MEANING.match(statement) and not GLOBAL.search(statement):
                for server in servers:
                    server.run(statement)
                mode = None
            mode = mode or servers[-1].mode()
            if (mode, statement) not in seen:
                seen.add((mode, statement))
                yield category, test, statement


def construct(statement, near):
    """Returns the subject of a refusal: the first words of the statement and of the text that was not understood."""
    return (" ".join(statement.decode("latin-1").split()[:2]).upper()[:30], " ".join(near.split()[:2])[:30])


class Report:
    """Differences, grouped."""

    def __init__(self):
        self.refused, self.elsewhere, self.taken = [collections.defaultdict(list) for _ in range(3)]

    def add(self, test, statement, mine, reference):
        where = f"{test}: {statement.decode('latin-1')[:300]!r}"
        if mine is not None and reference is None:
            self.refused[construct(statement, mine)].append(where + f" near {mine[:60]!r}")
        elif mine is None and reference is not None:
            self.taken[construct(statement, reference)].append(where + f" near {reference[:60]!r}")
        elif mine != reference:
            self.elsewhere[construct(statement, reference)].append(
                where + f" near {mine[:60]!r} instead of {reference[:60]!r}")

    def show(self, count):
        for title, groups in (("refused, and taken by the reference", self.refused),
                              ("refused elsewhere", self.elsewhere),
                              ("taken, and refused by the reference", self.taken)):
            print(f"\n{title}: {sum(map(len, groups.values()))}")
            for (begin, near), found in sorted(groups.items(), key=lambda g: -len(g[1]))[:count]:
                print(f"{len(found):6} {begin} ... {near}\n         {found[0]}")


def measure(options):
    servers = [Server(options.port)] + ([Server(options.reference)] if options.reference else [])
    tallies, report = collections.defaultdict(Tally), Report()
    for category, test, statement in each_statement(servers, set(options.names)):
        refusals = [server.refusal(statement) for server in servers]
        tallies[category].add(refusals[0], refusals[-1])
        if refusals[0] != refusals[-1]:
            report.add(test, statement, *refusals)
    for server in servers:
        server.run(f"DROP DATABASE {DATABASE}".encode())
    return tallies, report


def print_shares(tallies):
    whole = Tally()
    for tally in tallies.values():
        for name, count in vars(tally).items():
            setattr(whole, name, getattr(whole, name) + count)
    print(f"{'category':26} {'all':>8} {'taken by':>8} {'of these':>8} {'refused':>8} {'at same':>8}")
    print(f"{'':26} {'':>8} {'referenc':>8} {'taken':>8} {'by both':>8} {'place':>8}")
    for name, tally in sorted(tallies.items()) + [("all", whole)]:
        print(f"{name:26} {tally.row()}")


def record(tallies):
    with open(RECORD, "w") as file:
        for name, tally in sorted(tallies.items()):
            file.write(f"{name}\t{tally.statements}\t{tally.refused}\n")


def compare(tallies):
    """Returns the number of categories with more refused statements than recorded; the total must be the same."""
    worse = 0
    with open(RECORD) as file:
        for name, count, refused in (line.split() for line in file):
            tally = tallies.get(name)
            if tally is None:
                continue
            if tally.statements != int(count):
                print(f"{name}: {tally.statements} statements, {count} recorded: not comparable")
            elif tally.refused > int(refused):
                worse += 1
                print(f"{name}: {tally.refused} statements refused, {refused} recorded")
    print(f"parser: {sum(t.statements for t in tallies.values())} statements, {worse} categories worse")
    return worse


def main():
    options = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2])
    options.add_argument("port", type=int)
    options.add_argument("--reference", type=int)
    options.add_argument("--record", action="store_true")
    options.add_argument("--show", type=int, default=25)
    options.add_argument("names", nargs="*")
    options = options.parse_intermixed_args()
    tallies, report = measure(options)
    if not options.reference:
        sys.exit(compare(tallies) > 0)
    print_shares(tallies)
    report.show(options.show)
    if options.record:
        record(tallies)


if __name__ == "__main__":
    main()
