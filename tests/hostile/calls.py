"""Calls of every function with unexpected arguments, for deep.py. Must not run anything."""

import os
import re

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
FUNCTION = re.compile(r'Function::\w+\(\s*"([A-Z0-9_]+)",\s*(\d+),\s*(\d+|MANY)')
# Functions that wait or repeat as long as their argument says.
WAITING = {"SLEEP", "BENCHMARK", "GET_LOCK", "MASTER_POS_WAIT", "MASTER_GTID_WAIT"}

CHARSETS = """armscii8 ascii big5 binary cp1250 cp1251 cp1256 cp1257 cp850 cp852 cp866 cp932 dec8 eucjpms euckr gb2312 gbk geostd8 greek
 hebrew hp8 keybcs2 koi8r koi8u latin1 latin2 latin5 latin7 macce macroman sjis swe7 tis620 ucs2 ujis utf8mb3 utf8mb4 utf16 utf16le
 utf32""".split()

SMALL = [
    "NULL", "''", "' '", "'a'", "'1'", "'-1'", "'abc def'", "0", "1", "-1", "2", "63", "64", "65", "255", "32767", "2147483647", "-2147483648",
    "4294967295", "9223372036854775807", "-9223372036854775808", "18446744073709551615", "18446744073709551616", "1e308", "-1e308",
    "1e-308", "1.7976931348623157e308", "0.5", "-0.5", "9" * 65, "-" + "9" * 65, "0." + "9" * 38, "9" * 35 + "." + "9" * 30, "9" * 81,
    "'2020-02-30'", "'0000-00-00'", "'9999-12-31 23:59:59.999999'", "DATE'0001-01-01'", "TIMESTAMP'9999-12-31 23:59:59.999999'",
    "TIME'838:59:59.999999'", "TIME'-838:59:59.999999'", "'-838:59:59'", "'%'", "'%W %M %Y %%'", "'\\\\'", "'('", "'[[:alpha:]]+'", "'(?R)'",
    "'$'", "'$[0]'", "'$**.a'", "'$.a[last]'", "'$.\"'", "'{}'", "'[1,[2,{\"a\":null}]]'", "'{\"a\":{\"a\":1}}'", "'[1e400]'", "'\"\\\\ud800\"'",
    "'<a>x</a>'", "'//a'", "'<a b=\"'", "x'00'", "x'FF'", "b'1'", "x'F09F9880'", "a", "b", "s", "a+0.5", "CAST(a AS DOUBLE)",
    "(SELECT MAX(a) FROM t)", "@none", "TRUE", "ROW(1,2)", "NOW(6)", "CURDATE()", "CURTIME(6)", "'UTC'", "'+14:00'", "'::1'", "'1.2.3.4'",
    "INET6_ATON('::1')", "COLUMN_CREATE('a',1)", "COMPRESS('abc')", "'en_US'", "'utf8mb4'", "'day'", "UUID()", "CAST('[]' AS JSON)", "DEFAULT(a)",
    "x'01000000789C'", "x'FFFFFF3F789C4B0400'", "COLUMN_CREATE('a',COLUMN_CREATE('b',1))", "x'0401'", "x'04010008000000'",
    "POINT(1,2)", "POINT(1e308,-1e308)", "LINESTRING(POINT(0,0),POINT(3,4))", "ST_GEOMFROMTEXT('POLYGON((0 0,4 0,4 4,0 0),(1 0,2 1,2 0,1 0))')",
    "ST_GEOMFROMTEXT('POLYGON((0 0,2 2,0 2,2 0,0 0))')", "ST_GEOMFROMTEXT('GEOMETRYCOLLECTION EMPTY')",
    "ST_GEOMFROMWKB(x'0101000000000000000000F07F000000000000F87F')", "x'000000000104000000FFFFFFFF'", "x'00000000010300000000000000'",
    "'POINT(1 1)'", "'{\"type\":\"Point\",\"coordinates\":[1]}'",
]
HUGE = [
    "REPEAT('a',16000000)", "REPEAT('1',16000000)", "REPEAT(' ',16000000)", "REPEAT('[',8000000)", "REPEAT('{\"a\":',2000000)",
    "CONCAT(REPEAT('[',100000),REPEAT(']',100000))", "CONCAT('[',REPEAT('1,',1000000),'1]')", "REPEAT('<a>',1000000)",
    "CONCAT(REPEAT('<a>',100000),REPEAT('</a>',100000))", "REPEAT('/a',1000000)", "REPEAT('(',1000000)", "REPEAT('%',100000)", "REPEAT('%Y',100000)",
    "REPEAT('\\\\',1000000)", "REPEAT(x'FF',16000000)", "REPEAT('\u00e9',8000000)", "REPEAT('\U0001f600',4000000)", "CONCAT('$',REPEAT('[0]',100000))",
    "CONCAT('$',REPEAT('.a',100000))", "REPEAT('a,',8000000)", "REPEAT(s,1000000)", "CONCAT('0.',REPEAT('9',1000000))", "SPACE(16000000)",
    "CONCAT('LINESTRING(0 0',REPEAT(',1 9,2 0',100000),')')", "ST_GEOMFROMTEXT(CONCAT('LINESTRING(0 0',REPEAT(',9 1,0 2',100000),')'))",
    "CONCAT(x'00000000',REPEAT(x'010700000001000000',500000))", "ST_GEOMFROMTEXT(CONCAT('MULTIPOINT(0 0',REPEAT(',1 1',300000),')'))",
    "REPEAT('(a|b)*',10000)", "REPEAT('a?',10000)", "REPEAT('1:',100000)", "REPEAT('-',1000000)", "CONCAT('{',REPEAT('\"a\":1,',100000),'\"b\":2}')",
]


