"""Statements with parameters, and the tables that they use."""

COLUMNS = {
    "ti": "TINYINT", "tu": "TINYINT UNSIGNED", "si": "SMALLINT", "mi": "MEDIUMINT", "i": "INT", "iu": "INT UNSIGNED",
    "bi": "BIGINT", "bu": "BIGINT UNSIGNED", "f": "FLOAT", "d": "DOUBLE", "n0": "DECIMAL(10,0)", "n2": "DECIMAL(12,2)",
    "n3": "DECIMAL(40,30)", "da": "DATE", "tm": "TIME", "t6": "TIME(6)", "dt": "DATETIME", "d6": "DATETIME(6)",
    "ts": "TIMESTAMP NULL", "s3": "TIMESTAMP(3) NULL", "y": "YEAR", "bt": "BIT(10)", "c": "CHAR(12)", "v": "VARCHAR(40)",
    "vb": "VARCHAR(40) COLLATE utf8mb4_bin", "vl": "VARCHAR(40) CHARACTER SET latin1", "b": "BINARY(6)", "w": "VARBINARY(40)",
    "x": "TEXT", "z": "BLOB", "e": "ENUM('red','green','blue','1')", "s": "SET('red','green','blue')", "j": "JSON",
}
ROWS = {
    "ti": "NULL,-128,0,1,127,12", "tu": "NULL,0,1,255,12,7", "si": "NULL,-32768,32767,2024,1,0",
    "mi": "NULL,-1,8388607,101112,1,12", "i": "NULL,-2147483648,2147483647,20240229,1,0", "iu": "NULL,4294967295,0,1,12,70",
    "bi": "NULL,-9223372036854775808,9223372036854775807,20240229123456,1,0", "bu": "NULL,18446744073709551615,0,1,12,9223372036854775808",
    "f": "NULL,0.1,-1.5,1e10,1,16777216", "d": "NULL,0.1,-2.5,1e300,1,20240229", "n0": "NULL,-1,9999999999,20240229,1,0",
    "n2": "NULL,-0.5,1.5,9999999999.99,1,0", "n3": "NULL,0.333333333333333333333333333333,-1,1.5,1,0",
    "da": "NULL,'2024-02-29','0000-00-00','1999-12-31','2000-01-01','9999-12-31'",
    "tm": "NULL,'12:34:56','-838:59:59','00:00:00','10:11:12','00:00:01'",
    "t6": "NULL,'12:34:56.789','-00:00:00.5','838:59:59','10:11:12','00:00:01'",
    "dt": "NULL,'2024-02-29 12:34:56','0000-00-00','1999-12-31 23:59:59','2000-01-01','2024-02-29'",
    "d6": "NULL,'2024-02-29 12:34:56.789','0000-00-00','1999-12-31 23:59:59.999999','2000-01-01','2024-02-29'",
    "ts": "NULL,'2024-02-29 12:34:56','1999-12-31 23:59:59','2000-01-01','2024-02-29','2038-01-19 03:14:07'",
    "s3": "NULL,'2024-02-29 12:34:56.789','1999-12-31 23:59:59.999','2000-01-01','2024-02-29','2038-01-19 03:14:07'",
    "y": "NULL,2024,1970,0,1901,2155", "bt": "NULL,0,1,1023,97,12", "c": "NULL,'abc','ABC','','12','12abc'",
    "v": "NULL,'abc','ABC ','','12','2024-02-29'", "vb": "NULL,'abc','ABC','é','12','red'", "vl": "NULL,'abc','ABC','é','12','1.5'",
    "b": "NULL,'abc','ABC','','12','a\\0b'", "w": "NULL,'abc','ABC ',x'ff00','12','1.5'", "x": "NULL,'abc','ABC ','','12',' 12 '",
    "z": "NULL,'abc','ABC ',x'ff','12','1e3'", "e": "NULL,'red','green','blue','1','red'", "s": "NULL,'red','green,blue','','blue','red'",
    "j": "NULL,'{\"a\": 1}','[1, 2]','1','\"x\"','null'",
}
SEARCHES = [
    "SELECT id FROM {t} WHERE {c} {op} ? ORDER BY id", "SELECT id FROM {t} WHERE ? {op} {c} ORDER BY id",
    "SELECT id FROM {t} WHERE {c} {op} ? ORDER BY id", "SELECT id, {c} FROM {t} WHERE {c} {op} ? ORDER BY id DESC",
    "SELECT id FROM {t} WHERE {c} BETWEEN ? AND ? ORDER BY id", "SELECT id FROM {t} WHERE ? BETWEEN {c} AND ? ORDER BY id",
    "SELECT id FROM {t} WHERE {c} IN (?,?) ORDER BY id", "SELECT id FROM {t} WHERE {c} NOT IN (?,?,?) ORDER BY id",
    "SELECT id FROM {t} WHERE {c} IN (?,1,'abc') ORDER BY id", "SELECT id FROM {t} WHERE {c} LIKE ? ORDER BY id",
    "SELECT id FROM {t} WHERE {c} NOT LIKE ? ESCAPE '!' ORDER BY id", "SELECT id FROM {t} WHERE ? LIKE {c} ORDER BY id",
    "SELECT id FROM {t} WHERE ({c}, id) = (?, ?) ORDER BY id", "SELECT id FROM {t} WHERE {c} = ? OR {d} > ? ORDER BY id",
    "SELECT id FROM {t} WHERE {c} > ? AND {c} <= ? ORDER BY id", "SELECT id FROM {t} WHERE ? ORDER BY id",
    "SELECT id FROM {t} WHERE NOT ({c} {op} ?) ORDER BY id", "SELECT id FROM {t} WHERE {c} IN (SELECT ? FROM {t}) ORDER BY id",
    "SELECT a.id, b.id FROM {t} a JOIN {t} b ON a.{c} = b.{c} AND b.{c} {op} ? ORDER BY 1, 2",
    "SELECT a.id, b.id FROM {t} a LEFT JOIN {t} b ON a.id = b.id AND b.{c} {op} ? WHERE b.id IS NULL ORDER BY 1, 2",
    "SELECT id FROM {t} WHERE id {op} ? ORDER BY id", "SELECT id FROM {t} WHERE id IN (?, ?, ?) ORDER BY id",
]
EXPRESSIONS = [
    "?", "?", "?", "? AS a, ?", "{c} + ?", "? - {c}", "{c} * ?", "? / {c}", "{c} DIV ?", "{c} % ?", "? + ?", "? - ?", "? * ?", "? / ?", "-?", "~?", "!?",
    "? & ?", "? | ?", "? << ?", "? >> ?", "? ^ ?", "? AND ?", "? OR ?", "? XOR ?", "? IS NULL", "? IS TRUE", "? {op} ?", "? <=> ?", "{c} {op} ?",
    "? LIKE ?", "? REGEXP ?", "? BETWEEN ? AND ?", "? IN (?, ?)", "CONCAT(?, ?)", "CONCAT({c}, ?)", "CONCAT_WS(?, ?, {c})", "COALESCE(?, ?)",
    "COALESCE({c}, ?)", "COALESCE(?, {c})", "IFNULL(?, ?)", "IFNULL({c}, ?)", "IF(?, ?, ?)", "IF(?, {c}, ?)", "NULLIF(?, ?)", "NULLIF({c}, ?)",
    "CASE ? WHEN ? THEN ? ELSE {c} END", "CASE WHEN ? THEN ? WHEN {c} = ? THEN {c} END", "GREATEST(?, ?)", "LEAST({c}, ?)", "GREATEST(?, {c}, ?)",
    "FIELD(?, ?, ?)", "FIELD({c}, ?, ?)", "ELT(?, ?, ?)", "INTERVAL(?, ?, ?)", "LENGTH(?)", "CHAR_LENGTH(?)", "HEX(?)", "OCT(?)", "BIN(?)", "ASCII(?)",
    "ORD(?)", "UPPER(?)", "LOWER(?)", "REVERSE(?)", "TRIM(?)", "LEFT(?, ?)", "RIGHT({c}, ?)", "SUBSTRING(?, ?, ?)", "SUBSTRING_INDEX(?, ?, ?)", "LPAD(?, 5, ?)",
    "RPAD({c}, 5, ?)", "REPEAT(?, 3)", "REPLACE(?, ?, ?)", "INSERT(?, ?, ?, ?)", "LOCATE(?, ?)", "INSTR({c}, ?)", "FIND_IN_SET(?, ?)", "MAKE_SET(?, ?, ?)",
    "EXPORT_SET(?, ?, ?)", "CHAR(?, ?)", "CONV(?, ?, ?)", "FORMAT(?, 2)", "QUOTE(?)", "SPACE(2 + ?)", "STRCMP(?, ?)", "SOUNDEX(?)", "MD5(?)", "CRC32(?)", "TO_BASE64(?)",
    "FROM_BASE64(?)", "UNHEX(?)", "BINARY ?", "? COLLATE utf8mb4_bin", "CONVERT(? USING latin1)", "CAST(? AS CHAR)", "CAST(? AS CHAR(3))", "CAST(? AS BINARY(4))", "CAST(? AS SIGNED)",
    "CAST(? AS UNSIGNED)", "CAST(? AS DECIMAL(10,2))", "CAST(? AS DECIMAL(40,20))", "CAST(? AS DOUBLE)", "CAST(? AS FLOAT)", "CAST(? AS DATE)", "CAST(? AS TIME)", "CAST(? AS TIME(6))",
    "CAST(? AS DATETIME)", "CAST(? AS DATETIME(3))", "ABS(?)", "SIGN(?)", "ROUND(?)", "ROUND(?, ?)", "ROUND({c}, ?)", "TRUNCATE(?, ?)", "FLOOR(?)", "CEILING(?)", "MOD(?, ?)", "POW(?, 2)",
    "SQRT(?)", "LOG(?)", "BIT_COUNT(?)", "RADIANS(?)", "DATE(?)", "TIME(?)", "TIMESTAMP(?)", "TIMESTAMP(?, ?)", "YEAR(?)", "MONTH(?)", "DAYOFYEAR(?)", "WEEK(?, ?)", "QUARTER(?)", "LAST_DAY(?)", "TO_DAYS(?)",
    "TO_SECONDS(?)", "HOUR(?)", "MICROSECOND(?)", "TIME_TO_SEC(?)", "SEC_TO_TIME(?)", "FROM_DAYS(?)", "MAKEDATE(?, ?)", "MAKETIME(?, ?, ?)", "DATEDIFF(?, ?)", "TIMEDIFF(?, ?)",
    "ADDTIME(?, ?)", "SUBTIME({c}, ?)", "TIMESTAMPDIFF(SECOND, ?, ?)", "TIMESTAMPADD(MONTH, ?, ?)", "DATE_ADD(?, INTERVAL ? DAY)", "DATE_ADD(?, INTERVAL ? SECOND)", "DATE_SUB({c}, INTERVAL ? MONTH)",
    "DATE_ADD(?, INTERVAL ? DAY_SECOND)", "{c} + INTERVAL ? MICROSECOND", "DATE_FORMAT(?, ?)", "TIME_FORMAT(?, '%H %i %f')", "STR_TO_DATE(?, ?)", "EXTRACT(DAY_MICROSECOND FROM ?)", "EXTRACT(YEAR_MONTH FROM ?)",
    "UNIX_TIMESTAMP(?)", "FROM_UNIXTIME(?)", "DAYNAME(?)", "PERIOD_ADD(?, ?)", "GET_FORMAT(DATE, ?)", "JSON_VALID(?)", "JSON_EXTRACT(?, ?)", "JSON_EXTRACT({c}, ?)", "JSON_ARRAY(?, ?)", "JSON_OBJECT('k', ?)",
    "JSON_SET('{{}}', '$.a', ?)", "JSON_CONTAINS(?, ?)", "JSON_VALUE(?, ?)", "JSON_QUOTE(?)", "JSON_UNQUOTE(?)", "JSON_TYPE(?)", "JSON_LENGTH(?)", "ST_AsText(ST_GeomFromText(?))", 
    "INET_ATON(?)", "INET_NTOA(?)", "INET6_NTOA(?)", "CHARSET(?)", "COLLATION(?)", "COERCIBILITY(?)", "ISNULL(?)", "SLEEP(0 * ?)", "AES_DECRYPT(?, ?)", "UUID() IS NULL OR ?", "NAME_CONST('q', 1) + ?", "@v := ?", "f1(?)", "f2(?)", "f3(?)",
    "REGEXP_SUBSTR(?, ?)", "REGEXP_REPLACE(?, ?, ?)", "CONCAT(? , ' ', {c})", "GREATEST({c}, {d}, ?)", "(SELECT ?)", "(SELECT MAX({c}) FROM t WHERE {c} < ?)", "EXISTS (SELECT 1 FROM t WHERE {c} = ?)", "? IN (SELECT {c} FROM t)",
    "? = ANY (SELECT {c} FROM t)", "? >= ALL (SELECT {c} FROM t WHERE {c} IS NOT NULL)", "ROW(?, ?) = ROW(?, {c})", "DEFAULT({c}) <=> ?", "LAST_INSERT_ID(?)", "BENCHMARK(1, ?)", "UPDATEXML(?, '/a', ?)", "EXTRACTVALUE(?, '/a')",
]
GROUPS = [
    "SUM(?)", "SUM({c} + ?)", "MAX(?)", "MIN(?)", "AVG(?)", "COUNT(?)", "COUNT(DISTINCT ?, {c})", "GROUP_CONCAT(? ORDER BY id)", "GROUP_CONCAT({c} ORDER BY id SEPARATOR ',')", "BIT_OR(?)", "STD(?)",
    "JSON_ARRAYAGG(?)", "SUM(IF({c} > ?, 1, 0))", "MAX(COALESCE({c}, ?))", "MIN(IFNULL(?, {c}))", "SUM(DISTINCT ?)", "MAX(CASE WHEN id > 2 THEN ? ELSE {c} END)",
]
QUERIES = [
    "SELECT id FROM t ORDER BY id LIMIT ?", "SELECT id FROM t ORDER BY id LIMIT ?, ?", "SELECT id FROM t ORDER BY id LIMIT ? OFFSET ?",
    "SELECT ?, COUNT(*) FROM t GROUP BY ?", "SELECT ? AS g, COUNT(*) FROM t GROUP BY g", "SELECT id FROM t ORDER BY ?, id", "SELECT {c}, COUNT(*) FROM t GROUP BY {c} HAVING COUNT(*) > ? ORDER BY 1",
    "SELECT {c} AS k, COUNT(*) FROM t GROUP BY k HAVING k {op} ? ORDER BY k", "SELECT COUNT(*) FROM t GROUP BY {c} + ? ORDER BY 1", "SELECT ? UNION ALL SELECT ?", "SELECT ? UNION SELECT ? ORDER BY 1",
    "SELECT ? AS u UNION ALL (SELECT {c} FROM t ORDER BY id)", "(SELECT {c} AS u FROM t ORDER BY id) UNION ALL SELECT ?", "SELECT ? EXCEPT SELECT ?", "SELECT ? INTERSECT SELECT {c} FROM t",
    "SELECT * FROM (SELECT ? AS a, id FROM t) d WHERE a = ? ORDER BY id", "SELECT a FROM (SELECT ? AS a UNION ALL SELECT ?) d ORDER BY a", "SELECT * FROM (SELECT {c} AS a, id FROM {t}) d WHERE a {op} ? ORDER BY id",
    "SELECT * FROM (SELECT {c} AS a, COUNT(*) AS n FROM t GROUP BY {c}) d WHERE a {op} ? ORDER BY a", "WITH q AS (SELECT ? AS a) SELECT x.a, y.a FROM q x JOIN q y ON x.a = y.a",
    "WITH RECURSIVE q AS (SELECT ? AS a UNION ALL SELECT a + 1 FROM q WHERE a < 5) SELECT COUNT(*), MIN(a) FROM q LIMIT 3", "SELECT id, LAG({c}, ?) OVER (ORDER BY id) FROM t ORDER BY id", "SELECT id, LEAD({c}, 1, ?) OVER (ORDER BY id) FROM t ORDER BY id",
    "SELECT id, NTILE(?) OVER (ORDER BY id) FROM t ORDER BY id", "SELECT id, NTH_VALUE({c}, ?) OVER (ORDER BY id) FROM t ORDER BY id", "SELECT id, SUM(?) OVER (PARTITION BY ? ORDER BY id) FROM t ORDER BY id", "SELECT DISTINCT ? FROM t",
    "SELECT DISTINCT {c}, ? FROM t ORDER BY 1", "SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM ti WHERE ti.{c} = t.{c} AND ti.id > ?)", "SELECT {g} FROM t", "SELECT {g} FROM t", "SELECT {g} FROM t GROUP BY id > 3 ORDER BY 1", "SELECT {g} FROM t WHERE id > 9",
    "SELECT {g}, {g} FROM ti", "SELECT JSON_EXTRACT(j, ?) FROM t ORDER BY id", "SELECT k, v FROM JSON_TABLE(?, '$[*]' COLUMNS (k FOR ORDINALITY, v VARCHAR(10) PATH '$')) q", "SELECT a.x FROM (SELECT ? AS x) a NATURAL JOIN (SELECT ? AS x) b", "SELECT * FROM t WHERE id = ?",
    "SELECT {c}, {d} FROM ti WHERE id > ? ORDER BY id", "SELECT * FROM v1 WHERE {c} {op} ?", "SELECT SQL_CALC_FOUND_ROWS id FROM t WHERE {c} {op} ? ORDER BY id LIMIT 1", "SELECT id FROM t PROCEDURE ANALYSE(?)", "SELECT id FROM ti USE INDEX ({c}) WHERE {c} {op} ? ORDER BY id",
    "SELECT {c} FROM ti WHERE {c} {op} ? ORDER BY {c}, id LIMIT 2", "SELECT MIN({c}), MAX({c}) FROM ti WHERE {c} {op} ?", "SELECT COUNT(*) FROM ti WHERE {c} {op} ?",
]
CHANGES = [
    "INSERT INTO k ({c}) VALUES (?)", "INSERT INTO k ({c}) VALUES (?)", "INSERT INTO k ({c}) VALUES (?)", "INSERT IGNORE INTO k ({c}) VALUES (?)", "INSERT INTO k ({c}) VALUES (?), (?)", "INSERT INTO k ({c}, {d}) VALUES (?, ?)", "INSERT INTO k ({c}) SELECT ?",
    "INSERT INTO k ({c}) SELECT ? FROM t WHERE {d} {op} ?", "INSERT INTO k ({c}) SELECT ? UNION ALL SELECT ?", "REPLACE INTO k (id, {c}) VALUES (1, ?)", "INSERT INTO k (id, {c}) VALUES (1, ?) ON DUPLICATE KEY UPDATE {c} = ?", "UPDATE k SET {c} = ?", "UPDATE k SET {c} = ? WHERE id = ?",
    "UPDATE k SET {c} = ? WHERE {d} {op} ?", "UPDATE k SET {c} = {c} + ?", "UPDATE k SET {c} = CONCAT({c}, ?)", "UPDATE k SET {c} = COALESCE(?, {d})", "UPDATE k, t SET k.{c} = ? WHERE k.id = t.id AND t.{d} {op} ?", "DELETE FROM k WHERE {c} {op} ?", "DELETE FROM k WHERE {c} IN (?, ?)", "DELETE FROM k ORDER BY id LIMIT ?",
    "INSERT INTO k (id, {c}) VALUES (?, ?)", "INSERT INTO k ({c}) VALUES (?) RETURNING {c}, ?", "DELETE FROM k WHERE id > ? RETURNING id, {c}", "INSERT INTO k ({c}) VALUES (IF(?, ?, {d}))", "SET @v = ?", "SET @v = ?, @w = ?", "CALL p(?)", "CALL p(? + 1)", "DO ?", "CREATE OR REPLACE TABLE made AS SELECT ? AS a",
    "CREATE OR REPLACE TABLE made AS SELECT ? AS a, ? AS b", "CREATE OR REPLACE TABLE made AS SELECT COALESCE(?, ?) AS a, {c} + ? AS b FROM t", "CREATE OR REPLACE TABLE made AS SELECT ? AS a UNION SELECT ?", "CREATE OR REPLACE TABLE made AS SELECT {c}, CONCAT({c}, ?) AS b, IF(id, ?, {c}) AS d FROM t", "SET SESSION sort_buffer_size = ?", "SET TIMESTAMP = ?",
    "UPDATE k SET {c} = ? ORDER BY id LIMIT ?", "CALL o(?, ?)",
]
SHOWN = ("SELECT * FROM k ORDER BY id", "SHOW CREATE TABLE made", "SELECT a FROM made", "SELECT @v, @w, HEX(@v)")
OPERATORS = ("=", "=", "<", "<=", ">", ">=", "<>", "<=>")
# Statements about a table that is changed between executions.
ALTERS = ("ALTER TABLE k MODIFY {c} VARCHAR(50)", "ALTER TABLE k MODIFY {c} BIGINT", "ALTER TABLE k DROP COLUMN {c}", "ALTER TABLE k ADD COLUMN extra INT DEFAULT 5",
          "CREATE OR REPLACE TABLE k (id INT AUTO_INCREMENT PRIMARY KEY, {c} INT)", "DROP TABLE k", "CREATE OR REPLACE VIEW k2 AS SELECT 1 AS q", "TRUNCATE TABLE k")


