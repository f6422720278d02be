# Wide rows are compared in parts; the first pair that differs decides, also across parts.
CREATE TABLE t (a INT, b INT, c INT);
INSERT INTO t VALUES (1, 1, 1), (1, 2, 3), (2, 1, 0), (NULL, 1, 2), (1, NULL, 2), (2, 2, NULL);
CREATE PROCEDURE compare(width INT, at INT) BEGIN SET @left = CONCAT(REPEAT('1,', at), 'a,', REPEAT('b,', width - at - 2), 'c'); SET @right = CONCAT(REPEAT('1,', at), 'b,', REPEAT('1,', width - at - 2), '2'); SET @pair = CONCAT('(', @left, ') OP (', @right, ')'); SET @text = CONCAT('SELECT ', REPLACE(@pair, 'OP', '<'), ' lt, ', REPLACE(@pair, 'OP', '<='), ' le, ', REPLACE(@pair, 'OP', '>'), ' gt, '); SET @text = CONCAT(@text, REPLACE(@pair, 'OP', '>='), ' ge, ', REPLACE(@pair, 'OP', '='), ' eq FROM t'); EXECUTE IMMEDIATE @text; END;
CALL compare(2, 0);
CALL compare(63, 61);
CALL compare(64, 62);
CALL compare(65, 63);
CALL compare(65, 10);
CALL compare(128, 64);
CALL compare(129, 63);
CALL compare(129, 127);
CALL compare(200, 130);
DROP PROCEDURE compare;
DROP TABLE t;
