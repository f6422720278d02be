"""Servers of both makes behind one face, and chains of them: the first is the primary, each next one its follower's."""

import atexit
import contextlib
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from beside_mariadb import MariaDb  # noqa: E402
from selkie import Server  # noqa: E402

from . import report  # noqa: E402

OPTIONS = ["--log-bin=binlog", "--binlog-format=ROW", "--log-bin-trust-function-creators=1", "--innodb-buffer-pool-size=32M",
           "--max-allowed-packet=64M", "--slave-net-timeout=20", "--local-infile=1"]
# Nothing here needs a disk to have anything: processes are killed, not machines.
OF_MARIADB = ["--innodb-flush-method=nosync", "--sync-binlog=0", "--innodb-log-file-size=16M"]
UPDATES = ["--log-slave-updates=1"]
SYSTEM = ("mysql", "information_schema", "performance_schema", "sys")
MODE = "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION"
# The account that replicas use, and variables that checks change, with their values before. WORKERS in the environment is the number of
# workers of replicas.
USER, PASSWORD = "repl", "secret'1"
VARIABLES = {"read_only": "0", "slave_exec_mode": "'STRICT'", "slave_type_conversions": "''", "sql_slave_skip_counter": "0",
             "replicate_do_db": "''", "replicate_ignore_db": "''", "replicate_do_table": "''", "replicate_ignore_table": "''",
             "replicate_wild_do_table": "''", "replicate_wild_ignore_table": "''", "replicate_rewrite_db": "''",
             "replicate_events_marked_for_skip": "'REPLICATE'", "slave_run_triggers_for_rbr": "'NO'", "slave_ddl_exec_mode": "'IDEMPOTENT'",
             "gtid_strict_mode": "0", "binlog_format": "'ROW'", "binlog_row_image": "'FULL'", "binlog_row_metadata": "'NO_LOG'",
             "binlog_checksum": "'CRC32'", "log_bin_compress": "0", "time_zone": "'SYSTEM'", "sql_mode": f"'{MODE}'",
             "character_set_server": "'utf8mb4'", "collation_server": "'utf8mb4_general_ci'", "max_relay_log_size": "1073741824",
             "max_binlog_size": "1073741824", "slave_parallel_threads": os.environ.get("WORKERS", "0"), "binlog_annotate_row_events": "1"}


def install(server, first=[]):  # noqa: B006
    """Makes a data directory, the second and later ones by a copy of the first."""
    if not first:
        first.append(tempfile.mkdtemp(prefix="mariadb-first-"))
        atexit.register(shutil.rmtree, first[0], ignore_errors=True)
        server.install(OF_MARIADB)
        shutil.copytree(server.datadir, first[0], dirs_exist_ok=True)
    else:
        shutil.copytree(first[0], server.datadir)


