"""Operators and functions of the grammar, by the kind of their result.

In a template `{n}` stands for a number, `{s}` a string, `{d}` a date or time, `{b}` a condition, `{a}`
anything, `{i}` a small integer, `{j}` a JSON text, `{u}` a unit of an interval, `{t}` a type of CAST.
"""

NUMBER = """
{n} + {n}
{n} - {n}
{n} * {n}
{n} / {n}
{n} DIV {n}
{n} % {n}
-{n}
{n} & {n}
{n} | {n}
{n} ^ {n}
~{n}
{n} << {i}
{n} >> {i}
{a} + {a}
ABS({n})
CEIL({n})
FLOOR({n})
ROUND({n})
ROUND({n}, {i})
TRUNCATE({n}, {i})
SIGN({n})
MOD({n}, {n})
SQRT({n})
POW({n}, {i})
EXP({i})
LN({n})
LOG2({n})
GREATEST({n}, {n})
LEAST({n}, {n}, {n})
CRC32({s})
BIT_COUNT({n})
LENGTH({s})
CHAR_LENGTH({s})
BIT_LENGTH({s})
ASCII({s})
ORD({s})
LOCATE({s}, {s})
LOCATE({s}, {s}, {i})
INSTR({s}, {s})
POSITION({s} IN {s})
STRCMP({s}, {s})
FIND_IN_SET({s}, {s})
FIELD({a}, {a}, {a})
INTERVAL({n}, {n}, {n})
CONV({n}, 10, 16)
YEAR({d})
MONTH({d})
DAY({d})
QUARTER({d})
WEEK({d})
WEEK({d}, {i})
WEEKDAY({d})
DAYOFWEEK({d})
DAYOFYEAR({d})
HOUR({d})
MINUTE({d})
SECOND({d})
MICROSECOND({d})
TO_DAYS({d})
TO_SECONDS({d})
UNIX_TIMESTAMP({d})
TIME_TO_SEC({d})
DATEDIFF({d}, {d})
TIMESTAMPDIFF({u}, {d}, {d})
EXTRACT({u} FROM {d})
PERIOD_ADD(202401, {i})
IF({b}, {n}, {n})
IFNULL({n}, {n})
NULLIF({n}, {n})
COALESCE({n}, {n}, {n})
CASE {a} WHEN {a} THEN {n} ELSE {n} END
CASE WHEN {b} THEN {n} END
CAST({a} AS SIGNED)
CAST({a} AS UNSIGNED)
CAST({a} AS DECIMAL(10,2))
CAST({a} AS DECIMAL(30,10))
CAST({a} AS DOUBLE)
CAST({a} AS FLOAT)
JSON_LENGTH({j})
JSON_DEPTH({j})
({b})
""".strip().split("\n")

