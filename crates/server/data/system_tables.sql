-- The tables of the database `mysql`, with the columns, keys and comments that MariaDB 10.11 gives them.
-- Tools and old scripts read and write them. The privilege tables use the native engine, so that a change of
-- several of them is atomic.

CREATE TABLE IF NOT EXISTS mysql.global_priv (
  Host CHAR(255) NOT NULL DEFAULT '',
  User CHAR(128) NOT NULL DEFAULT '',
  Priv LONGTEXT COLLATE utf8mb4_bin NOT NULL DEFAULT '{}' CHECK (json_valid(Priv)),
  PRIMARY KEY (Host,User)
) ENGINE=InnoDB COLLATE=utf8mb3_bin COMMENT='Users and global privileges';

CREATE TABLE IF NOT EXISTS mysql.db (
  Host CHAR(255) NOT NULL DEFAULT '',
  Db CHAR(64) NOT NULL DEFAULT '',
  User CHAR(128) NOT NULL DEFAULT '',
  Select_priv ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
  Insert_priv ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
  Update_priv ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
  Delete_priv ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
  Create_priv ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
  Drop_priv ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
  Grant_priv ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
  References_priv ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
  Index_priv ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
  Alter_priv ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
  Create_tmp_table_priv ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
  Lock_tables_priv ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
  Create_view_priv ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
  Show_view_priv ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
  Create_routine_priv ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
  Alter_routine_priv ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
  Execute_priv ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
  Event_priv ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
  Trigger_priv ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
  Delete_history_priv ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
  PRIMARY KEY (Host,Db,User),
  KEY User (User)
) ENGINE=InnoDB COLLATE=utf8mb3_bin COMMENT='Database privileges';

CREATE TABLE IF NOT EXISTS mysql.tables_priv (
  Host CHAR(255) NOT NULL DEFAULT '',
  Db CHAR(64) NOT NULL DEFAULT '',
  User CHAR(128) NOT NULL DEFAULT '',
  Table_name CHAR(64) NOT NULL DEFAULT '',
  Grantor VARCHAR(384) NOT NULL DEFAULT '',
  Timestamp TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  Table_priv SET('Select','Insert','Update','Delete','Create','Drop','Grant','References','Index','Alter','Create View','Show view','Trigger','Delete versioning rows') COLLATE utf8mb3_general_ci NOT NULL DEFAULT '',
  Column_priv SET('Select','Insert','Update','References') COLLATE utf8mb3_general_ci NOT NULL DEFAULT '',
  PRIMARY KEY (Host,Db,User,Table_name),
  KEY Grantor (Grantor)
) ENGINE=InnoDB COLLATE=utf8mb3_bin COMMENT='Table privileges';

CREATE TABLE IF NOT EXISTS mysql.columns_priv (
  Host CHAR(255) NOT NULL DEFAULT '',
  Db CHAR(64) NOT NULL DEFAULT '',
  User CHAR(128) NOT NULL DEFAULT '',
  Table_name CHAR(64) NOT NULL DEFAULT '',
  Column_name CHAR(64) NOT NULL DEFAULT '',
  Timestamp TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  Column_priv SET('Select','Insert','Update','References') COLLATE utf8mb3_general_ci NOT NULL DEFAULT '',
  PRIMARY KEY (Host,Db,User,Table_name,Column_name)
) ENGINE=InnoDB COLLATE=utf8mb3_bin COMMENT='Column privileges';

CREATE TABLE IF NOT EXISTS mysql.procs_priv (
  Host CHAR(255) NOT NULL DEFAULT '',
  Db CHAR(64) NOT NULL DEFAULT '',
  User CHAR(128) NOT NULL DEFAULT '',
  Routine_name CHAR(64) COLLATE utf8mb3_general_ci NOT NULL DEFAULT '',
  Routine_type ENUM('FUNCTION','PROCEDURE','PACKAGE','PACKAGE BODY') NOT NULL,
  Grantor VARCHAR(384) NOT NULL DEFAULT '',
  Proc_priv SET('Execute','Alter Routine','Grant') COLLATE utf8mb3_general_ci NOT NULL DEFAULT '',
  Timestamp TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (Host,Db,User,Routine_name,Routine_type),
  KEY Grantor (Grantor)
) ENGINE=InnoDB COLLATE=utf8mb3_bin COMMENT='Procedure privileges';

