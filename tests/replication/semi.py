#!/usr/bin/env python3
"""Semi-synchronous replication from Selkie to a MariaDB replica.

usage: semi.py SELKIE [PART ...]     parts: same talk waits crash
       SEMI_CRASHES=n                kills of the crash part, 3 unless given
       SEMI_OPTIONS="..."            more options of Selkie

The part `same` runs one script on Selkie and on a MariaDB primary, each with a replica, and the status variables have to be the
same after each step. The part `crash` kills Selkie under load; what it has answered is on the replica. All servers listen on
loopback, have private directories, and end with the test. 2 min.
"""
import os
import struct
import sys
import threading
import time
import pathlib

import pymysql

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent))
from beside_mariadb import MariaDb  # noqa: E402
from binlog_beside_mariadb import client, rows  # noqa: E402
from serve import LOG, REPLICA, Failed, catch_up, check, connect, dumps, follow, run_parts, until, write  # noqa: E402
from selkie import Server  # noqa: E402

SEMI = "rpl_semi_sync_master"
BY_GTID = "MASTER_USE_GTID=slave_pos"
# Times, and what depends on how fast an acknowledgement comes.
UNEQUAL = ("net_avg_wait_time", "net_wait_time", "tx_avg_wait_time", "tx_wait_time", "tx_waits")


def shown(port):
    """The status variables without their common beginning."""
    lines = (row.split("\t") for row in rows(port, f"SHOW GLOBAL STATUS LIKE '{SEMI}%'"))
    return {name[len(SEMI) + 1:]: value for name, value in lines}


def number(port, name):
    return int(shown(port)[name])


def settle(port, **wanted):
    """Waits until status variables have these values."""
    until(lambda: all(shown(port)[name] == value for name, value in wanted.items()), f"{wanted}: {shown(port)}", 20)


def variable(port, **values):
    client(port, ";".join(f"SET GLOBAL {SEMI}_{name}={value}" for name, value in values.items()))


def timed(port, text):
    begun = time.monotonic()
    out = client(port, text)
    check(not out[1], f"{text}: {out[1]}")
    return time.monotonic() - begun


def begin(server, replica, timeout=10_000):
    """A replica that follows a server with an empty log, semi-sync on."""
    variable(server.port, enabled=0, wait_no_slave=1)
    client(server.port, "DROP DATABASE IF EXISTS d; RESET MASTER; FLUSH STATUS")
    follow(replica, server, BY_GTID)
    until(lambda: dumps(server) == 1, "a dump begins", 20)
    variable(server.port, timeout=timeout, enabled=1)
    settle(server.port, clients="1", status="ON")


def states(primary, replica):
    """The status variables after each step of a script."""
    port, found, unequal = primary.port, [], list(UNEQUAL)

    def note(step):
        time.sleep(0.4)
        found.append((step, {name: value for name, value in shown(port).items() if name not in unequal}))

    def run(*texts):
        for text in texts:
            timed(port, text)
            note(text)

    def stop():
        client(replica.port, "STOP SLAVE")
        settle(port, clients="0")
        note("the replica stops")

    def start():
        client(replica.port, "START SLAVE")
        settle(port, clients="1")
        time.sleep(1)
        note("the replica comes back")

    client(replica.port, "STOP SLAVE; RESET SLAVE ALL; SET GLOBAL gtid_slave_pos=''; DROP DATABASE IF EXISTS d")
    settle(port, clients="0")
    note("the begin")
    client(port, "RESET MASTER; CREATE DATABASE d; CREATE TABLE d.t(a INT PRIMARY KEY AUTO_INCREMENT, b INT)")
    variable(port, timeout=700)
    run(f"SET GLOBAL {SEMI}_enabled=1", "INSERT INTO d.t(b) VALUES (1)", "INSERT INTO d.t(b) VALUES (2)")
    follow(replica, primary, BY_GTID)
    settle(port, clients="1", status="ON")
    run("INSERT INTO d.t(b) VALUES (3)", "CREATE TABLE d.m(a INT) ENGINE=MyISAM", "INSERT INTO d.m VALUES (1)")
    run("XA START 'y'; INSERT INTO d.t(b) VALUES (5); XA END 'y'; XA COMMIT 'y' ONE PHASE",
        "BEGIN; INSERT INTO d.t(b) VALUES (6); ROLLBACK", "BEGIN; INSERT INTO d.t(b) VALUES (7); UPDATE d.t SET b = b + 1; COMMIT",
        "CREATE TABLE d.c AS SELECT * FROM d.t", "FLUSH BINARY LOGS", "INSERT INTO d.t(b) VALUES (8)", "SET sql_log_bin=0; INSERT INTO d.t(b) VALUES (9)",
        "CREATE SEQUENCE d.s", "DO NEXTVAL(d.s)", "SELECT 1", "FLUSH STATUS")
    stop()
    run("INSERT INTO d.t(b) VALUES (10)", "INSERT INTO d.t(b) VALUES (11)")
    start()
    run("INSERT INTO d.t(b) VALUES (12)", f"SET GLOBAL {SEMI}_enabled=0", "INSERT INTO d.t(b) VALUES (13)",
        f"SET GLOBAL {SEMI}_enabled=1", "INSERT INTO d.t(b) VALUES (14)", f"SET GLOBAL {SEMI}_wait_no_slave=0")
    stop()
    run("INSERT INTO d.t(b) VALUES (15)")
    # Selkie asks for this group too, for which nobody has waited.
    unequal += ["get_ack", "net_waits"]
    start()
    run("INSERT INTO d.t(b) VALUES (16)", f"SET GLOBAL {SEMI}_wait_no_slave=1")
    stop()
    run("DROP TABLE d.c")
    client(replica.port, "STOP SLAVE; RESET SLAVE ALL")
    run("RESET MASTER", f"SET GLOBAL {SEMI}_enabled=0")
    return found


