"""Statement texts of any depth and width, for deep.py. Must not run anything.

A shape is a function of a number: the depth or the width. Shapes in EXPRESSIONS return an expression over columns `a`,
`b` and `s`, those in QUERIES a query, those in PROGRAMS the body of a procedure, those in STATEMENTS a list of
statements, run in order.
"""


def nest(open_, inner, close):
    return lambda n: open_ * n + inner + close * n


def chain(operator, operand="a"):
    return lambda n: operator.join([operand] * (n + 1))


def left(operator, operand="a"):
    """A chain with parentheses whose left depth equals its length."""
    return lambda n: "(" * n + operand + f"{operator}{operand})" * n


def right(operator, operand="a"):
    return lambda n: f"({operand}{operator}" * n + operand + ")" * n


def mixed(*operators):
    """A chain that alternates between several operators."""
    return lambda n: "a" + "".join(f" {operators[i % len(operators)]} {i % 3}" for i in range(n))


def listed(item, before="", after="", by=","):
    """A list with one item for each number."""
    return lambda n: before + by.join(item.format(i=i, j=i + 1) for i in range(n)) + after


def at_most(most, shape):
    """The time grows with the square of the width. This is known, and 4,096 columns limit it."""
    return lambda n: shape(min(n, most))


# An operand that is not copied.
LONG = "b" + "+0" * 30

