#!/usr/bin/env python3
"""Lets readers of other makes read Selkie's binary log: a MariaDB replica, mariadb-binlog, mariadb-dump, a Python reader.

usage: serve.py SELKIE [PART ...]     parts: gtid position crash damage live rows streams talk backup stalled
       SERVE_CRASHES=n                kills of the crash part, 5 unless given

The replica runs the scripts of tests/replication/binlog in both modes, and its tables have to have the rows of Selkie.
All servers listen on loopback, have private directories, and end with the test. 3 min.
"""
import os
import pathlib
import random
import re
import socket
import struct
import subprocess
import sys
import threading
import time

import pymysql

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent))
from beside_mariadb import MariaDb  # noqa: E402
from binlog_beside_mariadb import MODE, client, rows, tables  # noqa: E402
from selkie import Server  # noqa: E402

LOG = ["--log-bin=binlog", "--binlog-format=ROW", "--server-id=1", "--log-bin-trust-function-creators=1"]
REPLICA = ["--server-id=2", "--log-bin-trust-function-creators=1", "--slave-net-timeout=20"]
WAIT = 60


class Failed(Exception):
    """A reader got something else than Selkie has."""


def check(condition, text):
    if not condition:
        raise Failed(text)


def connect(port, **options):
    return pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True, connect_timeout=10, **options)


def status(replica):
    """SHOW SLAVE STATUS as a dictionary."""
    connection = connect(replica.port)
    with connection, connection.cursor(pymysql.cursors.DictCursor) as cursor:
        cursor.execute("SHOW SLAVE STATUS")
        return cursor.fetchone()


def follow(replica, server, how):
    """Lets the replica begin anew behind a server that has just lost its log."""
    client(replica.port, "STOP SLAVE; RESET SLAVE ALL; SET GLOBAL gtid_slave_pos=''; DROP DATABASE IF EXISTS d;")
    out = client(replica.port, f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={server.port}, MASTER_USER='root', "
                               f"MASTER_CONNECT_RETRY=1, MASTER_HEARTBEAT_PERIOD=1, {how}; START SLAVE;")
    check(not out[1], f"CHANGE MASTER: {out[1]}")


def catch_up(replica, server):
    """Waits until the replica has all groups of the server."""
    position = rows(server.port, "SELECT @@gtid_binlog_pos")[0]
    file, offset = rows(server.port, "SHOW MASTER STATUS")[0].split("\t")[:2]
    is_gtid = status(replica)["Using_Gtid"] != "No"
    wait = f"MASTER_GTID_WAIT('{position}', {WAIT})" if is_gtid else f"MASTER_POS_WAIT('{file}', {offset}, {WAIT})"
    answer = rows(replica.port, f"SELECT {wait}")[0]
    state = status(replica)
    errors = (state["Last_IO_Error"], state["Last_SQL_Error"])
    check(answer not in ("-1", "NULL") and errors == ("", ""), f"the replica did not come to {position}, {file} {offset}: {errors}")


def same_tables(replica, server, what):
    mine, theirs = tables(server.port), tables(replica.port)
    if mine != theirs:
        differ = [line for line in set(mine) ^ set(theirs)]
        raise Failed(f"{what}: the tables differ: {differ[:10]}")
    return len(mine)


def scripts(server, replica, how):
    for path in sorted((HERE / "binlog").glob("*.sql")):
        client(server.port, f"DROP DATABASE IF EXISTS d; SET GLOBAL sql_mode='{MODE}'; RESET MASTER;")
        follow(replica, server, how)
        client(server.port, "CREATE DATABASE d; USE d;\n" + path.read_text())
        catch_up(replica, server)
        count = same_tables(replica, server, path.stem)
        print(f"  {path.stem}: {count} rows equal")