def functions():
    """Returns names of functions with their minimum and maximum number of arguments, read from the source."""
    found = {}
    for folder, _, files in os.walk(os.path.join(ROOT, "crates", "expr", "src", "functions")):
        for file in files:
            if file.endswith(".rs"):
                with open(os.path.join(folder, file)) as source:
                    for name, least, most in FUNCTION.findall(source.read()):
                        found[name] = (int(least), int(least) + 4 if most == "MANY" else int(most))
    if len(found) < 200:
        raise AssertionError(f"{len(found)} functions found")
    return {name: found[name] for name in sorted(found) if name not in WAITING}


# Forms with a grammar of their own; each {} is an argument.
UNITS = "MICROSECOND SECOND MINUTE HOUR DAY WEEK MONTH QUARTER YEAR DAY_SECOND YEAR_MONTH SECOND_MICROSECOND DAY_MICROSECOND".split()
TYPES = ["CHAR", "CHAR(5)", "BINARY(5)", "BINARY", "SIGNED", "UNSIGNED", "DATE", "TIME(6)", "DATETIME(6)", "DECIMAL(65,38)", "DECIMAL(1,0)", "DOUBLE",
         "FLOAT", "YEAR", "INET6", "UUID", "CHAR CHARACTER SET latin1", "CHAR CHARACTER SET utf32", "CHAR CHARACTER SET binary"]
