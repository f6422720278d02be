"""Replicas that are stopped, started, changed, delayed and restarted while the primary goes on."""

import os
import subprocess
import threading
import time

import pymysql

from . import compare, report
from .chain import ALL, LEDGER, Writers, branch, lost, only, running, sql_error, wait
from .nodes import USER, gtids, until

CHECKS = ["stop_under_load", "single_threads", "change_between_modes", "refused_while_running", "reset_slave", "until_position", "until_gtid", "delay",
          "skip_counter_by_position", "skip_counter_by_gtid", "replica_restarted", "primary_restarted", "several_files", "waiting_functions",
          "set_gtid_slave_pos", "relay_log", "kill_idle_applier", "stop_while_locked", "shutdown_while_locked", "skip_counter_refused"]
TABLE = ("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY, b INT)")


def one_table(chain, how="gtid"):
    """A table on all servers, at rest."""
    chain.follow(how)
    chain.primary.rows(*TABLE)
    chain.catch_up()


def settle(chain, writers, what):
    """After a load: nothing is lost, and all servers are equal."""
    report.same(f"{what}: errors of the sessions", writers.errors, [])
    report.same(f"{what}: acknowledged rows that the primary has lost", lost(writers), [])
    report.true("the sessions wrote", len(writers.acknowledged) > 20, len(writers.acknowledged))
    chain.catch_up()
    compare.same_everything(chain, "led")


def count(node):
    return node.value("SELECT COUNT(*) FROM d.t")


def stop_under_load(chain):
    """STOP SLAVE and START SLAVE in the middle of everything, by position and by GTID."""
    for how in ("position", "gtid"):
        chain.clean()
        chain.follow(how)
        chain.primary.script(LEDGER)
        with Writers(chain.primary, [*ALL, branch]) as writers:
            for number in range(8):
                for node in chain.followers:
                    part = ("", "IO_THREAD", "SQL_THREAD", "")[number % 4]
                    node.rows(f"STOP SLAVE {part}")
                    time.sleep(0.05 * (number % 3))
                    node.rows(f"START SLAVE {part}")
                time.sleep(0.1)
                chain.primary.rows("FLUSH BINARY LOGS")
        settle(chain, writers, how)


@only(length=2)
def single_threads(chain):
    """IO_THREAD and SQL_THREAD alone, and the notes about what runs already."""
    one_table(chain)
    node, state = chain.replica, None
    report.same("notes of a second START", [row[:2] for row in node.warnings("START SLAVE")], [("Note", 1254)])
    node.rows("STOP SLAVE SQL_THREAD")
    before = node.status()
    chain.primary.rows("INSERT INTO d.t VALUES (1, 1)", "INSERT INTO d.t VALUES (2, 2)")
    until(lambda: node.status()["Read_Master_Log_Pos"] == chain.primary.place()[1], "the receiver alone reads on")
    state = node.status()
    report.same("the threads", (state["Slave_IO_Running"], state["Slave_SQL_Running"]), ("Yes", "No"))
    report.same("Slave_SQL_Running_State", state["Slave_SQL_Running_State"], "")
    report.same("Seconds_Behind_Master without an applier", state["Seconds_Behind_Master"], None)
    report.same("Exec_Master_Log_Pos of a stopped applier", state["Exec_Master_Log_Pos"], before["Exec_Master_Log_Pos"])
    report.same("rows of a stopped applier", count(node), 0)
    node.rows("START SLAVE SQL_THREAD")
    chain.catch_up()
    report.same("rows when it runs again", count(node), 2)
    node.rows("STOP SLAVE IO_THREAD")
    chain.primary.rows("INSERT INTO d.t VALUES (3, 3)")
    time.sleep(0.3)
    state = node.status()
    report.same("the threads", (state["Slave_IO_Running"], state["Slave_SQL_Running"], state["Slave_IO_State"]), ("No", "Yes", ""))
    report.same("rows without a receiver", count(node), 2)
    node.rows("START SLAVE IO_THREAD")
    chain.catch_up()
    report.same("rows when it receives again", count(node), 3)
    node.rows("STOP SLAVE")
    report.same("notes of a second STOP", [row[:2] for row in node.warnings("STOP SLAVE")], [("Note", 1255)])
    state = node.status()
    report.same("the threads", (state["Slave_IO_Running"], state["Slave_SQL_Running"]), ("No", "No"))
    node.rows("START REPLICA")
    running(node)
    report.same("SHOW REPLICA STATUS", len(node.rows("SHOW REPLICA STATUS")), 1)
    node.rows("STOP REPLICA")


