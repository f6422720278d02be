"""Errors that stop a replica, with MariaDB's numbers and texts, and what makes it go on."""

import re

from . import report
from .chain import io_error, only, running, sql_error, two, variable
from .nodes import gtids, until

# One replica is looked at.
WANTS = two
CHECKS = ["duplicate_key", "missing_row", "idempotent", "idempotent_definitions", "skip_errors", "conversions", "missing_table", "errors_differ",
          "equal_server_ids", "wrong_password", "no_privilege", "purged_log", "position_past_the_end", "unknown_file", "unknown_gtid", "damaged_event",
          "status_columns", "unknown_connection"]
COLUMNS = """Slave_IO_State Master_Host Master_User Master_Port Connect_Retry Master_Log_File Read_Master_Log_Pos Relay_Log_File Relay_Log_Pos
Relay_Master_Log_File Slave_IO_Running Slave_SQL_Running Replicate_Do_DB Replicate_Ignore_DB Replicate_Do_Table Replicate_Ignore_Table
Replicate_Wild_Do_Table Replicate_Wild_Ignore_Table Last_Errno Last_Error Skip_Counter Exec_Master_Log_Pos Relay_Log_Space Until_Condition
Until_Log_File Until_Log_Pos Master_SSL_Allowed Master_SSL_CA_File Master_SSL_CA_Path Master_SSL_Cert Master_SSL_Cipher Master_SSL_Key
Seconds_Behind_Master Master_SSL_Verify_Server_Cert Last_IO_Errno Last_IO_Error Last_SQL_Errno Last_SQL_Error Replicate_Ignore_Server_Ids
Master_Server_Id Master_SSL_Crl Master_SSL_Crlpath Using_Gtid Gtid_IO_Pos Replicate_Do_Domain_Ids Replicate_Ignore_Domain_Ids Parallel_Mode
SQL_Delay SQL_Remaining_Delay Slave_SQL_Running_State Slave_DDL_Groups Slave_Non_Transactional_Groups Slave_Transactional_Groups
Replicate_Rewrite_DB""".split()
BEFORE, BEHIND = ["Connection_name", "Slave_SQL_State"], ["Retried_transactions", "Max_relay_log_size", "Executed_log_entries",
                                                         "Slave_received_heartbeats", "Slave_heartbeat_period", "Gtid_Slave_Pos"]


def tables(chain, how="gtid"):
    chain.follow(how)
    chain.primary.rows("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY, b VARCHAR(20), UNIQUE KEY u (b))", "CREATE TABLE d.nk (a INT, b INT)",
                       "INSERT INTO d.t VALUES (1, 'a'), (2, 'b'), (3, 'c')", "INSERT INTO d.nk VALUES (1, 1), (2, 2)")
    chain.catch_up()


def quietly(node, *texts):
    node.rows("SET sql_log_bin=0", *texts)


def ends(chain, text):
    """The text of an error of rows, with the place where the event ends."""
    return rf"{re.escape(text)}; the event's master log {re.escape(chain.primary.place()[0])}, end_log_pos \d+"


def matches(what, got, pattern):
    report.true(f"{what} is {pattern}", re.fullmatch(pattern, got or "", re.S), got)


def stays(node, before):
    """After an error the position is that before the group."""
    report.same("gtid_slave_pos", gtids(node.variable("gtid_slave_pos")), gtids(before))