CREATE TABLE IF NOT EXISTS mysql.proxies_priv (
  Host CHAR(255) NOT NULL DEFAULT '',
  User CHAR(128) NOT NULL DEFAULT '',
  Proxied_host CHAR(255) NOT NULL DEFAULT '',
  Proxied_user CHAR(128) NOT NULL DEFAULT '',
  With_grant TINYINT(1) NOT NULL DEFAULT 0,
  Grantor VARCHAR(384) NOT NULL DEFAULT '',
  Timestamp TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (Host,User,Proxied_host,Proxied_user),
  KEY Grantor (Grantor)
) ENGINE=InnoDB COLLATE=utf8mb3_bin COMMENT='User proxy privileges';

CREATE TABLE IF NOT EXISTS mysql.roles_mapping (
  Host CHAR(255) NOT NULL DEFAULT '',
  User CHAR(128) NOT NULL DEFAULT '',
  Role CHAR(128) NOT NULL DEFAULT '',
  Admin_option ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
  UNIQUE KEY Host (Host,User,Role)
) ENGINE=InnoDB COLLATE=utf8mb3_bin COMMENT='Granted roles';

CREATE TABLE IF NOT EXISTS mysql.column_stats (
  db_name VARCHAR(64) NOT NULL,
  table_name VARCHAR(64) NOT NULL,
  column_name VARCHAR(64) NOT NULL,
  min_value VARBINARY(255) DEFAULT NULL,
  max_value VARBINARY(255) DEFAULT NULL,
  nulls_ratio DECIMAL(12,4) DEFAULT NULL,
  avg_length DECIMAL(12,4) DEFAULT NULL,
  avg_frequency DECIMAL(12,4) DEFAULT NULL,
  hist_size TINYINT(3) UNSIGNED DEFAULT NULL,
  hist_type ENUM('SINGLE_PREC_HB','DOUBLE_PREC_HB','JSON_HB') DEFAULT NULL,
  histogram LONGBLOB DEFAULT NULL,
  PRIMARY KEY (db_name,table_name,column_name)
) ENGINE=Aria COLLATE=utf8mb3_bin PAGE_CHECKSUM=1 TRANSACTIONAL=0 COMMENT='Statistics on Columns';

CREATE TABLE IF NOT EXISTS mysql.event (
  db CHAR(64) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
  name CHAR(64) NOT NULL DEFAULT '',
  body LONGBLOB NOT NULL,
  definer VARCHAR(384) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
  execute_at DATETIME DEFAULT NULL,
  interval_value INT(11) DEFAULT NULL,
  interval_field ENUM('YEAR','QUARTER','MONTH','DAY','HOUR','MINUTE','WEEK','SECOND','MICROSECOND','YEAR_MONTH','DAY_HOUR','DAY_MINUTE','DAY_SECOND','HOUR_MINUTE','HOUR_SECOND','MINUTE_SECOND','DAY_MICROSECOND','HOUR_MICROSECOND','MINUTE_MICROSECOND','SECOND_MICROSECOND') DEFAULT NULL,
  created TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  modified TIMESTAMP NOT NULL DEFAULT '0000-00-00 00:00:00',
  last_executed DATETIME DEFAULT NULL,
  starts DATETIME DEFAULT NULL,
  ends DATETIME DEFAULT NULL,
  status ENUM('ENABLED','DISABLED','SLAVESIDE_DISABLED') NOT NULL DEFAULT 'ENABLED',
  on_completion ENUM('DROP','PRESERVE') NOT NULL DEFAULT 'DROP',
  sql_mode SET('REAL_AS_FLOAT','PIPES_AS_CONCAT','ANSI_QUOTES','IGNORE_SPACE','IGNORE_BAD_TABLE_OPTIONS','ONLY_FULL_GROUP_BY','NO_UNSIGNED_SUBTRACTION','NO_DIR_IN_CREATE','POSTGRESQL','ORACLE','MSSQL','DB2','MAXDB','NO_KEY_OPTIONS','NO_TABLE_OPTIONS','NO_FIELD_OPTIONS','MYSQL323','MYSQL40','ANSI','NO_AUTO_VALUE_ON_ZERO','NO_BACKSLASH_ESCAPES','STRICT_TRANS_TABLES','STRICT_ALL_TABLES','NO_ZERO_IN_DATE','NO_ZERO_DATE','INVALID_DATES','ERROR_FOR_DIVISION_BY_ZERO','TRADITIONAL','NO_AUTO_CREATE_USER','HIGH_NOT_PRECEDENCE','NO_ENGINE_SUBSTITUTION','PAD_CHAR_TO_FULL_LENGTH','EMPTY_STRING_IS_NULL','SIMULTANEOUS_ASSIGNMENT','TIME_ROUND_FRACTIONAL') NOT NULL DEFAULT '',
  comment CHAR(64) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
  originator INT(10) UNSIGNED NOT NULL,
  time_zone CHAR(64) COLLATE latin1_swedish_ci NOT NULL DEFAULT 'SYSTEM',
  character_set_client CHAR(32) COLLATE utf8mb3_bin DEFAULT NULL,
  collation_connection CHAR(64) COLLATE utf8mb3_bin DEFAULT NULL,
  db_collation CHAR(64) COLLATE utf8mb3_bin DEFAULT NULL,
  body_utf8 LONGBLOB DEFAULT NULL,
  PRIMARY KEY (db,name)
) ENGINE=Aria DEFAULT CHARSET=utf8mb3 PAGE_CHECKSUM=1 TRANSACTIONAL=1 COMMENT='Events';

