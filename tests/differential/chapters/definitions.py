"""Definitions that change while there are rows: members of ENUM and SET, columns of other types, tables made from queries,
views."""

from chapters.pen import contents, definition, items, statement
from tree import Node, leaf, listed, optional

MEMBERS = ["'a'", "'b'", "'c'", "'B'", "'d'", "'1'", "'2'", "''", "'x y'"]
TARGETS = ["INT", "BIGINT UNSIGNED", "TINYINT", "DECIMAL(6,1)", "DOUBLE", "FLOAT", "VARCHAR(20)", "VARCHAR(2)", "CHAR(3)", "TEXT", "VARBINARY(5)",
           "DATE", "DATETIME", "TIME", "YEAR", "BIT(8)", "VARCHAR(10) COLLATE utf8mb4_bin", "VARCHAR(10) CHARACTER SET latin1"]
DEFAULTS = ["", " NOT NULL", " DEFAULT 1", " NOT NULL DEFAULT '2'", " DEFAULT NULL", " NOT NULL DEFAULT 0", " DEFAULT (1 + 1)"]


def members(pen, least=1):
    """Returns different members, in any order; members that are equal in the collation are an error on both servers."""
    chosen = pen.random.sample(MEMBERS, pen.random.randint(least, 5))
    return f"({', '.join(chosen)})"


def altered_members(pen):
    kind = pen.one("ENUM", "SET")
    extra = pen.one("", " COLLATE utf8mb4_bin", " CHARACTER SET latin1", " NOT NULL")
    key = pen.one("", ", KEY (e)", ", UNIQUE (e, id)")
    rows = listed([leaf(f"({at}, {pen.random.choice(MEMBERS + ['1', '2', '3', 'NULL'])})") for at in range(1, 7)])
    found = [statement(f"CREATE OR REPLACE TABLE m (id INT PRIMARY KEY, e {kind}('a', 'b', 'c', '1'){extra}{key})"),
             statement("INSERT IGNORE INTO m VALUES ", rows)]
    for _ in range(pen.random.randint(1, 3)):
        type_ = pen.one(kind + members(pen), kind + members(pen, 4), "SET" + members(pen, 3), "ENUM" + members(pen, 3), pen.random.choice(TARGETS))
        position = pen.one("", "", " FIRST")
        found += [statement(f"ALTER{pen.one('', ' IGNORE')} TABLE m MODIFY e {type_}{pen.one('', '', ' NOT NULL')}{position}"),
                  statement("SELECT id, e, e + 0, HEX(e) FROM m ORDER BY id"), definition("m"),
                  statement(f"SELECT e, COUNT(*) FROM m WHERE e {pen.one('=', '<>', '>')} {pen.random.choice(MEMBERS + ['1', '2'])} GROUP BY e ORDER BY e")]
    return found


def altered_columns(pen):
    table = pen.table()
    found = []
    for _ in range(pen.random.randint(1, 3)):
        column = pen.random.choice(table.columns).name
        type_, default = pen.random.choice(TARGETS), pen.random.choice(DEFAULTS)
        change = pen.one(f"MODIFY {column} {type_}{default}", f"MODIFY {column} {type_}{default}", f"ADD n1 {type_}{default}{pen.one('', ' FIRST', ' AFTER id')}",
                         f"CHANGE {column} n2 {type_}", f"RENAME COLUMN {column} TO n3", f"DROP {column}", f"ALTER {column} SET DEFAULT {pen.one('1', 'NULL')}",
                         f"ADD UNIQUE ({column})", f"ADD KEY ({column}, id)", "DROP PRIMARY KEY, ADD PRIMARY KEY (id)", f"ADD CHECK ({column} <> 2)",
                         f"ADD g1 {type_} AS ({column})", "CONVERT TO CHARACTER SET latin1")
        more = optional(f", ADD z1 {pen.random.choice(TARGETS)}{pen.random.choice(DEFAULTS)}") if pen.chance(0.2) else ""
        found += [statement(f"ALTER{pen.one('', '', ' IGNORE')} TABLE {table.name} {change}", more), contents(table.name), definition(table.name)]
    found.append(statement(f"INSERT INTO {table.name} (id) VALUES (77)"))
    return found + [contents(table.name)]