def change_between_modes(chain):
    """By position, by GTID and back, under load; the place goes over."""
    chain.follow("position")
    chain.primary.script(LEDGER)
    with Writers(chain.primary, [*ALL, branch]) as writers:
        for mode in ("slave_pos", "no", "current_pos", "no", "slave_pos"):
            for node in chain.followers:
                time.sleep(0.15)
                node.rows("STOP SLAVE", f"CHANGE MASTER TO MASTER_USE_GTID={mode}", "START SLAVE")
                expected = {"slave_pos": "Slave_Pos", "no": "No", "current_pos": "Current_Pos"}[mode]
                report.same("Using_Gtid", node.status()["Using_Gtid"], expected)
            chain.primary.rows("FLUSH BINARY LOGS")
    settle(chain, writers, "modes")
    for node in chain.followers:
        node.rows("STOP SLAVE")
        state = node.status()
        place = f"MASTER_LOG_FILE='{state['Relay_Master_Log_File']}', MASTER_LOG_POS={state['Exec_Master_Log_Pos']}"
        node.rows(f"CHANGE MASTER TO {place}")
        report.same("Using_Gtid after a change of the place", node.status()["Using_Gtid"], "No")
        node.rows("START SLAVE")
    chain.primary.rows("INSERT INTO led.ledger VALUES (99, 1)")
    chain.catch_up()
    compare.same_everything(chain, "led")


@only(length=2)
def refused_while_running(chain):
    """What needs a stopped replica says so."""
    one_table(chain)
    node = chain.replica
    for text in ("CHANGE MASTER TO MASTER_CONNECT_RETRY=2", "RESET SLAVE", "RESET SLAVE ALL", "SET GLOBAL gtid_slave_pos='0-1-1'",
                 "SET GLOBAL replicate_do_db='x'", "SET GLOBAL sql_slave_skip_counter=1", "SET GLOBAL replicate_wild_ignore_table='x.%'"):
        report.same(f"{text} while it runs", node.failure(text), (1198, "This operation cannot be performed as you have a running slave ''; "
                                                                        "run STOP SLAVE '' first"))
    node.rows("STOP SLAVE IO_THREAD")
    report.same("CHANGE MASTER while the applier runs", node.error("CHANGE MASTER TO MASTER_CONNECT_RETRY=2"), 1198)
    node.rows("STOP SLAVE", "CHANGE MASTER TO MASTER_CONNECT_RETRY=2")
    report.same("Connect_Retry", node.status()["Connect_Retry"], 2)


@only(length=2)
def reset_slave(chain):
    """RESET SLAVE keeps the primary's address and what was applied; ALL forgets it."""
    one_table(chain)
    node = chain.replica
    chain.primary.rows("INSERT INTO d.t VALUES (1, 1)")
    chain.catch_up()
    applied = node.variable("gtid_slave_pos")
    node.rows("STOP SLAVE", "RESET SLAVE")
    state = node.status()
    report.same("what RESET SLAVE keeps", (state["Master_Host"], state["Master_User"], state["Master_Port"], state["Using_Gtid"], state["Connect_Retry"]),
                ("127.0.0.1", USER, chain.primary.port, "Slave_Pos", 1))
    report.same("what it forgets", (state["Master_Log_File"], state["Read_Master_Log_Pos"], state["Relay_Master_Log_File"], state["Exec_Master_Log_Pos"]),
                ("", 4, "", 0))
    report.same("gtid_slave_pos", node.variable("gtid_slave_pos"), applied)
    node.rows("START SLAVE")
    chain.primary.rows("INSERT INTO d.t VALUES (2, 2)")
    chain.catch_up()
    report.same("rows", count(node), 2)
    node.rows("STOP SLAVE", "RESET SLAVE ALL")
    report.same("SHOW SLAVE STATUS after ALL", node.status(), {})
    report.same("START SLAVE after ALL", node.failure("START SLAVE"),
                (1200, "Misconfigured slave: MASTER_HOST was not set; Fix in config file or with CHANGE MASTER TO"))
    report.same("gtid_slave_pos after ALL", gtids(node.variable("gtid_slave_pos")), gtids(chain.primary.variable("gtid_binlog_pos")))
    node.follow(chain.primary)
    chain.primary.rows("INSERT INTO d.t VALUES (3, 3)")
    chain.catch_up()
    report.same("rows", count(node), 3)


