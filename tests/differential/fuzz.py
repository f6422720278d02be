#!/usr/bin/env python3
"""Sends random statements to two servers and prints the differences, each reduced as far as possible.

usage: fuzz.py PORT REFERENCE_PORT [--seed N] [--seconds S] [--rounds N] [--kinds rows,error,...] [--only functions|relations|sessions] [--all]

A round is a schema of random tables and some statements on them; the same seed gives the same rounds.
Some rounds test functions and types (grammar.py), some test relations of tables (relations.py), the others are sessions
of statements that build on each other (sessions.py).
The script compares errors, rows (in order if the statement orders them), affected rows, the metadata of columns,
warnings, and after a change the whole table. Differences are grouped by their form. Those in
known.tsv (kind, pattern, reason) are only counted, or also shown with --all. Both servers lose the database
`differential`, or the one that is named instead.
"""

import argparse
import collections
import os
import random
import re
import sys
import time

import pymysql

from servers import KINDS, Server, compare
from changes import Changes
from grammar import Grammar
from reduce import Reducer
from related import related_schema
from relations import Relations
from schema import random_schema
from sessions import session
from tree import leaf
from ways import WAYS, steps

HERE = os.path.dirname(os.path.abspath(__file__))
STRICT = "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION"
STATEMENTS = 25
SESSIONS = 4
# A user variable that was never set is a constant for the statement that sets it.
VARIABLES = "SET @u1 = NULL, @u2 = NULL, @u3 = NULL, @seen = NULL, @state = NULL, @out = NULL, @kept = NULL"
# Seconds in which an ended connection must be replaced by a new one; seconds for the reduction of one difference.
RECONNECT, REDUCTION = 10, 40
# Errors of a statement that took too long on one server; the comparison is skipped then.
TIMED_OUT = {1969, 1205, 3024}
# ORDER BY at the end, and no set operation or subquery after it.
SORTED = re.compile(r" ORDER BY (?:[^()]|\([^()]*\))*$")


class Ended(Exception):
    """A server does not answer any more, after `statement`."""

    def __init__(self, server, statement):
        super().__init__(f"the server at port {server.port} ended: {statement}")
        self.server, self.statement = server, statement


class Pair:
    """Both servers with the same tables. Statements raise `Ended` if one of them does not answer any more."""

    def __init__(self, port, reference, database, kinds):
        self.kinds = kinds
        self.servers = [Server(port, database), Server(reference, database)]
        for server in self.servers:
            server.connect()
        self.tables = None

    def set_mode(self, mode):
        for server in self.servers:
            server.run(f"SET SESSION sql_mode = '{mode}'")
        self.mode = mode

    def renew(self):
        """Opens new connections and empties the database."""
        for server in self.servers:
            server.connect()
            server.run(VARIABLES)
        self.set_mode(self.mode)
        self.tables = None

    def both(self, statement):
        outcomes = []
        for server in self.servers:
            outcomes.append(server.run(statement))
            if not server.connection.open or is_gone(outcomes[-1]):
                self.reconnect(server, statement)
        return outcomes

    def reconnect(self, server, statement):
        end = time.monotonic() + RECONNECT
        while True:
            try:
                server.connect()
                break
            except pymysql.MySQLError:
                if time.monotonic() > end:
                    raise Ended(server, statement) from None
                time.sleep(0.2)
        self.tables = None
        server.run(f"SET SESSION sql_mode = '{self.mode}'")

    def install(self, tables):
        """Creates the tables; returns the difference, or None."""
        difference = None
        for table in tables:
            for statement in table.statements():
                difference = difference or compare(*self.both(statement), True)
            difference = difference or self.contents(table)
        self.tables = tables
        return difference

    def contents(self, table):
        if not table.stored:
            return None
        mine, reference = self.both(f"SELECT * FROM {table.name} ORDER BY id")
        return compare(mine, reference, True)

    def differs(self, tables, tree, case):
        if case.way == "session":
            return self.session_differs(tables, tree)
        if self.tables is not tables:
            self.install(tables)
        difference = self.first_difference(tables, tree, case)
        if case.change:
            self.both("ROLLBACK")
            # A change outside a transaction, or with an implicit commit, stays.
            self.tables = tables if case.undone and self.tables else None
        return difference

    def session_differs(self, tables, tree):
        self.renew()
        self.install(tables)
        # Other statements must not start from the remaining state.
        self.tables = None
        for part in tree.parts:
            outcomes = self.both(str(part))
            if any(o.error and o.error[0] in TIMED_OUT for o in outcomes) or is_gone(outcomes[1]):
                return None
            difference = compare(*outcomes, bool(SORTED.search(str(part))))
            if difference and str(part).startswith("SHOW CREATE") and difference.kind == "rows":
                difference.kind = "metadata"
            if difference and difference.kind in self.kinds and difference.kind != "warnings":
                return difference
        return None

    def first_difference(self, tables, tree, case):
        ordered = bool(SORTED.search(str(tree)))
        todo = steps(case.way, tree, case.seed)
        if case.change and case.undone:
            begin = sum(statement.startswith("CREATE") for statement, _ in todo)
            todo.insert(begin, ("START TRANSACTION", False))
        for statement, compared in todo:
            outcomes = self.both(statement)
            if any(o.error and o.error[0] in TIMED_OUT for o in outcomes) or is_gone(outcomes[1]):
                return None
            difference = compare(*outcomes, ordered) if compared else None
            # Metadata and warnings are compared only for statements sent as text.
            if difference and (case.way == "text" or difference.kind not in ("metadata", "warnings")):
                return difference
            if case.change and compared and (difference := next(filter(None, map(self.contents, tables)), None)):
                return difference
        return None


