"""Runs every statement with every shape of account and compares the privilege checks with MariaDB's.

Allowed statements, visible rows and refusals, with number and text, were recorded from a MariaDB 10.11
(--record). Intended differences are in `differs.txt`, each with its reason.

usage: run.py BINARY|PORT [--record | --accept] [--kinds KIND,KIND]
--accept appends unknown answers to `differs.txt`; a reason must be added there.
"""

import difflib
import os
import re
import sys

import pymysql
from pymysql.constants import CLIENT

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from selkie import Server  # noqa: E402
from statements import A, CASES, FIXTURE  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMN = {"SELECT", "INSERT", "UPDATE", "REFERENCES"}
OTHERS = [
    "CREATE OR REPLACE USER other@localhost", "CREATE OR REPLACE USER other2@localhost", "CREATE OR REPLACE ROLE other_role",
    "GRANT SELECT ON other_db.* TO other@localhost", "GRANT other_role TO other@localhost",
    "SET DEFAULT ROLE other_role FOR other@localhost",
]


def split(need):
    privileges, where = need.split("@", 1)
    return privileges, where


def target(where):
    if where == "*":
        return "*.*"
    if where.startswith("proc:"):
        return "PROCEDURE " + where[5:]
    if where.startswith("func:"):
        return "FUNCTION " + where[5:]
    return where if "." in where else f"`{where.replace('_', chr(92) + '_')}`.*"


def database(where):
    if where == "*":
        return "*.*"
    name = where.split(":")[-1].split(".")[0]
    return f"`{name.replace('_', chr(92) + '_')}`.*"


def give(need, to, level="own"):
    """Returns the GRANT of a need at a level."""
    privileges, where = split(need)
    if level == "global":
        on = "*.*"
    elif level == "database":
        on = database(where)
    elif level == "wild":
        on = "`my\\_%`.*" if where.split(":")[-1].startswith("my_") else database(where)
    elif level == "column" and "." in where and ":" not in where and privileges in COLUMN:
        key = "z" if where.startswith("other") else "id, a" if where[5:] in ("t", "p", "vd", "vi") else "id" if where[5:] == "tt" else None
        if key:
            privileges, on = f"{privileges} ({key})", where
        else:
            on = target(where)
    else:
        on = target(where)
    if privileges == "GRANT OPTION":
        return f"GRANT USAGE ON {on} TO {to} WITH GRANT OPTION"
    return f"GRANT {privileges} ON {on} TO {to}"


# Missing tables: only CREATE can be granted on them by itself.
MISSING = re.compile(r"\.(n|n2|vn|nosuch|evil|new|x)$")


def gives(needs, to, level="own"):
    """Returns the GRANTs of several needs at a level."""
    made, borrowed = [], []
    for need in needs:
        privileges, where = split(need)
        absent = level in ("own", "column") and MISSING.search(where) and ":" not in where and privileges != "CREATE"
        if absent:
            made.append(f"GRANT CREATE, {privileges} ON {where} TO {to}")
            if f"CREATE@{where}" not in needs and where not in borrowed:
                borrowed.append(where)
        else:
            made.append(give(need, to, level))
    return made + [f"REVOKE CREATE ON {where} FROM {to}" for where in borrowed]


class Shapes:
    """The ways in which an account gets a statement's privileges: the statements of an administrator, then its own."""

    def __init__(self, case):
        self.case = case

    def all(self):
        needs, own = self.case.needs, "u@localhost"
        yield "none", "u", [], []
        if not needs:
            return
        levels = ("own", "database", "column") if self.case.rows else ("own", "database", "global", "wild", "column")
        for level in levels:
            yield level, "u", gives(needs, own, level), []
        for at in range(len(needs) if len(needs) > 1 else 0):
            yield f"without {needs[at]}", "u", gives(needs[:at] + needs[at + 1:], own), []
        for need in needs:
            privileges, _ = split(need)
            if privileges != "ALL PRIVILEGES":
                take = f"REVOKE {privileges} ON *.* FROM {own}"
                yield f"all but {privileges}", "u", [f"GRANT ALL PRIVILEGES ON *.* TO {own} WITH GRANT OPTION", take], []
        role = gives(needs, "r1")
        if self.case.rows:
            yield "role", "u", [*role, f"GRANT r1 TO {own}"], ["SET ROLE r1"]
            return
        yield "role", "u", [*role, f"GRANT r1 TO {own}"], ["SET ROLE r1"]
        yield "role not set", "u", [*role, f"GRANT r1 TO {own}"], []
        yield "default role", "u", [*role, f"GRANT r1 TO {own}", f"SET DEFAULT ROLE r1 FOR {own}"], []
        yield "nested role", "u", [*role, "GRANT r1 TO r2", f"GRANT r2 TO {own}"], ["SET ROLE r2"]
        yield "anonymous", "nobody", gives(needs, "''@localhost"), []
        yield "proxy", "u", [*gives(needs, "x@localhost"), f"GRANT PROXY ON x@localhost TO {own}"], []
        if not self.case.direct:
            body = self.case.sql
            yield "definer", "u", [*gives(needs, "x@localhost"), *call(body, "x@localhost", "DEFINER", own), RUNS], []
            yield "invoker", "u", [*gives(needs, own), *call(body, "x@localhost", "INVOKER", own)], []
            yield "invoker of one who may", "u", [*gives(needs, "x@localhost"), *call(body, "x@localhost", "INVOKER", own)], []


