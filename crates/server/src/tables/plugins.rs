//! What is built in, under the names MariaDB lists it.
//!
//! Must list only what works.

use selkie_types::Value;

use super::{Row, text};
use crate::variables::VERSION;

/// Name, type, version of the type's interface.
const BUILT_IN: &[(&str, &str, &str)] = &[
    ("mysql_native_password", "AUTHENTICATION", "2.2"),
    ("CSV", "STORAGE ENGINE", ENGINE_VERSION),
    ("MEMORY", "STORAGE ENGINE", ENGINE_VERSION),
    ("Aria", "STORAGE ENGINE", ENGINE_VERSION),
    ("MyISAM", "STORAGE ENGINE", ENGINE_VERSION),
    ("CLIENT_STATISTICS", INFORMATION, ENGINE_VERSION),
    ("INDEX_STATISTICS", INFORMATION, ENGINE_VERSION),
    ("TABLE_STATISTICS", INFORMATION, ENGINE_VERSION),
    ("USER_STATISTICS", INFORMATION, ENGINE_VERSION),
    ("InnoDB", "STORAGE ENGINE", ENGINE_VERSION),
    ("INNODB_TRX", INFORMATION, ENGINE_VERSION),
    ("INNODB_LOCKS", INFORMATION, ENGINE_VERSION),
    ("INNODB_LOCK_WAITS", INFORMATION, ENGINE_VERSION),
    ("INNODB_METRICS", INFORMATION, ENGINE_VERSION),
    ("INNODB_SYS_TABLES", INFORMATION, ENGINE_VERSION),
    ("INNODB_SYS_TABLESTATS", INFORMATION, ENGINE_VERSION),
    ("INNODB_SYS_INDEXES", INFORMATION, ENGINE_VERSION),
    ("INNODB_SYS_COLUMNS", INFORMATION, ENGINE_VERSION),
    ("INNODB_SYS_FIELDS", INFORMATION, ENGINE_VERSION),
    ("INNODB_SYS_FOREIGN", INFORMATION, ENGINE_VERSION),
    ("INNODB_SYS_FOREIGN_COLS", INFORMATION, ENGINE_VERSION),
    ("PERFORMANCE_SCHEMA", "STORAGE ENGINE", ENGINE_VERSION),
    ("SEQUENCE", "STORAGE ENGINE", ENGINE_VERSION),
    ("unix_socket", "AUTHENTICATION", "2.2"),
    ("user_variables", INFORMATION, ENGINE_VERSION),
    ("THREAD_POOL_GROUPS", INFORMATION, ENGINE_VERSION),
    ("THREAD_POOL_QUEUES", INFORMATION, ENGINE_VERSION),
    ("THREAD_POOL_STATS", INFORMATION, ENGINE_VERSION),
    ("THREAD_POOL_WAITS", INFORMATION, ENGINE_VERSION),
    ("caching_sha2_password", "AUTHENTICATION", "2.2"),
    ("inet4", "DATA TYPE", ENGINE_VERSION),
    ("inet6", "DATA TYPE", ENGINE_VERSION),
    ("uuid", "DATA TYPE", ENGINE_VERSION),
];

const INFORMATION: &str = "INFORMATION SCHEMA";
const ENGINE_VERSION: &str = "101119.0";

pub(super) fn rows() -> Vec<Row> {
    BUILT_IN.iter().map(|(name, kind, version)| row(name, kind, version)).collect()
}

fn row(name: &str, kind: &str, type_version: &str) -> Row {
    vec![
        ("PLUGIN_NAME", text(name)),
        ("PLUGIN_VERSION", text("1.0")),
        ("PLUGIN_STATUS", text("ACTIVE")),
        ("PLUGIN_TYPE", text(kind)),
        ("PLUGIN_TYPE_VERSION", text(type_version)),
        ("PLUGIN_LIBRARY", Value::Null),
        ("PLUGIN_LIBRARY_VERSION", Value::Null),
        ("PLUGIN_AUTHOR", text("Selkie")),
        ("PLUGIN_DESCRIPTION", text("")),
        ("PLUGIN_LICENSE", text("Apache-2.0")),
        ("LOAD_OPTION", text("FORCE")),
        ("PLUGIN_MATURITY", text("Beta")),
        ("PLUGIN_AUTH_VERSION", text(VERSION)),
    ]
}
