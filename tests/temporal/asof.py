#!/usr/bin/env python3
"""System-versioned tables beside an unversioned twin and beside a MariaDB: random changes at set times, then questions.

usage: asof.py BINARY [--seed N] [--rounds N]

Each round makes one versioned table and its twin on both servers and changes both alike. After each change the current
rows must be those of the twin, the outcome and all versions those of MariaDB. Results of AS OF are remembered and asked
again later, after clean restarts and after kill -9 too: they must stay. So must those of tables that are versioned by
transaction, whose bounds are compared by their order. A change that only the versioned
table refuses (a version that ended at the same time is there) must leave it as it was. Some tables are partitioned by
SYSTEM_TIME; each partition must have the rows that MariaDB's has. A round ends where MariaDB disagrees with its own twin:
it sometimes leaves a row of a MEMORY table, or counts no row of those that it has changed.
"""
import argparse
import os
import random
import sys
import time

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from beside_mariadb import MariaDb  # noqa: E402
from selkie import Server  # noqa: E402

COLUMNS = ["id", "a", "b", "c", "u"]
DEFINITIONS = [
    "id int primary key, a int, b varchar(10), c int, u int",
    "id int primary key, a int, b varchar(10), c int, u int, unique(u), key(a)",
    "id int, a int, b varchar(10), c int, u int, key(a), unique(id)",
    "id int, a int, b varchar(10), c int, u int",
    "id int auto_increment primary key, a int, b varchar(10), c int{without}, u int{without}, key(b, a)",
    "id int, a int, b varchar(10), c int, u int as (a + 1) stored, primary key(id, a), key(c)",
]
PERIODS = [
    "",
    ", s timestamp(6) as row start invisible, e timestamp(6) as row end invisible, period for system_time(s, e)",
]
BY_TRANSACTION = ", s bigint unsigned as row start invisible, e bigint unsigned as row end invisible, period for system_time(s, e)"
ENGINES = ["innodb", "innodb", "innodb", "myisam", "memory"]
PARTITIONS = ["", "", "", " partition by hash(id) partitions 3"]
# Of the versioned table alone.
HISTORY = [
    " partition by system_time",
    " partition by system_time limit 4 partitions 4",
    " partition by system_time limit 6 auto",
    " partition by system_time interval 1 hour starts '{starts}' partitions 4",
    " partition by system_time interval 30 minute starts '{starts}' auto",
    " partition by system_time limit 5 subpartition by hash(id) subpartitions 2 (partition p0 history, partition p1 history,"
    " partition pn current)",
]


def value(rng, column):
    if column == "b":
        return rng.choice(["null", "''", "'x'", "'yy'", "'zzz'"])
    if column == "id":
        return str(rng.randint(1, 12))
    return rng.choice(["null", *map(str, range(8))])


