-- A backslash that becomes Shift-JIS is the one of two bytes.
CREATE TABLE t (id INT, s VARCHAR(10) CHARACTER SET sjis, u VARCHAR(10) CHARACTER SET utf8mb4, a VARCHAR(10) CHARACTER SET ascii);
INSERT INTO t VALUES (1, 'A\\b', 'A\\b', 'A\\b'), (2, '\\', '\\', '\\'), (3, _sjis'q\\', 'z', '\\');
SELECT id, HEX(s), HEX(u), HEX(a) FROM t;
UPDATE t SET s = u WHERE id = 1;
SELECT id, s = u, s = a, s LIKE 'A\\\\%', s LIKE '%\\\\', s = '\\', HEX(CONCAT(s, a)), HEX(REPLACE(s, '\\', '/')), LOCATE('\\', s), HEX(CONVERT(a USING sjis)), HEX(CONVERT(s USING utf8mb4)) FROM t;
SELECT id FROM t WHERE s IN ('\\', 'q\\');
SELECT HEX(CONVERT(_gbk'A\\b' USING sjis)), HEX(CONVERT(_latin1'\\~' USING sjis)), HEX(CONVERT(x'5C' USING sjis)), HEX(CONVERT('\\~' USING cp932));
ALTER TABLE t MODIFY u VARCHAR(10) CHARACTER SET sjis, MODIFY a VARCHAR(10) CHARACTER SET sjis;
SELECT id, HEX(s), HEX(u), HEX(a) FROM t;
ALTER TABLE t MODIFY s VARCHAR(10) CHARACTER SET utf8mb4;
SELECT id, HEX(s) FROM t;
DROP TABLE t;
