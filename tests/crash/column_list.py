"""Column groups come back after a restart, for the tables and columns that had them.

After a stop, a kill -9 and a stop during which the list was lost or damaged, the groups of the last life are there again
without a report being run, with the wide column that was read, and answer as the rows do. A dropped table is gone from the
list; with selkie_columns=OFF there are no groups, and the list stays as it was.

usage: column_list.py BINARY
"""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from selkie import Server  # noqa: E402

ROWS = 130_000
# Groups of this much memory hold the wide columns only if they are read.
OPTIONS = ["--selkie-column-memory=24M"]
SCHEMA = f"""CREATE DATABASE `r \u00e9`
CREATE TABLE `r \u00e9`.`f\t"` (id INT PRIMARY KEY, v INT, s CHAR(40), unread CHAR(64)) CHARSET latin1
CREATE TABLE `r \u00e9`.gone (id INT PRIMARY KEY, v INT)
CREATE TABLE `r \u00e9`.small (id INT PRIMARY KEY, v INT)
INSERT INTO `r \u00e9`.`f\t"` SELECT seq, seq % 91, CONCAT(MD5(seq), 'a'), CONCAT(MD5(seq), MD5(-seq)) FROM `r \u00e9`.seq_1_to_{ROWS}
INSERT INTO `r \u00e9`.gone SELECT seq, seq FROM `r \u00e9`.seq_1_to_{ROWS}
INSERT INTO `r \u00e9`.small SELECT seq, seq FROM `r \u00e9`.seq_1_to_1000
ANALYZE TABLE `r \u00e9`.gone, `r \u00e9`.small"""
REPORT = "SELECT SUM(v), MAX(s), COUNT(*) FROM `r \u00e9`.`f\t\"` WHERE s < 'e'"


def ask(server, *queries):
    """The rows of the last query."""
    with server.connect(read_timeout=60) as connection, connection.cursor() as cursor:
        for query in queries:
            cursor.execute(query)
        return list(cursor.fetchall())


def status(server, name):
    return int(ask(server, f"SHOW STATUS LIKE 'Selkie_columns_{name}'")[0][1])


def groups(server, wanted, seconds=20):
    """Waits until there are so many groups."""
    deadline = time.monotonic() + seconds
    while (found := status(server, "groups")) != wanted:
        assert time.monotonic() < deadline, f"{found} groups instead of {wanted}"
        time.sleep(0.05)


def processor_seconds(server):
    with open(f"/proc/{server.process.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def by_groups(server):
    """Runs the report by groups and by rows."""
    before = status(server, "rows_read")
    fast = ask(server, REPORT)
    assert status(server, "rows_read") - before >= ROWS - 20_000, "the report was read by rows"
    slow = ask(server, "SET selkie_columns = OFF", REPORT)
    assert fast == slow, f"{fast} by groups, {slow} by rows"


def main():
    server = Server(sys.argv[1], options=OPTIONS).start()
    file = os.path.join(server.datadir, "column_groups.list")
    try:
        ask(server, *SCHEMA.splitlines())
        # By the second report the table is worth groups, with the column that it reads.
        ask(server, REPORT, REPORT)
        before = status(server, "groups")
        deadline = time.monotonic() + 20
        while not os.path.exists(file) or '"f' not in open(file).read():
            assert time.monotonic() < deadline, "the table is not listed"
            time.sleep(0.05)
        before = status(server, "groups")
        by_groups(server)

        server.stop()
        listed = open(file).read()
        server.start()
        groups(server, before)
        by_groups(server)
        ask(server, "DROP TABLE `r \u00e9`.gone")
        fewer = status(server, "groups")
        assert 0 < fewer < before

        server.kill()
        server.start()
        groups(server, fewer)
        by_groups(server)

        server.stop()
        assert open(file).read() != listed and "gone" not in open(file).read(), "a dropped table is listed"
        kept, server.options = open(file).read(), [*OPTIONS, "--selkie-columns=OFF"]
        server.start()
        time.sleep(0.5)
        assert status(server, "groups") == 0
        # A session may build groups all the same; then there is nothing to list, and nothing to do.
        ask(server, "SET selkie_columns = ON", "ANALYZE TABLE `r \u00e9`.`f\t\"`")
        assert status(server, "groups") > 0
        before_sleep = processor_seconds(server)
        time.sleep(1)
        assert processor_seconds(server) - before_sleep < 0.5, "an idle server works"
        server.stop()
        assert open(file).read() == kept, "the list of a life without groups was changed"

        server.options = OPTIONS
        with open(file, "wb") as damaged:
            damaged.write(b"[\"no\",\"such\",1]\n\xff\xfe[[[\n" + b"[" * 100_000)
        server.start()
        groups(server, 0)
        assert ask(server, "SELECT 1") == [(1,)]
        server.stop()
    finally:
        server.remove()
    print(f"column list: {before} groups came back after a stop, {fewer} after a kill")


if __name__ == "__main__":
    main()
