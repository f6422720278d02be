"""Random joins, each in several forms that must agree; no other server is needed.

Tables have few rows of few values, NULLs and random keys. A query joins some of them, derived
tables and common tables, with conditions that make columns equal in many ways. Forms of
one query: conditions in WHERE, ON or HAVING, or computed as a value of each pair; cut into p, NOT
p and p IS NULL; without indexes; with tables materialised or in another order; prepared, repeated, in
a procedure; with other settings of the optimizer, and by rows or columns only; sorted, limited and
grouped in different places; and the number of rows that UPDATE and DELETE change.

usage: metamorphic.py [--seed N] [--seconds S] [--optimizer-switch TEXT] PORT
"""

import argparse
import random
import sys
import time

import pymysql

# Settings that change how a query is executed, not its result.
SWITCHES = [
    "semijoin=off", "semijoin=off,materialization=off", "semijoin=off,in_to_exists=off", "exists_to_in=off",
    "materialization=off", "firstmatch=off,loosescan=off", "derived_merge=off", "derived_with_keys=off",
    "condition_pushdown_for_derived=off,condition_pushdown_for_subquery=off", "split_materialized=off",
    "condition_pushdown_from_having=off", "subquery_cache=off", "table_elimination=off", "extended_keys=off",
    "index_merge=off", "index_merge_sort_intersection=on", "index_condition_pushdown=off", "not_null_range_scan=on",
    "mrr=on,mrr_sort_keys=on", "outer_join_with_cache=off,semijoin_with_cache=off", "join_cache_hashed=off",
    "partial_match_rowid_merge=off", "orderby_uses_equalities=off", "rowid_filter=off", "hash_join_cardinality=on"]
VARIABLES = ["selkie_columns = OFF", "selkie_columns = 'FORCE'", "join_cache_level = 0", "join_cache_level = 4",
             "join_cache_level = 8", "optimizer_search_depth = 1", "optimizer_prune_level = 0",
             "eq_range_index_dive_limit = 1", "in_predicate_conversion_threshold = 2", "join_buffer_size = 128",
             "sort_buffer_size = 1024", "tmp_memory_table_size = 0"]
NUMBERS, TEXTS = ["a", "b", "c", "d"], ["s", "u"]
# Maximum number of row pairs that are compared one by one.
MOST_PAIRS = 4000


class Failed(Exception):
    pass


class Table:
    def __init__(self, rng, name):
        self.name, self.rows = name, []
        keys = [["a"], ["b"], ["a", "b"], ["d"], ["c", "a"], ["s"], ["s(1)"], ["a", "s"],
                ["u", "b"]]
        self.keys = rng.sample(keys, rng.randint(0, 3))
        domain = rng.choice([2, 2, 3])
        for at in range(rng.choice([0, 2, 4, 5, 6, 8, 8, 10, 10, 14])):
            number = lambda: rng.choice([None, *list(range(1, domain + 1)) * 3])
            text = lambda: rng.choice([None, "a", "a", "A", "b", "b", "b "])
            row = (at + 1, number(), number(), rng.randint(1, domain), number(), text(), text(), 0)
            self.rows.append(row)

    def statements(self):
        keys = "".join(f", KEY k{n} ({', '.join(k)})" for n, k in enumerate(self.keys))
        yield f"DROP TABLE IF EXISTS {self.name}"
        yield (f"CREATE TABLE {self.name} (id INT PRIMARY KEY, a INT, b INT, c INT NOT NULL,"
               f" d BIGINT, s VARCHAR(3), u VARCHAR(3), z INT NOT NULL{keys})")
        if self.rows:
            rows = ", ".join("(" + ", ".join(map(literal, row)) + ")" for row in self.rows)
            yield f"INSERT INTO {self.name} VALUES {rows}"
        yield f"DROP VIEW IF EXISTS v_{self.name}"
        yield f"CREATE VIEW v_{self.name} AS SELECT * FROM {self.name} WHERE c < 4"
        yield f"DROP VIEW IF EXISTS w_{self.name}"
        yield f"CREATE VIEW w_{self.name} AS SELECT * FROM {self.name} ORDER BY b DESC, id LIMIT 7"


