"""Loads of every kind on the primary; then all servers have the same rows, definitions, accounts and positions."""

import pathlib
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import scenarios  # noqa: E402
from binlog_random import TABLES, Maker  # noqa: E402
from binlog_random import run as run_random  # noqa: E402

from . import compare, report  # noqa: E402
from .chain import ALL, LEDGER, Writers, branch, lost, only  # noqa: E402
from .nodes import MODE, gtids  # noqa: E402

CHECKS = ["load_by_gtid", "load_by_position", "types_by_gtid", "old_temporal_types", "images_minimal", "images_noblob", "metadata_full", "compressed_log", "no_checksums",
          "random_sessions", "big_rows", "many_statements", "several_domains", "differs_in_columns", "triggers_do_not_run_twice", "versioned_tables", "versioned_by_transaction"]
# Existing scripts, some of whose statements fail on purpose, and those of this directory, where the first line has the errors.
SCRIPTS = [*sorted((HERE.parent / "binlog").glob("*.sql")), *sorted((HERE / "sql").glob("row_*.sql"))]


def expected_errors(text):
    """`-- errors: 1062 1146` in the first line; None if the script does not say."""
    first = text.split("\n", 1)[0]
    if not first.startswith("-- errors:"):
        return None
    return [int(number) for number in first.removeprefix("-- errors:").split()]


def run_script(chain, text, name, schema="d"):
    """Runs a text in a new database on the primary; says it if other statements fail than the text says."""
    with tempfile.TemporaryDirectory(prefix="replica-load-") as work:
        write_files(work)
        text = text.replace("$WORK", work)
        if "M" in chain.name[1:-1]:
            # MariaDB does not log that a CREATE OR REPLACE ... SELECT that failed has dropped the table.
            text += "\nDROP TABLE IF EXISTS k;\n" if name == "texts" else ""
        head = f"DROP DATABASE IF EXISTS {schema}; CREATE DATABASE {schema}; USE {schema};\n"
        errors, said = chain.primary.script(head + text)
    expected = expected_errors(text)
    if expected is not None and errors != expected:
        report.current.line(f"{name} on {chain.primary}: expected errors {expected}, got {errors}: {report.shorten(said, 600)}")


def write_files(work):
    """Files for LOAD DATA."""
    pathlib.Path(work).chmod(0o755)
    lines = [f"{number}\tline {number} \u00e9 \\\\ \\N" for number in range(1, 3001)]
    (pathlib.Path(work) / "load.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (pathlib.Path(work) / "short.txt").write_text("1\ta\n2\t\\N\n3\t\"q,q\"\n")
    (pathlib.Path(work) / "twice.txt").write_text("1\ta\n2\tb\n1\tc\n3\td\n")


def finish(chain, what):
    """All servers come to the end and are equal."""
    chain.catch_up()
    before = report.current.lines
    compare.same_everything(chain, is_empty_allowed=True)
    if report.current.lines > before:
        report.current.line(f"the differences above are after {what}")
    return report.current.lines == before


def scripts(chain, how):
    chain.follow(how)
    for path in SCRIPTS:
        run_script(chain, path.read_text(), path.stem)
        if not finish(chain, path.stem):
            break
    check_positions(chain)


def check_positions(chain):
    """What SHOW SLAVE STATUS and variables say at rest."""
    target = chain.primary.variable("gtid_binlog_pos")
    for source, node in chain.links():
        state = node.status()
        report.same(f"gtid_slave_pos of {node}", gtids(node.variable("gtid_slave_pos")), gtids(target))
        report.same(f"gtid_current_pos of {node}", gtids(node.variable("gtid_current_pos")), gtids(target))
        report.same(f"Gtid_IO_Pos of {node}", gtids(state["Gtid_IO_Pos"]), gtids(target) if state["Using_Gtid"] != "No" else {})
        report.same(f"the places of {node}", (state["Master_Log_File"], state["Read_Master_Log_Pos"], state["Relay_Master_Log_File"],
                                              state["Exec_Master_Log_Pos"]), (*source.place(), *source.place()))
        report.same(f"Seconds_Behind_Master of {node}", state["Seconds_Behind_Master"], 0)


def load_by_gtid(chain):
    """Scripts of all sorts to a replica that asks by GTID."""
    scripts(chain, "gtid")


