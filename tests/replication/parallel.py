#!/usr/bin/env python3
"""A replica that applies groups beside each other: a MariaDB 10.11 with group commit as primary, a Selkie with four workers.

    parallel.py BINARY [--seconds N] [--mode MODE]... [--only CHECK]... [--seed N]

At the end of each check both servers have the same rows, and the replica's own log has each domain's groups in the primary's order.
"""

import argparse
import os
import random
import re
import sys
import time

from replicas import compare, report
from replicas.chain import Chain, Writers, running, sql_error
from replicas.nodes import UPDATES, Node, gtids, until

THREADS = int(os.environ.get("THREADS", "4"))
MODES = ("conservative", "optimistic", "aggressive")
PRIMARY = ["--binlog-commit-wait-count=3", "--binlog-commit-wait-usec=3000", "--innodb-lock-wait-timeout=3"]
TABLES = """
CREATE DATABASE p;
CREATE TABLE p.hot (id INT PRIMARY KEY, n INT NOT NULL DEFAULT 0);
INSERT INTO p.hot (id) VALUES (1),(2),(3),(4),(5),(6),(7),(8);
CREATE TABLE p.keyed (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) COLLATE utf8mb4_general_ci, code INT, v TEXT,
                      UNIQUE (name), UNIQUE (code), KEY (v(5)));
CREATE TABLE p.bare (a INT, b VARCHAR(20));
CREATE TABLE p.parent (id INT PRIMARY KEY, n INT);
CREATE TABLE p.child (id INT AUTO_INCREMENT PRIMARY KEY, parent INT, n INT, FOREIGN KEY (parent) REFERENCES p.parent (id)
                      ON DELETE CASCADE ON UPDATE CASCADE);
CREATE TABLE p.grandchild (id INT AUTO_INCREMENT PRIMARY KEY, child INT, FOREIGN KEY (child) REFERENCES p.child (id) ON DELETE CASCADE);
CREATE TABLE p.plain (id INT AUTO_INCREMENT PRIMARY KEY, v INT) ENGINE=MyISAM;
CREATE TABLE p.xa (id INT AUTO_INCREMENT PRIMARY KEY, n INT);
CREATE TABLE p.own1 (id INT AUTO_INCREMENT PRIMARY KEY, n INT);
CREATE TABLE p.own2 (id INT AUTO_INCREMENT PRIMARY KEY, n INT);
CREATE TABLE p.own3 (id INT AUTO_INCREMENT PRIMARY KEY, n INT);
"""


def having(cursor, before, after, *texts):
    """Runs statements with a setting that does not stay, whatever happens."""
    cursor.execute(before)
    try:
        for text in texts:
            cursor.execute(text)
    finally:
        cursor.execute("ROLLBACK")
        cursor.execute(after)


def transaction(cursor, *texts):
    cursor.execute("BEGIN")
    for text in texts:
        cursor.execute(text)
    cursor.execute("COMMIT")


def hot(cursor, _writer, number):
    one, other = random.sample(range(1, 9), 2)
    transaction(cursor, f"UPDATE p.hot SET n = n * 3 + {number % 7} WHERE id = {one}", f"UPDATE p.hot SET n = (n + {number}) % 10007 WHERE id = {other}")


def keyed(cursor, _writer, number):
    name = random.choice("abcdefghABCDEFGH") + random.choice("xyXY")
    code = random.randrange(12)
    cursor.execute(random.choice([
        f"REPLACE INTO p.keyed (name, code, v) VALUES ('{name}', {code}, REPEAT('{name}', {number % 50}))",
        f"INSERT IGNORE INTO p.keyed (name, code, v) VALUES ('{name}', {code}, {number})",
        f"UPDATE IGNORE p.keyed SET code = {code}, v = {number} WHERE name = '{name}'",
        f"DELETE FROM p.keyed WHERE name = '{name}' OR code = {code}"]))


def bare(cursor, _writer, number):
    value = random.randrange(5)
    cursor.execute(random.choice([
        f"INSERT INTO p.bare VALUES ({value}, 'x{value}'), ({value}, 'y')", f"DELETE FROM p.bare WHERE a = {value} LIMIT 2",
        f"UPDATE p.bare SET b = '{number % 3}' WHERE a = {value}"]))