def is_gone(outcome):
    return bool(outcome.error) and outcome.error[0] in (2006, 2013)


class Case:
    """The way a statement is sent: whether it changes tables, one of `WAYS`, the seed of its other literals."""

    def __init__(self, change=False, way="text", seed=0):
        self.change, self.way, self.seed, self.undone = change, way, seed, seed % 4 > 0


class Known:
    """Known differences, each with its reason."""

    def __init__(self):
        with open(os.path.join(HERE, "known.tsv")) as file:
            self.rows = [line.rstrip("\n").split("\t") for line in file if line.strip() and line[0] != "#"]

    def reason(self, finding):
        for kind, pattern, reason in self.rows:
            if kind in ("*", finding.kind) and re.search(pattern, finding.searched(), re.S):
                return reason
        return None


class Finding:
    """A reduced difference."""

    def __init__(self, where, mode, tables, tree, difference, case):
        self.where, self.mode, self.tables, self.statement, self.way = where, mode, tables, str(tree), case.way
        self.steps = [statement for statement, _ in steps(case.way, tree, case.seed)]
        self.kind, self.detail, self.shown = difference.kind, difference.detail, difference.shown

    def searched(self):
        return f"{self.statement} ## {' '.join(t.create() for t in self.tables)} ## {self.way}: {self.shown}"

    def key(self):
        return (self.kind, self.detail, self.skeleton())

    def skeleton(self):
        """Returns the statement with types in place of columns and without values."""
        types = {}
        for table in self.tables:
            for alias in re.findall(rf"\b{table.name} (a\d+)", self.statement) if table.stored else []:
                types |= {f"{alias}.{c.name}": f"<{c.type}>" for c in table.columns}
        text = re.sub(r"\ba\d+\.\w+", lambda found: types.get(found[0], "<INT>"), self.statement)
        text = re.sub(r"'[^']*'", "'s'", text)
        return re.sub(r"\b\d[\d.e]*", "0", text)

    def show(self):
        mode = "" if self.mode == STRICT else f"sql_mode='{self.mode}' "
        lines = [f"{self.kind}: {self.shown}", f"    {mode}{self.where}"]
        lines += [f"    {s};" for t in self.tables for s in t.statements()]
        print("\n".join(lines + [f"    {s};" for s in self.steps]), flush=True)