# Compat: a definer needs EXECUTE on its own program.
RUNS = "GRANT EXECUTE ON PROCEDURE other_db.run TO x@localhost"


def call(body, definer, security, caller):
    return [f"CREATE OR REPLACE DEFINER={definer} PROCEDURE other_db.run() SQL SECURITY {security} {body}",
            f"GRANT EXECUTE ON PROCEDURE other_db.run TO {caller}"]


class Runner:
    def __init__(self, port):
        self.port = port
        self.admin = self.connect("root")
        self.many(FIXTURE)
        self.do(*OTHERS)
        self.dirty = False

    def connect(self, user):
        return pymysql.connect(host="127.0.0.1", port=self.port, user=user, charset="utf8mb4", autocommit=True,
                               client_flag=CLIENT.MULTI_STATEMENTS, read_timeout=60, ssl_disabled=True)

    def many(self, text):
        self.admin.query(text)
        while self.admin._result.has_next:
            self.admin.next_result()

    def do(self, *statements):
        for statement in statements:
            self.many(statement)

    def shape(self, case, name, user, before, own):
        if self.dirty:
            self.many(FIXTURE)
            self.dirty = False
        accounts = ["CREATE OR REPLACE USER u@localhost", "CREATE OR REPLACE USER x@localhost", "DROP USER IF EXISTS ''@localhost"]
        accounts += ["CREATE USER ''@localhost"] if name == "anonymous" else []
        accounts += ["CREATE OR REPLACE ROLE r1", "CREATE OR REPLACE ROLE r2"] if "role" in name else []
        programs = name in ("definer", "invoker", "invoker of one who may")
        try:
            self.many(";".join(accounts + before))
        except pymysql.MySQLError as error:
            return f"not made: {error.args[0]} {error.args[1]}"
        try:
            client = self.connect(user)
        except pymysql.MySQLError as error:
            return f"no login: {error.args[0]} {error.args[1]}"
        try:
            for statement in own:
                client.query(statement)
            return self.run(client, "CALL other_db.run()" if programs else case.sql, case)
        finally:
            client.close()
            if programs:
                self.do("DROP PROCEDURE IF EXISTS other_db.run")

    def run(self, client, sql, case):
        with client.cursor() as cursor:
            try:
                cursor.execute(sql)
                rows = cursor.fetchall()
                while cursor.nextset():
                    pass
            except pymysql.MySQLError as error:
                return f"{error.args[0]} {error.args[1]}"
        if not case.reads:
            self.dirty = True
        if case.undo:
            client.close() if client.open else None
            for statement in case.undo:
                try:
                    self.do(statement)
                except pymysql.MySQLError:
                    pass
            client.connect()
        if sql.split()[0] in ("ANALYZE", "CHECK", "OPTIMIZE", "REPAIR", "CHECKSUM") and "TABLE" in sql:
            return "ok " + "; ".join(str(row[-1]) for row in rows if "CHECKSUM" not in sql)
        return "ok" + (" " + "; ".join(",".join(map(str, row)) for row in rows) if case.rows else "")

    def case(self, case):
        """Returns the result of a case: each answer with the shapes that got it."""
        answers = {}
        for name, user, before, own in Shapes(case).all():
            answer = without_times(re.sub(r"\s+", " ", self.shape(case, name, user, before, own)))
            if name == "anonymous":
                answer = answer.replace("''@", "'u'@")
            answers.setdefault(answer, []).append(name)
        return [f"> {case.kind}: {case.sql}" + "".join(f" [{n}]" for n in case.needs),
                *[f"  {answer}: {', '.join(names)}" for answer, names in answers.items()]]


def without_times(text):
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?", "TIME", text)


def blocks(text):
    """Returns the cases of a listing by their first line; comments after `#` are ignored."""
    found = {}
    for line in without_times(text).splitlines():
        if line.startswith("> "):
            case = found.setdefault(line, [])
        elif line.strip() and not line.startswith("#"):
            case.append(line)
    return found


def read(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return blocks(file.read())


def run(port, kinds):
    runner = Runner(port)
    lines = [line for case in CASES if not kinds or case.kind in kinds for line in runner.case(case)]
    text = "\n".join(lines) + "\n"
    if "--record" in sys.argv:
        with open(os.path.join(HERE, "recorded.txt"), "w", encoding="utf-8") as file:
            file.write(text)
        return
    known, got = {**read("recorded.txt"), **read("differs.txt")}, blocks(text)
    others = [case for case in got if got[case] != known.get(case)]
    if "--accept" in sys.argv:
        with open(os.path.join(HERE, "differs.txt"), "a", encoding="utf-8") as file:
            file.writelines(line + "\n" for case in others for line in [case, *got[case]])
        return
    for case in others:
        print(case, *difflib.ndiff(known.get(case, []), got[case]), sep="\n")
    print(f"privileges: {len(got)} statements, {len(others)} with others than the known answers")
    raise SystemExit(1 if others or not got else 0)


def main():
    kinds = sys.argv[sys.argv.index("--kinds") + 1].split(",") if "--kinds" in sys.argv else []
    if sys.argv[1].isdigit():
        return run(int(sys.argv[1]), kinds)
    server = Server(sys.argv[1]).start()
    try:
        run(server.port, kinds)
    finally:
        server.remove()


if __name__ == "__main__":
    main()
