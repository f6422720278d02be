"""What statements of one form cost a server whose literals differ each time: CPU per statement beside a MariaDB, and
beside the same server when it plans each text (a session with a temporary table shares no plans).

The tables are those of a blog. `--forms` runs some of the forms only. Prints microseconds; the last column is the cost
with shared plans over the cost of planning each text.

usage: varied.py BINARY [--loops N] [--forms NAME,NAME]
"""

import argparse
import os
import random
import sys

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from beside_mariadb import MariaDb  # noqa: E402
from selkie import Server  # noqa: E402

POSTS, TERMS, AUTHORS = 5000, 300, 100
TABLES = [
    "CREATE TABLE authors(id INT PRIMARY KEY, login VARCHAR(60), KEY(login))",
    "CREATE TABLE posts(id BIGINT UNSIGNED PRIMARY KEY, author INT, status VARCHAR(20), kind VARCHAR(20), title TEXT, at DATETIME,"
    " KEY kind_status_at(kind, status, at, id), KEY(author))",
    "CREATE TABLE details(id BIGINT UNSIGNED PRIMARY KEY, post BIGINT UNSIGNED, name VARCHAR(255), value LONGTEXT, KEY(post), KEY(name(191)))",
    "CREATE TABLE terms(id BIGINT UNSIGNED PRIMARY KEY, name VARCHAR(200), kind VARCHAR(32), KEY(name(191)), KEY(kind))",
    "CREATE TABLE posts_terms(post BIGINT UNSIGNED, term BIGINT UNSIGNED, PRIMARY KEY(post, term), KEY(term))",
]


def rows(rng):
    """Returns the rows of each table; some terms have hundreds of posts, most have few."""
    yield "authors", [f"({n},'user{n}')" for n in range(1, AUTHORS + 1)]
    yield "posts", [f"({n},{rng.randint(1, AUTHORS)},'{rng.choice(['publish'] * 8 + ['draft', 'inherit'])}',"
                    f"'{rng.choice(['post', 'page', 'attachment', 'revision'])}','title {n}','2026-01-01' + INTERVAL {n} MINUTE)"
                    for n in range(1, POSTS + 1)]
    yield "details", [f"({n},{rng.randint(1, POSTS)},'{rng.choice(['edit', 'thumb', 'price', 'sku', 'views'])}','v{n}')"
                      for n in range(1, 4 * POSTS + 1)]
    yield "terms", [f"({n},'term{n}','{rng.choice(['category', 'tag', 'menu'])}')" for n in range(1, TERMS + 1)]
    pairs = {(rng.randint(1, POSTS), int(TERMS * rng.random() ** 3) + 1) for _ in range(12_000)}
    yield "posts_terms", [f"({post},{term})" for post, term in sorted(pairs)]


FORMS = {
    "by key": lambda r: f"SELECT * FROM posts WHERE id = {r.randint(1, POSTS)}",
    "by key in quotes": lambda r: f"SELECT * FROM posts WHERE id = '{r.randint(1, POSTS)}'",
    "with a comment": lambda r: f"SELECT /* Post::load */ * FROM posts WHERE id = {r.randint(1, POSTS)}",
    "with its author": lambda r: "SELECT p.id, p.title, a.login FROM posts p JOIN authors a ON a.id = p.author"
                                 f" WHERE p.id = {r.randint(1, POSTS)}",
    "with a detail": lambda r: "SELECT p.id, d.value FROM posts p LEFT JOIN details d ON d.post = p.id AND d.name = 'price'"
                               f" WHERE p.id = {r.randint(1, POSTS)}",
    "terms of a post": lambda r: "SELECT t.* FROM terms t INNER JOIN posts_terms pt ON pt.term = t.id"
                                 f" WHERE t.kind IN ('category', 'tag') AND pt.post IN ({r.randint(1, POSTS)}) ORDER BY t.name",
    "by detail": lambda r: "SELECT p.id FROM posts p INNER JOIN details d ON p.id = d.post"
                           f" WHERE d.post = {r.randint(1, POSTS)} AND d.name = 'sku' AND p.status = 'publish' ORDER BY p.at DESC LIMIT 0, 5",
    "posts of a term": lambda r: "SELECT p.id FROM posts p LEFT JOIN posts_terms pt ON p.id = pt.post"
                                 f" WHERE pt.term IN ({int(TERMS * r.random()) + 1}) AND p.kind = 'post' AND p.status = 'publish'"
                                 " GROUP BY p.id ORDER BY p.at DESC LIMIT 0, 5",
    "count of a term": lambda r: "SELECT COUNT(*) FROM posts_terms pt JOIN posts p ON p.id = pt.post"
                                 f" WHERE pt.term = {int(TERMS * r.random()) + 1} AND p.status = 'publish'",
    "page of a list": lambda r: "SELECT id FROM posts WHERE kind = 'post' AND status = 'publish' ORDER BY at DESC"
                                f" LIMIT {r.randint(0, 50)}, 5",
}