def duplicate_key(chain):
    """A row that is there already: 1062; nothing of the group stays."""
    for how in ("gtid", "position"):
        chain.clean()
        tables(chain, how)
        node = chain.replica
        quietly(node, "INSERT INTO d.t VALUES (10, 'own')")
        before = node.variable("gtid_slave_pos")
        chain.primary.rows("BEGIN", "INSERT INTO d.t VALUES (9, 'nine')", "INSERT INTO d.t VALUES (10, 'ten')", "COMMIT")
        state = sql_error(node, 1062)
        matches("Last_SQL_Error", state["Last_SQL_Error"], ends(chain, "Could not execute Write_rows_v1 event on table d.t; Duplicate entry '10' for key "
                                                                       "'PRIMARY', Error_code: 1062; handler error HA_ERR_FOUND_DUPP_KEY"))
        report.same("the receiver", state["Slave_IO_Running"], "Yes")
        report.same("rows of the group", node.rows("SELECT * FROM d.t WHERE a IN (9, 10)"), [(10, "own")])
        stays(node, before)
        report.same("the error after START SLAVE, which meets it again", (node.rows("START SLAVE"), sql_error(node, 1062)["Last_SQL_Errno"])[1], 1062)
        quietly(node, "DELETE FROM d.t WHERE a = 10")
        node.rows("START SLAVE")
        chain.catch_up()
        state = node.status()
        report.same("the error when it is over", (state["Last_SQL_Errno"], state["Last_SQL_Error"], state["Last_Errno"]), (0, "", 0))
    quietly(node, "INSERT INTO d.t VALUES (20, 'q')")
    chain.primary.rows("UPDATE d.t SET b = 'q' WHERE a = 1")
    state = sql_error(node, 1062)
    matches("Last_SQL_Error of a second key", state["Last_SQL_Error"], ends(chain, "Could not execute Update_rows_v1 event on table d.t; Duplicate entry 'q' for "
                                                                                   "key 'u', Error_code: 1062; handler error HA_ERR_FOUND_DUPP_KEY"))


def missing_row(chain):
    """A row that is not there: 1032, with and without a key."""
    tables(chain)
    node = chain.replica
    quietly(node, "DELETE FROM d.t WHERE a = 2", "DELETE FROM d.nk WHERE a = 2")
    for text, event, table in (("DELETE FROM d.t WHERE a = 2", "Delete_rows_v1", "t"), ("UPDATE d.nk SET b = 9 WHERE a = 2", "Update_rows_v1", "nk"),
                               ("DELETE FROM d.nk WHERE a = 2", "Delete_rows_v1", "nk")):
        before = node.variable("gtid_slave_pos")
        chain.primary.rows(text)
        state = sql_error(node, 1032)
        handler = "HA_ERR_KEY_NOT_FOUND" if table == "t" else "HA_ERR_END_OF_FILE"
        matches("Last_SQL_Error", state["Last_SQL_Error"], ends(chain, f"Could not execute {event} event on table d.{table}; Can't find record in '{table}', "
                                                                       f"Error_code: 1032; handler error {handler}"))
        stays(node, before)
        node.rows("SET GLOBAL sql_slave_skip_counter=1", "START SLAVE")
        chain.catch_up()
    report.same("rows", (node.rows("SELECT a FROM d.t ORDER BY a"), node.rows("SELECT a, b FROM d.nk")), ([(1,), (3,)], [(1, 1)]))


def idempotent(chain):
    """slave_exec_mode=IDEMPOTENT: rows that are there are replaced, missing ones passed over."""
    tables(chain)
    node = chain.replica
    quietly(node, "INSERT INTO d.t VALUES (10, 'own')", "DELETE FROM d.t WHERE a IN (2, 3)", "INSERT INTO d.t VALUES (30, 'other')")
    node.rows("STOP SLAVE", "SET GLOBAL slave_exec_mode='IDEMPOTENT'", "START SLAVE")
    chain.primary.rows("INSERT INTO d.t VALUES (10, 'ten'), (11, 'eleven')", "DELETE FROM d.t WHERE a = 2", "UPDATE d.t SET b = 'cc' WHERE a = 3",
                       "INSERT INTO d.t VALUES (12, 'other')", "INSERT INTO d.t VALUES (13, 'last')")
    chain.catch_up()
    report.same("rows", node.rows("SELECT * FROM d.t ORDER BY a"), [(1, "a"), (10, "ten"), (11, "eleven"), (12, "other"), (13, "last")])


