"""Connections and the threads that serve them: kills, timeouts, stalls, the extra port, many clients.

usage: connections.py BINARY [IDLE_CONNECTIONS]

Starts private servers on loopback. Every scenario is a function; the first failing one
ends the run with exit code 1. IDLE_CONNECTIONS, by default 1000,
is limited by the number of open files.
"""

import contextlib
import os
import resource
import socket
import struct
import sys
import threading
import time

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from selkie import Server, free_port  # noqa: E402


def one(connection, sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        rows = cursor.fetchall()
        return rows[0][0] if rows else None


def expect(what, found, wanted):
    if found != wanted:
        raise SystemExit(f"{what}: expected {wanted!r}, found {found!r}")


def error_of(call):
    """Returns the number of the error that `call` raises, or 0."""
    try:
        call()
    except pymysql.MySQLError as error:
        return error.args[0]
    return 0


def wait_for(what, condition, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"{what}: not within {seconds} s")
        time.sleep(0.01)


class Background(threading.Thread):
    """Runs one statement; `outcome` is its error number, 0 if it succeeded."""

    def __init__(self, connection, sql):
        super().__init__(daemon=True)
        self.connection, self.sql, self.outcome, self.seconds = connection, sql, None, None
        self.begun = time.monotonic()
        self.start()

    def run(self):
        self.outcome = error_of(lambda: one(self.connection, self.sql))
        self.seconds = time.monotonic() - self.begun

    def end(self, seconds=10):
        self.join(seconds)
        if self.outcome is None:
            raise SystemExit(f"still running after {seconds} s: {self.sql}")
        return self.outcome


def kill_idle(server):
    victim, other = server.connect(), server.connect()
    one(other, f"KILL {victim.thread_id()}")
    expect("a killed connection", error_of(lambda: one(victim, "SELECT 1")) in (1927, 2006, 2013), True)
    seen = "SELECT COUNT(*) FROM information_schema.processlist WHERE id = "
    wait_for("the end of a killed connection", lambda: one(other, seen + str(victim.thread_id())) == 0)


def changed_user(server):
    """COM_CHANGE_USER without a database leaves the one that was in use."""
    connection = server.connect(database="mysql")
    for database, wanted in (("", None), ("mysql", "mysql"), ("", None)):
        connection._execute_command(0x11, b"root\0\0" + database.encode() + b"\0\x2d\0mysql_native_password\0")
        packet = connection._read_packet()
        if packet.is_auth_switch_request():
            connection.write_packet(b"")
            packet = connection._read_packet()
        expect("change of the user", packet.is_ok_packet(), True)
        expect("database after it", one(connection, "SELECT DATABASE()"), wanted)
        expect("table of it", error_of(lambda: one(connection, "SELECT 1 FROM user LIMIT 1")), 0 if wanted else 1046)
    connection.close()


def kill_query(server):
    victim, other = server.connect(), server.connect()
    running = Background(victim, "SELECT SLEEP(30) FROM (SELECT 1) t")
    time.sleep(0.2)
    one(other, f"KILL QUERY {victim.thread_id()}")
    running.end(5)
    expect("the connection after KILL QUERY", one(victim, "SELECT 1"), 1)


def kill_waiting(server):
    """A sleeping statement ends when it is killed, for every kind of wait."""
    holder, victim, other = server.connect(autocommit=False), server.connect(), server.connect()
    one(other, "CREATE TABLE t (id INT PRIMARY KEY, v INT)")
    one(other, "INSERT INTO t VALUES (1, 1)")
    waits = {
        "UPDATE t SET v = 3": "UPDATE t SET v = 2",
        "INSERT INTO t VALUES (2, 2)": "SELECT * FROM t WHERE id > 1 FOR UPDATE",
        "ALTER TABLE t COMMENT 'c'": "SELECT * FROM t",
        "UPDATE t SET v = 4": "FLUSH TABLES WITH READ LOCK",
        "SELECT GET_LOCK('l', 60)": "SELECT GET_LOCK('l', 1)",
        "SELECT SLEEP(60) FROM (SELECT 1) u": "SELECT 1",
    }
    for sql, held in waits.items():
        one(holder, held)
        running = Background(victim, sql)
        time.sleep(0.2)
        one(other, f"KILL QUERY {victim.thread_id()}")
        running.end(5)
        holder.rollback()
        one(holder, "UNLOCK TABLES")
    expect("the connection after its waits were killed", one(victim, "SELECT 1"), 1)
    one(other, "DROP TABLE t")


def client_gone(server):
    """A statement that waits because its client wants it to ends soon after the client has gone."""
    holder, other = server.connect(), server.connect()
    one(holder, "SELECT GET_LOCK('gone', 0)")
    waits = ("SELECT GET_LOCK('gone', 3600)", "SELECT SLEEP(3600) FROM (SELECT 1) u")
    victims = [server.connect() for _ in waits]
    for victim, sql in zip(victims, waits):
        victim._execute_command(3, sql)
    there = f"SELECT COUNT(*) FROM information_schema.processlist WHERE info IN {waits}"
    wait_for("statements that wait", lambda: one(other, there) == 2)
    for victim in victims:
        victim._force_close()
    wait_for("the end of statements without a client", lambda: one(other, there) == 0, 12)
    expect("the lock that was waited for", one(holder, "SELECT RELEASE_LOCK('gone')"), 1)
    expect("the lock behind a client that has gone", one(other, "SELECT GET_LOCK('gone', 0)"), 1)


def exact(server):
    """A packet that ends where the server's buffer ends, with another packet after it: both are answered."""
    for size in range(4090, 4102):
        connection = server.connect(ssl_disabled=True)
        statement = b"\x03SELECT 1 -- "
        statement += b"x" * (size - 4 - len(statement))
        connection._sock.settimeout(5)
        connection._sock.sendall(struct.pack("<I", len(statement)) + statement + b"\1\0\0\0\x0e")
        answers = b""
        while not answers.endswith(b"\7\0\0\1\0\0\0\2\0\0\0"):
            answers += connection._sock.recv(4096)
        connection._force_close()


def wait_timeout(server):
    connection = server.connect()
    one(connection, "SET wait_timeout = 1")
    time.sleep(3.2)
    expect("a connection idle for too long", error_of(lambda: one(connection, "SELECT 1")) > 0, True)


def login_timeout(server):
    """A client that does not log in holds no thread and is disconnected."""
    admin = server.connect()
    one(admin, "SET GLOBAL connect_timeout = 2")
    silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(40)]
    expect("a login beside silent clients", one(server.connect(), "SELECT 1"), 1)
    time.sleep(4)
    for client in silent:
        client.settimeout(5)
        while client.recv(4096):
            pass
        client.close()
    one(admin, "SET GLOBAL connect_timeout = 10")