CREATE TABLE IF NOT EXISTS mysql.func (
  name CHAR(64) NOT NULL DEFAULT '',
  ret TINYINT(1) NOT NULL DEFAULT 0,
  dl CHAR(128) NOT NULL DEFAULT '',
  type ENUM('function','aggregate') COLLATE utf8mb3_general_ci NOT NULL,
  PRIMARY KEY (name)
) ENGINE=Aria COLLATE=utf8mb3_bin PAGE_CHECKSUM=1 TRANSACTIONAL=1 COMMENT='User defined functions';

CREATE TABLE IF NOT EXISTS mysql.general_log (
  event_time TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
  user_host MEDIUMTEXT NOT NULL,
  thread_id BIGINT(21) UNSIGNED NOT NULL,
  server_id INT(10) UNSIGNED NOT NULL,
  command_type VARCHAR(64) NOT NULL,
  argument MEDIUMTEXT NOT NULL
) ENGINE=CSV DEFAULT CHARSET=utf8mb3 COMMENT='General log';

CREATE TABLE IF NOT EXISTS mysql.gtid_slave_pos (
  domain_id INT(10) UNSIGNED NOT NULL,
  sub_id BIGINT(20) UNSIGNED NOT NULL,
  server_id INT(10) UNSIGNED NOT NULL,
  seq_no BIGINT(20) UNSIGNED NOT NULL,
  PRIMARY KEY (domain_id,sub_id)
) ENGINE=InnoDB COLLATE=latin1_swedish_ci COMMENT='Replication slave GTID position';

CREATE TABLE IF NOT EXISTS mysql.help_category (
  help_category_id SMALLINT(5) UNSIGNED NOT NULL,
  name CHAR(64) NOT NULL,
  parent_category_id SMALLINT(5) UNSIGNED DEFAULT NULL,
  url TEXT NOT NULL,
  PRIMARY KEY (help_category_id),
  UNIQUE KEY name (name)
) ENGINE=Aria DEFAULT CHARSET=utf8mb3 PAGE_CHECKSUM=1 TRANSACTIONAL=0 COMMENT='help categories';

CREATE TABLE IF NOT EXISTS mysql.help_keyword (
  help_keyword_id INT(10) UNSIGNED NOT NULL,
  name CHAR(64) NOT NULL,
  PRIMARY KEY (help_keyword_id),
  UNIQUE KEY name (name)
) ENGINE=Aria DEFAULT CHARSET=utf8mb3 PAGE_CHECKSUM=1 TRANSACTIONAL=0 COMMENT='help keywords';

CREATE TABLE IF NOT EXISTS mysql.help_relation (
  help_topic_id INT(10) UNSIGNED NOT NULL,
  help_keyword_id INT(10) UNSIGNED NOT NULL,
  PRIMARY KEY (help_keyword_id,help_topic_id),
  KEY help_topic_id (help_topic_id)
) ENGINE=Aria DEFAULT CHARSET=utf8mb3 PAGE_CHECKSUM=1 TRANSACTIONAL=0 COMMENT='keyword-topic relation';