STRING = """
CONCAT({s}, {s})
CONCAT({a}, {a})
CONCAT_WS({s}, {a}, {a})
UPPER({s})
LOWER({s})
LEFT({s}, {i})
RIGHT({s}, {i})
SUBSTRING({s}, {i})
SUBSTRING({s}, {i}, {i})
SUBSTRING_INDEX({s}, {s}, {i})
TRIM({s})
LTRIM({s})
TRIM(LEADING {s} FROM {s})
LPAD({s}, {i}, {s})
RPAD({s}, {i}, {s})
REPEAT({s}, {i})
REPLACE({s}, {s}, {s})
REVERSE({s})
INSERT({s}, {i}, {i}, {s})
SPACE({i})
HEX({a})
UNHEX({s})
BIN({n})
OCT({n})
CONV({a}, {i}, {i})
CHAR({i})
FORMAT({n}, {i})
QUOTE({s})
SOUNDEX({s})
ELT({i}, {s}, {s})
EXPORT_SET({i}, {s}, {s})
MAKE_SET({i}, {s}, {s})
MD5({s})
SHA1({s})
TO_BASE64({s})
FROM_BASE64({s})
REGEXP_REPLACE({s}, {s}, {s})
REGEXP_SUBSTR({s}, {s})
DATE_FORMAT({d}, '%Y-%m-%d %H:%i:%s.%f')
DATE_FORMAT({d}, '%a %b %e %j %U %u %w %y')
TIME_FORMAT({d}, '%H %k %h %i %s %f %p')
DAYNAME({d})
MONTHNAME({d})
INET_NTOA({n})
IF({b}, {s}, {s})
IF({b}, {a}, {a})
IFNULL({s}, {s})
IFNULL({a}, {a})
NULLIF({s}, {s})
NULLIF({a}, {a})
COALESCE({s}, {s}, {s})
COALESCE({a}, {a})
GREATEST({s}, {s})
GREATEST({a}, {a})
LEAST({a}, {a})
CASE WHEN {b} THEN {s} ELSE {s} END
CASE WHEN {b} THEN {a} ELSE {a} END
CASE {a} WHEN {a} THEN {a} WHEN {a} THEN {a} END
CAST({a} AS CHAR)
CAST({a} AS CHAR(5))
CAST({a} AS BINARY)
BINARY {s}
CONVERT({s} USING latin1)
JSON_EXTRACT({j}, '$.a')
JSON_UNQUOTE(JSON_EXTRACT({j}, '$.b'))
JSON_VALUE({j}, '$.a')
JSON_KEYS({j})
JSON_TYPE({j})
JSON_QUOTE({s})
JSON_ARRAY({a}, {a})
JSON_OBJECT('k', {a})
JSON_SET({j}, '$.c', {a})
JSON_REMOVE({j}, '$.a')
SEC_TO_TIME({n})
""".strip().split("\n")

TEMPORAL = """
DATE({d})
TIME({d})
TIMESTAMP({d})
TIMESTAMP({d}, {d})
LAST_DAY({d})
DATE_ADD({d}, INTERVAL {i} {u})
DATE_SUB({d}, INTERVAL {i} {u})
{d} + INTERVAL {n} {u}
ADDTIME({d}, {d})
SUBTIME({d}, {d})
TIMEDIFF({d}, {d})
ADDDATE({d}, {i})
MAKEDATE({i}, {i})
MAKETIME({i}, {i}, {n})
SEC_TO_TIME({n})
FROM_DAYS({n})
STR_TO_DATE({s}, '%Y-%m-%d')
CAST({a} AS DATE)
CAST({a} AS TIME)
CAST({a} AS TIME(3))
CAST({a} AS DATETIME)
CAST({a} AS DATETIME(6))
GREATEST({d}, {d})
LEAST({d}, {d})
IF({b}, {d}, {d})
IFNULL({d}, {d})
NULLIF({d}, {d})
COALESCE({d}, {d})
CASE WHEN {b} THEN {d} ELSE {d} END
""".strip().split("\n")

CONDITION = """
{a} = {a}
{n} = {n}
{s} = {s}
{d} = {d}
{a} <=> {a}
{a} <> {a}
{n} < {n}
{s} < {s}
{d} < {d}
{a} < {a}
{a} >= {a}
{n} > {n}
{a} IS NULL
{a} IS NOT NULL
{b} IS TRUE
{b} IS NOT FALSE
{b} IS UNKNOWN
{b} AND {b}
{b} OR {b}
{b} XOR {b}
NOT {b}
{n} BETWEEN {n} AND {n}
{s} BETWEEN {s} AND {s}
{d} NOT BETWEEN {d} AND {d}
{a} BETWEEN {a} AND {a}
{n} IN ({n}, {n}, {n})
{s} IN ({s}, {s})
{d} IN ({d}, {d})
{a} NOT IN ({a}, {a})
({n}, {s}) = ({n}, {s})
({n}, {n}) < ({n}, {n})
({n}, {s}) IN (({n}, {s}), ({n}, {s}))
{s} LIKE {s}
{s} LIKE '%a%'
{a} NOT LIKE '_b%'
{s} REGEXP '^[a-c]'
{s} RLIKE {s}
ISNULL({a})
JSON_VALID({s})
JSON_CONTAINS({j}, '1')
{n}
{a}
""".strip().split("\n")

