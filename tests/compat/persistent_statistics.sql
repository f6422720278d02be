-- Engine-independent statistics: what ANALYZE ... PERSISTENT stores, and what becomes of it when definitions change.
SET histogram_size = 8, histogram_type = DOUBLE_PREC_HB;

CREATE TABLE kinds (
  id INT PRIMARY KEY, ascii VARCHAR(20) CHARACTER SET latin1, wide VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci,
  bytes VARBINARY(10), padded CHAR(5) CHARACTER SET latin1, choice ENUM('b','a','c'), some SET('x','y'), bits BIT(5),
  at DATETIME, day DATE, clock TIME, y YEAR, exact DECIMAL(10,3), approximate DOUBLE, address INET6,
  large BIGINT UNSIGNED, long_text VARCHAR(300), nothing INT, constant INT DEFAULT 5, many_nulls INT, document TEXT
);

INSERT INTO kinds (id, ascii, wide, bytes, padded, choice, some, bits, at, day, clock, y, exact, approximate, address, large,
  long_text, many_nulls, document)
SELECT seq, concat('abc', lpad(seq, 3, '0')), concat('ab', seq), char(seq), concat('e', seq), seq % 3 + 1, seq % 4, seq % 32,
  '2020-01-01' + INTERVAL seq * 7 HOUR, '2020-01-01' + INTERVAL seq * 5 DAY, sec_to_time(CAST(seq AS SIGNED) * 1000 - 5000),
  1990 + seq % 30, seq / 7, seq * 1.1, concat('::', hex(seq)), seq * seq, repeat(concat('a', seq), 50),
  if(seq % 4 = 0, NULL, seq % 10), 'x' FROM seq_1_to_100;

ANALYZE TABLE kinds PERSISTENT FOR ALL;

SELECT column_name, min_value, left(max_value, 40), nulls_ratio, avg_length, avg_frequency, hist_size, hist_type, hex(histogram)
FROM mysql.column_stats WHERE db_name = database() AND table_name = 'kinds' ORDER BY column_name;

SELECT column_name, decode_histogram(hist_type, histogram)
FROM mysql.column_stats WHERE db_name = database() AND table_name = 'kinds' ORDER BY column_name;

SET histogram_type = SINGLE_PREC_HB;

ANALYZE TABLE kinds PERSISTENT FOR COLUMNS (large, many_nulls) INDEXES ();

SELECT column_name, hist_type, hex(histogram), decode_histogram(hist_type, histogram)
FROM mysql.column_stats WHERE db_name = database() AND column_name IN ('large', 'many_nulls', 'id') ORDER BY column_name;

SET histogram_type = JSON_HB;

ANALYZE TABLE kinds PERSISTENT FOR ALL;

SELECT column_name, hist_size, regexp_replace(histogram, 'collected.*\n', '')
FROM mysql.column_stats WHERE db_name = database() AND table_name = 'kinds' AND column_name <> 'document' ORDER BY column_name;

SET histogram_size = 0;

ANALYZE TABLE kinds PERSISTENT FOR COLUMNS (large, missing) INDEXES (PRIMARY);

ANALYZE TABLE kinds PERSISTENT FOR COLUMNS () INDEXES (missing);

SELECT column_name, hist_size, hist_type, histogram FROM mysql.column_stats
WHERE db_name = database() AND column_name = 'large';

SELECT table_name, cardinality FROM mysql.table_stats WHERE db_name = database();

-- Indexes: parts, NULLs, prefixes, and the clustered key behind.
CREATE TABLE k (
  id INT, id2 INT, a INT, b INT NOT NULL, c VARCHAR(10), PRIMARY KEY (id, id2), UNIQUE ua (a), UNIQUE ub (b), KEY kc (c),
  KEY kca (c(2), id2), KEY kb (b, id), KEY kn (a, c)
) ENGINE=InnoDB;

INSERT INTO k SELECT seq, seq, if(seq % 4 = 0, NULL, seq), seq, concat('c', seq % 5) FROM seq_1_to_20;