def load_by_position(chain):
    """Scripts of all sorts to a replica that asks by file and offset."""
    scripts(chain, "position")


def types(chain):
    """A table of all types with a row; Selkie has no spatial ones."""
    text = scenarios.TYPES
    if "S" in chain.name:
        text = text.replace(" g POINT,", "").replace(",uu,g)", ",uu)").replace(",POINT(1,2))", ")")
    return "-- errors:\n" + text


def types_texts(chain):
    """Tables of all types with rows at their limits."""
    rows = ["UPDATE ty SET t1=5, s=NULL, de=1.5, ti6='-00:00:00.000001', vl=REPEAT('v', 300), e='c', st='', js='[]', bt64=0;",
            "INSERT INTO ty(id) VALUES (2); INSERT INTO ty(id, i) VALUES (3, 3); DELETE FROM ty WHERE id = 2;"]
    return {"types": types(chain) + "\n".join(rows), **{name: scenarios.SCENARIOS[name]["text"] for name in
                                                           ("limits", "strings", "long_strings", "wide", "load_blocks")}}


def types_by_gtid(chain):
    """Rows of all types at their limits."""
    chain.follow()
    for name, text in types_texts(chain).items():
        run_script(chain, text.replace("binlog_format=STATEMENT", "binlog_format=ROW"), name, f"d_{name}")
    finish(chain, "all types")


@only(primary="M")
def old_temporal_types(chain):
    """Times as versions before 10.1 stored them."""
    chain.follow()
    run_script(chain, "SET GLOBAL mysql56_temporal_format=OFF;" + scenarios.SCENARIOS["old_temporal"]["text"], "old_temporal")
    chain.catch_up()
    compare.same_rows_of_all(chain)


CHANGES = """
CREATE TABLE k (id INT PRIMARY KEY AUTO_INCREMENT, a VARCHAR(30), b INT UNSIGNED, x BLOB, t TEXT, n INT, s INT AS (n + 1) STORED, v INT AS (n * 2) VIRTUAL,
 UNIQUE KEY (b), KEY (n));
INSERT INTO k (a, b, x, t, n) SELECT CONCAT('a', seq), seq * 10, REPEAT(x'00ff', seq), IF(seq % 3, REPEAT('t', seq * 20), NULL), seq % 7 FROM seq_1_to_60;
UPDATE k SET n = n + 1 WHERE id % 2; UPDATE k SET x = 'new' WHERE id BETWEEN 10 AND 20; UPDATE k SET id = id + 1000 WHERE id < 5; UPDATE k SET t = NULL;
UPDATE k SET b = b + 1, a = NULL WHERE n = 3; DELETE FROM k WHERE id % 10 = 0; DELETE FROM k ORDER BY id DESC LIMIT 5;
REPLACE INTO k (id, a, b) VALUES (7, 'seven', 70), (1001, 'x', 999); INSERT INTO k (id, b) VALUES (7, 1) ON DUPLICATE KEY UPDATE n = 77;
CREATE TABLE u (a INT NOT NULL, b INT, c VARCHAR(20) NOT NULL, d TEXT, UNIQUE (a, c), UNIQUE (b));
INSERT INTO u SELECT seq, IF(seq % 4, seq, NULL), CONCAT('c', seq), 'd' FROM seq_1_to_40; UPDATE u SET d = NULL, b = b + 100; DELETE FROM u WHERE a > 30;
UPDATE u SET a = a + 1 ORDER BY a DESC;
CREATE TABLE n (a INT, b VARCHAR(20), c BLOB, d DOUBLE);
INSERT INTO n SELECT seq % 5, IF(seq % 3, 'b', NULL), REPEAT('c', seq % 4), seq / 3 FROM seq_1_to_50; UPDATE n SET b = 'upd' WHERE a = 2; DELETE FROM n WHERE a = 3;
UPDATE n SET a = NULL WHERE a = 1 LIMIT 3; DELETE FROM n LIMIT 4;
CREATE TABLE ui (a INT, b INT, KEY (a)); INSERT INTO ui SELECT seq % 10, seq FROM seq_1_to_100; UPDATE ui SET b = -b WHERE a = 5; DELETE FROM ui WHERE a IN (1, 2);
"""


