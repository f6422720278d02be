#!/usr/bin/env python3
"""Statements, variables and options about the binary log, over restarts, kills and renames.

usage: binlog_statements.py SELKIE

All expected answers are those of MariaDB 10.11, but for values that are refused because this log does not do them, and
for the event BINLOG_CHECKPOINT, which always names its own file. If mariadb-binlog is there, it reads every file.
"""
import contextlib
import glob
import os
import shutil
import subprocess
import sys
import time

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from selkie import Server  # noqa: E402

failed = []


def same(what, got, expected):
    if got != expected:
        failed.append(what)
        print(f"{what}: {got!r}, not {expected!r}")


class Client:
    def __init__(self, server, **options):
        self.connection = server.connect(**options)

    def rows(self, text):
        cursor = self.connection.cursor()
        cursor.execute(text)
        return [tuple(row) for row in cursor.fetchall()]

    def error(self, text):
        try:
            self.rows(text)
        except pymysql.MySQLError as error:
            return error.args[0]
        return 0

    def warnings(self, text):
        self.rows(text)
        return [row[1] for row in self.rows("SHOW WARNINGS")]

    def value(self, name):
        return self.rows(f"SELECT @@{name}")[0][0]

    def files(self):
        return [row[0] for row in self.rows("SHOW BINARY LOGS")]

    def kinds(self, file):
        return [row[2] for row in self.rows(f"SHOW BINLOG EVENTS IN '{file}'")]


HEAD = ["Format_desc", "Gtid_list", "Binlog_checkpoint"]


def check_files(server, base="binlog"):
    """Compares the index and the lengths with the directory, and lets mariadb-binlog read the files."""
    client = Client(server)
    shown = client.rows("SHOW BINARY LOGS")
    on_disk = sorted(glob.glob(os.path.join(server.datadir, base + ".[0-9]*")))
    same("names of files", [os.path.basename(path) for path in on_disk], [name for name, _ in shown])
    same("lengths of files", [os.path.getsize(path) for path in on_disk], [length for _, length in shown])
    with open(os.path.join(server.datadir, base + ".index")) as index:
        same("index", index.read(), "".join(f"./{name}\n" for name, _ in shown))
    if shutil.which("mariadb-binlog"):
        run = subprocess.run(["mariadb-binlog", "--no-defaults", "--verify-binlog-checksum", *on_disk],
                             capture_output=True, check=False)
        same("mariadb-binlog", (run.returncode, run.stderr), (0, b""))


def check_show(server):
    client = Client(server)
    for database in "abc":
        client.rows(f"CREATE DATABASE {database}")
    client.rows("RESET MASTER")
    same("files", client.rows("SHOW BINARY LOGS"), [("binlog.000001", 325)])
    same("MASTER LOGS", client.rows("SHOW MASTER LOGS"), [("binlog.000001", 325)])
    for words in ("MASTER", "BINLOG"):
        same(words, client.rows(f"SHOW {words} STATUS"), [("binlog.000001", 325, "a,b", "c")])
    events = client.rows("SHOW BINLOG EVENTS")
    same("places", [(row[1], row[2], row[4]) for row in events],
         [(4, "Format_desc", 256), (256, "Gtid_list", 285), (285, "Binlog_checkpoint", 325)])
    same("texts", [row[5] for row in events[1:]], ["[]", "binlog.000001"])
    same("limit", client.rows("SHOW BINLOG EVENTS LIMIT 1,1"), [events[1]])
    same("limit 0", client.rows("SHOW BINLOG EVENTS LIMIT 0"), [events[0]])
    same("from", client.rows("SHOW BINLOG EVENTS FROM 256 LIMIT 1, 5"), [events[2]])
    same("from the end", client.rows("SHOW BINLOG EVENTS FROM 325"), [])
    for clause in ("IN 'nosuch'", "IN './binlog.000001'", "FROM 5", "FROM 257", "FROM 326"):
        same(clause, client.error(f"SHOW BINLOG EVENTS {clause}"), 1220)
    same("snapshot", client.rows("SHOW STATUS LIKE 'binlog_snapshot_%'"),
         [("Binlog_snapshot_file", "binlog.000001"), ("Binlog_snapshot_position", "325")])
    same("log_bin", (client.value("log_bin"), client.value("log_bin_basename"), client.value("log_bin_index")),
         (1, os.path.join(server.datadir, "binlog"), os.path.join(server.datadir, "binlog.index")))