class Item:
    """A table of FROM: its alias and its SQL text."""

    def __init__(self, rng, alias, table):
        self.alias, self.table = alias, table
        self.kind = rng.choice(["table"] * 5 + ["derived", "limited", "view", "ordered", "common"])
        self.limit, self.order = rng.randint(1, 9), rng.choice(["a", "b DESC", "d", "s DESC", "id"])

    def text(self, form=""):
        name, alias = self.table.name, self.alias
        match self.kind:
            case "table" if form == "no index":
                keys = ["PRIMARY"] + [f"k{n}" for n in range(len(self.table.keys))]
                return f"{name} {alias} IGNORE INDEX ({', '.join(keys)})"
            case "table" if form == "kept":
                return f"(SELECT * FROM {name} LIMIT 1000000) {alias}"
            case "table" if form == "merged":
                return f"(SELECT * FROM {name}) {alias}"
            case "table":
                return f"{name} {alias}"
            case "derived":
                return f"(SELECT * FROM {name} WHERE c >= 1) {alias}"
            case "limited":
                return f"({self.first_rows()}) {alias}"
            case "view":
                return f"v_{name} {alias}"
            case "ordered":
                return f"w_{name} {alias}"
            case _:
                return f"c_{alias} {alias}"

    def first_rows(self):
        order = f"{self.order}, id LIMIT {self.limit}"
        return f"SELECT * FROM {self.table.name} ORDER BY {order}"

    def common(self):
        return f"c_{self.alias} AS ({self.first_rows()})"


def literal(value):
    if value is None:
        return "NULL"
    return f"'{value}'" if isinstance(value, str) else str(value)


class Maker:
    """Conditions over some tables."""

    def __init__(self, rng, tables):
        self.rng, self.tables = rng, tables

    def column(self, items, kind=None):
        kind = kind or self.rng.choice([NUMBERS, NUMBERS, TEXTS])
        return f"{self.rng.choice(items).alias}.{self.rng.choice(kind)}"

    def constant(self, kind):
        pool = [1, 2, 3, "NULL"] if kind is NUMBERS else ["'a'", "'B'", "'b '", "NULL"]
        return str(self.rng.choice(pool[:3] * 3 + pool))

    def simple(self, items):
        rng, kind = self.rng, self.rng.choice([NUMBERS, NUMBERS, TEXTS])
        left, right = self.column(items, kind), self.column(items, kind)
        roll = rng.random()
        if roll < 0.55:
            return f"{left} {rng.choice(['=', '=', '=', '=', '<=>', '<', '>=', '<>'])} {right}"
        if roll < 0.7:
            return f"{left} {rng.choice(['=', '=', '<=>', '<', '>', '<='])} {self.constant(kind)}"
        if roll < 0.78:
            return f"{left} IS {rng.choice(['', 'NOT '])}NULL"
        if roll < 0.86:
            values = ", ".join(self.constant(kind) for _ in range(rng.randint(1, 3)))
            return f"{left} {rng.choice(['', 'NOT '])}IN ({values})"
        if roll < 0.93:
            return self.row(items, "<=>")
        return f"{left} {rng.choice(['', 'NOT '])}BETWEEN {self.constant(kind)} AND {right}"

    def row(self, items, op):
        """Compares rows. `=` is used only where false and unknown are equivalent, because IS UNKNOWN of it is false."""
        left = f"({self.column(items, NUMBERS)}, {self.column(items, TEXTS)})"
        return f"{left} {op} ({self.column(items, NUMBERS)}, {self.column(items, TEXTS)})"

    def subquery(self, items):
        rng, table = self.rng, self.rng.choice(self.tables)
        inner = Item(rng, "q", table)
        inner.kind = rng.choice(["table", "table", "view", "limited"])
        where = [self.simple([inner]) for _ in range(rng.randint(0, 1))]
        if rng.random() < 0.4:
            where.append(f"q.{rng.choice('abd')} = {self.column(items, NUMBERS)}")
        tail = f" FROM {inner.text()}" + (" WHERE " + " AND ".join(where) if where else "")
        negation = rng.choice(["", "NOT "])
        roll = rng.random()
        if roll < 0.25:
            return f"{negation}EXISTS (SELECT 1{tail})"
        if roll < 0.5:
            column = self.column(items, NUMBERS)
            return f"{column} {negation}IN (SELECT q.{rng.choice('abcd')}{tail})"
        if roll < 0.8:
            left = f"({self.column(items, NUMBERS)}, {self.column(items, NUMBERS)})"
            pair = f"q.{rng.choice('abcd')}, q.{rng.choice('abcd')}"
            return f"{left} {negation}IN (SELECT {pair}{tail})"
        value = rng.choice(["MAX(q.a)", "MIN(q.b)", "COUNT(*)", "COUNT(q.d)", "SUM(q.c)"])
        op = rng.choice(["=", "<", ">="])
        return f"{self.column(items, NUMBERS)} {op} (SELECT {value}{tail})"

    def condition(self, items, deep=2):
        rng, roll = self.rng, self.rng.random()
        if deep and roll < 0.12:
            some = [self.condition(items, deep - 1) for _ in range(2)]
            return "(" + f" {rng.choice(['OR', 'OR', 'AND', 'XOR'])} ".join(some) + ")"
        if deep and roll < 0.17:
            return f"NOT ({self.condition(items, deep - 1)})"
        if deep and roll < 0.21:
            return f"(({self.condition(items, deep - 1)}) IS {rng.choice(['', 'NOT '])}UNKNOWN)"
        return self.subquery(items) if roll < 0.3 else self.simple(items)