ANALYZE TABLE k PERSISTENT FOR ALL;

SELECT index_name, prefix_arity, avg_frequency FROM mysql.index_stats
WHERE db_name = database() AND table_name = 'k' ORDER BY index_name, prefix_arity;

CREATE TABLE m (id INT PRIMARY KEY, a INT, KEY (a)) ENGINE=MyISAM;

INSERT INTO m SELECT seq, if(seq % 4 = 0, NULL, seq % 3) FROM seq_1_to_20;

ANALYZE TABLE m PERSISTENT FOR ALL;

SELECT index_name, prefix_arity, avg_frequency FROM mysql.index_stats
WHERE db_name = database() AND table_name = 'm' ORDER BY index_name, prefix_arity;

-- Definitions that change.
ALTER TABLE k DROP INDEX kb, DROP INDEX ua, DROP INDEX kn, DROP COLUMN a, RENAME COLUMN b TO bb;

SELECT index_name, prefix_arity, avg_frequency FROM mysql.index_stats
WHERE db_name = database() AND table_name = 'k' ORDER BY index_name, prefix_arity;

SELECT column_name FROM mysql.column_stats WHERE db_name = database() AND table_name = 'k' ORDER BY column_name;

ALTER TABLE k MODIFY bb BIGINT;

SELECT column_name FROM mysql.column_stats WHERE db_name = database() AND table_name = 'k' ORDER BY column_name;

ALTER TABLE k CHANGE c cc VARCHAR(20);

SELECT column_name FROM mysql.column_stats WHERE db_name = database() AND table_name = 'k' ORDER BY column_name;

ALTER TABLE k RENAME kk;

SELECT DISTINCT table_name FROM mysql.index_stats WHERE db_name = database() ORDER BY table_name;

RENAME TABLE kk TO k;

TRUNCATE TABLE k;

SELECT count(*) FROM mysql.index_stats WHERE db_name = database() AND table_name = 'k';

ALTER TABLE k DROP PRIMARY KEY;

SELECT index_name, prefix_arity FROM mysql.index_stats
WHERE db_name = database() AND table_name = 'k' ORDER BY index_name, prefix_arity;

CREATE OR REPLACE TABLE m (a INT);

DROP TABLE k;

SELECT table_name FROM mysql.table_stats WHERE db_name = database() ORDER BY table_name;

-- Tables without rows, and objects without statistics.
SET histogram_size = 8, histogram_type = DOUBLE_PREC_HB;

ANALYZE TABLE m PERSISTENT FOR ALL;

SELECT column_name, min_value, nulls_ratio, avg_frequency, hist_size, hist_type FROM mysql.column_stats
WHERE db_name = database() AND table_name = 'm';

CREATE VIEW v AS SELECT a FROM m;

ANALYZE TABLE v PERSISTENT FOR ALL;

ANALYZE TABLE missing PERSISTENT FOR ALL;

CREATE TEMPORARY TABLE own (a INT);

ANALYZE TABLE own PERSISTENT FOR ALL;

-- When a plain ANALYZE collects.
SET use_stat_tables = PREFERABLY;

INSERT INTO m VALUES (1), (2);

ANALYZE TABLE m;

SELECT cardinality FROM mysql.table_stats WHERE db_name = database() AND table_name = 'm';

SET use_stat_tables = DEFAULT;

INSERT INTO m VALUES (3);

ANALYZE TABLE m;

SELECT cardinality FROM mysql.table_stats WHERE db_name = database() AND table_name = 'm';

SELECT decode_histogram('SINGLE_PREC_HB', 'a'), decode_histogram('SINGLE_PREC_HB', ''), decode_histogram('DOUBLE_PREC_HB', 'a'),
  decode_histogram('json_hb', 'text'), decode_histogram('X', 'a'), decode_histogram(NULL, 'a'), decode_histogram('JSON_HB', NULL);

DROP DATABASE compat_persistent_statistics;

SELECT table_name FROM mysql.column_stats WHERE db_name = 'compat_persistent_statistics';

CREATE DATABASE compat_persistent_statistics;