AGGREGATE = """
COUNT(*)
COUNT({a})
COUNT(DISTINCT {a})
COUNT(DISTINCT {a}, {a})
SUM({n})
SUM({a})
SUM(DISTINCT {n})
AVG({n})
AVG({a})
MIN({a})
MAX({a})
MIN({d})
MAX({s})
BIT_AND({n})
BIT_OR({n})
BIT_XOR({n})
STDDEV({n})
VAR_SAMP({n})
GROUP_CONCAT(DISTINCT {a} ORDER BY 1)
GROUP_CONCAT(DISTINCT {s} ORDER BY 1 DESC SEPARATOR '-')
""".strip().split("\n")

# The results of all but the last ones do not depend on the order of equal rows.
WINDOW = """
RANK() OVER ({p}ORDER BY {a})
DENSE_RANK() OVER ({p}ORDER BY {a} DESC)
PERCENT_RANK() OVER ({p}ORDER BY {a})
CUME_DIST() OVER ({p}ORDER BY {a})
SUM({n}) OVER ({p}ORDER BY {a})
SUM({n}) OVER ({p})
COUNT({a}) OVER ({p}ORDER BY {a})
AVG({n}) OVER ({p}ORDER BY {a} RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
MIN({a}) OVER ({p})
MAX({a}) OVER ({p}ORDER BY {a})
BIT_OR({n}) OVER ({p})
ROW_NUMBER() OVER ({p}ORDER BY {a}, {k})
NTILE(3) OVER ({p}ORDER BY {a}, {k})
LAG({a}) OVER ({p}ORDER BY {a}, {k})
LEAD({a}, {i}) OVER ({p}ORDER BY {k})
FIRST_VALUE({a}) OVER ({p}ORDER BY {a}, {k})
LAST_VALUE({a}) OVER ({p}ORDER BY {k} ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)
NTH_VALUE({a}, 2) OVER ({p}ORDER BY {k})
SUM({n}) OVER ({p}ORDER BY {k} ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)
SUM({n}) OVER ({p}ORDER BY {k} ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING)
COUNT({a}) OVER ({p}ORDER BY {k} ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)
MAX({n}) OVER ({p}ORDER BY {k} ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING)
SUM({n}) OVER ({p}ORDER BY {k} RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING)
""".strip().split("\n")

UNITS = """MICROSECOND SECOND MINUTE HOUR DAY WEEK MONTH QUARTER YEAR""".split()

LITERALS = {
    "n": "0 1 2 -1 3 10 100 127 255 1000 -128 0.5 1.5 -2.25 3.14159 1e3 -1.5e-2 0.1e0 123456789 99999999999 "
         "9223372036854775807 18446744073709551615 0x41 b'101' TRUE FALSE NULL".split(),
    "s": ["''", "'a'", "'b'", "'abc'", "'1'", "'12'", "'-1.5'", "'1e2'", "'1abc'", "' a'", "'a '", "'%'", "'2024-01-15'",
          "'10:11:12'", "'2024-02-29 23:59:59'", "'\u00e4'", "'\u00e9t\u00e9'", "'x,y'", "NULL", "x'6162'", "_latin1'a'", "'b' COLLATE utf8mb4_bin"],
    "d": ["DATE'2024-01-15'", "DATE'1999-12-31'", "TIMESTAMP'2024-02-29 23:59:59'", "TIMESTAMP'2001-01-01 00:00:00.123456'",
          "TIME'10:11:12'", "TIME'-01:00:00.5'", "'2024-03-10'", "'2020-05-05 05:05:05'", "'11:22:33'", "20240115", "NULL"],
    "i": "0 1 2 3 4 5 7 -1 -2 10".split(),
    "j": ["'{\"a\": 1, \"b\": \"x\"}'", "'[1, 2, 3]'", "'{}'", "'5'", "'null'", "'bad'", "NULL"],
}
BY_KIND = {"n": NUMBER, "s": STRING, "d": TEMPORAL, "b": CONDITION}