def stalls(server):
    """Long statements in every group do not delay short ones."""
    groups = one(server.connect(), "SELECT @@thread_pool_size")
    busy = [Background(server.connect(), "SELECT BENCHMARK(2000000000, 1 + 1)") for _ in range(groups)]
    time.sleep(0.1)
    begun = time.monotonic()
    for _ in range(groups * 2):
        expect("a short statement", one(server.connect(), "SELECT 1"), 1)
    if time.monotonic() - begun > 5:
        raise SystemExit("short statements waited for long ones")
    admin = server.connect()
    for thread in busy:
        with contextlib.suppress(pymysql.MySQLError):
            one(admin, f"KILL {thread.connection.thread_id()}")
    for thread in busy:
        thread.end(20)


def many_waiting(binary):
    """Many threads that wait for a lock do not prevent service for others."""
    with running(binary, ["--thread-pool-size=1"]) as server:
        holder, other, *waiting = [server.connect() for _ in range(32)]
        for sql in ("CREATE DATABASE test", "CREATE TABLE test.t (a INT PRIMARY KEY, b INT)",
                    "INSERT INTO test.t VALUES (1, 0)", "BEGIN", "UPDATE test.t SET b = 1"):
            one(holder, sql)
        threads = [Background(connection, "UPDATE test.t SET b = b + 1") for connection in waiting]
        time.sleep(0.3)
        begun = time.monotonic()
        expect("another", one(other, "SELECT 1"), 1)
        if time.monotonic() - begun > 1.5:
            raise SystemExit(f"it was served after {time.monotonic() - begun:.1f} s")
        one(holder, "COMMIT")
        expect("those that waited", [thread.end() for thread in threads], [0] * 30)


