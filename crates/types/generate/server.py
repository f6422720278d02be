"""Queries on a running MariaDB server, and layouts that several generators share."""
import pathlib
import struct
import subprocess
import sys

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"


def query(sql, charset="utf8mb4"):
    command = ["mariadb", "--no-defaults", *sys.argv[1:], "-N", f"--default-character-set={charset}"]
    run = subprocess.run(command, input=sql, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in run.stdout.splitlines()]


def write(name, data):
    (DATA / name).write_bytes(data)
    print(f"{name}: {len(data)} bytes")


def words(values):
    return struct.pack(f"<{len(values)}H", *values)


def section(data):
    """Returns bytes with their length before them."""
    return struct.pack("<I", len(data)) + data