def part_gtid(server, replica):
    """A replica that asks by the groups it has."""
    scripts(server, replica, "MASTER_USE_GTID=slave_pos")
    # It goes on where it was, over several files.
    client(replica.port, "STOP SLAVE")
    client(server.port, "CREATE TABLE d.more(a INT PRIMARY KEY); FLUSH BINARY LOGS; INSERT INTO d.more VALUES (1),(2); FLUSH BINARY LOGS;"
                        "SET gtid_domain_id=7; INSERT INTO d.more VALUES (3)")
    client(replica.port, "START SLAVE")
    catch_up(replica, server)
    same_tables(replica, server, "after a pause")
    line = [row for row in rows(server.port, "SHOW PROCESSLIST") if "Binlog Dump" in row]
    check(len(line) == 1 and "Master has sent all binlog to slave; waiting for more updates" in line[0], f"process list: {line}")
    check(rows(server.port, "SHOW SLAVE HOSTS")[0].split("\t")[0] == "2", "SHOW SLAVE HOSTS")
    check(rows(server.port, "SHOW STATUS LIKE 'Slaves_connected'") == ["Slaves_connected\t1"], "Slaves_connected")


def part_position(server, replica):
    """A replica that asks by file and offset."""
    scripts(server, replica, "MASTER_USE_GTID=no, MASTER_LOG_FILE='binlog.000001', MASTER_LOG_POS=4")
    client(replica.port, "STOP SLAVE")
    client(server.port, "CREATE TABLE d.more(a INT PRIMARY KEY); FLUSH BINARY LOGS; INSERT INTO d.more VALUES (1),(2)")
    client(replica.port, "START SLAVE")
    catch_up(replica, server)
    same_tables(replica, server, "after a pause")
    client(replica.port, "STOP SLAVE; CHANGE MASTER TO MASTER_LOG_FILE='binlog.000001', MASTER_LOG_POS=999999, MASTER_USE_GTID=no; START SLAVE")
    expect_io_error(replica, "Client requested master to start replication from impossible position; the first event 'binlog.000001' at 999999")


def expect_io_error(replica, text):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        state = status(replica)
        if state["Last_IO_Error"]:
            break
        time.sleep(0.1)
    check(state["Last_IO_Errno"] == 1236 and text in state["Last_IO_Error"], f"expected {text!r}, got {state['Last_IO_Error']!r}")


def write(port, number, stop, acknowledged):
    """Inserts rows until told to stop, and notes what was acknowledged."""
    at = 0
    while not stop.is_set():
        try:
            connection = connect(port)
            with connection, connection.cursor() as cursor:
                while not stop.is_set():
                    at += 1
                    cursor.execute("BEGIN")
                    cursor.execute("INSERT INTO d.ledger VALUES (%s, %s)", (number, at))
                    cursor.execute("INSERT INTO d.twin VALUES (%s, %s)", (number, at))
                    cursor.execute("UPDATE d.hot SET n = n + 1 WHERE id = %s", (number % 2,))
                    cursor.execute("COMMIT")
                    acknowledged.append((number, at))
        except (pymysql.MySQLError, OSError):
            time.sleep(0.05)


def part_crash(server, replica):
    """Selkie is killed under load: the replica never has what Selkie has lost, and gets all it has kept."""
    client(server.port, "DROP DATABASE IF EXISTS d; RESET MASTER")
    follow(replica, server, "MASTER_USE_GTID=slave_pos")
    client(server.port, "CREATE DATABASE d; CREATE TABLE d.ledger(w INT, a INT, PRIMARY KEY(w, a)); CREATE TABLE d.twin LIKE d.ledger;"
                        "CREATE TABLE d.hot(id INT PRIMARY KEY, n INT); INSERT INTO d.hot VALUES (0, 0), (1, 0)")
    lost = 0
    for cycle in range(int(os.environ.get("SERVE_CRASHES", "5"))):
        mode = (1, 2, 0)[cycle % 3]
        client(server.port, f"SET GLOBAL innodb_flush_log_at_trx_commit={mode}")
        stop, acknowledged = threading.Event(), []
        threads = [threading.Thread(target=write, args=(server.port, number, stop, acknowledged)) for number in range(cycle * 10, cycle * 10 + 4)]
        for thread in threads:
            thread.start()
        time.sleep(random.uniform(0.4, 1.5))
        if cycle % 2:
            client(server.port, "FLUSH BINARY LOGS")
        server.kill()
        stop.set()
        for thread in threads:
            thread.join()
        server.start()
        until(lambda: status(replica)["Slave_IO_Running"] == "Yes", "the replica connects again", 30)
        catch_up(replica, server)
        same_tables(replica, server, f"crash {cycle}, mode {mode}")
        kept = set(rows(server.port, "SELECT w, a FROM d.ledger"))
        missing = [pair for pair in acknowledged if f"{pair[0]}\t{pair[1]}" not in kept]
        check(mode == 0 or not missing, f"crash {cycle}: {len(missing)} acknowledged rows are lost")
        lost += len(missing)
    print(f"  {len(kept)} transactions, {lost} lost with flush at commit off; the replica is equal after each crash")