class Query:
    def __init__(self, rng, tables):
        count = rng.choice([1, 2, 2, 2, 3, 3, 3, 4, 5, 6, 8])
        self.items, pairs = [], 1
        for at in range(count):
            table = rng.choice(tables)
            if pairs * max(1, len(table.rows)) <= 60_000:
                pairs *= max(1, len(table.rows))
                self.items.append(Item(rng, f"x{at}", table))
        maker = Maker(rng, tables)
        self.conditions = [maker.condition(self.items) for _ in range(rng.choice([0, 1, 1, 2]))]
        for at, item in enumerate(self.items[1:], 1):
            self.conditions += self.connections(rng, item, self.items[:at])
        self.conditions = self.conditions or [maker.condition(self.items)]
        if rng.random() < 0.2:
            self.conditions.append(maker.row(self.items, "="))
        self.extra = maker.condition(self.items)
        self.left = [maker.simple(self.items) for _ in range(rng.randint(1, 2))]
        self.output = [maker.column(self.items) for _ in range(rng.randint(1, 4))]
        numbers = sorted({name for name in self.output if name[-1] in NUMBERS})
        self.sorted_by = [(name, rng.random() < 0.5) for name in numbers]
        rng.shuffle(self.sorted_by)
        self.settings = [(rng.sample(SWITCHES, rng.randint(1, 4)), rng.sample(VARIABLES, rng.randint(0, 3)))
                         for _ in range(2)]
        self.cut, self.order = (rng.randint(0, 2), rng.randint(1, 5)), self.items[:]
        rng.shuffle(self.order)

    @staticmethod
    def connections(rng, item, before):
        """Returns equalities of a table with earlier ones, or none; sometimes several columns with one."""
        other = rng.choice(before).alias
        column = lambda kind: rng.choice(kind)
        match rng.choice(["none", "one", "one", "same", "both", "text"]):
            case "one":
                return [f"{other}.{column('abcd')} = {item.alias}.{column('abcd')}"]
            case "same":
                mine, kind = column("abc"), rng.choice(["abc", "abc", "abd"])
                pair = rng.sample(kind, 2)
                return [f"{other}.{one} = {item.alias}.{mine}" for one in pair]
            case "both":
                theirs, pair = column("abc"), rng.sample("abc", 2)
                return [f"{other}.{theirs} = {item.alias}.{one}" for one in pair]
            case "text":
                return [f"{item.alias}.{column('su')} = {other}.{column('su')}"]
        return []

    @property
    def keys(self):
        """Positions in the output by which it may be sorted, and whether descending."""
        kept = [(name, down) for name, down in self.sorted_by if name in self.output]
        return [(self.output.index(name), down) for name, down in kept]

    def widen(self, rng, session):
        """Drops conditions until there are rows: without rows all forms agree."""
        while len(self.conditions) > 1 and rng.random() < 0.95:
            if session.run(self.select(columns="COUNT(*)"))[0][0]:
                return
            del self.conditions[rng.randrange(len(self.conditions))]

    def pairs(self):
        pairs = 1
        for item in self.items:
            pairs *= max(1, len(item.table.rows))
        return pairs

    def common(self, items=None):
        parts = [i.common() for i in (items or self.items) if i.kind == "common"]
        return f"WITH {', '.join(parts)} " if parts else ""

    def select(self, columns=None, form="", where=None, items=None, tail="", join=", "):
        items, where = items or self.items, self.conditions if where is None else where
        columns = columns or ", ".join(f"{c} AS o{n}" for n, c in enumerate(self.output))
        tables = join.join(i.text(form) for i in items)
        clause = " WHERE " + " AND ".join(f"({c})" for c in where) if where else ""
        return f"{self.common(items)}SELECT {columns} FROM {tables}{clause}{tail}"


