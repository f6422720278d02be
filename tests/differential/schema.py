"""Random tables: columns of every type, rows with values at and beyond their limits."""

TYPES = [
    ("n", "TINYINT"), ("n", "TINYINT UNSIGNED"), ("n", "SMALLINT"), ("n", "MEDIUMINT UNSIGNED"), ("n", "INT"),
    ("n", "INT UNSIGNED"), ("n", "BIGINT"), ("n", "BIGINT UNSIGNED"), ("n", "INT(5) ZEROFILL"), ("n", "BOOLEAN"),
    ("n", "DECIMAL(10,2)"), ("n", "DECIMAL(5,0)"), ("n", "DECIMAL(30,10)"), ("n", "DECIMAL(8,3) UNSIGNED"),
    ("n", "FLOAT"), ("n", "DOUBLE"), ("n", "DOUBLE(10,2)"), ("n", "BIT(1)"), ("n", "BIT(10)"), ("n", "YEAR"),
    ("s", "CHAR(5)"), ("s", "VARCHAR(20)"), ("s", "VARCHAR(20)"), ("s", "VARCHAR(10) COLLATE utf8mb4_bin"),
    ("s", "VARCHAR(10) CHARACTER SET latin1"), ("s", "CHAR(3) CHARACTER SET ascii"), ("s", "BINARY(4)"),
    ("s", "VARBINARY(10)"), ("s", "TEXT"), ("s", "TINYTEXT"), ("s", "BLOB"), ("s", "MEDIUMTEXT"),
    ("s", "ENUM('a','b','c')"), ("s", "SET('a','b','c')"), ("j", "JSON"),
    ("d", "DATE"), ("d", "TIME"), ("d", "TIME(3)"), ("d", "DATETIME"), ("d", "DATETIME(6)"),
    ("d", "TIMESTAMP NULL"), ("d", "TIMESTAMP(2) NULL"), ("d", "TIME(6)"),
    ("n", "DECIMAL(65,30)"), ("n", "DECIMAL(65,0)"), ("n", "BIT(64)"),
]
INTEGERS = ["0", "1", "1", "2", "3", "-1", "5", "10", "100", "127", "-128", "255", "32767", "2147483647",
            "4294967295", "9223372036854775807", "-9223372036854775808", "18446744073709551615"]
FRACTIONS = ["0", "1", "-1", "0.5", "1.25", "-2.75", "3.14159", "99.995", "12345.67", "-0.001", "1e10", "1e-5"]
WORDS = ["''", "'a'", "'b'", "'c'", "'ab'", "'abc'", "'1'", "'12'", "'-3'", "'1.5'", "'x y'", "'%'", "'a,b'", "'zz'",
         "'2024-01-15'", "'10:11:12'", "'0'"]
BYTES = ["''", "'a'", "'b'", "'abc'", "x'00'", "x'ff01'", "'1'"]
DATES = ["'2024-01-15'", "'2024-02-29'", "'1999-12-31'", "'2000-01-01'", "'1970-01-02'", "'2037-06-30'"]
TIMES = ["'00:00:00'", "'10:11:12'", "'23:59:59'", "'-01:02:03'", "'100:00:00'", "'10:11:12.345'", "'838:59:59'"]
MOMENTS = ["'2024-01-15 10:11:12'", "'2024-02-29 23:59:59'", "'1999-12-31 00:00:00'", "'2001-01-01 01:02:03.456789'",
           "'1970-01-02 00:00:01'", "'2037-06-30 12:00:00.5'"]
ADDRESSES = {"INET6": ["'::1'", "'::'", "'fe80::1'", "'::ffff:1.2.3.4'", "'ffff::'"],
             "UUID": [f"'{first}e4567-e89b-12d3-a456-42661417400{last}'" for first in ("123", "023") for last in "01"]}
JSONS = ["'{\"a\": 1, \"b\": \"x\"}'", "'[1, 2, 3]'", "'{}'", "'5'", "'null'", "'{\"a\": {\"b\": [1, null]}}'"]


