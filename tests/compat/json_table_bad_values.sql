-- Values that do not fit are warnings, row after row, even of strict statements; columns that nothing reads are not
-- converted.
CREATE TABLE t (id INT, d TEXT);
INSERT INTO t VALUES (1, '["1","x","y"]'), (2, '["z",5]'), (3, '["w"]');
SELECT * FROM JSON_TABLE('["x","y","1","2023-02-30"]', '$[*]' COLUMNS (a INT PATH '$', b DATE PATH '$', c CHAR(1) PATH '$')) j;
SHOW WARNINGS;
SELECT t.id, j.a FROM t, JSON_TABLE(t.d, '$[*]' COLUMNS (a INT PATH '$', b DATE PATH '$')) j;
SHOW WARNINGS;
SELECT t.id, j.a FROM t LEFT JOIN JSON_TABLE(t.d, '$[*]' COLUMNS (a INT PATH '$')) j ON j.a > 0;
SHOW WARNINGS;
SELECT * FROM JSON_TABLE('[{"x":"q","y":["1","b","c"]},{"x":"1","y":["d"]}]', '$[*]' COLUMNS (a INT PATH '$.x', NESTED PATH '$.y[*]' COLUMNS (b INT PATH '$'))) j;
SHOW WARNINGS;
CREATE TABLE n (a INT, b DATE);
INSERT INTO n SELECT * FROM JSON_TABLE('["q","1","r"]', '$[*]' COLUMNS (a INT PATH '$', b DATE PATH '$')) j;
SHOW WARNINGS;
INSERT INTO n (a) SELECT j.a FROM JSON_TABLE('["q","1","r"]', '$[*]' COLUMNS (a INT PATH '$', b DATE PATH '$')) j;
SHOW WARNINGS;
INSERT INTO n (a) SELECT CAST(id AS CHAR) + 'x' FROM t;
CREATE TABLE m AS SELECT j.a FROM JSON_TABLE('["q"]', '$[*]' COLUMNS (a INT PATH '$')) j;
SELECT * FROM n;
SELECT o FROM JSON_TABLE('["q",{}]', '$[*]' COLUMNS (a INT PATH '$.x' ERROR ON EMPTY, o FOR ORDINALITY)) j;
SELECT o FROM JSON_TABLE('[{"x":[1]}]', '$[*]' COLUMNS (a INT PATH '$.x' ERROR ON ERROR, o FOR ORDINALITY)) j;
SELECT COUNT(*) FROM JSON_TABLE('[{"x":[1,2]}]', '$[*]' COLUMNS (a INT PATH '$.x' DEFAULT 'bad' ON ERROR, o FOR ORDINALITY)) j;
DROP TABLE t, n, m;