def check_rotation(server):
    client = Client(server)
    client.rows("FLUSH BINARY LOGS")
    same("ends with ROTATE", client.kinds("binlog.000001"), HEAD + ["Rotate"])
    same("begins", client.kinds("binlog.000002"), HEAD)
    client.rows("FLUSH LOGS")
    client.rows("FLUSH LOCAL BINARY LOGS, STATUS")
    same("files", len(client.files()), 4)
    client.rows("SET GLOBAL binlog_checksum=NONE")
    same("without checksums", client.rows("SHOW BINARY LOGS")[-1], ("binlog.000005", 317))
    same("inside", client.error("SHOW BINLOG EVENTS IN 'binlog.000005' FROM 257"), 1220)
    same("last", len(client.rows("SHOW BINLOG EVENTS IN 'binlog.000005' FROM 281")), 1)
    check_files(server)
    client.rows("SET GLOBAL binlog_checksum=CRC32")
    same("purge", [client.error(f"PURGE BINARY LOGS TO '{name}'") for name in ("nosuch", "binlog.000009")], [1373, 1373])
    client.rows("PURGE MASTER LOGS TO 'binlog.000003'")
    same("purged", client.files()[0], "binlog.000003")
    client.rows("PURGE BINARY LOGS BEFORE '2000-01-01'")
    same("invalid", client.warnings("PURGE BINARY LOGS BEFORE 'abc'"), [1292])
    client.rows("PURGE BINARY LOGS BEFORE NULL")
    same("nothing purged", client.files()[0], "binlog.000003")
    same("subquery", client.error("PURGE BINARY LOGS BEFORE (SELECT 1)"), 1970)
    client.rows("PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 DAY")
    same("all but the last", client.files(), ["binlog.000006"])
    check_files(server)


def check_reset(server):
    client = Client(server)
    client.rows("RESET MASTER TO 5")
    same("reset", client.rows("SHOW BINARY LOGS"), [("binlog.000005", 325)])
    same("too large", client.error("RESET MASTER TO 4294967295"), 1098)
    client.rows("RESET MASTER TO 0")
    same("zero is one", client.files(), ["binlog.000001"])
    client.rows("SET GLOBAL gtid_binlog_state='1-2-4,1-3-5,0-1-7'")
    same("state", [client.value(name) for name in ("gtid_binlog_state", "gtid_binlog_pos", "gtid_current_pos")],
         ["0-1-7,1-2-4,1-3-5", "0-1-7,1-3-5", "0-1-7"])
    same("list", client.rows("SHOW BINLOG EVENTS LIMIT 1,1")[0][5], "[0-1-7,1-2-4,1-3-5]")
    for value, code in (("'1-2-4'", 1956), ("''", 1956), ("'foo'", 1941), ("NULL", 1210), ("5", 1232), ("DEFAULT", 1230)):
        same(f"state {value}", client.error(f"SET GLOBAL gtid_binlog_state={value}"), code)
    same("positions", client.rows("SELECT BINLOG_GTID_POS('binlog.000001',4), BINLOG_GTID_POS('binlog.000001','256'),"
                                  "BINLOG_GTID_POS('',331), BINLOG_GTID_POS('',300), BINLOG_GTID_POS('',-1),"
                                  "BINLOG_GTID_POS('nosuch',4), BINLOG_GTID_POS(NULL,4)"),
         [("0-1-7,1-3-5",) * 3 + (None,) * 4])
    same("absent", client.warnings("FLUSH BINARY LOGS DELETE_DOMAIN_ID=(7,8)"), [1076, 1076])
    same("no new file", len(client.files()), 1)
    client.rows("FLUSH BINARY LOGS DELETE_DOMAIN_ID=(1,7)")
    same("deleted", (client.value("gtid_binlog_state"), len(client.files())), ("0-1-7", 2))
    client.rows("FLUSH BINARY LOGS DELETE_DOMAIN_ID=()")
    same("new file", len(client.files()), 3)
    check_files(server)


