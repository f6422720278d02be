# Functions and procedures of the schema sys, each behind a line of dashes.
----
FUNCTION sys.version_major() RETURNS tinyint unsigned NO SQL
COMMENT 'First number of the version'
RETURN SUBSTRING_INDEX(VERSION(), '.', 1)
----
FUNCTION sys.version_minor() RETURNS tinyint unsigned NO SQL
COMMENT 'Second number of the version'
RETURN SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1)
----
FUNCTION sys.version_patch() RETURNS tinyint unsigned NO SQL
COMMENT 'Third number of the version'
RETURN SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1)
----
FUNCTION sys.quote_identifier(in_identifier text) RETURNS text DETERMINISTIC NO SQL
COMMENT 'A name in backquotes'
RETURN CONCAT('`', REPLACE(in_identifier, '`', '``'), '`')
----
FUNCTION sys.extract_schema_from_file_name(path varchar(512)) RETURNS varchar(64) DETERMINISTIC NO SQL
COMMENT 'The directory that a file of a table is in'
RETURN LEFT(SUBSTRING_INDEX(SUBSTRING_INDEX(REPLACE(path, '\\', '/'), '/', -2), '/', 1), 64)
----
FUNCTION sys.extract_table_from_file_name(path varchar(512)) RETURNS varchar(64) DETERMINISTIC NO SQL
COMMENT 'The table that a file belongs to'
BEGIN
  DECLARE file text DEFAULT REPLACE(SUBSTRING_INDEX(REPLACE(path, '\\', '/'), '/', -1), '@0024', '$');
  RETURN LEFT(SUBSTRING_INDEX(file, '.', 1), 64);