@only(length=2)
def until_position(chain):
    """START SLAVE UNTIL with a file and an offset of the primary's log."""
    one_table(chain, "position")
    node, primary = chain.replica, chain.primary
    node.rows("STOP SLAVE")
    primary.rows("INSERT INTO d.t VALUES (1, 1)")
    file, offset = primary.place()
    primary.rows("INSERT INTO d.t VALUES (2, 2)", "FLUSH BINARY LOGS", "INSERT INTO d.t VALUES (3, 3)")
    node.rows(f"START SLAVE UNTIL MASTER_LOG_FILE='{file}', MASTER_LOG_POS={offset}")
    until(lambda: node.status()["Slave_SQL_Running"] == "No", "the applier stops at its place")
    state = node.status()
    report.same("rows", node.rows("SELECT a FROM d.t"), [(1,)])
    report.same("the condition", (state["Until_Condition"], state["Until_Log_File"], state["Until_Log_Pos"]), ("Master", file, offset))
    report.same("the place", (state["Relay_Master_Log_File"], state["Exec_Master_Log_Pos"], state["Slave_IO_Running"]), (file, offset, "Yes"))
    report.same("an UNTIL without a file", node.error("START SLAVE UNTIL MASTER_LOG_POS=4"), 1277)
    node.rows("STOP SLAVE", f"START SLAVE UNTIL MASTER_LOG_FILE='{file}', MASTER_LOG_POS={offset + 1}")
    until(lambda: node.status()["Slave_SQL_Running"] == "No", "an offset inside a group stops after the group")
    report.same("rows", node.rows("SELECT a FROM d.t ORDER BY a"), [(1,), (2,)])
    node.rows("STOP SLAVE", "START SLAVE")
    report.same("the condition of a plain START", node.status()["Until_Condition"], "None")
    chain.catch_up()
    report.same("rows", count(node), 3)


@only(length=2)
def until_gtid(chain):
    """START SLAVE UNTIL with GTIDs."""
    one_table(chain)
    node, primary = chain.replica, chain.primary
    node.rows("STOP SLAVE")
    primary.rows("INSERT INTO d.t VALUES (1, 1)")
    target = primary.variable("gtid_binlog_pos")
    primary.rows("INSERT INTO d.t VALUES (2, 2)", "FLUSH BINARY LOGS", "INSERT INTO d.t VALUES (3, 3)")
    node.rows(f"START SLAVE UNTIL master_gtid_pos='{target}'")
    until(lambda: node.status()["Slave_SQL_Running"] == "No", "the applier stops at its GTID")
    state = node.status()
    report.same("rows", node.rows("SELECT a FROM d.t"), [(1,)])
    report.same("gtid_slave_pos", gtids(node.variable("gtid_slave_pos")), gtids(target))
    report.same("the condition", (state["Until_Condition"], state["Until_Log_File"], state["Until_Log_Pos"]), ("Gtid", "", 0))
    node.rows("STOP SLAVE", "START SLAVE")
    chain.catch_up()
    report.same("rows", count(node), 3)
    node.rows("STOP SLAVE", "CHANGE MASTER TO MASTER_USE_GTID=no")
    report.same("an UNTIL with GTIDs by position", node.error(f"START SLAVE UNTIL master_gtid_pos='{target}'"), 1949)


