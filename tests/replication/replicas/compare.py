"""Compares all that servers have: rows, definitions, accounts, and the events of their logs."""

import difflib
import hashlib
import re

import pymysql

from . import report
from .nodes import SYSTEM, USER, accounts

RAW = {"use_unicode": False, "conv": {}}


def tables(node, schema=None):
    """(schema, name, type) of all tables of databases that tests made."""
    where = f"table_schema = '{schema}'" if schema else f"table_schema NOT IN {SYSTEM}"
    return node.rows(f"SELECT table_schema, table_name, table_type FROM information_schema.tables WHERE {where} ORDER BY 1, 2")


def short(value):
    """A value that may be of any length, so that equal stays equal."""
    if value is None or len(value) < 300:
        return value
    return value[:20] + b"... %d " % len(value) + hashlib.sha256(value).hexdigest()[:16].encode()


def column(name, kind):
    """What is read of a column: of very long values only their hash."""
    name = "`" + name.replace("`", "``") + "`"
    return f"IF(LENGTH({name}) > 1000, CONCAT(LENGTH({name}), ' ', SHA1(CAST({name} AS BINARY))), {name})" if kind in ("longblob", "longtext") else name


def all_rows(node, names):
    """The rows of tables, in an order that does not depend on the server."""
    found = {}
    connection = node.connect(**RAW)
    with connection, connection.cursor() as cursor:
        cursor.execute("SET character_set_results=NULL, time_zone='+00:00'")
        for schema, name in names:
            cursor.execute(f"SHOW COLUMNS FROM `{schema}`.`{name}`")
            columns = [column(row[0].decode(), row[1].decode()) for row in cursor.fetchall()]
            cursor.execute(f"SELECT {', '.join(columns)} FROM `{schema}`.`{name}`")
            found[schema, name] = sorted((tuple(map(short, row)) for row in cursor.fetchall()), key=repr)
    return found


def definitions(node, schema=None):
    """What SHOW CREATE says of all objects, by the object."""
    found = {}
    connection = node.connect(cursorclass=pymysql.cursors.DictCursor)
    with connection, connection.cursor() as cursor:
        def ask(text):
            cursor.execute(text)
            return list(cursor.fetchall())
        where = f"IN ('{schema}')" if schema else f"NOT IN {SYSTEM}"
        cursor.execute("SHOW DATABASES")
        for row in list(cursor.fetchall()):
            name = row["Database"]
            if name not in SYSTEM and schema in (None, name):
                found[f"database {name}"] = ask(f"SHOW CREATE DATABASE `{name}`")[0]["Create Database"]
        for database, name, kind in tables(node, schema):
            row = ask(f"SHOW CREATE {'VIEW' if kind == 'VIEW' else 'TABLE'} `{database}`.`{name}`")[0]
            texts = [str(value) for value in row.values()]
            # The counter depends on what was undone. MariaDB keeps an option of Aria when the engine changes.
            found[f"{kind.lower()} {database}.{name}"] = re.sub(r" AUTO_INCREMENT=\d+| PAGE_CHECKSUM=1", "", "|".join(texts))
        for row in ask(f"SELECT routine_schema AS a, routine_name AS b, routine_type AS c FROM information_schema.routines WHERE routine_schema {where}"):
            shown = ask(f"SHOW CREATE {row['c']} `{row['a']}`.`{row['b']}`")[0]
            found[f"{row['c'].lower()} {row['a']}.{row['b']}"] = "|".join(str(value) for value in shown.values())
        for row in ask(f"SELECT trigger_schema AS a, trigger_name AS b FROM information_schema.triggers WHERE trigger_schema {where}"):
            shown = ask(f"SHOW CREATE TRIGGER `{row['a']}`.`{row['b']}`")[0]
            shown.pop("Created", None)
            found[f"trigger {row['a']}.{row['b']}"] = "|".join(str(value) for value in shown.values())
    return found


def account_lines(node):
    """Users, roles and what they may do."""
    found = {}
    connection = node.connect()
    with connection, connection.cursor() as cursor:
        for user, host in accounts(cursor):
            if user == USER:
                continue
            name = f"`{user}`@`{host}`" if host else f"`{user}`"
            lines = []
            if host:
                cursor.execute(f"SHOW CREATE USER {name}")
                lines += [row[0] for row in cursor.fetchall()]
            cursor.execute(f"SHOW GRANTS FOR {name}")
            found[f"account {name}"] = lines + sorted(row[0] for row in cursor.fetchall())
    return found


