#!/usr/bin/env python3
"""Failover: a primary with semi-synchronous replication is killed, a replica takes its place, and it comes back as a replica.

usage: failover.py SELKIE [--makes XYZ ...] [--rounds N] [--seconds S] [--seed N]

The letters are the makes of three servers, S for Selkie and M for MariaDB, the first one being the primary. In each round sessions
write and note what was answered; one of the replicas lags: it is stopped, applies nothing, or applies late. Then kill -9 of the
primary; the replica that has received most applies that and becomes the primary, the other follows it, and sessions go on. The
old primary comes back as a replica: if it has groups that nobody had acknowledged, it is refused with 1236, as MariaDB's are, and is
made anew. At the end of a round all three have what was answered, and are equal. Without --makes, SSS has two rounds, SMS and MSS one.
All servers listen on loopback, have private directories, and end with the test. 40 s.
"""
import argparse
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from replicas import report  # noqa: E402
from replicas.chain import LEDGER, SAFE, Writers, running  # noqa: E402
from replicas.nodes import Node, gtids, until  # noqa: E402

OPTIONS = ["--log-slave-updates=1", "--rpl-semi-sync-slave-enabled=1"]
LAGS = ["stopped", "unapplied", "late", "none"]
TABLES = ("ledger", "twin", "hot")


def follow(node, primary, more=""):
    """The node follows a primary, from what it has applied on."""
    node.rows("STOP SLAVE")
    node.follow(primary, more=more)


def begin_primary(node, clients):
    node.rows("FLUSH STATUS", "SET GLOBAL rpl_semi_sync_master_timeout=100000", "SET GLOBAL rpl_semi_sync_master_enabled=1")
    until(lambda: clients_of(node) >= clients, f"{clients} replicas acknowledge to {node}")


def clients_of(node):
    return int(node.rows("SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_master_clients'")[0][1])


def catch_up(node, primary, seconds=40):
    position = primary.variable("gtid_binlog_pos")
    answer = node.value(f"SELECT MASTER_GTID_WAIT('{position}', {seconds})")
    report.same(f"{node} comes to {position}: {node.status().get('Last_SQL_Error')} {node.status().get('Last_IO_Error')}", answer, 0)


def write(node, seconds, first, answered):
    """Sessions write until the time is over; what was answered is noted."""
    with Writers(node, SAFE, 4, first) as writers:
        time.sleep(seconds)
        yield
    report.same("errors of the sessions", writers.errors, [])
    answered.update(writers.acknowledged)


def lag(node, kind):
    """Makes a replica late."""
    if kind == "stopped":
        node.rows("STOP SLAVE")
    elif kind == "unapplied":
        node.rows("STOP SLAVE SQL_THREAD")


def received(node):
    node.rows("STOP SLAVE IO_THREAD")
    return gtids(node.status()["Gtid_IO_Pos"]).get(0, (0, 0))[1]


def promote(node):
    """The node applies all that it has received, and is a primary then."""
    node.rows("START SLAVE SQL_THREAD")
    position = node.status()["Gtid_IO_Pos"]
    report.same(f"{node} applies what it has: {node.status()['Last_SQL_Error']}", node.value(f"SELECT MASTER_GTID_WAIT('{position}', 40)"), 0)
    node.rows("STOP SLAVE", "RESET SLAVE ALL")


def come_back(node, primary):
    """The old primary is a replica; returns whether it had to be made anew."""
    node.start(OPTIONS)
    # Its log is what it has.
    node.follow(primary, start=False, more="MASTER_DEMOTE_TO_SLAVE=1")
    own = node.status()["Gtid_IO_Pos"] or node.variable("gtid_slave_pos")
    node.rows("START SLAVE")
    # The primary goes on, so that a replica that is taken receives more.
    state = until(lambda: came(node.status(), own), f"{node} is taken or refused by {primary}")
    if not state["Last_IO_Errno"]:
        return False
    report.same(f"error of a primary with more than was acknowledged, {node.variable('gtid_binlog_pos')}", state["Last_IO_Errno"], 1236)
    # Under its old number it would take the groups that it has made for its own.
    node.number += 10
    node.rows("STOP SLAVE", "RESET SLAVE ALL", f"SET GLOBAL server_id={node.number}", "SET sql_log_bin=0", "DROP DATABASE led", "RESET MASTER",
              "SET GLOBAL gtid_slave_pos=''")
    node.follow(primary)
    return True