@only(length=2)
def delay(chain):
    """MASTER_DELAY keeps changes back for some seconds."""
    one_table(chain)
    node = chain.replica
    node.rows("STOP SLAVE", "CHANGE MASTER TO MASTER_DELAY=2", "START SLAVE")
    report.same("SQL_Delay", node.status()["SQL_Delay"], 2)
    begun = time.monotonic()
    chain.primary.rows("INSERT INTO d.t VALUES (1, 1)")
    state = until(lambda: (lambda now: now if now["SQL_Remaining_Delay"] is not None else None)(node.status()), "SQL_Remaining_Delay says something", 5)
    report.true("SQL_Remaining_Delay is 0 to 2", 0 <= state["SQL_Remaining_Delay"] <= 2, state["SQL_Remaining_Delay"])
    report.same("Slave_SQL_Running_State", state["Slave_SQL_Running_State"], "Waiting until MASTER_DELAY seconds after master executed event")
    report.true("the receiver goes on", state["Read_Master_Log_Pos"] == chain.primary.place()[1], state["Read_Master_Log_Pos"])
    until(lambda: count(node) == 1, "the row arrives", 10)
    took = time.monotonic() - begun
    report.true("the row comes after 1 to 4 s", 1 <= took <= 4, f"{took:.2f} s")
    chain.primary.rows("INSERT INTO d.t VALUES (2, 2)")
    begun = time.monotonic()
    node.rows("STOP SLAVE")
    report.true("STOP SLAVE does not wait for the delay", time.monotonic() - begun < 1.5, f"{time.monotonic() - begun:.2f} s")
    node.rows("CHANGE MASTER TO MASTER_DELAY=0", "START SLAVE")
    chain.catch_up()
    report.same("rows", count(node), 2)


def skip(chain, how):
    one_table(chain, how)
    node = chain.replica
    node.rows("SET sql_log_bin=0", "INSERT INTO d.t VALUES (1, 100)")
    chain.primary.rows("BEGIN", "INSERT INTO d.t VALUES (1, 1)", "INSERT INTO d.t VALUES (2, 2)", "COMMIT")
    chain.primary.rows("INSERT INTO d.t VALUES (3, 3)")
    sql_error(node, 1062)
    node.rows("SET GLOBAL sql_slave_skip_counter=1")
    report.same("Skip_Counter", node.status()["Skip_Counter"], 1)
    node.rows("START SLAVE")
    chain.catch_up()
    report.same("rows", node.rows("SELECT * FROM d.t ORDER BY a"), [(1, 100), (3, 3)])
    report.same("Skip_Counter after it", node.status()["Skip_Counter"], 0)
    report.same("sql_slave_skip_counter after it", node.variable("sql_slave_skip_counter"), 0)


@only(length=2)
def skip_counter_by_position(chain):
    """sql_slave_skip_counter passes over a whole group."""
    skip(chain, "position")


@only(length=2)
def skip_counter_by_gtid(chain):
    """The same, and gtid_slave_pos moves over the group."""
    skip(chain, "gtid")


def replica_restarted(chain):
    """Clean restarts of replicas under load; they go on by themselves."""
    for how in ("position", "gtid"):
        chain.clean()
        chain.follow(how)
        chain.primary.script(LEDGER)
        with Writers(chain.primary, [*ALL, branch]) as writers:
            for node in chain.followers:
                time.sleep(0.3)
                node.restart()
                running(node)
        settle(chain, writers, f"restart by {how}")
    node = chain.replica
    node.rows("STOP SLAVE")
    before = {name: value for name, value in node.status().items() if name in
              ("Master_Host", "Master_Port", "Master_User", "Using_Gtid", "Connect_Retry", "Exec_Master_Log_Pos", "Relay_Master_Log_File", "SQL_Delay")}
    node.restart(["--log-slave-updates=1", "--skip-slave-start"])
    state = node.status()
    report.same("the threads with skip_slave_start", (state["Slave_IO_Running"], state["Slave_SQL_Running"]), ("No", "No"))
    after = {name: state[name] for name in before}
    report.same("the status over a restart", after, before)
    chain.primary.rows("INSERT INTO led.ledger VALUES (77, 1)")
    node.rows("START SLAVE")
    chain.catch_up()