AGGREGATES = "SUM AVG MIN MAX COUNT STD VARIANCE BIT_AND BIT_OR BIT_XOR GROUP_CONCAT JSON_ARRAYAGG STDDEV_SAMP VAR_SAMP".split()
OPERATORS = "+ - * / DIV % | & ^ << >> = <> < > <= >= <=> AND OR XOR LIKE RLIKE || COLLATE".split()
FORMS = [
    *(f"EXTRACT({unit} FROM {{}})" for unit in UNITS), *(f"{{}} + INTERVAL {{}} {unit}" for unit in UNITS),
    *(f"{{}} - INTERVAL {{}} {unit}" for unit in UNITS), *(f"TIMESTAMPADD({unit},{{}},{{}})" for unit in UNITS[:9]),
    *(f"TIMESTAMPDIFF({unit},{{}},{{}})" for unit in UNITS[:9]), *(f"CAST({{}} AS {kind})" for kind in TYPES),
    *(f"CONVERT({{}} USING {charset})" for charset in CHARSETS), *(f"CHAR({{}},{{}} USING {charset})" for charset in CHARSETS),
    *(f"{name}({{}})" for name in AGGREGATES), *(f"{name}(DISTINCT {{}})" for name in AGGREGATES if "VAR" not in name and "STD" not in name),
    *(f"{name}({{}}) OVER (ORDER BY {{}})" for name in AGGREGATES if name not in ("GROUP_CONCAT", "JSON_ARRAYAGG")),
    *(f"({{}}) {operator} ({{}})" for operator in OPERATORS), "-({})", "~({})", "!({})", "NOT ({})", "BINARY ({})", "({}) IS NULL", "({}) IS TRUE",
    "({}) BETWEEN ({}) AND ({})", "({}) IN ({},{})", "({},{}) IN (({},{}),({},{}))", "({}) LIKE ({}) ESCAPE '|'", "({}) SOUNDS LIKE ({})",
    "CASE {} WHEN {} THEN {} ELSE {} END", "CASE WHEN {} THEN {} END", "TRIM({} FROM {})", "TRIM(LEADING {} FROM {})", "TRIM(TRAILING {} FROM {})",
    "SUBSTRING({} FROM {} FOR {})", "SUBSTRING({} FROM {})", "POSITION({} IN {})", "WEIGHT_STRING({} AS CHAR(5))", "WEIGHT_STRING({} LEVEL 1)",
    "WEIGHT_STRING({})", "GROUP_CONCAT({},{} ORDER BY {} SEPARATOR '--' LIMIT 5)", "JSON_OBJECTAGG({},{})", "ROW_NUMBER() OVER (PARTITION BY {} ORDER BY {})",
    "LAG(a,{}) OVER (ORDER BY a)", "LEAD(a,{},{}) OVER (ORDER BY {})", "NTILE({}) OVER (ORDER BY a)", "NTH_VALUE({},{}) OVER (ORDER BY a)",
    "FIRST_VALUE({}) OVER (ORDER BY {} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING)", "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY {}) OVER ()",
    "SUM({}) OVER (ORDER BY a RANGE BETWEEN {} PRECEDING AND {} FOLLOWING)", "COLUMN_CREATE({},{},{},{} AS DECIMAL)", "COLUMN_GET({},{} AS CHAR)",
    "COLUMN_GET({},{} AS DECIMAL)", "COLUMN_ADD({},{},{})", "IF({},{},{})", "@v:={}", "({}) MOD ({})", "ADDDATE({},{})", "DATE_FORMAT({},{},{})",
    "SLEEP(LEAST(0,{}))", "BENCHMARK(2,{})", "VALUES({})", "JSON_VALUE({},{})", "JSON_TABLE({},{})", "DEFAULT({})", "({}) COLLATE utf8mb4_bin", "INTERVAL({},{},{})",
]


def charset_value(rng):
    charset = rng.choice(CHARSETS)
    value = rng.choice((f"_{charset} x'{rng.randbytes(rng.randrange(1, 9)).hex()}'", f"CONVERT('a\u00e9\u0416\u4e2d' USING {charset})",
                        f"CONVERT(s USING {charset})", f"_{charset} 'abc'", f"REPEAT(_{charset} x'{rng.randbytes(4).hex()}',1000000)"))
    return value


def value(rng):
    kind = rng.random()
    if kind < 0.12:
        return rng.choice(HUGE)
    return charset_value(rng) if kind < 0.3 else rng.choice(SMALL)


def benign(rng):
    return rng.choice(("1", "'a'", "'2020-01-01'", "a", "s", "'[1]'", "'$'"))


def call(name, least, most, rng):
    count = rng.randint(least, most)
    chosen = [value(rng) for _ in range(count)]
    how = rng.random()
    if how < 0.15:
        chosen = chosen[:1] * count
    elif how < 0.5 and count:
        one = rng.randrange(count)
        chosen = [argument if at == one else benign(rng) for at, argument in enumerate(chosen)]
    return f"{name}({','.join(chosen)})"


def form(text, rng):
    return re.sub(r"\{\}", lambda _: value(rng) if rng.random() < 0.6 else benign(rng), text)


def calls(rng):
    """Returns a statement for each function and form, with random arguments."""
    known = functions()
    for name in sorted(rng.sample(sorted(known), len(known)) + rng.sample(FORMS, len(FORMS)), key=lambda _: rng.random()):
        yield name, form(name, rng) if name not in known else call(name, *known[name], rng)