EXPRESSIONS = {
    "parentheses": nest("(", "a", ")"),
    "minus": nest("- ", "a", ""),
    "plus sign": nest("+ ", "a", ""),
    "tilde": nest("~", "a", ""),
    "bang": nest("!", "a", ""),
    "not": nest("NOT ", "a", ""),
    "not parentheses": nest("NOT (", "a", ")"),
    "binary": nest("BINARY ", "s", ""),
    "case when": nest("CASE WHEN a THEN ", "1", " END"),
    "case condition": nest("CASE WHEN ", "a", " THEN 1 ELSE 0 END"),
    "case else": nest("CASE a WHEN 1 THEN 2 ELSE ", "1", " END"),
    "case value": nest("CASE ", "a", " WHEN 1 THEN 2 END"),
    "case branches": listed(" WHEN {i} THEN {j}", "CASE a", " END", ""),
    "case conditions": listed(" WHEN a={i} THEN b", "CASE", " END", ""),
    "if": nest("IF(a,", "1", ",2)"),
    "if condition": nest("IF(", "a", ",1,2)"),
    "ifnull": nest("IFNULL(", "a", ",2)"),
    "coalesce": nest("COALESCE(NULL,", "a", ")"),
    "nullif": nest("NULLIF(", "a", ",2)"),
    "nullif value": nest("NULLIF(2,", "a", ")"),
    "case values": nest("CASE ", "a", " WHEN 1 THEN 2 WHEN b THEN 3 ELSE 1 END"),
    "decode": nest("DECODE_ORACLE(", "a", ",1,2,b,3,1)"),
    "concat": nest("CONCAT(", "s", ",'')"),
    "upper": nest("UPPER(", "s", ")"),
    "replace": nest("REPLACE(", "s", ",'x','xx')"),
    "abs": nest("ABS(", "a", ")"),
    "greatest": nest("GREATEST(1,", "a", ")"),
    "interval function": nest("INTERVAL(", "a", ",1,2)"),
    "cast": nest("CAST(", "a", " AS CHAR)"),
    "cast decimal": nest("CAST(", "a", " AS DECIMAL(20,4))"),
    "convert": nest("CONVERT(", "s", " USING latin1)"),
    "collate": nest("", "s", " COLLATE utf8mb4_bin"),
    "is null": nest("", "a", " IS NULL"),
    "is true": nest("", "a", " IS NOT TRUE"),
    "like": nest("", "s", " LIKE 'x'"),
    "rlike": nest("", "s", " RLIKE 'x'"),
    "between": nest("a BETWEEN 0 AND ", "1", ""),
    "between value": nest("(", "a", " BETWEEN 0 AND 1)"),
    "in list": nest("a IN (1,", "a", ")"),
    "in list value": nest("(", "a", ") IN (1,2)"),
    "in wide": listed("{i}", "a IN (", ")"),
    "in wide columns": listed("b+{i}", "a IN (", ")"),
    "not in wide": listed("{i}", "a NOT IN (", ")"),
    "in strings": listed("'x{i}'", "s IN (", ")"),
    "in rows": listed("({i},{j})", "(a,b) IN (", ")"),
    "rows": nest("ROW(1,", "1", ")=1"),
    "row compared": lambda n: f"ROW({'a,' * n}1)=ROW({'b,' * n}1)",
    "row less": lambda n: f"ROW({'a,' * n}1)<ROW({'b,' * n}1)",
    "row less, equal": lambda n: f"ROW({'a,' * n}1)<=ROW({'a,' * n}b)",
    "row ordered": nest("((", "a", ",1)<(1,b))"),
    "row ordered last": nest("((1,", "a", ")<=(b,1))"),
    "rows ordered both": nest("((", "a", f",1)<({LONG},b))"),
    "rows ordered within": nest("(((", "a", ",1),1)<((1,b),b))"),
    "row in rows": nest("((", "a", ",1) IN ((1,b),(0,2)))"),
    "row in rows behind": nest(f"(({LONG},", "a", ") IN ((1,b),(0,2)))"),
    "row in rows within": nest("(((", "a", ",1),1) IN (((1,b),b),((0,2),3)))"),
    "in columns": nest("(", "a", " IN (1,b,'x'))"),
    "row nested": lambda n: "(1," * n + "a" + ")" * n + "=" + "(1," * n + "1" + ")" * n,
    "and": chain(" AND "),
    "and left": left(" AND "),
    "and right": right(" AND "),
    "or": chain(" OR "),
    "or left": left(" OR "),
    "or right": right(" OR "),
    "and or": mixed("AND a=", "OR b="),
    "and or right": nest("(a=1 AND (b=2 OR ", "a=3", "))"),
    "and not or": nest("(a=1 AND NOT (b=2 OR ", "a=3", "))"),
    "or of and": listed("(a={i} AND b={j})", by=" OR "),
    "and of or": listed("(a={i} OR b={j})", by=" AND "),
    "and ranges": listed("(a<{i} OR a>{j})", by=" AND "),
    "or ranges": listed("(a>{i} AND a<{j})", by=" OR "),
    "or equal": listed("a={i}", by=" OR "),
    "or columns": listed("a={i} OR b={i}", by=" OR "),
    "and equal": listed("a=b+{i}", by=" AND "),
    "and unequal": listed("a<>{i}", by=" AND "),
    "or like": listed("s LIKE '%{i}'", by=" OR "),
    "xor": chain(" XOR "),
    "xor right": right(" XOR "),
    "plus": chain("+"),
    "plus left": left("+"),
    "plus right": right("+"),
    "minus chain": chain("-"),
    "times": chain("*", "1"),
    "times decimal": chain("*", "1.1"),
    "divide": chain("/", "1.1"),
    "divide right": right("/"),
    "mod": chain(" MOD "),
    "bits": mixed("|", "&", "^", "<<", ">>"),
    "equal": chain("="),
    "equal right": right("="),
    "compare": mixed("=", "<", "<=>", "<>"),
    "pipes": chain("||", "s"),
    "sounds like": chain(" SOUNDS LIKE ", "s"),
    "intervals": nest("", "NOW()", " + INTERVAL 1 DAY"),
    "interval amounts": nest("NOW() + INTERVAL ", "1", " DAY"),
    "date_add": nest("DATE_ADD(", "'2020-01-01'", ", INTERVAL 1 DAY)"),
    "strings": chain(" ", "'x'"),
    "assignments": lambda n: "".join(f"@v{i % 50}:=" for i in range(n)) + "1",
    "subquery": nest("(SELECT ", "1", ")"),
    "subquery sum": nest("(1+(SELECT ", "1", "))"),
    "subquery from": nest("(SELECT a+", "1", " FROM t LIMIT 1)"),
    "subquery correlated": lambda n: "".join(f"(SELECT t{i}.a FROM t t{i} WHERE t{i}.a=" for i in range(n)) + "1" + " LIMIT 1)" * n,
    "subquery where": nest("(SELECT 1 FROM t WHERE ", "a", " LIMIT 1)"),
    "subqueries": chain("+", "(SELECT 1)"),
    "subqueries from": chain("+", "(SELECT MAX(a) FROM t)"),
    "exists": nest("EXISTS(SELECT 1 FROM t WHERE ", "1", ")"),
    "not exists": nest("NOT EXISTS(SELECT 1 FROM t WHERE ", "1", ")"),
    "existses": chain(" AND ", "EXISTS(SELECT 1 FROM t)"),
    "in subquery": nest("a IN (SELECT a FROM t WHERE ", "1", ")"),
    "in subqueries": chain(" OR ", "a IN (SELECT b FROM t)"),
    "in subqueries and": chain(" AND ", "a IN (SELECT b FROM t)"),
    "all subquery": nest("a > ALL (SELECT a FROM t WHERE ", "1", ")"),
    "any subquery": nest("a = ANY (SELECT a FROM t WHERE ", "1", ")"),
    "json array": nest("JSON_ARRAY(", "a", ")"),
    "json document": lambda n: f"JSON_EXTRACT('{'[' * n}{']' * n}','$[0][0]')",
    "json objects": lambda n: "JSON_VALID('" + '{"a":' * n + "1" + "}" * n + "')",
    "json path": lambda n: f"JSON_EXTRACT('[1]','${'[0]' * n}')",
    "json stars": lambda n: f"JSON_EXTRACT('[[[[1]]]]','${'**[0]' * n}')",
    "json pretty": lambda n: f"JSON_DETAILED('{'[' * n}1{']' * n}')",
    "json merge": lambda n: f"JSON_MERGE_PATCH('{'[' * n}1{']' * n}','{'[' * n}2{']' * n}')",
    "json search": lambda n: f"JSON_SEARCH('{'[' * n}1{']' * n}','all','1')",
    "json contains": lambda n: f"JSON_CONTAINS('{'[' * n}1{']' * n}','1')",
    "json equals": lambda n: f"JSON_EQUALS('{'[' * n}1{']' * n}','{'[' * n}1{']' * n}')",
    "json normalize": lambda n: f"JSON_NORMALIZE('{'[' * n}1{']' * n}')",
    "json repeat": lambda n: f"JSON_COMPACT(CONCAT(REPEAT('[',{n * 100}),REPEAT(']',{n * 100})))",
    "xml": lambda n: f"EXTRACTVALUE(CONCAT(REPEAT('<a>',{n}),'x',REPEAT('</a>',{n})),'//a')",
    "xml text": lambda n: f"EXTRACTVALUE('{'<a>' * n}x{'</a>' * n}','/a')",
    "xml open": lambda n: f"EXTRACTVALUE(REPEAT('<a>',{n}),'/a')",
    "xml update": lambda n: f"UPDATEXML(CONCAT(REPEAT('<a>',{n}),REPEAT('</a>',{n})),'//a','<b/>')",
    "xpath steps": lambda n: f"EXTRACTVALUE('<a/>','{'/a' * n}')",
    "xpath up": lambda n: f"EXTRACTVALUE('<a><b/></a>','/a/b{'/..' * n}')",
    "xpath parentheses": lambda n: f"EXTRACTVALUE('<a/>','{'(' * n}1{')' * n}')",
    "xpath predicates": lambda n: f"EXTRACTVALUE('<a/>','/a{'[1]' * n}')",
    "xpath nested": lambda n: f"EXTRACTVALUE('<a/>','{'/a[' * n}1{']' * n}')",
    "xpath plus": lambda n: f"EXTRACTVALUE('<a/>','1{'+1' * n}')",
    "xpath minus": lambda n: f"EXTRACTVALUE('<a/>','{'-' * n}1')",
    "xpath union": lambda n: f"EXTRACTVALUE('<a/>','/a{'|/a' * n}')",
    "xpath or": lambda n: f"EXTRACTVALUE('<a/>','/a[1{' or 1' * n}]')",
    "xpath functions": lambda n: f"EXTRACTVALUE('<a/>','{'count(' * n}/a{')' * n}')",
    "xpath not": lambda n: f"EXTRACTVALUE('<a/>','/a[{'not(' * n}1{')' * n}]')",
    "regexp groups": lambda n: f"'x' RLIKE '{'(' * n}x{')' * n}'",
    "regexp literal": lambda n: f"s RLIKE CONCAT(REPEAT('(',{n}),'x',REPEAT(')',{n}))",
    "regexp choices": lambda n: f"s RLIKE '{'x|' * n}y'",
    "regexp repeats": lambda n: f"s RLIKE '{'(' * n}x{'){2}' * n}'",
    "regexp recursion": lambda n: f"REPEAT('(',{n}) RLIKE '^(\\\\((?1)*\\\\))+$'",
    "regexp stars": lambda n: f"REPEAT('x',{n}) RLIKE '^(x|xx)*y$'",
    "like pattern": lambda n: f"s LIKE '{'%x' * n}'",
    "dynamic columns": nest("COLUMN_CREATE('x',", "1", ")"),
    "column_check": lambda n: f"COLUMN_CHECK(CONCAT(REPEAT(x'04010001000000080031',{n * 15}),x'00010001000004'))",
    "column_json": lambda n: f"COLUMN_JSON(CONCAT(REPEAT(x'04010001000000080031',{n * 15}),x'00010001000004'))",
    "column_create": listed("'c{i}',{i}", "COLUMN_CREATE(", ")"),
    "json_object": listed("'c{i}',{i}", "JSON_OBJECT(", ")"),
    "concat wide": listed("a", "CONCAT(", ")"),
    "concat_ws wide": listed("s", "CONCAT_WS(',',", ")"),
    "coalesce wide": listed("a", "COALESCE(", ")"),
    "greatest wide": listed("a+{i}", "GREATEST(", ")"),
    "field": listed("{i}", "FIELD(a,", ")"),
    "elt": listed("{i}", "ELT(a,", ")"),
    "interval wide": listed("{i}", "INTERVAL(a,", ")"),
    "char": listed("{i}", "CHAR(", ")"),
    "make_set": listed("'x'", "MAKE_SET(-1,", ")"),
    "stored function": nest("f(", "a", ")"),
    "dotted": nest("a.", "a", ""),
    "sum": nest("SUM(", "a", ")"),
    "aggregates": listed("SUM(a+{i})", by="+"),
    "aggregate of chain": lambda n: "SUM(" + "+".join(["a"] * (n + 1)) + ")",
    "windows": listed("SUM(a) OVER (ORDER BY b+{i})", by="+"),
    "window of window": nest("SUM(", "a", ") OVER ()"),
    "window keys": listed("a+{i}", "SUM(a) OVER (PARTITION BY ", ")"),
    "window order": listed("a+{i}", "SUM(a) OVER (ORDER BY ", ")"),
    "window frame": lambda n: f"SUM(a) OVER (ORDER BY a ROWS BETWEEN {'(' * n}1{')' * n} PRECEDING AND CURRENT ROW)",
    "window partition": lambda n: f"SUM(a) OVER (PARTITION BY {'(' * n}a{')' * n})",
    "comments": nest("/*!", "a", "*/"),
    "comment": lambda n: "/*" + "x" * n + "*/a",
    "digits": lambda n: "1" * n,
    "fraction": lambda n: "1." + "1" * n,
    "exponent": lambda n: "1e" + "1" * n,
    "hexadecimal": lambda n: "0x" + "61" * n,
    "identifier": lambda n: f"`{'a' * n}`",
}
EXPRESSIONS["windows"] = at_most(640, EXPRESSIONS["windows"])