def tables():
    """The statements that make the tables."""
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    keys = ", ".join(f"KEY {name} ({name}{'(10)' if kind in ('TEXT', 'BLOB', 'JSON') else ''})" for name, kind in COLUMNS.items())
    yield f"CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, {columns})"
    yield f"CREATE TABLE ti (id INT AUTO_INCREMENT PRIMARY KEY, {columns}, {keys})"
    listed = {name: split(row) for name, row in ROWS.items()}
    for at in range(6):
        row = ", ".join(listed[name][at] for name in COLUMNS)
        yield f"INSERT INTO t ({', '.join(COLUMNS)}) VALUES ({row})"
    yield "INSERT INTO ti SELECT * FROM t"
    yield f"CREATE VIEW v1 AS SELECT id, {', '.join(COLUMNS)} FROM ti WHERE id < 5"
    yield "CREATE FUNCTION f1(p VARCHAR(20)) RETURNS VARCHAR(30) DETERMINISTIC RETURN CONCAT('<', p, '>')"
    yield "CREATE FUNCTION f2(p BIGINT) RETURNS DECIMAL(20,3) DETERMINISTIC RETURN p + 1"
    yield "CREATE FUNCTION f3(p DATETIME(3)) RETURNS DATETIME(6) DETERMINISTIC RETURN p + INTERVAL 1 DAY"
    yield "CREATE PROCEDURE p(a VARCHAR(30)) SELECT a, LENGTH(a)"
    yield "CREATE PROCEDURE o(INOUT a VARCHAR(30), OUT b BIGINT) BEGIN SET b = LENGTH(a), a = CONCAT(a, 'x'); SELECT a; END"


def split(row):
    """The values of a list, whose texts may contain commas."""
    values, quoted, current = [], False, ""
    for at, character in enumerate(row):
        if character == "'" and row[at - 1] != "\\":
            quoted = not quoted
        if character == "," and not quoted:
            values.append(current)
            current = ""
        else:
            current += character
    return values + [current]


def statement(random):
    """A statement, and the column it is about."""
    kind = random.random()
    names = list(COLUMNS)
    parts = {"c": random.choice(names), "d": random.choice(names), "t": random.choice(("t", "ti", "ti")),
             "op": random.choice(OPERATORS)}
    if kind < 0.3:
        text = random.choice(SEARCHES)
    elif kind < 0.6:
        listed = ", ".join(random.sample(EXPRESSIONS, random.choice((1, 1, 1, 2))))
        text = f"SELECT {listed}" + (" FROM t ORDER BY id" if "{c}" in listed or random.random() < 0.2 else "")
    elif kind < 0.75:
        text = random.choice(QUERIES)
        parts["g"] = random.choice(GROUPS).format(**parts)
    else:
        text = random.choice(CHANGES)
    return text.format(**parts), parts["c"]


def alter(random, column):
    return random.choice(ALTERS).format(c=column)