class Table:
    """Definition of a versioned table and its twin."""

    def __init__(self, rng):
        self.engine = rng.choice(ENGINES)
        # MEMORY has no generated columns.
        self.columns = rng.choice(DEFINITIONS[:-1] if self.engine == "memory" else DEFINITIONS)
        self.period = rng.choice(PERIODS + [BY_TRANSACTION] if self.engine == "innodb" else PERIODS)
        self.partitions = rng.choice(PARTITIONS) if "unique(u)" not in self.columns and self.engine != "memory" else ""
        # A unique key has all columns on which subpartitions depend.
        fits = [h for h in HISTORY if "sub" not in h or "unique(u)" not in self.columns]
        self.history = rng.choice(fits) if self.engine != "memory" and not self.partitions and rng.random() < 0.6 else ""
        if self.period == BY_TRANSACTION:
            self.history = ""
        self.written = [c for c in COLUMNS if not (c == "u" and " as (" in self.columns)]

    def create(self, clock):
        starts = time.strftime("%Y-%m-%d %H:00:00", time.gmtime(clock // 10**6))
        partitions = self.history.format(starts=starts) or self.partitions
        plain = self.columns.format(without="")
        versioned = self.columns.format(without=" without system versioning")
        return [f"create table v ({versioned}{self.period}) engine={self.engine} with system versioning{partitions}",
                f"create table p ({plain}) engine={self.engine}{self.partitions}"]

    def bounds(self):
        return ("s", "e") if self.period else ("row_start", "row_end")

    def comparable(self, found, bounds):
        """Rows whose last columns are bounds. The numbers of transactions are each server's own, but not their order."""
        if self.period != BY_TRANSACTION:
            return in_order(found)
        places = {number: place for place, number in enumerate(sorted({n for r in found for n in r[-bounds:]}))}
        return in_order([*r[:-bounds], *(places[n] for n in r[-bounds:])] for r in found)


def condition(rng):
    column = rng.choice(COLUMNS)
    if column == "b":
        return f"b = {value(rng, 'b')}" if rng.random() < 0.5 else "b like 'y%'"
    number = rng.randint(0, 12)
    return rng.choice([f"{column} = {number}", f"{column} > {number}", f"{column} between {number} and {number + 3}",
                       f"{column} is null", f"{column} in ({number}, {number + 1})"])


def row(rng, table):
    return "(" + ", ".join(value(rng, c) for c in table.written) + ")"


def assignment(rng, table):
    column = rng.choice([c for c in table.written if c != "id"] + (["id"] if rng.random() < 0.2 else []))
    if column != "b" and rng.random() < 0.4:
        return f"{column} = {column} + {rng.choice([1, 1, 20])}" if column == "id" else f"{column} = {column}"
    return f"{column} = {value(rng, column)}"


def change(rng, table):
    """A statement in which {t} is the table."""
    names = ", ".join(table.written)
    kind = rng.choice(["insert", "insert", "ignore", "replace", "duplicate", "update", "update", "update", "limited", "delete",
                       "delete", "select", "join", "load"])
    rows = ", ".join(row(rng, table) for _ in range(rng.randint(1, 4)))
    if kind == "insert":
        return f"insert into {{t}} ({names}) values {rows}"
    if kind == "ignore":
        return f"insert ignore into {{t}} ({names}) values {rows}"
    if kind == "replace":
        return f"replace into {{t}} ({names}) values {rows}"
    if kind == "duplicate":
        return f"insert into {{t}} ({names}) values {rows} on duplicate key update {assignment(rng, table)}"
    order = ", ".join(COLUMNS)
    if kind == "update":
        more = ", " + assignment(rng, table) if rng.random() < 0.3 else ""
        ignore = "ignore " if rng.random() < 0.2 else ""
        # Which rows are changed before one with a duplicate key is up to their order.
        in_order = "" if table.engine == "innodb" and not ignore else f" order by {order}"
        return f"update {ignore}{{t}} set {assignment(rng, table)}{more} where {condition(rng)}{in_order}"
    if kind == "limited":
        return f"update {{t}} set {assignment(rng, table)} order by {order} limit {rng.randint(1, 3)}"
    if kind == "delete":
        limit = f" order by {order} limit {rng.randint(1, 2)}" if rng.random() < 0.3 else ""
        return f"delete from {{t}} where {condition(rng)}{limit}"
    if kind == "select":
        picked = ", ".join("id + 20" if c == "id" else c for c in table.written)
        return f"insert ignore into {{t}} ({names}) select {picked} from {{t}} where id < 20 and {condition(rng)} order by {order}"
    if kind == "join":
        inner = f"(select distinct id k from {{t}} where {condition(rng)} order by id limit 3) d"
        if rng.random() < 0.5 and table.engine == "innodb":
            return f"update {{t}} join {inner} on id = k set {assignment(rng, table)}"
        return f"delete {{t}} from {{t}} join {inner} on id = k"
    return f"update {{t}} set a = a where {condition(rng)}"


def run(connection, statement):
    """Rows affected, or the number of the error."""
    with connection.cursor() as cursor:
        try:
            return cursor.execute(statement), None
        except pymysql.MySQLError as error:
            # 1022 is a duplicate, too.
            return None, 1062 if error.args[0] == 1022 else error.args[0]


def rows(connection, query):
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchall()


def in_order(found):
    return sorted(found, key=lambda r: [(v is None, str(type(v)), v if v is not None else 0) for v in r])


class OtherDisagrees(Exception):
    """MariaDB's table is not what its own twin is."""


class Round:
    """One table on both servers."""

    # Time is never before that of earlier rounds: their transactions are registered, too.
    latest = 1_700_000_000_000_000

    def __init__(self, rng, own, other):
        self.rng, self.own, self.other = rng, own, other
        self.table = Table(rng)
        self.start, self.end = self.table.bounds()
        self.clock = Round.latest + 2 * 10**9 + rng.randint(0, 10**9)
        self.goes_back = rng.random() < 0.15 and self.table.period != BY_TRANSACTION
        self.remembered = []
        self.log = []
        for statement in ["drop database if exists asof", "create database asof", "use asof",
                          "set time_zone = '+00:00'", "set sql_mode = ''", *self.table.create(self.clock)]:
            if self.both(statement)[0][1] is not None:
                self.fail("a table is not made")

    def fail(self, why, *found):
        text = "\n".join(self.log[5:7] + self.log[-60:])
        shown = "\n".join(str(one) for one in found)
        raise SystemExit(f"{why}\n{shown}\nafter:\n{text}")

    def both(self, statement):
        self.log.append(statement + ";")
        one, two = run(self.own, statement), run(self.other, statement)
        if one[1] != two[1]:
            self.fail("outcomes differ", one, two)
        return one, two

    def twins(self, statement):
        """Runs a statement that has changed the table on its twin, which must count the same rows."""
        own, other = self.both(statement.format(t="v"))
        if own[1] is not None:
            return own[1]
        # Other engines may count rows that do not change.
        if own == other or self.table.engine != "innodb":
            self.both(statement.format(t="p"))
            return None
        own_twin, other_twin = self.both(statement.format(t="p"))
        if own != own_twin or other == other_twin:
            self.fail("counts differ", own, other, own_twin, other_twin)
        return None

    def tick(self):
        step = self.rng.choice([0, 1, 1000, 1_000_000, 3_600_000_000])
        if self.table.period == BY_TRANSACTION:
            # Of transactions that are committed in one microsecond MariaDB takes the first for the last.
            step = max(step, 1)
        if self.goes_back and self.rng.random() < 0.2:
            step = -self.rng.choice([1, 1000])
        self.clock += step
        Round.latest = max(Round.latest, self.clock)
        self.both(f"set timestamp = {self.clock // 10**6}.{self.clock % 10**6:06}")

    def step(self):
        rng = self.rng
        self.tick()
        # InnoDB's count of rows, by which LIMIT goes, is an estimate after a rollback.
        if self.table.engine == "innodb" and "limit" not in self.table.history and rng.random() < 0.15:
            return self.undone()
        statement = change(rng, self.table)
        if self.twins(statement) is not None and self.table.engine != "innodb":
            self.resync()
        self.compare()

    def undone(self):
        """A transaction, or a part of it, that leaves nothing."""
        self.both("begin")
        if self.rng.random() < 0.5:
            self.both("savepoint a")
        for _ in range(self.rng.randint(1, 3)):
            self.both(change(self.rng, self.table).format(t="v"))
        self.both("rollback")
        self.compare()

    def resync(self):
        names = ", ".join(self.table.written)
        self.both("delete from p")
        self.both(f"insert into p ({names}) select {names} from v")

    def compare(self):
        names = ", ".join(COLUMNS)
        current = in_order(rows(self.own, f"select {names} from v"))
        twin = in_order(rows(self.own, f"select {names} from p"))
        if current != twin:
            self.fail("current rows are not the twin's", current, twin)
        self.questions(len(current), condition(self.rng))
        versions = f"select {names}, {self.start}, {self.end} from v for system_time all"
        own, other = (self.table.comparable(rows(c, versions), 2) for c in (self.own, self.other))
        if own != other:
            current, twin = (in_order(rows(self.other, f"select {names} from {t}")) for t in "vp")
            if current != twin:
                raise OtherDisagrees
            self.fail("versions differ", [r for r in own if r not in other], [r for r in other if r not in own])
        if self.table.history:
            self.compare_partitions()
        if not self.goes_back and self.clock > 1 and self.rng.random() < 0.5:
            self.remember()

    def compare_partitions(self):
        # Their rows are those of MariaDB's partitions of the same names.
        listed = ("select partition_name from information_schema.partitions where table_schema = 'asof' and table_name = 'v'"
                  " group by partition_name")
        names = in_order(rows(self.own, listed))
        if names != in_order(rows(self.other, listed)):
            self.fail("partitions differ", names)
        name = self.rng.choice(names)[0]
        query = f"select {', '.join(COLUMNS)}, {self.start}, {self.end} from v partition ({name})"
        own, other = in_order(rows(self.own, query)), in_order(rows(self.other, query))
        if own != other:
            self.fail(query, own, other)

    def questions(self, count, where):
        """The same questions to the table and its twin."""
        asked = ["select count(*) from {t}", "select min(id), max(id), min(a), max(c) from {t}", f"select count(*) from {{t}} where {where}",
                 f"select id from {{t}} where {where}", f"select x.id, y.a from {{t}} x left join {{t}} y on x.id = y.a and y.{where}",
                 "select a, count(*) from {t} group by a", "select id from {t} x where exists (select 1 from {t} y where y.a = x.id)",
                 f"select id from {{t}} where id in (select c from {{t}} where {where})", "select distinct b from {t}",
                 f"select * from (select id, a from {{t}} where {where}) d", "select count(distinct a) from {t}"]
        query = self.rng.choice(asked)
        own, twin = (in_order(rows(self.own, query.format(t=t))) for t in "vp")
        if own != twin:
            self.fail(query, own, twin)

    def remember(self):
        # Later changes are at the clock or behind it.
        at = self.clock - self.rng.choice([1, 10, 500_000, 1_000_000_000])
        kind = self.rng.choice(["as of {}", "as of timestamp {}", "from '2001-01-01 00:00:00' to {}", "between '2001-01-01 00:00:00' and {}"])
        moment = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(at // 10**6)) + f".{at % 10**6:06}"
        clause = kind.format(f"'{moment}'")
        # The end of a version is not known before it ends.
        query = f"select {', '.join(COLUMNS)}, {self.start} from v for system_time {clause}"
        found = self.table.comparable(rows(self.own, query), 1)
        if self.table.period == BY_TRANSACTION:
            self.check_registered()
        expected = self.table.comparable(rows(self.other, query), 1)
        if found != expected:
            self.fail(query, found, expected)
        self.remembered.append((query, found))

    def check_registered(self):
        """All numbers in the table are registered, but not MariaDB's of an INSERT IGNORE that has undone a part."""
        missing = ("select count(*) from (select s n from v for system_time all union select e from v for system_time all) d"
                   " where n < 18446744073709551615 and n not in (select transaction_id from mysql.transaction_registry)")
        if rows(self.own, missing) != ((0,),):
            self.fail("a transaction is not registered")
        if rows(self.other, missing) != ((0,),):
            raise OtherDisagrees

    def ask_again(self):
        for query, before in self.remembered:
            now = self.table.comparable(rows(self.own, query), 1)
            if now != before:
                # What belongs to columns that are not versioned may change.
                if "{without}" in self.table.columns:
                    continue
                self.fail(f"no longer the same: {query}", before, now)

    def again(self, own):
        """Goes on with a new connection after a restart."""
        self.own = own
        for statement in ["use asof", "set time_zone = '+00:00'", "set sql_mode = ''"]:
            run(own, statement)
        self.ask_again()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--rounds", type=int, default=100)
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    rng = random.Random(arguments.seed)
    server, reference = Server(arguments.binary).start(), MariaDb()
    try:
        reference.start()
        own = server.connect()
        other = pymysql.connect(host="127.0.0.1", port=reference.port, user="root", charset="utf8mb4", autocommit=True)
        restarts, ended = 0, 0
        for rounds in range(arguments.rounds):
            current = Round(rng, own, other)
            try:
                for _ in range(rng.randint(10, 40)):
                    current.step()
            except OtherDisagrees:
                ended += 1
            current.ask_again()
            # Rows of MEMORY tables end with the server.
            if current.table.engine != "memory" and rounds % 5 == 0:
                own.close()
                server.kill() if rng.random() < 0.7 else server.stop()
                server.start()
                own = server.connect()
                current.again(own)
                restarts += 1
        own.close()
        other.close()
        print(f"{arguments.rounds} rounds, {ended} ended by MariaDB, {restarts} restarts")
        server.stop()
    finally:
        server.remove()
        reference.remove()


if __name__ == "__main__":
    main()
