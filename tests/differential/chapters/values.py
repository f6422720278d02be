"""Values at their limits: JSON documents that are changed and read, dates at the ends of months and years, FLOAT beside
whole numbers."""

from chapters.pen import contents, items, statement
from tree import leaf, listed

DOCUMENTS = ["'{\"a\": 1, \"b\": [1, 2.50, \"x\"], \"c\": {\"d\": null}}'", "'[1, \"two\", [3], {\"k\": true}]'", "'{}'", "'[]'", "'1.0'", "'\"text\"'", "'null'", "NULL", "'bad'",
             "'{\"a\": \"2024-01-02\", \"a\": 2}'", "'{\"a b\": 1e2}'"]
PATHS = ["$", "$.a", "$.b", "$.b[0]", "$.b[last]", "$[1]", "$[*]", "$.c.d", "$**.d", "$.*", "$.zz", "$[0 to 1]", "$.\"a b\"", "bad"]
JSON = ["JSON_EXTRACT(j, '{p}')", "JSON_VALUE(j, '{p}')", "JSON_QUERY(j, '{p}')", "JSON_UNQUOTE(JSON_EXTRACT(j, '{p}'))", "JSON_SET(j, '{p}', {v})", "JSON_INSERT(j, '{p}', {v})",
        "JSON_REPLACE(j, '{p}', {v})", "JSON_REMOVE(j, '{p}')", "JSON_ARRAY_APPEND(j, '{p}', {v})", "JSON_ARRAY_INSERT(j, '{p}', {v})", "JSON_CONTAINS(j, '1', '{p}')",
        "JSON_CONTAINS_PATH(j, 'one', '{p}')", "JSON_LENGTH(j, '{p}')", "JSON_KEYS(j, '{p}')", "JSON_EXISTS(j, '{p}')", "JSON_TYPE(JSON_EXTRACT(j, '{p}'))", "JSON_DEPTH(j)",
        "JSON_SEARCH(j, 'all', '%')", "JSON_MERGE_PATCH(j, k)", "JSON_MERGE_PRESERVE(j, k)", "JSON_COMPACT(j)", "JSON_LOOSE(j)", "JSON_OBJECT('o', j, 'v', {v})", "JSON_ARRAY(j, {v})",
        "JSON_EXTRACT(j, '{p}') + 1", "JSON_EXTRACT(j, '{p}') = {v}", "JSON_OVERLAPS(j, k)", "JSON_EQUALS(j, k)", "JSON_NORMALIZE(j)", "JSON_VALID(j)", "JSON_DETAILED(j)"]