def part_damage(server, replica):
    """A damaged event ends the dump, and nothing of it reaches the replica."""
    client(server.port, "DROP DATABASE IF EXISTS d; RESET MASTER; CREATE DATABASE d; CREATE TABLE d.t(a INT PRIMARY KEY, b VARCHAR(100));"
                        "INSERT INTO d.t VALUES (1, 'first'); INSERT INTO d.t VALUES (2, 'damaged'); FLUSH BINARY LOGS")
    path = pathlib.Path(server.datadir) / "binlog.000001"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"damaged", b"dAmaged"))
    follow(replica, server, "MASTER_USE_GTID=slave_pos")
    expect_io_error(replica, "event read from binlog did not pass crc check; the first event 'binlog.000001' at 4")
    # The replica may still be applying what it got before.
    until = time.monotonic() + WAIT
    while not client(replica.port, "SELECT a FROM d.t")[0].strip() and time.monotonic() < until:
        time.sleep(0.05)
    check(rows(replica.port, "SELECT a FROM d.t") == ["1"], "the replica has a damaged row")
    path.write_bytes(whole)
    client(replica.port, "START SLAVE")
    catch_up(replica, server)
    same_tables(replica, server, "after the repair")


def part_live(server, _replica):
    """mariadb-binlog reads while the log grows."""
    client(server.port, "DROP DATABASE IF EXISTS d; RESET MASTER; CREATE DATABASE d; CREATE TABLE d.t(a INT PRIMARY KEY)")
    tool = ["mariadb-binlog", "--no-defaults", "-R", "-h127.0.0.1", f"-P{server.port}", "-uroot", "-vv"]
    live = subprocess.Popen([*tool, "--stop-never", "--stop-never-slave-server-id=77", "binlog.000001"], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)
    try:
        time.sleep(0.5)
        client(server.port, "INSERT INTO d.t VALUES (11); FLUSH BINARY LOGS; INSERT INTO d.t VALUES (12)")
        time.sleep(1)
    finally:
        live.terminate()
        text = live.communicate(timeout=20)[0].decode(errors="replace")
    check("@1=11" in text and "@1=12" in text, f"mariadb-binlog --stop-never did not see the rows: {text[-600:]}")
    run = subprocess.run([*tool, "--to-last-log", "binlog.000001"], capture_output=True, check=False, timeout=30)
    check(run.returncode == 0 and b"@1=12" in run.stdout, f"mariadb-binlog -R: {run.stderr}")


def read_rows(port, **options):
    """The changes of rows of a server's whole log, as python-mysql-replication has them."""
    from pymysqlreplication import BinLogStreamReader
    from pymysqlreplication.row_event import DeleteRowsEvent, UpdateRowsEvent, WriteRowsEvent
    stream = BinLogStreamReader(connection_settings={"host": "127.0.0.1", "port": port, "user": "root", "passwd": ""}, server_id=99,
                                is_mariadb=True, only_events=[WriteRowsEvent, UpdateRowsEvent, DeleteRowsEvent], **options)
    found = []
    try:
        for event in stream:
            found += [(type(event).__name__, event.schema, event.table, repr(row)) for row in event.rows]
    finally:
        stream.close()
    return found


