"""Prepared statements that run for many rows of parameters with one command (COM_STMT_BULK_EXECUTE).

usage: bulk.py PORT [--record]

The server's answers are compared with bulk.result, which --record writes from a MariaDB 10.11.
"""

import pathlib
import struct
import sys

import pymysql
from pymysql import connections

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from recorded import compare  # noqa: E402

RESULT = pathlib.Path(__file__).with_name("bulk.result")
PREPARE, BULK_EXECUTE = 0x16, 0xFA
BULK_OPERATIONS = 1 << 2
SEND_TYPES, UNIT_RESULTS = 128, 64
INT, TEXT, DECIMAL = 8, 254, 246
DEFAULT, IGNORE = "\x02", "\x03"


class Packing:
    """Replaces the module struct in PyMySQL, whose login packet lacks MariaDB's own capabilities."""

    def __getattr__(self, name):
        return getattr(struct, name)

    @staticmethod
    def pack(form, *values):
        if form != "<iIB23s":
            return struct.pack(form, *values)
        flags, size, charset, _ = values
        return struct.pack("<IIB19sI", flags & 0xFFFFFFFE, size, charset, b"", BULK_OPERATIONS)


def connect(port, knows_bulk=True):
    connections.struct = Packing() if knows_bulk else struct
    return pymysql.connect(host="127.0.0.1", port=port, user="root", charset="utf8mb4", autocommit=True)


def cell(kind, value):
    if value is None:
        return b"\x01"
    if value in (DEFAULT, IGNORE):
        return value.encode()
    if kind == INT:
        return b"\0" + struct.pack("<q", value)
    text = value.encode()
    return b"\0" + bytes([len(text)]) + text


class Client:
    def __init__(self, port, out):
        self.connection = connect(port)
        self.out = out

    def sql(self, text):
        cursor = self.connection.cursor()
        cursor.execute(text)
        return cursor.fetchall()

    def show(self, text):
        self.out.append(f"> {text}")
        self.out.extend(str(row) for row in self.sql(text))

    def prepare(self, text):
        self.connection._execute_command(PREPARE, text)
        head = self.connection._read_packet()
        number, columns, parameters = struct.unpack("<IHH", head._data[1:9])
        for count in filter(None, (parameters, columns)):
            for _ in range(count + 1):
                self.connection._read_packet()
        return number

    def bulk(self, text, kinds, rows, flags=SEND_TYPES):
        """Runs `text` for `rows` with parameters of `kinds`, and records the answer."""
        self.out.append(f"bulk> {text}  {rows}".replace(repr(DEFAULT), "DEFAULT").replace(repr(IGNORE), "IGNORE"))
        body = b"".join(cell(kind, value) for row in rows for kind, value in zip(kinds, row))
        if flags & SEND_TYPES:
            body = b"".join(bytes([kind, 0]) for kind in kinds) + body
        number = self.prepare(text)
        try:
            self.connection._execute_command(BULK_EXECUTE, struct.pack("<IH", number, flags) + body)
            answer = connections.MySQLResult(self.connection)
            answer.read()
            info = (answer.message or b"")[1:].decode()
            # For ON DUPLICATE KEY UPDATE MariaDB reports the key of the last updated row.
            number = "" if "DUPLICATE" in text else f" id {answer.insert_id}"
            self.out.append(f"affected {answer.affected_rows}{number} {info}".rstrip())
        except pymysql.err.MySQLError as error:
            self.out.append(f"ERROR {error.args[0]} {error.args[1]}")
        self.out.extend(f"{level} {code} {text}" for level, code, text in self.sql("SHOW WARNINGS") if level != "Error")


