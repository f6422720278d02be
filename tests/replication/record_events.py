#!/usr/bin/env python3
"""Records SHOW BINLOG EVENTS of a MariaDB for the files of crates/replication/tests/corpus.

usage: record_events.py [--port 13950] [--work /tmp/replevents]

A private server, on loopback only, gets the files into its index before it starts. Each NAME.binlog becomes NAME.events:
a line for each event with Pos, Event_type, Server_id, End_log_pos and Info, tabs between them. Bytes that are not
printable ASCII, and backslashes, are written as \\xNN.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import time

import pymysql

CORPUS = pathlib.Path(__file__).resolve().parents[2] / "crates/replication/tests/corpus"


def escaped(value):
    value = value if isinstance(value, bytes) else str(value).encode()
    return "".join(chr(b) if 32 <= b < 127 and b != 92 else f"\\x{b:02x}" for b in value)


def start(work, port, files):
    shutil.rmtree(work, ignore_errors=True)
    data = work / "data"
    data.mkdir(parents=True)
    subprocess.run(["mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={data}",
                    "--auth-root-authentication-method=normal", "--skip-test-db"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for file in files:
        shutil.copy(file, data)
    (data / "log.index").write_text("".join(f"./{file.name}\n" for file in files))
    with open(work / "log", "ab") as log:
        process = subprocess.Popen(
            [shutil.which("mariadbd") or "/usr/sbin/mariadbd", "--no-defaults", "--user=root", f"--datadir={data}",
             f"--port={port}", f"--socket={work}/s.sock", "--bind-address=127.0.0.1", "--log-bin=log", "--server-id=1",
             "--lc-messages-dir=/usr/share/mysql"], stdout=log, stderr=log)
    for _ in range(100):
        try:
            connection = pymysql.connect(host="127.0.0.1", port=port, user="root", charset="latin1", use_unicode=False)
            return process, connection
        except pymysql.MySQLError:
            time.sleep(0.2)
    process.terminate()
    sys.exit("the server does not answer")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=13950)
    parser.add_argument("--work", default="/tmp/replevents")
    arguments = parser.parse_args()
    files = sorted(rows.with_suffix(".binlog") for rows in CORPUS.glob("*.rows"))
    process, connection = start(pathlib.Path(arguments.work), arguments.port, files)
    try:
        cursor = connection.cursor()
        cursor.execute("SET character_set_results=NULL")
        for file in files:
            cursor.execute(f"SHOW BINLOG EVENTS IN '{file.name}'")
            lines = ["\t".join(escaped(value) for value in row[1:]) + "\n" for row in cursor.fetchall()]
            file.with_suffix(".events").write_text("".join(lines))
            print(f"{file.name}: {len(lines)} events")
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