QUERIES = {
    "derived": nest("SELECT * FROM (", "SELECT a FROM t", ") x"),
    "derived limit": nest("SELECT a FROM (", "SELECT a FROM t", " LIMIT 5) x"),
    "derived group": nest("SELECT a FROM (", "SELECT a FROM t", ") x GROUP BY a"),
    "derived distinct": nest("SELECT DISTINCT a FROM (", "SELECT a FROM t", ") x"),
    "derived doubled": nest("SELECT x+x AS x FROM (", "SELECT a x FROM t", ") y"),
    "derived where": nest("SELECT a FROM (", "SELECT a FROM t", ") x WHERE a>0"),
    "derived join": nest("SELECT x.a FROM t JOIN (", "SELECT a FROM t", ") x ON t.a=x.a"),
    "derived left": nest("SELECT x.a FROM t LEFT JOIN (", "SELECT a FROM t", ") x ON t.a=x.a"),
    "derived union": nest("SELECT * FROM (", "SELECT a FROM t", " UNION SELECT 1) x"),
    "select parentheses": nest("(", "SELECT a FROM t", ")"),
    "table parentheses": lambda n: "SELECT * FROM " + "(" * n + "t" + ")" * n,
    "cte chain": lambda n: "WITH c0 AS (SELECT a x FROM t)" + "".join(
        f",c{i} AS (SELECT x FROM c{i - 1})" for i in range(1, n)) + f" SELECT * FROM c{n - 1}",
    "cte doubled": lambda n: "WITH c0 AS (SELECT a x FROM t)" + "".join(
        f",c{i} AS (SELECT x+x AS x FROM c{i - 1})" for i in range(1, n)) + f" SELECT * FROM c{n - 1}",
    "cte joined": lambda n: "WITH c0 AS (SELECT 1 x)" + "".join(
        f",c{i} AS (SELECT p.x FROM c{i - 1} p JOIN c{i - 1} q)" for i in range(1, n)) + f" SELECT * FROM c{n - 1}",
    "cte union": lambda n: "WITH c0 AS (SELECT 1 x)" + "".join(
        f",c{i} AS (SELECT x FROM c{i - 1} UNION SELECT x+1 FROM c{i - 1})" for i in range(1, min(n, 12))) + f" SELECT * FROM c{min(n, 12) - 1}",
    "cte nested": lambda n: "".join(f"WITH c{i} AS (" for i in range(n)) + "SELECT 1 x" + "".join(
        f") SELECT * FROM c{i}" for i in reversed(range(n))),
    "cte unused": listed("c{i} AS (SELECT {i})", "WITH ", " SELECT 1"),
    "cte recursive": lambda n: f"WITH RECURSIVE r AS (SELECT 1 x UNION ALL SELECT x+1 FROM r WHERE x<{n}) SELECT COUNT(*) FROM r",
    "cte mutual": listed("c{i} AS (SELECT 1 x UNION SELECT x FROM c{j})", "WITH RECURSIVE ", " SELECT 1"),
    "union": chain(" UNION ", "SELECT a FROM t"),
    "union all": chain(" UNION ALL ", "SELECT a FROM t"),
    "union constants": chain(" UNION ", "SELECT 1"),
    "union all constants": chain(" UNION ALL ", "SELECT 1"),
    "except": chain(" EXCEPT ", "SELECT a FROM t"),
    "intersect": chain(" INTERSECT ", "SELECT a FROM t"),
    "set operations": lambda n: "SELECT 1" + "".join(
        f" {('UNION', 'EXCEPT', 'INTERSECT', 'UNION ALL')[i % 4]} SELECT {i % 3}" for i in range(n)),
    "union right": nest("SELECT 1 UNION (", "SELECT 2", ")"),
    "union left": nest("(", "SELECT 1", ") UNION SELECT 2"),
    "except right": nest("SELECT 1 EXCEPT (", "SELECT 2", ")"),
    "intersect left": nest("(", "SELECT 1", ") INTERSECT SELECT 2"),
    "values": listed("({i},{j})", "VALUES "),
    "table value constructor": listed("({i})", "SELECT * FROM (VALUES ", ") x"),
    "joins": lambda n: "SELECT COUNT(*) FROM t t0" + "".join(f" JOIN t t{i} ON t{i}.a=t{i - 1}.a" for i in range(1, n)),
    "joins cross": lambda n: "SELECT COUNT(*) FROM " + ",".join(f"one t{i}" for i in range(n)),
    "joins left": lambda n: "SELECT COUNT(*) FROM t t0" + "".join(f" LEFT JOIN t t{i} ON t{i}.a=t{i - 1}.a" for i in range(1, n)),
    "joins using": lambda n: "SELECT COUNT(*) FROM t t0" + "".join(f" JOIN t t{i} USING (a)" for i in range(1, n)),
    "joins natural": lambda n: "SELECT COUNT(*) FROM t t0" + "".join(f" NATURAL JOIN t t{i}" for i in range(1, n)),
    "joins right deep": lambda n: "SELECT COUNT(*) FROM t " + "".join(f"LEFT JOIN (t t{i} " for i in range(n)) + "".join(
        f") ON t{i}.a=t{i}.b " for i in reversed(range(n))),
    "joins left deep": lambda n: "SELECT COUNT(*) FROM " + "(" * n + "t" + "".join(
        f" JOIN t t{i} ON t.a=t{i}.a)" for i in range(n)),
    "joins without parentheses": lambda n: "SELECT COUNT(*) FROM t" + "".join(f" JOIN t t{i}" for i in range(n)) + " ON 0" * n,
    "joins of constants": lambda n: "SELECT COUNT(*) FROM (SELECT 1) x" + "".join(f" JOIN (SELECT 1) x{i}" for i in range(n)),
    "odbc joins": lambda n: "SELECT COUNT(*) FROM " + "{OJ " * n + "t" + "".join(
        f" LEFT JOIN t t{i} ON 0}}" for i in range(n)),
    "natural joins of derived": lambda n: "SELECT COUNT(*) FROM t t0" + "".join(
        f" NATURAL JOIN (SELECT a FROM t) t{i}" for i in range(1, n)),
    "columns": listed("a", "SELECT ", " FROM t"),
    "columns computed": listed("a+{i} c{i}", "SELECT ", " FROM t"),
    "stars": listed("t.*", "SELECT ", " FROM t"),
    "aggregate columns": listed("SUM(a+{i})", "SELECT ", " FROM t"),
    "aggregates of kinds": at_most(640, listed("MAX(a+{i}),AVG(b),COUNT(DISTINCT a,{i}),GROUP_CONCAT(s),STD(a)", "SELECT ", " FROM t")),
    "aggregates grouped": listed("SUM(a+{i})", "SELECT ", " FROM t GROUP BY b"),
    "having": listed("SUM(a)>{i}", "SELECT b FROM t GROUP BY b HAVING ", "", " AND "),
    "having or": listed("MAX(a+{i})>{i}", "SELECT b FROM t GROUP BY b HAVING ", "", " OR "),
    "group by": listed("a+{i}", "SELECT COUNT(*) FROM t GROUP BY "),
    "group by columns": listed("a", "SELECT COUNT(*) FROM t GROUP BY "),
    "group by select": lambda n: "SELECT " + ",".join(f"a+{i}" for i in range(n)) + " FROM t GROUP BY " + ",".join(f"a+{i}" for i in range(n)),
    "group by rollup": listed("a+{i}", "SELECT COUNT(*) FROM t GROUP BY ", " WITH ROLLUP"),
    "order by": listed("a+{i}", "SELECT a FROM t ORDER BY "),
    "order by columns": listed("a", "SELECT a FROM t ORDER BY "),
    "order by positions": lambda n: "SELECT " + ",".join(f"a+{i}" for i in range(n)) + " FROM t ORDER BY " + ",".join(str(i + 1) for i in range(n)),
    "order by aggregates": listed("SUM(a+{i})", "SELECT b FROM t GROUP BY b ORDER BY "),
    "distinct": listed("a+{i}", "SELECT DISTINCT ", " FROM t"),
    "count distinct": listed("a+{i}", "SELECT COUNT(DISTINCT ", ") FROM t"),
    "group_concat": listed("a+{i}", "SELECT GROUP_CONCAT(", ") FROM t"),
    "group_concat order": listed("a+{i}", "SELECT GROUP_CONCAT(a ORDER BY ", ") FROM t"),
    "window columns": at_most(640, listed("SUM(a) OVER (PARTITION BY a+{i} ORDER BY b)", "SELECT ", " FROM t")),
    "named windows": lambda n: "SELECT a FROM t WINDOW w0 AS (ORDER BY a)" + "".join(f",w{i} AS (w{i - 1})" for i in range(1, n)),
    "windows used": lambda n: "SELECT " + ",".join(f"ROW_NUMBER() OVER w{i}" for i in range(n)) + " FROM t WINDOW " + ",".join(
        f"w{i} AS (ORDER BY a+{i})" for i in range(n)),
    # Names of columns are compared with each other: 80,000 take half a minute.
    "json_table columns": lambda n: listed("c{i} INT PATH '$.a'", "SELECT * FROM JSON_TABLE('[1]','$[*]' COLUMNS(", ")) x")(min(n, 20_000)),
    "json_table nested": lambda n: "SELECT * FROM JSON_TABLE('[1]','$[*]' COLUMNS(" + "".join(
        f"c{i} INT PATH '$', NESTED PATH '$[*]' COLUMNS(" for i in range(n)) + "c INT PATH '$'" + ")" * n + ")) x",
    "index hints": lambda n: "SELECT a FROM t " + "IGNORE INDEX (k) " * n,
    "index hint list": listed("k", "SELECT a FROM t IGNORE INDEX (", ")"),
    "into variables": lambda n: "SELECT " + ",".join(["1"] * n) + " INTO " + ",".join(f"@v{i}" for i in range(n)),
    "placeholders": listed("?", "SELECT "),
    "unknown columns": listed("x{i}", "SELECT ", " FROM t"),
    "aliases": lambda n: "SELECT a c0" + "".join(f",(SELECT c{i - 1}) c{i}" for i in range(1, n)) + " FROM t",
    "where equalities": lambda n: "SELECT COUNT(*) FROM " + ",".join(f"t t{i}" for i in range(min(n, 61))) + " WHERE " + " AND ".join(
        f"t{i % min(n, 61)}.a=t{i * 7 % min(n, 61)}.a" for i in range(n)),
    "where of joins": lambda n: "SELECT COUNT(*) FROM t x JOIN t y WHERE " + " OR ".join(f"(x.a={i} AND y.a={i})" for i in range(n)),
    "update": listed("a=a+{i}", "UPDATE t SET "),
    "update columns": listed("a={i},b={j}", "UPDATE t SET ", " WHERE a<0"),
    "insert": listed("({i},{j},'x')", "INSERT INTO scratch VALUES "),
    "insert select": listed("a+{i}", "INSERT INTO scratch (a) SELECT ", " FROM t"),
    "insert columns": listed("a", "INSERT INTO scratch (", ") VALUES (1)"),
    "insert update": listed("a=VALUES(a)+{i}", "INSERT INTO scratch VALUES (1,2,'x') ON DUPLICATE KEY UPDATE "),
    "returning": listed("a+{i}", "INSERT INTO scratch VALUES (1,2,'x') RETURNING "),
    "delete tables": lambda n: "DELETE " + ",".join(f"t{i}" for i in range(n)) + " FROM " + ",".join(f"one t{i}" for i in range(n)) + " WHERE 0",
    "set": listed("@v{i}={i}", "SET "),
    "do": listed("{i}", "DO "),
    "call": listed("{i}", "CALL nothing(", ")"),
    "show like": lambda n: f"SHOW TABLES LIKE '{'%a' * n}'",
    "show where": lambda n: "SHOW TABLES WHERE " + "(" * n + "1" + ")" * n,
    "handler": lambda n: "HANDLER t READ FIRST WHERE " + "(" * n + "1" + ")" * n,
    "kill": lambda n: "KILL QUERY " + "(" * n + "0" + ")" * n,
    "limit": lambda n: "SELECT a FROM t LIMIT " + "1" * n,
    "executable comments": nest("/*! SELECT ", "1", " */"),
}
QUERIES["windows used"] = at_most(640, QUERIES["windows used"])
# 10,000 keys of a group take a second, a fifth of MariaDB's time.
for keys in ("group by", "group by columns", "group by select", "group by rollup"):
    QUERIES[keys] = at_most(10_000, QUERIES[keys])