def crowd(binary):
    """In a crowd with many open transactions, some idle and some waiting, all other connections are served."""
    with running(binary, ["--thread-pool-size=1", "--max-connections=400"]) as server:
        connections = [server.connect() for _ in range(280)]
        holder, waiting, idle, busy = connections[0], connections[1:41], connections[41:81], connections[81:]
        for sql in ("CREATE DATABASE test", "CREATE TABLE test.t (a INT PRIMARY KEY, b INT)",
                    "INSERT INTO test.t SELECT seq, 0 FROM test.seq_0_to_300", "BEGIN",
                    "UPDATE test.t SET b = 1 WHERE a = 0"):
            one(holder, sql)
        for connection in idle:
            one(connection, "BEGIN")
            one(connection, "SELECT COUNT(*) FROM test.t")
        threads = [Background(connection, "UPDATE test.t SET b = b + 1 WHERE a = 0") for connection in waiting]

        def work(number, connection):
            for _ in range(3):
                for sql in ("SELECT 1", "BEGIN", f"UPDATE test.t SET b = b + 1 WHERE a = {number}",
                            "SELECT 1", "COMMIT"):
                    one(connection, sql)

        workers = [threading.Thread(target=work, args=(number, connection))
                   for number, connection in enumerate(busy, 1)]
        begun = time.monotonic()
        [thread.start() for thread in workers]
        [thread.join(30) for thread in workers]
        if time.monotonic() - begun > 20:
            raise SystemExit(f"the crowd was served after {time.monotonic() - begun:.1f} s")
        expect("the crowd's changes", one(idle[0], "ROLLBACK") or
               one(idle[0], "SELECT SUM(b) FROM test.t WHERE a > 0"), 3 * len(busy))
        one(holder, "COMMIT")
        expect("those that waited", [thread.end(20) for thread in threads], [0] * 40)
        expect("what they changed", one(holder, "SELECT b FROM test.t WHERE a = 0"), 41)


def short_before_long(binary):
    """Answers of short statements do not wait for the long statement that their thread serves next."""
    options = ["--thread-pool-size=1", "--thread-pool-stall-limit=60000"]
    slow = ["SELECT BENCHMARK(15000000, MD5('a'))", "SELECT COUNT(*), SUM(a.seq % b.seq) FROM "
            "seq_1_to_20000 a, seq_1_to_1500 b WHERE a.seq % 7 <> b.seq % 3"]
    for sql in slow:
        with running(binary, options) as server:
            one(server.connect(), "CREATE DATABASE test")
            first, last, *short = [server.connect(database="test") for _ in range(3)]
            occupied = Background(first, "SELECT BENCHMARK(8000000, MD5('a'))")
            time.sleep(0.2)
            waiting = [Background(connection, "SELECT 1") for connection in short]
            time.sleep(0.2)
            long = Background(last, sql)
            expect("the statement before", occupied.end(), 0)
            expect("short statements", [thread.end() for thread in waiting], [0])
            expect(f"the short ones came before {sql}", long.outcome, None)
            expect("the long one", long.end(60), 0)


def extra_port(binary):
    """When all threads of the pool sleep, only the extra port accepts a login."""
    extra = free_port()
    options = ["--thread-pool-size=1", "--thread-pool-max-threads=2", f"--extra-port={extra}",
               "--extra-max-connections=1"]
    with running(binary, options) as server:
        sleepers = [Background(server.connect(), "SELECT SLEEP(20)") for _ in range(2)]
        time.sleep(0.5)
        late = {}
        blocked = threading.Thread(target=lambda: late.update(c=server.connect()), daemon=True)
        blocked.start()
        blocked.join(1)
        expect("a login to a pool without threads", blocked.is_alive(), True)
        admin = pymysql.connect(host="127.0.0.1", port=extra, user="root")
        expect("the extra port", one(admin, "SELECT 1"), 1)
        for sleeper in sleepers:
            one(admin, f"KILL {sleeper.connection.thread_id()}")
            sleeper.end()
        blocked.join(5)
        expect("the login after that", blocked.is_alive(), False)