def primary_restarted(chain):
    """Clean restarts of the primary: replicas connect again."""
    chain.follow("position")
    chain.primary.script(LEDGER)
    with Writers(chain.primary, [*ALL, branch]) as writers:
        time.sleep(0.4)
        chain.primary.stop()
        node = chain.replica
        until(lambda: node.status()["Slave_IO_Running"] != "Yes", "the replica sees the end of the primary")
        state = until(lambda: (lambda now: now if now["Last_IO_Errno"] else None)(node.status()), "the receiver says why it cannot connect")
        report.same("the state without a primary", (state["Slave_IO_Running"], state["Slave_SQL_Running"], state["Last_IO_Errno"]), ("Connecting", "Yes", 2003))
        report.holds("Last_IO_Error", state["Last_IO_Error"], f"error reconnecting to master '{USER}@127.0.0.1:{chain.primary.port}' - retry-time: 1")
        chain.primary.start()
        running(node)
        time.sleep(0.2)
        node.rows("STOP SLAVE", "CHANGE MASTER TO MASTER_USE_GTID=slave_pos", "START SLAVE")
        chain.primary.restart()
        running(node)
        time.sleep(0.2)
    report.same("errors after the restart", (node.status()["Last_IO_Errno"], node.status()["Last_IO_Error"]), (0, ""))
    settle(chain, writers, "restarts of the primary")


def several_files(chain):
    """Files of the primary begin and end while the replica is away; applied ones may be purged."""
    for how in ("gtid", "position"):
        chain.clean()
        one_table(chain, how)
        chain.stop()
        primary = chain.primary
        primary.rows("INSERT INTO d.t VALUES (1, 1)", "FLUSH BINARY LOGS", "FLUSH BINARY LOGS", "INSERT INTO d.t VALUES (2, 2)", "FLUSH BINARY LOGS",
                     "SET gtid_domain_id=7", "INSERT INTO d.t VALUES (3, 3)", "FLUSH BINARY LOGS")
        chain.start()
        chain.catch_up()
        primary.rows("SET GLOBAL max_binlog_size=4096")
        for number in range(60):
            primary.rows(f"INSERT INTO d.t VALUES ({number + 100}, {number})")
        chain.catch_up()
        primary.rows(f"PURGE BINARY LOGS TO '{primary.place()[0]}'", "INSERT INTO d.t VALUES (5, 5)")
        chain.catch_up()
        chain.restart_replication()
        compare.same_everything(chain, "d")


@only(length=2)
def waiting_functions(chain):
    """MASTER_GTID_WAIT and MASTER_POS_WAIT."""
    one_table(chain, "position")
    node, primary = chain.replica, chain.primary
    file, offset = primary.place()
    target = primary.variable("gtid_binlog_pos")
    domain, server, number = target.split("-")
    for text, expected in ((f"MASTER_GTID_WAIT('{target}', 5)", 0), (f"MASTER_GTID_WAIT('{domain}-{server}-{int(number) + 5}', 0.2)", -1),
                           ("MASTER_GTID_WAIT('')", 0), ("MASTER_GTID_WAIT(NULL)", None), (f"MASTER_POS_WAIT('{file}', {offset}, 5)", 0),
                           (f"MASTER_POS_WAIT('{file}', {offset + 5000}, 1)", -1), ("MASTER_POS_WAIT(NULL, 4)", None),
                           (f"MASTER_POS_WAIT('{file}', 4, 1, 'nobody')", None)):
        report.same(text, node.value(f"SELECT {text}"), expected)
    node.rows("STOP SLAVE SQL_THREAD")
    report.same("MASTER_POS_WAIT without an applier", node.value(f"SELECT MASTER_POS_WAIT('{file}', {offset + 5000}, 2)"), None)
    primary.rows("INSERT INTO d.t VALUES (1, 1)")
    file, offset = primary.place()
    node.rows("START SLAVE SQL_THREAD")
    report.true("MASTER_POS_WAIT counts events", (node.value(f"SELECT MASTER_POS_WAIT('{file}', {offset}, 20)") or 0) >= 0)
    report.same("rows after the wait", count(node), 1)