def family(cursor, _writer, number):
    parent = random.randrange(6)
    transaction(cursor, random.choice([
        f"INSERT IGNORE INTO p.parent VALUES ({parent}, {number})", f"DELETE FROM p.parent WHERE id = {parent}",
        f"UPDATE IGNORE p.parent SET id = {random.randrange(6)} WHERE id = {parent}"]),
        f"INSERT IGNORE INTO p.child (parent, n) SELECT id, {number} FROM p.parent WHERE id = {random.randrange(6)}",
        f"INSERT IGNORE INTO p.grandchild (child) SELECT MAX(id) FROM p.child WHERE n > {number - 20}",
        f"UPDATE p.child SET n = n + 1 WHERE parent = {random.randrange(6)} LIMIT 3")


def plain(cursor, _writer, number):
    cursor.execute(f"INSERT INTO p.plain (v) VALUES ({number})")


def domains(cursor, writer, number):
    domain = writer % 3 + 1
    having(cursor, f"SET gtid_domain_id = {domain}", "SET gtid_domain_id = 0", "BEGIN", f"INSERT INTO p.own{domain} (n) VALUES ({number})",
           f"UPDATE p.own{domain} SET n = n + 1 ORDER BY id DESC LIMIT 3", "COMMIT")


def branch(cursor, writer, number):
    name = f"'{writer}-{number}-{random.random()}'"
    cursor.execute(f"XA START {name}")
    cursor.execute(f"INSERT INTO p.xa (n) VALUES ({number})" if number % 2 else f"UPDATE p.hot SET n = n + 1 WHERE id = {number % 8 + 1}")
    cursor.execute(f"XA END {name}")
    cursor.execute(f"XA PREPARE {name}")
    cursor.execute(f"XA {'COMMIT' if number % 3 else 'ROLLBACK'} {name}")


def definition(cursor, writer, number):
    domain = writer % 3 + 1
    if number % 2:
        cursor.execute(f"CREATE OR REPLACE TABLE p.made{writer} (id INT PRIMARY KEY, v INT) SELECT {number} AS id, 1 AS v")
        return
    # A table belongs to the domain that changes its rows.
    having(cursor, f"SET gtid_domain_id = {domain}", "SET gtid_domain_id = 0", random.choice([
        f"ALTER TABLE p.own{domain} ADD COLUMN IF NOT EXISTS more INT DEFAULT {number % 9}, ALGORITHM=COPY",
        f"ALTER TABLE p.own{domain} DROP COLUMN IF EXISTS more"]))


def statements(cursor, _writer, number):
    having(cursor, "SET binlog_format = STATEMENT", "SET binlog_format = ROW", "CREATE TEMPORARY TABLE p.t (n INT)", "BEGIN",
           f"INSERT INTO p.t VALUES ({number})", f"UPDATE p.hot SET n = n + {number % 5} WHERE id = {number % 8 + 1}", "COMMIT",
           "DROP TEMPORARY TABLE p.t")


def apart(cursor, _writer, number):
    one, other = random.sample(range(1, 9), 2)
    having(cursor, "SET skip_parallel_replication = 1", "SET skip_parallel_replication = 0", f"UPDATE p.hot SET n = n + {one} WHERE id = {other}")


SHAPES = [hot, hot, hot, keyed, keyed, keyed, bare, family, family, domains, domains, domains, plain, apart, branch, definition, statements]
# What needs no domains, for a replica that asks by file and position.
ORDERED = [shape for shape in SHAPES if shape not in (domains, definition)]
# Temporary tables end with the applier.
LASTING = [shape for shape in SHAPES if shape is not statements]


def options(mode):
    return [*UPDATES, f"--slave-parallel-threads={THREADS}", f"--slave-parallel-mode={mode}", "--slave-parallel-max-queued=20000"]


