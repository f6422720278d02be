"""PyMySQL against a server: DDL, parameters of every type, values read back, error numbers.

usage: client_test.py PORT
"""

import datetime
import decimal
import struct
import sys
import tempfile

import pymysql
from pymysql.constants import COMMAND, FIELD_TYPE
from pymysql.protocol import FieldDescriptorPacket

COLUMNS = [
    ("c_tiny", "TINYINT", -128),
    ("c_utiny", "TINYINT UNSIGNED", 255),
    ("c_small", "SMALLINT", -32768),
    ("c_medium", "MEDIUMINT", 8388607),
    ("c_int", "INT", -2147483648),
    ("c_uint", "INT UNSIGNED", 4294967295),
    ("c_big", "BIGINT", -9223372036854775808),
    ("c_ubig", "BIGINT UNSIGNED", 18446744073709551615),
    ("c_float", "FLOAT", 1.5),
    ("c_double", "DOUBLE", -1.25e-200),
    ("c_decimal", "DECIMAL(30,10)", decimal.Decimal("-12345678901234567890.0123456789")),
    ("c_bit", "BIT(12)", b"\x0a\x55"),
    ("c_year", "YEAR", 2026),
    ("c_date", "DATE", datetime.date(1000, 1, 1)),
    ("c_time", "TIME(6)", -datetime.timedelta(hours=838, minutes=59, seconds=58, microseconds=5)),
    ("c_datetime", "DATETIME(6)", datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)),
    ("c_timestamp", "TIMESTAMP(3) NULL", datetime.datetime(2026, 11, 21, 1, 2, 3, 456000)),
    ("c_char", "CHAR(10)", "schön"),
    ("c_varchar", "VARCHAR(100)", "naïve 🦭 \\ ' \" \n"),
    ("c_binary", "BINARY(4)", b"\x00\x01\x00\xff"),
    ("c_varbinary", "VARBINARY(20)", b"\x00'\"\\\xff"),
    ("c_text", "TEXT", "text " * 1000),
    ("c_blob", "BLOB", bytes(range(256)) * 100),
    ("c_longtext", "LONGTEXT", "ж" * 100_000),
    ("c_longblob", "LONGBLOB", b"\x00\xff" * 500_000),
    ("c_enum", "ENUM('small','large')", "large"),
    ("c_set", "SET('a','b','c')", "a,c"),
]


def connect(port, **options):
    return pymysql.connect(host="127.0.0.1", port=port, user="root", charset="utf8mb4", **options)


def expect_error(number, call):
    try:
        call()
    except pymysql.MySQLError as error:
        assert error.args[0] == number, f"expected {number}, got {error.args}"
        return
    raise AssertionError(f"expected error {number}, got none")


def check_types(cursor):
    definitions = ", ".join(f"{name} {kind}" for name, kind, _ in COLUMNS)
    cursor.execute(f"CREATE TABLE types (id INT AUTO_INCREMENT PRIMARY KEY, {definitions})")
    names = ", ".join(name for name, _, _ in COLUMNS)
    holes = ", ".join(["%s"] * len(COLUMNS))
    insert = f"INSERT INTO types ({names}) VALUES ({holes})"
    assert cursor.execute(insert, [value for _, _, value in COLUMNS]) == 1
    assert cursor.lastrowid == 1
    cursor.execute(insert, [None] * len(COLUMNS))
    cursor.execute(f"SELECT {names} FROM types ORDER BY id")
    row, nulls = cursor.fetchall()
    for (name, _, expected), got in zip(COLUMNS, row):
        assert got == expected, f"{name}: sent {expected!r}, got {got!r}"
    assert all(value is None for value in nulls)


def check_errors(port, cursor):
    expect_error(1062, lambda: cursor.execute("INSERT INTO types (id) VALUES (1)"))
    expect_error(1146, lambda: cursor.execute("SELECT * FROM missing"))
    expect_error(1054, lambda: cursor.execute("SELECT missing FROM types"))
    expect_error(1064, lambda: cursor.execute("SELEC 1"))
    expect_error(1264, lambda: cursor.execute("INSERT INTO types (c_tiny) VALUES (1000)"))
    expect_error(1406, lambda: cursor.execute("INSERT INTO types (c_binary) VALUES ('12345')"))
    expect_error(1049, lambda: connect(port, database="missing"))
    expect_error(1045, lambda: connect(port, password="wrong"))