VALUES = ["1", "1.50", "'x'", "NULL", "TRUE", "1e2", "JSON_ARRAY(1)", "'[1]'", "JSON_COMPACT('[1]')", "DATE'2024-01-02'"]
DAYS = ["2024-01-31", "2024-02-29", "2023-02-28", "2024-12-31", "2024-01-01", "1999-12-31", "9999-12-31", "1000-01-01", "0000-00-00", "2024-00-10", "2024-02-30", "1970-01-01", "2038-01-19"]
TIMES = ["00:00:00", "23:59:59", "23:59:59.999999", "12:30:00.5", "24:00:00"]
UNITS = ["SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "MICROSECOND"]
DATED = ["{d} + INTERVAL {i} {u}", "{d} - INTERVAL {i} {u}", "DATE_ADD({d}, INTERVAL '{i}:{i}' HOUR_MINUTE)", "LAST_DAY({d})", "DATEDIFF({d}, {d})", "TIMESTAMPDIFF({u}, {d}, {d})", "WEEK({d}, {w})",
         "YEARWEEK({d}, {w})", "DAYOFYEAR({d})", "DAYNAME({d})", "MONTH({d})", "QUARTER({d})", "TO_DAYS({d})", "TO_SECONDS({d})", "UNIX_TIMESTAMP({d})", "DATE_FORMAT({d}, '%Y-%m-%d %W %U %j %T')",
         "CAST({d} AS DATE)", "CAST({d} AS DATETIME(3))", "CAST({d} AS TIME(1))", "{d} = {d}", "{d} < {d}", "GREATEST({d}, {d})", "{d} + 0", "TIMEDIFF({d}, {d})", "ADDTIME({d}, '{t}')",
         "STR_TO_DATE('{y}', '%Y-%m-%d')", "MAKEDATE(2024, {i})", "EXTRACT(YEAR_MONTH FROM {d})", "DATE({d})", "TIME({d})", "TIMESTAMP({d}, '{t}')", "FROM_UNIXTIME({i})", "CONVERT_TZ({d}, '+00:00', '-05:30')"]
FLOATS = ["f + i", "f * d", "f / i", "f - n", "f = n", "f < d", "f = i", "IFNULL(f, i)", "COALESCE(i, f)", "IF(id > 2, f, i)", "CASE WHEN id > 2 THEN f ELSE n END", "GREATEST(f, i)", "LEAST(f, n)", "ROUND(f, 1)",
          "CONCAT(f, '')", "f IN (0.1, 1.1, 3)", "CAST(f AS DECIMAL(10,3))", "CAST(f AS CHAR)", "-f", "f MOD 2", "f DIV 1", "NULLIF(f, i)", "f BETWEEN 0.1 AND i", "ABS(f)", "f + '1'", "FLOOR(f)", "f <=> d"]


def documents(pen):
    rows = listed([leaf(f"({at}, {pen.random.choice(DOCUMENTS)}, {pen.random.choice(DOCUMENTS)})") for at in range(1, 6)])
    found = [statement(f"CREATE OR REPLACE TABLE docs (id INT PRIMARY KEY, j {pen.one('JSON', 'TEXT', 'LONGTEXT')}, k VARCHAR(200))"), statement("INSERT IGNORE INTO docs VALUES ", rows)]
    formed = lambda: leaf(pen.random.choice(JSON).replace("{p}", pen.random.choice(PATHS)).replace("{v}", pen.random.choice(VALUES)))
    for _ in range(4):
        found.append(statement("SELECT ", listed([leaf("id"), formed(), formed()]), " FROM docs ORDER BY id"))
    found += [statement("UPDATE docs SET k = ", formed(), f" WHERE id < {pen.random.randint(1, 6)}"), contents("docs")]
    return found + [statement("SELECT JSON_ARRAYAGG(j ORDER BY id), JSON_OBJECTAGG(id, k) FROM docs"),
                    statement(f"SELECT id, t.* FROM docs, JSON_TABLE(k, '{pen.one('$', '$[*]', '$.b[*]')}' COLUMNS (o FOR ORDINALITY, v VARCHAR(20) PATH '{pen.one('$', '$.a')}', n INT PATH '$.b' DEFAULT '7' ON EMPTY)) t ORDER BY id, o")]


def moment(pen):
    day = pen.random.choice(DAYS)
    return pen.one(f"'{day}'", f"DATE'{day}'", "d", "m", "s", f"'{day} {pen.random.choice(TIMES)}'", f"TIMESTAMP'{day} {pen.random.choice(TIMES)}'")


def dated(pen):
    text = pen.random.choice(DATED)
    while "{d}" in text:
        text = text.replace("{d}", moment(pen), 1)
    for hole, choices in (("{i}", ["1", "-1", "30", "12", "0", "100000", "1.5"]), ("{u}", UNITS), ("{w}", list("01234567")), ("{t}", TIMES), ("{y}", DAYS)):
        text = text.replace(hole, pen.random.choice(choices))
    return leaf(text)


def days(pen):
    rows = listed([leaf(f"({at}, '{pen.random.choice(DAYS)}', '{pen.random.choice(DAYS)} {pen.random.choice(TIMES)}', '{pen.random.choice(DAYS)} {pen.random.choice(TIMES)}')") for at in range(1, 5)])
    found = [statement(f"CREATE OR REPLACE TABLE days (id INT PRIMARY KEY, d DATE, m DATETIME({pen.one('0', '3', '6')}), s TIMESTAMP({pen.one('0', '2')}) NULL{pen.one('', ', KEY (d)', ', KEY (m), KEY (s)')})"),
             statement("INSERT IGNORE INTO days VALUES ", rows), contents("days")]
    for _ in range(4):
        found.append(statement("SELECT ", listed([leaf("id"), dated(pen), dated(pen)]), " FROM days ORDER BY id"))
    found.append(statement("SELECT id FROM days WHERE ", dated(pen), pen.one(" = ", " < ", " >= "), dated(pen), " ORDER BY id"))
    return found + [statement("UPDATE IGNORE days SET m = ", dated(pen), ", d = ", dated(pen), " ORDER BY id"), contents("days")]


def floats(pen):
    rows = listed([leaf(f"({at}, {pen.one('0.1', '1.1', '3', '16777217', '1e10', '-0.5', 'NULL')}, {pen.one('1', '3', '16777217', 'NULL')}, {pen.one('0.1', '1.1', '1e10')}, {pen.one('0.1', '1.1', '3')})")
                   for at in range(1, 6)])
    found = [statement(f"CREATE OR REPLACE TABLE floats (id INT PRIMARY KEY, f FLOAT{pen.one('', '(8,2)')}, i INT, d DOUBLE, n DECIMAL(10,2){pen.one('', ', KEY (f)', ', KEY (i)')})"), statement("INSERT INTO floats VALUES ", rows)]
    some = lambda: leaf(pen.random.choice(FLOATS))
    for _ in range(3):
        found.append(statement("SELECT ", listed([leaf("id"), some(), some(), some()]), " FROM floats ORDER BY id"))
    return found + [statement("SELECT a.id, b.id FROM floats a JOIN floats b ON a.f = b.", pen.one("i", "d", "n", "f"), " ORDER BY 1, 2"), statement("SELECT ", some(), " AS x, COUNT(*) FROM floats GROUP BY x ORDER BY x"),
                    statement("CREATE OR REPLACE TABLE floats2 AS SELECT ", items([some(), some(), some()], ["x", "y", "z"]), " FROM floats"), statement("SHOW CREATE TABLE floats2"), statement("SELECT * FROM floats2")]


CHAPTERS = [documents, days, floats]