def part_same(server, replica):
    """Status variables and their changes are those of a MariaDB primary."""
    peer = MariaDb(options=LOG)
    try:
        peer.start()
        for port in (server.port, peer.port):
            client(port, "DROP DATABASE IF EXISTS d")
            variable(port, enabled=0)
            client(port, "RESET MASTER; FLUSH STATUS")
        base = {name: number(server.port, name) for name in ("get_ack", "request_ack")}
        mine, theirs = states(server, replica), states(peer, replica)
        for _, state in mine:
            # RESET MASTER leaves these alone.
            state.update({name: str(int(state[name]) - count) for name, count in base.items() if name in state})
        wrong = []
        for (step, ours), (_, other) in zip(mine, theirs):
            differ = {name: (ours.get(name), other.get(name)) for name in {*ours, *other} if ours.get(name) != other.get(name)}
            if differ:
                wrong.append(f"{step}: {differ}")
        check(not wrong, "status differs, Selkie's first:\n" + "\n".join(wrong))
        names = [row.split("\t")[0] for row in rows(peer.port, "SHOW VARIABLES LIKE 'rpl_semi%'")]
        check(names == [row.split("\t")[0] for row in rows(server.port, "SHOW VARIABLES LIKE 'rpl_semi%'")], "names of variables")
        print(f"  {len(mine)} states equal")
    finally:
        peer.remove()
    for value, code in (("AFTER_SYNC", 1231), ("'x'", 1231), ("AFTER_COMMIT", None)):
        error = client(server.port, f"SET GLOBAL {SEMI}_wait_point={value}")[1]
        check(f"ERROR {code} " in error if code else not error, f"wait_point={value}: {error}")
    refused = Server(server.binary, options=[*LOG, "--rpl-semi-sync-master-wait-point=AFTER_SYNC"])
    try:
        refused.start()
        raise Failed("the option AFTER_SYNC was taken")
    except RuntimeError as error:
        check("rpl_semi_sync_master_wait_point" in str(error), f"the option AFTER_SYNC: {error}")
    finally:
        refused.remove()


