#!/usr/bin/env python3
"""Compares what `selkie inspect binlog` and `mariadb-binlog -vv` show of binary logs.

usage: inspect_beside_mariadb.py SELKIE [FILE ...]     without a FILE: those of crates/replication/tests/corpus

All lines have to be equal but those that belong to the tool and not to an event. Rows are compared by themselves, and
places (`# at N`) as a set: MariaDB's tool shows all events of a statement before its rows, and places of annotations
early. Without mariadb-binlog nothing is compared. A damaged and an encrypted file have to end with their exit codes.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

CORPUS = pathlib.Path(__file__).resolve().parents[2] / "crates/replication/tests/corpus"
# What mariadb-binlog says of its own session, and files it makes for LOAD DATA.
OWN = re.compile(rb"/\*!50530 SET @@SESSION.PSEUDO|/\*!40019 SET|/\*!50003 SET|ROLLBACK /\* added by|LOAD DATA ")


def lines(command):
    run = subprocess.run(command, capture_output=True, env={**os.environ, "TZ": "UTC"}, check=False)
    if run.returncode != 0:
        sys.exit(f"{' '.join(command)}: {run.returncode} {run.stdout[-200:]} {run.stderr[-200:]}")
    shown = [line.rstrip() for line in run.stdout.split(b"\n") if not OWN.match(line)]
    # The checksum of a file's first event is there whether the others have one or not.
    shown = [re.sub(rb" CRC32 0x\w+ \tStart:", b" \tStart:", line) for line in shown]
    places = {line for line in shown if line.startswith(b"# at ")}
    rows = [line for line in shown if line.startswith(b"###")]
    return rows + [line for line in shown if not line.startswith((b"# at ", b"###"))], places


def check_codes(binary):
    """Exit codes of files that cannot be shown to their ends."""
    torn = subprocess.run([binary, "inspect", "binlog", "/dev/stdin"], capture_output=True, check=False,
                          input=(CORPUS / "strings.binlog").read_bytes()[:5000])
    encrypted = subprocess.run([binary, "inspect", "binlog", str(CORPUS / "encrypted.binlog")], capture_output=True, check=False)
    absent = subprocess.run([binary, "inspect", "binlog", "/nonexistent"], capture_output=True, check=False)
    codes = [torn.returncode, encrypted.returncode, absent.returncode]
    if codes != [1, 2, 2] or b"ends inside an event" not in torn.stdout or b"encrypted" not in encrypted.stdout:
        sys.exit(f"exit codes are {codes}: {torn.stdout[-200:]} {encrypted.stdout[-200:]}")


def main():
    check_codes(sys.argv[1])
    if not shutil.which("mariadb-binlog"):
        print("mariadb-binlog is not there: nothing compared")
        return
    binary, files = sys.argv[1], sys.argv[2:] or sorted(str(rows.with_suffix(".binlog")) for rows in CORPUS.glob("*.rows"))
    failed = 0
    for file in files:
        mine, my_places = lines([binary, "inspect", "binlog", file])
        theirs, places = lines(["mariadb-binlog", "--no-defaults", "-vv", "--base64-output=decode-rows", file])
        # Behind the last event MariaDB's tool says where the file ends.
        same = mine == theirs and my_places <= places
        if not same:
            failed += 1
            for a, b in zip(mine, theirs):
                if a != b:
                    print(f"{file}:\n  selkie  {a!r}\n  mariadb {b!r}")
                    break
            else:
                print(f"{file}: {len(mine)} lines, {len(theirs)} of MariaDB")
    print(f"{len(files)} files, {failed} differ")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