def numbers(node):
    """The groups of a server's log by domain, in order."""
    found = {}
    for (file, *_rest) in node.rows("SHOW BINARY LOGS"):
        for row in node.rows(f"SHOW BINLOG EVENTS IN '{file}'"):
            gtid = re.search(r"GTID (\d+)-(\d+)-(\d+)", row[5]) if row[2] == "Gtid" else None
            if gtid:
                found.setdefault(int(gtid[1]), []).append((int(gtid[2]), int(gtid[3])))
    return found


def check_order(chain):
    expected, got = numbers(chain.primary), numbers(chain.replica)
    for domain in sorted({*expected, *got}):
        # A group that changes nothing here is not logged again.
        order = iter(expected.get(domain, []))
        missing = [group for group in got.get(domain, []) if group not in order]
        report.same(f"groups of domain {domain} that are not in the primary's order", missing, [])
        report.true(f"most groups of domain {domain} are logged", len(got.get(domain, [])) > len(expected.get(domain, [])) / 2, "")


def finish(chain):
    chain.catch_up(150)
    compare.same_everything(chain, "p")
    check_order(chain)
    report.same("panics of the replica", chain.replica.panics(), [])


def errors_that_matter(writers):
    """Deadlocks and timeouts of the primary's own sessions are theirs."""
    return [error for error in writers.errors if not re.search(r"1213|1205|1614|1062|1452|1451|1412|1399|1402|1400|1020|1467|1264", str(error))]


def begin(chain, mode, how="gtid"):
    chain.primary.restart([*UPDATES, *PRIMARY])
    chain.replica.restart(options(mode))
    chain.primary.script(TABLES)
    chain.follow(how)
    # Groups of other domains do not wait for these.
    chain.catch_up()


def load(chain, mode, given, how="gtid", during=None):
    """Writes for some seconds; `during`, which ends the applier, is done again and again meanwhile."""
    begin(chain, mode, how)
    shapes = ORDERED if how == "position" else SHAPES
    if during is not None:
        shapes = [shape for shape in shapes if shape in LASTING]
    deadline = time.monotonic() + given.seconds
    with Writers(chain.primary, shapes, 5) as writers:
        while time.monotonic() < deadline:
            time.sleep(0.05 if during is None else given.random.uniform(0.02, 0.5))
            if during is not None:
                during()
    report.same("errors of the sessions", errors_that_matter(writers)[:3], [])
    finish(chain)
    retried = int(dict(chain.replica.rows("SHOW GLOBAL STATUS LIKE 'Slave_retried_transactions'"))["Slave_retried_transactions"])
    print(f"    {mode}: {len(writers.acknowledged)} writes, {retried} retried", flush=True)


def all_shapes(chain, mode, given):
    """All kinds of groups."""
    load(chain, mode, given)


def by_position(chain, mode, given):
    """By file and position there is one order."""
    load(chain, mode, given, "position")


def backlog(chain, mode, given):
    """Groups that wait already when the applier starts."""
    begin(chain, mode)
    chain.replica.rows("STOP SLAVE SQL_THREAD")
    with Writers(chain.primary, SHAPES, 5) as writers:
        time.sleep(given.seconds / 2)
    report.same("errors of the sessions", errors_that_matter(writers)[:3], [])
    chain.replica.rows("START SLAVE")
    finish(chain)


def killed(chain, mode, given):
    """kill -9 again and again."""
    def kill():
        chain.replica.kill()
        chain.replica.start(options(mode))
        running(chain.replica)
    load(chain, mode, given, given.random.choice(["gtid", "position"]), kill)


def stopped(chain, mode, given):
    """STOP and START again and again, of the applier or of both, sometimes with all changes held for a moment."""
    def stop():
        which = given.random.choice(["", "SQL_THREAD"])
        if given.random.random() < 0.3:
            chain.replica.rows("FLUSH TABLES WITH READ LOCK", "DO SLEEP(0.1)", "UNLOCK TABLES")
        if given.random.random() < 0.3:
            chain.replica.rows("BACKUP STAGE START", "BACKUP STAGE BLOCK_COMMIT", "DO SLEEP(0.05)", "BACKUP STAGE END")
        chain.replica.rows(f"STOP SLAVE {which}")
        state = chain.replica.status()
        report.same("Slave_SQL_Running after STOP SLAVE", state["Slave_SQL_Running"], "No")
        report.same("Last_SQL_Error after STOP SLAVE", state["Last_SQL_Error"], "")
        workers = chain.replica.rows("SELECT state FROM information_schema.processlist WHERE command = 'Slave_worker'")
        report.same("workers after STOP SLAVE", workers, [])
        chain.replica.rows("START SLAVE")
    load(chain, mode, given, during=stop)


