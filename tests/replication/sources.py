#!/usr/bin/env python3
"""Selkie with several primaries at once, and in a ring.

usage: sources.py SELKIE [--seconds N] [--seed N]

Two MariaDB servers and a Selkie write into one Selkie by named connections, in domains of their own, while that one is
killed; another Selkie replicates all from it. Then the groups of the first MariaDB come by the second one too, and are ignored
once (gtid_ignore_duplicates). Then the first MariaDB becomes its replica too, and both write. In the end all
have the same rows, and every group once. With --seconds each of the three parts lasts so long, and all servers are killed.
"""
import argparse
import itertools
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from replicas.nodes import Node, gtids  # noqa: E402

PATIENCE = 60


class Turns:
    """Turns of a part, and the servers that are killed between them."""

    def __init__(self, given):
        self.seconds, self.random, self.kills = given.seconds, random.Random(given.seed), 0

    def of(self, least, victims):
        """The first of `victims` is killed twice in a short part, any of them now and then in a long one."""
        end = time.monotonic() + self.seconds
        for turn in itertools.count():
            if turn >= least and time.monotonic() >= end:
                return
            yield turn
            if self.random.random() < 0.02 if self.seconds else turn in (50, 100):
                node = self.random.choice(victims) if self.seconds else victims[0]
                node.kill()
                node.start(list(node.more))
                self.kills += 1


def follow(node, primary, name="", how="slave_pos"):
    node.rows(f"CHANGE MASTER '{name}' TO MASTER_HOST='127.0.0.1', MASTER_PORT={primary.port}, MASTER_USER='root', MASTER_CONNECT_RETRY=1, "
              f"MASTER_USE_GTID={how}", f"START SLAVE '{name}'")


def wait(nodes, expected, turns):
    """Waits until all have applied or written these groups."""
    deadline = time.monotonic() + PATIENCE + turns.seconds
    for node in nodes:
        while (found := gtids(node.variable("gtid_current_pos"))) != expected:
            states = [(row[0], row[12], row[13], row[21], row[39]) for row in node.rows("SHOW ALL SLAVES STATUS")]
            if time.monotonic() > deadline:
                sys.exit(f"{node}: expected {expected}, got {found}; {states}")
            time.sleep(0.05)


def position(*primaries):
    """The last group of each domain that the servers have written themselves."""
    found = {}
    for node in primaries:
        found.update({domain: gtid for domain, gtid in gtids(node.variable("gtid_binlog_pos")).items() if gtid[0] == node.number})
    return found


def same_rows(nodes, tables):
    for table in tables:
        first, *others = [node.rows(f"SELECT * FROM {table} ORDER BY i") for node in nodes]
        for node, rows in zip(nodes[1:], others):
            if rows != first or not first:
                sys.exit(f"{table}: {nodes[0]} has {len(first)} rows, {node} has {len(rows)}, or others")


def into_one(primaries, one, last, turns):
    for domain, node in enumerate(primaries, 1):
        node.restart([*node.more, f"--gtid-domain-id={domain}"])
        follow(one, node, f"from {domain}")
    follow(last, one)
    for domain, node in enumerate(primaries, 1):
        node.rows(f"CREATE DATABASE d{domain}", f"CREATE TABLE d{domain}.t (i INT PRIMARY KEY AUTO_INCREMENT, x VARCHAR(50))")
    for turn in turns.of(150, [one, last, *primaries]):
        for domain, node in enumerate(primaries, 1):
            node.rows(f"INSERT INTO d{domain}.t (x) VALUES ('{turn}'), ('z')", f"UPDATE d{domain}.t SET x = CONCAT(x, 'u') WHERE i = {turn + 1}")
    wait([one, last], position(*primaries), turns)
    same_rows([one, last], [f"d{domain}.t" for domain in range(1, len(primaries) + 1)])
    for domain, node in enumerate(primaries, 1):
        same_rows([node, one], [f"d{domain}.t"])
    print(f"{len(primaries)} primaries into one: ok, {turns.kills} kills", flush=True)


def triangle(primaries, one, last, turns):
    """The second primary becomes a replica of the first one too, so that `one` receives each group of that twice."""
    first, second, *_ = primaries
    one.rows("STOP ALL SLAVES")
    one.stop()
    one.start([*one.more, "--gtid-ignore-duplicates=1"])
    follow(second, first)
    for turn in turns.of(150, [one, last, first, second]):
        first.rows(f"INSERT INTO d1.t (x) VALUES ('{turn}'), ('triangle')")
        second.rows(f"INSERT INTO d2.t (x) VALUES ('{turn}')")
    wait([one, last], position(*primaries), turns)
    same_rows([first, second, one, last], ["d1.t"])
    same_rows([second, one, last], ["d2.t"])
    second.rows("STOP SLAVE ''", "RESET SLAVE '' ALL")
    print(f"one group by two ways: ok, {turns.kills} kills", flush=True)


def ring(first, second, last, turns):
    """`second` is a replica of `first` already."""
    first.rows(f"SET GLOBAL gtid_slave_pos='{second.variable('gtid_slave_pos')}'")
    follow(first, second, how="current_pos")
    # Keys of the two servers, which must not meet.
    base = 10_000_000
    for number in turns.of(100, [second, first]):
        second.rows("SET gtid_domain_id=9", f"INSERT INTO d1.t (i, x) VALUES ({base + 2 * number}, 'second')")
        first.rows(f"INSERT INTO d1.t (i, x) VALUES ({base + 1 + 2 * number}, 'first')")
    expected = {**gtids(second.variable("gtid_current_pos")), **position(first, second)}
    wait([first, second, last], expected, turns)
    same_rows([first, second, last], ["d1.t"])
    print(f"ring of two: ok, {turns.kills} kills", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("selkie")
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    turns = Turns(given)
    makes = "MMSSS"
    nodes = [Node(make, number, given.selkie) for number, make in enumerate(makes, 1)]
    try:
        for node in nodes:
            node.start()
        *primaries, one, last = nodes
        into_one(primaries, one, last, turns)
        triangle(primaries, one, last, turns)
        ring(primaries[0], one, last, turns)
    finally:
        for node in nodes:
            node.remove()


if __name__ == "__main__":
    main()
