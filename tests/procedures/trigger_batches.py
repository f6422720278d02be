"""Random INSERT, UPDATE and DELETE of tables with random triggers: rows that are stored together do the same as rows stored one by one.

usage: trigger_batches.py PORT [--rounds N] [--seed N] [--beside PORT]

Each round makes the same tables and triggers in two databases. One has a trigger more, `DO (SELECT 1)`, of which nobody
can know what it reads: its rows are stored one by one. Errors, warnings, rows, user variables and the next automatic
value must be equal. --beside compares with another server's one database instead.
"""

import argparse
import random

import pymysql

EXPRS = ["NEW.v + 1", "NEW.v * NEW.w", "NEW.w", "IF(NEW.v > 5, NULL, NEW.v)", "10 / (NEW.v - 3)", "NEW.s", "CONCAT(NEW.s, 'x')",
         "NULL", "@n", "(@n := @n + 1)", "(SELECT COUNT(*) FROM t)", "rows_of_t()", "UPPER(NEW.s)", "LAST_INSERT_ID()", "LENGTH(NOW())",
         "NEW.id", "NEW.id + 1", "'7'", "'x7'"]
SIMPLE = EXPRS[:8] + EXPRS[12:13] + EXPRS[15:]
READING = ["ROW_COUNT()", "LAST_INSERT_ID()", "NEXT VALUE FOR numbers", "(SELECT COUNT(*) FROM log)", "(@n := @n + 1)", "rows_of_t()", "@@warning_count"]
LOG = ["INSERT INTO log (a, b) VALUES ({e}, {f})", "INSERT IGNORE INTO log (a, b) VALUES ({e}, {f})", "UPDATE log SET b = {e} WHERE a = {f}",
       "DELETE FROM log WHERE a = {e} LIMIT 1", "INSERT INTO child VALUES ({e})", "INSERT INTO kept VALUES ({e})", "UPDATE shown SET b = {e}",
       "INSERT INTO log SET a = {e} ON DUPLICATE KEY UPDATE b = IFNULL(b, 0) + 1", "REPLACE INTO log (n, a) VALUES ({e}, {f})"]


def step(random, before, depth=0):
    """A statement of a trigger that has NEW."""
    pure = random.random() < 0.7
    e, f = random.choice(SIMPLE if pure else EXPRS), random.choice(SIMPLE if pure else EXPRS)
    kind = random.random()
    if kind < 0.15 and depth < 2:
        return f"IF {e} > {random.randint(0, 9)} THEN {step(random, before, depth + 1)}; ELSE {step(random, before, depth + 1)}; END IF"
    if kind < 0.25:
        return f"BEGIN DECLARE x INT DEFAULT {e}; {step(random, before, depth + 1)}; SET @n = @n + IFNULL(x, 0); END"
    if kind < 0.30:
        return f"IF NEW.v = {random.randint(0, 12)} THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END IF"
    if kind < 0.35:
        return f"BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SET @h = CONCAT(@h, '!'); SET @n = {e}; END"
    if before and kind < 0.85:
        return f"SET NEW.{random.choice(['v', 'w', 's', 'w', 'id', 'b'])} = {e}"
    if kind < 0.6:
        return random.choice(["SET @n = NEW.id", f"SET @n = {e}", "SET @n = @n + 1", "SET @h = CONCAT(@h, NEW.id)"])
    return random.choice(LOG).format(e=e, f=f)


