"""Groups of rows that are sorted by their keys: by rows and one thread, and by column groups and several threads.

Tables of random size have a clustered key whose first column has 1 to 7000 rows for each value, so groups are short, fill
stretches of rows or go on over many. Aggregates, conditions, joins and changes of the own transaction are drawn. Each
query runs three times; the answers must be the same, in the same order unless rows are joined.

usage: sorted_groups.py [--seed N] [--seconds S] PORT
"""

import argparse
import random
import time

import pymysql

# Types of keys and values, and an expression of a number for each.
TYPES = {
    "INT": "{0}", "BIGINT UNSIGNED": "{0}", "SMALLINT": "{0} % 30000", "DECIMAL(12,2)": "{0} / 4", "DOUBLE": "{0} / 3",
    "DATE": "DATE'2000-01-01' + INTERVAL {0} DAY", "DATETIME(3)": "TIMESTAMP'2000-01-01 00:00:00' + INTERVAL {0} SECOND",
    "YEAR": "1901 + {0} % 200", "VARCHAR(8)": "CONCAT('k', {0})", "ENUM('a', 'b', 'c', 'd')": "1 + {0} % 4",
}
QUERIES = [
    "SELECT a, {0} FROM t {1} GROUP BY a", "SELECT a, {0} FROM t {1} GROUP BY a ORDER BY a",
    "SELECT a, {0} FROM t {1} GROUP BY a HAVING COUNT(*) > 2", "SELECT a, b, {0} FROM t {1} GROUP BY a, b",
    "SELECT COUNT(*), MAX(n), SUM(n) FROM (SELECT a, {0}, COUNT(*) n FROM t {1} GROUP BY a) q",
    "SELECT t.a, w, {0} FROM t JOIN u ON t.a = u.a {1} GROUP BY t.a",
    "SELECT t.a, MAX(w), {0} FROM t LEFT JOIN u ON t.a = u.a {1} GROUP BY t.a", "SELECT a, {0} FROM t {1} GROUP BY a LIMIT 5",
]
CONDITIONS = ["", "", "WHERE b % 7 <> 0", "WHERE b BETWEEN {0} AND {0} * 2", "WHERE v0 IS NULL", "WHERE b < 0",
              "WHERE v1 IS NOT NULL AND b % 2 = 0"]
AGGREGATES = ["COUNT(*)", "COUNT({0})", "MIN({0})", "MAX({0})", "COUNT(DISTINCT {0})", "SUM(LENGTH({0}))", "SUM(b)", "AVG(b)"]
WAYS = ["selkie_columns = 'OFF', selkie_lanes = 1", "selkie_columns = 'FORCE', selkie_lanes = 3",
        "selkie_columns = 'FORCE', selkie_lanes = 2"]


def make_tables(cursor, rng):
    """Creates the tables; returns the number of rows."""
    cursor.execute("DROP TABLE IF EXISTS t, u")
    key, values = rng.choice(list(TYPES)), [rng.choice(list(TYPES)) for _ in range(3)]
    rows, each = rng.choice([50, 500, 3000, 20000]), rng.choice([1, 3, 50, 1000, 7000])
    columns = ", ".join(f"v{at} {ty}" for at, ty in enumerate(values))
    cursor.execute(f"CREATE TABLE t (a {key} NOT NULL, b {rng.choice(['INT', 'BIGINT UNSIGNED'])}, {columns}, PRIMARY KEY (a, b))")
    filled = []
    for ty in values:
        value = TYPES[ty].format(f"(seq * {rng.randrange(1, 99999)} % 9973)")
        filled.append(f"IF(seq % {rng.choice([2, 7, 1000000])} = 1, NULL, {value})")
    first = TYPES[key].format(f"(seq DIV {each})")
    cursor.execute(f"INSERT IGNORE INTO t SELECT {first}, seq, {', '.join(filled)} FROM seq_1_to_{rows}")
    cursor.execute(f"CREATE TABLE u (a {key} PRIMARY KEY, w INT)")
    cursor.execute("INSERT INTO u SELECT DISTINCT a, 5 FROM t WHERE b % 3 = 0")
    if rng.random() < 0.7:
        cursor.execute("ANALYZE TABLE t")
    return rows


def query(rng, rows):
    chosen = [rng.choice(AGGREGATES).format(rng.choice(["v0", "v1", "v2", "b"])) for _ in range(rng.randrange(1, 5))]
    named = ", ".join(f"{aggregate} x{at}" for at, aggregate in enumerate(chosen))
    return rng.choice(QUERIES).format(named, rng.choice(CONDITIONS).format(rows // 4))


def answers(cursor, text):
    found = []
    for way in WAYS:
        cursor.execute(f"SET {way}")
        cursor.execute(text)
        rows = cursor.fetchall()
        found.append(sorted(map(str, rows)) if " JOIN " in text else list(map(str, rows)))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("port", type=int)
    options = parser.parse_args()
    print(f"sorted groups: --seed {options.seed}", flush=True)
    rng, end, count = random.Random(options.seed), time.monotonic() + options.seconds, 0
    connection = pymysql.connect(host="127.0.0.1", port=options.port, user="root", autocommit=True, read_timeout=60)
    with connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE sorted_groups CHARACTER SET utf8mb4")
        connection.select_db("sorted_groups")
        while time.monotonic() < end:
            rows = make_tables(cursor, rng)
            for _ in range(12):
                text, changes = query(rng, rows), rng.random() < 0.3
                if changes:
                    cursor.execute("START TRANSACTION")
                    cursor.execute(f"DELETE FROM t WHERE b % {rng.randrange(3, 50)} = 0")
                    cursor.execute(f"UPDATE t SET v0 = NULL WHERE b % {rng.randrange(3, 50)} = 1")
                found = answers(cursor, text)
                cursor.execute("ROLLBACK")
                count += 1
                if any(other != found[0] for other in found[1:]):
                    cursor.execute("SHOW CREATE TABLE t")
                    sizes = [len(rows) for rows in found]
                    raise SystemExit(f"differs, rows {sizes}, changed {changes}:\n{text}\n{cursor.fetchone()[1]}")
    print(f"sorted groups: {count} queries, none differ")


if __name__ == "__main__":
    main()