def inserts(c):
    c.sql("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a INT DEFAULT 7, b VARCHAR(10) DEFAULT 'x', UNIQUE (b))")
    c.bulk("INSERT INTO t (a, b) VALUES (?, ?)", (INT, TEXT), [(1, "a"), (2, "b"), (3, None)])
    c.bulk("INSERT INTO t (id, a, b) VALUES (?, ? + 1, ?)", (INT, INT, TEXT), [(10, 1, "c")])
    c.bulk("INSERT INTO t VALUES (?, ?, ?)", (INT, INT, TEXT), [(20, DEFAULT, "d"), (21, IGNORE, "e"), (22, 5, IGNORE)])
    c.bulk("INSERT INTO t SET id = ?, b = ?", (INT, TEXT), [(30, "f"), (31, "g")])
    c.bulk("INSERT INTO t VALUES (?, 0, ?), (?, 1, ?)", (INT, TEXT, INT, TEXT), [(32, "h", 33, "i"), (34, "j", 35, "k")])
    c.show("SELECT * FROM t ORDER BY id")
    c.bulk("INSERT INTO t VALUES (?, 1, ?)", (INT, TEXT), [(40, "l"), (41, "a"), (42, "m")])
    c.bulk("INSERT IGNORE INTO t VALUES (?, 1, ?)", (INT, TEXT), [(43, "n"), (44, "a"), (45, "longer than this")])
    c.bulk("INSERT INTO t (id, a) VALUES (?, ?)", (INT, TEXT), [(46, "1"), (47, "one")])
    c.bulk("INSERT INTO t VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE a = VALUES(a) + 100", (INT, INT, TEXT), [(50, 1, "a"), (51, 2, "o")])
    odku = "INSERT INTO t VALUES (?, 1, ?) ON DUPLICATE KEY UPDATE a = ?"
    c.bulk(odku, (INT, TEXT, INT), [(50, "a", 300), (52, "p", 301), (53, "b", 302)])
    c.bulk(odku.replace("a = ?", "b = ?"), (INT, TEXT, TEXT), [(54, "q", "r"), (55, "b", "a")])
    c.bulk("REPLACE INTO t VALUES (?, 2, ?)", (INT, TEXT), [(60, "a"), (61, "s")])
    c.show("SELECT * FROM t WHERE id >= 40 OR a > 7 ORDER BY id")


def transactions(c):
    c.sql("START TRANSACTION")
    c.bulk("INSERT INTO t VALUES (?, 9, ?)", (INT, TEXT), [(70, "t1"), (71, "t2")])
    c.bulk("INSERT INTO t VALUES (?, 9, ?)", (INT, TEXT), [(72, "t3"), (70, "t4")])
    c.bulk("INSERT INTO t VALUES (?, 9, ?) ON DUPLICATE KEY UPDATE b = ?", (INT, TEXT, TEXT), [(73, "t5", "u"), (70, "u", "d")])
    c.show("SELECT id FROM t WHERE a = 9 ORDER BY id")
    c.sql("ROLLBACK")
    c.show("SELECT COUNT(*) FROM t WHERE a = 9")


def changes(c):
    c.sql("CREATE TABLE u (id INT PRIMARY KEY, a INT, b INT DEFAULT 3, UNIQUE (b))")
    c.sql("INSERT INTO u VALUES (1, 1, 1), (2, 2, 2), (4, 4, 4), (5, 5, 5)")
    c.bulk("UPDATE u SET a = ? WHERE id = ?", (INT, INT), [(10, 1), (20, 9), (30, 2), (4, 4)])
    c.bulk("UPDATE u SET a = ?, b = ? WHERE id = ?", (INT, INT, INT), [(IGNORE, 9, 1), (7, DEFAULT, 2), (DEFAULT, IGNORE, 4)])
    c.bulk("UPDATE u SET a = ? WHERE id = ?", (INT, INT), [(IGNORE, 1), (IGNORE, 2)])
    c.bulk("UPDATE u SET a = ? + 1 WHERE id = ?", (INT, INT), [(IGNORE, 1)])
    c.show("SELECT * FROM u ORDER BY id")
    # Each row is a separate statement.
    c.bulk("UPDATE u SET b = ? WHERE id = ?", (INT, INT), [(50, 1), (5, 1), (60, 1)])
    c.show("SELECT * FROM u ORDER BY id")
    c.bulk("DELETE FROM u WHERE id = ?", (INT,), [(1,), (9,), (5,)])
    c.show("SELECT * FROM u ORDER BY id")


