"""kill -9 at any moment: replicas and primaries go on, nothing is lost and nothing is applied twice."""

import itertools
import os
import random
import shutil
import time

from . import compare, report
from .chain import ALL, LEDGER, SAFE, WAIT, Writers, branch, lost, only, running
from .nodes import gtids, until

CHECKS = ["kill_replica_by_gtid", "kill_replica_by_position", "kill_stopped_replica", "kill_primary", "kill_middle", "kill_any_by_gtid",
          "kill_any_by_position", "relay_files_deleted"]


def shapes(chain, victims):
    """MariaDB survives a kill only by GTID, and with groups of one transactional engine; Selkie with everything."""
    return SAFE if any(node.kind == "M" for node in [*chain.followers, *victims]) else [*ALL, branch]


def go_on(node):
    """After the start both threads run by themselves, without an error."""
    def is_so():
        state = node.status()
        report.require(state, f"{node} has forgotten its primary")
        report.require(state["Last_SQL_Errno"] == 0, f"{node} after a kill: {state['Last_SQL_Errno']} {state['Last_SQL_Error']}")
        reads = state["Slave_IO_Running"] != "No" or state["Last_IO_Errno"] == 0
        report.require(reads, f"{node} does not read after a kill: {state['Last_IO_Errno']} {state['Last_IO_Error']}")
        return state["Slave_IO_Running"] == "Yes" and state["Slave_SQL_Running"] == "Yes"
    until(is_so, f"both threads of {node} run after a kill", 30)


def help_up(source, node):
    """MariaDB forgets its relay files if it is killed while it renames or lists them; it starts again from its GTID position."""
    state = node.status()
    if node.kind == "M" and {state["Slave_IO_Running"], state["Slave_SQL_Running"]} == {"No"} and state["Last_Errno"] == 0:
        node.rows("RESET SLAVE")
        node.follow(source)


def kill_and_start(chain, node, rng, deletes_relay_files):
    node.kill()
    if deletes_relay_files and rng.random() < 0.4:
        for path in node.relay_files():
            os.unlink(path)
    node.start()
    if rng.random() < 0.3:
        # A second one, soon.
        time.sleep(rng.uniform(0, 0.2))
        node.kill()
        node.start()
    for source, follower in chain.links():
        help_up(source, follower)
        go_on(follower)


def cycles(given):
    """Numbers of cycles: as many as are asked for, and more until the seconds are over."""
    end = time.monotonic() + given.seconds
    for cycle in itertools.count():
        if cycle >= given.cycles and time.monotonic() >= end:
            report.current.done = f", {cycle} cycles"
            return
        yield cycle


def under_load(chain, how, given, victims, count=3):
    """Kills the victims in turn while sessions write, for some cycles and some seconds; at the end all are equal."""
    rng = random.Random(given.seed)
    chain.follow(how)
    chain.primary.script(LEDGER)
    deletes = all(node.kind == "S" for node in victims)
    try:
        with Writers(chain.primary, shapes(chain, victims), count) as writers:
            for cycle in cycles(given):
                time.sleep(rng.uniform(0.05, 0.7))
                if cycle % 3 == 1:
                    chain.primary.script("FLUSH BINARY LOGS")
                kill_and_start(chain, victims[cycle % len(victims)], rng, deletes)
        report.same("errors of the sessions", writers.errors, [])
        report.same("acknowledged rows that the primary has lost", lost(writers), [])
        report.true("the sessions wrote", len(writers.acknowledged) > 20, len(writers.acknowledged))
        # A replica that was killed often may be far behind.
        chain.catch_up(WAIT + 2 * given.seconds)
        compare.same_everything(chain, "led")
    finally:
        if report.current.lines:
            report.current.line(f"the seed was {given.seed}")


def kill_replica_by_gtid(chain, given):
    """The replica is killed under load; it asks by GTID."""
    under_load(chain, "gtid", given, [chain.replica])


@only(replica="S")
def kill_replica_by_position(chain, given):
    """The same by file and offset."""
    under_load(chain, "position", given, [chain.replica])


def kill_stopped_replica(chain):
    """A place that was reached before a kill is there after it."""
    for how in ("gtid", "position"):
        chain.clean()
        chain.follow(how)
        node = chain.replica
        chain.primary.rows("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)")
        chain.catch_up()
        node.rows("STOP SLAVE")
        before = gtids(node.variable("gtid_slave_pos"))
        place = {name: node.status()[name] for name in ("Relay_Master_Log_File", "Exec_Master_Log_Pos", "Using_Gtid")}
        chain.primary.rows("INSERT INTO d.t VALUES (2)")
        node.kill()
        node.start(["--log-slave-updates=1", "--skip-slave-start"])
        state = node.status()
        report.same(f"gtid_slave_pos after a kill, by {how}", gtids(node.variable("gtid_slave_pos")), before)
        if how == "position":
            report.same("the place after a kill", [state[name] for name in place], list(place.values()))
        node.rows("START SLAVE")
        chain.catch_up()
        report.same("rows", node.value("SELECT COUNT(*) FROM d.t"), 2)


def kill_primary(chain, given):
    """The primary is killed under load: replicas connect again, and never have more than it kept."""
    under_load(chain, "gtid", given, [chain.primary])


@only(length=3)
def kill_middle(chain, given):
    """The server in the middle of a chain is killed, and its own follower too."""
    under_load(chain, "gtid", given, [chain.nodes[1], chain.nodes[1], chain.nodes[2]])


def kill_any_by_gtid(chain, given):
    """All servers are killed in turn; replicas ask by GTID."""
    under_load(chain, "gtid", given, chain.nodes)


@only(replica="S")
def kill_any_by_position(chain, given):
    """The same by file and offset."""
    under_load(chain, "position", given, chain.nodes)


@only(replica="S")
def relay_files_deleted(chain):
    """Relay files are never needed: they are deleted, damaged or cut before a start."""
    for how in ("gtid", "position"):
        for harm in ("delete", "cut", "fill", "index"):
            chain.clean()
            chain.follow(how)
            node = chain.replica
            chain.primary.rows("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)")
            chain.catch_up()
            node.rows("STOP SLAVE SQL_THREAD")
            chain.primary.rows("INSERT INTO d.t VALUES (2)", "INSERT INTO d.t VALUES (3)")
            until(lambda: node.status()["Read_Master_Log_Pos"] == chain.primary.place()[1], "all is received")
            node.kill()
            for path in node.relay_files():
                if os.path.isdir(path):
                    shutil.rmtree(path)
                elif harm == "delete" or harm == "index" and path.endswith("index"):
                    os.unlink(path)
                elif harm == "cut":
                    os.truncate(path, os.path.getsize(path) * 2 // 3)
                elif harm == "fill":
                    with open(path, "ab") as file:
                        file.write(b"\xff" * 100)
            node.start()
            running(node)
            chain.primary.rows("INSERT INTO d.t VALUES (4)")
            chain.catch_up()
            report.same(f"rows by {how}, {harm}", node.rows("SELECT a FROM d.t ORDER BY a"), [(1,), (2,), (3,), (4,)])