def images(chain, image):
    chain.follow("position")
    run_script(chain, f"-- errors:\nSET binlog_row_image={image};\n" + CHANGES, image)
    run_script(chain, types(chain).replace("\n", f"\nSET binlog_row_image={image};", 1) + "UPDATE ty SET i = 1; UPDATE ty SET lt = 'x'; INSERT INTO ty (id) VALUES (9);"
                      "UPDATE ty SET id = 10 WHERE id = 9;", image, "e")
    finish(chain, f"images {image}")


def images_minimal(chain):
    """Images with the columns that are needed only."""
    images(chain, "MINIMAL")


def images_noblob(chain):
    """Images without blobs that are not needed."""
    images(chain, "NOBLOB")


@only(primary="M")
def metadata_full(chain):
    """Table maps with names, signs and character sets of columns."""
    chain.primary.rows("SET GLOBAL binlog_row_metadata=FULL")
    chain.follow()
    run_script(chain, CHANGES, "metadata")
    run_script(chain, types(chain), "types", "e")
    finish(chain, "full metadata")


@only(primary="M")
def compressed_log(chain):
    """Compressed events, small and large."""
    chain.primary.rows("SET GLOBAL log_bin_compress=1")
    chain.follow()
    run_script(chain, "SET GLOBAL log_bin_compress_min_len=10;" + CHANGES + "CREATE TABLE c(a INT, b LONGTEXT); INSERT INTO c VALUES (1, REPEAT('y', 3000000));"
                      f"INSERT INTO c VALUES (2, '{'long ' * 2000}'); UPDATE c SET b = REPEAT('z', 800); SET GLOBAL log_bin_compress_min_len=256;", "compressed")
    finish(chain, "compressed events")


def no_checksums(chain):
    """A log without checksums, and a change of them in the middle."""
    chain.primary.rows("SET GLOBAL binlog_checksum=NONE")
    chain.follow("position")
    run_script(chain, CHANGES, "no checksums")
    chain.catch_up()
    chain.primary.rows("SET GLOBAL binlog_checksum=CRC32")
    run_script(chain, CHANGES, "checksums again", "e")
    chain.primary.rows("SET GLOBAL binlog_checksum=NONE")
    run_script(chain, CHANGES, "none again", "f")
    finish(chain, "checksums off and on")


def random_sessions(chain, given):
    """Random statements of several sessions at once, beside definitions; the replica has them while they run."""
    seed = given.seed
    chain.follow("position")
    chain.primary.script(f"CREATE DATABASE d; USE d; SET GLOBAL sql_mode='{MODE}'; {TABLES}")
    report.require(chain.primary.value("SELECT COUNT(*) FROM information_schema.triggers WHERE trigger_schema = 'd'") == 3, "the triggers are not there")
    formats = ["ROW", "ROW", "MIXED"] if chain.primary.kind == "M" and len(chain.nodes) == 2 else ["ROW"] * 3
    stopped, threads, errors = threading.Event(), [], []

    def one(number):
        try:
            chain.primary.rows(f"SET GLOBAL binlog_format={formats[number]}")
            run_random(chain.primary.server, Maker(f"{seed}/{number}"), 250, stopped)
        except Exception as error:  # noqa: BLE001
            errors.append(repr(error))
    for number in range(3):
        threads.append(threading.Thread(target=one, args=(number,), daemon=True))
        threads[-1].start()
    chain.primary.script(LEDGER)
    with Writers(chain.primary, [*ALL, branch], 2) as writers:
        for thread in threads:
            thread.join()
    report.same("errors of the sessions", errors + writers.errors, [])
    report.same("rows of the ledger that the primary has lost", lost(writers), [])
    finish(chain, f"random statements, seed {seed}")