def part_rows(server, _replica):
    """python-mysql-replication reads the same rows from Selkie and from MariaDB."""
    try:
        import pymysqlreplication  # noqa: F401
    except ImportError:
        print("  skipped: pip install mysql-replication")
        return
    peer = MariaDb(options=LOG)
    try:
        peer.start()
        found = []
        for port in (server.port, peer.port):
            # Images of binlog_row_image=MINIMAL have other columns.
            text = "\n".join(line for line in (HERE / "binlog" / "rows.sql").read_text().splitlines() if "'MINIMAL'" not in line)
            client(port, f"DROP DATABASE IF EXISTS d; SET GLOBAL sql_mode='{MODE}'; RESET MASTER; CREATE DATABASE d; USE d;" + text)
            found.append(read_rows(port, resume_stream=True, log_file="binlog.000001", log_pos=4))
        # The servers log the tables that one statement changes in different orders.
        mine, theirs = map(sorted, found)
        check(len(mine) > 50, f"only {len(mine)} rows were read")
        differ = [pair for pair in zip(mine, theirs) if pair[0] != pair[1]]
        check(len(mine) == len(theirs) and not differ, f"{len(mine)} and {len(theirs)} rows: {differ[:2]}")
        by_gtid = read_rows(server.port, auto_position="0-1-1")
        check(by_gtid == found[0], f"by GTID there are {len(by_gtid)} rows, by offset {len(mine)}")
        print(f"  {len(mine)} rows equal")
    finally:
        peer.remove()


KINDS = {2: "Query", 3: "Stop", 4: "Rotate", 14: "User_var", 15: "Format", 16: "Xid", 19: "Table_map", 23: "Write_rows", 27: "Heartbeat",
         160: "Annotate", 162: "Gtid", 163: "Gtid_list"}


def raw(port, variables, offset=4, flags=1, file=b"", number=55, user="root"):
    """The packets that a reader gets, and the error that ends them."""
    connection = pymysql.connect(host="127.0.0.1", port=port, user=user, read_timeout=5)
    packets, end = [], "EOF"
    with connection:
        with connection.cursor() as cursor:
            for variable in variables:
                cursor.execute(f"SET {variable}")
        try:
            connection._execute_command(0x12, struct.pack("<IHI", offset, flags, number) + file)
            while True:
                packet = connection._read_packet().get_all_data()
                if packet[0] == 0xFE and len(packet) < 9:
                    break
                packets.append(packet[1:])
        except pymysql.MySQLError as error:
            end = str(error.args)
    return packets, end


def words(answer):
    """Packets and end without what belongs to one server: places, times, and the file that recovery needs."""
    packets, end = answer
    found = []
    for packet in packets:
        time_, kind, server, length, _, flags = struct.unpack("<IBIIIH", packet[:19])
        body, made = packet[19:], "made " if time_ == 0 else ""
        if kind == 161 or kind == 2 and b"# D" in body:
            continue
        text = f"{made}{KINDS.get(kind, kind)} {flags:x}"
        if kind == 4:
            text += f" {body[8:21].decode()} {length}" + (f" {int.from_bytes(body[:8], 'little')}" if len(found) > 0 else "")
        if kind == 163:
            count = int.from_bytes(body[:4], "little")
            gtids = sorted(struct.unpack("<IIQ", body[4 + 16 * at:20 + 16 * at]) for at in range(count & 0xFFFFFFF))
            text += f" {count >> 28} {gtids}"
        if kind == 162:
            text += f" {struct.unpack('<QI', body[:12])} {server}"
        if kind == 15:
            text += f" created {body[52:56] != bytes(4)} placed {packet[13:17] != bytes(4)}"
        found.append(text)
    return [*found, re.sub(r"(?<= at )\d+", "N", end)]


