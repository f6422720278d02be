"""Runs SQL scripts over the wire and compares everything a client sees with recorded results.

Results are recorded from a MariaDB 10.11 server (--record). A script is `NAME.sql`, its result
`NAME.result`: each statement, its columns, rows, affected rows, info and warnings, or its error.
A statement may be prefixed by a session (`b: SELECT 1;`); `-- meta` before a statement shows column
metadata too, `-- unordered` sorts its rows.

Differences from MariaDB are pinned in `NAME.differs` (--accept writes it). A new difference
fails, and so does a pinned one that is gone, until it is removed from the list. Lines `# ...` before a
difference give its reason, which holds for the differences after it until the next reason; --accept keeps them.

usage: run.py PORT [--record | --accept] [NAME ...]
"""

import difflib
import glob
import os
import re
import sys

import pymysql
from pymysql.constants import CLIENT

HERE = os.path.dirname(os.path.abspath(__file__))
SESSION = re.compile(r"^([a-z]): ")


class Session:
    def __init__(self, port, database):
        self.connection = pymysql.connect(
            host="127.0.0.1", port=port, user="root", charset="utf8mb4", autocommit=None,
            client_flag=CLIENT.FOUND_ROWS & 0, conv={}, database=database, use_unicode=False,
            local_infile=True)

    def run(self, statement, meta, unordered):
        cursor = self.connection.cursor()
        out = []
        try:
            cursor.execute(statement.encode())
            while True:
                out += self.describe(cursor, meta, unordered)
                if not cursor.nextset():
                    break
        except pymysql.MySQLError as error:
            number, text = error.args[0], error.args[1]
            text = text.decode(errors="replace") if isinstance(text, bytes) else text
            # The name of a copy contains its process and session.
            return out + ["ERROR " + re.sub(r"#sql-alter-[0-9a-f]+-[0-9a-f]+", "#sql-alter", f"{number}: {text}")]
        return out + self.warnings()

    @staticmethod
    def describe(cursor, meta, unordered):
        if cursor.description is None:
            result = cursor._result
            info = (result.message or b"").decode(errors="replace")
            insert_id = f", insert id {result.insert_id}" if result.insert_id else ""
            return [f"affected {result.affected_rows}{insert_id}{'; ' + info if info else ''}"]
        out = ["\t".join(text(column[0]) for column in cursor.description)]
        if meta:
            out += [f"  {text(f.name)}: type {f.type_code} length {f.length} decimals {f.scale}"
                    f" flags {f.flags} charset {f.charsetnr} table {text(f.table_name)}"
                    f"/{text(f.org_table)} column {text(f.org_name)}" for f in cursor._result.fields]
        rows = ["\t".join("NULL" if v is None else text(v) for v in row) for row in cursor.fetchall()]
        return out + (sorted(rows) if unordered else rows)

    def warnings(self):
        if not self.connection._result or not self.connection._result.warning_count:
            return []
        cursor = self.connection.cursor()
        cursor.execute(b"SHOW WARNINGS")
        return ["# " + " ".join(text(v) for v in row) for row in cursor.fetchall()]


def text(value):
    if isinstance(value, bytes):
        decoded = value.decode(errors="replace")
        return "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in decoded)
    return str(value)


def statements(path):
    meta = unordered = False
    statement = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("-- "):
                meta |= line.strip() == "-- meta"
                unordered |= line.strip() == "-- unordered"
            elif line.strip() or statement:
                statement.append(line.rstrip("\n"))
                if line.rstrip().endswith(";"):
                    yield "\n".join(statement)[:-1], meta, unordered
                    meta, unordered, statement = False, False, []


def run(port, name):
    database = "compat_" + name
    admin = pymysql.connect(host="127.0.0.1", port=port, user="root", charset="utf8mb4")
    with admin.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {database}")
        cursor.execute(f"CREATE DATABASE {database} CHARACTER SET utf8mb4")
    sessions, out = {}, []
    for statement, meta, unordered in statements(os.path.join(HERE, name + ".sql")):
        prefix = SESSION.match(statement)
        key = prefix.group(1) if prefix else "a"
        body = statement[len(prefix.group(0)):] if prefix else statement
        if key not in sessions:
            sessions[key] = Session(port, database)
        out.append("> " + statement)
        out += sessions[key].run(body, meta, unordered)
        out.append("")
    with admin.cursor() as cursor:
        cursor.execute(f"DROP DATABASE {database}")
    return "\n".join(out)


def differences(expected, got):
    diff = difflib.unified_diff(expected.splitlines(), got.splitlines(), "MariaDB", "Selkie", n=1, lineterm="")
    return "".join(line + "\n" for line in diff)


def groups(pinned):
    """Returns groups of differences, each with the lines of reasons before it."""
    out, why = [], []
    for line in pinned.splitlines(keepends=True):
        if line.startswith("# "):
            why.append(line)
        elif line.startswith("@@"):
            out.append((why, [line]))
            why = []
        elif out:
            out[-1][1].append(line)
    return out


def without_reasons(pinned):
    return "".join(line for line in pinned.splitlines(keepends=True) if not line.startswith("# "))


def with_reasons(found, pinned):
    """Returns new differences with the reasons of pinned ones: of equal differences, or of those in their place."""
    before, now = groups(pinned), groups(found)
    same = {"".join(lines[1:]): why for why, lines in before}
    head = found[:found.find("@@")] if now else ""
    out = [head]
    for at, (_, lines) in enumerate(now):
        in_place = before[at][0] if len(before) == len(now) else []
        out += same.get("".join(lines[1:]), in_place) + lines
    return "".join(out)


def main():
    port = int(sys.argv[1])
    record, accept = "--record" in sys.argv, "--accept" in sys.argv
    names = [a for a in sys.argv[2:] if not a.startswith("-")]
    names = names or sorted(os.path.basename(p)[:-4] for p in glob.glob(os.path.join(HERE, "*.sql")))
    failed = []
    for name in names:
        path = os.path.join(HERE, name + ".result")
        try:
            got = run(port, name)
        except (pymysql.MySQLError, OSError) as error:
            got = f"the server went away: {error}"
        if record:
            with open(path, "w", encoding="utf-8") as file:
                file.write(got)
            continue
        with open(path, encoding="utf-8") as file:
            expected = file.read()
        found = differences(expected, got)
        pinned = os.path.join(HERE, name + ".differs")
        known = ""
        if os.path.exists(pinned):
            with open(pinned, encoding="utf-8") as file:
                known = file.read()
        if accept:
            with open(pinned, "w", encoding="utf-8") as file:
                file.write(with_reasons(found, known))
            continue
        first = groups(known)[:1]
        if first and not first[0][0]:
            failed.append(name)
            print(f"--- {name}: no line `# ...` says why its first difference is there")
            continue
        known = without_reasons(known)
        if found != known:
            failed.append(name)
            diff = difflib.unified_diff(known.splitlines(), found.splitlines(), "known", "found", lineterm="")
            print(f"--- {name}", *list(diff)[:int(os.environ.get("DIFF_LINES", "60"))], sep="\n")
    print(f"compat: {len(names) - len(failed)} passed, {len(failed)} failed {' '.join(failed)}")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
