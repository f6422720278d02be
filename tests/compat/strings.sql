-- Strings: lengths of results, keys of the old ciphers, bytes that are no text.
CREATE TABLE t (a VARCHAR(10) CHARACTER SET latin1, b VARCHAR(3) CHARACTER SET latin1);
INSERT INTO t VALUES ('', 'x'), (NULL, 'y'), ('b', 'z');
-- REPLACE may replace every character.
CREATE TABLE r AS SELECT REPLACE('a', a, b) x, REPLACE('aaaa', 'aa', 'bbbb') y, REPLACE(a, 'b', '') z FROM t;
SHOW CREATE TABLE r;
-- A pattern applied to bytes reads them as text, and they may be invalid text.
SET @latin = _latin1'a';
SET NAMES latin1;
SELECT 0xE001 REGEXP @latin, 0x61E001 REGEXP @latin;
SELECT 0x80 REGEXP @latin;
SELECT 0xC3 REGEXP @latin;
SELECT 0xE280 REGEXP @latin;
SELECT 0xF0 REGEXP @latin;
SELECT 0xE2E280 REGEXP @latin;
SELECT 0xE282E2 REGEXP @latin;
SELECT 0xF09FE2E2 REGEXP @latin;
SELECT 0xF8888080 REGEXP @latin;
SELECT 0xF888808080 REGEXP @latin;
SELECT 0xFC8880808080 REGEXP @latin;
SELECT 0xFE REGEXP @latin;
SELECT 0xEDA080 REGEXP @latin;
SELECT 0xC080 REGEXP @latin;
SELECT 0xE08080 REGEXP @latin;
SELECT 0xF0808080 REGEXP @latin;
SELECT 0xF4908080 REGEXP @latin;
SELECT REGEXP_INSTR(0xE001, @latin), REGEXP_SUBSTR(0xE001, @latin);
SELECT HEX(REGEXP_REPLACE(0xE001, @latin, 'b'));
SET NAMES utf8mb4;
-- A result longer than a packet is cut to its length, with one warning.
SELECT LENGTH(CAST('ab' AS BINARY(16777217)));
SELECT LENGTH(CAST(b AS BINARY(16777217))) FROM t;
SELECT LENGTH(CAST(b AS CHAR(16777217))) FROM t;
SELECT WEIGHT_STRING(a AS BINARY(16777217)) FROM t;
SELECT WEIGHT_STRING(a AS CHAR(16777217)) FROM t;
SELECT WEIGHT_STRING(NULL AS BINARY(16777217));
-- Keys of DES are texts, or numbers up to nine.
SELECT HEX(DES_ENCRYPT('foo', '')), HEX(DES_ENCRYPT('foo', 1)), HEX(DES_ENCRYPT('foo', '1'));
SELECT HEX(DES_ENCRYPT('foo', 10)), HEX(DES_ENCRYPT('foo', -1)), HEX(DES_ENCRYPT('foo', NULL));
SELECT HEX(DES_ENCRYPT('', 'a')), HEX(DES_ENCRYPT(NULL, 'a'));
SELECT HEX(DES_ENCRYPT('foo', a)) FROM t;
SELECT DES_DECRYPT(DES_ENCRYPT('foo', ''), '');
SELECT HEX(DES_DECRYPT(DES_ENCRYPT('foo', 'a'), 'b'));
SELECT HEX(DES_DECRYPT(DES_ENCRYPT('foo', 'a'), NULL));
CREATE TABLE d AS SELECT DES_ENCRYPT('a') x, DES_DECRYPT('abc') y, DES_ENCRYPT(a) z, DES_DECRYPT(a) w FROM t;
SHOW CREATE TABLE d;
-- The length of a result is also computed at binding.
SELECT LEFT('abc', IF('x', 1, 2)), SPACE('1x'), REPEAT('a', '2x');
SELECT SUBSTR('abc', '2x', IF('y', 1, 2)), ROUND(1.25, '1x'), ROUND(12, '1x');
SELECT LPAD('abc', '1x', 'x'), FORMAT(1.25, '1x'), REPEAT('a', '1x') FROM t;
-- IS NULL of an expression that cannot be NULL does not compute it.
SELECT ('a' + 1) IS NULL, ISNULL('b' + 1), ('c' + 1) IS NOT NULL, CONCAT('d' + 1) IS NULL;
SELECT 1 FROM t WHERE ('a' + 1) IS NULL;
-- Escape characters are those of the pattern's character set.
SELECT _koi8r'a%' LIKE _koi8r 0x61CA25 ESCAPE _koi8r 0xCA, _koi8r'ab' LIKE _koi8r 0x61CA25 ESCAPE _koi8r 0xCA;
SELECT _latin1'a%' LIKE _latin1 0x61E925 ESCAPE 'é', 'a%' LIKE 'aé%' ESCAPE 'é';
CREATE TABLE l (a VARCHAR(10), b INT DEFAULT (a LIKE '%f\\_'), c INT AS (a LIKE '%f\\_' ESCAPE '\\'), CHECK (a LIKE '_\\_f%'));
CREATE VIEW lv AS SELECT a LIKE '%f\\_' FROM l;
SET sql_mode = NO_BACKSLASH_ESCAPES;
INSERT INTO l (a) VALUES ('1_f_');
INSERT INTO l (a) VALUES ('1 f_');
SELECT * FROM l;
SELECT * FROM lv;
SELECT a LIKE '%f\_' FROM l;
SET sql_mode = DEFAULT;
UPDATE (SELECT 1 LIKE 2 ESCAPE (1 IN (SELECT 1 FROM t))) x, l SET l.a = 1;
UPDATE (SELECT 1 LIKE 2 ESCAPE (1 IN (SELECT 1))) x, l SET l.a = '2_f';
SELECT 1 LIKE 2 ESCAPE (1 IN (SELECT 1 FROM t));
-- Bytes cut to a length are shown in hexadecimal.
SELECT CAST(0x61E9FF AS CHAR(1));
SELECT CAST(COMPRESS('bar') AS CHAR(4)) IS NULL;
