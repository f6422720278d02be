#!/usr/bin/env python3
"""Compares the binary logs that Selkie and MariaDB write of the same statements, and replays Selkie's into MariaDB.

usage: binlog_beside_mariadb.py SELKIE [NAME ...]     without a NAME: all scripts of tests/replication/binlog

Each script runs on both servers in an empty database d. SHOW BINLOG EVENTS has to be equal but for numbers that belong
to one server, and so have the settings of statements that mariadb-binlog tells; lines of NAME.differs, `# reason` and then a line of the comparison, are expected. Then the files are
given to `mariadb-binlog | mariadb`, and the tables of MariaDB have to have the rows of Selkie. 40 s.
"""
import difflib
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from beside_mariadb import MariaDb  # noqa: E402
from selkie import Server  # noqa: E402

LOG = ["--log-bin=binlog", "--binlog-format=ROW", "--server-id=1", "--log-bin-trust-function-creators=1"]
CONTEXT = re.compile(r"SET @@session\.(character_set_client|time_zone|lc_time_names)=.*|error_code=[1-9]\d*")
MODE = "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION"


def client(port, text):
    run = subprocess.run(["mariadb", "--no-defaults", "--force", "--default-character-set=utf8mb4", "-h127.0.0.1", f"-P{port}",
                          "-uroot", "-N"], input=text.encode(), capture_output=True, check=False, timeout=120)
    return run.stdout.decode(errors="replace"), run.stderr.decode(errors="replace")


def rows(port, text):
    out, errors = client(port, text)
    if errors:
        sys.exit(f"{text}: {errors}")
    return out.splitlines()


def events(port):
    """The events as lines, without numbers that another server need not have."""
    lines, tables = [], {}
    for line in rows(port, "SHOW BINLOG EVENTS"):
        _, _, kind, _, _, info = line.split("\t", 5)
        if kind in ("Format_desc", "Gtid_list", "Binlog_checkpoint"):
            continue
        info = re.sub(r"xid=\d+", "xid=N", info)
        info = re.sub(r"table_id: (\d+)", lambda m: f"table_id: {tables.setdefault(m[1], len(tables))}", info)
        lines.append(f"{kind}\t{info}")
    return lines + contexts(port)


def contexts(port):
    """What mariadb-binlog says of the character sets, time zones and errors of statements."""
    run = subprocess.run(["mariadb-binlog", "--no-defaults", "-R", "-h127.0.0.1", f"-P{port}", "-uroot", "binlog.000001"],
                         capture_output=True, check=False, timeout=120)
    found = map(CONTEXT.search, run.stdout.decode(errors="replace").splitlines())
    return [match[0] for match in found if match]


def run_script(port, text):
    begin = f"DROP DATABASE IF EXISTS d; SET GLOBAL sql_mode='{MODE}'; RESET MASTER;\n"
    client(port, begin)
    return client(port, "CREATE DATABASE d; USE d;\n" + text)[1]


def expected(name):
    path = HERE / "binlog" / f"{name}.differs"
    lines = path.read_text().splitlines() if path.exists() else []
    return [line for line in lines if not line.startswith("# ")]


def compare(name, mine, theirs):
    found = [line for line in difflib.unified_diff(theirs, mine, "MariaDB", "Selkie", lineterm="", n=0)
             if not line.startswith(("@@", "---", "+++"))]
    if found == expected(name):
        return True
    print(f"{name}: the events differ (- MariaDB, + Selkie):")
    print("\n".join(found[:60]))
    return False