@only(length=2)
def set_gtid_slave_pos(chain):
    """A replica begins where gtid_slave_pos says."""
    primary, node = chain.primary, chain.replica
    primary.rows(*TABLE)
    start = primary.variable("gtid_binlog_pos")
    primary.rows("INSERT INTO d.t VALUES (1, 1)")
    node.rows("SET sql_log_bin=0", *TABLE)
    node.rows(f"SET GLOBAL gtid_slave_pos='{start}'")
    if node.kind == "M":
        report.same("mysql.gtid_slave_pos", [row[:] for row in node.rows("SELECT domain_id, server_id, seq_no FROM mysql.gtid_slave_pos")],
                    [(0, primary.number, int(start.split("-")[2]))])
    for text, number in (("'x'", 1941), ("'0-1'", 1941), ("'0-1-1,0-2-5'", 1943)):
        report.same(f"gtid_slave_pos={text}", node.error(f"SET GLOBAL gtid_slave_pos={text}"), number)
    node.follow(primary)
    wait(primary, node, gtids(primary.variable("gtid_binlog_pos")))
    report.same("rows", node.rows("SELECT * FROM d.t"), [(1, 1)])
    node.restart()
    report.same("gtid_slave_pos after a restart", gtids(node.variable("gtid_slave_pos")), gtids(primary.variable("gtid_binlog_pos")))


@only(length=2)
def relay_log(chain):
    """Relay files: their events, their rotation and purge, and mariadb-binlog, which reads them."""
    one_table(chain, "position")
    node, primary = chain.replica, chain.primary
    node.rows("STOP SLAVE SQL_THREAD")
    primary.rows("INSERT INTO d.t VALUES (41, 1)", "FLUSH BINARY LOGS", "INSERT INTO d.t VALUES (42, 2)")
    until(lambda: node.status()["Master_Log_File"] == primary.place()[0] and node.status()["Read_Master_Log_Pos"] == primary.place()[1], "all is received")
    node.rows("FLUSH RELAY LOGS")
    state = node.status()
    kinds = [row[2] for row in node.rows(f"SHOW RELAYLOG EVENTS IN '{state['Relay_Log_File']}'")]
    report.true("SHOW RELAYLOG EVENTS has the events", kinds[:1] == ["Format_desc"] and "Write_rows_v1" in kinds and "Gtid" in kinds, kinds)
    files = sorted(path for path in node.relay_files() if path.rsplit(".", 1)[-1].isdigit())
    report.true("there are relay files", len(files) >= 2, files)
    run = subprocess.run(["mariadb-binlog", "--no-defaults", "-vv", *files], capture_output=True, check=False, timeout=30)
    text = run.stdout.decode(errors="replace")
    report.true("mariadb-binlog reads the relay files", run.returncode == 0 and "@1=41" in text and "@1=42" in text, run.stderr.decode()[-300:] or text[-300:])
    report.true("Relay_Log_Space is about what the files have", abs(state["Relay_Log_Space"] - sum(map(os.path.getsize, files))) < 2000,
                f"{state['Relay_Log_Space']} and {sum(map(os.path.getsize, files))}")
    node.rows("START SLAVE SQL_THREAD")
    chain.catch_up()
    primary.rows("INSERT INTO d.t VALUES (43, 3)")
    chain.catch_up()
    node.rows("STOP SLAVE", "SET GLOBAL max_relay_log_size=4096", "START SLAVE")
    for number in range(80):
        primary.rows(f"INSERT INTO d.t VALUES ({number + 100}, {number})")
    chain.catch_up()

    def few():
        return len([path for path in node.relay_files() if path.rsplit(".", 1)[-1].isdigit()]) <= 4
    until(few, "applied relay files are purged")
    report.same("rows", count(node), 83)


def applier_session(node):
    return node.value("SELECT id FROM information_schema.processlist WHERE command = 'Slave_SQL'")