class Session:
    def __init__(self, port):
        self.connection = pymysql.connect(host="127.0.0.1", port=port, user="root",
                                          charset="utf8mb4", autocommit=True)
        self.log, self.switch = [], "default"

    def run(self, statement):
        self.log.append(statement)
        with self.connection.cursor() as cursor:
            affected = cursor.execute(statement)
            rows = cursor.fetchall() if cursor.description else affected
            while cursor.nextset():
                pass
        return rows

    def rows(self, statement):
        return canonical(self.run(statement))


def canonical(rows):
    fold = lambda v: v.rstrip().lower() if isinstance(v, str) else v
    rows = [tuple(fold(v) for v in row) for row in rows]
    return sorted(rows, key=lambda row: [(v is not None, str(type(v)), v or 0) for v in row])


# Each form gives pairs of results that must be equal.

def by_form(session, query):
    base = session.rows(query.select())
    for form in ("no index", "kept", "merged"):
        yield base, session.rows(query.select(form=form))
    straight = query.select(items=query.order).replace("SELECT", "SELECT STRAIGHT_JOIN", 1) \
        if not query.common() else query.select(items=query.order, join=" STRAIGHT_JOIN ")
    yield base, session.rows(straight)


def by_clause(session, query):
    base = session.rows(query.select())
    left, tables = query.conditions[:], query.items[0].text()
    for at, item in enumerate(query.items[1:], 2):
        known, on = {i.alias for i in query.items[at:]}, []
        for condition in left[:]:
            if not any(f"{alias}." in condition for alias in known):
                left.remove(condition)
                on.append(condition)
        tables += f" JOIN {item.text()} ON " + (" AND ".join(f"({c})" for c in on) or "1")
    where = " WHERE " + " AND ".join(f"({c})" for c in left) if left else ""
    columns = ", ".join(f"{c} AS o{n}" for n, c in enumerate(query.output))
    yield base, session.rows(f"{query.common()}SELECT {columns} FROM {tables}{where}")
    # Groups of one row each: a condition in HAVING cannot be pushed down.
    every = ", ".join(f"{i.alias}.{c} AS {i.alias}_{c}" for i in query.items
                      for c in ["id", *NUMBERS, *TEXTS])
    having = " AND ".join(f"({c})" for c in query.conditions)
    for item in query.items:
        having = having.replace(f"{item.alias}.", f"h.{item.alias}_")
    columns = ", ".join(f"h.{c.replace('.', '_')} AS o{n}" for n, c in enumerate(query.output))
    if not query.common():
        inner = query.select(columns=every, where=[])
        names = ", ".join(f"h.{i.alias}_{c}" for i in query.items for c in ["id", *NUMBERS, *TEXTS])
        if "SELECT" not in having:
            rows = session.run(f"SELECT {columns}, {names} FROM ({inner}) h HAVING {having}")
            yield base, canonical(row[:len(query.output)] for row in rows)
        yield base, session.rows(f"SELECT {columns} FROM ({inner} LIMIT 10000000) h WHERE {having}")