def check_variables(server):
    client = Client(server)
    client.rows("SET GLOBAL expire_logs_days=1.5")
    same("days", client.value("binlog_expire_logs_seconds"), 129600)
    client.rows("SET GLOBAL binlog_expire_logs_seconds=10000")
    same("seconds", client.value("expire_logs_days"), 0.115741)
    for text, code in (("SET binlog_format=STATEMENT", 0), ("SET GLOBAL log_bin_compress=ON", 1235), ("SET binlog_format=MIXED", 0),
                       ("SET binlog_format=x", 1231), ("SET binlog_format=ROW", 0),
                       ("SET GLOBAL log_bin=0", 1238), ("SET GLOBAL encrypt_binlog=1", 1238), ("SET GLOBAL sql_log_bin=0", 1238),
                       ("SET GLOBAL gtid_slave_pos='1-1'", 1941), ("SET GLOBAL gtid_slave_pos='1-1-1,1-2-2'", 1943),
                       ("SET binlog_checksum=NONE", 1229), ("SET GLOBAL gtid_seq_no=1", 1228)):
        same(text, client.error(text), code)
    client.rows("SET GLOBAL gtid_slave_pos='9-1-5,2-1-1'")
    same("sorted", client.value("gtid_slave_pos"), "2-1-1,9-1-5")
    client.rows("SET GLOBAL gtid_slave_pos=''")
    before = client.warnings("SET GLOBAL gtid_slave_pos=''")
    own = client.value("server_id")
    client.rows(f"SET gtid_domain_id=7, server_id={own + 1}")
    client.rows("CREATE DATABASE of_another")
    same("groups of another server", client.warnings("SET GLOBAL gtid_slave_pos=''"), before)
    client.rows(f"SET server_id={own}")
    client.rows("FLUSH STATUS")
    same("caches", [row[1] for row in client.rows("SHOW STATUS LIKE 'Binlog\\_%cache\\_use'")], ["0", "0"])
    client.rows("DROP DATABASE of_another")
    same("groups of this server", client.warnings("SET GLOBAL gtid_slave_pos=''"), [*before, 1948])
    client.rows("SET gtid_domain_id=0")
    client.rows("SET GLOBAL gtid_strict_mode=1")
    same("strict", client.error("SET gtid_seq_no=7"), 1950)
    same("above", client.error("SET gtid_seq_no=8"), 0)
    client.rows("SET GLOBAL gtid_strict_mode=0")
    client.rows("BEGIN")
    inside = (("sql_log_bin=0", 1694), ("binlog_format=ROW", 1679), ("gtid_domain_id=1", 1953), ("gtid_seq_no=9", 1953),
              ("skip_replication=1", 1929), ("GLOBAL gtid_binlog_state=''", 1179), ("server_id=3", 0))
    for text, code in inside:
        same(f"inside a transaction {text}", client.error(f"SET {text}"), code)
    client.rows("COMMIT")
    client.rows("CREATE DATABASE d")
    client.rows("CREATE TABLE d.t (a INT)")
    function = "CREATE FUNCTION d.f() RETURNS INT {} BEGIN SET {}; RETURN 1; END"
    for text, code in (("sql_log_bin=0", 1695), ("binlog_format=ROW", 1560), ("gtid_domain_id=1", 1954), ("gtid_seq_no=9", 1954)):
        client.rows(function.format("NO SQL", text))
        same(f"inside a function {text}", client.error("SELECT d.f()"), code)
        client.rows("DROP FUNCTION d.f")
    same("unsafe", [client.error(f"CREATE FUNCTION d.g() RETURNS INT {words} RETURN 1")
                    for words in ("", "MODIFIES SQL DATA", "READS SQL DATA")], [1418, 1418, 0])
    same("altered", client.error("ALTER FUNCTION d.g CONTAINS SQL"), 1418)


def check_privileges(server):
    root = Client(server)
    root.rows("CREATE USER u@'%'")
    root.rows("GRANT ALL ON d.* TO u@'%'")
    user = Client(server, user="u")
    denied = ("SHOW BINARY LOGS", "SHOW MASTER STATUS", "SHOW BINLOG EVENTS", "FLUSH BINARY LOGS", "RESET MASTER",
              "PURGE BINARY LOGS TO 'x'", "SET gtid_seq_no=5", "SET GLOBAL gtid_binlog_state=''", "SET sql_log_bin=0")
    for text in denied:
        same(text, user.error(text), 1227)
    trigger = "CREATE TRIGGER d.tr BEFORE INSERT ON d.t FOR EACH ROW SET @x=1"
    programs = ("CREATE FUNCTION d.h() RETURNS INT NO SQL RETURN 1", trigger, "DROP TRIGGER d.nosuch")
    for text in programs:
        same(text, user.error(text), 1419)
    root.rows("SET GLOBAL log_bin_trust_function_creators=1")
    same("trusted", user.error(trigger), 0)
    root.rows("GRANT BINLOG MONITOR ON *.* TO u@'%'")
    user = Client(server, user="u")
    same("monitor", [user.error(text) for text in denied[:3]], [0, 0, 0])


