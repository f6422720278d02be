"""TLS of client connections: the offered versions and ciphers, the accepted certificates, and that no byte is lost.

usage: tls.py BINARY
       tls.py --record PORT SOCKET

Starts private servers on loopback with the certificates of MariaDB's test data. The server's answers to logins of
all kinds are compared with tls.result, which --record writes from a MariaDB 10.11 that was started with the same
certificates.
"""

import contextlib
import difflib
import hashlib
import os
import pathlib
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from selkie import Server  # noqa: E402

RESULT = pathlib.Path(__file__).with_name("tls.result")
DATA = "/usr/share/mysql/mysql-test/std_data/"
CA, CERTIFICATE, KEY = DATA + "cacert.pem", DATA + "server-cert.pem", DATA + "server-key.pem"
NEW_CERTIFICATE, NEW_KEY = DATA + "server-new-cert.pem", DATA + "server-new-key.pem"
CLIENT_CERTIFICATE, CLIENT_KEY = DATA + "client-cert.pem", DATA + "client-key.pem"
SUBJECT = "/C=FI/ST=Helsinki/L=Helsinki/O=MariaDB/CN=client"
ISSUER = "/CN=cacert/C=FI/ST=Helsinki/L=Helsinki/O=MariaDB"
OFFERED = [f"--ssl-ca={CA}", f"--ssl-cert={CERTIFICATE}", f"--ssl-key={KEY}"]
SSL_FLAG, PROTOCOL_41 = 0x800, 0x200


def context(check=False, certificate=False, version=None, key=CLIENT_KEY, cert=CLIENT_CERTIFICATE):
    made = ssl.create_default_context(cafile=CA) if check else ssl._create_unverified_context()
    if certificate:
        made.load_cert_chain(cert, key)
    if version:
        made.minimum_version = made.maximum_version = version
    return made


class At:
    """The address of a server."""

    def __init__(self, port, unix):
        self.port, self.unix = port, unix

    def connect(self, tls=None, unix=False, **options):
        options = {"user": "root", "charset": "utf8mb4", "autocommit": True, "connect_timeout": 10, **options}
        if tls:
            options["ssl"] = tls
        else:
            options["ssl_disabled"] = True
        place = {"unix_socket": self.unix} if unix else {"port": self.port}
        return pymysql.connect(host="localhost", **place, **options)


