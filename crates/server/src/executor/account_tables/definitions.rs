//! The privilege tables, with the columns MariaDB 10.11 gives them.
//!
//! Must not change: tools read these tables.

/// Statements that create what is missing.
pub(super) const STATEMENTS: &[&str] = &[
    "CREATE DATABASE IF NOT EXISTS mysql CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
    "CREATE TABLE IF NOT EXISTS mysql.global_priv (
        Host CHAR(255) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
        User CHAR(128) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
        Priv LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
        PRIMARY KEY (Host, User)
    ) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin COMMENT='Users and global privileges'",
    "CREATE TABLE IF NOT EXISTS mysql.db (
        Host CHAR(255) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
        Db CHAR(64) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
        User CHAR(128) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
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
        PRIMARY KEY (Host, Db, User),
        KEY User (User)
    ) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin COMMENT='Database privileges'",
    "CREATE TABLE IF NOT EXISTS mysql.tables_priv (
        Host CHAR(255) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
        Db CHAR(64) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
        User CHAR(128) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
        Table_name CHAR(64) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
        Grantor VARCHAR(384) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
        Timestamp TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
        Table_priv SET('Select','Insert','Update','Delete','Create','Drop','Grant','References',
            'Index','Alter','Create View','Show view','Trigger','Delete versioning rows')
            COLLATE utf8mb3_general_ci NOT NULL DEFAULT '',
        Column_priv SET('Select','Insert','Update','References')
            COLLATE utf8mb3_general_ci NOT NULL DEFAULT '',
        PRIMARY KEY (Host, Db, User, Table_name),
        KEY Grantor (Grantor)
    ) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin COMMENT='Table privileges'",
    "CREATE TABLE IF NOT EXISTS mysql.columns_priv (
        Host CHAR(255) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
        Db CHAR(64) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
        User CHAR(128) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
        Table_name CHAR(64) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
        Column_name CHAR(64) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
        Timestamp TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
        Column_priv SET('Select','Insert','Update','References')
            COLLATE utf8mb3_general_ci NOT NULL DEFAULT '',
        PRIMARY KEY (Host, Db, User, Table_name, Column_name)
    ) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin COMMENT='Column privileges'",
    "CREATE TABLE IF NOT EXISTS mysql.procs_priv (
        Host CHAR(255) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
        Db CHAR(64) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
        User CHAR(128) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
        Routine_name CHAR(64) COLLATE utf8mb3_general_ci NOT NULL DEFAULT '',
        Routine_type ENUM('FUNCTION','PROCEDURE','PACKAGE','PACKAGE BODY')
            COLLATE utf8mb3_general_ci NOT NULL,
        Grantor VARCHAR(384) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
        Proc_priv SET('Execute','Alter Routine','Grant','Show Create Routine')
            COLLATE utf8mb3_general_ci NOT NULL DEFAULT '',
        Timestamp TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
        PRIMARY KEY (Host, Db, User, Routine_name, Routine_type),
        KEY Grantor (Grantor)
    ) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin COMMENT='Procedure privileges'",
    "CREATE TABLE IF NOT EXISTS mysql.roles_mapping (
        Host CHAR(255) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
        User CHAR(128) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
        Role CHAR(128) COLLATE utf8mb3_bin NOT NULL DEFAULT '',
        Admin_option ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
        UNIQUE KEY Host (Host, User, Role)
    ) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin COMMENT='Granted roles'",
];

/// Columns of `mysql.db` and the privilege each stands for.
pub(super) const DATABASE_COLUMNS: &[(&str, &str)] = &[
    ("Select_priv", "SELECT"),
    ("Insert_priv", "INSERT"),
    ("Update_priv", "UPDATE"),
    ("Delete_priv", "DELETE"),
    ("Create_priv", "CREATE"),
    ("Drop_priv", "DROP"),
    ("Grant_priv", "GRANT OPTION"),
    ("References_priv", "REFERENCES"),
    ("Index_priv", "INDEX"),
    ("Alter_priv", "ALTER"),
    ("Create_tmp_table_priv", "CREATE TEMPORARY TABLES"),
    ("Lock_tables_priv", "LOCK TABLES"),
    ("Create_view_priv", "CREATE VIEW"),
    ("Show_view_priv", "SHOW VIEW"),
    ("Create_routine_priv", "CREATE ROUTINE"),
    ("Alter_routine_priv", "ALTER ROUTINE"),
    ("Execute_priv", "EXECUTE"),
    ("Event_priv", "EVENT"),
    ("Trigger_priv", "TRIGGER"),
    ("Delete_history_priv", "DELETE HISTORY"),
];