def check_groups(server):
    """Groups of real changes: their numbers, positions and counts, and files that are full."""
    client = Client(server)
    client.rows("RESET MASTER")
    client.rows("CREATE TABLE a.t (a INT PRIMARY KEY, b TEXT)")
    client.rows("INSERT INTO a.t VALUES (1, 'x')")
    client.rows("UPDATE a.t SET b='x'")
    same("numbers", (client.value("last_gtid"), client.value("gtid_binlog_pos")), ("0-1-2", "0-1-2"))
    client.rows("SET gtid_domain_id=3, gtid_seq_no=70, server_id=9")
    client.rows("DELETE FROM a.t")
    same("explicit", [client.value(name) for name in ("last_gtid", "gtid_seq_no", "gtid_binlog_state")],
         ["3-9-70", 0, "0-1-2,3-9-70"])
    client.rows("SET sql_log_bin=0")
    client.rows("INSERT INTO a.t VALUES (1, 'x')")
    client.rows("CREATE TABLE c.t (a INT)")
    client.rows("SET sql_log_bin=1")
    client.rows("USE c")
    client.rows("INSERT INTO c.t VALUES (1)")
    client.rows("INSERT INTO d.t VALUES (1)")
    same("not logged", client.value("gtid_binlog_state"), "0-1-2,3-9-70")
    client = Client(server)
    events = client.rows("SHOW BINLOG EVENTS")
    same("groups", [row[2] for row in events if row[2].startswith(("Query", "Write", "Delete", "Xid"))],
         ["Query", "Write_rows_v1", "Xid", "Delete_rows_v1", "Xid"])
    gtids = [row for row in events if row[2] == "Gtid"]
    same("texts", [row[5] for row in gtids], ["GTID 0-1-1", "BEGIN GTID 0-1-2", "BEGIN GTID 3-9-70"])
    same("places", [client.rows(f"SELECT BINLOG_GTID_POS('binlog.000001', {row[1]})")[0][0] for row in gtids],
         ["", "0-1-1", "0-1-2"])
    same("inside of a group", client.rows(f"SELECT BINLOG_GTID_POS('binlog.000001', {gtids[2][4]})"), [("0-1-2,3-9-70",)])
    same("from a group", len(client.rows(f"SHOW BINLOG EVENTS FROM {gtids[2][1]}")), 5)
    same("still in use", client.error("FLUSH BINARY LOGS DELETE_DOMAIN_ID=(3)"), 1076)
    client.rows("SET GLOBAL max_binlog_cache_size=4096, max_binlog_stmt_cache_size=4096")
    limited = Client(server)
    same("too large", limited.error("INSERT INTO a.t VALUES (50, REPEAT('y', 40000))"), 1197)
    same("in memory", limited.error("INSERT INTO a.t VALUES (51, REPEAT('y', 9000))"), 0)
    same("not stored", limited.rows("SELECT COUNT(*) FROM a.t WHERE a=50"), [(0,)])
    client.rows("SET GLOBAL max_binlog_cache_size=DEFAULT, max_binlog_stmt_cache_size=DEFAULT")
    before = dict(client.rows("SHOW GLOBAL STATUS LIKE 'binlog%'"))
    client.rows("SET GLOBAL max_binlog_size=4096")
    for key in range(2, 42):
        client.rows(f"INSERT INTO a.t VALUES ({key}, REPEAT('y', 500))")
    after = dict(client.rows("SHOW GLOBAL STATUS LIKE 'binlog%'"))
    client.rows("SET GLOBAL max_binlog_size=DEFAULT")
    grown = [int(after[name]) - int(before[name]) for name in ("Binlog_commits", "Binlog_cache_use", "Binlog_stmt_cache_use")]
    same("counts", grown, [40, 40, 0])
    flushes = int(after["Binlog_group_commits"]) - int(before["Binlog_group_commits"])
    same("flushes", 35 <= flushes <= 40, True)
    lengths = [length for _, length in client.rows("SHOW BINARY LOGS")]
    same("full files", all(4096 <= length < 6000 for length in lengths[1:-1]) and len(lengths) > 5, True)
    server.kill()
    server.start()
    same("after a kill", Client(server).value("gtid_binlog_state"), "0-1-43,3-9-70")
    check_files(server)


