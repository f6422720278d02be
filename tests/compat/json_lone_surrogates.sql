-- Escapes of halves of characters are no JSON.
SELECT JSON_VALID('"\\ud83d\\ude00"'), JSON_VALID('"\\ud800"'), JSON_VALID('"\\udc00"'), JSON_VALID('"\\ud800\\n"'), JSON_VALID('"\\ud800\\u0041"'), JSON_VALID('{"\\ud800":1}');
SHOW WARNINGS;
SELECT JSON_EXTRACT('"\\ud800"', '$'), JSON_LENGTH('["ab\\udc00"]'), JSON_COMPACT('"\\ud800\\ud800"');
SELECT JSON_UNQUOTE('"\\ud800"'), JSON_UNQUOTE('"\\udc00"'), JSON_UNQUOTE('"\\ud83d\\ude00"');
SELECT * FROM JSON_TABLE('["\\ud800"]', '$[*]' COLUMNS (a VARCHAR(10) PATH '$')) j;
CREATE TABLE t (j JSON);
INSERT INTO t VALUES ('"\\ud800"');
INSERT INTO t VALUES ('"\\ud83d\\ude00"');
SELECT * FROM t;
DROP TABLE t;