def big_rows(chain):
    """Rows of 20 MB, statements of many rows, a transaction of many tables."""
    chain.follow()
    for text in ("CREATE DATABASE d", "CREATE TABLE d.b (id INT PRIMARY KEY, a LONGBLOB, b LONGTEXT)",
                 "INSERT INTO d.b VALUES (1, REPEAT(x'00ff7f', 7000000), 'one'), (2, 'small', REPEAT('t', 3000000))",
                 "UPDATE d.b SET b = REPEAT('u', 9000000) WHERE id = 1", "UPDATE d.b SET id = 3 WHERE id = 1",
                 "CREATE TABLE d.many (id INT PRIMARY KEY AUTO_INCREMENT, a VARCHAR(100), n INT, KEY (n))",
                 "INSERT INTO d.many (a, n) SELECT REPEAT('m', seq % 100), seq % 13 FROM d.seq_1_to_30000", "UPDATE d.many SET n = n + 1 WHERE id % 3 = 0",
                 "DELETE FROM d.many WHERE id % 5 = 0", "CREATE TABLE d.nk (a INT, b VARCHAR(20))",
                 "INSERT INTO d.nk SELECT seq % 50, 'nk' FROM d.seq_1_to_500", "UPDATE d.nk SET b = 'changed' WHERE a < 9", "DELETE FROM d.nk WHERE a > 40"):
        chain.primary.rows(text)
    texts = [f"CREATE TABLE d.t{number} (a INT PRIMARY KEY)" for number in range(40)]
    inserts = [f"INSERT INTO d.t{number} VALUES (1), (2)" for number in range(40)]
    chain.primary.rows(*texts, "BEGIN", *inserts, *(text.replace("1), (2", "3), (4") for text in inserts), "COMMIT")
    chain.primary.rows(f"INSERT INTO d.b VALUES (9, '{'x' * 5_000_000}', NULL)")
    finish(chain, "big rows")


def many_statements(chain):
    """Several statements in one packet, prepared ones, and procedures with definitions inside."""
    from pymysql.constants import CLIENT
    chain.follow("position")
    connection = chain.primary.connect(client_flag=CLIENT.MULTI_STATEMENTS)
    with connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE d; USE d; CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(20)); INSERT INTO t VALUES (1, 'a;b'); INSERT INTO t VALUES (2, 'x');"
                       "BEGIN; INSERT INTO t VALUES (3, 'y'); UPDATE t SET b = 'z' WHERE a = 1; COMMIT; CREATE TABLE u LIKE t; INSERT INTO u SELECT * FROM t")
        while cursor.nextset():
            pass
        cursor.execute("PREPARE s FROM 'INSERT INTO t VALUES (?, ?)'; SET @a = 10, @b = '\u00e9'; EXECUTE s USING @a, @b; SET @a = 11; EXECUTE s USING @a, NULL;"
                       "EXECUTE IMMEDIATE 'CREATE TABLE w (a INT)'; EXECUTE IMMEDIATE CONCAT('INSERT INTO w VALUES (', 5, ')')")
        while cursor.nextset():
            pass
        cursor.execute("CREATE PROCEDURE p(n INT) BEGIN DECLARE i INT DEFAULT 0; DECLARE CONTINUE HANDLER FOR 1062 BEGIN END; CREATE TABLE x (i INT);"
                       "WHILE i < n DO INSERT INTO x VALUES (i); INSERT INTO t VALUES (i, 'dup'); SET i = i + 1; END WHILE; ALTER TABLE x ADD z INT DEFAULT 4;"
                       "INSERT INTO x VALUES (100, 100); DROP TABLE w; END")
        cursor.execute("CALL p(5)")
    finish(chain, "many statements")


def several_domains(chain):
    """Groups of several domains and server ids, numbers set by hand, groups that are empty or marked."""
    chain.follow()
    chain.primary.rows("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY)")
    for number, settings in enumerate(("gtid_domain_id=5", "gtid_domain_id=5, server_id=77", "gtid_seq_no=1000", "server_id=78", "skip_replication=1",
                                       "skip_parallel_replication=1", "gtid_domain_id=4294967295", "gtid_domain_id=7, gtid_seq_no=18446744073709551000")):
        chain.primary.rows(f"SET {settings}", f"INSERT INTO d.t VALUES ({number})", "BEGIN", "COMMIT", f"INSERT INTO d.t VALUES ({number + 100})")
        chain.primary.rows("BEGIN", f"INSERT INTO d.t VALUES ({number + 200})", "ROLLBACK", f"UPDATE d.t SET a = a WHERE a = {number}")
    finish(chain, "several domains")
    for node in chain.followers:
        if node.kind == "S":
            # Selkie keeps the position with its commits, and the table empty.
            continue
        found = {row[0]: row[2:4] for row in node.rows("SELECT domain_id, sub_id, server_id, seq_no FROM mysql.gtid_slave_pos ORDER BY sub_id")}
        report.same(f"mysql.gtid_slave_pos of {node}", found, gtids(chain.primary.variable("gtid_binlog_pos")))