def refused(c):
    for text in ("SELECT ?", "INSERT INTO t (a) SELECT ?", "DO ?", "SET @a = ?"):
        c.bulk(text, (INT,), [(1,), (2,)])
    c.bulk("INSERT INTO t (a) VALUES (1)", (), [()])
    c.bulk("INSERT INTO t (a) VALUES (? + 1)", (INT,), [(DEFAULT,)])
    c.bulk("INSERT INTO t (a) VALUES (?)", (INT,), [])
    c.bulk("INSERT INTO t (a) VALUES (?)", (INT,), [(1,)], SEND_TYPES | UNIT_RESULTS)
    c.bulk("INSERT INTO t (a) VALUES (?)", (INT,), [(1,)], 0)
    able, c.connection = c.connection, connect(c.connection.port, knows_bulk=False)
    c.sql("USE bulk")
    c.bulk("INSERT INTO t (a) VALUES (?)", (INT,), [(1,)])
    c.connection = able


def triggers(c):
    c.sql("CREATE TRIGGER d BEFORE INSERT ON t FOR EACH ROW SET NEW.a = NEW.a * 2")
    c.bulk("INSERT INTO t VALUES (?, ?, ?)", (INT, INT, TEXT), [(80, 1, "v"), (81, 2, "w")])
    c.show("SELECT * FROM t WHERE id >= 80")
    many = [(number, number % 10) for number in range(1000, 6000)]
    c.sql("CREATE TABLE m (id INT PRIMARY KEY, a INT)")
    c.bulk("INSERT INTO m VALUES (?, ?)", (INT, INT), many)
    c.out[-2] = "bulk> many rows"
    c.sql("CREATE TABLE n (id INT PRIMARY KEY, a TINYINT, b VARCHAR(3))")
    wide = [(number, 1 if number % 4500 else 300, "abcd"[: 1 + number % 3 + (number == 5000)]) for number in range(1, 9500)]
    for insert in ("INSERT", "INSERT IGNORE"):
        c.bulk(f"{insert} INTO n VALUES (?, ?, ?)", (INT, INT, TEXT), wide)
        c.out[:] = ["bulk> many rows" if len(line) > 9999 else line for line in c.out]
        c.show("SELECT COUNT(*), SUM(id), SUM(a), SUM(LENGTH(b)) FROM n")
    c.bulk("INSERT INTO n VALUES (?, ?, ?)", (INT, INT, TEXT), [(20000 - number, 1, "x") for number in range(11000)])
    c.out[:] = ["bulk> many rows" if len(line) > 9999 else line for line in c.out]
    c.show("SELECT COUNT(*) FROM n")
    c.show("SELECT COUNT(*), SUM(id), SUM(a) FROM m")