def too_many(binary):
    with running(binary, ["--max-connections=10"]) as server:
        admin = server.connect()
        one(admin, "CREATE USER u@localhost IDENTIFIED BY 'x'")
        one(admin, "GRANT SELECT ON *.* TO u@localhost")
        connect = lambda: server.connect(user="u", password="x")  # noqa: E731
        held = [connect() for _ in range(9)]
        expect("one more than max_connections", error_of(connect), 1040)
        expect("one more for an administrator", one(server.connect(), "SELECT 1"), 1)
        held.pop().close()


def lost_socket_file(binary):
    """A server ends although its socket's file is gone or another server's, whose file stays."""
    with running(binary) as server:
        os.remove(server.socket)
    with running(binary) as server:
        os.remove(server.socket)
        with running(binary, [f"--socket={server.socket}"]) as other:
            server.stop()
            expect("the other server's socket", os.path.exists(server.socket), True)
            local = pymysql.connect(unix_socket=server.socket, user="root")
            expect("its port", one(local, "SELECT @@port"), other.port)
            local.close()


def schedulers(binary):
    for handling in ("one-thread-per-connection", "no-threads", "pool-of-threads"):
        with running(binary, [f"--thread-handling={handling}"]) as server:
            connection = server.connect()
            expect("thread_handling", one(connection, "SELECT @@thread_handling"), handling)
            connection.close()


def storm(server, count=400):
    """Connects and disconnects under load."""
    stop = threading.Event()

    def load():
        connection = server.connect()
        while not stop.is_set():
            one(connection, "SELECT COUNT(*) FROM information_schema.schemata")

    workers = [threading.Thread(target=load, daemon=True) for _ in range(2)]
    for worker in workers:
        worker.start()
    for _ in range(count):
        connection = server.connect()
        one(connection, "SELECT 1")
        connection.close()
    stop.set()
    for worker in workers:
        worker.join(10)


def memory_of(pid):
    with open(f"/proc/{pid}/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def threads_of(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


def idle_connections(binary, count):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    count = min(count, hard // 3)
    with running(binary, [f"--max-connections={count + 110}"]) as server:
        pid = server.process.pid
        # The first connections load pages of the program and create every worker's allocator arenas, once.
        first, *warm = [server.connect() for _ in range(100)]
        before, threads = memory_of(pid), threads_of(pid)
        idle = [server.connect() for _ in range(count)]
        each = (memory_of(pid) - before) / count / 1024
        print(f"connections: {count} idle, {each:.1f} KiB each, {threads_of(pid)} threads")
        expect("idle connections", each <= 20, True)
        expect("threads for idle connections", threads_of(pid) <= threads + 8, True)
        expect("the first beside them", [one(each, "SELECT 1") for each in (first, *warm)], [1] * 100)
        expect("the last beside them", one(idle[-1], "SELECT 1"), 1)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextlib.contextmanager
def running(binary, options=()):
    server = Server(binary, options=options)
    try:
        yield server.start()
        server.stop()
    finally:
        server.remove()


def main():
    binary = sys.argv[1]
    idle = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    with running(binary) as server:
        admin = server.connect()
        one(admin, "CREATE DATABASE test")
        scenarios = (changed_user, kill_idle, kill_query, client_gone, exact, wait_timeout, login_timeout, stalls, storm)
        for scenario in scenarios:
            scenario(server)
            print(f"connections: {scenario.__name__} ok", flush=True)
        with_test = lambda **o: Server.connect(server, database="test", **o)  # noqa: E731
        server.connect = with_test
        kill_waiting(server)
        print("connections: kill_waiting ok", flush=True)
    for scenario in (many_waiting, crowd, short_before_long, extra_port, too_many, lost_socket_file, schedulers):
        scenario(binary)
        print(f"connections: {scenario.__name__} ok", flush=True)
    idle_connections(binary, idle)
    print("connections: ok")


main()