def rows(connection, sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def one(connection, sql):
    found = rows(connection, sql)
    return found[0][0] if found else None


def status(connection, name):
    return rows(connection, f"SHOW STATUS LIKE '{name}'")[0][1]


def expect(what, found, wanted):
    if found != wanted:
        raise SystemExit(f"{what}: expected {wanted!r}, found {found!r}")


def error_of(call):
    """Returns the number of the error that `call` raises, or 0."""
    try:
        call()
    except pymysql.MySQLError as error:
        return error.args[0]
    except OSError:
        return "broken"
    return 0


def wait_for(what, condition, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"{what}: not within {seconds} s")
        time.sleep(0.01)


# MariaDB gives this answer too.

REQUIREMENTS = {
    "nothing": "NONE", "ssl": "SSL", "x509": "X509", "cipher": "CIPHER 'TLS_AES_256_GCM_SHA384'",
    "weak": "CIPHER 'AES128-SHA'", "subject": f"SUBJECT '{SUBJECT}'", "issuer": f"ISSUER '{ISSUER}'",
    "all": f"SUBJECT '{SUBJECT}' AND ISSUER '{ISSUER}' AND CIPHER 'TLS_AES_256_GCM_SHA384'",
    "wrong": f"SUBJECT '{SUBJECT}' ISSUER '/CN=other'", "quoted": r"SUBJECT '/CN=\\xC3\\xA4 \'x\''",
}
WAYS = {
    "plain": {}, "socket": {"unix": True}, "tls": {"tls": context()}, "tls, checked": {"tls": context(check=True)},
    "tls 1.2": {"tls": context(version=ssl.TLSVersion.TLSv1_2)},
    "certificate": {"tls": context(certificate=True)}, "socket, tls": {"unix": True, "tls": context()},
}


def log_in(at, user, password, way):
    try:
        connection = at.connect(user=user, password=password, **WAYS[way])
    except pymysql.MySQLError as error:
        return f"{error.args[0]} {error.args[1]}"
    with contextlib.closing(connection):
        return f"{one(connection, 'SELECT CURRENT_USER()')} {status(connection, 'Ssl_version')}"


def transcript(at):
    root = at.connect(tls=context())
    lines = []
    for name, required in REQUIREMENTS.items():
        rows(root, f"CREATE OR REPLACE USER tls_{name}@'%' IDENTIFIED BY 'secret' REQUIRE {required}")
        lines.append(one(root, f"SHOW CREATE USER tls_{name}@'%'"))
    rows(root, "CREATE OR REPLACE USER tls_open@'%' REQUIRE SSL")
    for twice in ("SUBJECT '/CN=a' AND SUBJECT '/CN=b'", "CIPHER 'a' ISSUER 'b' CIPHER 'c'"):
        lines.append(f"{twice}: {error_of(lambda: rows(root, f'CREATE USER tls_twice REQUIRE {twice}'))}")
    for secure in (0, 1):
        rows(root, f"SET GLOBAL require_secure_transport = {secure}")
        for name in [*REQUIREMENTS, "open"]:
            for way in WAYS:
                password = "" if name == "open" else "secret"
                lines.append(f"{secure} {name}, {way}: {log_in(at, 'tls_' + name, password, way)}")
        lines.append(f"{secure} nobody: {log_in(at, 'tls_nobody', 'x', 'plain')}")
        lines.append(f"{secure} wrong password: {log_in(at, 'tls_ssl', 'x', 'tls')}")
    rows(root, "SET GLOBAL require_secure_transport = 0")
    lines += change_user(at)
    plain = at.connect()
    for name in ("have_ssl", "ssl_ca", "ssl_cert", "ssl_key", "tls_version", "require_secure_transport"):
        lines.append(f"{name}: {one(root, 'SELECT @@' + name)}")
    names = ("Ssl_cipher", "Ssl_version", "Ssl_server_not_before", "Ssl_server_not_after", "Ssl_verify_mode",
             "Ssl_ctx_verify_mode", "Ssl_default_timeout", "Ssl_session_cache_mode", "Ssl_sessions_reused")
    for name in names:
        lines.append(f"{name}: {status(root, name)}, {status(plain, name)}")
    return lines + raw_answers(at)


def change_user(at):
    """COM_CHANGE_USER has the same requirements as a login."""
    lines = []
    for user, way in (("tls_ssl", "plain"), ("tls_ssl", "tls"), ("tls_x509", "tls"), ("tls_x509", "certificate")):
        connection = at.connect(user="tls_nothing", password="secret", **WAYS[way])
        connection._execute_command(0x11, user.encode() + b"\0\0\0\x2d\0mysql_native_password\0\0")
        packet = raw_packet(connection)
        if packet[:1] == b"\xfe":
            scramble = packet[packet.index(b"\0", 1) + 1:-1]
            connection.write_packet(pymysql._auth.scramble_native_password(b"secret", scramble))
            packet = raw_packet(connection)
        outcome = struct.unpack_from("<H", packet, 1)[0] if packet[:1] == b"\xff" else packet[0]
        lines.append(f"change to {user}, {way}: {outcome}")
    return lines


def raw_packet(connection):
    header = connection._read_bytes(4)
    connection._next_seq_id = (header[3] + 1) % 256
    return connection._read_bytes(header[0] | header[1] << 8 | header[2] << 16)


def greeted(at):
    """Returns a socket that has received its greeting."""
    stream = socket.create_connection(("127.0.0.1", at.port), 10)
    header = stream.recv(4, socket.MSG_WAITALL)
    stream.recv(header[0] | header[1] << 8, socket.MSG_WAITALL)
    return stream


def request(length=32, flags=0x000FF20F | SSL_FLAG | PROTOCOL_41, sequence=1):
    packet = (struct.pack("<IIB", flags, 1 << 24, 45) + bytes(200))[:length]
    return struct.pack("<I", len(packet) | sequence << 24) + packet


def everything(stream, seconds=5):
    """Returns all bytes received until the server closes."""
    stream.settimeout(seconds)
    got = b""
    with contextlib.suppress(ConnectionError):
        while piece := stream.recv(65536):
            got += piece
    return got


LOGIN = struct.pack("<IIB", 0x000AA28D | PROTOCOL_41, 1 << 24, 45) + bytes(23) + b"tls_nothing\0\0"


def raw_answers(at):
    """Answers to malformed handshakes: before encryption an error, then the end."""
    sent = {
        "garbage behind the request": request() + b"GET / HTTP/1.0\r\n\r\n",
        "a login behind the request": request() + struct.pack("<I", len(LOGIN) | 2 << 24) + LOGIN,
        "a longer request": request(40) + b"x" * 50,
        "a shorter request": request(31), "five bytes": request(5), "one byte": request(1), "no bytes": request(0),
        "a wrong number": request(sequence=3),
    }
    return [f"{what}: {answer_to(at, data)}" for what, data in sent.items()]


def answer_to(at, data):
    with greeted(at) as stream:
        stream.sendall(data)
        return everything(stream)


def compare(binary):
    with running(binary, OFFERED) as at:
        found = transcript(at)
        wanted = RESULT.read_text().splitlines()
        if found != wanted:
            print("\n".join(difflib.unified_diff(wanted, found, "MariaDB", "here", lineterm="")))
            raise SystemExit("tls: the answers differ")


# Tests that run on this server only, not on MariaDB.

def refused_starts(binary):
    """A start with TLS options that cannot be used fails and names the reason."""
    for options, reason in (
        (["--ssl"], "Private key does not match the certificate public key"),
        ([f"--ssl-ca={CA}"], "Private key does not match the certificate public key"),
        (["--ssl-cert=/nowhere", f"--ssl-key={KEY}"], "Unable to get certificate"),
        ([f"--ssl-cert={CERTIFICATE}"], "Unable to get private key"),
        ([f"--ssl-cert={CERTIFICATE}", f"--ssl-key={CLIENT_KEY}"], "Unable to get private key"),
        ([*OFFERED, "--ssl-ca=/nowhere"], "SSL_CTX_set_default_verify_paths failed"),
        ([*OFFERED, "--ssl-crl=/nowhere"], "SSL_CTX_set_default_verify_paths failed"),
        ([*OFFERED, "--ssl-cipher=AES128-SHA"], "Failed to set ciphers to use"),
    ):
        server = Server(binary, options=options)
        with contextlib.closing(contextlib.ExitStack()) as stack:
            stack.callback(server.remove)
            try:
                server.start(20)
            except RuntimeError as error:
                expect(f"{options}", reason in str(error) and "ended with 1" in str(error), True)
            else:
                raise SystemExit(f"started with {options}")


def switched_off(binary):
    for options in ([], ["--tls-version=TLSv1.2"], [*OFFERED, "--skip-ssl"], [*OFFERED, "--tls-version=TLSv1.1"]):
        with running(binary, options) as at:
            expect(f"have_ssl with {options}", one(at.connect(), "SELECT @@have_ssl"), "DISABLED")
            refusal = answer_to(at, request() + b"x" * 50)
            expect(f"the request with {options}", refusal[4:7], b"\xff\x13\x04")


def chosen(binary):
    """One version, one cipher; a client without them is refused."""
    options = [*OFFERED, "--tls-version=TLSv1.2", "--ssl-cipher=ECDHE-RSA-AES128-GCM-SHA256:AES128-SHA"]
    with running(binary, options) as at:
        connection = at.connect(tls=context())
        expect("the cipher", status(connection, "Ssl_cipher"), "ECDHE-RSA-AES128-GCM-SHA256")
        expect("the ciphers", status(connection, "Ssl_cipher_list"), "ECDHE-RSA-AES128-GCM-SHA256")
        newer = context(version=ssl.TLSVersion.TLSv1_3)
        before = int(status(connection, "Aborted_connects_preauth"))
        expect("a client of TLS 1.3", error_of(lambda: at.connect(tls=newer)) != 0, True)
        wait_for("the count", lambda: int(status(connection, "Aborted_connects_preauth")) > before)


def certificates(binary, directory):
    """Client certificates: asked for only if an authority is named; then they must be valid."""
    own, own_key = directory / "own.pem", directory / "own.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=stranger",
                    "-keyout", own_key, "-out", own], check=True, capture_output=True)
    stranger = context(certificate=True, cert=own, key=own_key, version=ssl.TLSVersion.TLSv1_2)
    with running(binary, OFFERED) as at:
        expect("a stranger's certificate", error_of(lambda: at.connect(tls=stranger)) != 0, True)
        at.connect(tls=context(certificate=True)).close()
    with running(binary, [f"--ssl-cert={CERTIFICATE}", f"--ssl-key={KEY}"]) as at:
        expect("without an authority", status(at.connect(tls=stranger), "Ssl_verify_mode"), "0")
    with running(binary, [*OFFERED, f"--ssl-crl={DATA}client-cert.crl"]) as at:
        at.connect(tls=context()).close()
        revoked = context(certificate=True, version=ssl.TLSVersion.TLSv1_2)
        expect("a revoked certificate", error_of(lambda: at.connect(tls=revoked)) != 0, True)


