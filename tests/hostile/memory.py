"""Memory and KILL: statements that need as much of both as possible. Each runs with very large arguments, and runs again to
be killed. The server's memory stays below its limits, and a killed statement ends soon.

usage: memory.py BINARY [SECONDS [SEED]]
"""

import os
import random
import sys
import threading
import time

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from selkie import Server  # noqa: E402

MIB = 1 << 20
# Small enough for builds without optimisation to reach.
STATEMENT = 96 * MIB
ALL = 256 * MIB
# A statement, and all statements together, may exceed the limit by this much of the system's memory: for values that are
# being made when the limit is reached, and for small blocks that the allocator has not returned yet.
SLACK = 64 * MIB
# Builds without optimisation on a busy machine need long from one check to the next.
PATIENCE = float(os.environ.get("SELKIE_KILL_SECONDS", "2.0"))

BIG = "REPEAT('a',16000000)"
HALF = "REPEAT(b,2000000)"
ROWS = "FROM t"

# NULL with warning 1301, in every way to exceed the packet's length.
TOO_LONG = {
    "repeat": "REPEAT('ab',9000000)",
    "space": "SPACE(17000000)",
    "concat": f"CONCAT({BIG},{BIG})",
    "concat_ws": f"CONCAT_WS(',',{BIG},{BIG})",
    "replace": "REPLACE(REPEAT('a',10000),'a',REPEAT('b',10000))",
    "replaces": "REPLACE(REPLACE(REPLACE(REPEAT('a',10000),'a',REPEAT('a',1000)),'a',REPEAT('b',100)),'b','c')",
    "lpad": "LPAD('a',17000000,'b')",
    "rpad": "RPAD('a',17000000,'bc')",
    "hex": "HEX(REPEAT('a',9000000))",
    "to_base64": "TO_BASE64(REPEAT('a',13000000))",
    "quote": "QUOTE(REPEAT('''',9000000))",
    "export_set": "EXPORT_SET(-1,REPEAT('a',1000000),'b',',',64)",
    "make_set": f"MAKE_SET(7,{BIG},{BIG},{BIG})",
    "json_array": f"JSON_ARRAY({BIG},{BIG})",
    "json_object": f"JSON_OBJECT('a',{BIG},'b',{BIG})",
    "json_quote": "JSON_QUOTE(REPEAT('\"',9000000))",
    "regexp_replace": "REGEXP_REPLACE(REPEAT('a',10000),'a',REPEAT('b',10000))",
}