def idempotent_definitions(chain):
    """slave_ddl_exec_mode: CREATE TABLE replaces, DROP TABLE of nothing passes; STRICT stops."""
    tables(chain)
    node = chain.replica
    quietly(node, "CREATE TABLE d.u (own INT)", "DROP TABLE d.nk")
    chain.primary.rows("CREATE TABLE d.u (a INT)", "DROP TABLE d.nk")
    chain.catch_up()
    report.same("columns", [row[0] for row in node.rows("SHOW COLUMNS FROM d.u")], ["a"])
    node.rows("STOP SLAVE", "SET GLOBAL slave_ddl_exec_mode='STRICT'", "START SLAVE")
    quietly(node, "CREATE TABLE d.w (own INT)")
    chain.primary.rows("CREATE TABLE d.w (a INT)")
    state = sql_error(node, 1050)
    report.same("Last_SQL_Error", state["Last_SQL_Error"], "Error 'Table 'w' already exists' on query. Default database: ''. Query: 'CREATE TABLE d.w (a INT)'")


def skip_errors(chain):
    """slave_skip_errors passes over the errors in its list, and counts them."""
    tables(chain)
    node = chain.replica
    node.restart(["--log-slave-updates=1", "--slave-skip-errors=1062,1032"])
    running(node)
    report.same("slave_skip_errors", node.variable("slave_skip_errors"), "1032,1062")
    quietly(node, "INSERT INTO d.t VALUES (10, 'own')", "DELETE FROM d.t WHERE a = 2")
    chain.primary.rows("INSERT INTO d.t VALUES (10, 'ten')", "DELETE FROM d.t WHERE a = 2", "INSERT INTO d.t VALUES (11, 'eleven')")
    chain.catch_up()
    report.same("rows", node.rows("SELECT a, b FROM d.t ORDER BY a"), [(1, "a"), (3, "c"), (10, "own"), (11, "eleven")])
    report.same("Slave_skipped_errors", node.rows("SHOW GLOBAL STATUS LIKE 'Slave_skipped_errors'"), [("Slave_skipped_errors", "2")])
    quietly(node, "DROP TABLE d.nk")
    chain.primary.rows("INSERT INTO d.nk VALUES (1, 1)")
    sql_error(node, 1146)


CONVERSIONS = [
    # Column on the primary, on the replica, value, what it becomes, slave_type_conversions that it needs.
    ("INT", "BIGINT", "-5", -5, "ALL_NON_LOSSY"), ("INT", "TINYINT", "1000", 127, "ALL_LOSSY"), ("VARCHAR(10)", "VARCHAR(40)", "'abc'", "abc", "ALL_NON_LOSSY"),
    ("VARCHAR(40)", "VARCHAR(3)", "'abcdef'", "abc", "ALL_LOSSY"), ("CHAR(5)", "VARCHAR(20)", "'ab'", "ab", "ALL_NON_LOSSY"),
    ("DECIMAL(5,2)", "DECIMAL(10,4)", "1.25", "1.2500", "ALL_NON_LOSSY"), ("DECIMAL(10,4)", "DECIMAL(5,1)", "1.25", "1.3", "ALL_LOSSY"),
    ("DOUBLE", "FLOAT", "1.5", 1.5, "ALL_LOSSY"), ("FLOAT", "DOUBLE", "1.5", 1.5, "ALL_NON_LOSSY"), ("TINYTEXT", "LONGTEXT", "'t'", "t", "ALL_NON_LOSSY"),
    ("BIT(5)", "BIT(12)", "b'10101'", 21, "ALL_NON_LOSSY"),
    ("SMALLINT UNSIGNED", "INT UNSIGNED", "60000", 60000, "ALL_NON_LOSSY,ALL_LOSSY"), ("ENUM('a','b')", "ENUM('a','b','c')", "'b'", "b", "ALL_NON_LOSSY"),
]