def part_streams(server, _replica):
    """Packet by packet, a reader gets from Selkie what it gets from MariaDB."""
    peer = MariaDb(options=LOG)
    try:
        peer.start()
        script = ("RESET MASTER; CREATE DATABASE d; CREATE TABLE d.t(a INT PRIMARY KEY); INSERT INTO d.t VALUES (1); SET gtid_domain_id=1;"
                  "INSERT INTO d.t VALUES (2); SET gtid_domain_id=0; FLUSH BINARY LOGS; INSERT INTO d.t VALUES (3); SET gtid_domain_id=1;"
                  "INSERT INTO d.t VALUES (4); SET gtid_domain_id=0; SET gtid_seq_no=9; INSERT INTO d.t VALUES (5); FLUSH BINARY LOGS;"
                  "INSERT INTO d.t VALUES (6); XA START 'x'; INSERT INTO d.t VALUES (7); XA END 'x'; XA PREPARE 'x'; XA COMMIT 'x'")
        for port in (server.port, peer.port):
            client(port, "DROP DATABASE IF EXISTS d")
            client(port, script)
        asks = list(streams())
        for ask in asks:
            mine, theirs = (words(raw(port, **ask)) for port in (server.port, peer.port))
            differ = [pair for pair in zip(mine, theirs) if pair[0] != pair[1]]
            check(mine == theirs, f"{ask}: {len(mine)} and {len(theirs)} events: {differ[:3]}")
        print(f"  {len(asks)} streams equal")
    finally:
        peer.remove()


def streams():
    """Ways to ask for the log."""
    crc, gtid = "@master_binlog_checksum='CRC32'", "@mariadb_slave_capability=4"
    for checksum in (crc, "@master_binlog_checksum='NONE'", "@master_binlog_checksum=@@global.binlog_checksum", "@x=1"):
        for file in (b"binlog.000001", b"binlog.000003", b""):
            yield {"variables": [checksum, gtid], "file": file}
    for capability in range(4):
        for flags in (1, 3):
            yield {"variables": [crc, f"@mariadb_slave_capability={capability}"], "file": b"binlog.000002", "flags": flags}
    for offset in (0, 3, 256, 99999):
        yield {"variables": [crc, gtid], "file": b"binlog.000002", "offset": offset}
    yield {"variables": [crc, gtid], "file": b"binlog.000009"}
    for position in ("", "0-1-1", "0-1-2", "0-1-3,1-1-1", "0-1-4,1-1-1", "0-1-9,1-1-2", "0-1-11,1-1-2", "0-1-99", "0-9-77", "0-9-1", "7-7-7",
                     "0-1-10,1-1-2,7-7-7", "abc", "0-1-1,0-2-2"):
        yield {"variables": [crc, gtid, f"@slave_connect_state='{position}'"]}
    for more in ("@slave_gtid_strict_mode=1", "@slave_gtid_ignore_duplicates=1", "@slave_until_gtid='0-1-6'"):
        yield {"variables": [crc, gtid, "@slave_connect_state='0-1-2,1-1-1'", more]}
    yield {"variables": [crc, gtid, "@slave_connect_state='0-1-6,1-1-1'", "@slave_gtid_strict_mode=1"]}
    yield {"variables": [crc, gtid, "@slave_connect_state='0-1-99'", "@slave_gtid_ignore_duplicates=1"]}
    for until in ("", "0-1-3", "0-1-3,1-1-1", "0-1-99", "x"):
        yield {"variables": [crc, gtid, "@slave_connect_state=''", f"@slave_until_gtid='{until}'"]}
    yield {"variables": [crc, gtid, "@slave_connect_state='0-1-4,1-1-2'", "@slave_until_gtid='0-1-2'"]}