def by_value(session, query):
    if query.pairs() > MOST_PAIRS:
        return
    base = session.rows(query.select())
    whole = " AND ".join(f"({c})" for c in query.conditions)
    columns = ", ".join(query.output)
    rows = session.run(query.select(columns=f"{columns}, ({whole})", where=[]))
    yield base, canonical(row[:-1] for row in rows if row[-1])
    each = ", ".join(f"({c})" for c in query.conditions)
    rows = session.run(query.select(columns=f"{columns}, {each}", where=[]))
    width = len(query.output)
    yield base, canonical(row[:width] for row in rows if all(row[width:]))


def by_part(session, query):
    base, p = session.rows(query.select()), query.extra
    parts = [p, f"NOT ({p})", f"({p}) IS UNKNOWN"]
    rows = [session.run(query.select(where=[*query.conditions, part])) for part in parts]
    yield base, canonical(row for some in rows for row in some)
    union = " UNION ALL ".join("(" + query.select(where=[*query.conditions, part]) + ")"
                               for part in parts)
    yield base, session.rows(union)


def by_repetition(session, query):
    text = query.select()
    base = session.rows(text)
    yield base, session.rows(text)
    yield base, session.rows(text)
    session.run("PREPARE s FROM " + literal(text.replace("'", "''")))
    yield base, session.rows("EXECUTE s")
    yield base, session.rows("EXECUTE s")
    session.run("DROP PROCEDURE IF EXISTS p")
    session.run(f"CREATE PROCEDURE p() {text}")
    yield base, session.rows("CALL p()")
    yield base, session.rows("CALL p()")
    session.run("DROP FUNCTION IF EXISTS f")
    count = query.select(columns="COUNT(*)")
    session.run(f"CREATE FUNCTION f() RETURNS INT RETURN ({count})")
    yield [(len(base),)], session.rows("SELECT f()")
    yield [(len(base),)], session.rows(count)
    yield base, session.rows(f"SELECT * FROM ({text} LIMIT 10000000) k")


def by_setting(session, query):
    base = session.rows(query.select())
    for switches, variables in query.settings:
        try:
            for text in switches:
                session.run(f"SET optimizer_switch = '{text}'")
            for text in variables:
                session.run(f"SET {text}")
            yield base, session.rows(query.select())
        finally:
            session.run(f"SET optimizer_switch = '{session.switch}'")
            for text in variables:
                session.run(f"SET {text.split()[0]} = DEFAULT")


def key_of(row, keys):
    part = lambda value: (value is not None, value or 0)
    return [tuple(v if not down else -v for v in part(row[at])) for at, down in keys]