def tables(random):
    """A table with triggers, and the tables they use."""
    default = random.choice(["", " NOT NULL", " NOT NULL DEFAULT 4", " DEFAULT 5"])
    checks = random.choice(["", "", ", CHECK (w < 60)", ", UNIQUE (v)", ", g INT AS (w + 1) STORED", ", g TINYINT AS (100 DIV v) STORED"])
    id = random.choice(["INT", "INT", "TINYINT"])
    engine = random.choice(["InnoDB"] * 5 + ["MyISAM"])
    yield f"CREATE TABLE t (id {id} AUTO_INCREMENT PRIMARY KEY, v INT{default}, w INT, s VARCHAR(6), b TINYINT NOT NULL DEFAULT 1{checks}) ENGINE={engine} AUTO_INCREMENT={random.choice([1, 1, 118])}"
    yield "CREATE TABLE log (n INT AUTO_INCREMENT PRIMARY KEY, a INT, b VARCHAR(30)) ENGINE=InnoDB"
    yield "CREATE TABLE kept (a INT) ENGINE=MyISAM"
    parent = ", FOREIGN KEY (a) REFERENCES t (id)" if engine == "InnoDB" and id == "INT" else ""
    yield f"CREATE TABLE child (a INT{parent}) ENGINE=InnoDB"
    yield "CREATE VIEW shown AS SELECT n, b FROM log WHERE a < (SELECT COUNT(*) FROM t)"
    yield "CREATE FUNCTION rows_of_t() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM t)"
    if random.random() < 0.2:
        yield "CREATE TRIGGER of_log BEFORE INSERT ON log FOR EACH ROW SET NEW.b = CONCAT(NEW.b, rows_of_t())"
    before = random.choice([0, 1, 1, 2])
    for number in range(before):
        yield f"CREATE TRIGGER b{number} BEFORE INSERT ON t FOR EACH ROW {step(random, True)}"
    for number in range(random.choice([0, 1, 1, 2]) if before else random.choice([1, 2])):
        yield f"CREATE TRIGGER a{number} AFTER INSERT ON t FOR EACH ROW {step(random, False)}"
    for time in ("BEFORE", "AFTER"):
        if random.random() < 0.6:
            yield f"CREATE TRIGGER u_{time.lower()} {time} UPDATE ON t FOR EACH ROW {step(random, time == 'BEFORE')}"
        if random.random() < 0.6:
            yield f"CREATE TRIGGER d_{time.lower()} {time} DELETE ON t FOR EACH ROW {step(random, False).replace('NEW.', 'OLD.')}"