PROGRAMS = {
    "begin": nest("BEGIN ", "DO 1;", " END;"),
    "if": nest("IF 1 THEN ", "DO 1;", " END IF;"),
    "elseif": lambda n: "IF 0 THEN DO 0; " + "".join(f"ELSEIF {i} THEN DO {i}; " for i in range(n)) + "END IF;",
    "else": nest("IF 0 THEN DO 0; ELSE ", "DO 1;", " END IF;"),
    "case": nest("CASE 1 WHEN 1 THEN ", "DO 1;", " END CASE;"),
    "case whens": lambda n: "CASE 1 " + "".join(f"WHEN {i} THEN DO {i}; " for i in range(n)) + "ELSE DO 1; END CASE;",
    "case searched": nest("CASE WHEN 1 THEN ", "DO 1;", " END CASE;"),
    "loop": lambda n: "".join(f"l{i}: LOOP " for i in range(n)) + "DO 1; LEAVE l0;" + " END LOOP;" * n,
    "while": nest("WHILE 0 DO ", "DO 1;", " END WHILE;"),
    "repeat": nest("REPEAT ", "DO 1;", " UNTIL 1 END REPEAT;"),
    "for": lambda n: "".join(f"FOR i{i} IN 1..1 DO " for i in range(n)) + "DO 1;" + " END FOR;" * n,
    "for cursor": lambda n: "".join(f"FOR r{i} IN (SELECT a FROM one) DO " for i in range(n)) + "DO 1;" + " END FOR;" * n,
    "handlers": nest("BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION ", "DO 1;", " SIGNAL SQLSTATE '45000'; END;"),
    "handler list": lambda n: "BEGIN " + "".join(f"DECLARE CONTINUE HANDLER FOR {i + 1} DO 1; " for i in range(n)) + "DO 1; END;",
    "cursors": lambda n: "BEGIN " + "".join(f"DECLARE c{i} CURSOR FOR SELECT {i}; " for i in range(n)) + "DO 1; END;",
    "variables": lambda n: "BEGIN " + "".join(f"DECLARE v{i} INT DEFAULT {i}; " for i in range(n)) + "DO 1; END;",
    "variable list": listed("v{i}", "BEGIN DECLARE ", " INT DEFAULT 1; DO 1; END;"),
    "conditions": lambda n: "BEGIN " + "".join(f"DECLARE c{i} CONDITION FOR {i + 1}; " for i in range(n)) + "DO 1; END;",
    "variables shadowed": lambda n: "".join(f"BEGIN DECLARE v INT DEFAULT {i}; " for i in range(n)) + "DO v;" + " END;" * n,
    "statements": lambda n: "DO 1;" * n,
    "labels": lambda n: "".join(f"l{i}: BEGIN " for i in range(n)) + "LEAVE l0;" + " END;" * n,
    "mixed": lambda n: "".join(("IF 1 THEN ", "BEGIN ", "CASE 1 WHEN 1 THEN ")[i % 3] for i in range(n)) + "DO 1;" + "".join(
        (" END IF;", " END;", " END CASE;")[i % 3] for i in reversed(range(n))),
}