def tables(port):
    """The rows of all tables of d, as text in the order of all columns."""
    names = rows(port, "SELECT table_name FROM information_schema.tables WHERE table_schema='d' AND table_type <> 'VIEW' ORDER BY 1")
    out = []
    for name in names:
        columns = rows(port, f"SELECT concat('`', column_name, '`') FROM information_schema.columns WHERE table_schema='d' AND "
                             f"table_name='{name}' ORDER BY ordinal_position")
        shown = ", ".join(f"hex({column})" for column in columns)
        out.append(f"table {name} ({', '.join(columns)})")
        out += sorted(rows(port, f"SELECT {shown} FROM d.`{name}`"))
    out += rows(port, "SELECT 'routine', routine_name, routine_type FROM information_schema.routines WHERE routine_schema='d' ORDER BY 1,2,3")
    out += rows(port, "SELECT 'trigger', trigger_name FROM information_schema.triggers WHERE trigger_schema='d' ORDER BY 1,2")
    out += rows(port, "SELECT 'view', table_name FROM information_schema.views WHERE table_schema='d' ORDER BY 1,2")
    return out


def feed(server, reference, upto=None, fails=()):
    """Gives the files of the log, all or up to a file and an offset, to MariaDB. Returns what went wrong, or nothing.

    Texts in the log that had one of the errors `fails` have it again.
    """
    names = [line.split("\t")[0] for line in rows(server.port, "SHOW BINARY LOGS")]
    stop = []
    if upto:
        names, stop = names[:names.index(upto[0]) + 1], [f"--stop-position={upto[1]}"]
    files = [f"{server.datadir}/{file}" for file in names]
    text = subprocess.run(["mariadb-binlog", "--no-defaults", "--verify-binlog-checksum", *stop, *files], capture_output=True, check=False)
    if text.returncode != 0:
        return f"mariadb-binlog: {text.stderr.decode()[-500:]}"
    client(reference.port, "DROP DATABASE IF EXISTS d")
    force = ["--force"] if fails else []
    run = subprocess.run(["mariadb", "--no-defaults", "-h127.0.0.1", f"-P{reference.port}", "-uroot", "--binary-mode", *force],
                         input=text.stdout, capture_output=True, check=False)
    if fails:
        wrong = [line for line in run.stderr.decode(errors="replace").splitlines() if re.match(r"ERROR \d+", line)]
        return "\n".join(line for line in wrong if int(re.match(r"ERROR (\d+)", line)[1]) not in fails)[:500]
    # A statement that failed for some accounts only fails again, and ends the replay: it is a script's last.
    return run.stderr.decode()[-500:] if run.returncode and b"ERROR 1396" not in run.stderr else ""


def replay(server, reference, name, fails=()):
    """Gives the files of the log to MariaDB; whether its tables are the server's."""
    wrong = feed(server, reference, fails=fails)
    mine, theirs = tables(server.port), tables(reference.port)
    if not wrong and mine == theirs:
        return True
    print(f"{name}: the replay differs (- MariaDB, + Selkie): {wrong}")
    print("\n".join(list(difflib.unified_diff(theirs, mine, lineterm="", n=1))[:40]))
    return False


def check(server, reference, name):
    text = (HERE / "binlog" / f"{name}.sql").read_text()
    errors = [run_script(port, text) for port in (server.port, reference.port)]
    if errors[0] != errors[1]:
        print(f"{name}: the errors differ:\n{errors[0]}---\n{errors[1]}")
    same = errors[0] == errors[1]
    same &= compare(name, events(server.port), events(reference.port))
    same &= replay(server, reference, name)
    return same


def run_scripts(binary, names, check):
    """Checks scripts on a Selkie and a MariaDB with logs, and removes both; exits with 1 if one fails."""
    server, reference = Server(binary, options=LOG), MariaDb(options=LOG)
    try:
        reference.start()
        server.start()
        failed = sum(not check(server, reference, name) for name in names)
        server.check_panics()
    finally:
        server.remove()
        reference.remove()
    print(f"{len(names)} scripts, {failed} differ")
    sys.exit(failed > 0)


def main():
    names = sys.argv[2:] or sorted(path.stem for path in (HERE / "binlog").glob("*.sql"))
    run_scripts(sys.argv[1], names, check)


if __name__ == "__main__":
    main()