def differs_in_columns(chain):
    """Tables with more, fewer, or other columns on the replica, as far as rows still fit."""
    chain.follow()
    chain.primary.rows("CREATE DATABASE d", "CREATE TABLE d.more (a INT PRIMARY KEY, b INT)", "CREATE TABLE d.fewer (a INT PRIMARY KEY, b INT, c VARCHAR(20))",
                       "CREATE TABLE d.keys_ (a INT PRIMARY KEY, b INT)", "CREATE TABLE d.engine_ (a INT PRIMARY KEY, b VARCHAR(20))")
    chain.catch_up()
    for node in chain.followers:
        node.rows("SET sql_log_bin=0", "ALTER TABLE d.more ADD c INT DEFAULT 9, ADD d VARCHAR(10)", "ALTER TABLE d.fewer DROP c",
                  "ALTER TABLE d.keys_ DROP PRIMARY KEY, ADD KEY (b)", "ALTER TABLE d.engine_ ENGINE=MyISAM")
    chain.primary.rows("INSERT INTO d.more VALUES (1, 1), (2, 2)", "UPDATE d.more SET b = 5 WHERE a = 1", "DELETE FROM d.more WHERE a = 2",
                       "INSERT INTO d.fewer VALUES (1, 1, 'c'), (2, 2, 'c')", "UPDATE d.fewer SET b = 7, c = 'x' WHERE a = 2", "DELETE FROM d.fewer WHERE a = 1",
                       "INSERT INTO d.keys_ VALUES (1, 1), (2, 1)", "UPDATE d.keys_ SET b = 3 WHERE a = 2", "BEGIN", "INSERT INTO d.engine_ VALUES (1, 'a')",
                       "INSERT INTO d.engine_ VALUES (2, 'b')", "COMMIT", "UPDATE d.engine_ SET b = 'c'")
    chain.catch_up()
    for node in chain.followers:
        for table, expected in (("more", [(1, 5, 9, None)]), ("fewer", [(2, 7)]), ("keys_", [(1, 1), (2, 3)]), ("engine_", [(1, "c"), (2, "c")])):
            report.same(f"d.{table} of {node}", node.rows(f"SELECT * FROM d.{table} ORDER BY 1"), expected)


def triggers_do_not_run_twice(chain):
    """Rows that triggers and cascades change arrive once; a trigger of the replica alone does not run."""
    chain.follow("position")
    chain.primary.rows("CREATE DATABASE d", "USE d", "CREATE TABLE t (a INT PRIMARY KEY)", "CREATE TABLE l (n INT AUTO_INCREMENT PRIMARY KEY, a INT)",
                       "CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW INSERT INTO l (a) VALUES (NEW.a)",
                       "CREATE TABLE p (a INT PRIMARY KEY)", "CREATE TABLE c (a INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (a) ON DELETE CASCADE ON UPDATE SET NULL)")
    chain.catch_up()
    for node in chain.followers:
        node.rows("SET sql_log_bin=0", "CREATE TRIGGER d.own AFTER INSERT ON d.t FOR EACH ROW FOLLOWS tr INSERT INTO d.l (a) VALUES (-1)")
    chain.primary.rows("INSERT INTO d.t VALUES (1), (2), (3)", "INSERT INTO d.p VALUES (1), (2), (3)", "INSERT INTO d.c VALUES (1, 1), (2, 2), (3, 3), (4, 3)",
                       "DELETE FROM d.p WHERE a = 3", "UPDATE d.p SET a = 20 WHERE a = 2")
    chain.catch_up()
    compare.same_rows_of_all(chain)


