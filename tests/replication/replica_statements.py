#!/usr/bin/env python3
"""Statements of a replica whose threads do not run: rows, errors and warnings.

usage: replica_statements.py PORT [--record]

The answers are compared with replica_statements.result, which --record writes from a MariaDB 10.11 that was started with
--skip-slave-start. The server must be new. A line `? 'name'` of replica_statements.txt shows what has changed in SHOW SLAVE
STATUS since the last such line.
"""

import pathlib
import sys

import pymysql

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from recorded import compare  # noqa: E402

SCRIPT = pathlib.Path(__file__).with_suffix(".txt")
RESULT = pathlib.Path(__file__).with_suffix(".result")
# Names and lengths of files that are the server's own.
OWN = {"Relay_Log_File", "Relay_Log_Pos", "Relay_Log_Space", "Executed_log_entries"}


class Client:
    def __init__(self, port):
        self.connection = pymysql.connect(host="127.0.0.1", port=port, user="root", charset="utf8mb4", autocommit=True)
        self.status = {}

    def rows(self, text):
        with self.connection.cursor() as cursor:
            cursor.execute(text)
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row)) for row in cursor.fetchall()]

    def changed(self, name):
        now = (self.rows(f"SHOW SLAVE {name} STATUS") or [{}])[0]
        now = {key: value for key, value in now.items() if key not in OWN}
        old, self.status = self.status, now
        return [f"  {key}: {value}" for key, value in now.items() if old.get(key) != value] or ["  -"]

    def answer(self, text):
        if text.startswith("? "):
            return self.changed(text[2:])
        # Statements without tables keep the conditions of the last one.
        self.rows("SELECT 1 FROM mysql.db LIMIT 0")
        try:
            rows = self.rows(text)
            lines = [f"  {tuple(v for k, v in row.items() if k not in OWN)}" for row in rows]
        except pymysql.MySQLError as error:
            lines = [f"  error {error.args[0]}: {error.args[1]}"]
        conditions = [tuple(row.values()) for row in self.rows("SHOW WARNINGS")]
        return lines + [f"  {level} {code}: {text}" for level, code, text in conditions if level != "Error"]


def main():
    client, lines = Client(int(sys.argv[1])), []
    for text in SCRIPT.read_text().splitlines():
        lines.append(text)
        if text and not text.startswith("#"):
            lines += client.answer(text)
    compare("replica statements", RESULT, lines)


main()