class Fuzzer:
    def __init__(self, options):
        self.options = options
        self.pair = Pair(options.port, options.reference, options.database, options.kinds)
        self.known = Known()
        self.groups, self.reasons = collections.OrderedDict(), collections.Counter()
        self.count = 0
        self.ended = None

    def run(self):
        """Runs the rounds. MariaDB's end stops them, since nothing is left to compare with."""
        try:
            self.rounds()
        except Ended as ended:
            self.ended = ended
            print(f"{ended}\n    {self.where}", flush=True)

    def is_server_gone(self):
        return self.ended is not None and self.ended.server is self.pair.servers[0]

    def rounds(self):
        end = time.monotonic() + self.options.seconds
        rounds = range(self.options.first, self.options.first + self.options.rounds)
        for number in rounds:
            if time.monotonic() > end:
                break
            self.round(number, end)
        for server in self.pair.servers:
            server.drop()

    def round(self, number, end):
        source = random.Random(f"{self.options.seed}/{number}")
        self.where = f"--seed {self.options.seed} --first {number}"
        self.pair.set_mode(source.choice([STRICT, STRICT, ""]))
        about = self.options.only or source.choices(["relations", "functions", "sessions"], [0.5, 0.2, 0.3])[0]
        tables = random_schema(source) if about == "functions" else related_schema(source)
        if difference := self.pair.install(tables):
            self.found(tables, leaf(f"SELECT * FROM {tables[0].name}", "statement"), difference, self.installs, Case())
            return
        if about == "functions":
            self.statements(tables, Grammar(source, tables), source, end)
            return
        tables = self.with_views(tables, source)
        if about == "relations":
            self.statements(tables, Relations(source, tables), source, end)
            return
        for _ in range(SESSIONS):
            self.statement(tables, session(Relations(source, tables)), Case(True, "session"))
            if time.monotonic() > end:
                break

    def statements(self, tables, grammar, source, end):
        relations = isinstance(grammar, Relations)
        changes = Changes(grammar) if relations else grammar
        for _ in range(STATEMENTS):
            change = source.random() < (0.25 if relations else 0.15)
            tree = changes.change() if change else grammar.select()
            way = source.choice(WAYS) if relations else "text"
            self.statement(tables, tree, Case(change, way, source.randrange(1000)))
            if time.monotonic() > end:
                break

    def with_views(self, tables, source):
        """Returns the tables and some views of them that both servers accept."""
        for at in range(source.choice([0, 0, 1, 1, 2])):
            view = Relations(source, tables).view(f"v{at + 1}")
            outcomes = self.pair.both(view.create())
            if not any(o.error for o in outcomes):
                tables = tables + [view]
        self.pair.tables = tables
        return tables

    def installs(self, tables, _):
        return self.pair.install(tables)

    def statement(self, tables, tree, case):
        self.count += 1
        differs = lambda tables, tree: self.pair.differs(tables, tree, case)
        difference = differs(tables, tree)
        if difference and difference.kind in self.options.kinds:
            self.found(tables, tree, difference, differs, case)
            self.pair.tables = None

    def found(self, tables, tree, difference, differs, case):
        # Known differences that do not change rows are not reduced, to save time.
        if difference.kind in ("metadata", "warnings"):
            whole = Finding(self.where, self.pair.mode, tables, tree, difference, case)
            if not self.options.all and (reason := self.known.reason(whole)):
                self.reasons[reason] += 1
                return
        reduced = Reducer(differs, tables, tree, difference, time.monotonic() + REDUCTION)
        if differs == self.installs:
            reduced.reduce_tables()
        else:
            reduced.run()
        finding = Finding(self.where, self.pair.mode, reduced.tables, reduced.tree, reduced.difference, case)
        reason = not self.options.all and self.known.reason(finding)
        if reason:
            self.reasons[reason] += 1
        elif finding.key() in self.groups:
            self.groups[finding.key()].append(finding)
        else:
            self.groups[finding.key()] = [finding]
            finding.show()

    def summary(self):
        print(f"\n{self.count} statements, {len(self.groups)} groups of differences")
        for reason, count in self.reasons.most_common():
            print(f"{count:6} known: {reason}")
        ranked = sorted(self.groups.values(), key=lambda g: (KINDS.index(g[0].kind), -len(g)))
        for group in ranked:
            print(f"{len(group):6} {group[0].kind}: {group[0].skeleton()[:150]}: {group[0].shown[:150]}")


def main():
    options = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2])
    options.add_argument("port", type=int)
    options.add_argument("reference", type=int)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--rounds", type=int, default=1_000_000)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--kinds", default=",".join(KINDS))
    options.add_argument("--fail-on", default=",".join(KINDS), help="kinds of differences that make it fail")
    options.add_argument("--only", choices=["functions", "relations", "sessions"])
    options.add_argument("--database", default="differential", help="two runs beside each other need two")
    options.add_argument("--all", action="store_true")
    options = options.parse_args()
    options.kinds = options.kinds.split(",")
    fuzzer = Fuzzer(options)
    fuzzer.run()
    fuzzer.summary()
    fatal = options.fail_on.split(",")
    sys.exit(fuzzer.is_server_gone() or any(kind in fatal for kind, _, _ in fuzzer.groups))


if __name__ == "__main__":
    main()
