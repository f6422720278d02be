//! The built-in plugins, with MariaDB's names for them.
//!
//! Must list only plugins whose function works.

use selkie_types::Value;

use super::{Row, text};
use crate::variables::VERSION;

/// Name, type, interface version of the type, description.
const BUILT_IN: &[(&str, &str, &str, &str)] = &[
    ("mysql_native_password", "AUTHENTICATION", "2.2", "Native MySQL authentication"),
    ("CSV", "STORAGE ENGINE", ENGINE_VERSION, "Stores tables as CSV files"),
    (
        "MEMORY",
        "STORAGE ENGINE",
        ENGINE_VERSION,
        "Hash based, stored in memory, useful for temporary tables",
    ),
    (
        "Aria",
        "STORAGE ENGINE",
        ENGINE_VERSION,
        "Crash-safe tables with MyISAM heritage. Used for internal temporary tables and privilege tables",
    ),
    (
        "MyISAM",
        "STORAGE ENGINE",
        ENGINE_VERSION,
        "Non-transactional engine with good performance and small data footprint",
    ),
    ("CLIENT_STATISTICS", INFORMATION, ENGINE_VERSION, "Client Statistics"),
    ("INDEX_STATISTICS", INFORMATION, ENGINE_VERSION, "Index Statistics"),
    ("TABLE_STATISTICS", INFORMATION, ENGINE_VERSION, "Table Statistics"),
    ("USER_STATISTICS", INFORMATION, ENGINE_VERSION, "User Statistics"),
    (
        "InnoDB",
        "STORAGE ENGINE",
        ENGINE_VERSION,
        "Supports transactions, row-level locking, foreign keys and encryption for tables",
    ),
    ("INNODB_TRX", INFORMATION, ENGINE_VERSION, "InnoDB transactions"),
    ("INNODB_LOCKS", INFORMATION, ENGINE_VERSION, "InnoDB conflicting locks"),
    ("INNODB_LOCK_WAITS", INFORMATION, ENGINE_VERSION, "InnoDB which lock is blocking which"),
    ("INNODB_METRICS", INFORMATION, ENGINE_VERSION, "InnoDB Metrics Info"),
    ("INNODB_SYS_TABLES", INFORMATION, ENGINE_VERSION, "InnoDB SYS_TABLES"),
    ("INNODB_SYS_TABLESTATS", INFORMATION, ENGINE_VERSION, "InnoDB SYS_TABLESTATS"),
    ("INNODB_SYS_INDEXES", INFORMATION, ENGINE_VERSION, "InnoDB SYS_INDEXES"),
    ("INNODB_SYS_COLUMNS", INFORMATION, ENGINE_VERSION, "InnoDB SYS_COLUMNS"),
    ("INNODB_SYS_FIELDS", INFORMATION, ENGINE_VERSION, "InnoDB SYS_FIELDS"),
    ("INNODB_SYS_FOREIGN", INFORMATION, ENGINE_VERSION, "InnoDB SYS_FOREIGN"),
    ("INNODB_SYS_FOREIGN_COLS", INFORMATION, ENGINE_VERSION, "InnoDB SYS_FOREIGN_COLS"),
    ("PERFORMANCE_SCHEMA", "STORAGE ENGINE", ENGINE_VERSION, "Performance Schema"),
    (
        "SEQUENCE",
        "STORAGE ENGINE",
        ENGINE_VERSION,
        "Generated tables filled with sequential values",
    ),
    ("partition", "STORAGE ENGINE", ENGINE_VERSION, "Partition Storage Engine Helper"),
    ("unix_socket", "AUTHENTICATION", "2.2", "Unix Socket based authentication"),
    ("user_variables", INFORMATION, ENGINE_VERSION, "User-defined variables"),
    (
        "THREAD_POOL_GROUPS",
        INFORMATION,
        ENGINE_VERSION,
        "Provides information about threadpool groups.",
    ),
    (
        "THREAD_POOL_QUEUES",
        INFORMATION,
        ENGINE_VERSION,
        "Provides information about threadpool queues.",
    ),
    (
        "THREAD_POOL_STATS",
        INFORMATION,
        ENGINE_VERSION,
        "Provides performance counter information for threadpool.",
    ),
    ("THREAD_POOL_WAITS", INFORMATION, ENGINE_VERSION, "Provides wait counters for threadpool."),
    ("caching_sha2_password", "AUTHENTICATION", "2.2", "Caching SHA2 authentication"),
    ("inet4", "DATA TYPE", ENGINE_VERSION, "Data type INET4"),
    ("inet6", "DATA TYPE", ENGINE_VERSION, "Data type INET6"),
    ("uuid", "DATA TYPE", ENGINE_VERSION, "Data type UUID"),
];

const INFORMATION: &str = "INFORMATION SCHEMA";
const ENGINE_VERSION: &str = "101119.0";

/// All plugins; one that is a table of `information_schema` is switched off without its table.
pub(crate) fn rows(has_table: &dyn Fn(&str) -> bool) -> Vec<Row> {
    let all = BUILT_IN.iter().map(|(name, kind, version, what)| {
        let is_on = *kind != INFORMATION || has_table(name);
        let (status, option) = if is_on { ("ACTIVE", "FORCE") } else { ("DISABLED", "OFF") };
        row((name, kind, version, what), (status, option))
    });
    all.collect()
}

fn row(
    (name, kind, type_version, description): (&str, &str, &str, &str),
    (status, load_option): (&str, &str),
) -> Row {
    vec![
        ("PLUGIN_NAME", text(name)),
        ("PLUGIN_VERSION", text("1.0")),
        ("PLUGIN_STATUS", text(status)),
        ("PLUGIN_TYPE", text(kind)),
        ("PLUGIN_TYPE_VERSION", text(type_version)),
        ("PLUGIN_LIBRARY", Value::Null),
        ("PLUGIN_LIBRARY_VERSION", Value::Null),
        ("PLUGIN_AUTHOR", text("Selkie")),
        ("PLUGIN_DESCRIPTION", text(description)),
        ("PLUGIN_LICENSE", text("Apache-2.0")),
        ("LOAD_OPTION", text(load_option)),
        ("PLUGIN_MATURITY", text("Beta")),
        ("PLUGIN_AUTH_VERSION", text(VERSION)),
    ]
}
