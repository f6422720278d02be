//! The session's system variables the executor reads, as plain values in groups by their readers.
//!
//! The server keeps all variables and writes these when one of them changes. Nothing here checks
//! or parses a value.

use selkie_engine::Isolation;
use selkie_expr::TypeContext;
use selkie_plan::PlanVariables;
use selkie_types::Charset;

/// What COMMIT and ROLLBACK do besides, where they do not say.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Completion {
    /// Nothing.
    Plain,
    /// The next transaction begins.
    Chain,
    /// The connection ends.
    Release,
}

/// Variables by MariaDB's names. The values of [`Default`] are those of a server without options.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// What expressions depend on, and whoever else asks for the SQL mode or the time zone.
    pub expressions: TypeContext,
    /// What plans depend on besides.
    pub planning: PlanVariables,
    /// Of transactions.
    pub transactions: Transactions,
    /// Of waits for locks.
    pub locks: Locks,
    /// Of INSERT, UPDATE and DELETE.
    pub dml: Dml,
    /// Of queries.
    pub queries: Queries,
    /// Of conditions that are kept.
    pub notes: Notes,
    /// Of strings that come from the client or from files.
    pub charsets: Charsets,
    /// Of new tables.
    pub engines: DefaultEngines,
    /// Of SHOW CREATE.
    pub show: Show,
    /// `SET timestamp`, in microseconds since 1970.
    pub timestamp_micros: Option<i64>,
    /// Grows whenever one of the settings a plan depends on changes.
    pub version: u64,
}

/// How transactions begin and end.
#[derive(Clone, Debug, PartialEq)]
pub struct Transactions {
    /// `autocommit`.
    pub autocommit: bool,
    /// `innodb_snapshot_isolation`.
    pub snapshot_isolation: bool,
    /// `tx_isolation`.
    pub isolation: Isolation,
    /// `tx_read_only`.
    pub tx_read_only: bool,
    /// `completion_type`.
    pub completion: Completion,
}

/// How long statements wait for locks, in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Locks {
    /// `lock_wait_timeout`: of table definitions.
    pub lock_wait_timeout: u64,
    /// `innodb_lock_wait_timeout`: of rows.
    pub row_lock_wait_timeout: u64,
}

/// What changes of rows do.
#[derive(Clone, Debug, PartialEq)]
pub struct Dml {
    /// `auto_increment_increment`.
    pub auto_increment_increment: u64,
    /// `auto_increment_offset`.
    pub auto_increment_offset: u64,
    /// `sql_safe_updates`.
    pub sql_safe_updates: bool,
    /// `check_constraint_checks`.
    pub check_constraint_checks: bool,
    /// The client counts rows found, not changed (`CLIENT_FOUND_ROWS`).
    pub found_rows: bool,
}

/// How queries run.
#[derive(Clone, Debug, PartialEq)]
pub struct Queries {
    /// `sql_buffer_result`.
    pub buffer_result: bool,
    /// `max_sort_length`.
    pub max_sort_length: usize,
    /// `max_recursive_iterations`.
    pub max_recursive_iterations: u64,
    /// `max_statement_time` in microseconds; 0 is none.
    pub max_statement_micros: u64,
}

/// Which conditions are kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Notes {
    /// `max_error_count`.
    pub max_error_count: usize,
    /// `sql_notes`.
    pub sql_notes: bool,
    /// `note_verbosity` has `explain`: notes on keys that cannot be used are given for EXPLAIN too.
    pub note_explain: bool,
}

/// Character sets of strings that come in.
#[derive(Clone, Debug, PartialEq)]
pub struct Charsets {
    /// `character_set_client`.
    pub client: Charset,
    /// `character_set_database`.
    pub database: Charset,
}

/// Engines of tables that name none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DefaultEngines {
    /// `default_storage_engine`; empty where no variables were set: the engine of the dictionary.
    pub default: Box<str>,
    /// `enforce_storage_engine`, if set.
    pub enforced: Option<Box<str>>,
}

/// How definitions are shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Show {
    /// `sql_quote_show_create`.
    pub quote_show_create: bool,
}

impl Default for Transactions {
    fn default() -> Self {
        Self {
            autocommit: true,
            snapshot_isolation: false,
            isolation: Isolation::RepeatableRead,
            tx_read_only: false,
            completion: Completion::Plain,
        }
    }
}

impl Default for Locks {
    fn default() -> Self {
        Self { lock_wait_timeout: 86_400, row_lock_wait_timeout: 50 }
    }
}

impl Default for Dml {
    fn default() -> Self {
        Self {
            auto_increment_increment: 1,
            auto_increment_offset: 1,
            sql_safe_updates: false,
            check_constraint_checks: true,
            found_rows: false,
        }
    }
}

impl Default for Queries {
    fn default() -> Self {
        Self {
            buffer_result: false,
            max_sort_length: 1024,
            max_recursive_iterations: 1000,
            max_statement_micros: 0,
        }
    }
}

impl Default for Notes {
    fn default() -> Self {
        Self { max_error_count: 64, sql_notes: true, note_explain: true }
    }
}

impl Default for Charsets {
    fn default() -> Self {
        Self { client: Charset::Utf8mb4, database: Charset::Utf8mb4 }
    }
}

impl Default for Show {
    fn default() -> Self {
        Self { quote_show_create: true }
    }
}