def views(definition, use="SELECT * FROM v{}"):
    """Views that each read the previous one, and a query on the last one."""
    def statements(n):
        n = min(n, 320)
        yield "CREATE OR REPLACE VIEW v0 AS SELECT a x FROM t"
        for i in range(1, n):
            yield f"CREATE OR REPLACE VIEW v{i} AS " + definition.replace("V", f"v{i - 1}")
        last = use.format(n - 1)
        for how in ("", "EXPLAIN ", "EXPLAIN EXTENDED ", "EXPLAIN FORMAT=JSON ", "ANALYZE ", "ANALYZE FORMAT=JSON "):
            yield how + last
            if how == "EXPLAIN EXTENDED ":
                yield "SHOW WARNINGS"
        yield f"SHOW CREATE VIEW v{n - 1}"
        yield f"SHOW COLUMNS FROM v{n - 1}"
        yield "SELECT COUNT(*) FROM information_schema.views"
        yield "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema=DATABASE()"
        yield f"UPDATE v{n - 1} SET x=x WHERE x<0"
        yield f"DELETE FROM v{n - 1} WHERE x<0"
        yield f"INSERT INTO v{n - 1} SELECT x FROM v{n - 1} WHERE x<0"
        yield "CHECK TABLE v1"
        yield "DROP VIEW " + ",".join(f"v{i}" for i in range(n))
    return statements