def flush(binary, directory):
    """FLUSH SSL: a new certificate for later connections, or an error and the old one."""
    certificate, key = directory / "c.pem", directory / "k.pem"
    shutil.copy(CERTIFICATE, certificate)
    shutil.copy(KEY, key)
    with running(binary, [f"--ssl-ca={CA}", f"--ssl-cert={certificate}", f"--ssl-key={key}"]) as at:
        old = at.connect(tls=context())
        first = status(old, "Ssl_server_not_before")
        shutil.copy(NEW_CERTIFICATE, certificate)
        expect("a key that does not fit", error_of(lambda: rows(old, "FLUSH SSL")), 1105)
        expect("the old one stays", status(at.connect(tls=context()), "Ssl_server_not_before"), first)
        shutil.copy(NEW_KEY, key)
        rows(old, "FLUSH SSL")
        expect("accepts begin anew", status(old, "Ssl_accepts"), "0")
        expect("the new one", status(at.connect(tls=context()), "Ssl_server_not_before") != first, True)
        expect("the old connection", status(old, "Ssl_server_not_before"), first)


def large(at):
    """Sends 20 MB and receives 10 MB."""
    connection = at.connect(tls=context(), max_allowed_packet=64 << 20)
    rows(connection, "SET GLOBAL max_allowed_packet = 67108864")
    connection = at.connect(tls=context(), max_allowed_packet=64 << 20)
    expect("one large value", len(one(connection, "SELECT REPEAT('0123456789', 2000000)")), 20_000_000)
    text = "".join(str(n) for n in range(1_500_000))
    assert len(text) > 9_000_000
    expect("a large statement", one(connection, f"SELECT MD5('{text}')"), hashlib.md5(text.encode()).hexdigest())
    found = rows(connection, "SELECT seq, REPEAT('x', 100) FROM mysql.seq_1_to_100000")
    expect("many rows", (len(found), found[-1][0], sum(row[0] for row in found)), (100000, 100000, 5000050000))
    expect("what follows", one(connection, "SELECT 7"), 7)