class Reader:
    """A replica that does what the test says."""

    def __init__(self, server, file=b"", offset=4):
        self.connection = pymysql.connect(host="127.0.0.1", port=server.port, user="root", read_timeout=20)
        with self.connection.cursor() as cursor:
            cursor.execute("SET @master_binlog_checksum='CRC32', @mariadb_slave_capability=4, @rpl_semi_sync_slave=1, @master_heartbeat_period=500000000")
        self.connection._execute_command(0x12, struct.pack("<IHI", offset, 0, 77) + file)
        self.next = 1

    def event(self):
        """The next event that asks, or a heartbeat: its kind and its place."""
        read = self.connection._rfile.read
        while True:
            head = read(4)
            check(len(head) == 4, "the dump has ended")
            body = read(int.from_bytes(head[:3], "little"))
            check(head[3] == self.next % 256, f"packet {head[3]} instead of {self.next}")
            self.next += 1
            check(body[:2] == b"\0\xef" and body[2] < 2, f"a packet begins with {body[:3]}")
            if body[2]:
                self.next = 1
            if body[2] or body[7] == 27:
                return body[7], int.from_bytes(body[16:20], "little")

    def asked(self):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            kind, offset = self.event()
            if kind != 27:
                return offset
        raise Failed("the reader was not asked")

    def send(self, body):
        self.connection._sock.sendall(len(body).to_bytes(3, "little") + b"\0" + body)

    def acknowledge(self, offset, file=b"binlog.000001"):
        self.send(b"\xef" + struct.pack("<Q", offset) + file)

    def close(self):
        self.connection._force_close()


class Session(threading.Thread):
    """A session that runs one statement behind some others, and how that went."""

    def __init__(self, server, text, before=()):
        super().__init__()
        self.connection, self.text = connect(server.port), text
        for statement in before:
            self.connection.query(statement)
        self.answer, self.took = None, None
        self.start()

    def run(self):
        begun = time.monotonic()
        try:
            with self.connection.cursor() as cursor:
                self.answer = cursor.execute(self.text)
        except pymysql.MySQLError as error:
            self.answer = error.args[0]
        self.took = time.monotonic() - begun


def waiting(server):
    return [row.split("\t") for row in rows(server.port, "SHOW PROCESSLIST") if "Waiting for semi-sync ACK from slave" in row]


def part_talk(server, _replica):
    """Packet by packet: who is asked, what answers mean, and what is no answer."""
    client(server.port, "DROP DATABASE IF EXISTS d; RESET MASTER; CREATE DATABASE d; CREATE TABLE d.t(a INT PRIMARY KEY)")
    variable(server.port, enabled=0, timeout=60_000, wait_no_slave=1)
    variable(server.port, enabled=1)
    offset = int(rows(server.port, "SHOW MASTER STATUS")[0].split("\t")[1])
    reader = Reader(server, b"binlog.000001", offset)
    settle(server.port, clients="1")
    session = Session(server, "INSERT INTO d.t VALUES (1)")
    place = reader.asked()
    until(lambda: len(waiting(server)) == 1, "the session waits")
    answers = number(server.port, "get_ack")
    whole = b"\xef" + struct.pack("<Q", place) + b"binlog.000001"
    bad = [b"", b"\xef", whole[:9], b"\xee" + whole[1:], b"\x0eping", b"\xef" + bytes(8) + b"x" * 600, bytes(range(256)), whole[:-1], whole + b"1"]
    for packet in bad:
        reader.send(packet)
    reader.acknowledge(place - 1)
    reader.acknowledge(place + 1)
    reader.acknowledge(2**63)
    reader.acknowledge(place, b"binlog.000002")
    reader.acknowledge(place, b"other.000001")
    time.sleep(0.5)
    check(len(waiting(server)) == 1 and session.is_alive(), "the session was answered without an acknowledgement")
    check(reader.event()[0] == 27, "the dump goes on")
    reader.acknowledge(place)
    session.join(10)
    check(session.answer == 1, f"the answer: {session.answer}")
    # What is malformed does not count.
    settle(server.port, get_ack=str(answers + 8))
    # One acknowledgement is for all before it. Each group is asked for, or covered by a later one.
    sessions = [Session(server, f"INSERT INTO d.t VALUES ({at})") for at in range(10, 18)]
    until(lambda: len(waiting(server)) == 8, "all sessions wait")
    end = int(rows(server.port, "SHOW MASTER STATUS")[0].split("\t")[1])
    while place < end:
        place = reader.asked()
    reader.acknowledge(place)
    for session in sessions:
        session.join(10)
    check([session.answer for session in sessions] == [1] * 8, "eight sessions")
    check(number(server.port, "wait_sessions") == 0, "wait_sessions")
    # A group that fills many packets, behind one that asks.
    session = Session(server, "INSERT INTO d.t WITH RECURSIVE s AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM s WHERE n < 249) SELECT 100 + x.n * 250 + y.n FROM s x, s y")
    reader.acknowledge(reader.asked())
    session.join(20)
    check(session.answer == 62_500, f"a large group: {session.answer}")
    # A new file comes behind the group that is waited for.
    session = Session(server, "INSERT INTO d.t VALUES (20)")
    place = reader.asked()
    client(server.port, "FLUSH BINARY LOGS")
    reader.acknowledge(place)
    session.join(10)
    check(session.answer == 1, "a new file")
    reader.close()
    # A reader that begins at the end has everything before it.
    session = Session(server, "INSERT INTO d.t VALUES (21)")
    until(lambda: len(waiting(server)) == 1, "the session waits")
    file, offset = rows(server.port, "SHOW MASTER STATUS")[0].split("\t")[:2]
    reader = Reader(server, file.encode(), int(offset))
    session.join(10)
    check(session.answer == 1, "a reader that has everything")
    reader.close()
    # One that leaves or asks for nothing has not.
    settle(server.port, clients="0")
    variable(server.port, enabled=0)


