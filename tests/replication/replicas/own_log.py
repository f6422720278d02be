"""What replicas write into their own logs, with and without log_slave_updates."""

import subprocess

from . import compare, report
from .chain import ALL, LEDGER, Writers, branch, lost, running, wait
from .load import CHANGES, run_script
from .nodes import gtids

CHECKS = ["updates_are_logged", "updates_of_a_load", "updates_are_not_logged", "own_groups_between", "log_can_be_replayed"]


def updates_are_logged(chain):
    """The replica's log has the primary's groups with their numbers, and the same events."""
    chain.follow()
    run_script(chain, CHANGES, "changes")
    chain.primary.rows("USE d", "CREATE VIEW v AS SELECT 1", "CREATE PROCEDURE p() SELECT 1", "SET gtid_domain_id=9", "DROP VIEW v", "SET server_id=55",
                       "INSERT INTO k (id) VALUES (9999)", "SET gtid_seq_no=500", "DELETE FROM k WHERE id = 9999", "TRUNCATE n", "CREATE TABLE ct SELECT * FROM ui",
                       "BEGIN", "INSERT INTO ui VALUES (1, 1)", "SAVEPOINT s", "INSERT INTO ui VALUES (2, 2)", "ROLLBACK TO s", "COMMIT",
                       "XA START 'x'", "INSERT INTO ui VALUES (3, 3)", "XA END 'x'", "XA PREPARE 'x'", "XA COMMIT 'x'", "SET binlog_row_image=MINIMAL",
                       "UPDATE k SET n = 0 WHERE id = 30", "SET binlog_annotate_row_events=0", "UPDATE k SET n = 1 WHERE id = 30",
                       "CREATE TABLE my (a INT PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO my VALUES (1), (2)", "ANALYZE TABLE k", "FLUSH TABLES")
    chain.catch_up()
    for node in chain.followers:
        for name in ("gtid_binlog_pos", "gtid_binlog_state", "gtid_slave_pos"):
            expected = chain.primary.variable("gtid_binlog_state" if name == "gtid_binlog_state" else "gtid_binlog_pos")
            report.same(f"{name} of {node}", sorted(node.variable(name).split(",")), sorted(expected.split(",")))
        compare.same_events(chain.primary, node)
    compare.same_everything(chain)


def order(node):
    """The GTIDs of a log, in its order."""
    found = []
    for line in compare.events(node):
        if line.startswith(("Gtid ", "XA")) and "GTID " in line:
            found.append(line.split("GTID ")[1].split()[0])
    return found


def updates_of_a_load(chain):
    """The GTIDs of a load are in the same order, also over stops."""
    chain.follow("position")
    chain.primary.script(LEDGER)
    with Writers(chain.primary, [*ALL, branch]) as writers:
        for _ in range(2):
            for node in chain.followers:
                node.rows("STOP SLAVE", "FLUSH BINARY LOGS", "START SLAVE")
                running(node)
    chain.catch_up()
    report.same("acknowledged rows that the primary has lost", lost(writers), [])
    expected = order(chain.primary)
    for node in chain.followers:
        got = order(node)
        report.true(f"the GTIDs of {node} are those of the primary, in order", got == expected,
                    f"{len(expected)} and {len(got)}; first difference: {next((pair for pair in zip(expected, got) if pair[0] != pair[1]), None)}")
        compare.same_events(chain.primary, node)
    compare.same_everything(chain, "led")


def updates_are_not_logged(chain):
    """Without log_slave_updates nothing of the primary is in the log; own changes are."""
    node = chain.last
    node.restart(["--log-slave-updates=0"])
    chain.follow()
    run_script(chain, CHANGES, "changes")
    chain.catch_up()
    report.same("events", compare.events(node), [])
    report.same("gtid_binlog_pos", node.variable("gtid_binlog_pos"), "")
    report.same("gtid_current_pos", gtids(node.variable("gtid_current_pos")), gtids(chain.primary.variable("gtid_binlog_pos")))
    node.rows("CREATE DATABASE own")
    report.same("gtid_binlog_pos after an own change", gtids(node.variable("gtid_binlog_pos")),
                {0: (node.number, gtids(chain.primary.variable("gtid_binlog_pos"))[0][1] + 1)})
    compare.same_everything(chain, "d")
    node.restart()
    running(node)
    chain.primary.rows("INSERT INTO d.ui VALUES (7, 7)")
    chain.catch_up()


def own_groups_between(chain):
    """A replica's own groups go into its log between the primary's; numbers of one domain go on."""
    chain.follow()
    node = chain.replica
    chain.primary.rows("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY)")
    chain.catch_up()
    node.rows("SET gtid_domain_id=3", "CREATE DATABASE own", "CREATE TABLE own.t (a INT)")
    chain.primary.rows("INSERT INTO d.t VALUES (1)")
    target = gtids(chain.primary.variable("gtid_binlog_pos"))
    wait(chain.primary, node, target)
    report.same("gtid_binlog_pos", gtids(node.variable("gtid_binlog_pos")), {**target, 3: (node.number, 2)})
    report.same("gtid_slave_pos", gtids(node.variable("gtid_slave_pos")), target)
    report.same("the order of the log", order(node), [f"0-{chain.primary.number}-1", f"0-{chain.primary.number}-2", f"3-{node.number}-1", f"3-{node.number}-2",
                                                      f"0-{chain.primary.number}-3"])


def log_can_be_replayed(chain):
    """mariadb-binlog reads the replica's log, with checksums."""
    chain.follow()
    run_script(chain, CHANGES, "changes")
    chain.catch_up()
    for node in chain.followers:
        files = [f"{node.datadir}/{row[0]}" for row in node.rows("SHOW BINARY LOGS")]
        run = subprocess.run(["mariadb-binlog", "--no-defaults", "--verify-binlog-checksum", "-vv", *files], capture_output=True, check=False, timeout=60)
        report.true(f"mariadb-binlog reads the log of {node}", run.returncode == 0 and b"### INSERT INTO `d`.`k`" in run.stdout, run.stderr.decode()[-300:])