def kill_idle_applier(chain):
    """KILL of an applier that has nothing to do ends it, and is no error."""
    one_table(chain)
    node = chain.replica
    for kill in ("KILL", "KILL QUERY"):
        time.sleep(0.3)
        node.rows(f"{kill} {applier_session(node)}")
        state = until(lambda: (lambda state: state if state["Slave_SQL_Running"] == "No" else None)(node.status()), f"{kill} ends the applier", 3)
        report.same(f"the error after {kill}", (state["Last_SQL_Errno"], state["Slave_IO_Running"]), (0, "Yes"))
        node.rows("START SLAVE")
        chain.primary.rows(f"INSERT INTO d.t VALUES ({len(kill)}, 1)")
        chain.catch_up()


def waiting_applier(chain, lock):
    """A session of the replica that holds a lock, for which the applier waits."""
    one_table(chain)
    holder = chain.replica.connect()
    cursor = holder.cursor()
    for text in lock:
        cursor.execute(text)
    chain.primary.rows("INSERT INTO d.t VALUES (1, 1)")
    until(lambda: chain.replica.status()["Read_Master_Log_Pos"] == chain.primary.place()[1], "all is received")
    time.sleep(0.7)
    report.same("the applier waits", count(chain.replica), 0)
    return holder, cursor


@only(replica="S", length=2)
def stop_while_locked(chain):
    """STOP SLAVE waits for an applier that waits for a lock: not in the session that has it, and it can be killed."""
    for lock, number in ((["FLUSH TABLES WITH READ LOCK"], 1192), (["LOCK TABLES d.t READ"], 1192)):
        chain.clean()
        holder, cursor = waiting_applier(chain, lock)
        try:
            cursor.execute("STOP SLAVE")
            report.true(f"STOP SLAVE under {lock} fails", False)
        except pymysql.MySQLError as error:
            report.same(f"STOP SLAVE under {lock}", error.args[0], number)
        ended = []
        threads = [threading.Thread(target=lambda text=text: ended.append(chain.replica.error(text))) for text in ("STOP SLAVE", "START SLAVE")]
        for thread in threads:
            thread.start()
            time.sleep(0.3)
        report.same("statements that have ended", ended, [])
        for (session,) in chain.replica.rows("SELECT id FROM information_schema.processlist WHERE info IN ('STOP SLAVE', 'START SLAVE') ORDER BY info"):
            chain.replica.rows(f"KILL QUERY {session}")
        for thread in threads:
            thread.join(5)
        report.same("errors of killed statements", ended, [1317, 1317])
        cursor.execute("UNLOCK TABLES")
        holder.close()
        until(lambda: chain.replica.status()["Slave_SQL_Running"] == "No", "the applier ends once it can")
        chain.replica.rows("START SLAVE")
        chain.catch_up()


@only(replica="S", length=2)
def shutdown_while_locked(chain):
    """A shutdown does not wait for an applier that waits for a client's lock."""
    holder, _ = waiting_applier(chain, ["LOCK TABLES d.t READ"])
    begun = time.monotonic()
    chain.replica.stop()
    report.true("the server ends soon", time.monotonic() - begun < 15, time.monotonic() - begun)
    holder.close()
    chain.replica.start()
    running(chain.replica)
    chain.catch_up()
    report.same("rows", count(chain.replica), 1)


@only(length=2)
def skip_counter_refused(chain):
    """Groups of several domains in parallel have no order to count in."""
    one_table(chain)
    chain.primary.rows("SET gtid_domain_id=7", "INSERT INTO d.t VALUES (1, 1)")
    chain.catch_up()
    node = chain.replica
    node.rows("STOP SLAVE", "SET GLOBAL slave_parallel_threads=2")
    report.same("several domains", node.error("SET GLOBAL sql_slave_skip_counter=1"), 1966)
    node.rows("SET GLOBAL sql_slave_skip_counter=0", "SET GLOBAL slave_parallel_threads=0", "SET GLOBAL sql_slave_skip_counter=1",
              "SET GLOBAL sql_slave_skip_counter=0")