def part_waits(server, replica):
    """Ends of waits: kill, switch, time, shutdown; statements of all kinds wait."""
    begin(server, replica, timeout=60_000)
    client(server.port, "CREATE DATABASE d; CREATE TABLE d.t(a INT PRIMARY KEY); CREATE TABLE d.m(a INT) ENGINE=MyISAM;"
                        "\nDELIMITER //\nCREATE PROCEDURE d.p(x INT) BEGIN INSERT INTO d.t VALUES (x); INSERT INTO d.t VALUES (x + 1); END//\n")
    took = timed(server.port, "".join(f"INSERT INTO d.t VALUES ({at});" for at in range(1000, 1200)))
    print(f"  200 commits, each acknowledged: {took * 5:.2f} ms each")
    check(number(server.port, "no_tx") == 0, "all were acknowledged")
    client(replica.port, "STOP SLAVE")
    settle(server.port, clients="0")
    for kill, answer in (("KILL", 2013), ("KILL QUERY", 1)):
        session = Session(server, f"INSERT INTO d.t VALUES ({answer})")
        until(lambda: len(waiting(server)) == 1, "the session waits")
        client(server.port, f"{kill} {waiting(server)[0][0]}")
        session.join(5)
        check(session.answer == answer, f"{kill}: {session.answer}")
        check(rows(server.port, f"SELECT a FROM d.t WHERE a = {answer}") == [str(answer)], f"{kill}: the row is committed")
    texts = ["CREATE TABLE d.u(a INT)", "INSERT INTO d.m VALUES (1)", "CALL d.p(50)", "CREATE OR REPLACE USER w@localhost", "SET STATEMENT sort_buffer_size=100000 FOR UPDATE d.t SET a = 60 WHERE a = 50",
             "INSERT INTO d.t VALUES (70); SELECT 1", "XA PREPARE 'x'", "XA COMMIT 'x'"]
    for text in texts:
        before = ("XA START 'x'", "INSERT INTO d.t VALUES (80)", "XA END 'x'") if "XA PREPARE" in text else ()
        session = Session(server, text, before) if ";" not in text else MultiSession(server, text)
        until(lambda: len(waiting(server)) == 1, f"{text} waits")
        check(session.is_alive(), f"{text} was answered")
        variable(server.port, enabled=0)
        session.join(5)
        check(not session.is_alive() and session.answer is not None and session.answer < 1000, f"{text}: {session.answer}")
        session.connection.close()
        variable(server.port, enabled=1)
    # Who reads is not held up by who waits, and waits hold no locks of the log.
    sessions = [Session(server, f"INSERT INTO d.t VALUES ({at})") for at in range(300, 350)]
    until(lambda: len(waiting(server)) == 50, "fifty sessions wait")
    check(timed(server.port, "SELECT COUNT(*) FROM d.t; FLUSH BINARY LOGS; SHOW MASTER STATUS") < 5, "others go on")
    threads = threads_of(server)
    check(threads < 60 or "one-thread" in str(server.options), f"{threads} threads for 50 waits")
    client(replica.port, "START SLAVE")
    for session in sessions:
        session.join(20)
    check([session.answer for session in sessions] == [1] * 50, "the replica comes back")
    settle(server.port, status="ON", wait_sessions="0")
    # Time.
    client(replica.port, "STOP SLAVE")
    settle(server.port, clients="0")
    variable(server.port, timeout=500)
    took = timed(server.port, "INSERT INTO d.t VALUES (400)")
    check(0.45 < took < 3, f"a timeout of 0.5 s took {took:.2f}")
    check(timed(server.port, "INSERT INTO d.t VALUES (401)") < 0.45 and shown(server.port)["status"] == "OFF", "off")
    client(replica.port, "START SLAVE")
    settle(server.port, status="ON")
    client(replica.port, "STOP SLAVE")
    settle(server.port, clients="0")
    variable(server.port, timeout=60_000)
    session = Session(server, "INSERT INTO d.t VALUES (500)")
    until(lambda: len(waiting(server)) == 1, "the session waits")
    begun = time.monotonic()
    server.process.terminate()
    server.process.wait(timeout=30)
    session.join(5)
    check(time.monotonic() - begun < 8 and session.answer == 2013, f"shutdown: {session.answer}")
    server.start()
    check(rows(server.port, "SELECT a FROM d.t WHERE a = 500") == ["500"], "the row is committed")
    client(replica.port, "START SLAVE")
    catch_up(replica, server)


