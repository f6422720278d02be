"""A table and a database that are replaced again and again: no session may find them missing.

usage: replaced_tables.py PORT [READS] [READERS]

One session runs CREATE OR REPLACE TABLE in its three forms, in two engines, TRUNCATE, and CREATE OR
REPLACE DATABASE. The others read the table and use the database, READS times each, 500 by default.
No read may fail, and each returns all rows of one definition.
"""

import itertools
import sys
import threading

import pymysql

REPLACEMENTS = [
    "CREATE OR REPLACE TABLE replaced.t (a INT PRIMARY KEY, b INT) ENGINE=InnoDB",
    "CREATE OR REPLACE TABLE replaced.t (PRIMARY KEY (a)) ENGINE=InnoDB SELECT * FROM replaced.three",
    "CREATE OR REPLACE TABLE replaced.t LIKE replaced.three",
    "CREATE OR REPLACE TABLE replaced.t ENGINE=MEMORY SELECT * FROM replaced.three",
    "CREATE OR REPLACE TABLE replaced.t ENGINE=MyISAM SELECT * FROM replaced.three",
    "TRUNCATE TABLE replaced.t",
    "CREATE OR REPLACE DATABASE replaced_too CHARACTER SET latin1",
    "CREATE TABLE replaced_too.t (a INT)",
    "CREATE OR REPLACE DATABASE replaced_too CHARACTER SET utf8mb4",
]


def connect(port):
    return pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True).cursor()


def read(port, reads, problems):
    cursor = connect(port)
    try:
        for _ in range(reads):
            cursor.execute("SELECT * FROM replaced.t")
            rows = cursor.fetchall()
            if rows not in ((), ((1, 1), (2, 4), (3, 9))):
                problems.append(rows)
            cursor.execute("SHOW CREATE TABLE replaced.t")
            cursor.execute("SHOW CREATE DATABASE replaced_too")
            cursor.execute("USE replaced_too")
    except pymysql.MySQLError as error:
        problems.append(error)


def main():
    given = dict(enumerate(map(int, sys.argv[1:])))
    port, reads, readers = given[0], given.get(1, 500), given.get(2, 3)
    cursor, problems = connect(port), []
    cursor.execute("DROP DATABASE IF EXISTS replaced")
    cursor.execute("CREATE DATABASE replaced")
    cursor.execute("CREATE TABLE replaced.three (a INT NOT NULL, b INT)")
    cursor.execute("INSERT INTO replaced.three VALUES (1, 1), (2, 4), (3, 9)")
    cursor.execute("CREATE OR REPLACE DATABASE replaced_too")
    cursor.execute(REPLACEMENTS[0])
    threads = [threading.Thread(target=read, args=(port, reads, problems)) for _ in range(readers)]
    for thread in threads:
        thread.start()
    done = 0
    for statement in itertools.cycle(REPLACEMENTS):
        if not any(thread.is_alive() for thread in threads):
            break
        cursor.execute(statement)
        done += 1
    cursor.execute("DROP DATABASE replaced")
    cursor.execute("DROP DATABASE replaced_too")
    print(f"replaced tables: {readers * reads} reads of {done} tables: {problems[:3] or 'ok'}")
    sys.exit(1 if problems or not done else 0)


main()
