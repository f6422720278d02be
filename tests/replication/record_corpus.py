#!/usr/bin/env python3
"""Records binary log files from a MariaDB, with the row lines that mariadb-binlog prints of them.

usage: record_corpus.py [--port 13950] [--work /tmp/replcorpus] [NAME ...]

Each scenario of SCENARIOS becomes crates/replication/tests/corpus/NAME.binlog and NAME.rows. A private server is
started for it, on loopback only, and stopped at the end. Times inside the files are fixed where a session can fix them.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time

from scenarios import SCENARIOS

CORPUS = pathlib.Path(__file__).resolve().parents[2] / "crates/replication/tests/corpus"
LARGEST = 30 * 1024


class Server:
    """A MariaDB with a binary log in a directory of its own."""

    def __init__(self, work, port, options=()):
        self.work, self.port = pathlib.Path(work), port
        shutil.rmtree(self.work, ignore_errors=True)
        (self.work / "data").mkdir(parents=True)
        subprocess.run(["mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={self.work}/data",
                        "--auth-root-authentication-method=normal", "--skip-test-db"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(self.work / "log", "ab") as log:
            self.process = subprocess.Popen(
                [shutil.which("mariadbd") or "/usr/sbin/mariadbd", "--no-defaults", "--user=root",
                 f"--datadir={self.work}/data", f"--port={port}", f"--socket={self.work}/s.sock",
                 "--bind-address=127.0.0.1", "--local-infile=1", "--secure-file-priv=", "--log-bin=binlog",
                 "--server-id=1", "--binlog-format=ROW", "--default-time-zone=+00:00", "--lc-messages-dir=/usr/share/mysql",
                 "--character-set-server=utf8mb4", "--innodb-buffer-pool-size=64M", *options],
                stdout=log, stderr=log, start_new_session=True)
        for _ in range(100):
            if self.run("SELECT 1;").returncode == 0:
                return
            time.sleep(0.2)
        sys.exit("the server does not answer")

    def client(self):
        return ["mariadb", "--no-defaults", "--force", "--local-infile=1", "-uroot", "--protocol=socket",
                f"--socket={self.work}/s.sock"]

    def run(self, text):
        return subprocess.run(self.client(), input=text.encode(), capture_output=True)

    def at_once(self, texts):
        clients = [subprocess.Popen(self.client(), stdin=subprocess.PIPE) for _ in texts]
        for client, text in zip(clients, texts):
            client.stdin.write(text.encode())
            client.stdin.close()
        for client in clients:
            client.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait()


def record(server, name, scenario):
    server.run("DROP DATABASE IF EXISTS d; SET GLOBAL binlog_row_metadata=NO_LOG; SET GLOBAL log_bin_compress=0;"
               "SET GLOBAL binlog_checksum=CRC32; SET GLOBAL binlog_format=ROW; SET GLOBAL binlog_commit_wait_count=0;"
               "SET GLOBAL max_allowed_packet=16777216;"
               "CREATE DATABASE d;" + scenario.get("before", "") + "; RESET MASTER;")
    begin = "SET timestamp=1700000000; USE d; SET NAMES utf8mb4;\n"
    text = begin + scenario.get("text", "").replace("$WORK", str(server.work))
    done = server.run(text)
    if done.stderr.strip() and not scenario.get("errors"):
        print(f"{name}: {done.stderr.decode()}", file=sys.stderr)
    if "at_once" in scenario:
        server.at_once([begin + part for part in scenario["at_once"]])
    server.run("FLUSH BINARY LOGS;")
    log = (server.work / "data/binlog.000001").read_bytes()
    if len(log) > LARGEST:
        sys.exit(f"{name}: {len(log)} bytes are too many")
    (CORPUS / f"{name}.binlog").write_bytes(log)
    printed = subprocess.run(["mariadb-binlog", "--no-defaults", "-vv", "--base64-output=decode-rows",
                              "--skip-print-row-count", str(CORPUS / f"{name}.binlog")],
                             check=True, capture_output=True, env={**os.environ, "TZ": "UTC"}).stdout
    # Statements of an ALTER in two phases are shown behind the same sign as rows.
    lines = [line for line in printed.split(b"\n") if line.startswith(b"###") and not line.startswith(b"### ALTER")]
    (CORPUS / f"{name}.rows").write_bytes(b"".join(line + b"\n" for line in lines))
    print(f"{name}: {len(log)} bytes, {len(lines)} row lines")


def record_encrypted(arguments):
    """A file of which all but the first events are encrypted, which no tool without the key can show."""
    keys = pathlib.Path(arguments.work + ".keys")
    keys.write_text("1;770A8A65DA156D24EE2A093277530142\n")
    options = ["--plugin-load-add=file_key_management", f"--file-key-management-filename={keys}", "--encrypt-binlog=1"]
    server = Server(arguments.work, arguments.port, options)
    try:
        server.run("RESET MASTER; CREATE DATABASE d; FLUSH BINARY LOGS;")
        log = (server.work / "data/binlog.000001").read_bytes()
        (CORPUS / "encrypted.binlog").write_bytes(log)
        print(f"encrypted: {len(log)} bytes")
    finally:
        server.stop()
        keys.unlink()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=13950)
    parser.add_argument("--work", default="/tmp/replcorpus")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    CORPUS.mkdir(parents=True, exist_ok=True)
    server = Server(arguments.work, arguments.port)
    try:
        load = "".join(f"{n}\t{'x' * 60}\n" for n in range(140))
        (server.work / "load.txt").write_text(load)
        (server.work / "short.txt").write_text("1\tone\n2\ttwo\n")
        (server.work / "twice.txt").write_text("7\tone\n7\ttwo\n")
        for name, scenario in SCENARIOS.items():
            if not arguments.names or name in arguments.names:
                record(server, name, scenario)
    finally:
        server.stop()
    if not arguments.names or "encrypted" in arguments.names:
        record_encrypted(arguments)


if __name__ == "__main__":
    main()