CREATE TABLE IF NOT EXISTS mysql.help_topic (
  help_topic_id INT(10) UNSIGNED NOT NULL,
  name CHAR(64) NOT NULL,
  help_category_id SMALLINT(5) UNSIGNED NOT NULL,
  description TEXT NOT NULL,
  example TEXT NOT NULL,
  url TEXT NOT NULL,
  PRIMARY KEY (help_topic_id),
  UNIQUE KEY name (name)
) ENGINE=Aria DEFAULT CHARSET=utf8mb3 PAGE_CHECKSUM=1 TRANSACTIONAL=0 COMMENT='help topics';

CREATE TABLE IF NOT EXISTS mysql.index_stats (
  db_name VARCHAR(64) NOT NULL,
  table_name VARCHAR(64) NOT NULL,
  index_name VARCHAR(64) NOT NULL,
  prefix_arity INT(11) UNSIGNED NOT NULL,
  avg_frequency DECIMAL(12,4) DEFAULT NULL,
  PRIMARY KEY (db_name,table_name,index_name,prefix_arity)
) ENGINE=Aria COLLATE=utf8mb3_bin PAGE_CHECKSUM=1 TRANSACTIONAL=0 COMMENT='Statistics on Indexes';

CREATE TABLE IF NOT EXISTS mysql.innodb_index_stats (
  database_name VARCHAR(64) NOT NULL,
  table_name VARCHAR(199) NOT NULL,
  index_name VARCHAR(64) NOT NULL,
  last_update TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  stat_name VARCHAR(64) NOT NULL,
  stat_value BIGINT(20) UNSIGNED NOT NULL,
  sample_size BIGINT(20) UNSIGNED DEFAULT NULL,
  stat_description VARCHAR(1024) NOT NULL,
  PRIMARY KEY (database_name,table_name,index_name,stat_name)
) ENGINE=InnoDB COLLATE=utf8mb3_bin STATS_PERSISTENT=0;

CREATE TABLE IF NOT EXISTS mysql.innodb_table_stats (
  database_name VARCHAR(64) NOT NULL,
  table_name VARCHAR(199) NOT NULL,
  last_update TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  n_rows BIGINT(20) UNSIGNED NOT NULL,
  clustered_index_size BIGINT(20) UNSIGNED NOT NULL,
  sum_of_other_index_sizes BIGINT(20) UNSIGNED NOT NULL,
  PRIMARY KEY (database_name,table_name)
) ENGINE=InnoDB COLLATE=utf8mb3_bin STATS_PERSISTENT=0;

CREATE TABLE IF NOT EXISTS mysql.plugin (
  name VARCHAR(64) NOT NULL DEFAULT '',
  dl VARCHAR(128) NOT NULL DEFAULT '',
  PRIMARY KEY (name)
) ENGINE=Aria DEFAULT CHARSET=utf8mb3 PAGE_CHECKSUM=1 TRANSACTIONAL=1 COMMENT='MySQL plugins';

CREATE TABLE IF NOT EXISTS mysql.servers (
  Server_name CHAR(64) NOT NULL DEFAULT '',
  Host VARCHAR(2048) NOT NULL DEFAULT '',
  Db CHAR(64) NOT NULL DEFAULT '',
  Username CHAR(128) NOT NULL DEFAULT '',
  Password CHAR(64) NOT NULL DEFAULT '',
  Port INT(4) NOT NULL DEFAULT 0,
  Socket CHAR(108) NOT NULL DEFAULT '',
  Wrapper CHAR(64) NOT NULL DEFAULT '',
  Owner VARCHAR(512) NOT NULL DEFAULT '',
  PRIMARY KEY (Server_name)
) ENGINE=Aria DEFAULT CHARSET=utf8mb3 PAGE_CHECKSUM=1 TRANSACTIONAL=1 COMMENT='MySQL Foreign Servers table';

CREATE TABLE IF NOT EXISTS mysql.slow_log (
  start_time TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
  user_host MEDIUMTEXT NOT NULL,
  query_time TIME(6) NOT NULL,
  lock_time TIME(6) NOT NULL,
  rows_sent BIGINT(20) UNSIGNED NOT NULL,
  rows_examined BIGINT(20) UNSIGNED NOT NULL,
  db VARCHAR(512) NOT NULL,
  last_insert_id INT(11) NOT NULL,
  insert_id INT(11) NOT NULL,
  server_id INT(10) UNSIGNED NOT NULL,
  sql_text MEDIUMTEXT NOT NULL,
  thread_id BIGINT(21) UNSIGNED NOT NULL,
  rows_affected BIGINT(20) UNSIGNED NOT NULL
) ENGINE=CSV DEFAULT CHARSET=utf8mb3 COMMENT='Slow log';

