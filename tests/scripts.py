"""Runs the scripts of tests/sql/server against a server. crates/exec/tests/scripts.rs describes their form;
here single spaces separate the columns of a row.

usage: scripts.py PORT [--update]    --update writes the actual rows into the scripts
"""

import pathlib
import sys

import pymysql

SCRIPTS = pathlib.Path(__file__).parent / "sql" / "server"


def shown(value):
    if value is None:
        return "NULL"
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def blocks(text):
    """Yields each block's comment, its first line, its statement and the expected result."""
    for block in text.split("\n\n"):
        lines = block.split("\n")
        comments = next((at for at, line in enumerate(lines) if not line.startswith("#")), len(lines))
        head, _, rest = "\n".join(lines[comments:]).partition("\n")
        sql, separator, expected = rest.partition("\n----")
        comment = "".join(line + "\n" for line in lines[:comments])
        yield comment, head, sql.strip(), expected.strip("\n") if separator else None


def run(cursor, head, sql):
    """Returns the failures, and the actual rows."""
    wanted = int(head.rsplit(" ", 1)[1]) if head.startswith("statement error") else 0
    try:
        cursor.execute(sql)
        found = 0
    except pymysql.MySQLError as error:
        found = error.args[0]
    wrong = None if found == wanted else f"expected error {wanted}, found {found}"
    rows = cursor.fetchall() if cursor.description and not found else ()
    return wrong, "\n".join(" ".join(map(shown, row)) for row in rows)


def run_script(port, path, update):
    connection = pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True)
    cursor = connection.cursor()
    for statement in ("DROP DATABASE IF EXISTS scripts", "CREATE DATABASE scripts", "USE scripts"):
        cursor.execute(statement)
    out, failures = [], 0
    for comment, head, sql, expected in blocks(path.read_text().rstrip("\n")):
        if not head:
            out.append(comment.rstrip("\n"))
            continue
        if not head.startswith(("statement", "query")):
            raise SystemExit(f"{path.name}: '{head}' begins no block")
        wrong, rows = run(cursor, head, sql)
        if head == "query" and not wrong and rows != expected and not update:
            wrong = f"expected\n{expected}\nfound\n{rows}"
        if wrong:
            failures += 1
            print(f"{path.name}: {sql}\n{wrong}")
        result = rows if update else expected
        out.append(comment + (f"{head}\n{sql}\n----\n{result}".rstrip("\n") if head == "query" else f"{head}\n{sql}"))
    if update:
        path.write_text("\n\n".join(out) + "\n")
    cursor.execute("DROP DATABASE scripts")
    return failures


def main():
    update = "--update" in sys.argv
    failures = sum(run_script(int(sys.argv[1]), path, update) for path in sorted(SCRIPTS.glob("*.test")))
    print(f"scripts: {failures} statements differ" if failures else "scripts: ok")
    sys.exit(1 if failures else 0)


main()