class Node:
    """One server. `kind` is M for MariaDB or S for Selkie."""

    def __init__(self, kind, number, binary):
        self.kind, self.number, self.binary = kind, number, binary
        self.server = None
        # What is given at the start behind OPTIONS.
        self.more = None

    def __repr__(self):
        return f"{'MariaDB' if self.kind == 'M' else 'Selkie'} {self.number}"

    def start(self, more=None):
        """Starts with other options than before, if they are given. The directory stays."""
        self.more = list(UPDATES if more is None else more) if more is not None or self.more is None else self.more
        options = [*OPTIONS, *(OF_MARIADB if self.kind == "M" else []), f"--server-id={self.number}", *self.more]
        if self.server is None:
            self.server = MariaDb(options=options) if self.kind == "M" else Server(self.binary, options=options)
        self.server.options = options
        if self.kind == "M" and not os.path.exists(self.datadir):
            install(self.server)
        self.server.start()
        return self

    @property
    def port(self):
        return self.server.port

    @property
    def datadir(self):
        return self.server.datadir

    def is_alive(self):
        return self.server is not None and self.server.process is not None and self.server.process.poll() is None

    def kill(self):
        self.server.kill()

    def stop(self):
        self.server.stop()

    def restart(self, more=None):
        self.stop()
        self.start(more)

    def remove(self):
        if self.server is not None:
            server, self.server, self.more = self.server, None, None
            server.remove()

    def panics(self):
        return self.server.panics() if self.kind == "S" and self.server is not None else []

    def connect(self, **options):
        return self.server.connect(**{"read_timeout": 90, "write_timeout": 90, **options})

    def rows(self, *texts, **options):
        """The rows of the last of the statements, all in one session."""
        connection = self.connect(**options)
        with connection, connection.cursor() as cursor:
            for text in texts:
                cursor.execute(text)
            return list(cursor.fetchall())

    def value(self, text):
        found = self.rows(text)
        return found[0][0] if found else None

    def variable(self, name):
        return self.value(f"SELECT @@GLOBAL.{name}")

    def error(self, *texts, **options):
        """The number of the error that the statements end with, or 0."""
        return self.failure(*texts, **options)[0]

    def failure(self, *texts, **options):
        """The number and the text of the error that the statements end with, or 0 and nothing."""
        try:
            self.rows(*texts, **options)
        except pymysql.MySQLError as error:
            return error.args[0], error.args[1] if len(error.args) > 1 else ""
        return 0, ""

    def warnings(self, *texts):
        return [(row[0], row[1], row[2]) for row in self.rows(*texts, "SHOW WARNINGS")]

    def script(self, text, database=None, charset="utf8mb4"):
        """Gives the text to the client program; returns the numbers of its errors, and what it wrote about them."""
        command = ["mariadb", "--no-defaults", "--force", f"--default-character-set={charset}", "-h127.0.0.1", f"-P{self.port}", "-uroot",
                   "-N", "--local-infile=1", "--max-allowed-packet=64M", *([database] if database else [])]
        run = subprocess.run(command, input=text if isinstance(text, bytes) else text.encode(), capture_output=True, check=False, timeout=120)
        errors = run.stderr.decode(errors="replace")
        return [int(number) for number in re.findall(r"^ERROR (\d+)", errors, re.M)], errors.strip()

    def status(self):
        """SHOW SLAVE STATUS as a dictionary, which is empty if no primary is set."""
        connection = self.connect()
        with connection, connection.cursor(pymysql.cursors.DictCursor) as cursor:
            cursor.execute("SHOW SLAVE STATUS")
            return cursor.fetchone() or {}

    def place(self):
        """The file and offset where this server's own log ends."""
        file, offset = self.rows("SHOW MASTER STATUS")[0][:2]
        return file, int(offset)

    def relay_files(self):
        return [path for path in glob.glob(os.path.join(glob.escape(self.datadir), "*relay*")) if not path.endswith(".info")]

    def follow(self, source, how="gtid", start=True, more=""):
        """Makes this server a replica of another, from the beginning of its first log file or from gtid_slave_pos."""
        place = "MASTER_USE_GTID=slave_pos"
        if how == "position":
            place = f"MASTER_USE_GTID=no, MASTER_LOG_FILE='{source.rows('SHOW BINARY LOGS')[0][0]}', MASTER_LOG_POS=4"
        password = PASSWORD.replace("'", "''")
        self.rows(f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={source.port}, MASTER_USER='{USER}', MASTER_PASSWORD='{password}', "
                  f"MASTER_CONNECT_RETRY=1, MASTER_HEARTBEAT_PERIOD=1, {place}{', ' + more if more else ''}")
        if start:
            self.rows("START SLAVE")

    def clean(self):
        """Back to an empty server that replicates from nobody, with empty logs."""
        if not self.is_alive():
            self.remove()
        if self.server is None:
            self.start()
        elif self.more != UPDATES:
            self.restart(UPDATES)
        connection = self.connect(read_timeout=30)
        with connection, connection.cursor() as cursor:
            def attempt(text):
                with contextlib.suppress(pymysql.MySQLError):
                    cursor.execute(text)
            attempt("STOP ALL SLAVES")
            attempt("STOP SLAVE")
            attempt("RESET SLAVE ALL")
            cursor.execute("SET sql_log_bin=0, foreign_key_checks=0")
            for name, value in VARIABLES.items():
                attempt(f"SET GLOBAL {name}={value}")
            cursor.execute("XA RECOVER FORMAT='SQL'")
            for row in cursor.fetchall():
                attempt(f"XA ROLLBACK {row[3]}")
            cursor.execute("SHOW DATABASES")
            for (name,) in cursor.fetchall():
                if name not in SYSTEM:
                    cursor.execute(f"DROP DATABASE `{name}`")
            for user, host in accounts(cursor):
                attempt(f"DROP ROLE `{user}`" if host == "" else f"DROP USER `{user}`@`{host}`")
            cursor.execute(f"CREATE USER {USER}@'%%' IDENTIFIED BY %s", (PASSWORD,))
            cursor.execute(f"GRANT REPLICATION SLAVE ON *.* TO {USER}@'%'")
            cursor.execute("RESET MASTER")
            attempt("SET GLOBAL gtid_slave_pos=''")
        state = self.status()
        report.require(not state, f"{self} still replicates after RESET SLAVE ALL")


def accounts(cursor):
    """The users and roles that tests made."""
    cursor.execute("SELECT user, host FROM mysql.user WHERE user NOT IN ('root', 'mariadb.sys', 'mysql', '', 'PUBLIC') ORDER BY 1, 2")
    return list(cursor.fetchall())


def gtids(text):
    """A GTID position as a dictionary: domain to server and number."""
    found = {}
    for part in filter(None, (text or "").split(",")):
        domain, server, number = part.strip().split("-")
        found[int(domain)] = (int(server), int(number))
    return found


def until(condition, text, seconds=20):
    """Waits for a condition; what it returned last is the answer."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        report.require(time.monotonic() < deadline, f"expected within {seconds} s: {text}")
        time.sleep(0.05)