# Heavy statements: over rows, nested, or slow. Each may answer or fail, within the memory limit, and can be killed.
HEAVY = {
    "benchmark": "SELECT BENCHMARK(9223372036854775807, SHA2(RAND(), 512))",
    "distinct": f"SELECT COUNT(DISTINCT {HALF}) {ROWS}",
    "rows": f"SELECT SUM(LENGTH({HALF})) {ROWS}",
    "filter": f"SELECT COUNT(*) {ROWS} WHERE LENGTH({HALF})>5",
    "sort": f"SELECT LENGTH(x) FROM (SELECT {HALF} x {ROWS} ORDER BY x) y",
    "group": f"SELECT COUNT(*) FROM (SELECT {HALF} x {ROWS} GROUP BY x) y",
    "union": f"SELECT COUNT(*) FROM (SELECT {HALF} x {ROWS} UNION SELECT CONCAT({HALF},'x') {ROWS}) y",
    "columns": "SELECT " + ",".join([HALF] * 12) + f" {ROWS}",
    "group_concat": f"SELECT LENGTH(GROUP_CONCAT({HALF} ORDER BY id DESC)) {ROWS}",
    "json_arrayagg": f"SELECT LENGTH(JSON_ARRAYAGG({HALF})) {ROWS}",
    "json_objectagg": f"SELECT LENGTH(JSON_OBJECTAGG(id,{HALF})) {ROWS}",
    "concats": "SELECT LENGTH(CONCAT(" + ",".join([BIG] * 60) + "))",
    "hexes": "SELECT LENGTH(" + "HEX(" * 28 + "'aaaa'" + ")" * 28 + ")",
    "variables": f"SET @a={BIG}, @b=CONCAT({BIG},'b'), @c=CONCAT({BIG},'c'), @d=CONCAT({BIG},'d')",
    "xpath": "SELECT EXTRACTVALUE(CONCAT(REPEAT('<a>',20000),REPEAT('</a>',20000)),'//a//a//a//a//a')",
    "updatexml": "SELECT UPDATEXML(CONCAT('<x>',REPEAT('<a/>',5000),'</x>'),'//a[count(//a)>1]','<b/>') IS NULL",
    "locate": "SELECT LOCATE(CONCAT(REPEAT('a',500000),'b'),REPEAT('a',1000000))",
    "instr": "SELECT INSTR(REPEAT('a\u00e9',500000),CONCAT(REPEAT('a\u00e9',250000),'b'))",
    "regexp": "SELECT LENGTH(REGEXP_REPLACE(REPEAT('a',1000000),'(a)|b|c','\\\\1'))",
    "steps": "SELECT REPEAT('a',1000000) RLIKE '.*.*.*.*=.*b', CONCAT(REPEAT('a',40),'!') RLIKE '^(a|aa)+$'",
    "likes": "SELECT REPEAT('a',300000) LIKE CONCAT(REPEAT('%a',20000),'%b')",
    "ciphers": f"SELECT LENGTH(AES_ENCRYPT({BIG},'k')), LENGTH(DES_ENCRYPT({BIG},'k')), LENGTH(ENCODE({BIG},'k'))",
    "bases": f"SELECT LENGTH(FROM_BASE64({BIG})), LENGTH(UNHEX({BIG})), PASSWORD({BIG})",
    "normal": "SELECT LENGTH(JSON_NORMALIZE(CONCAT('[',REPEAT('{\"b\":1,\"a\":[3,2]},',300000),'1]')))",
    "elements": "SELECT EXTRACTVALUE(CONCAT('<x>',REPEAT('<a b=\"c\">t</a>',500000),'</x>'),'/x/b')",
    "window keys": f"SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY {HALF} ORDER BY a) {ROWS}) y",
    "join keys": "SELECT COUNT(*) FROM t x JOIN t y ON REPEAT(x.b,2000000)=REPEAT(y.b,2000000)",
    "overlaps": "SELECT JSON_OVERLAPS(CONCAT('[',REPEAT('3,',100000),'1]'),CONCAT('[',REPEAT('2,',100000),'4]'))",
    "contains": "SELECT JSON_CONTAINS(CONCAT('[',REPEAT('[],',20000),'1]'),CONCAT('[',REPEAT('[2],',20000),'1]'))",
    "compress": f"SELECT LENGTH(COMPRESS({BIG})), LENGTH(UNCOMPRESS(COMPRESS({BIG})))",
    "digests": f"SELECT SHA2({BIG},512), MD5({BIG}), CRC32({BIG})",
    "recursion": "WITH RECURSIVE r AS (SELECT CAST('a' AS CHAR(6000000)) s UNION ALL SELECT CONCAT(s,s) FROM r) "
                 "SELECT MAX(LENGTH(s)) FROM r",
    "cross": "SELECT COUNT(*) FROM t a, t b, t c WHERE a.id+b.id+c.id=17",
    "joins": "SELECT COUNT(*) FROM " + ",".join(f"t t{i}" for i in range(24)) + " WHERE "
             + " AND ".join(f"t{i}.id=t{j}.a+{i}" for i in range(24) for j in range(i)),
    "terms": "SELECT 1 WHERE " + " AND ".join(["1"] * 200_000),
    "list": "SELECT COUNT(*) FROM t WHERE id IN (" + ",".join(map(str, range(200_000))) + ")",
    "window": "SELECT MAX(x) FROM (SELECT SUM(a.a) OVER (ORDER BY a.id, b.id) x FROM t a, t b) z",
    "sorted": "SELECT COUNT(*) FROM (SELECT a.a, b.b FROM t a, t b ORDER BY b.b, a.a LIMIT 1000000) z",
}


def status(server, name):
    with open(f"/proc/{server.process.pid}/status") as lines:
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith(name))


def reset_peak(server):
    with open(f"/proc/{server.process.pid}/clear_refs", "w") as refs:
        refs.write("5")


def run(connection, statement):
    """Returns the first row, or the error's number."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchone()
    except pymysql.MySQLError as error:
        if error.args[0] in (0, 2006, 2013):
            raise AssertionError(f"connection lost by {statement[:120]}: {error}") from error
        return error.args[0]


def prepared(server):
    connection = server.connect()
    for statement in (
        "CREATE DATABASE h",
        "CREATE TABLE h.t (id INT PRIMARY KEY, a INT, b VARCHAR(100))",
        "INSERT INTO h.t SELECT seq, seq%10, CONCAT('v', seq) FROM h.seq_1_to_1500",
        "SET GLOBAL group_concat_max_len=4294967295",
    ):
        if isinstance(result := run(connection, statement), int):
            raise AssertionError(f"{statement}: {result}")
    connection.close()


def limited(server):
    connection = server.connect()
    run(connection, f"SET GLOBAL selkie_memory_limit={ALL}, GLOBAL selkie_statement_memory={STATEMENT}")
    connection.close()


def too_long(server, failures):
    connection = server.connect(database="h")
    with connection.cursor() as cursor:
        for name, call in TOO_LONG.items():
            cursor.execute(f"SELECT {call} IS NULL")
            (null,) = cursor.fetchone()
            cursor.execute("SHOW WARNINGS")
            if (null, {row[1] for row in cursor.fetchall()}) != (1, {1301}):
                failures.append(f"{name}: no NULL with warning 1301")
    connection.close()


def bounded(server, name, statement, failures):
    """Runs a statement for at most two seconds, and checks the server's memory meanwhile."""
    connection = server.connect(database="h")
    before = status(server, "VmRSS")
    reset_peak(server)
    begun = time.monotonic()
    result = run(connection, f"SET STATEMENT max_statement_time=2 FOR {statement}")
    late = time.monotonic() - begun - 2
    grown = status(server, "VmHWM") - before
    connection.close()
    if grown > STATEMENT + SLACK:
        failures.append(f"{name}: {grown >> 20} MiB")
    if late > PATIENCE:
        failures.append(f"{name}: {late:.1f} s too late for max_statement_time")
    return result, grown


