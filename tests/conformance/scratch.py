"""A server for MariaDB's tests, and its reset to a known state between two tests.

Directories and settings are those that the tests expect, not this server's defaults.
"""

import contextlib
import os
import re
import shutil
import sys

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from selkie import Server  # noqa: E402
from suite import ROOT  # noqa: E402

SETTINGS = [
    "--default-storage-engine=MyISAM",
    "--sql-mode=STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,"
    "NO_ENGINE_SUBSTITUTION",
    "--use-stat-tables=PREFERABLY", "--histogram-type=JSON_HB", "--local-infile=1",
    "--max-heap-table-size=1M", "--sort-buffer-size=256K", "--key-buffer-size=1M",
    "--general-log=1", "--slow-query-log=1", "--log-output=FILE", "--character-set-server=latin1",
    "--collation-server=latin1_swedish_ci", "--log-bin-trust-function-creators=1",
    "--connect-timeout=60", "--plugin-maturity=unknown", "--slave-net-timeout=120",
    "--skip-user-variables", "--skip-thread-pool-groups", "--skip-thread-pool-queues",
    "--skip-thread-pool-stats", "--skip-thread-pool-waits",
    "--binlog-direct-non-transactional-updates=1", "--innodb-write-io-threads=2",
    "--innodb-read-io-threads=2", "--innodb-lru-scan-depth=100",
    f"--ssl-ca={ROOT}/std_data/cacert.pem", f"--ssl-cert={ROOT}/std_data/server-cert.pem",
    f"--ssl-key={ROOT}/std_data/server-key.pem",
]
CHARSETS = "/usr/share/mysql/charsets"
SYSTEM = {"mysql", "information_schema", "performance_schema", "sys", "mtr"}
VOLATILE = re.compile(r"timestamp$|gtid_|last_|error_count|warning_count|rand_seed|identity|"
                      r"insert_id|pseudo_thread_id|in_transaction|innodb_buffer_pool_(dump|load)")
EXPECTED = [
    "CREATE DATABASE mtr CHARACTER SET latin1 COLLATE latin1_swedish_ci",
    "CREATE TABLE mtr.global_suppressions (pattern VARCHAR(255)) ENGINE=MyISAM CHARSET=latin1",
    "CREATE TABLE mtr.test_suppressions (pattern VARCHAR(255)) ENGINE=MyISAM CHARSET=latin1",
    "SET NAMES latin1, sql_mode = ''",
    "CREATE TRIGGER mtr.gs_insert BEFORE INSERT ON mtr.global_suppressions FOR EACH ROW "
    "SET NEW.pattern = TRIM(NEW.pattern)",
    "CREATE TRIGGER mtr.ts_insert BEFORE INSERT ON mtr.test_suppressions FOR EACH ROW "
    "SET NEW.pattern = TRIM(NEW.pattern)",
    "SET NAMES utf8mb3",
    "CREATE PROCEDURE mtr.add_suppression(pattern VARCHAR(255)) "
    "INSERT INTO mtr.test_suppressions (pattern) VALUES (pattern)",
]
# Options for features that are always there.
NEEDLESS = re.compile(r"(innodb|innodb_(sys|cmp|trx|locks|lock_waits|metrics|buffer_page)\w*|"
                      r"partition|sequence|enable_partition|plugin_maturity|core_file|"
                      r"stack_trace|symbolic_links|gdb|performance_schema\w*|debug\w*)$")


def literal(value):
    """Returns a setting, as shown or as in an option file, as an SQL literal."""
    if re.fullmatch(r"-?\d+(\.\d+)?", value):
        return value
    if found := re.fullmatch(r"(\d+)([KMG])", value, re.IGNORECASE):
        return str(int(found.group(1)) << {"K": 10, "M": 20, "G": 30}[found.group(2).upper()])
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