def logging(random):
    """A table whose AFTER triggers do nothing but to insert rows into a log, and the log: of a kind that may take several
    rows together, or not."""

    def rare(usual, others, share=0.25):
        return random.choice(others) if random.random() < share else usual

    key = rare("", [", UNIQUE (a)", ", KEY (a)", ", PRIMARY KEY (a, b)", ", CHECK (a < 9)", ", g INT AS (a + 1) STORED", ", h TINYINT AS (a * 9)"])
    d = random.choice(["DEFAULT 7", "DEFAULT 7", "DEFAULT (3 + 4)", "DEFAULT CURRENT_TIMESTAMP", rare("DEFAULT 'x'", ["NOT NULL", "DEFAULT (NEXT VALUE FOR numbers)"])])
    kind = "DATETIME" if "CURRENT" in d else "VARCHAR(9)" if "'x'" in d else "INT"
    end = rare("", [" AUTO_INCREMENT=250", " ENGINE=MyISAM", " WITH SYSTEM VERSIONING", " PARTITION BY HASH (a) PARTITIONS 3"])
    n = random.choice(["", "n INT AUTO_INCREMENT UNIQUE, ", "n TINYINT UNSIGNED AUTO_INCREMENT KEY, "])
    if "PARTITION" in end or "PRIMARY" in key:
        n, key = "", "" if end else key
    types = rare("INT", ["TINYINT", "VARCHAR(3)", "DECIMAL(4,1)", "INT NOT NULL"]), rare("VARCHAR(30)", ["VARCHAR(2) NOT NULL", "DOUBLE"])
    yield "CREATE SEQUENCE numbers"
    yield f"CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT, w INT, s VARCHAR(6), b TINYINT NOT NULL DEFAULT 1) ENGINE={rare('InnoDB', ['MyISAM'], 0.1)}"
    yield f"CREATE {rare('TABLE', ['TEMPORARY TABLE'], 0.05)} log ({n}a {types[0]}, b {types[1]}, d {kind} {d}{key}){end}"
    yield "CREATE TABLE kept (a INT)"
    yield "CREATE TABLE child (a INT)"
    yield "CREATE FUNCTION rows_of_t() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM t)"
    if random.random() < 0.1:
        yield "CREATE TRIGGER of_log BEFORE INSERT ON log FOR EACH ROW SET NEW.b = CONCAT(NEW.b, @n := @n + 1)"
    if random.random() < 0.2:
        yield f"CREATE TRIGGER b0 BEFORE INSERT ON t FOR EACH ROW {step(random, True)}"
    for event in ("INSERT", "UPDATE", "DELETE"):
        row = "OLD" if event == "DELETE" else "NEW"
        old = random.choice(["OLD", "NEW"]) if event == "UPDATE" else row
        own = rare(["NEW.v", "NEW.w", "NEW.id", "NEW.v + NEW.w", "7", "NULL", "@h", "NEW.id * 2"], [SIMPLE, EXPRS, READING], 0.4)
        columns, values = ["a", "b"], [random.choice(own).replace("NEW", row), random.choice(own).replace("NEW", old)]
        if n and random.random() < 0.4:
            columns, values = ["n", *columns], [random.choice(["NULL", "NULL", "0", f"{row}.id"]), *values]
        if random.random() < 0.3:
            columns, values = [*columns, "d"], [*values, random.choice(["DEFAULT", "NOW()" if kind == "DATETIME" else "1"])]
        more = rare("", [f", ({', '.join(values)})"], 0.05)
        verb, tail = rare(("INSERT", ""), [("REPLACE", ""), ("INSERT IGNORE", ""), ("INSERT", " ON DUPLICATE KEY UPDATE b = CONCAT(b, '+')")], 0.1)
        body = f"{verb} INTO log ({', '.join(columns)}) VALUES ({', '.join(values)}){more}{tail}"
        body = random.choice([body, body, f"BEGIN {body}; END", rare(body, [f"BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION SET @h = CONCAT(@h, '!'); {body}; END"])])
        yield f"CREATE TRIGGER a_{event.lower()} AFTER {event} ON t FOR EACH ROW {body}"
        if random.random() < 0.1:
            yield f"CREATE TRIGGER z_{event.lower()} AFTER {event} ON t FOR EACH ROW SET @n = @n + 1"


def change(random):
    limit = random.choice(["", "", " WHERE v > 3", " ORDER BY id", " WHERE id > 4", " ORDER BY w DESC LIMIT 3"])
    if random.random() < 0.3:
        return f"DELETE FROM t{limit}"
    value = random.choice(["v + 1", "v", "NULL", "5", "@n", "@n + id", "(SELECT @n)", "(@n := @n + 1)", "id * 3", "10 / (w - 3)",
                           "(SELECT COUNT(*) FROM log)", "rows_of_t()"])
    ignore = random.choice(["", "", "", "IGNORE "])
    return f"UPDATE {ignore}t SET {random.choice(['v', 'w', 'w', 'b', 'id'])} = {value}{limit}"


