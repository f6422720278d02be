#!/usr/bin/env python3
"""Changes tables at random on Selkie, from several sessions at once, and replays its binary log into MariaDB.

usage: binlog_random.py SELKIE [--format F] [--rounds N] [--statements N] [--sessions N] [--seed S] [--kill]

Statements fail, are undone and rolled back as often as they succeed. After each round the tables of MariaDB have to
have the rows of Selkie. With --kill the server is killed while sessions run, and started again: what it has then must be
what the log says.
"""
import argparse
import contextlib
import random
import sys
import threading
import time
import uuid

import pymysql

from binlog_beside_mariadb import LOG, MariaDb, Server, feed, replay

TABLES = """
create table a (id int auto_increment primary key, n int, s varchar(30), d decimal(12,4), t datetime(3), unique key (n));
create table b (k1 int, k2 varchar(10), v bigint, f float, g double, primary key (k1, k2)) charset=latin1;
create table c (x int, y text, z blob, w char(10));
create table p (id int primary key, v int); create table q (id int primary key, p int, foreign key (p) references p (id) on delete cascade on update cascade);
create table m (id int primary key, s varchar(20)) engine=MyISAM;
create table e (id int primary key, ts timestamp(6) null, y year, b bit(11), e enum('a','b','c'), st set('x','y','z'), da date, ti time(2), u uuid, i inet6, j json, bn binary(8), bb varbinary(9), mi mediumint unsigned, tt tinytext);
create table l (n int auto_increment primary key, s varchar(40));
create table g (id int primary key, a int, s int as (a * 2) stored, w varchar(20) as (concat('w', a)) virtual, check (a < 900));
create trigger ta after insert on a for each row insert into l (s) values (concat('a', new.id));
create trigger tb before update on b for each row set new.v = new.v + 1;
create trigger tc after delete on c for each row insert into l (s) values (concat('c', ifnull(old.x, 'null')));
"""


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def number(self, most=40):
        return str(self.random.choice([self.random.randrange(most), "null" if self.random.random() < 0.1 else self.random.randrange(-5, most)]))

    def key(self, most=40):
        return str(self.random.randrange(most))

    def text(self, most=30):
        letters = "abc'\\é0 \n\x00ß€"
        made = "".join(self.random.choice(letters) for _ in range(self.random.randrange(most)))
        return "'" + made.replace("\\", "\\\\").replace("'", "''").replace("\x00", "\\0") + "'"

    def row_of_e(self):
        r, pick = self.random, self.random.choice
        return ", ".join([self.key(), pick(["null", f"'2020-0{r.randrange(1, 9)}-11 10:11:12.{r.randrange(999999):06}'", "'1970-01-02 00:00:01'"]),
                          pick(["null", "0", "1901", "2155", "2024"]), pick(["b'0'", "b'11111111111'", "5"]), pick(["'a'", "'c'", "null"]),
                          pick(["''", "'x,z'", "'y'", "null"]), pick(["'2024-02-29'", "'1000-01-01'", "null"]),
                          pick(["'-12:34:56.78'", "'838:59:59'", "'00:00:00.01'", "null"]), pick(["null", f"'{uuid.UUID(int=r.getrandbits(128), version=4)}'"]),
                          pick(["null", "'::1'", "'::ffff:1.2.3.4'", "'fe80::aaaa'"]), pick(["null", "'{\"a\": [1, 2]}'", "'[]'"]),
                          pick(["x'0102'", "x'0000000000000000'", "x'00ff00ff00ff00ff'"]), pick(["x''", "x'0000'", "x'ff00'"]),
                          pick(["0", "16777215", "70000"]), self.text(20)])

    def statement(self):
        n, k, t = self.number, self.key, self.text
        return self.random.choice([
            lambda: f"insert into a (n, s, d, t) values ({n()}, {t()}, {n()}.25, '2024-01-01 10:00:00.123')",
            lambda: f"insert into a (n, s) values ({n()}, {t()}), ({n()}, {t()}), ({n()}, {t(60)})",
            lambda: f"insert ignore into a (n, s) values ({n()}, {t(60)}), ({n()}, {t()}), ({n()}, {t()})",
            lambda: f"insert into a (n, s) values ({n()}, {t()}), ({n()}, {t()}) on duplicate key update s = concat('+', left(s, 20)), n = n + {k(3)}",
            lambda: f"replace into a (n, s) values ({n()}, {t()}), ({n()}, {t()})",
            lambda: f"replace into a (id, n, s) values ({k(60)}, {n()}, {t()})",
            lambda: f"update a set n = n + {k(5)}, d = {n()} where id > {k(60)} order by id limit {k(6)}",
            lambda: f"update ignore a set n = {n()} where id % 3 = {k(3)}",
            lambda: f"update a set id = id + {k(9)} where id = {k(60)}",
            lambda: f"delete from a where id between {k(60)} and {k(60)}",
            lambda: f"insert into b values ({k()}, 'k{k(4)}', {n()}, {n()}.5, {n()}e3), ({k()}, 'k{k(4)}', {n()}, 1.1, -0.0)",
            lambda: f"update b set v = v * 2, k2 = 'k{k(4)}' where k1 < {k()}",
            lambda: f"delete from b where k1 = {k()}",
            lambda: f"insert into c values ({n()}, {t()}, {t()}, {t(10)}), ({n()}, repeat({t(5)}, {k(3000)}), null, null)",
            lambda: f"update c set w = {t(10)}, y = null where x = {n()} limit 2",
            lambda: f"delete from c where x = {n()} limit 1",
            lambda: f"insert into p values ({k()}, {n()}), ({k()}, {n()})",
            lambda: f"insert into q values ({k()}, {k()})",
            lambda: f"update p set id = id + {k()} where id = {k()}",
            lambda: f"delete from p where id = {k()}",
            # Whether a changed key is a duplicate does not depend on the order of the rows, which a join may have of its own.
            lambda: f"update p join q on q.p = p.id set p.v = {n()}, q.id = -q.id - 1 where p.id < {k()}",
            lambda: f"delete p, a from p left join a on a.n = p.id where p.id = {k()}",
            lambda: f"insert into m values ({k()}, {t(20)}), ({k()}, {t(20)})",
            # An engine without rollback keeps the rows before the duplicate: without an order, which ones depends on the scan.
            lambda: f"update m set id = id + {k(3)} where id > {k()} order by id{' desc' if self.random.random() < 0.5 else ''}",
            lambda: f"delete from m where id = {k()}",
            lambda: f"insert into e values ({self.row_of_e()})",
            lambda: f"replace into e values ({self.row_of_e()}), ({self.row_of_e()})",
            lambda: f"update e set y = 2000, ts = '2001-02-03 04:05:06' where id < {k()}",
            lambda: f"delete from e where id = {k()}",
            lambda: f"insert into g (id, a) values ({k()}, {n(1000)}), ({k()}, {n()})",
            lambda: f"update g set a = a + {k()} where id < {k()}",
            lambda: f"insert into l (s) select s from a where id < {k(60)}",
            lambda: f"insert into c (x, y) select id, s from a order by id limit {k(20)}",
            lambda: "truncate table c" if self.random.random() < 0.1 else f"delete from l where n < {k(60)}",
        ])()

    def unit(self):
        """Statements of one transaction, or one statement."""
        if self.random.random() < 0.5:
            return [self.statement()]
        unit = ["begin"]
        for _ in range(self.random.randrange(1, 6)):
            draw = self.random.random()
            name = self.random.choice("xyz")
            unit.append(f"savepoint {name}" if draw < 0.15 else f"rollback to {name}" if draw < 0.25 else self.statement())
        return unit + ["commit" if self.random.random() < 0.7 else "rollback"]