class MultiSession(Session):
    """A session that sends several statements at once."""

    def run(self):
        self.connection.client_flag |= 1 << 16
        try:
            self.connection._execute_command(0x1B, b"\0\0")
            self.connection._read_packet()
            self.connection._execute_command(3, self.text)
            self.answer = self.connection._read_packet().get_all_data()[0]
        except pymysql.MySQLError as error:
            self.answer = error.args[0]


def threads_of(server):
    return len(os.listdir(f"/proc/{server.process.pid}/task"))


def part_crash(server, replica):
    """Selkie is killed under load of eight sessions. The replica has all that was answered, and takes its place."""
    for cycle in range(int(os.environ.get("SEMI_CRASHES", "3"))):
        begin(server, replica)
        mode = (1, 2, 0)[cycle % 3]
        client(server.port, f"SET GLOBAL innodb_flush_log_at_trx_commit={mode}; CREATE DATABASE d; CREATE TABLE d.ledger(w INT, a INT, PRIMARY KEY(w, a));"
                            "CREATE TABLE d.twin LIKE d.ledger; CREATE TABLE d.hot(id INT PRIMARY KEY, n INT); INSERT INTO d.hot VALUES (0, 0), (1, 0)")
        stop, answered = threading.Event(), []
        threads = [threading.Thread(target=write, args=(server.port, worker, stop, answered)) for worker in range(8)]
        for thread in threads:
            thread.start()
        time.sleep(1.5)
        state = shown(server.port)
        server.kill()
        stop.set()
        for thread in threads:
            thread.join()
        check(state["status"] == "ON" and state["no_tx"] == "0", f"it was not on all the time: {state}")
        promote(replica)
        kept = set(rows(replica.port, "SELECT w, a FROM d.ledger"))
        missing = [pair for pair in answered if f"{pair[0]}\t{pair[1]}" not in kept]
        check(not missing and len(answered) > 50, f"crash {cycle}, mode {mode}: {len(missing)} of {len(answered)} answered rows are not on the replica")
        check(not client(replica.port, "INSERT INTO d.ledger VALUES (99, 1)")[1], "the replica takes writes")
        print(f"  mode {mode}: {len(answered)} answered, {len(kept)} on the replica; {state['request_ack']} requests, {state['net_waits']} questions")
        server.start()


def promote(replica):
    """Lets the replica apply what it has received."""
    client(replica.port, "STOP SLAVE IO_THREAD")
    status = dict(zip(*rows_with_names(replica, "SHOW SLAVE STATUS")))
    done = rows(replica.port, f"SELECT MASTER_GTID_WAIT('{status['Gtid_IO_Pos']}', 30)")[0]
    check(done == "0", f"the replica did not apply {status['Gtid_IO_Pos']}: {status['Last_SQL_Error']}")
    client(replica.port, "STOP SLAVE; RESET SLAVE ALL")


def rows_with_names(server, text):
    connection = connect(server.port)
    with connection, connection.cursor() as cursor:
        cursor.execute(text)
        return [column[0] for column in cursor.description], cursor.fetchone()


PARTS = {name.removeprefix("part_"): part for name, part in list(globals().items()) if name.startswith("part_")}


def main():
    more = os.environ.get("SEMI_OPTIONS", "").split()
    replica = MariaDb(options=[*REPLICA, "--rpl-semi-sync-slave-enabled=1"])
    run_parts(PARTS, sys.argv[2:], Server(sys.argv[1], options=[*LOG, *more]), replica)


if __name__ == "__main__":
    main()