def statement(random):
    if random.random() < 0.4:
        return change(random)
    if random.random() < 0.25:
        return f"INSERT INTO t (v, w, s) SELECT seq % {random.randint(2, 12)}, seq % 5, 'a' FROM seq_1_to_{random.randint(2, 40)}"
    columns = random.sample(["id", "v", "w", "s", "b"], random.randint(1, 5))
    values = {"id": lambda: random.choice(["NULL", "NULL", "0", "DEFAULT", str(random.randint(1, 40))]),
              "v": lambda: random.choice(["NULL", "DEFAULT", "'x'"] + [str(random.randint(0, 12))] * 20),
              "w": lambda: random.choice(["NULL", "@n"] + [str(random.randint(0, 70))] * 12),
              "s": lambda: random.choice(["'a'", "'bcd'", "'toolong'" if random.random() < 0.2 else "'e'", "NULL"]),
              "b": lambda: random.choice(["1", "2", "300" if random.random() < 0.1 else "3", "NULL" if random.random() < 0.1 else "4"])}
    rows = [[values[c]() for c in columns] for _ in range(random.randint(1, 7))]
    verb = random.choice(["INSERT"] * 7 + ["INSERT IGNORE", "REPLACE"])
    tail = random.choice([""] * 8 + [" ON DUPLICATE KEY UPDATE w = 1"] + [" RETURNING id, @n"])
    if verb == "REPLACE" and "UPDATE" in tail:
        tail = ""
    head = f"{verb} INTO t ({', '.join(columns)}) "
    if random.random() < 0.5:
        return head + "VALUES " + ", ".join(f"({', '.join(row)})" for row in rows) + tail
    selects = [f"SELECT {', '.join(x.replace('DEFAULT', 'NULL') for x in row)}" for row in rows]
    return head + " UNION ALL ".join(selects) + tail


class Side:
    def __init__(self, port, database, slow):
        self.database, self.slow = database, slow
        self.connection = pymysql.connect(host="127.0.0.1", port=port, user="root", charset="utf8mb4", autocommit=True)

    def run(self, sql):
        cursor = self.connection.cursor()
        try:
            affected = cursor.execute(sql)
            return (affected, cursor.lastrowid, cursor.fetchall())
        except pymysql.MySQLError as error:
            return (error.args[0], str(error.args[1]).replace(self.database, "d"))

    def begin(self, definitions, mode):
        self.run(f"DROP DATABASE IF EXISTS {self.database}")
        self.run(f"CREATE DATABASE {self.database}")
        self.run(f"USE {self.database}")
        self.run(f"SET sql_mode = '{mode}', timestamp = 1700000000, @n = 0, @h = ''")
        made = [self.run(sql) for sql in definitions]
        if self.slow:
            for event in ("INSERT", "UPDATE", "DELETE"):
                self.run(f"CREATE TRIGGER unknown_{event} AFTER {event} ON t FOR EACH ROW DO (SELECT 1)")
        return made

    def state(self):
        warnings = [w for w in self.run("SHOW WARNINGS")[2]]
        warnings = [tuple(str(x).replace(self.database, "d") for x in w) for w in warnings]
        tables = [self.run(f"SELECT * FROM {t} ORDER BY 1, 2") for t in ("t", "log")] + [self.run(f"SELECT * FROM {t} ORDER BY 1") for t in ("kept", "child")]
        rest = self.run("SELECT @n, @h, LAST_INSERT_ID()")
        following = self.run(f"SELECT auto_increment FROM information_schema.tables WHERE table_schema = '{self.database}' AND table_name IN ('t', 'log') ORDER BY table_name")
        return warnings, tables, rest, following[2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--beside", type=int)
    args = parser.parse_args()
    one = Side(args.port, "batches_a", False)
    other = Side(args.beside or args.port, "batches_b", not args.beside)
    succeeded = 0
    for number in range(args.rounds):
        generator = random.Random(f"{args.seed}.{number}")
        mode = generator.choice(["STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO", "", "STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO"])
        definitions = list((logging if generator.random() < 0.5 else tables)(generator))
        made = one.begin(definitions, mode), other.begin(definitions, mode)
        done = []
        for _ in range(6):
            done.append(statement(generator))
            results = [(side.run(done[-1]), side.state()) for side in (one, other)]
            succeeded += len(results[0][0]) == 3
            if results[0] != results[1]:
                print(f"seed {args.seed} round {number}, mode '{mode}'")
                print(";\n".join(definitions + done) + ";")
                for name, result in zip(("together", "one by one"), results):
                    print(f"{name}: {result}")
                raise SystemExit(1)
        assert len(made[0]) == len(made[1])
    assert succeeded > args.rounds, "most statements must be able to succeed"
    print(f"trigger batches: {args.rounds} rounds, {succeeded} statements without error, no difference")


main()