def by_order(session, query):
    if not query.keys:
        return
    base = session.run(query.select())
    expected = sorted(key_of(row, query.keys) for row in base)
    item = lambda at, down: f"o{at}{' DESC' if down else ''}"
    order = " ORDER BY " + ", ".join(item(at, down) for at, down in query.keys)
    again = " ORDER BY " + ", ".join(item(at, not down) for at, down in query.keys)
    all_again = query.select(tail=again + " LIMIT 100000")
    skip, count = query.cut
    limit, part = f" LIMIT {skip}, {count}", expected[skip:skip + count]
    keys = lambda text: [key_of(row, query.keys) for row in session.run(text)]
    yield expected, keys(query.select(tail=order))
    yield part, keys(query.select(tail=order + limit))
    yield part, keys(query.select(tail=order + limit, form="no index"))
    yield part, keys(f"SELECT * FROM ({all_again}) k{order}{limit}")
    yield expected, keys(f"SELECT * FROM ({query.select(tail=order + ' LIMIT 100000')}) k{order}")
    first = keys(f"SELECT * FROM ({query.select(tail=again + limit)}) k{order}")
    yield sorted(first), first
    yield expected, keys(f"({all_again}){order}")
    distinct = sorted({tuple(k) for k in expected})
    names = ", ".join(query.output[at] + f" AS o{at}" for at, _ in query.keys)
    rows = session.run(query.select(columns=f"DISTINCT {names}", tail=order))
    at_place = [(n, down) for n, (_, down) in enumerate(query.keys)]
    yield distinct, [tuple(key_of(row, at_place)) for row in rows]
    groups = {}
    for row in base:
        group = groups.setdefault(tuple(key_of(row, query.keys)), [0, []])
        group[0] += 1
        group[1] += [row[query.keys[0][0]]] if row[query.keys[0][0]] is not None else []
    name = query.output[query.keys[0][0]]
    rows = session.run(query.select(
        columns=f"{names}, COUNT(*), COUNT({name}), SUM({name}), MIN({name}), MAX({name})",
        tail=f" GROUP BY {', '.join(query.output[at] for at, _ in query.keys)}{order}"))
    got = [(tuple(key_of(row, at_place)), *row[len(at_place):]) for row in rows]
    yield [(key, count, len(v), sum(v) if v else None, min(v, default=None), max(v, default=None))
           for key, (count, v) in sorted(groups.items())], got


def by_outer(session, query):
    if len(query.items) < 2 or query.common() or query.pairs() > MOST_PAIRS:
        return
    *before, last = query.items
    where = [c for c in query.conditions if f"{last.alias}." not in c]
    on = [c for c in query.conditions if c not in where] + query.left
    inside = " AND ".join(f"({c})" for c in on)
    output = [c for c in query.output if not c.startswith(last.alias + ".")]
    columns = ", ".join([*(output or ["1"]), f"{last.alias}.id", f"{last.alias}.a"])
    nulls = ", ".join([*(output or ["1"]), "NULL", "NULL"])
    left = ", ".join(i.text() for i in before)
    clause = " WHERE " + " AND ".join(f"({c})" for c in where) if where else ""
    text = f"SELECT {columns} FROM ({left}) LEFT JOIN {last.text()} ON {inside}{clause}"
    outer = session.rows(text)
    matched = session.run(f"SELECT {columns} FROM {left}, {last.text()} WHERE {inside}"
                          + (" AND " + clause[7:] if where else ""))
    missing = session.run(f"SELECT {nulls} FROM {left}{clause or ' WHERE 1'} AND NOT EXISTS "
                          f"(SELECT 1 FROM {last.text()} WHERE {inside})")
    yield outer, canonical([*matched, *missing])
    text = f"SELECT {columns} FROM {last.text()} RIGHT JOIN ({left}) ON {inside}{clause}"
    yield outer, session.rows(text)
    left, right = ", ".join(i.text("no index") for i in before), last.text("no index")
    text = f"SELECT {columns} FROM ({left}) LEFT JOIN {right} ON {inside}{clause}"
    yield outer, session.rows(text)
    left, right = ", ".join(i.text("kept") for i in before), last.text("kept")
    text = f"SELECT {columns} FROM ({left}) LEFT JOIN {right} ON {inside}{clause}"
    yield outer, session.rows(text)