def recursion(create, use, drop):
    def statements(n):
        yield f"SET max_sp_recursion_depth={min(n, 255)}"
        yield create.replace("N", str(n))
        yield use.replace("N", str(n))
        yield drop
    return statements


def tables(*definitions):
    return lambda n: [*(text if isinstance(text, str) else text(n) for text in definitions)]


STATEMENTS = {
    "views": views("SELECT x FROM V"),
    "views doubled": views("SELECT x+x AS x FROM V"),
    "views of case": views("SELECT CASE WHEN x>0 THEN x ELSE -x END AS x FROM V"),
    "views filtered": views("SELECT x FROM V WHERE x>0"),
    "views filtered doubled": views("SELECT x+x AS x FROM V WHERE x>0 OR x<9"),
    "views joined": views("SELECT p.x FROM V p JOIN one q"),
    "views doubly joined": views("SELECT p.x FROM V p JOIN V q ON p.x=q.x"),
    "views in subqueries": views("SELECT (SELECT MAX(x) FROM V) AS x"),
    # The number of tables doubles with each view, in MariaDB's plans too.
    "views in subqueries twice": lambda n: views("SELECT x FROM V WHERE x IN (SELECT x FROM V)")(min(n, 15)),
    "views of temporary tables": lambda n: views("SELECT DISTINCT x FROM V")(min(n, 80)),
    "views of unions": views("SELECT x FROM V UNION SELECT 1"),
    "views of unions twice": lambda n: views("SELECT x FROM V UNION ALL SELECT x FROM V")(min(n, 16)),
    "views checked": views("SELECT x FROM V WHERE x>0 WITH CASCADED CHECK OPTION"),
    "procedure recursion": recursion(
        "CREATE OR REPLACE PROCEDURE r(n INT) BEGIN IF n>0 THEN CALL r(n-1); END IF; END", "CALL r(N)", "DROP PROCEDURE r"),
    "function recursion": recursion(
        "CREATE OR REPLACE FUNCTION r(n INT) RETURNS INT RETURN IF(n>0,r(n-1),0)", "SELECT r(N)", "DROP FUNCTION r"),
    "function by functions": lambda n: [
        *(f"CREATE OR REPLACE FUNCTION f{i}() RETURNS INT RETURN " + (f"f{i - 1}()" if i else "1") for i in range(min(n, 320))),
        f"SELECT f{min(n, 320) - 1}()", *(f"DROP FUNCTION f{i}" for i in range(min(n, 320)))],
    "function doubled": lambda n: [
        *(f"CREATE OR REPLACE FUNCTION f{i}() RETURNS INT RETURN " + (f"f{i - 1}()+f{i - 1}()" if i else "1") for i in range(min(n, 10))),
        f"SELECT f{min(n, 10) - 1}()", *(f"DROP FUNCTION f{i}" for i in range(min(n, 10)))],
    "trigger chain": lambda n: [
        *(f"CREATE OR REPLACE TABLE c{i} (a INT)" for i in range(min(n, 100))),
        *(f"CREATE TRIGGER c{i} AFTER INSERT ON c{i} FOR EACH ROW INSERT INTO c{i + 1} VALUES (NEW.a)" for i in range(min(n, 100) - 1)),
        "INSERT INTO c0 VALUES (1)", *(f"DROP TABLE c{i}" for i in range(min(n, 100)))],
    "triggers of a table": lambda n: [
        "CREATE OR REPLACE TABLE c0 (a INT)",
        *(f"CREATE TRIGGER c{i} BEFORE INSERT ON c0 FOR EACH ROW SET NEW.a=NEW.a+1" for i in range(min(n, 320))),
        "INSERT INTO c0 VALUES (1)", "DROP TABLE c0"],
    "foreign key chain": lambda n: [
        *(f"CREATE OR REPLACE TABLE k{i} (a INT PRIMARY KEY" + (f", FOREIGN KEY (a) REFERENCES k{i - 1} (a) ON DELETE CASCADE" if i else "") + ")"
          for i in range(min(n, 80))),
        *(f"INSERT INTO k{i} VALUES (1)" for i in range(min(n, 80))), "DELETE FROM k0",
        *(f"DROP TABLE k{i}" for i in reversed(range(min(n, 80))))],
    "foreign key to itself": lambda n: [
        "CREATE OR REPLACE TABLE k (a INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES k (a) ON DELETE CASCADE)",
        "INSERT INTO k VALUES (0,NULL)" + "".join(f",({i},{i - 1})" for i in range(1, min(n, 20000))), "DELETE FROM k WHERE a=0", "DROP TABLE k"],
    "prepared": lambda n: [f"EXECUTE IMMEDIATE 'SELECT {'(' * n}1{')' * n}'"],
    "immediate in immediate": lambda n: ["SET @s='SELECT 1'", *("SET @s=CONCAT('EXECUTE IMMEDIATE ',QUOTE(@s))" for _ in range(min(n, 14))), "EXECUTE IMMEDIATE @s"],
    "temporary tables": lambda n: [*(f"CREATE TEMPORARY TABLE x{i} (a INT)" for i in range(min(n, 160))),
                                   *(f"DROP TEMPORARY TABLE x{i}" for i in range(min(n, 160)))],
    "create columns": tables(listed("c{i} INT", "CREATE OR REPLACE TABLE w (", ")"), "SHOW CREATE TABLE w", "INSERT INTO w () VALUES ()",
                             "SELECT * FROM w", "ALTER TABLE w ADD z INT", "DROP TABLE IF EXISTS w"),
    "create text columns": tables(listed("c{i} TEXT DEFAULT 'x'", "CREATE OR REPLACE TABLE w (", ")"), "INSERT INTO w () VALUES ()",
                                  "SELECT * FROM w ORDER BY c0", "DROP TABLE IF EXISTS w"),
    "create indexes": tables(listed("c{i} INT, KEY(c{i})", "CREATE OR REPLACE TABLE w (", ")"), "INSERT INTO w () VALUES ()",
                             "DROP TABLE IF EXISTS w"),
    "create same indexes": tables(listed("KEY k{i} (a)", "CREATE OR REPLACE TABLE w (a INT,", ")"), "DROP TABLE IF EXISTS w"),
    "create key parts": tables(lambda n: "CREATE OR REPLACE TABLE w (" + ",".join(f"c{i} INT" for i in range(n)) + ",KEY(" + ",".join(
        f"c{i}" for i in range(n)) + "))", "DROP TABLE IF EXISTS w"),
    "create checks": tables(listed("CHECK (a<>{i})", "CREATE OR REPLACE TABLE w (a INT,", ")"), "SHOW CREATE TABLE w",
                            "INSERT INTO w VALUES (-1)", "DROP TABLE IF EXISTS w"),
    "create generated": tables(lambda n: "CREATE OR REPLACE TABLE w (c0 INT" + "".join(f",c{i} INT AS (c{i - 1}+1)" for i in range(1, n)) + ")",
                               "SHOW CREATE TABLE w", "INSERT INTO w (c0) VALUES (1)", "SELECT * FROM w", "UPDATE w SET c0=2", "DROP TABLE IF EXISTS w"),
    "create generated doubled": tables(
        lambda n: "CREATE OR REPLACE TABLE w (c0 BIGINT" + "".join(f",c{i} BIGINT AS ((c{i - 1}+c{i - 1}) % 1000)" for i in range(1, n)) + ")",
        "INSERT INTO w (c0) VALUES (1)", lambda n: f"SELECT c{n - 1} FROM w", lambda n: f"SELECT c{n - 1} FROM w WHERE c{n - 1}=1",
        "UPDATE w SET c0=2", "DROP TABLE IF EXISTS w"),
    "create enum": tables(listed("'e{i}'", "CREATE OR REPLACE TABLE w (e ENUM(", "))"), "SHOW CREATE TABLE w", "INSERT INTO w VALUES ('e1')",
                          "SELECT * FROM w WHERE e='e1'", "DROP TABLE IF EXISTS w"),
    "create set": tables(listed("'e{i}'", "CREATE OR REPLACE TABLE w (e SET(", "))"), "DROP TABLE IF EXISTS w"),
    "create foreign keys": tables("CREATE OR REPLACE TABLE p (a INT PRIMARY KEY)",
                                  listed("FOREIGN KEY (a) REFERENCES p (a)", "CREATE OR REPLACE TABLE w (a INT,", ")"),
                                  "INSERT INTO w VALUES (1)", "DROP TABLE IF EXISTS w", "DROP TABLE IF EXISTS p"),
    "alter": tables("CREATE OR REPLACE TABLE w (a INT)", listed("ADD c{i} INT", "ALTER TABLE w "), listed("DROP c{i}", "ALTER TABLE w "),
                    "DROP TABLE IF EXISTS w"),
    "alter defaults": tables("CREATE OR REPLACE TABLE w (a INT)", listed("ALTER a SET DEFAULT {i}", "ALTER TABLE w "), "DROP TABLE IF EXISTS w"),
    "partitions": tables(listed("PARTITION p{i} VALUES LESS THAN ({i})", "CREATE OR REPLACE TABLE w (a INT) PARTITION BY RANGE (a) (", ")"),
                         "DROP TABLE IF EXISTS w"),
    "partition expression": tables(lambda n: "CREATE OR REPLACE TABLE w (a INT) PARTITION BY HASH (" + "(" * n + "a" + ")" * n + ") PARTITIONS 2",
                                   "DROP TABLE IF EXISTS w"),
    "drop tables": tables(listed("none{i}", "DROP TABLE IF EXISTS ")),
    "rename": tables(listed("none{i} TO none{j}", "RENAME TABLE ")),
    "lock": tables(listed("t t{i} READ", "LOCK TABLES "), "UNLOCK TABLES"),
    "grants": tables(listed("SELECT (c{i})", "GRANT ", " ON d.t TO root@localhost")),
    "users": tables(listed("u{i}", "DROP USER IF EXISTS ")),
    "parameters": tables(listed("p{i} INT", "CREATE OR REPLACE PROCEDURE w(", ") DO 1"), listed("{i}", "CALL w(", ")"), "DROP PROCEDURE IF EXISTS w"),
    "multiple": tables(listed("DO {i}", by=";")),
    "name parts": tables(nest("SELECT * FROM d.", "t", "")),
    "check table": tables(listed("t", "CHECK TABLE ")),
    "explain explain": tables(nest("EXPLAIN ", "SELECT 1", "")),
    "set statement": tables(nest("SET STATEMENT sort_buffer_size=100000 FOR ", "SELECT 1", "")),
    "prepare prepare": tables(nest("PREPARE s FROM ", "'SELECT 1'", "")),
    "signal": tables(lambda n: "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT='" + "x" * n + "'"),
    "savepoints": lambda n: ["BEGIN", *(f"SAVEPOINT s{i}" for i in range(min(n, 640))), "ROLLBACK TO s0", "ROLLBACK"],
}