def run(server, maker, statements, stopped):
    try:
        connection = server.connect(database="d")
        cursor = connection.cursor()
        cursor.execute("set innodb_lock_wait_timeout = 1")
        done = 0
        while done < statements and not stopped.is_set():
            for text in maker.unit():
                with contextlib.suppress(pymysql.err.IntegrityError, pymysql.err.DataError, pymysql.err.InternalError, pymysql.err.NotSupportedError):
                    try:
                        cursor.execute(text)
                    except pymysql.err.OperationalError as error:
                        if error.args[0] in (2006, 2013):
                            return
                done += 1
        with contextlib.suppress(pymysql.err.OperationalError):
            cursor.execute("rollback")
    except (pymysql.err.OperationalError, pymysql.err.InterfaceError, OSError):
        if not stopped.is_set():
            raise


def read(connection):
    """The rows of the tables that have snapshots."""
    cursor, found = connection.cursor(), {}
    for name in "abpqelg":
        cursor.execute(f"select * from {name}")
        found[name] = sorted(repr(row) for row in cursor.fetchall())
    return found


def snapshot(server):
    """Rows of a snapshot taken while others write, and its place in the log."""
    connection = server.connect(database="d")
    cursor = connection.cursor()
    cursor.execute("start transaction with consistent snapshot")
    time.sleep(0.05)
    cursor.execute("show status like 'binlog_snapshot_%'")
    place = [value for _, value in cursor.fetchall()]
    found = read(connection)
    connection.close()
    return found, place


# Errors of statements that stand in part: their text is in the log.
FAILS = (1062,)


def check_snapshot(server, reference, taken, fails):
    found, place = taken
    wrong = feed(server, reference, place, fails)
    theirs = read(pymysql.connect(host="127.0.0.1", port=reference.port, user="root", charset="utf8mb4", database="d"))
    for name, mine in found.items():
        if wrong or mine != theirs[name]:
            print(f"the snapshot at {place} differs in table {name}: {wrong} {set(mine) ^ set(theirs[name])}")
            return False
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("selkie")
    parser.add_argument("--format", default="ROW", choices=["ROW", "MIXED", "STATEMENT"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--statements", type=int, default=400)
    parser.add_argument("--sessions", type=int, default=3)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    parser.add_argument("--kill", action="store_true")
    given = parser.parse_args()
    print(f"seed {given.seed}")
    server, reference = Server(given.selkie, options=[*LOG, "--max-binlog-size=65536", f"--binlog-format={given.format}"]), MariaDb(options=LOG)
    failed = 0
    try:
        reference.start()
        server.start()
        for number in range(given.rounds):
            seed, stopped = given.seed + number, threading.Event()
            connection = server.connect()
            for text in ["drop database if exists d", "reset master", "create database d", "use d", *TABLES.split(";\n")]:
                for part in [text] if "trigger" in text else text.split(";"):
                    if part.strip():
                        connection.cursor().execute(part)
            makers = [Maker(f"{seed}/{session}") for session in range(given.sessions)]
            threads = [threading.Thread(target=run, args=(server, maker, given.statements, stopped)) for maker in makers]
            for thread in threads:
                thread.start()
            time.sleep(0.3)
            taken = snapshot(server)
            if given.kill:
                time.sleep(random.Random(seed).uniform(0.1, 2))
                stopped.set()
                server.kill()
            for thread in threads:
                thread.join()
            if given.kill:
                server.start()
            fails = () if given.format == "ROW" else FAILS
            if not check_snapshot(server, reference, taken, fails) or not replay(server, reference, f"seed {seed}", fails):
                failed += 1
        server.check_panics()
    finally:
        server.remove()
        reference.remove()
    print(f"{given.rounds} rounds, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
