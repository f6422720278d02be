"""Semi-synchronous replication with Selkie as the replica: what it has acknowledged is used, even if the primary is lost."""

import time

from . import report
from .chain import ALL, LEDGER, SAFE, Writers, only, running
from .nodes import until

CHECKS = ["acknowledges", "kill_both_by_gtid", "kill_both_by_position"]
REPLICA = ["--log-slave-updates=1", "--rpl-semi-sync-slave-enabled=1"]


def of(node, what):
    """Values of the status variables whose names begin so."""
    return {name[len(what) + 1:].lower(): value for name, value in node.rows(f"SHOW GLOBAL STATUS LIKE '{what}%'")}


def of_primary(node):
    return of(node, "Rpl_semi_sync_master")


def of_replica(node):
    return of(node, "Rpl_semi_sync_slave")


def begin(chain, timeout):
    chain.primary.rows(f"SET GLOBAL rpl_semi_sync_master_timeout={timeout}", "SET GLOBAL rpl_semi_sync_master_enabled=1")
    until(lambda: of_primary(chain.primary)["clients"] == "1", "the replica is a client")


def end(chain):
    chain.primary.rows("SET GLOBAL rpl_semi_sync_master_enabled=0", "SET GLOBAL rpl_semi_sync_master_timeout=10000")


@only(replica="S")
def acknowledges(chain):
    """The variable counts when the receiver begins; the status says so."""
    node, primary = chain.replica, chain.primary
    chain.follow()
    primary.rows("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY AUTO_INCREMENT, b INT)", "FLUSH STATUS")
    chain.catch_up()
    report.same("before", of_replica(node), {"send_ack": "0", "status": "OFF"})
    node.rows("SET GLOBAL rpl_semi_sync_slave_enabled=1")
    primary.rows("SET GLOBAL rpl_semi_sync_master_enabled=1", "SET GLOBAL rpl_semi_sync_master_timeout=20000")
    report.same("a running receiver does not begin to", of_replica(node), {"send_ack": "0", "status": "OFF"})
    try:
        node.rows("STOP SLAVE", "START SLAVE")
        running(node)
        report.same("the next one does", of_replica(node)["status"], "ON")
        until(lambda: of_primary(primary)["clients"] == "1", "the replica is a client")
        node.rows("STOP SLAVE SQL_THREAD")
        for number in range(10):
            primary.rows(f"INSERT INTO d.t(b) VALUES ({number})")
        report.same("groups that waited", of_primary(primary)["yes_tx"], "10")
        report.same("acknowledgements", of_replica(node)["send_ack"], "10")
        report.same("nothing of it is applied", node.value("SELECT COUNT(*) FROM d.t"), 0)
        node.rows("SET GLOBAL rpl_semi_sync_slave_enabled=0")
        primary.rows("INSERT INTO d.t(b) VALUES (11)")
        report.same("a running receiver goes on", of_replica(node), {"send_ack": "11", "status": "ON"})
        node.rows("STOP SLAVE")
        report.same("after STOP SLAVE", of_replica(node)["status"], "OFF")
        until(lambda: of_primary(primary)["clients"] == "0", "the primary knows at once", 2)
        node.rows("START SLAVE")
        primary.rows("SET GLOBAL rpl_semi_sync_master_timeout=300")
        primary.rows("INSERT INTO d.t(b) VALUES (12)")
        chain.catch_up()
        report.same("no acknowledgements any more", of_replica(node), {"send_ack": "11", "status": "OFF"})
    finally:
        end(chain)
        node.rows("SET GLOBAL rpl_semi_sync_slave_enabled=0")


def kill_both(chain, how, given):
    """Both are killed under load while the replica applies nothing, or something. Alone, it has all that was answered."""
    node, primary = chain.replica, chain.primary
    shapes = SAFE if primary.kind == "M" else ALL
    for cycle in range(max(2, given.cycles // 2)):
        chain.clean()
        node.restart(REPLICA)
        chain.follow(how)
        primary.script(LEDGER)
        chain.catch_up()
        begin(chain, 100_000)
        if cycle % 2 == 0:
            node.rows("STOP SLAVE SQL_THREAD")
        with Writers(primary, shapes, 6) as writers:
            time.sleep(1.2)
            if cycle % 2 == 0:
                primary.rows("FLUSH BINARY LOGS")
                time.sleep(0.3)
            state = of_primary(primary)
            primary.kill()
            node.kill()
        answered = list(writers.acknowledged)
        report.same("it was on all the time", (state["status"], state["no_times"]), ("ON", "0"))
        report.true("the sessions wrote", len(answered) > 20, len(answered))
        node.start()
        shown = node.status()
        if how == "gtid":
            report.same("the replica applies what it has", node.value(f"SELECT MASTER_GTID_WAIT('{shown['Gtid_IO_Pos']}', 60)"), 0)
        else:
            place = f"'{shown['Master_Log_File']}', {shown['Read_Master_Log_Pos']}"
            report.true("the replica applies what it has", node.value(f"SELECT MASTER_POS_WAIT({place}, 60)") not in (None, -1), node.status())
        report.same("Last_SQL_Error", node.status()["Last_SQL_Error"], "")
        node.rows("STOP SLAVE", "RESET SLAVE ALL")
        kept = set(node.rows("SELECT w, a FROM led.ledger"))
        missing = [pair for pair in answered if pair not in kept]
        report.same(f"answered rows that the replica has not, of {len(answered)}", missing, [])
        report.same("the replica takes writes", node.error("INSERT INTO led.ledger VALUES (-1, -1)"), 0)
        primary.start()
        end(chain)


@only(replica="S", length=2)
def kill_both_by_gtid(chain, given):
    """Both are killed; the replica asks by GTID."""
    kill_both(chain, "gtid", given)


@only(replica="S", length=2)
def kill_both_by_position(chain, given):
    """The same by file and offset."""
    kill_both(chain, "position", given)