def check_lives(server):
    client = Client(server)
    client.rows("RESET MASTER")
    client.rows("SET GLOBAL gtid_binlog_state='0-1-7'")
    server.stop()
    server.start()
    client = Client(server)
    same("a new file", client.files(), ["binlog.000001", "binlog.000002"])
    same("ends with STOP", client.kinds("binlog.000001"), HEAD + ["Stop"])
    same("state", client.value("gtid_binlog_state"), "0-1-7")
    client.rows("FLUSH BINARY LOGS")
    client.rows("PURGE BINARY LOGS TO 'binlog.000002'")
    server.kill()
    server.start()
    client = Client(server)
    same("after a kill", client.files(), [f"binlog.{n:06}" for n in (2, 3, 4)])
    same("no end", client.kinds("binlog.000003"), HEAD)
    same("state", client.value("gtid_binlog_state"), "0-1-7")
    check_files(server)
    client.rows("RESET MASTER TO 30")
    server.kill()
    server.start()
    same("after a reset", Client(server).files(), ["binlog.000030", "binlog.000031"])
    check_files(server)


def check_names(server):
    """Another name is another log; the first one goes on when its name comes back."""
    options = server.options
    for wanted, base in (("--log-bin=other.x", "other"), ("--log-bin", os.path.basename("named-bin"))):
        server.stop()
        server.options = [wanted, "--pid-file=" + os.path.join(server.datadir, "named.pid")]
        server.start()
        same(wanted, Client(server).files(), [base + ".000001"])
        check_files(server, base)
    server.stop()
    server.options = []
    server.start()
    client = Client(server)
    same("off", [client.error(text) for text in
                 ("SHOW BINARY LOGS", "RESET MASTER", "SET GLOBAL gtid_binlog_state=''", "SELECT BINLOG_GTID_POS('',4)")],
         [1381, 1186, 1186, 1381])
    same("off, but no error", [client.error(text) for text in
                               ("SHOW MASTER STATUS", "SHOW BINLOG EVENTS IN 'x'", "FLUSH BINARY LOGS", "PURGE BINARY LOGS TO 'x'",
                                "SET binlog_format=STATEMENT", "FLUSH BINARY LOGS DELETE_DOMAIN_ID=(1)")], [0] * 6)
    server.stop()
    server.options = options
    server.start()
    same("the first log again", Client(server).files()[0], "binlog.000030")
    check_files(server)


def check_refused_rollback(binary):
    """A rollback ends the transaction even if the log refuses the group of rows that stand."""
    server = Server(binary, options=["--log-bin=binlog", "--binlog-format=ROW", "--server-id=1"])
    server.start()
    try:
        client, other = (Client(server, autocommit=True) for _ in range(2))
        for text in ("CREATE DATABASE a", "CREATE TABLE a.t (id INT PRIMARY KEY)", "INSERT INTO a.t VALUES (1), (2)",
                     "CREATE TABLE a.stays (id INT) ENGINE=MEMORY",
                     "CREATE TRIGGER a.r BEFORE UPDATE ON a.t FOR EACH ROW INSERT INTO a.stays VALUES (OLD.id)"):
            client.rows(text)
        client.rows("SET gtid_seq_no=1")
        client.rows("SET GLOBAL gtid_strict_mode=1")
        same("refused", client.error("UPDATE a.t SET id = 2 WHERE id = 1"), 1950)
        client.rows("SET GLOBAL gtid_strict_mode=0")
        other.rows("SET innodb_lock_wait_timeout=1")
        same("unlocked", other.error("DELETE FROM a.t"), 0)
    finally:
        server.remove()


def check_expiry(server):
    client = Client(server)
    client.rows("SET GLOBAL binlog_expire_logs_seconds=1")
    time.sleep(2.1)
    client.rows("FLUSH BINARY LOGS")
    same("expired", len(client.files()), 2)
    check_files(server)


def check_refused(binary):
    for option in ("--encrypt-binlog", "--log-bin-compress", "--log-bin=/nonexistent/dir/log"):
        server = Server(binary, options=["--log-bin=binlog", option])
        with contextlib.suppress(RuntimeError):
            server.start()
            failed.append(option)
            print(f"{option}: the server started")
        server.remove()


def main():
    binary = sys.argv[1]
    options = ["--log-bin=binlog", "--binlog-format=ROW", "--server-id=1", "--binlog-do-db=a", "--binlog-do-db=b", "--binlog-ignore-db=c"]
    server = Server(binary, options=options)
    server.start()
    try:
        for check in (check_show, check_rotation, check_reset, check_variables, check_privileges, check_groups,
                      check_lives, check_names,
                      check_expiry):
            check(server)
        server.stop()
    finally:
        server.remove()
    check_refused(binary)
    check_refused_rollback(binary)
    print(f"{len(failed)} differences")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