def slow_reader(at):
    """The socket is full in the middle of an answer, again and again."""
    connection = at.connect(tls=context())
    connection._sock.settimeout(30)
    connection._execute_command(3, "SELECT REPEAT('abcdefghij', 800000)")
    time.sleep(0.5)
    size, got = 0, b""
    while size < 8_000_000:
        got = connection._sock.recv(50_000)
        expect("an end before the end", got != b"", True)
        size += len(got)
        if size % 7 == 0:
            time.sleep(0.005)


def many_answers(at):
    """A client that sends all its statements before it reads an answer, in one record and in many."""
    for pieces in (1, 400):
        connection = at.connect(tls=context())
        stream = connection._sock
        statement = b"\x03SELECT REPEAT('y', 4000)"
        packet = struct.pack("<I", len(statement)) + statement
        if pieces == 1:
            stream.sendall(packet * 400)
        else:
            for _ in range(pieces):
                stream.sendall(packet)
        stream.settimeout(20)
        got = b""
        while got.count(b"y" * 4000) < 400:
            piece = stream.recv(1 << 20)
            expect("an end before the end", piece != b"", True)
            got += piece


def exact(at):
    """Packets that end where the server's buffer ends, with another packet after them in the same record."""
    for size in range(4090, 4102):
        connection = at.connect(tls=context())
        stream = connection._sock
        statement = b"\x03SELECT 1 -- "
        statement += b"x" * (size - 4 - len(statement))
        stream.sendall(struct.pack("<I", len(statement)) + statement + b"\1\0\0\0\x0e")
        stream.settimeout(5)
        got = b""
        while not got.endswith(b"\x07\0\0\1\0\0\0\2\0\0\0"):
            got += stream.recv(4096)
        connection._force_close()