def by_change(session, query):
    target = query.items[0]
    whole = " ".join(query.conditions)
    read_too = any(i.table is target.table for i in query.items[1:]) or target.table.name in whole
    if target.kind != "table" or query.common() or read_too:
        return
    expected = session.run(query.select(columns=f"COUNT(DISTINCT {target.alias}.id)"))[0][0]
    tables = ", ".join(i.text() for i in query.items)
    where = " WHERE " + " AND ".join(f"({c})" for c in query.conditions)
    one = len(query.items) == 1 and "x0." in where
    texts = [f"UPDATE {tables} SET {target.alias}.z = {target.alias}.z + 1{where}",
             f"DELETE {target.alias} FROM {tables}{where}"]
    if one:
        alone = where.replace("x0.", f"{target.table.name}.")
        texts += [f"UPDATE {target.table.name} SET z = z + 1{alone}",
                  f"DELETE FROM {target.table.name}{alone}"]
    for text in texts:
        session.run("BEGIN")
        try:
            yield expected, session.run(text)
        finally:
            session.run("ROLLBACK")


FORMS = [by_form, by_clause, by_value, by_part, by_repetition, by_setting, by_order, by_outer, by_change]


def failure(session, query, form):
    """Returns the statements and results if a form fails."""
    session.log = []
    try:
        for expected, got in form(session, query):
            if expected != got:
                return f"{expected}\n  differs from\n{got}"
    except (pymysql.err.InternalError, pymysql.err.OperationalError) as error:
        if error.args[0] in (2006, 2013, 2014) or "internal" in str(error).lower():
            return f"error: {error}"
        return None
    except pymysql.MySQLError as error:
        return f"error: {error}"
    return None


def reduced(session, query, form, tables):
    """Drops conditions, tables and rows that are not needed for the failure."""
    fails = lambda: failure(session, query, form) is not None
    for name in ("conditions", "left", "items", "output"):
        at = 0
        while at < len(getattr(query, name)) > 1:
            before, order = getattr(query, name), query.order
            setattr(query, name, before[:at] + before[at + 1:])
            query.order = [i for i in order if i in query.items]
            if not fails():
                setattr(query, name, before)
                query.order, at = order, at + 1
    for table in tables:
        for row in table.rows[:]:
            table.rows.remove(row)
            fill(session, [table])
            if not fails():
                table.rows.append(row)
                fill(session, [table])
    return failure(session, query, form)


def fill(session, tables):
    for table in tables:
        for statement in table.statements():
            session.run(statement)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--optimizer-switch")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 31)
    print(f"metamorphic: seed {seed}", flush=True)
    session = Session(options.port)
    database = f"metamorphic_{seed}"
    session.run(f"DROP DATABASE IF EXISTS {database}")
    session.run(f"CREATE DATABASE {database} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
    session.run(f"USE {database}")
    if options.optimizer_switch:
        session.switch = f"default,{options.optimizer_switch}"
        session.run(f"SET optimizer_switch = '{session.switch}'")
    end, rng, count = time.monotonic() + options.seconds, random.Random(seed), 0
    while time.monotonic() < end:
        tables = [Table(rng, f"t{n}") for n in range(4)]
        fill(session, tables)
        for _ in range(12):
            query = Query(rng, tables)
            query.widen(rng, session)
            for form in FORMS:
                count += 1
                if failure(session, query, form) is None:
                    continue
                told = reduced(session, query, form, tables)
                script = [s for t in tables for s in t.statements() if not s.startswith("DROP")]
                log = session.log[:]
                print(f"FAILED seed {seed}: {form.__name__}", *script, *log, told, sep="\n")
                raise SystemExit(1)
    session.run(f"DROP DATABASE {database}")
    print(f"metamorphic: {count} checks, none failed")


if __name__ == "__main__":
    sys.exit(main())