def part_talk(server, _replica):
    """Commands, privileges, heartbeats, and the ends of a dump."""
    client(server.port, "DROP DATABASE IF EXISTS d; RESET MASTER; CREATE OR REPLACE USER u@localhost; CREATE OR REPLACE USER u@'127.0.0.1'")
    for command, payload, text in ((0x15, bytes([2, 0, 0, 0]) + bytes(13), "(1045, \"Access denied for user 'u'@'"),
                                   (0x12, struct.pack("<IHI", 4, 1, 5), "(1227, 'Access denied; you need (at least one of) the REPLICATION SLAVE"),
                                   (0x1E, bytes(20), "(1047, 'Unknown command')")):
        check(ask_once(server.port, command, payload, "u").startswith(text), f"command {command:x}: {ask_once(server.port, command, payload, 'u')}")
    host = b"\x02\0\0\0\x04host\x04user\x04pass\xce\x10" + bytes(8)
    check(ask_once(server.port, 0x15, host, "root").startswith("b'\\x00"), "COM_REGISTER_SLAVE")
    check("Failed to register slave: too long 'report-host'" in ask_once(server.port, 0x15, b"\x02\0\0\0\x04hos", "root"), "a cut registration")
    variables = ["@master_binlog_checksum='CRC32'", "@mariadb_slave_capability=4", "@master_heartbeat_period=300000000"]
    answers = {}
    for name, kill in (("KILL QUERY", "KILL QUERY {0}"), ("KILL", "KILL {0}"), ("reset", "RESET MASTER")):
        file, offset = rows(server.port, "SHOW MASTER STATUS")[0].split("\t")[:2]
        ask = {"variables": variables, "file": file.encode(), "offset": int(offset), "flags": 0}
        thread = threading.Thread(target=lambda name=name, ask=ask: answers.update({name: raw(server.port, **ask)}))
        thread.start()
        until(lambda: dumps(server) == 1, "a dump begins")
        time.sleep(1)
        number = [row.split("\t")[0] for row in rows(server.port, "SHOW PROCESSLIST") if "Binlog Dump" in row][0]
        client(server.port, kill.format(number))
        thread.join()
    for name in ("KILL QUERY", "KILL"):
        packets, end = answers[name]
        check(end == "EOF", f"{name}: {end}")
        beats = [packet for packet in packets if packet[4] == 27]
        check(2 <= len(beats) <= 4 and beats[0][:4] == bytes(4), f"{name}: {len(beats)} heartbeats in a second")
    check("could not find next log; the first event" in answers["reset"][1], f"reset: {answers['reset'][1]}")
    first = dump(server.port, 66, b"")
    until(lambda: dumps(server) == 1, "a dump begins")
    second = dump(server.port, 66, b"")
    end = ""
    try:
        while True:
            first._read_packet()
    except pymysql.MySQLError as error:
        end = str(error.args)
    check(end.startswith("(4052, \"A slave with the same server_uuid/server_id is already connected; the first event"), f"the same number: {end}")
    second.close()
    until(lambda: dumps(server) == 0, "a dump ends with its client")
    held = dump(server.port, 67, b"")
    begun = time.monotonic()
    server.process.terminate()
    server.process.wait(timeout=30)
    check(time.monotonic() - begun < 8, f"the end of the server took {time.monotonic() - begun:.1f} s beside a dump")
    held.close()
    server.start()


def ask_once(port, command, payload, user):
    """The answer to a command, as text."""
    connection = pymysql.connect(host="127.0.0.1", port=port, user=user, read_timeout=5)
    with connection:
        connection._execute_command(command, payload)
        try:
            return repr(connection._read_packet().get_all_data())
        except pymysql.MySQLError as error:
            return str(error.args)