def came(state, own):
    return state if state["Last_IO_Errno"] or state["Slave_IO_Running"] == "Yes" and state["Gtid_IO_Pos"] not in ("", own) else None


def contents(node):
    report.require(node.value("SHOW DATABASES LIKE 'led'"), f"{node} has no tables: {node.variable('gtid_slave_pos')}, {node.variable('gtid_binlog_pos')}, {node.status()}")
    return {name: sorted(node.rows(f"SELECT * FROM led.{name}")) for name in TABLES}


def one_round(nodes, rng, given, number, answered):
    """Returns the nodes in their new order."""
    primary, *replicas = nodes
    kind = LAGS[number % len(LAGS)]
    slow = rng.choice(replicas)
    begin_primary(primary, 2)
    lag(slow, kind)
    for _ in write(primary, given.seconds, number * 10, answered):
        state = dict(primary.rows("SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_master_%'"))
        primary.kill()
    report.same("it was on all the time", (state["Rpl_semi_sync_master_status"], state["Rpl_semi_sync_master_no_times"]), ("ON", "0"))
    heights = {node: received(node) for node in replicas}
    new = max(replicas, key=heights.get)
    other = next(node for node in replicas if node is not new)
    promote(new)
    missing = answered - set(new.rows("SELECT w, a FROM led.ledger"))
    report.same(f"answered rows that {new} has not, of {len(answered)}", len(missing), 0)
    follow(other, new)
    running(other)
    begin_primary(new, 1)
    for _ in write(new, given.seconds / 2, number * 10 + 5, answered):
        was_ahead = come_back(primary, new)
    new.rows("SET GLOBAL rpl_semi_sync_master_enabled=0")
    for node in (other, primary):
        catch_up(node, new)
    expected = contents(new)
    for node in (other, primary):
        report.true(f"{node} is equal to {new}", contents(node) == expected)
    missing = answered - set(expected["ledger"])
    report.same(f"answered rows that are lost, of {len(answered)}", len(missing), 0)
    print(f"  round {number}: {slow} {kind}, {new} takes the place of {primary}{', which had more' if was_ahead else ''}; {len(answered)} answered", flush=True)
    return [new, other, primary]


def run(makes, given):
    begun = time.monotonic()
    report.current.begin(f"failover {makes}")
    nodes = [Node(kind, number + 1, given.selkie) for number, kind in enumerate(makes)]
    rng, answered = random.Random(given.seed), set()
    try:
        for node in nodes:
            node.start(OPTIONS)
            node.clean()
            node.restart(OPTIONS)
        nodes[0].script(LEDGER)
        for node in nodes[1:]:
            node.follow(nodes[0])
            catch_up(node, nodes[0])
        for number in range(given.rounds or (2 if makes == "SSS" else 1)):
            nodes = one_round(nodes, rng, given, number, answered)
        for node in nodes:
            report.same(f"panics of {node}", node.panics(), [])
    except Exception as error:  # noqa: BLE001
        report.current.line(f"{type(error).__name__}: {error} (seed {given.seed})")
    finally:
        for node in nodes:
            node.remove()
    passed = report.current.lines == 0
    print(f"failover {makes}: {'ok' if passed else 'FAILED'}, {time.monotonic() - begun:.1f} s", flush=True)
    return passed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("selkie")
    parser.add_argument("--makes", action="append", default=[])
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    results = [run(makes, given) for makes in given.makes or ["SSS", "SMS", "MSS"]]
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
