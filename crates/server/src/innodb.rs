//! The transactional engine in the form of InnoDB: `INNODB_*` tables, SHOW ENGINE INNODB STATUS,
//! deadlocks in the error log.
//!
//! Must not change anything: it only shows what the engine reports.

mod buffer;
mod deadlock;
mod dictionary;
mod locks;
mod look;
mod metrics;
mod monitor;
mod record;
mod report;
mod sections;
mod transactions;

pub(crate) use deadlock::DeadlockWatcher;
pub(crate) use monitor::Monitor;
pub(crate) use report::status_report;
pub(crate) use sections::foreign_key_error;

use selkie_exec::Instance;
use selkie_fulltext::{Dialect, builtin_stopwords};
use selkie_types::{SqlResult, Value};

use crate::accounts::Privileges;
use crate::session::Shared;
use crate::tables::Row;

/// Names of the tables of `information_schema` shown here.
pub(crate) const TABLES: &[&str] = &[
    "INNODB_BUFFER_POOL_STATS",
    "INNODB_CMP",
    "INNODB_CMPMEM",
    "INNODB_CMPMEM_RESET",
    "INNODB_CMP_RESET",
    "INNODB_FT_DEFAULT_STOPWORD",
    "INNODB_LOCKS",
    "INNODB_LOCK_WAITS",
    "INNODB_METRICS",
    "INNODB_SYS_COLUMNS",
    "INNODB_SYS_FIELDS",
    "INNODB_SYS_INDEXES",
    "INNODB_SYS_TABLES",
    "INNODB_SYS_TABLESPACES",
    "INNODB_SYS_TABLESTATS",
    "INNODB_SYS_VIRTUAL",
    "INNODB_TRX",
];

/// Name of the engine for users.
const ENGINE: &str = "InnoDB";

/// Input for the rows of a table.
pub(crate) struct Asked<'a> {
    /// The session that reads the table.
    pub(crate) shared: &'a Shared,
    /// Definitions and engines.
    pub(crate) instance: &'a Instance,
}

/// The rows of one of [`TABLES`]. Compat: all of them need PROCESS, but for the words that are the
/// same for everybody.
pub(crate) fn rows(table: &str, asked: &Asked<'_>) -> SqlResult<Vec<Row>> {
    if table != "INNODB_FT_DEFAULT_STOPWORD" {
        asked.shared.access.lock().check_global(Privileges::PROCESS)?;
    }
    Ok(match table {
        "INNODB_BUFFER_POOL_STATS" => buffer::pool_stats(asked),
        "INNODB_CMP" | "INNODB_CMP_RESET" => buffer::compression(),
        "INNODB_CMPMEM" | "INNODB_CMPMEM_RESET" => buffer::compression_memory(),
        "INNODB_FT_DEFAULT_STOPWORD" => builtin_stopwords(Dialect::Strict)
            .map(|word| vec![("value", Value::Bytes(word.as_bytes().into()))])
            .collect(),
        "INNODB_LOCKS" => locks::locks(asked),
        "INNODB_LOCK_WAITS" => locks::lock_waits(asked),
        "INNODB_METRICS" => metrics::metrics(asked),
        "INNODB_SYS_COLUMNS" => dictionary::columns(asked),
        "INNODB_SYS_FIELDS" => dictionary::fields(asked),
        "INNODB_SYS_INDEXES" => dictionary::indexes(asked),
        "INNODB_SYS_TABLES" => dictionary::tables(asked),
        "INNODB_SYS_TABLESPACES" => dictionary::tablespaces(asked),
        "INNODB_SYS_TABLESTATS" => dictionary::table_stats(asked),
        "INNODB_SYS_VIRTUAL" => dictionary::virtual_columns(asked),
        "INNODB_TRX" => transactions::transactions(asked),
        _ => Vec::new(),
    })
}