def versioned_tables(chain):
    """Versions of rows: images without some columns, deletions that foreign keys follow, ALTER TABLE that keeps history."""
    chain.follow()
    chain.primary.rows(
        "CREATE DATABASE d", "CREATE TABLE d.p (id INT PRIMARY KEY) WITH SYSTEM VERSIONING",
        "CREATE TABLE d.c (id INT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES d.p (id) ON DELETE CASCADE ON UPDATE CASCADE)",
        "CREATE TABLE d.n (id INT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES d.p (id) ON DELETE SET NULL)",
        "INSERT INTO d.p VALUES (1), (2), (3)", "INSERT INTO d.c VALUES (1, 1), (2, 2), (3, 3)", "INSERT INTO d.n VALUES (1, 1), (2, 2)",
        "DELETE FROM d.p WHERE id = 1", "UPDATE d.p SET id = 20 WHERE id = 3",
        "CREATE TABLE d.t (id INT PRIMARY KEY, a INT, b VARCHAR(20), KEY (a)) WITH SYSTEM VERSIONING", "SET binlog_row_image = MINIMAL",
        "INSERT INTO d.t VALUES (1, 10, 'x'), (2, 20, 'y'), (3, 30, 'z')", "UPDATE d.t SET a = a + 1",
        "INSERT INTO d.t (id, a) VALUES (1, 5), (4, 6) ON DUPLICATE KEY UPDATE a = a * 2", "REPLACE INTO d.t (id) VALUES (2)", "DELETE FROM d.t WHERE id = 3",
        "SET system_versioning_alter_history = KEEP", "ALTER TABLE d.t ADD COLUMN c INT DEFAULT 7", "UPDATE d.t SET c = 8 WHERE id = 1",
        "DELETE HISTORY FROM d.p")
    finish(chain, "versions of rows")
    history = "SELECT id, a, b, c, row_start, row_end FROM d.t FOR SYSTEM_TIME ALL ORDER BY id, row_end"
    for node in chain.nodes[1:]:
        report.same(f"rows of history on {node}", node.rows(history), chain.primary.rows(history))


def versioned_by_transaction(chain):
    """Rows with numbers of transactions: each server gives its own, and makes its own history."""
    chain.follow()
    period = "s BIGINT UNSIGNED AS ROW START INVISIBLE, e BIGINT UNSIGNED AS ROW END INVISIBLE, PERIOD FOR SYSTEM_TIME (s, e)"
    chain.primary.rows(
        "CREATE DATABASE d", f"CREATE TABLE d.t (id INT PRIMARY KEY, a INT, {period}) WITH SYSTEM VERSIONING",
        f"CREATE TABLE d.n (id INT, a INT, {period}) WITH SYSTEM VERSIONING",
        "INSERT INTO d.t VALUES (1, 1), (2, 2), (3, 3)", "INSERT INTO d.n VALUES (1, 1), (2, 2), (3, 3)",
        "UPDATE d.t SET a = a + 1 WHERE id < 3", "UPDATE d.n SET a = a + 1 WHERE id < 3", "DELETE FROM d.t WHERE id = 2", "DELETE FROM d.n WHERE id = 2",
        "BEGIN", "INSERT INTO d.t VALUES (4, 4)", "UPDATE d.t SET a = 5 WHERE id = 4", "DELETE FROM d.t WHERE id = 3", "UPDATE d.t SET a = 9 WHERE id = 1", "COMMIT",
        "INSERT INTO d.t VALUES (1, 0) ON DUPLICATE KEY UPDATE a = 11", "REPLACE INTO d.t VALUES (1, 12)",
        "SET binlog_row_image = MINIMAL", "UPDATE d.t SET a = 13 WHERE id = 1", "DELETE FROM d.t WHERE id = 4",
        # Rows, not texts, from Selkie.
        "INSERT INTO d.t VALUES (5, 5), (6, 6)", "UPDATE d.t SET a = 14 WHERE id = 5 LIMIT 1", "UPDATE d.t SET a = 15 WHERE id = 5 LIMIT 1", "DELETE FROM d.t WHERE id = 6 LIMIT 1",
        "SET binlog_row_image = FULL", "UPDATE d.t SET a = 16 WHERE id = 5 LIMIT 1", "DELETE FROM d.t WHERE id = 5 LIMIT 1")
    chain.catch_up()
    for table in "tn":
        history = f"SELECT id, a, e = 18446744073709551615 FROM d.{table} FOR SYSTEM_TIME ALL ORDER BY id, e, a"
        past = (f"SELECT COUNT(*) FROM d.{table} WHERE s NOT IN (SELECT transaction_id FROM mysql.transaction_registry)")
        for node in chain.nodes[1:]:
            report.same(f"history of {table} on {node}", node.rows(history), chain.primary.rows(history))
            report.same(f"registered on {node}", node.rows(past), [(0,)])