def conversions(chain):
    """Columns of other types: 1677 without slave_type_conversions, and what conversions make of values."""
    chain.follow()
    primary, node = chain.primary, chain.replica
    primary.rows("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY, b INT)")
    chain.catch_up()
    quietly(node, "ALTER TABLE d.t MODIFY b TINYINT")
    primary.rows("INSERT INTO d.t VALUES (1, 1000)")
    state = sql_error(node, 1677)
    report.same("Last_SQL_Error", state["Last_SQL_Error"], "Column 1 of table 'd.t' cannot be converted from type 'int' to type 'tinyint(4)'")
    report.same("a conversion that 10.11 does not know", node.error("SET GLOBAL slave_type_conversions='ALL_UNSIGNED'"), 1231)
    node.rows("SET GLOBAL slave_type_conversions='ALL_LOSSY'", "START SLAVE")
    chain.catch_up()
    report.same("rows", node.rows("SELECT * FROM d.t"), [(1, 127)])
    for number, (theirs, mine, value, expected, rule) in enumerate(CONVERSIONS):
        primary.rows(f"CREATE TABLE d.c{number} (a INT PRIMARY KEY, b {theirs})")
        chain.catch_up()
        quietly(node, f"ALTER TABLE d.c{number} MODIFY b {mine}")
        node.rows("STOP SLAVE", f"SET GLOBAL slave_type_conversions='{rule}'", "START SLAVE")
        primary.rows(f"INSERT INTO d.c{number} VALUES (1, {value})")
        try:
            chain.catch_up()
            shown = "b + 0" if mine.startswith("BIT") else "CAST(b AS CHAR)" if isinstance(expected, str) else "b"
            report.same(f"{theirs} to {mine} with {rule}", node.value(f"SELECT {shown} FROM d.c{number}"), expected)
        except report.Failed as error:
            report.current.line(f"{theirs} to {mine} with {rule}: {error}")
            node.rows("STOP SLAVE", f"DROP TABLE IF EXISTS d.c{number}", "SET GLOBAL sql_slave_skip_counter=1", "START SLAVE")


def missing_table(chain):
    """A table that is not there: 1146, for rows and for a statement."""
    tables(chain)
    node = chain.replica
    quietly(node, "DROP TABLE d.nk", "CREATE VIEW d.seen AS SELECT 1")
    chain.primary.rows("INSERT INTO d.nk VALUES (3, 3)")
    state = sql_error(node, 1146)
    report.same("Last_SQL_Error", state["Last_SQL_Error"], "Error executing row event: 'Table 'd.nk' doesn't exist'")
    quietly(node, "CREATE TABLE d.nk (a INT, b INT)")
    node.rows("START SLAVE")
    chain.catch_up()
    report.same("rows", node.rows("SELECT * FROM d.nk"), [(3, 3)])
    quietly(node, "DROP TABLE d.nk")
    chain.primary.rows("ALTER TABLE d.nk ADD c INT")
    state = sql_error(node, 1146)
    report.same("Last_SQL_Error", state["Last_SQL_Error"], "Error 'Table 'd.nk' doesn't exist' on query. Default database: ''. Query: 'ALTER TABLE d.nk ADD c INT'")


@only(primary="M")
def errors_differ(chain):
    """A statement that fails in another way than on the primary."""
    tables(chain)
    node = chain.replica
    chain.primary.rows("CREATE TABLE d.my (a INT PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO d.my VALUES (5)")
    chain.catch_up()
    chain.primary.error("SET binlog_format=STATEMENT", "INSERT INTO d.my VALUES (1), (2), (5), (6)")
    chain.catch_up()
    report.same("rows of a statement that failed alike", node.rows("SELECT a FROM d.my ORDER BY a"), [(1,), (2,), (5,)])
    quietly(node, "DELETE FROM d.my WHERE a = 5")
    chain.primary.error("SET binlog_format=STATEMENT", "INSERT INTO d.my VALUES (3), (5)")
    state = until(lambda: (lambda now: now if now["Slave_SQL_Running"] == "No" else None)(node.status()), "the applier stops")
    report.holds("Last_SQL_Error", state["Last_SQL_Error"], "Query caused different errors on master and slave.")