def values_of(type_):
    name = type_.split("(")[0].split(" ")[0]
    if name in ("DATE", "TIME"):
        return DATES if name == "DATE" else TIMES
    if name in ("DATETIME", "TIMESTAMP"):
        return MOMENTS
    if name in ("DECIMAL", "FLOAT", "DOUBLE"):
        return FRACTIONS
    if name == "ENUM":
        return ["'a'", "'b'", "'c'"]
    if name == "SET":
        return ["''", "'a'", "'a,b'", "'b,c'", "'a,b,c'"]
    if name in ADDRESSES:
        return ADDRESSES[name]
    return {"YEAR": ["2024", "1999", "0", "2155"], "JSON": JSONS, "BINARY": BYTES, "VARBINARY": BYTES, "BLOB": BYTES,
            "BIT": ["0", "1", "b'1'", "5", "1023"]}.get(name) or (
                INTEGERS if "INT" in name or name == "BOOLEAN" else WORDS)


class Column:
    def __init__(self, name, kind, type_, null=True):
        self.name, self.kind, self.type, self.null = name, kind, type_, null

    def definition(self):
        return f"{self.name} {self.type}" + ("" if self.null else " NOT NULL")


class Table:
    """`id` is always its primary key, so that rows have an order."""

    stored = True

    def __init__(self, name, columns, keys, rows):
        self.name, self.columns, self.keys, self.rows = name, columns, keys, rows

    def create(self):
        parts = ["id INT PRIMARY KEY"] + [c.definition() for c in self.columns]
        names = {c.name for c in self.columns}
        parts += [key for names_of, key in self.keys if names.issuperset(names_of)]
        return f"CREATE OR REPLACE TABLE {self.name} ({', '.join(parts)})"

    def insert(self):
        """Returns one INSERT IGNORE, because values may be out of range for their columns."""
        if not self.rows:
            return None
        names = ", ".join(["id"] + [c.name for c in self.columns])
        rows = ", ".join("(" + ", ".join([str(at)] + [row[c.name] for c in self.columns]) + ")"
                         for at, row in self.rows)
        return f"INSERT IGNORE INTO {self.name} ({names}) VALUES {rows}"

    def statements(self):
        return [self.create()] + ([self.insert()] if self.rows else [])

    def without_column(self, column):
        return Table(self.name, [c for c in self.columns if c is not column], self.keys, self.rows)

    def without_rows(self, first, count):
        return Table(self.name, self.columns, self.keys, self.rows[:first] + self.rows[first + count:])

    def without_key(self, key):
        return Table(self.name, self.columns, [k for k in self.keys if k is not key], self.rows)

    def changes(self):
        """Returns every way to make the table smaller: a function of the table at that time."""
        for key in self.keys:
            yield lambda t, key=key: t.without_key(key)
        for column in self.columns:
            yield lambda t, column=column: t.without_column(column) if len(t.columns) > 1 else t
        size = len(self.rows) // 2
        while size > 0:
            for first in reversed(range(0, len(self.rows), size)):
                yield lambda t, first=first, size=size: t.without_rows(first, size) if first < len(t.rows) else t
            size //= 2


def random_table(random, name):
    columns = [Column(f"c{at}", *random.choice(TYPES), null=random.random() < 0.85)
               for at in range(random.randint(2, 6))]
    rows = [(at + 1, {c.name: "NULL" if c.null and random.random() < 0.15 else random.choice(values_of(c.type))
                      for c in columns}) for at in range(random.choice([0, 1, 3, 5, 8, 8]))]
    return Table(name, columns, random_keys(random, columns), rows)


def random_keys(random, columns):
    keys = []
    for number in range(random.choice([0, 0, 1, 2])):
        chosen = random.sample(columns, random.choice([1, 1, 2]))
        if not any(part in c.type for c in chosen for part in ("TEXT", "BLOB", "JSON")):
            names = [c.name for c in chosen]
            keys.append((names, f"KEY k{number} ({', '.join(names)})"))
    return keys


def random_schema(random):
    return [random_table(random, f"t{at}") for at in range(1, random.randint(2, 4))]