def same_rows(first, second, schema=None):
    """Compares the rows of all tables; returns the number of rows."""
    count = 0
    mine, theirs = ([row for row in tables(node, schema) if row[2] != "VIEW"] for node in (first, second))
    report.same(f"tables of {second}, not of {first}", [row for row in theirs if row not in mine], [])
    report.same(f"tables of {first}, not of {second}", [row for row in mine if row not in theirs], [])
    both = [row[:2] for row in mine if row in theirs]
    all_expected, all_got = all_rows(first, both), all_rows(second, both)
    for database, name in both:
        expected, got = all_expected[database, name], all_got[database, name]
        count += len(expected)
        if expected != got:
            missing, extra = subtract(expected, got), subtract(got, expected)
            report.current.line(f"rows of {database}.{name}: expected {len(expected)} rows of {first}, got {len(got)} of {second}; "
                                f"missing: {report.shorten(missing[:2])}, too many: {report.shorten(extra[:2])}")
    return count


def subtract(rows, others):
    left, found = list(others), []
    counts = {}
    for row in left:
        counts[row] = counts.get(row, 0) + 1
    for row in rows:
        if counts.get(row, 0):
            counts[row] -= 1
        else:
            found.append(row)
    return found


def same_dictionary(expected, got, first, second):
    for name in sorted({*expected, *got}):
        mine, theirs = expected.get(name), got.get(name)
        if mine != theirs:
            report.current.line(f"{name}: expected as on {first}: {report.shorten(mine, 700)}, got on {second}: {report.shorten(theirs, 700)}")


def same_everything(chain, schema=None, is_empty_allowed=False):
    """All servers of a chain have what the primary has."""
    mine, grants = definitions(chain.primary, schema), account_lines(chain.primary)
    for node in chain.followers:
        count = same_rows(chain.primary, node, schema)
        report.true("there are rows to compare", count or is_empty_allowed)
        same_dictionary(mine, definitions(node, schema), chain.primary, node)
        if schema is None:
            same_dictionary(grants, account_lines(node), chain.primary, node)


def same_rows_of_all(chain, schema=None):
    for node in chain.followers:
        report.true("there are rows to compare", same_rows(chain.primary, node, schema))


def events(node, first=None):
    """The events of a server's log as lines, without numbers that another server need not have."""
    lines, ids = [], {}
    files = [row[0] for row in node.rows("SHOW BINARY LOGS")]
    for file in files[files.index(first) if first else 0:]:
        for _, _, kind, server, _, info in node.rows(f"SHOW BINLOG EVENTS IN '{file}'"):
            if kind in ("Format_desc", "Gtid_list", "Binlog_checkpoint", "Rotate", "Stop"):
                continue
            text = re.sub(r"xid=\d+", "xid=N", info)
            text = re.sub(r" cid=\d+", "", text)
            text = re.sub(r"table_id: (\d+)", lambda m: f"table_id: {ids.setdefault(m[1], len(ids))}", text)
            if kind in ("Query", "Xid") and text.startswith("COMMIT"):
                # A replica may store its position in an engine with transactions, whatever the group changed.
                kind, text = "End", "COMMIT"
            line = f"{kind} of {server}: {text}"
            if lines and kind.startswith(("Write_rows", "Update_rows", "Delete_rows")) and line.startswith(lines[-1]):
                # Rows of one statement may be in more events here than there.
                lines[-1] = line
                continue
            lines.append(line)
    return lines


def same_events(first, second):
    """The logs of two servers say the same."""
    expected, got = events(first), events(second)
    differ = [line for line in difflib.unified_diff(expected, got, str(first), str(second), lineterm="", n=0)
              if not line.startswith(("@@", "---", "+++"))]
    report.true("the logs have events", len(expected) > 0)
    report.true(f"the events of {second}'s log are those of {first}'s", not differ, f"{len(differ)} differences: {report.shorten(differ[:8], 900)}")
