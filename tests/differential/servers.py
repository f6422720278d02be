"""Runs a statement on two servers and describes the difference."""

import re
import tempfile

import pymysql

SETUP = ("SET NAMES utf8mb4 COLLATE utf8mb4_general_ci", "SET time_zone = '+00:00'", "SET timestamp = 1700000000",
         "SET SESSION max_statement_time = 10", "SET SESSION lock_wait_timeout = 5",
         "CREATE OR REPLACE DATABASE {database} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", "USE {database}")
# The most severe kind first.
KINDS = ("gone", "rows", "error", "text", "metadata", "warnings")
FLOATING = {4, 5}
# The comment of a statement that shows the contents of a file, and the placeholder of the file's name.
FILE = re.compile(r"/\*(.*)\*/ 'loads'")
# Part of a key, of a group, unique in a temporary table: MariaDB's own flags, which depend on how it ran a statement.
INTERNAL_FLAGS = 16384 | 32768


class Outcome:
    """Everything a client sees of a statement."""

    def __init__(self):
        self.error = self.rows = None
        self.fields, self.warnings, self.affected = [], set(), 0


class Server:
    def __init__(self, port, database="differential"):
        self.port, self.database = port, database
        self.connection = None
        self.file = tempfile.NamedTemporaryFile(prefix="differential-")

    def connect(self):
        if self.connection and self.connection.open:
            self.connection.close()
        self.connection = pymysql.connect(host="127.0.0.1", port=self.port, user="root", charset="utf8mb4",
                                          autocommit=True, conv={}, use_unicode=False, read_timeout=60,
                                          local_infile=True)
        for statement in SETUP:
            self.run(statement.format(database=self.database))

    def run(self, statement):
        outcome = Outcome()
        cursor = self.connection.cursor()
        try:
            cursor.execute(FILE.sub(self.write, statement).encode())
            outcome.affected = cursor._result.affected_rows
            if cursor.description:
                outcome.fields = [field(f) for f in cursor._result.fields]
                outcome.rows = list(cursor.fetchall())
            while cursor.nextset():
                pass
        except pymysql.MySQLError as error:
            outcome.error = (error.args[0], text(error.args[1] if len(error.args) > 1 else ""))
            return outcome
        if self.connection._result and self.connection._result.warning_count:
            cursor.execute(b"SHOW WARNINGS")
            outcome.warnings = {(text(level), text(code), without_row(text(message)))
                                for level, code, message in cursor.fetchall()}
        return outcome

    def write(self, found):
        """Writes a file with the contents in the comment, and returns its name."""
        with open(self.file.name, "wb") as file:
            file.write(found[1].encode().decode("unicode_escape").encode())
        return f"'{self.file.name}'"

    def drop(self):
        self.run(f"DROP DATABASE IF EXISTS {self.database}")


def without_row(message):
    """Returns a warning without its row number: which rows are evaluated, and in which order, is not compared."""
    return re.sub(r"row \d+", "row N", message)


def field(f):
    return {"name": text(f.name), "type": f.type_code, "length": f.length, "decimals": f.scale,
            "flags": f.flags & ~INTERNAL_FLAGS, "charset": f.charsetnr, "table": text(f.table_name), "column": text(f.org_name)}


def text(value):
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


class Difference:
    """`kind` is one of KINDS; `detail` groups differences and `shown` describes this one."""

    def __init__(self, kind, detail, shown):
        self.kind, self.detail, self.shown = kind, detail, shown


def compare(mine, reference, ordered):
    """Returns the most severe difference of two outcomes, or None."""
    if mine.error or reference.error:
        return compare_errors(mine.error, reference.error)
    if (mine.rows is None) != (reference.rows is None) or mine.rows is not None and not same_rows(mine, reference, ordered):
        alike = "equal values: " if are_equal_values(mine, reference, ordered) else ""
        return Difference("rows", alike, f"{alike}{shown_rows(mine)} instead of {shown_rows(reference)}")
    if mine.affected != reference.affected:
        return Difference("rows", "affected", f"affected {mine.affected} instead of {reference.affected}")
    return compare_fields(mine.fields, reference.fields) or compare_warnings(mine.warnings, reference.warnings)


def are_equal_values(mine, reference, ordered):
    """Returns whether rows differ only in letter case and in spaces at the end."""
    if mine.rows is None or reference.rows is None:
        return False
    a, b = ([tuple(v if v is None else v.upper().rstrip() for v in row) for row in side.rows] for side in (mine, reference))
    return a == b if ordered else sorted(map(repr, a)) == sorted(map(repr, b))


def shown_rows(outcome):
    return "no result" if outcome.rows is None else repr(outcome.rows[:5])


def compare_errors(mine, reference):
    if mine == reference:
        return None
    shown = f"{mine} instead of {reference}"
    if mine and mine[0] in (2006, 2013):
        return Difference("gone", "", shown)
    if mine and reference and mine[0] == reference[0]:
        return Difference("text", str(mine[0]), shown)
    number = lambda error: str(error[0]) if error else "none"
    return Difference("error", f"{number(mine)} instead of {number(reference)}", shown)


def compare_fields(mine, reference):
    for at, (a, b) in enumerate(zip(mine, reference)):
        different = [name for name in b if a[name] != b[name]]
        if different:
            shown = ", ".join(f"{name} {a[name]} instead of {b[name]}" for name in different)
            return Difference("metadata", " ".join(different), f"column {at + 1} (type {b['type']}): {shown}")
    return None


def compare_warnings(mine, reference):
    if mine == reference:
        return None
    more, less = sorted(mine - reference), sorted(reference - mine)
    codes = lambda warnings: "/".join(sorted({w[1] for w in warnings})) or "none"
    return Difference("warnings", f"{codes(more)} instead of {codes(less)}", f"{more} instead of {less}")


def same_rows(mine, reference, ordered):
    if len(mine.rows) != len(reference.rows) or len(mine.fields) != len(reference.fields):
        return False
    floating = {at for at, f in enumerate(reference.fields) if f["type"] in FLOATING}
    a, b = ([tuple(shape(v, at in floating) for at, v in enumerate(row)) for row in side.rows]
            for side in (mine, reference))
    if ordered:
        return a == b
    return sorted(map(repr, a)) == sorted(map(repr, b))


def shape(value, floating):
    """Returns a value for the comparison: the last digits of floating point depend on the order of a sum."""
    if value is None or not floating:
        return value
    try:
        number = float(value)
    except ValueError:
        # The other server returns a number here.
        return value
    return f"{number or 0.0:.12g}"
