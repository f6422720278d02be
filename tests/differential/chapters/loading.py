"""LOAD DATA from files with too many or too few fields, and with fields that are quoted, escaped or of another type.

A comment in the statement shows the contents of its file; `servers.Server` writes the file before it runs the statement.
"""

from chapters.pen import contents, statement

FIELDS = ["1", "2", "3", "a", "'b'", '"c"', '"d,e"', "\\N", "NULL", "", "1.5", "2024-01-02", "x\\ty", "long text of a field", "\u00e4", '"q""q"', "\\\\"]
FORMATS = ["", " FIELDS TERMINATED BY ','", " FIELDS TERMINATED BY ',' ENCLOSED BY '\"'", " FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' ESCAPED BY ''",
           " FIELDS TERMINATED BY ';' LINES TERMINATED BY '\\r\\n'", " FIELDS TERMINATED BY ',' LINES STARTING BY '>'"]


def file(pen, form):
    separator = "," if "','" in form else ";" if "';'" in form else "\t"
    end = "\r\n" if "\\r" in form else "\n"
    start = ">" if "STARTING" in form else ""
    lines = [start + separator.join([str(pen.random.randint(1, 8))] + [pen.random.choice(FIELDS) for _ in range(pen.random.randint(1, 4))]) for _ in range(pen.random.randint(1, 5))]
    return end.join(lines) + (end if pen.chance(0.8) else "")


def loads(pen):
    unique = pen.one("", ", UNIQUE (a)")
    found = [statement(f"CREATE OR REPLACE TABLE loads (id INT PRIMARY KEY, a VARCHAR(10), n INT NOT NULL, d DATE, f DECIMAL(5,1) DEFAULT 2.5{unique})")]
    for _ in range(3):
        form = pen.random.choice(FORMATS)
        how = pen.one("", " IGNORE", " REPLACE", " IGNORE")
        columns = pen.one("", " (id, a, n)", " (id, n, a, d)", " (id, @x, n) SET a = UPPER(@x), f = n + 1", " (id, a, @n) SET n = IFNULL(@n, 0) * 2, d = '2024-01-01' + INTERVAL id DAY")
        skip = pen.one("", "", " IGNORE 1 LINES")
        found += [statement(f"LOAD DATA LOCAL INFILE /*{file(pen, form).encode('unicode_escape').decode()}*/ 'loads'{how} INTO TABLE loads CHARACTER SET utf8mb4{form}{skip}{columns}"), contents("loads")]
    return found


CHAPTERS = [loads]
