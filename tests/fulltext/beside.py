"""Full-text searches beside MariaDB.

Random documents and queries go to both servers. Hits, ranks (as 32-bit floats) and errors must be
equal. Usage: beside.py PORT MARIADB_PORT [--seed N] [--rounds N] [--modes nbe]
"""

import argparse
import random
import struct
import sys

import pymysql

WORDS = (
    "apple Apple äpple banana cherry date cat dog the The about that zz ab x_y don't o'neil 1234 12 "
    "category cater appliance Straße grün ÄPFEL wood craft hallo naïve"
).split()
SEPARATORS = [" ", " ", " ", " ", "  ", "-", ", ", ". ", "\n", "'", " - "]
# Each begins one word only: of several, MariaDB counts one that depends on the shape of its tree.
PREFIXES = "ban* cherry* dat* nei* Straß* grü* craf* woo* hall*".split()
MODES = {"n": "in natural language mode", "b": "in boolean mode", "e": "with query expansion"}


class Generator:
    """Documents and queries of one seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def text(self):
        share = self.random.random()
        if share < 0.07:
            return None
        if share < 0.1:
            return ""
        out = self.random.choice(WORDS)
        for _ in range(self.random.choice([0, 1, 2, 3, 5, 8, 14])):
            out += self.random.choice(SEPARATORS) + self.random.choice(WORDS)
        return out

    def term(self, operators):
        if operators and self.random.random() < 0.15:
            return self.random.choice(PREFIXES)
        return self.random.choice(WORDS + ["app", "ca", "a", "nothere"])

    def phrase(self):
        count = self.random.choice([1, 2, 2, 3])
        return '"' + " ".join(self.term(False) for _ in range(count)) + '"'

    def natural(self):
        parts = []
        for _ in range(self.random.choice([1, 1, 2, 3, 4])):
            parts.append(self.phrase() if self.random.random() < 0.15 else self.term(False))
        return self.random.choice([" ", " ", ", ", "-"]).join(parts)

    def expression(self, depth):
        sign = self.random.choice(["", "", "", "", "+", "+", "-", ">", "<", "~"])
        share = self.random.random()
        if share < 0.15 and depth > 0:
            return sign + "(" + self.list(depth - 1) + ")"
        if share < 0.3:
            near = self.random.random() < 0.4
            return sign + self.phrase() + (f" @{self.random.randint(1, 8)}" if near else "")
        return sign + self.term(True)

    def list(self, depth):
        return " ".join(
            self.expression(depth) for _ in range(self.random.choice([1, 2, 2, 3, 4]))
        )

    def boolean(self, depth):
        query = self.list(depth)
        if self.random.random() < 0.05:
            at = self.random.randrange(len(query) + 1)
            query = query[:at] + self.random.choice("+-><()~*\"@% '.") + query[at:]
        return query


def bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def ask(cursor, columns, query, mode):
    """Hits as a set of key and rank, or an error."""
    match = f"match({columns}) against(%s {MODES[mode]})"
    try:
        cursor.execute(f"select id, {match} from g where {match}", (query, query))
        return {(row[0], bits(row[1])) for row in cursor.fetchall()}
    except pymysql.err.Error as error:
        return error.args


def connect(port):
    connection = pymysql.connect(
        host="127.0.0.1", port=port, user="root", charset="utf8mb4", autocommit=True
    )
    cursor = connection.cursor()
    cursor.execute("create database if not exists fulltext_beside")
    cursor.execute("use fulltext_beside")
    return cursor


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("beside", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--queries", type=int, default=30)
    parser.add_argument("--modes", default="nbe")
    parser.add_argument("--engines", default="InnoDB,MyISAM,Aria")
    parser.add_argument("--depth", type=int, default=0, help="of parentheses")
    parser.add_argument("--tolerate", type=float, default=0.0, help="share of differences allowed")
    options = parser.parse_args()
    servers = [connect(options.port), connect(options.beside)]
    generator = Generator(options.seed)
    asked = differences = 0
    for _ in range(options.rounds):
        collation = generator.random.choice(["utf8mb4_general_ci", "utf8mb4_bin"])
        columns = "abc"[: generator.random.choice([1, 1, 2])]
        count = generator.random.choice([5, 12, 25, 40])
        documents = [
            (at, *(generator.text() for _ in columns)) for at in range(count)
        ]
        queries = []
        for _ in range(options.queries):
            mode = generator.random.choice(options.modes)
            boolean = mode == "b"
            queries.append(
                (generator.boolean(options.depth) if boolean else generator.natural(), mode)
            )
        for engine in options.engines.split(","):
            for cursor in servers:
                cursor.execute("drop table if exists g")
                texts = ",".join(f"{name} text" for name in columns)
                cursor.execute(
                    f"create table g (id int primary key, {texts}, fulltext ({','.join(columns)}))"
                    f" engine={engine} charset utf8mb4 collate {collation}"
                )
                places = ",".join(["%s"] * (len(columns) + 1))
                cursor.executemany(f"insert into g values ({places})", documents)
            for query, mode in queries:
                ours, theirs = (ask(c, ",".join(columns), query, mode) for c in servers)
                asked += 1
                if ours != theirs:
                    differences += 1
                    if differences <= 20:
                        print(f"{engine} {collation} {MODES[mode]}: {query!r}")
                        print(f"    selkie  {ours}\n    mariadb {theirs}")
    print(f"{asked} queries, {differences} differences")
    sys.exit(differences > asked * options.tolerate)


if __name__ == "__main__":
    main()
