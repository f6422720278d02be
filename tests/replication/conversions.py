#!/usr/bin/env python3
"""Compares what Selkie and MariaDB make of rows events of every type in a column of every type.

usage: conversions.py SELKIE

MariaDB logs rows of one column for each type. Both servers get them with BINLOG statements into tables of each type, for
each value of slave_type_conversions. Rows have to be equal, and so do refusals with their texts: MariaDB tells the
client nothing of them, but its error log. 120 s.
"""
import pathlib
import re
import subprocess
import sys

import pymysql

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
from beside_mariadb import MariaDb  # noqa: E402
from binlog_beside_mariadb import LOG  # noqa: E402
from selkie import Server  # noqa: E402

TYPES = {
    "tinyint": "(-1),(5)", "tinyint unsigned": "(1),(200)", "smallint": "(-1),(30000)", "mediumint": "(-8000000)", "int": "(-1),(2000000000)",
    "int unsigned": "(4000000000)", "bigint": "(-1),(9000000000000000000)", "bigint unsigned": "(18000000000000000000)",
    "float": "(1.5),(1e20)", "double": "(1.5),(-1e200)", "decimal(10,0)": "(12345)", "decimal(5,2)": "(123.45)", "decimal(10,2)": "(-12345678.91)",
    "decimal(30,10)": "(1.5)", "bit(1)": "(1)", "bit(8)": "(b'10100101')", "bit(16)": "(65535)", "year": "(2020)", "date": "('2020-02-03')",
    "time": "('-10:11:12')", "time(3)": "('10:11:12.345')", "time(6)": "('10:11:12.345678')", "datetime": "('2020-02-03 04:05:06')",
    "datetime(3)": "('2020-02-03 04:05:06.789')", "timestamp": "('2020-02-03 04:05:06')", "timestamp(3)": "('2020-02-03 04:05:06.789')",
    "char(5) charset latin1": "('ab')", "char(10) charset latin1": "('abcdefghij')", "char(5) charset utf8mb4": "('ab')", "char(200) charset utf8mb4": "('ab')",
    "binary(5)": "('ab')", "binary(10)": "('ab')", "varchar(5) charset latin1": "('ab')", "varchar(10) charset latin1": "('abcdefghij')",
    "varchar(300) charset latin1": "('abcdefghij')", "varchar(10) charset utf8mb4": "('abcdefghij')", "varbinary(10)": "('abcdefghij')",
    "tinytext charset latin1": "('abcdefghij')", "text charset utf8mb4": "('12')", "mediumtext charset utf8mb4": "('ab')", "longtext charset utf8mb4": "('ab')",
    "tinyblob": "('ab')", "blob": "('ab')", "longblob": "('ab')", "enum('a','b')": "('b')", "enum('a','b','c')": "('c')", "set('a','b')": "('a,b')",
    "set('a','b','c','d','e','f','g','h','i')": "('a,i')", "inet4": "('1.2.3.4')", "inet6": "('::1')", "uuid": "('123e4567-e89b-12d3-a456-426655440000')",
}
SETTINGS = ("", "ALL_NON_LOSSY", "ALL_LOSSY", "ALL_LOSSY,ALL_NON_LOSSY")
REFUSED = 1677


def expected(source, target):
    """Pairs in which Selkie differs: MariaDB takes a time without fraction for one with the other's, and reads bytes that are not there. It
    keeps more characters than a CHAR has, and bytes that are none."""
    kind = source.split("(")[0]
    if target.endswith("utf8mb4") and target.startswith("char("):
        return kind in ("inet6", "uuid") or (source, target) == ("char(10) charset latin1", "char(5) charset utf8mb4")
    return kind in ("time", "datetime", "timestamp") and "(" not in source and target.startswith(kind + "(")


def binlog(path):
    out = subprocess.run(["mariadb-binlog", "--no-defaults", path], capture_output=True, check=True).stdout.decode()
    return re.findall(r"BINLOG '\n(.*?)'", out, re.S)


def connect(server):
    cursor = pymysql.connect(host="127.0.0.1", port=server.port, user="root", autocommit=True, charset="latin1").cursor()
    cursor.execute("SET sql_mode='', sql_log_bin=0, time_zone='+00:00'")
    return cursor


def record(reference):
    """The format and the rows of each type."""
    cursor, events = connect(reference), {}
    cursor.execute("SET sql_log_bin=1")
    cursor.execute("CREATE DATABASE d")
    for name, values in TYPES.items():
        cursor.execute("DROP TABLE IF EXISTS d.t")
        cursor.execute(f"CREATE TABLE d.t(c {name}) ENGINE=MyISAM")
        cursor.execute("FLUSH BINARY LOGS")
        cursor.execute(f"INSERT INTO d.t VALUES {values}")
        cursor.execute("SHOW MASTER STATUS")
        file = cursor.fetchone()[0]
        events[name] = binlog(f"{reference.root}/data/{file}")[-1]
    return binlog(f"{reference.root}/data/binlog.000001")[0], events


class Result:
    def __init__(self, server, form):
        self.server, self.cursor = server, connect(server)
        self.cursor.execute("CREATE DATABASE IF NOT EXISTS d")
        self.cursor.execute(f"BINLOG '{form}'")
        self.log = open(server.root + "/log", errors="replace") if isinstance(server, MariaDb) else None

    def create(self, target):
        self.cursor.execute("DROP TABLE IF EXISTS d.t")
        self.cursor.execute(f"CREATE TABLE d.t(c {target}) ENGINE=MyISAM")

    def set(self, setting):
        self.cursor.execute("SET GLOBAL slave_type_conversions=%s", (setting,))

    def of(self, event):
        self.cursor.execute("TRUNCATE d.t")
        try:
            self.cursor.execute(f"BINLOG '{event}'")
        except pymysql.MySQLError as error:
            return self.refusal(error)
        self.cursor.execute("SELECT hex(c), hex(concat(c,'')) FROM d.t")
        return self.cursor.fetchall()

    def refusal(self, error):
        if not self.log:
            return str(error.args[1]) if error.args[0] == REFUSED else str(error)
        told = re.findall(r"(Column \d+ of table .*), Internal MariaDB error code: 1677", self.log.read())
        return told[-1] if told else str(error)


def main():
    server, reference = Server(sys.argv[1], options=LOG), MariaDb(options=LOG)
    compared = differ = 0
    try:
        reference.start()
        server.start()
        form, events = record(reference)
        both = Result(server, form), Result(reference, form)
        for target in TYPES:
            for one in both:
                one.create(target)
            for setting in SETTINGS:
                for one in both:
                    one.set(setting)
                for source, event in events.items():
                    if expected(source, target):
                        continue
                    mine, theirs = (one.of(event) for one in both)
                    compared += 1
                    if mine != theirs:
                        differ += 1
                        print(f"{source} -> {target}, '{setting}': Selkie {mine}, MariaDB {theirs}")
        server.check_panics()
    finally:
        server.remove()
        reference.remove()
    print(f"{compared} conversions, {differ} differ")
    sys.exit(differ > 0)


if __name__ == "__main__":
    main()