def equal_server_ids(chain):
    """A primary with the replica's own number: 1593."""
    node = chain.replica
    number = node.number
    node.rows(f"SET GLOBAL server_id={chain.primary.number}")
    try:
        node.follow(chain.primary)
        state = io_error(node, 1593)
        report.same("Last_IO_Error", state["Last_IO_Error"], "Fatal error: The slave I/O thread stops because master and slave have equal MariaDB server ids; these "
                    "ids must be different for replication to work (or the --replicate-same-server-id option must be used on slave but this does not always make "
                    "sense; please check the manual before using it).")
        report.same("Slave_IO_Running", state["Slave_IO_Running"], "No")
    finally:
        node.rows(f"SET GLOBAL server_id={number}")


def wrong_password(chain):
    """A wrong password: the receiver tries again, and connects when it is right."""
    node = chain.replica
    node.follow(chain.primary, start=False)
    node.rows("CHANGE MASTER TO MASTER_PASSWORD='wrong'", "START SLAVE")
    state = io_error(node, 1045)
    report.same("the threads", (state["Slave_IO_Running"], state["Slave_SQL_Running"], state["Slave_IO_State"]), ("Connecting", "Yes", "Connecting to master"))
    matches("Last_IO_Error", state["Last_IO_Error"], rf"error connecting to master 'repl@127.0.0.1:{chain.primary.port}' - retry-time: 1  maximum-retries: 100000  "
            r"message: Access denied for user 'repl'@'(localhost|127.0.0.1)' \(using password: YES\)")
    chain.primary.rows("SET sql_log_bin=0", "SET PASSWORD FOR repl@'%' = PASSWORD('wrong')")
    running(node)
    report.same("the error when it is connected", node.status()["Last_IO_Errno"], 0)


def no_privilege(chain):
    """An account without REPLICATION SLAVE."""
    chain.primary.rows("SET sql_log_bin=0", "CREATE USER weak@'%'")
    node = chain.replica
    node.follow(chain.primary, start=False)
    node.rows("CHANGE MASTER TO MASTER_USER='weak', MASTER_PASSWORD=''", "START SLAVE")
    state = until(lambda: (lambda now: now if now["Last_IO_Errno"] else None)(node.status()), "the receiver has an error")
    report.same("Last_IO_Errno", state["Last_IO_Errno"], 1597)
    report.holds("Last_IO_Error", state["Last_IO_Error"], "Access denied")


def purged_log(chain):
    """Files that the replica needs are purged: 1236, by GTID and by position."""
    tables(chain)
    node, primary = chain.replica, chain.primary
    node.rows("STOP SLAVE")
    until(lambda: not any("Binlog Dump" in str(row) for row in primary.rows("SHOW PROCESSLIST")), "the dump ends behind the replica")
    file, offset = primary.place()
    primary.rows("INSERT INTO d.t VALUES (50, 'x')", "FLUSH BINARY LOGS", "INSERT INTO d.t VALUES (51, 'y')", "FLUSH BINARY LOGS",
                 "INSERT INTO d.t VALUES (52, 'z')")
    # A file is kept while recovery may need it.
    until(lambda: (primary.rows(f"PURGE BINARY LOGS TO '{primary.place()[0]}'"), len(primary.rows("SHOW BINARY LOGS")) == 1)[1], "the files are purged")
    node.rows("START SLAVE")
    state = io_error(node, 1236)
    report.same("Last_IO_Error", state["Last_IO_Error"], "Got fatal error 1236 from master when reading data from binary log: 'Could not find GTID state requested by "
                "slave in any binlog files. Probably the slave state is too old and required binlog files have been purged.'")
    report.same("the threads", (state["Slave_IO_Running"], state["Slave_SQL_Running"]), ("No", "Yes"))
    node.rows("STOP SLAVE", f"CHANGE MASTER TO MASTER_LOG_FILE='{file}', MASTER_LOG_POS={offset}", "START SLAVE")
    state = io_error(node, 1236)
    report.same("Last_IO_Error by position", state["Last_IO_Error"], "Got fatal error 1236 from master when reading data from binary log: 'Could not find first log "
                "file name in binary log index file'")