def failing(chain, mode, _given):
    """A group in the middle that cannot be applied: what is behind it in its domain is not applied, and all goes on when it can."""
    begin(chain, mode)
    chain.replica.rows("SET sql_log_bin = 0", "INSERT INTO p.own1 VALUES (20, 0)")
    chain.replica.rows("STOP SLAVE SQL_THREAD")
    rows = range(1, 41)
    chain.primary.rows(*(text for number in rows for text in (
        "SET gtid_domain_id = 0", f"INSERT INTO p.own1 VALUES ({number}, 1)", "SET gtid_domain_id = 7", f"INSERT INTO p.own2 VALUES ({number}, 1)")))
    chain.replica.rows("START SLAVE SQL_THREAD")
    state = sql_error(chain.replica, 1062)
    report.true("the error names the place", "handler error HA_ERR_FOUND_DUPP_KEY; the event's master log" in state["Last_SQL_Error"], state["Last_SQL_Error"])
    report.same("rows before the group that failed", chain.replica.value("SELECT COUNT(*) FROM p.own1"), 20)
    # In conservative mode nothing has begun behind it: the primary has committed one after the other.
    report.true("nothing behind it has failed", mode != "conservative" or "code: 1964" not in chain.replica.server.log(), chain.replica.server.log())
    place = gtids(chain.replica.variable("gtid_slave_pos"))
    expected = [seq for _, seq in numbers(chain.primary)[0]][-22]
    report.same("position before the group that failed", place[0][1], expected)
    chain.replica.rows("SET sql_log_bin = 0", "DELETE FROM p.own1 WHERE id = 20")
    chain.replica.rows("START SLAVE SQL_THREAD")
    finish(chain)


def blocked(chain, mode, _given):
    """Somebody else holds a row that the first of many groups needs: the others wait for it and go on."""
    begin(chain, mode)
    connection = chain.replica.connect()
    with connection, connection.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("SELECT * FROM p.hot WHERE id = 1 FOR UPDATE")
        for number in range(2, 9):
            chain.primary.rows(f"UPDATE p.hot SET n = 7 WHERE id IN ({1 if number == 2 else number})")
        def waits():
            rows = chain.replica.rows("SELECT state FROM information_schema.processlist WHERE command = 'Slave_worker'")
            return ("Waiting for prior transaction to commit",) in rows or mode == "conservative"
        until(waits, "a worker waits for its turn")
        cursor.execute("ROLLBACK")
    finish(chain)


CHECKS = [all_shapes, by_position, backlog, killed, stopped, failing, blocked]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("selkie")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--mode", action="append", default=[])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    given = parser.parse_args()
    given.random = random.Random(given.seed)
    chain, failed = Chain("MS", [Node("M", 1, given.selkie), Node("S", 2, given.selkie)]), 0
    try:
        for check in CHECKS:
            if given.only and check.__name__ not in given.only:
                continue
            # Each check in one mode is enough for every day.
            modes = given.mode or ([given.random.choice(MODES)] if check is not all_shapes else MODES)
            for mode in modes:
                chain.clean()
                report.current.begin(f"{check.__name__} {mode}")
                began = time.monotonic()
                try:
                    check(chain, mode, given)
                except report.Failed as error:
                    report.current.line(str(error))
                failed += report.current.lines > 0
                print(f"{'FAILED' if report.current.lines else 'ok'} {check.__name__} {mode} {time.monotonic() - began:.1f} s", flush=True)
                if report.current.lines:
                    print(f"  the seed was {given.seed}", flush=True)
    finally:
        for node in chain.nodes:
            node.remove()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
