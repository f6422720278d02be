"""Full-text searches in the index and through all rows, which must agree.

Random changes of a table by two sessions, with rollbacks, savepoints, index builds and truncation; after each of
them a random query runs twice in both sessions: in the index, and with selkie_fulltext_scan, which reads all rows.
Tables are those of InnoDB and of engines without transactions in turn; of these the order of hits is compared too.
Usage: kept.py PORT [--seed N] [--steps N]
"""

import argparse
import random
import sys

import pymysql

from beside import MODES, Generator, bits

TABLE = (
    "create table kept (id int primary key, a text, b varchar(500), n int, fulltext fa (a), fulltext fab (a, b))"
    " engine = {} collate {}"
)
ENGINES = ["innodb", "myisam", "innodb", "aria"]
COLLATIONS = ["utf8mb4_general_ci", "utf8mb4_bin", "utf8mb4_unicode_ci"]
LEVELS = ["repeatable read", "read committed", "read uncommitted"]


def connect(port):
    connection = pymysql.connect(host="127.0.0.1", port=port, user="root", charset="utf8mb4", autocommit=True)
    cursor = connection.cursor()
    cursor.execute("create database if not exists fulltext_kept")
    cursor.execute("use fulltext_kept")
    cursor.execute("set innodb_lock_wait_timeout = 1")
    return cursor


def ask(cursor, columns, query, mode, through_rows):
    """Hits by their keys, with ranks, in the order in which they come, or an error."""
    cursor.execute(f"set selkie_fulltext_scan = {through_rows}")
    match = f"match({columns}) against(%s {MODES[mode]})"
    try:
        cursor.execute(f"select id, {match} from kept where {match}", (query, query))
        return {row[0]: bits(row[1]) for row in cursor.fetchall()}
    except pymysql.err.Error as error:
        return error.args


class Run:
    """One table and two sessions."""

    def __init__(self, port, seed):
        self.generator = Generator(seed)
        self.random = self.generator.random
        self.sessions = [connect(port), connect(port)]
        self.open = [False, False]
        # Sessions with changes upon a snapshot of their transaction. Only in the index is a row found then whose
        # text others have changed since.
        self.ahead = [False, False]
        self.has_ab = True
        self.tables = 0

    @property
    def has_transactions(self):
        return ENGINES[self.tables % len(ENGINES)] == "innodb"

    def reset(self):
        for who in (0, 1):
            self.end(who, "rollback")
        first = self.sessions[0]
        first.execute("drop table if exists kept")
        self.tables += 1
        engine = ENGINES[self.tables % len(ENGINES)]
        first.execute(TABLE.format(engine, self.random.choice(COLLATIONS)))
        self.has_ab = True

    def end(self, who, how):
        self.sessions[who].execute(how)
        self.open[who] = self.ahead[who] = False

    def change(self, who):
        self.ahead[who] = self.open[who] == "repeatable read"
        text, key = self.generator.text, self.random.randrange(40)
        share = self.random.random()
        if share < 0.35:
            rows = [(self.random.randrange(40), text(), text(), 1) for _ in range(self.random.choice([1, 1, 3, 20]))]
            verb = self.random.choice(["insert ignore", "replace"])
            places = ",".join(["(%s,%s,%s,%s)"] * len(rows))
            return f"{verb} into kept values {places}", [value for row in rows for value in row]
        if share < 0.6:
            return "update kept set a = %s, b = %s where id >= %s order by id limit 3", (text(), text(), key)
        if share < 0.7:
            return "update kept set b = %s where id = %s", (text(), key)
        if share < 0.75:
            # A key that takes the place of another one with the same text is found through rows before its commit.
            key = 100 if self.open[who] else key
            return "update ignore kept set id = id + 1 where id >= %s order by id desc", (key,)
        if share < 0.8:
            return "update kept set n = n + 1 where id < %s", (key,)
        return "delete from kept where id >= %s order by id limit 4", (key,)

    def definition(self):
        for who in (0, 1):
            self.end(who, self.random.choice(["commit", "rollback"]))
        first = self.sessions[0]
        share = self.random.random()
        if share < 0.3:
            first.execute("truncate table kept")
        elif share < 0.5:
            first.execute("optimize table kept")
        elif share < 0.6:
            first.execute("alter table kept force")
        elif self.has_ab:
            first.execute("alter table kept drop index fab")
            self.has_ab = False
        else:
            first.execute("alter table kept add fulltext fab (a, b)")
            self.has_ab = True

    def step(self):
        """Does one change. Returns the session that has done it."""
        share, who = self.random.random(), self.random.randrange(2)
        cursor = self.sessions[who]
        if share < 0.02:
            self.definition()
        elif share < 0.12 and not self.open[who]:
            level = self.random.choice(LEVELS)
            cursor.execute("set session transaction isolation level " + level)
            cursor.execute("start transaction")
            self.open[who] = level
        elif share < 0.24 and self.open[who]:
            self.end(who, self.random.choice(["commit", "rollback"]))
        elif share < 0.3 and self.open[who]:
            cursor.execute("savepoint s")
            cursor.execute(*self.change(who))
            cursor.execute("rollback to savepoint s")
        else:
            cursor.execute(*self.change(who))
        return who

    def check(self):
        first = self.sessions[0]
        first.execute("check table kept")
        answer = first.fetchall()
        return [] if answer[0][3] == "OK" else [f"check: {answer}"]

    def compare(self):
        """Differences between searches in the index and through rows. While a transaction is open, only the sets of
        hits are compared: the number of rows, which ranks depend on, is that of all transactions. With an operator that
        lowers ranks not even these: a rank may become 0, which is no hit."""
        mode = self.random.choice("nnbbe")
        query = self.generator.boolean(1) if mode == "b" else self.generator.natural()
        columns = "a,b" if self.has_ab and self.random.random() < 0.5 else "a"
        wrong = []
        for who, cursor in enumerate(self.sessions):
            index, rows = (ask(cursor, columns, query, mode, scan) for scan in (0, 1))
            same = index == rows
            if not self.has_transactions:
                same = list(index.items()) == list(rows.items())
            elif any(self.open) and isinstance(index, dict) and isinstance(rows, dict):
                same = index.keys() == rows.keys() or (mode == "b" and any(sign in query for sign in "<~"))
            if not same and not self.ahead[who]:
                wrong.append(f"session {who}, {columns}, {MODES[mode]}: {query!r}\n  index {index}\n  rows  {rows}")
        return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--steps", type=int, default=1500)
    options = parser.parse_args()
    print(f"seed {options.seed}")
    run = Run(options.port, options.seed)
    wrong, compared = [], 0
    for step in range(options.steps):
        if step % 300 == 0:
            run.reset()
        try:
            run.step()
        except pymysql.err.OperationalError as error:
            if error.args[0] not in (1205, 1213, 1020):
                raise
            if error.args[0] == 1213:
                run.open = [False, False]
                for cursor in run.sessions:
                    cursor.execute("rollback")
        found = run.compare()
        compared += 2
        if step % 20 == 0 and not any(run.open):
            found += run.check()
        wrong += [f"step {step}: {what}" for what in found]
        if len(wrong) > 10:
            break
    print("\n".join(wrong))
    print(f"{compared} searches compared, {len(wrong)} differences")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
