#!/usr/bin/env python3
"""Compares the binary logs of Selkie and MariaDB in the formats STATEMENT and MIXED, and replays Selkie's into both.

usage: formats.py SELKIE [--record] [NAME ...]     without a NAME: all scripts of tests/replication/formats

Each script runs on both servers in an empty database d and each format. Answers, warnings and SHOW BINLOG EVENTS have to
be equal but for numbers that belong to one server; the lines of NAME.FORMAT.differs are expected (--record writes them
anew). Selkie's files are given to a MariaDB and to another Selkie, whose tables have to have the same rows; statements
that are unsafe in the format STATEMENT are allowed to differ there. 1 min.
"""
import difflib
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from binlog_beside_mariadb import LOG, MODE, MariaDb, Server, events, feed, tables  # noqa: E402

FORMATS = ("MIXED", "STATEMENT")
# Errors of texts that stand in part.
FAILS = (1062,)
# Rows that follow from the server.
OWN = {("unsafe", "STATEMENT")}


def run(port, text, form):
    """What a client is told."""
    begin = f"DROP DATABASE IF EXISTS d; SET GLOBAL sql_mode='{MODE}'; RESET MASTER; CREATE DATABASE d;\n"
    command = ["mariadb", "--no-defaults", "--force", "--default-character-set=utf8mb4", "-h127.0.0.1", f"-P{port}", "-uroot", "-N"]
    subprocess.run(command, input=begin.encode(), capture_output=True, check=True)
    text = f"USE d; SET binlog_format={form};\n{text}"
    done = subprocess.run([*command, "--show-warnings"], input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    lines = done.stdout.decode(errors="replace").splitlines()
    # The client shows the text of a statement that fails.
    return [re.sub(r" at line \d+", "", line) for line in lines if re.match(r"(ERROR|Note|Warning) |Error \(", line)]


def normal(lines):
    lines = [re.sub(r"rand_seed1=\d+,rand_seed2=\d+", "rand_seed1=N,rand_seed2=N", line) for line in lines]
    lines = [re.sub(r"table_id: \d+", "table_id: N", line) for line in lines]
    # Selkie tells the zone of every change of rows.
    lines = [line for line in lines if not line.startswith("SET @@session.time_zone")]
    return [re.sub(r"GTID 0-1-\d+", "GTID", line) for line in lines]


def differences(mine, theirs):
    found = difflib.unified_diff(theirs, mine, "MariaDB", "Selkie", lineterm="", n=0)
    return [line for line in found if not line.startswith(("@@", "---", "+++"))]


def check(servers, name, form, record):
    server, reference, copy = servers
    text = (HERE / "formats" / f"{name}.sql").read_text()
    told = [run(each.port, text, form) for each in (server, reference)]
    found = differences(told[0], told[1]) + differences(normal(events(server.port)), normal(events(reference.port)))
    path = HERE / "formats" / f"{name}.{form}.differs"
    if record:
        path.write_text("\n".join(found) + "\n" if found else "")
        if not found:
            path.unlink()
    expected = path.read_text().splitlines() if path.exists() else []
    same = found == expected
    if not same:
        print(f"{name} in {form}: answers or events differ otherwise than expected:")
        print("\n".join(difflib.unified_diff(expected, found, lineterm="", n=1)))
    mine = tables(server.port)
    for target in (reference, copy):
        wrong = feed(server, target, fails=FAILS)
        theirs = tables(target.port)
        if wrong or (mine != theirs and (name, form) not in OWN):
            same = False
            print(f"{name} in {form}: the replay into {type(target).__name__} differs: {wrong}")
            print("\n".join(list(difflib.unified_diff(theirs, mine, lineterm="", n=1))[:30]))
    return same


def main():
    binary, names = sys.argv[1], [name for name in sys.argv[2:] if name != "--record"]
    names = names or sorted(path.stem for path in (HERE / "formats").glob("*.sql"))
    servers = Server(binary, options=LOG), MariaDb(options=LOG), Server(binary)
    failed = 0
    try:
        for server in servers:
            server.start()
        for name in names:
            failed += not all([check(servers, name, form, "--record" in sys.argv) for form in FORMATS])
        servers[0].check_panics()
    finally:
        for server in servers:
            server.remove()
    print(f"{len(names)} scripts, {failed} differ")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