def check_transactions(connection, cursor):
    cursor.execute("CREATE TABLE ledger (id INT PRIMARY KEY, amount DECIMAL(10,2) NOT NULL)")
    connection.begin()
    cursor.execute("INSERT INTO ledger VALUES (1, 10), (2, 20)")
    connection.rollback()
    assert cursor.execute("SELECT * FROM ledger") == 0
    connection.begin()
    assert cursor.executemany("INSERT INTO ledger VALUES (%s, %s)", [(1, 1), (2, "2.5")]) == 2
    connection.commit()
    cursor.execute("SELECT SUM(amount) FROM ledger")
    assert cursor.fetchone() == (decimal.Decimal("3.50"),)
    assert cursor.execute("UPDATE ledger SET amount = amount + 1") == 2
    assert cursor.execute("DELETE FROM ledger WHERE id = 2") == 1


def check_large_packets(connection, cursor):
    """A statement and a row of more than one 16 MiB packet."""
    cursor.execute("SET GLOBAL max_allowed_packet = 67108864")
    with connect(connection.port, max_allowed_packet=67108864) as large:
        text = "x" * (17 * 1024 * 1024)
        with large.cursor() as reader:
            reader.execute("SELECT %s", [text])
            assert reader.fetchone()[0] == text


def check_load(port, cursor):
    """A line that ends with one field terminator has no extra field, so nothing is cut and no warning comes."""
    cursor.execute("CREATE TABLE loaded (a INT, b INT)")
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("1,2,\n3,4\n5,6,7\n8,9,,\n")
        file.flush()
        loader = connect(port, database="client_python", local_infile=True, autocommit=True)
        loading = loader.cursor()
        loading.execute(f"LOAD DATA LOCAL INFILE '{file.name}' INTO TABLE loaded FIELDS TERMINATED BY ','")
        loading.execute("SHOW WARNINGS")
        told = [row[2].split()[1] for row in loading.fetchall()]
        loader.close()
    assert told == ["3", "4"], told
    cursor.execute("SELECT * FROM loaded ORDER BY a")
    assert cursor.fetchall() == ((1, 2), (3, 4), (5, 6), (8, 9))


def check_found_rows(port, cursor):
    """With CLIENT_FOUND_ROWS, duplicates that did not change also count. By default they do not."""
    cursor.execute("CREATE TABLE found (id INT PRIMARY KEY, v INT)")
    cursor.execute("INSERT INTO found VALUES (1, 1), (2, 2), (3, 3)")
    upsert = "INSERT INTO found VALUES (1, 1), (2, 5), (3, 3), (4, 4) ON DUPLICATE KEY UPDATE v = VALUES(v)"
    flag = pymysql.constants.CLIENT.FOUND_ROWS
    for flags, told in ((0, [(3, 1), (0, 0)]), (flag, [(5, 3), (4, 4)])):
        cursor.execute("REPLACE INTO found VALUES (2, 2)")
        cursor.execute("DELETE FROM found WHERE id = 4")
        connection = connect(port, database="client_python", autocommit=True)
        connection.client_flag = (connection.client_flag | flag) & ~(flag ^ flags)
        connection.close()
        connection.connect()
        with connection, connection.cursor() as counting:
            for affected, duplicates in told:
                assert counting.execute(upsert) == affected, counting._result.message
                assert f"Duplicates: {duplicates} ".encode() in counting._result.message, counting._result.message


def check_prepared_protocol(port):
    """COM_STMT_PREPARE refuses some statements, and describes a placeholder without a value."""
    connection = connect(port)
    expect_error(1295, lambda: prepare(connection, "PREPARE s FROM 'SELECT 1'"))
    expect_error(1295, lambda: prepare(connection, "DEALLOCATE PREPARE s"))
    column = prepare(connection, "SELECT ?, 1")[0]
    assert (column.type_code, column.flags) == (FIELD_TYPE.NULL, 128), (column.type_code, column.flags)
    expect_error(1390, lambda: prepare(connection, "SELECT 1 IN (" + ",".join("?" * 65_536) + ")"))
    assert len(prepare(connection, "SELECT 1 IN (" + ",".join("?" * 65_535) + ")")) == 1
    connection.close()