END
----
FUNCTION sys.format_bytes(bytes text) RETURNS text DETERMINISTIC NO SQL
COMMENT 'A number of bytes with a unit'
BEGIN
  DECLARE number double DEFAULT bytes + 0;
  DECLARE steps int DEFAULT 0;
  IF bytes IS NULL THEN RETURN NULL; END IF;
  WHILE number >= 1024 AND steps < 5 DO
    SET number = number / 1024, steps = steps + 1;
  END WHILE;
  IF steps = 0 THEN RETURN CONCAT(ROUND(bytes, 0), ' bytes'); END IF;
  RETURN CONCAT(CAST(number AS decimal(40,2)), ' ', ELT(steps, 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'));
END
----
FUNCTION sys.format_time(picoseconds text) RETURNS text DETERMINISTIC NO SQL
COMMENT 'A number of picoseconds with a unit'
BEGIN
  DECLARE number double DEFAULT picoseconds + 0;
  DECLARE length double;
  DECLARE unit text;
  IF picoseconds IS NULL THEN RETURN NULL; END IF;
  CASE
    WHEN number >= 604800e12 THEN SET length = 604800e12, unit = 'w';
    WHEN number >= 86400e12 THEN SET length = 86400e12, unit = 'd';
    WHEN number >= 3600e12 THEN SET length = 3600e12, unit = 'h';
    WHEN number >= 60e12 THEN SET length = 60e12, unit = 'm';
    WHEN number >= 1e12 THEN SET length = 1e12, unit = 's';
    WHEN number >= 1e9 THEN SET length = 1e9, unit = 'ms';
    WHEN number >= 1e6 THEN SET length = 1e6, unit = 'us';
    WHEN number >= 1e3 THEN SET length = 1e3, unit = 'ns';
    ELSE RETURN CONCAT(picoseconds, ' ps');
  END CASE;
  RETURN CONCAT(CAST(number / length AS decimal(40,2)), ' ', unit);
END
----
FUNCTION sys.format_path(in_path varchar(512)) RETURNS varchar(512) CHARSET utf8mb3 DETERMINISTIC NO SQL
COMMENT 'A path that begins with the variable whose directory it is in'
BEGIN
  DECLARE at int DEFAULT 1;
  DECLARE directory text;
  WHILE at <= 6 DO
    SET directory = TRIM(TRAILING '/' FROM ELT(at, @@datadir, @@tmpdir, @@slave_load_tmpdir,
      @@innodb_data_home_dir, @@innodb_log_group_home_dir, @@innodb_undo_directory));
    IF directory <> '' AND LEFT(in_path, CHAR_LENGTH(directory) + 1) = CONCAT(directory, '/') THEN
      RETURN CONCAT(ELT(at, '@@datadir', '@@tmpdir', '@@slave_load_tmpdir', '@@innodb_data_home_dir',
        '@@innodb_log_group_home_dir', '@@innodb_undo_directory'), SUBSTR(in_path, CHAR_LENGTH(directory) + 1));
    END IF;
    SET at = at + 1;
  END WHILE;
  RETURN in_path;
END
----
FUNCTION sys.sys_get_config(in_variable_name varchar(128), in_default_value varchar(128)) RETURNS varchar(128) READS SQL DATA
COMMENT 'A value of sys_config, or the default if there is none'
RETURN IFNULL((SELECT value FROM sys.sys_config WHERE variable = in_variable_name), in_default_value)
----
FUNCTION sys.format_statement(statement longtext) RETURNS longtext DETERMINISTIC READS SQL DATA
COMMENT 'A statement in one line, without its middle if it is long'
BEGIN
  DECLARE half int;
  IF @sys.statement_truncate_len IS NULL THEN
    SET @sys.statement_truncate_len = sys.sys_get_config('statement_truncate_len', 64);
  END IF;
  SET statement = REPLACE(statement, '\n', ' ');
  IF CHAR_LENGTH(statement) > @sys.statement_truncate_len THEN
    SET half = @sys.statement_truncate_len / 2 - 2;
    RETURN CONCAT(LEFT(statement, half), ' ... ', RIGHT(statement, half));
  END IF;
  RETURN statement;
END
----
FUNCTION sys.list_add(in_list text, in_add_value text) RETURNS text DETERMINISTIC NO SQL
COMMENT 'A list with one more value'
BEGIN
  IF in_add_value IS NULL THEN
    SIGNAL SQLSTATE '02200' SET MYSQL_ERRNO = 1138,
      MESSAGE_TEXT = 'Function sys.list_add: in_add_value input variable should not be NULL';
  END IF;
  RETURN CONCAT_WS(',', NULLIF(TRIM(in_list), ''), in_add_value);
END
----
FUNCTION sys.list_drop(in_list text, in_drop_value text) RETURNS text DETERMINISTIC NO SQL
COMMENT 'A list without a value'
BEGIN
  DECLARE list text;
  IF in_drop_value IS NULL THEN
    SIGNAL SQLSTATE '02200' SET MYSQL_ERRNO = 1138,
      MESSAGE_TEXT = 'Function sys.list_drop: in_drop_value input variable should not be NULL';
  END IF;
  SET list = REPLACE(CONCAT(',', in_list), CONCAT(',', in_drop_value), '');
  RETURN TRIM(BOTH ',' FROM REPLACE(list, CONCAT(', ', in_drop_value), ''));
END
----
FUNCTION sys.ps_is_account_enabled(in_host varchar(60), in_user varchar(16)) RETURNS enum('YES','NO') DETERMINISTIC READS SQL DATA
COMMENT 'Whether sessions of an account are measured'
RETURN IF(EXISTS(SELECT 1 FROM performance_schema.setup_actors
  WHERE host IN ('%', in_host) AND user IN ('%', in_user)), 'YES', 'NO')
----
FUNCTION sys.ps_is_consumer_enabled(in_consumer varchar(64)) RETURNS enum('YES','NO') DETERMINISTIC READS SQL DATA
COMMENT 'Whether a consumer and those that it depends on are on'
BEGIN
  DECLARE wanted int DEFAULT 1;
  DECLARE found int;
  IF NOT EXISTS(SELECT 1 FROM performance_schema.setup_consumers WHERE name = in_consumer) THEN
    RETURN NULL;
  END IF;
  SELECT COUNT(*), SUM(enabled = 'YES') INTO wanted, found FROM performance_schema.setup_consumers
    WHERE name IN ('global_instrumentation', in_consumer)
      OR (name = 'thread_instrumentation' AND in_consumer LIKE 'events\_%')
      OR (in_consumer LIKE 'events\_%\_history%' AND name LIKE 'events\_%\_current'
        AND SUBSTRING_INDEX(name, '_', 2) = SUBSTRING_INDEX(in_consumer, '_', 2));
  RETURN IF(found = wanted, 'YES', 'NO');
END
----
FUNCTION sys.ps_is_instrument_default_enabled(in_instrument varchar(128)) RETURNS enum('YES','NO') DETERMINISTIC NO SQL
COMMENT 'Whether an instrument is on at the start'
RETURN IF(in_instrument REGEXP '^(wait/io/(file|table)/|statement/|memory/performance_schema/)'
  OR in_instrument IN ('wait/lock/table/sql/handler', 'idle'), 'YES', 'NO')
----
FUNCTION sys.ps_is_instrument_default_timed(in_instrument varchar(128)) RETURNS enum('YES','NO') DETERMINISTIC NO SQL
COMMENT 'Whether an instrument takes times at the start'
RETURN IF(in_instrument REGEXP '^(wait/io/(file|table)/|statement/)'
  OR in_instrument IN ('wait/lock/table/sql/handler', 'idle'), 'YES', 'NO')
----
FUNCTION sys.ps_thread_id(in_connection_id bigint unsigned) RETURNS bigint unsigned READS SQL DATA
COMMENT 'The THREAD_ID of a connection, or of this one for NULL'
RETURN (SELECT thread_id FROM performance_schema.threads WHERE processlist_id = IFNULL(in_connection_id, CONNECTION_ID()))
----
FUNCTION sys.ps_thread_account(in_thread_id bigint unsigned) RETURNS text READS SQL DATA
COMMENT 'The account of a thread'
RETURN (SELECT IF(type = 'FOREGROUND', CONCAT(processlist_user, '@', processlist_host), type)
  FROM performance_schema.threads WHERE thread_id = in_thread_id)
----
FUNCTION sys.ps_is_thread_instrumented(in_connection_id bigint unsigned) RETURNS enum('YES','NO','UNKNOWN') NOT DETERMINISTIC READS SQL DATA
COMMENT 'Whether a connection is measured'
RETURN IF(in_connection_id IS NULL, NULL, IFNULL((SELECT instrumented FROM performance_schema.threads
  WHERE processlist_id = in_connection_id), 'UNKNOWN'))
----
PROCEDURE sys.ps_setup_enable_consumer(IN consumer varchar(128)) MODIFIES SQL DATA
COMMENT 'Switches consumers on'
BEGIN
  DECLARE done bigint;
  UPDATE performance_schema.setup_consumers SET enabled = 'YES' WHERE name LIKE CONCAT('%', consumer, '%');
  SET done = ROW_COUNT();
  SELECT CONCAT('Enabled ', done, ' consumer', IF(done = 1, '', 's')) AS summary;
END
----
PROCEDURE sys.ps_setup_disable_consumer(IN consumer varchar(128)) MODIFIES SQL DATA
COMMENT 'Switches consumers off'
BEGIN
  DECLARE done bigint;
  UPDATE performance_schema.setup_consumers SET enabled = 'NO' WHERE name LIKE CONCAT('%', consumer, '%');
  SET done = ROW_COUNT();
  SELECT CONCAT('Disabled ', done, ' consumer', IF(done = 1, '', 's')) AS summary;
END
----
PROCEDURE sys.ps_setup_enable_instrument(IN in_pattern varchar(128)) MODIFIES SQL DATA
COMMENT 'Switches instruments on'
BEGIN
  DECLARE done bigint;
  UPDATE performance_schema.setup_instruments SET enabled = 'YES', timed = 'YES' WHERE name LIKE CONCAT('%', in_pattern, '%');
  SET done = ROW_COUNT();
  SELECT CONCAT('Enabled ', done, ' instrument', IF(done = 1, '', 's')) AS summary;
END
----
PROCEDURE sys.ps_setup_disable_instrument(IN in_pattern varchar(128)) MODIFIES SQL DATA
COMMENT 'Switches instruments off'
BEGIN
  DECLARE done bigint;
  UPDATE performance_schema.setup_instruments SET enabled = 'NO', timed = 'NO' WHERE name LIKE CONCAT('%', in_pattern, '%');
  SET done = ROW_COUNT();
  SELECT CONCAT('Disabled ', done, ' instrument', IF(done = 1, '', 's')) AS summary;
END
----
PROCEDURE sys.ps_setup_enable_thread(IN in_connection_id bigint) MODIFIES SQL DATA
COMMENT 'Measures a connection'
BEGIN
  DECLARE done bigint;
  UPDATE performance_schema.threads SET instrumented = 'YES' WHERE processlist_id = in_connection_id;
  SET done = ROW_COUNT();
  SELECT CONCAT('Enabled ', done, ' thread', IF(done = 1, '', 's')) AS summary;
END
----
PROCEDURE sys.ps_setup_disable_thread(IN in_connection_id bigint) MODIFIES SQL DATA
COMMENT 'Does not measure a connection'
BEGIN
  DECLARE done bigint;
  UPDATE performance_schema.threads SET instrumented = 'NO' WHERE processlist_id = in_connection_id;
  SET done = ROW_COUNT();
  SELECT CONCAT('Disabled ', done, ' thread', IF(done = 1, '', 's')) AS summary;
END
----
PROCEDURE sys.ps_setup_show_enabled_consumers() READS SQL DATA
COMMENT 'Consumers that are on'
SELECT name AS enabled_consumers FROM performance_schema.setup_consumers WHERE enabled = 'YES' ORDER BY enabled_consumers
----
PROCEDURE sys.ps_setup_show_disabled_consumers() READS SQL DATA
COMMENT 'Consumers that are off'
SELECT name AS disabled_consumers FROM performance_schema.setup_consumers WHERE enabled = 'NO' ORDER BY disabled_consumers
----
PROCEDURE sys.ps_setup_show_enabled_instruments() READS SQL DATA
COMMENT 'Instruments that are on'
SELECT name AS enabled_instruments, timed FROM performance_schema.setup_instruments WHERE enabled = 'YES' ORDER BY enabled_instruments
----
PROCEDURE sys.ps_setup_show_disabled_instruments() READS SQL DATA
COMMENT 'Instruments that are off'
SELECT name AS disabled_instruments, timed FROM performance_schema.setup_instruments WHERE enabled = 'NO' ORDER BY disabled_instruments
----
PROCEDURE sys.execute_prepared_stmt(IN in_query longtext CHARSET utf8mb3) READS SQL DATA
COMMENT 'Runs a text'
BEGIN
  IF IFNULL(LENGTH(in_query), 0) < 4 THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'The @sys.execute_prepared_stmt.sql must contain a query';
  END IF;
  SET @sys.execute_prepared_stmt.sql = in_query;
  PREPARE stmt FROM @sys.execute_prepared_stmt.sql;
  EXECUTE stmt;
  DEALLOCATE PREPARE stmt;
  SET @sys.execute_prepared_stmt.sql = NULL;
END
----
PROCEDURE sys.table_exists(IN in_db varchar(64), IN in_table varchar(64),
  OUT out_exists enum('','BASE TABLE','VIEW','TEMPORARY','SEQUENCE','SYSTEM VIEW')) READS SQL DATA
COMMENT 'The kind of a table, if it exists'
SET out_exists = IFNULL((SELECT table_type FROM information_schema.tables
  WHERE table_schema = in_db AND table_name = in_table ORDER BY table_type = 'TEMPORARY' DESC LIMIT 1), '')
----
PROCEDURE sys.ps_truncate_all_tables(IN in_verbose tinyint(1)) MODIFIES SQL DATA
COMMENT 'Empties all summaries and histories'
BEGIN
  DECLARE done int DEFAULT 0;
  FOR t IN (SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'performance_schema'
      AND (table_name LIKE '%summary%' OR table_name LIKE '%history%')) DO
    SET @sys.statement = CONCAT('TRUNCATE TABLE performance_schema.', t.name);
    IF in_verbose THEN SELECT CONCAT('Running: ', @sys.statement) AS status; END IF;
    EXECUTE IMMEDIATE @sys.statement;
    SET done = done + 1;
  END FOR;
  SET @sys.statement = NULL;
  SELECT CONCAT('Truncated ', done, ' tables') AS summary;
END
----
PROCEDURE sys.create_synonym_db(IN in_db_name varchar(64), IN in_synonym varchar(64)) MODIFIES SQL DATA
COMMENT 'Creates a database with a view of each table of another one'
BEGIN
  DECLARE done int DEFAULT 0;
  DECLARE problem text;
  IF NOT EXISTS(SELECT 1 FROM information_schema.schemata WHERE schema_name = in_db_name) THEN
    SET problem = CONCAT('Unknown database ', in_db_name);
  ELSEIF EXISTS(SELECT 1 FROM information_schema.schemata WHERE schema_name = in_synonym) THEN
    SET problem = CONCAT('Can\'t create database ', in_synonym, '; database exists');
  END IF;
  IF problem IS NOT NULL THEN SIGNAL SQLSTATE 'HY000' SET MESSAGE_TEXT = problem; END IF;
  EXECUTE IMMEDIATE CONCAT('CREATE DATABASE ', sys.quote_identifier(in_synonym));
  FOR t IN (SELECT table_name AS name FROM information_schema.tables WHERE table_schema = in_db_name) DO
    EXECUTE IMMEDIATE CONCAT('CREATE SQL SECURITY INVOKER VIEW ', sys.quote_identifier(in_synonym), '.',
      sys.quote_identifier(t.name), ' AS SELECT * FROM ', sys.quote_identifier(in_db_name), '.',
      sys.quote_identifier(t.name));
    SET done = done + 1;
  END FOR;
  SELECT CONCAT('Created ', done, ' view', IF(done = 1, '', 's'), ' in the ', sys.quote_identifier(in_synonym),
    ' database') AS summary;
END