class Scratch:
    """One server with its directories."""

    def __init__(self, binary, root):
        self.binary, self.var = binary, os.path.join(root, "var")
        for name in ("log", "tmp", "run"):
            os.makedirs(f"{self.var}/{name}")
        shutil.copytree(f"{ROOT}/std_data", f"{self.var}/std_data")
        self.server, self.variables, self.accounts, self.tls = None, {}, set(), []
        self.start()

    def start(self, tls=()):
        """Starts a new server with these TLS options and the options of all tests."""
        self.tls = list(tls)
        port = self.server.port if self.server else None
        if self.server:
            # Before its directory is removed: a running server would create files again.
            self.server.remove(panics_fail=False)
        shutil.rmtree(f"{self.var}/mysqld.1", ignore_errors=True)
        data = f"{self.var}/mysqld.1/data"
        os.makedirs(os.path.dirname(data))
        os.makedirs(f"{self.var}/tmp/mysqld.1", exist_ok=True)
        options = [*SETTINGS, f"--secure-file-priv={self.var}", f"--pid-file={self.var}/run/mysqld.1.pid",
                   f"--socket={self.var}/tmp/mysqld.1.sock", f"--tmpdir={self.var}/tmp/mysqld.1",
                   f"--character-sets-dir={CHARSETS}",
                   f"--log-error={self.var}/log/mysqld.1.err",
                   f"--general-log-file={self.var}/mysqld.1/mysqld.log",
                   f"--slow-query-log-file={self.var}/mysqld.1/mysqld-slow.log", *self.tls]
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{self.var}/log/mysqld.1.err")
        self.server = Server(self.binary, data, options, log=f"{self.var}/log/mysqld.1.err")
        if port:
            self.server.port = port
        self.server.start()
        with self.connect() as session:
            self.prepare(session)
            self.variables = dict(self.rows(session, "SHOW GLOBAL VARIABLES"))
            self.accounts = self.all_accounts(session)

    @staticmethod
    def prepare(session):
        """Prepares what the tests expect in addition: a table of expected warnings."""
        for statement in EXPECTED:
            with contextlib.suppress(pymysql.MySQLError), session.cursor() as cursor:
                cursor.execute(statement)

    def connect(self):
        return self.server.connect(charset="utf8mb4", read_timeout=30, ssl_disabled=True)

    @staticmethod
    def rows(session, statement):
        with session.cursor() as cursor:
            cursor.execute(statement)
            return [tuple(r.decode("utf-8", "replace") if isinstance(r, bytes) else r for r in row)
                    for row in cursor.fetchall()]

    def all_accounts(self, session):
        """Returns all users and roles, quoted."""
        statement = "SELECT DISTINCT grantee FROM information_schema.user_privileges"
        return {row[0] for row in self.rows(session, statement)}

    def alive(self):
        with contextlib.suppress(pymysql.MySQLError, OSError):
            self.connect().close()
            return True
        return False

    def clean(self):
        """Removes sessions, databases, accounts and settings of the previous test."""
        if not self.alive():
            self.start()
        with self.connect() as session:
            for statement in self.repairs(session):
                with contextlib.suppress(pymysql.MySQLError), session.cursor() as cursor:
                    cursor.execute(statement)
        for name in set(os.listdir(f"{self.var}/tmp")) - {"mysqld.1", "mysqld.1.sock"}:
            path = f"{self.var}/tmp/{name}"
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)

    def repairs(self, session):
        for row in self.rows(session, "SHOW PROCESSLIST"):
            if row[0] != session.thread_id():
                yield f"KILL {row[0]}"
        yield "SET lock_wait_timeout = 10, foreign_key_checks = 0"
        for name, value in self.rows(session, "SHOW GLOBAL VARIABLES"):
            before = self.variables.get(name, value)
            if value != before and not VOLATILE.search(name):
                if not before:
                    # NULL looks like an empty string here, but some variables do not take one.
                    yield f"SET GLOBAL {name} = DEFAULT"
                yield f"SET GLOBAL {name} = {literal(before)}"
        names = {row[0] for row in self.rows(session, "SHOW DATABASES")}
        for name in sorted(n for n in names if n.lower() not in SYSTEM) + ["test"]:
            yield "DROP DATABASE IF EXISTS `%s`" % name.replace("`", "``")
        for account in sorted(self.all_accounts(session) - self.accounts):
            yield f"DROP {'USER' if '@' in account else 'ROLE'} {account}"
        yield "CREATE DATABASE test CHARACTER SET latin1 COLLATE latin1_swedish_ci"

    def apply(self, options):
        """Applies server options as global settings. Options that cannot be set are ignored, except those of TLS."""
        tls = [option.replace("$MYSQL_TEST_DIR", ROOT).replace("--loose-", "--") for option in options
               if re.match("--(loose-)?(ssl|tls)[-_]", option)]
        if tls != self.tls:
            self.start(tls)
            self.clean()
        with self.connect() as session:
            for option in options:
                name, equals, value = option[2:].partition("=")
                name = re.sub("^loose_", "", name.replace("-", "_"))
                given = value if equals else "1"
                if found := re.match(r"(skip|disable|enable)_(\w+)$", name):
                    if name not in self.variables:
                        name, given = found.group(2), "01"[found.group(1) == "enable"]
                if name == "default_time_zone":
                    name = "time_zone"
                if name == "timezone":
                    zones = {"GMT-3": "+03:00", "GMT+10": "-10:00"}
                    name, given = "time_zone", zones.get(value, value)
                if not NEEDLESS.match(name):
                    with contextlib.suppress(pymysql.MySQLError), session.cursor() as cursor:
                        cursor.execute(f"SET GLOBAL {name} = {literal(given)}")

    def stop(self):
        self.server.remove(panics_fail=False)