def position_past_the_end(chain):
    """An offset behind the end of the log: 1236."""
    tables(chain, "position")
    node = chain.replica
    file, _ = chain.primary.place()
    node.rows("STOP SLAVE", f"CHANGE MASTER TO MASTER_LOG_FILE='{file}', MASTER_LOG_POS=999999", "START SLAVE")
    state = io_error(node, 1236)
    report.holds("Last_IO_Error", state["Last_IO_Error"], f"Got fatal error 1236 from master when reading data from binary log: 'Client requested master to start "
                 f"replication from impossible position; the first event '{file}' at 999999")


def unknown_file(chain):
    """A file that the primary never had: 1236."""
    tables(chain, "position")
    node = chain.replica
    node.rows("STOP SLAVE", "CHANGE MASTER TO MASTER_LOG_FILE='nothing.000001', MASTER_LOG_POS=4", "START SLAVE")
    state = io_error(node, 1236)
    report.holds("Last_IO_Error", state["Last_IO_Error"], "Could not find first log file name in binary log index file")


def unknown_gtid(chain):
    """A GTID that the primary never had: 1236."""
    tables(chain)
    node = chain.replica
    node.rows("STOP SLAVE", "SET GLOBAL gtid_slave_pos='0-99-1000'", "START SLAVE")
    state = io_error(node, 1236)
    report.holds("Last_IO_Error", state["Last_IO_Error"], "Got fatal error 1236 from master when reading data from binary log: 'Error: connecting slave requested to "
                 "start from GTID 0-99-1000, which is not in the master's binlog")
    node.rows("STOP SLAVE", f"SET GLOBAL gtid_slave_pos='{chain.primary.variable('gtid_binlog_pos')}'", "START SLAVE")
    chain.primary.rows("INSERT INTO d.t VALUES (60, 'sixty')")
    chain.catch_up()


def damaged_event(chain):
    """A byte of a relay file is damaged: the applier stops before the event, and a new start fetches it again."""
    tables(chain, "position")
    node = chain.replica
    node.rows("STOP SLAVE SQL_THREAD")
    chain.primary.rows("INSERT INTO d.t VALUES (70, 'damaged here')", "INSERT INTO d.t VALUES (71, 'more')")
    until(lambda: node.status()["Read_Master_Log_Pos"] == chain.primary.place()[1], "all is received")
    node.rows("FLUSH RELAY LOGS", "STOP SLAVE IO_THREAD")
    found = 0
    for path in node.relay_files():
        with open(path, "rb") as file:
            whole = file.read()
        if b"damaged here" in whole:
            found += 1
            with open(path, "r+b") as file:
                file.seek(whole.rindex(b"damaged here"))
                file.write(b"dAmaged")
    report.true("the event is in a relay file", found == 1, found)
    node.rows("START SLAVE SQL_THREAD")
    state = until(lambda: (lambda now: now if now["Last_SQL_Errno"] else None)(node.status()), "the applier stops with an error")
    report.true("Last_SQL_Errno is 1594 or 1744", state["Last_SQL_Errno"] in (1594, 1744), state["Last_SQL_Errno"])
    report.same("rows", node.value("SELECT COUNT(*) FROM d.t WHERE a >= 70"), 0)
    node.rows("STOP SLAVE", "CHANGE MASTER TO MASTER_USE_GTID=slave_pos", "START SLAVE")
    chain.catch_up()
    report.same("rows when fetched again", node.rows("SELECT b FROM d.t WHERE a = 70"), [("damaged here",)])