# Statements without a plan, and what MariaDB announces of them: names of columns, or their number.
ANNOUNCED = {
    "SHOW TABLES": ["Tables_in_client_python"],
    "SHOW TABLES LIKE 'a%'": ["Tables_in_client_python (a%)"],
    "SHOW VARIABLES WHERE variable_name = ?": ["Variable_name", "Value"],
    "SHOW GLOBAL STATUS": ["Variable_name", "Value"],
    "SHOW CREATE TABLE announced": ["Table", "Create Table"],
    "SHOW FULL COLUMNS FROM announced": 9,
    "DESCRIBE announced": ["Field", "Type", "Null", "Key", "Default", "Extra"],
    "SHOW INDEX FROM announced": 14,
    "SHOW GRANTS": ["Grants for root@localhost"],
    "SHOW COUNT(*) WARNINGS": ["@@session.warning_count"],
    "SHOW SLAVE STATUS": 54,
    "EXPLAIN UPDATE announced SET a = 1": 10,
    "EXPLAIN FORMAT=JSON SELECT 1": ["EXPLAIN"],
    "ANALYZE UPDATE announced SET a = a + 1": 13,
    "CHECK TABLE announced": ["Table", "Op", "Msg_type", "Msg_text"],
    "CHECKSUM TABLE announced": ["Table", "Checksum"],
    "XA RECOVER": ["formatID", "gtrid_length", "bqual_length", "data"],
    "SHOW WARNINGS": 0,
    "SHOW PROCESSLIST": 0,
    "SHOW ENGINES": 0,
    "UPDATE announced SET a = a + 1": 0,
    "OPTIMIZE TABLE announced": 4,
}


def check_announced_columns(port):
    """COM_STMT_PREPARE describes the results of statements without a plan, and runs none of them."""
    connection = connect(port, database="client_python")
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE announced (a INT)")
    cursor.execute("INSERT INTO announced VALUES (1), (2), (3)")
    for text, wanted in ANNOUNCED.items():
        cursor.execute("SELECT a FROM announced LIMIT 2")
        names = [column.name for column in prepare(connection, text)]
        assert (names if isinstance(wanted, list) else len(names)) == wanted, (text, names)
        cursor.execute("SELECT FOUND_ROWS()")
        assert cursor.fetchone() == (2,), text
    cursor.execute("SELECT SUM(a) FROM announced")
    assert cursor.fetchone() == (6,)
    # An error is told when the statement is executed.
    assert prepare(connection, "SHOW TABLES FROM no_such_schema") is not None
    cursor.execute("SHOW WARNINGS")
    assert cursor.fetchall() == ()
    cursor.execute("DROP TABLE announced")
    connection.close()


def prepare(connection, text):
    """Returns the columns that COM_STMT_PREPARE announces for a statement."""
    connection._execute_command(COMMAND.COM_STMT_PREPARE, text)
    head = connection._read_packet()
    columns, parameters = struct.unpack_from("<HH", head._data, 5)
    if parameters:
        [connection._read_packet() for _ in range(parameters + 1)]
    described = [connection._read_packet(FieldDescriptorPacket) for _ in range(columns)]
    if columns:
        connection._read_packet()
    return described


def main():
    port = int(sys.argv[1])
    with connect(port, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("DROP DATABASE IF EXISTS client_python")
        cursor.execute("CREATE DATABASE client_python")
        cursor.execute("USE client_python")
        check_types(cursor)
        check_errors(port, cursor)
        check_transactions(connection, cursor)
        check_large_packets(connection, cursor)
        check_load(port, cursor)
        check_found_rows(port, cursor)
        check_prepared_protocol(port)
        check_announced_columns(port)
        cursor.execute("DROP DATABASE client_python")
    print("python client: ok")


if __name__ == "__main__":
    main()