CREATE TABLE IF NOT EXISTS mysql.table_stats (
  db_name VARCHAR(64) NOT NULL,
  table_name VARCHAR(64) NOT NULL,
  cardinality BIGINT(21) UNSIGNED DEFAULT NULL,
  PRIMARY KEY (db_name,table_name)
) ENGINE=Aria COLLATE=utf8mb3_bin PAGE_CHECKSUM=1 TRANSACTIONAL=0 COMMENT='Statistics on Tables';

CREATE TABLE IF NOT EXISTS mysql.time_zone (
  Time_zone_id INT(10) UNSIGNED NOT NULL AUTO_INCREMENT,
  Use_leap_seconds ENUM('Y','N') NOT NULL DEFAULT 'N',
  PRIMARY KEY (Time_zone_id)
) ENGINE=Aria DEFAULT CHARSET=utf8mb3 PAGE_CHECKSUM=1 TRANSACTIONAL=1 COMMENT='Time zones';

CREATE TABLE IF NOT EXISTS mysql.time_zone_leap_second (
  Transition_time BIGINT(20) NOT NULL,
  Correction INT(11) NOT NULL,
  PRIMARY KEY (Transition_time)
) ENGINE=Aria DEFAULT CHARSET=utf8mb3 PAGE_CHECKSUM=1 TRANSACTIONAL=1 COMMENT='Leap seconds information for time zones';

CREATE TABLE IF NOT EXISTS mysql.time_zone_name (
  Name CHAR(64) NOT NULL,
  Time_zone_id INT(10) UNSIGNED NOT NULL,
  PRIMARY KEY (Name)
) ENGINE=Aria DEFAULT CHARSET=utf8mb3 PAGE_CHECKSUM=1 TRANSACTIONAL=1 COMMENT='Time zone names';

CREATE TABLE IF NOT EXISTS mysql.time_zone_transition (
  Time_zone_id INT(10) UNSIGNED NOT NULL,
  Transition_time BIGINT(20) NOT NULL,
  Transition_type_id INT(10) UNSIGNED NOT NULL,
  PRIMARY KEY (Time_zone_id,Transition_time)
) ENGINE=Aria DEFAULT CHARSET=utf8mb3 PAGE_CHECKSUM=1 TRANSACTIONAL=1 COMMENT='Time zone transitions';

CREATE TABLE IF NOT EXISTS mysql.time_zone_transition_type (
  Time_zone_id INT(10) UNSIGNED NOT NULL,
  Transition_type_id INT(10) UNSIGNED NOT NULL,
  `Offset` INT(11) NOT NULL DEFAULT 0,
  Is_DST TINYINT(3) UNSIGNED NOT NULL DEFAULT 0,
  Abbreviation CHAR(8) NOT NULL DEFAULT '',
  PRIMARY KEY (Time_zone_id,Transition_type_id)
) ENGINE=Aria DEFAULT CHARSET=utf8mb3 PAGE_CHECKSUM=1 TRANSACTIONAL=1 COMMENT='Time zone transition types';

CREATE TABLE IF NOT EXISTS mysql.transaction_registry (
  transaction_id BIGINT(20) UNSIGNED NOT NULL,
  commit_id BIGINT(20) UNSIGNED NOT NULL,
  begin_timestamp TIMESTAMP(6) NOT NULL DEFAULT '0000-00-00 00:00:00.000000',
  commit_timestamp TIMESTAMP(6) NOT NULL DEFAULT '0000-00-00 00:00:00.000000',
  isolation_level ENUM('READ-UNCOMMITTED','READ-COMMITTED','REPEATABLE-READ','SERIALIZABLE') NOT NULL,
  PRIMARY KEY (transaction_id),
  UNIQUE KEY commit_id (commit_id),
  KEY begin_timestamp (begin_timestamp),
  KEY commit_timestamp (commit_timestamp,transaction_id)
) ENGINE=InnoDB COLLATE=utf8mb3_bin STATS_PERSISTENT=0;