def tables_of_queries(pen):
    found = []
    for at in range(2):
        source = pen.relations.joined(pen.random.randint(1, 2), 0)
        chosen = [pen.mixed(source.columns) for _ in range(pen.random.randint(1, 4))]
        names = [f"x{i + 1}" for i in range(len(chosen))]
        temporary = pen.one("", "", "TEMPORARY ")
        given = pen.one("", "", "", f" (x1 {pen.random.choice(TARGETS)})", " (n INT DEFAULT 3)")
        query = Node("query", ["SELECT ", items(chosen, names), " FROM ", source.node, pen.where(source.columns, 0)])
        if pen.chance(0.2):
            other = listed([pen.mixed(source.columns) for _ in chosen], sort="fixed")
            query = Node("query", [query, optional(pen.one(" UNION ", " UNION ALL "), "SELECT ", other, " FROM ", source.node)])
        name = f"q{at}"
        found += [statement(f"CREATE OR REPLACE {temporary}TABLE {name}{given} AS ", query), definition(name), statement(f"SELECT * FROM {name}")]
        if pen.chance(0.3):
            found += [statement(f"CREATE OR REPLACE TABLE {name}b LIKE {name}"), definition(f"{name}b"),
                      statement(f"INSERT INTO {name}b SELECT * FROM {name}"), statement(f"SELECT * FROM {name}b")]
    return found


def changed_views(pen):
    table = pen.table()
    columns = pen.columns(table, "b.")
    names = ["id"] + [c.name for c in table.columns]
    other = pen.table()
    exists = Node("expr", [f"EXISTS (SELECT 1 FROM {other.name} o WHERE ", pen.condition(pen.columns(other, "o.") + columns), ")"])
    where = pen.one(Node("optional", [" WHERE ", exists], optional=True), pen.where(columns, 1, True), "")
    order = pen.one("", " ORDER BY b.id DESC", f" ORDER BY b.{table.columns[0].name}, b.id")
    bound = pen.one("", "", " LIMIT 3") if order else ""
    check = pen.one("", " WITH CHECK OPTION", " WITH LOCAL CHECK OPTION") if where and not order else ""
    form = pen.one("", "", "ALGORITHM=MERGE ", "ALGORITHM=TEMPTABLE ")
    found = [statement(f"CREATE OR REPLACE {form}VIEW vc AS SELECT {', '.join('b.' + n for n in names)} FROM {table.name} b", where, order, bound, check),
             statement("SELECT * FROM vc", pen.where(pen.columns(table), 0), pen.one("", f" ORDER BY {table.columns[-1].name}, id", " ORDER BY id LIMIT 2"))]
    for _ in range(3):
        own = pen.columns(table)
        column = pen.random.choice(table.columns)
        sorting = pen.one("", " ORDER BY id", " ORDER BY id DESC LIMIT 2")
        found.append(pen.one(
            statement(f"UPDATE vc SET {column.name} = ", pen.simple(column.kind, own), pen.where(own), sorting),
            statement("DELETE FROM vc", pen.where(own, 1, True), sorting),
            statement(f"INSERT INTO vc (id, {column.name}) VALUES ({pen.random.randint(1, 12)}, ", pen.value(column), ")"),
            statement(f"UPDATE vc v JOIN {other.name} o ON v.id = o.id SET v.{column.name} = ", pen.simple(column.kind, pen.columns(other, "o.")))))
        found.append(contents(table.name))
    return found


CHAPTERS = [altered_members, altered_columns, tables_of_queries, changed_views]