def killed(server, name, statement, failures, rng):
    """Kills a running statement; it must end soon."""
    connection, other = server.connect(database="h"), server.connect()
    worker = threading.Thread(target=run, args=(connection, statement))
    worker.start()
    time.sleep(rng.uniform(0.01, 0.4))
    running = worker.is_alive()
    begun = time.monotonic()
    if running:
        run(other, f"KILL QUERY {connection.thread_id()}")
        worker.join(60)
    took = time.monotonic() - begun
    if worker.is_alive():
        raise AssertionError(f"{name} goes on 60 s after it was killed\n{server.log()}")
    if took > PATIENCE:
        failures.append(f"{name}: ended {took:.1f} s after it was killed")
    connection.close()
    other.close()
    return took if running else None


def together(server, rng, failures):
    """Runs twenty statements at once: the whole server stays below its limit."""
    before = status(server, "VmRSS")
    reset_peak(server)
    chosen = rng.choices(sorted(HEAVY), k=20)

    def one(name):
        connection = server.connect(database="h")
        run(connection, f"SET STATEMENT max_statement_time=3 FOR {HEAVY[name]}")
        connection.close()

    workers = [threading.Thread(target=one, args=(name,)) for name in chosen]
    [worker.start() for worker in workers]
    [worker.join() for worker in workers]
    grown = status(server, "VmHWM") - before
    if grown > ALL + SLACK:
        failures.append(f"twenty at once: {grown >> 20} MiB of {chosen}")
    return grown


def session_limit(server, failures):
    connection = server.connect(database="h")
    run(connection, "SET max_session_mem_used=1000000")
    # Values of COUNT(DISTINCT) stay in memory; other operators would move rows to a file.
    if (got := run(connection, "SELECT COUNT(DISTINCT a.b, b.id) FROM t a, t b")) != 1290:
        failures.append(f"max_session_mem_used: {got}")
    run(connection, "SET max_session_mem_used=DEFAULT")
    run(connection, "SET @a=REPEAT('a',5000000)")
    used = "SELECT memory_used, max_memory_used FROM information_schema.processlist WHERE id=CONNECTION_ID()"
    now, most = run(connection, used)
    if not 5_000_000 <= now <= most:
        failures.append(f"MEMORY_USED {now}, MAX_MEMORY_USED {most} with a variable of 5 MB")
    connection.close()


def main():
    binary, *rest = sys.argv[1:]
    seconds = float(rest[0]) if rest else 60
    seed = int(rest[1]) if len(rest) > 1 else random.randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    rng, failures = random.Random(seed), []
    server = Server(binary, options=["--innodb-buffer-pool-size=32M"]).start()
    until = time.monotonic() + seconds
    try:
        prepared(server)
        too_long(server, failures)
        session_limit(server, failures)
        limited(server)
        names = rng.sample(sorted(HEAVY), len(HEAVY))
        most, slowest = (0, ""), (0.0, "")
        for name in names:
            if time.monotonic() > until:
                break
            result, grown = bounded(server, name, HEAVY[name], failures)
            took = killed(server, name, HEAVY[name], failures, rng)
            most, slowest = max(most, (grown, name)), max(slowest, (took or 0.0, name))
            if os.environ.get("VERBOSE"):
                print(f"{name:16} {grown >> 20:5} MiB, killed {took}, {result}", flush=True)
        grown = together(server, rng, failures)
        print(f"most {most[0] >> 20} MiB ({most[1]}), last to end {slowest[0]:.2f} s ({slowest[1]}), "
              f"twenty {grown >> 20} MiB", flush=True)
        if "internal error" in server.log():
            failures.append(server.log())
        server.stop()
    finally:
        server.remove()
    if failures:
        raise SystemExit("\n".join(failures))
    print("ok")


if __name__ == "__main__":
    main()