def odd_handshakes(at):
    """Handshakes that end in the middle, arrive byte by byte, or never begin."""
    hello = client_hello()
    for cut in (1, 5, 40, len(hello) - 1):
        with greeted(at) as stream:
            stream.sendall(request() + hello[:cut])
            stream.shutdown(socket.SHUT_WR)
            everything(stream)
    with greeted(at) as stream:
        for byte in request() + hello:
            stream.sendall(bytes([byte]))
        stream.settimeout(5)
        expect("an answer to a hello in pieces", stream.recv(1), b"\x16")
    record = b"\x16\x03\x01\x40\x00"
    with greeted(at) as stream:
        stream.sendall(request() + record + b"\x01\x00\xff\xff" + bytes(70000))
        everything(stream)
    expect("the server afterwards", one(at.connect(tls=context()), "SELECT 1"), 1)


def client_hello():
    outgoing = ssl.MemoryBIO()
    client = context().wrap_bio(ssl.MemoryBIO(), outgoing)
    with contextlib.suppress(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


def in_clear(at):
    """A record with a broken authentication tag ends the connection; an unencrypted statement is not run."""
    root = at.connect()
    rows(root, "CREATE OR REPLACE TABLE mysql.tls_test (a INT) ENGINE=MEMORY")
    for bytes_ in (b"\x17\x03\x03\x00\x40" + bytes(64), b"\x24\0\0\0\x03INSERT INTO mysql.tls_test VALUES (1)"):
        connection = at.connect(tls=context())
        number = connection.thread_id()
        os.write(connection._sock.fileno(), bytes_)
        seen = f"SELECT COUNT(*) FROM information_schema.processlist WHERE id = {number}"
        wait_for("the end of a broken connection", lambda: one(root, seen) == 0)
        connection._force_close()
    expect("rows", one(root, "SELECT COUNT(*) FROM mysql.tls_test"), 0)
    rows(root, "DROP TABLE mysql.tls_test")


def killed(at):
    root, idle, busy = at.connect(), at.connect(tls=context()), at.connect(tls=context())
    outcome = []
    thread = threading.Thread(target=lambda: outcome.append(error_of(lambda: one(busy, "SELECT SLEEP(20)"))))
    thread.start()
    seen = "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP(20)'"
    wait_for("the statement", lambda: one(root, seen) == 1)
    for victim in (idle, busy):
        rows(root, f"KILL {victim.thread_id()}")
    thread.join(10)
    expect("a statement that is killed", outcome and outcome[0] in (1927, 2013, 1317), True)
    expect("a killed connection", error_of(lambda: one(idle, "SELECT 1")) in (1927, 2006, 2013), True)
    stalled = greeted(at)
    stalled.sendall(request())
    waiting = "SELECT id FROM information_schema.processlist WHERE user = 'unauthenticated user'"
    wait_for("a handshake that waits", lambda: one(root, waiting))
    rows(root, f"KILL {one(root, waiting)}")
    everything(stalled)


def slow_handshake(binary):
    with running(binary, [*OFFERED, "--connect-timeout=2"]) as at:
        with greeted(at) as stream:
            begun = time.monotonic()
            hello = client_hello()
            stream.sendall(request())
            with contextlib.suppress(OSError):
                # Single bytes now and then do not extend the time limit.
                for byte in hello[:40]:
                    stream.sendall(bytes([byte]))
                    time.sleep(0.2)
            expect("the end of a slow handshake", time.monotonic() - begun < 6, True)


def crowd(binary):
    """Many connections at once, some of which are always busy."""
    with running(binary, [*OFFERED, "--thread-handling=pool-of-threads", "--max-connections=300"]) as at:
        failures = []

        def client(number):
            try:
                connection = at.connect(tls=context(), connect_timeout=60)
                for n in range(20):
                    expect("an answer", one(connection, f"SELECT {number} * 1000 + {n}"), number * 1000 + n)
                idle.append(connection)
            except BaseException as error:
                failures.append(repr(error))

        idle = []
        threads = [threading.Thread(target=client, args=(n,)) for n in range(200)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        expect("failures", failures[:3], [])
        expect("answers afterwards", {one(c, "SELECT 1") for c in idle}, {1})
        expect("handshakes", status(idle[0], "Ssl_finished_accepts"), status(idle[0], "Ssl_accepts"))


def full_authentication(at):
    """caching_sha2_password asks for the password itself only on a protected connection."""
    root = at.connect()
    rows(root, "CREATE OR REPLACE USER tls_sha2@'%' IDENTIFIED VIA caching_sha2_password USING PASSWORD('secret')")
    login = {"user": "tls_sha2", "password": "secret"}
    expect("in clear", error_of(lambda: at.connect(**login)) != 0, True)
    expect("over TLS", one(at.connect(tls=context(), **login), "SELECT 1"), 1)
    expect("in clear, now that it is known", one(at.connect(**login), "SELECT 1"), 1)
    expect("a wrong one", error_of(lambda: at.connect(tls=context(), user="tls_sha2", password="x")), 1045)


def command_line_client(at):
    for options, wanted in (
        (["--ssl-verify-server-cert", f"--ssl-ca={CA}"], 0),
        (["--ssl-verify-server-cert", f"--ssl-ca={DATA}untrusted-cacert.pem"], 1),
        (["--ssl", "--tls-version=TLSv1.2"], 0), (["--ssl-cipher=AES128-SHA", "--tls-version=TLSv1.2"], 1),
    ):
        command = ["mariadb", "--no-defaults", "-hlocalhost", "--protocol=tcp", f"-P{at.port}", "-uroot", *options,
                   "-Ne", "SHOW STATUS LIKE 'Ssl_version'"]
        done = subprocess.run(command, capture_output=True, text=True)
        expect(f"mariadb {options}", (done.returncode, "TLSv1." in done.stdout), (wanted, wanted == 0))


@contextlib.contextmanager
def running(binary, options=()):
    server = Server(binary, options=options)
    try:
        server.start()
        yield At(server.port, server.socket)
        server.stop()
    except BaseException:
        print(server.log(), file=sys.stderr)
        raise
    finally:
        server.remove()


def main():
    if sys.argv[1] == "--record":
        RESULT.write_text("\n".join(transcript(At(int(sys.argv[2]), sys.argv[3]))) + "\n")
        return
    binary = sys.argv[1]
    scratch = Server(binary)
    directory = pathlib.Path(scratch.root)
    try:
        scenarios = [compare, refused_starts, switched_off, chosen, slow_handshake, crowd]
        for scenario in scenarios:
            scenario(binary)
            print(f"tls: {scenario.__name__} ok", flush=True)
        for scenario in (certificates, flush):
            scenario(binary, directory)
            print(f"tls: {scenario.__name__} ok", flush=True)
        with running(binary, OFFERED) as at:
            for scenario in (large, slow_reader, many_answers, exact, odd_handshakes, in_clear, killed,
                             full_authentication, command_line_client):
                scenario(at)
                print(f"tls: {scenario.__name__} ok", flush=True)
    finally:
        scratch.remove()
    print("tls: ok")


main()
