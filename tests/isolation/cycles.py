"""Anomalies of a history of transactions whose reads tell which version they saw.

`versions[key]` are the transactions that wrote the key, in the order of their versions. A read of a key
is (key, count, locking): it saw the first `count` versions. The names of anomalies are Adya's.
Must not know anything else of the server, nor how a history was made.
"""

import collections

LEVELS = ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SNAPSHOT", "SERIALIZABLE"]


class Transaction:
    """A committed transaction: began at `begin`, was acknowledged at `end`."""

    def __init__(self, name, begin=0.0, end=0.0):
        self.name, self.begin, self.end, self.reads = name, begin, end, []


def anomalies(level, transactions, versions):
    """Describes the anomalies in the history that the level forbids."""
    rank = LEVELS.index(level)
    found = []
    edges = dependencies(transactions, versions, lambda read: True)
    locked = dependencies(transactions, versions, lambda read: read[2])
    found += cycle("G0", only(edges, {"ww"}))
    # Locked rows do not change after their read, so they have an order at every level.
    found += cycle("lost update of a locked row", locked)
    if rank >= 1:
        found += cycle("G1c", only(edges, {"ww", "wr"}))
        found += stale(transactions, versions)
    if rank >= 2:
        found += skewed_reads(transactions, versions)
    if rank >= 3:
        found += nonadjacent("G-single", edges)
    if rank >= 4:
        found += cycle("G2-item", edges)
    return found


def dependencies(transactions, versions, counts):
    """Returns {transaction: {(other, kind)}} of reads for which `counts` is true, and of all writes."""
    edges = collections.defaultdict(set)
    for writers in versions.values():
        for earlier, later in zip(writers, writers[1:]):
            if earlier is not later:
                edges[earlier].add((later, "ww"))
    for transaction in transactions:
        for read in filter(counts, transaction.reads):
            read_edges(edges, transaction, transaction, read, versions)
    return edges


def read_edges(edges, node, transaction, read, versions):
    key, count, _ = read
    writers = versions.get(key, [])
    if 0 < count <= len(writers) and writers[count - 1] is not transaction:
        edges[writers[count - 1]].add((node, "wr"))
    if count < len(writers) and writers[count] is not transaction:
        edges[node].add((writers[count], "rw"))


def skewed_reads(transactions, versions):
    """Finds read skew. The unlocked reads of a transaction are one node, because they are of one snapshot: they must not miss a
    write of a transaction that they depend on."""
    edges = dependencies([], versions, lambda read: False)
    for transaction in transactions:
        plain = [r for r in transaction.reads if not r[2] and not (r[1] and versions[r[0]][r[1] - 1] is transaction)]
        written = {key for key, writers in versions.items() if transaction in writers}
        for read in plain:
            if read[0] not in written:
                read_edges(edges, ("reads", transaction),
                           transaction, read, versions)
    return nonadjacent("read skew", edges)


def stale(transactions, versions):
    """Returns reads that miss changes acknowledged before their transaction began."""
    found = []
    earliest = {}
    for key, writers in versions.items():
        ends, least = [], float("inf")
        for writer in reversed(writers):
            least = min(least, writer.end)
            ends.append(least)
        earliest[key] = ends[::-1]
    for transaction in transactions:
        for key, count, _ in transaction.reads:
            ends = earliest.get(key, [])
            if count < len(ends) and ends[count] < transaction.begin:
                found.append(f"stale read of {key} by {transaction.name}: {count} of {len(ends)} versions")
    return found


def only(edges, kinds):
    return {node: {e for e in targets if e[1] in kinds} for node, targets in edges.items()}


def cycle(name, edges):
    """Returns one of the shortest cycles, if there are any."""
    for component in components(edges):
        shortest = min((path for start in list(component)[:200] if (path := way_back(start, edges, component))),
                       key=len, default=None)
        return [told(name, shortest)] if shortest else []
    return []


def way_back(start, edges, component):
    """Returns the shortest way from a node to itself: [(node, kind) ...]."""
    queue, seen = collections.deque([(start, [])]), set()
    while queue:
        node, path = queue.popleft()
        for target, kind in edges.get(node, ()):
            if target == start:
                return path + [(node, kind)]
            if target in component and target not in seen:
                seen.add(target)
                queue.append((target, path + [(node, kind)]))
    return None


def nonadjacent(name, edges):
    """Returns a cycle without two anti-dependencies in a row."""
    for component in components(edges):
        for start in component:
            for first, kind in edges.get(start, ()):
                if kind == "rw" and first in component and (path := back_without_pairs(first, start, edges, component)):
                    return [told(name, [(start, "rw")] + path)]
    return []


def back_without_pairs(first, start, edges, component):
    queue, seen = collections.deque([(first, True, [])]), {(first, True)}
    while queue:
        node, was_anti, path = queue.popleft()
        for target, kind in edges.get(node, ()):
            anti = kind == "rw"
            if anti and was_anti:
                continue
            if target == start and not anti:
                return path + [(node, kind)]
            if target in component and (target, anti) not in seen:
                seen.add((target, anti))
                queue.append((target, anti, path + [(node, kind)]))
    return None


def told(name, path):
    shown = lambda node: f"reads of {node[1].name}" if isinstance(node, tuple) else node.name
    return f"{name}: " + " ".join(f"{shown(node)} -{kind}->" for node, kind in path) + f" {shown(path[0][0])}"


def components(edges):
    """Returns strongly connected components of more than one node (Tarjan's algorithm, without recursion)."""
    index, low, on_stack, stack, counter = {}, {}, set(), [], 0
    for root in list(edges):
        if root in index:
            continue
        work = [(root, iter([t for t, _ in edges.get(root, ())]))]
        index[root] = low[root] = counter = counter + 1
        stack.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            target = next(targets, None)
            if target is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = set()
                    while node not in component:
                        component.add(stack.pop())
                    on_stack -= component
                    if len(component) > 1:
                        yield component
            elif target not in index:
                index[target] = low[target] = counter = counter + 1
                stack.append(target)
                on_stack.add(target)
                work.append((target, iter([t for t, _ in edges.get(target, ())])))
            elif target in on_stack:
                low[node] = min(low[node], index[target])


def check_checker():
    """Checks the checker: each anomaly is found in a history made for it, exactly at the levels that forbid it."""
    a, b, c = (Transaction(name, 0, 10) for name in "abc")

    def expect(first_level, versions, reads):
        for transaction in (a, b, c):
            transaction.reads = reads.get(transaction, [])
        for rank, level in enumerate(LEVELS):
            found = anomalies(level, [a, b, c], versions)
            assert bool(found) == (rank >= LEVELS.index(first_level)), (level, found)

    expect("READ UNCOMMITTED", {"x": [a, b], "y": [b, a]}, {})
    expect("READ UNCOMMITTED", {"x": [b, a]}, {a: [("x", 0, True)]})
    expect("READ COMMITTED", {"x": [a], "y": [b]}, {a: [("y", 1, False)], b: [("x", 1, False)]})
    expect("REPEATABLE READ", {"x": [a], "y": [a]}, {b: [("x", 0, False), ("y", 1, False)]})
    expect("SNAPSHOT", {"x": [b, a]}, {a: [("x", 0, False)]})
    expect("SERIALIZABLE", {"x": [a], "y": [b]}, {a: [("y", 0, False)], b: [("x", 0, False)]})
    early, late = Transaction("early", 0, 1), Transaction("late", 2, 3)
    late.reads = [("x", 0, False)]
    assert stale([early, late], {"x": [early]})