def status_columns(chain):
    """The columns of SHOW SLAVE STATUS and SHOW ALL SLAVES STATUS, and the values that never change."""
    node, primary = chain.replica, chain.primary
    node.follow(primary, start=False)
    groups = ("Slave_DDL_Groups", "Slave_Non_Transactional_Groups", "Slave_Transactional_Groups")
    before = node.status()
    node.rows("RESET SLAVE ALL")
    tables(chain)
    state = node.status()
    report.same("DDL, other and transactional groups", [state[name] - before[name] for name in groups], [3, 0, 2])
    report.same("columns of SHOW SLAVE STATUS", list(state), COLUMNS)
    connection = node.connect()
    with connection, connection.cursor() as cursor:
        cursor.execute("SHOW ALL SLAVES STATUS")
        report.same("columns of SHOW ALL SLAVES STATUS", [column[0] for column in cursor.description], BEFORE + COLUMNS + BEHIND)
        all_ = dict(zip((column[0] for column in cursor.description), cursor.fetchone()))
    expected = {"Slave_IO_State": "Waiting for master to send event", "Master_Host": "127.0.0.1", "Master_User": "repl", "Master_Port": primary.port,
                "Connect_Retry": 1, "Slave_IO_Running": "Yes", "Slave_SQL_Running": "Yes", "Replicate_Do_DB": "", "Last_Errno": 0, "Last_Error": "",
                "Skip_Counter": 0, "Until_Condition": "None", "Until_Log_File": "", "Until_Log_Pos": 0, "Master_SSL_Allowed": "No", "Seconds_Behind_Master": 0,
                "Master_SSL_Verify_Server_Cert": "No", "Replicate_Ignore_Server_Ids": "", "Master_Server_Id": primary.number, "Using_Gtid": "Slave_Pos",
                "Replicate_Do_Domain_Ids": "", "Replicate_Ignore_Domain_Ids": "", "Parallel_Mode": "optimistic", "SQL_Delay": 0, "SQL_Remaining_Delay": None,
                "Slave_SQL_Running_State": "Slave has read all relay log; waiting for more updates", "Replicate_Rewrite_DB": "", "Gtid_IO_Pos": primary.variable("gtid_binlog_pos")}
    for name, value in expected.items():
        report.same(f"{name} of SHOW SLAVE STATUS", state.get(name), value)
    behind = {"Connection_name": "", "Slave_SQL_State": "Slave has read all relay log; waiting for more updates", "Retried_transactions": 0,
              "Max_relay_log_size": 1073741824, "Slave_heartbeat_period": 1.0, "Gtid_Slave_Pos": primary.variable("gtid_binlog_pos")}
    for name, value in behind.items():
        report.same(f"{name} of SHOW ALL SLAVES STATUS", all_.get(name), value)
    report.true("heartbeats arrive", until(lambda: int(node.rows("SHOW STATUS LIKE 'Slave_received_heartbeats'")[0][1]) > 0, "a heartbeat", 5))
    report.same("Slave_running", node.rows("SHOW STATUS LIKE 'Slave_running'"), [("Slave_running", "ON")])
    report.same("Slaves_running", node.rows("SHOW GLOBAL STATUS LIKE 'Slaves_running'"), [("Slaves_running", "1")])
    report.same("Slave_heartbeat_period", node.rows("SHOW STATUS LIKE 'Slave_heartbeat_period'"), [("Slave_heartbeat_period", "1.000")])
    report.same("SHOW SLAVE HOSTS of the primary", primary.rows("SHOW SLAVE HOSTS")[0][0], node.number)
    with variable(node, "slave_net_timeout", 30):
        report.same("slave_net_timeout", node.variable("slave_net_timeout"), 30)


def unknown_connection(chain):
    """Statements about a connection that does not exist."""
    node = chain.replica
    for text in ("STOP SLAVE 'nobody'", "START SLAVE 'nobody'", "RESET SLAVE 'nobody'", "SHOW SLAVE 'nobody' STATUS"):
        report.same(text, node.failure(text), (1617, "There is no master connection 'nobody'"))
    report.same("START SLAVE of nothing", node.error("START SLAVE"), 1200)
    report.same("rows of SHOW SLAVE STATUS", node.status(), {})