class Measured:
    """A server with the tables."""

    def __init__(self, port, pid):
        self.pid = pid
        self.connection = pymysql.connect(host="127.0.0.1", port=port, user="root", charset="utf8mb4", autocommit=True)
        self.cursor = self.connection.cursor()
        for text in ("CREATE DATABASE IF NOT EXISTS varied", "USE varied"):
            self.cursor.execute(text)

    def fill(self):
        for text in TABLES:
            self.cursor.execute(text)
        for table, values in rows(random.Random(5)):
            for at in range(0, len(values), 500):
                self.cursor.execute(f"INSERT INTO {table} VALUES " + ",".join(values[at:at + 500]))
        self.cursor.execute("ANALYZE TABLE authors, posts, details, terms, posts_terms")
        self.cursor.fetchall()

    def cpu(self):
        """Returns the seconds of CPU that all threads have used."""
        used = 0
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            try:
                with open(f"/proc/{self.pid}/task/{thread}/schedstat", encoding="ascii") as stat:
                    used += int(stat.read().split()[0])
            except FileNotFoundError:
                pass
        return used / 1e9

    def cost(self, texts):
        """Returns microseconds of CPU per text."""
        before = self.cpu()
        for text in texts:
            self.cursor.execute(text)
            self.cursor.fetchall()
        return (self.cpu() - before) / len(texts) * 1e6


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binary")
    arguments.add_argument("--loops", type=int, default=2000)
    arguments.add_argument("--forms")
    arguments = arguments.parse_args()
    names = arguments.forms.split(",") if arguments.forms else list(FORMS)
    maria, server = MariaDb(), None
    try:
        maria.start()
        server = Server(arguments.binary, options=["--innodb-flush-log-at-trx-commit=2"]).start()
        sides = [Measured(maria.port, maria.process.pid), *(Measured(server.port, server.process.pid) for _ in range(2))]
        sides[0].fill()
        sides[1].fill()
        sides[2].cursor.execute("CREATE TEMPORARY TABLE plans_alone(a INT)")
        print(f"{'form':18} {'MariaDB':>8} {'Selkie':>8} {'ratio':>6} {'planned each':>13} {'ratio':>6}")
        for name in names:
            rng = random.Random(7)
            [side.cost([FORMS[name](rng) for _ in range(300)]) for side in sides]
            texts = [FORMS[name](rng) for _ in range(arguments.loops)]
            # In turns, so that a busy moment hits all.
            parts = [[side.cost(texts[at::4]) for side in sides] for at in range(4)]
            mariadb, shared, alone = (min(column) for column in zip(*parts))
            print(f"{name:18} {mariadb:8.1f} {shared:8.1f} {shared / mariadb:6.2f} {alone:13.1f} {shared / alone:6.2f}", flush=True)
    finally:
        if server:
            server.remove()
        maria.remove()


if __name__ == "__main__":
    main()
