"""Random related tables: columns with few values, so that joins, groups and set operations find matches;
keys of every form, views. A few values are at the limits of their types."""

from schema import Column, Table, values_of

# Chosen by weight; values of the last line are rare.
COMMON = [
    ("n", "INT"), ("n", "INT"), ("n", "INT"), ("n", "BIGINT"), ("n", "TINYINT UNSIGNED"), ("n", "DECIMAL(8,2)"),
    ("n", "DOUBLE"), ("s", "VARCHAR(10)"), ("s", "VARCHAR(10)"), ("s", "VARCHAR(10) COLLATE utf8mb4_bin"),
    ("s", "CHAR(5)"), ("s", "VARCHAR(10) COLLATE utf8mb4_unicode_ci"), ("d", "DATE"), ("d", "DATETIME"),
]
RARE = [
    ("n", "BIGINT UNSIGNED"), ("n", "FLOAT"), ("n", "DECIMAL(30,10)"), ("n", "YEAR"), ("s", "VARBINARY(10)"),
    ("s", "ENUM('a','b','c')"), ("s", "TEXT"), ("s", "VARCHAR(10) CHARACTER SET latin1"), ("d", "DATETIME(3)"),
    ("d", "TIMESTAMP NULL"), ("d", "TIME"), ("n", "BIT(4)"), ("s", "SET('a','b','c')"),
    ("n", "DECIMAL(65,30)"), ("n", "BIT(64)"), ("d", "DATETIME(6)"), ("d", "TIME(6)"), ("s", "INET6"), ("s", "UUID"),
    ("s", "BINARY(3)"), ("s", "BLOB"), ("s", "VARCHAR(10) COLLATE utf8mb4_nopad_bin"), ("n", "TINYINT"), ("n", "INT(5) ZEROFILL"),
]
FEW = {
    "n": ["0", "1", "2", "3", "1", "2", "4"],
    "s": ["'a'", "'A'", "'b'", "'ab'", "'aB'", "''", "'a '", "'\u00e4'", "'1'", "'2'", "'c'"],
    "d": ["'2024-01-01'", "'2024-01-02'", "'2024-01-03'", "'2024-01-02 12:00:00'", "'2024-02-29'"],
}
TIMES = ["'00:00:00'", "'10:11:12'", "'-01:02:03'", "'23:59:59'"]


def some_value(random, column):
    if random.random() < 0.1:
        return random.choice(values_of(column.type))
    if column.type.startswith(("ENUM", "SET", "TIME(", "YEAR", "INET6", "UUID")) or column.type == "TIME":
        return random.choice(values_of(column.type))
    if column.type.startswith(("DECIMAL", "DOUBLE", "FLOAT")) and random.random() < 0.3:
        return random.choice(["0.5", "1.5", "2.25", "-1.5"])
    return random.choice(FEW[column.kind])


class View:
    """A view. It follows the tables it reads in the list of tables, and has no rows and no keys of its own."""

    stored, keys, rows = False, [], []

    def __init__(self, name, columns, query, form):
        self.name, self.columns, self.query, self.form = name, columns, query, form

    def create(self):
        return f"CREATE OR REPLACE {self.form}VIEW {self.name} AS {self.query}"

    def statements(self):
        return [self.create()]

    def changes(self):
        return []


def related_table(random, name, size):
    columns = [Column(f"c{at}", *random.choice(RARE if random.random() < 0.15 else COMMON), null=random.random() < 0.75)
               for at in range(random.randint(2, 5))]
    rows = [(at + 1, {c.name: "NULL" if c.null and random.random() < 0.2 else some_value(random, c) for c in columns})
            for at in range(size)]
    return Table(name, columns, related_keys(random, columns), rows)


def related_keys(random, columns):
    """Returns (columns, definition) of keys: plain, unique, of several columns, of prefixes, descending."""
    keys = []
    for number in range(random.choice([0, 1, 1, 2, 3])):
        chosen = random.sample(columns, min(len(columns), random.choice([1, 1, 2, 2, 3])))
        parts = []
        for column in chosen:
            text = column.kind == "s" and not column.type.startswith(("ENUM", "SET", "INET6", "UUID"))
            prefix = "(2)" if text and (column.type in ("TEXT", "BLOB") or random.random() < 0.2) else ""
            parts.append(column.name + prefix + (" DESC" if random.random() < 0.1 else ""))
        unique = "UNIQUE " if random.random() < 0.2 else ""
        keys.append(([c.name for c in chosen], f"{unique}KEY k{number} ({', '.join(parts)})"))
    return keys


def related_schema(random):
    count = random.choice([1, 2, 2, 3, 3, 4])
    large = random.random() < 0.08
    sizes = [random.choice([0, 1, 2, 3, 4, 5, 6, 8]) for _ in range(count)]
    if large:
        sizes[0], sizes[1:] = random.choice([1023, 1024, 1025, 1500]), [min(s, 3) for s in sizes[1:]]
    return [related_table(random, f"t{at + 1}", size) for at, size in enumerate(sizes)]