def counts(c):
    """Affected rows of ON DUPLICATE KEY UPDATE, row numbers in warnings, and automatic values."""
    c.sql("CREATE TABLE k (id INT PRIMARY KEY, a INT, b INT, UNIQUE (b))")
    c.bulk("INSERT INTO k VALUES (?, ?, ?)", (INT, INT, INT), [(1, 1, 1), (2, 2, 2), (3, 3, 3)])
    odku = "INSERT INTO k VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE a = "
    c.bulk(odku + "?", (INT, INT, INT, INT), [(1, 1, 1, 1), (2, 2, 2, 66), (4, 4, 4, 4)])
    c.bulk(odku + "?", (INT, INT, INT, INT), [(1, 1, 1, 1)])
    c.bulk(odku + "VALUES(a)", (INT, INT, INT), [(1, 1, 1), (2, 66, 2), (5, 1, 5)])
    c.bulk("UPDATE k SET a = ? WHERE id = ? AND 1 = 0", (INT, INT), [(5, 1), (6, 2)])
    c.show("SELECT * FROM k ORDER BY id")
    c.sql("CREATE TABLE w (id INT PRIMARY KEY AUTO_INCREMENT, a TINYINT, s VARCHAR(20) DEFAULT (CONCAT('d', a)))")
    c.sql("SET sql_mode = ''")
    c.bulk("INSERT INTO w (a, s) VALUES (?, ?)", (INT, TEXT), [(1, DEFAULT), (300, "x"), (3, IGNORE), (4, None), (500, DEFAULT)])
    c.bulk("INSERT INTO w (a, s) VALUES (?, (SELECT CONCAT('q', ?)))", (INT, TEXT), [(1, "a"), (300, "x"), (3, "b")])
    c.bulk("INSERT INTO w (a, s) VALUES (?, (SELECT COUNT(*) FROM w))", (INT,), [(1,), (2,)])
    c.bulk("INSERT INTO w (a, s) VALUES (?, CONCAT(?, ?))", (INT, TEXT, TEXT), [(1, "a", "b"), (300, "x", None), (3, "b", "")])
    c.bulk("INSERT INTO w (a, s) VALUES (?, ?)", (DECIMAL, DECIMAL), [("1.5", "1.5"), ("2", "1.500"), ("3.25", DEFAULT), (None, None)])
    c.bulk("INSERT INTO w (a, s) VALUES (?, ?), (?, 'z')", (INT, TEXT, INT), [(1, "a", 2), (300, DEFAULT, 400), (3, "c", 4)])
    c.bulk("INSERT INTO w (id, a) VALUES (?, ?) ON DUPLICATE KEY UPDATE a = ? + 300", (INT, INT, INT), [(1, 1, 1), (40, 300, 2), (2, 5, 3)])
    c.show("SELECT * FROM w ORDER BY id")
    many = [(number % 3, 1000 if number % 5000 == 4999 else number % 100) for number in range(10000)]
    c.bulk("INSERT INTO w (s, a) VALUES (?, ?)", (INT, INT), many)
    c.out[:] = ["bulk> many rows" if len(line) > 9999 else line for line in c.out]
    c.show("SELECT COUNT(*), SUM(id), SUM(a), SUM(s) FROM w WHERE id > 40")
    # Each command is one transaction: rows before a failing one are rolled back.
    c.sql("SET sql_mode = DEFAULT")
    c.bulk("INSERT INTO k VALUES (?, ?, 9) ON DUPLICATE KEY UPDATE b = ?", (INT, INT, INT), [(10, 1, 1), (11, 1, 5), (12, 1, 1)])
    c.show("SELECT * FROM k ORDER BY id")
    c.sql("FLUSH STATUS")
    c.bulk("INSERT INTO k (id) VALUES (?)", (INT,), [(20,), (21,)])
    c.bulk("UPDATE k SET a = ? WHERE id = ?", (INT, INT), [(1, 20), (1, 21), (1, 22)])
    c.bulk("DELETE FROM k WHERE id = ?", (INT,), [(20,), (21,)])
    c.show("SHOW SESSION STATUS WHERE Variable_name IN ('Com_insert', 'Com_update', 'Com_delete', 'Com_stmt_execute')")


def main():
    out = []
    client = Client(int(sys.argv[1]), out)
    client.sql("DROP DATABASE IF EXISTS bulk")
    client.sql("CREATE DATABASE bulk")
    client.sql("USE bulk")
    for part in (inserts, transactions, changes, refused, triggers, counts):
        out.append(f"== {part.__name__}")
        part(client)
    client.sql("DROP DATABASE bulk")
    compare("bulk", RESULT, out)


if __name__ == "__main__":
    main()
