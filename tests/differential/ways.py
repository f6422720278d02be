"""Ways in which a statement reaches a server: as text, as texts that differ only in their literals, prepared, in a routine,
or as a session of several statements.

`steps(way, tree, seed)` returns (text, whether it is compared) in order. A literal is a node with a pool. In all
texts but the first it is replaced by another value of its pool, so that a plan the server keeps for the
first statement of a shape meets other values.
"""

import random

from relations import LITERALS

WAYS = ["text"] * 6 + ["texts"] * 4 + ["prepared"] * 4 + ["procedure"] * 2 + ["function"] + ["trigger"]
PARAMETER_TYPES = {"n": "BIGINT", "s": "VARCHAR(30)", "d": "DATETIME", "i": "INT"}


def literals(tree):
    return [node for node in tree.below() if node.pool]


def redrawn(tree, seed):
    """Returns the tree with other literals."""
    tree, source = tree.copy(), random.Random(seed)
    for node in literals(tree):
        node.parts = [source.choice(LITERALS[node.pool])]
    return tree


def with_names(tree, name):
    """Returns the tree with `name(number)` in place of its literals, and the literals."""
    tree, values = tree.copy(), []
    for at, node in enumerate(literals(tree)):
        values.append((node.pool, str(node)))
        node.parts = [name(at)]
    return tree, values


def steps(way, tree, seed):
    trees = [tree, redrawn(tree, seed), redrawn(tree, seed + 1)]
    if way == "texts":
        return [(str(t), True) for t in trees]
    if way == "prepared":
        return prepared(trees)
    if way == "procedure":
        return procedure(trees)
    if way == "function":
        return function(tree)
    if way == "trigger":
        return trigger(tree)
    if way == "session":
        return [(str(part), True) for part in tree.parts]
    return [(str(tree), True)]


def prepared(trees):
    marked, _ = with_names(trees[0], lambda _: "?")
    found = [("SET @statement = " + quoted(str(marked)), False), ("PREPARE s FROM @statement", True)]
    for tree in trees:
        _, values = with_names(tree, lambda _: "?")
        found += [("SET " + ", ".join(f"@p{at} = {value}" for at, (_, value) in enumerate(values)), False)] if values else []
        using = " USING " + ", ".join(f"@p{at}" for at in range(len(values))) if values else ""
        found.append((f"EXECUTE s{using}", True))
    return found


def procedure(trees):
    body, values = with_names(trees[0], lambda at: f"v{at}")
    parameters = ", ".join(f"v{at} {PARAMETER_TYPES[pool]}" for at, (pool, _) in enumerate(values))
    found = [(f"CREATE OR REPLACE PROCEDURE p ({parameters}) BEGIN {body}; END", True)]
    for tree in trees:
        _, values = with_names(tree, lambda _: "")
        found.append((f"CALL p({', '.join(value for _, value in values)})", True))
    return found


def function(tree):
    text = str(tree)
    if text.startswith(("SELECT", "WITH", "(")):
        body = f"DECLARE n BIGINT; SELECT COUNT(*) INTO n FROM ({text}) q; RETURN n;"
    else:
        body = f"{text.partition(' RETURNING ')[0]}; RETURN ROW_COUNT();"
    return [(f"CREATE OR REPLACE FUNCTION f() RETURNS BIGINT BEGIN {body} END", True), ("SELECT f()", True), ("SELECT f()", True)]


def trigger(tree):
    """Returns a trigger that counts or changes rows when a row is inserted into another table."""
    text = str(tree)
    if text.startswith(("SELECT", "WITH", "(")):
        body = f"SET NEW.n = (SELECT COUNT(*) FROM ({text}) q)"
    else:
        # MariaDB does not count the rows of an INSERT in a trigger.
        count = "" if text.startswith(("INSERT", "REPLACE")) else "SET NEW.n = ROW_COUNT(); "
        body = f"BEGIN {text.partition(' RETURNING ')[0]}; {count}END"
    return [("CREATE OR REPLACE TABLE fired (id INT PRIMARY KEY, n BIGINT)", True),
            (f"CREATE TRIGGER fires BEFORE INSERT ON fired FOR EACH ROW {body}", True),
            ("INSERT INTO fired (id) VALUES (1), (2)", True), ("SELECT * FROM fired", True)]


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