def part_backup(server, replica):
    """A dump of Selkie makes a replica, which goes on from the dump's place."""
    client(server.port, "DROP DATABASE IF EXISTS d; RESET MASTER; CREATE DATABASE d; CREATE TABLE d.t(a INT PRIMARY KEY);"
                        "INSERT INTO d.t VALUES (1), (2)")
    stop, done = threading.Event(), []
    client(server.port, "CREATE TABLE d.ledger(w INT, a INT, PRIMARY KEY(w, a)); CREATE TABLE d.twin LIKE d.ledger;"
                        "CREATE TABLE d.hot(id INT PRIMARY KEY, n INT); INSERT INTO d.hot VALUES (0, 0), (1, 0)")
    writer = threading.Thread(target=write, args=(server.port, 1, stop, done))
    writer.start()
    try:
        time.sleep(0.3)
        run = subprocess.run(["mariadb-dump", "--no-defaults", "-h127.0.0.1", f"-P{server.port}", "-uroot", "--master-data=1", "--gtid",
                              "--single-transaction", "--databases", "d"], capture_output=True, check=False, timeout=60)
    finally:
        stop.set()
        writer.join()
    check(run.returncode == 0, f"mariadb-dump: {run.stderr.decode()}")
    place = re.findall(rb"^(?:SET GLOBAL|CHANGE MASTER).*", run.stdout, re.M)
    client(replica.port, "STOP SLAVE; RESET SLAVE ALL; SET GLOBAL gtid_slave_pos=''; DROP DATABASE IF EXISTS d")
    client(replica.port, f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={server.port}, MASTER_USER='root', MASTER_CONNECT_RETRY=1")
    errors = client(replica.port, run.stdout.decode())[1]
    check(not errors and len(place) > 0, f"the dump: {place} {errors}")
    client(replica.port, "CHANGE MASTER TO MASTER_USE_GTID=slave_pos; START SLAVE")
    catch_up(replica, server)
    same_tables(replica, server, "from a dump")


def part_stalled(server, _replica):
    """A reader that does not read slows nobody, and a kill or the next one with its number ends it."""
    client(server.port, "DROP DATABASE IF EXISTS d; RESET MASTER; CREATE DATABASE d; CREATE TABLE d.b(a LONGBLOB); CREATE TABLE d.t(a INT PRIMARY KEY)")
    for _ in range(4):
        client(server.port, "INSERT INTO d.b VALUES (REPEAT('x', 8000000))")
    before = memory(server)
    reader = dump(server.port, 88, b"binlog.000001")
    time.sleep(0.5)
    begun = time.monotonic()
    connection = connect(server.port)
    with connection, connection.cursor() as cursor:
        for at in range(200):
            cursor.execute("INSERT INTO d.t VALUES (%s)", (at,))
    took = time.monotonic() - begun
    check(took < 10, f"200 commits beside a stalled reader took {took:.1f} s")
    check(memory(server) - before < 60_000, f"memory grew by {memory(server) - before} KiB")
    client(server.port, "FLUSH BINARY LOGS; FLUSH BINARY LOGS")
    warning = rows(server.port, "PURGE BINARY LOGS TO 'binlog.000003'; SHOW WARNINGS")
    check("1867" in warning[0] and len(rows(server.port, "SHOW BINARY LOGS")) == 3, f"a file that is read was purged: {warning}")
    second = dump(server.port, 88, b"binlog.000002")
    until(lambda: dumps(server) == 1, "the second reader with the number takes the place of the first")
    number = [row.split("\t")[0] for row in rows(server.port, "SHOW PROCESSLIST") if "Binlog Dump" in row][0]
    client(server.port, f"KILL {number}")
    until(lambda: dumps(server) == 0, "KILL ends a dump")
    check(rows(server.port, "PURGE BINARY LOGS TO 'binlog.000003'; SHOW WARNINGS; SHOW BINARY LOGS")[0].startswith("binlog.000003"), "PURGE")
    reader.close()
    second.close()


def memory(server):
    """Resident memory in KiB."""
    text = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1])


def dump(port, number, file):
    """A connection that has asked for the log and reads nothing."""
    connection = connect(port)
    # A small window: what the client's system takes is not the server's memory.
    connection._sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    with connection.cursor() as cursor:
        cursor.execute("SET @master_binlog_checksum='CRC32', @mariadb_slave_capability=4")
    connection._execute_command(0x12, struct.pack("<IHI", 4, 0, number) + file)
    return connection


def dumps(server):
    return sum("Binlog Dump" in row for row in rows(server.port, "SHOW PROCESSLIST"))


def until(condition, text, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < deadline, f"not within {seconds} s: {text}")
        time.sleep(0.05)


PARTS = {name.removeprefix("part_"): part for name, part in list(globals().items()) if name.startswith("part_")}


def run_parts(parts, names, server, replica):
    """Runs parts on a Selkie and its MariaDB replica, and removes both; exits with 1 if one fails."""
    failed = 0
    try:
        replica.start()
        server.start()
        for name in names or parts:
            begun = time.monotonic()
            try:
                parts[name](server, replica)
                print(f"{name}: ok, {time.monotonic() - begun:.1f} s", flush=True)
            except Failed as error:
                failed += 1
                print(f"{name}: {error}", flush=True)
        server.check_panics()
    finally:
        server.remove()
        replica.remove()
    sys.exit(failed > 0)


def main():
    run_parts(PARTS, sys.argv[2:], Server(sys.argv[1], options=LOG), MariaDb(options=REPLICA))


if __name__ == "__main__":
    main()
