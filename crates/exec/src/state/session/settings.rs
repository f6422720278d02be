//! System variables of the session that the executor reads, as plain values grouped by their
//! readers.
//!
//! The server keeps all variables and updates these when one changes. Nothing here checks or parses
//! a value. Plans depend on them: the writer must increase `version`.

use selkie_engine::Isolation;
use selkie_expr::TypeContext;
use selkie_plan::PlanVariables;
use selkie_replication::images::RowImage;
use selkie_types::{Charset, CollationId};

/// Default of AND CHAIN and RELEASE for COMMIT and ROLLBACK.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Completion {
    /// Neither.
    Plain,
    /// AND CHAIN: the next transaction begins.
    Chain,
    /// RELEASE: the connection ends.
    Release,
}

/// Variables by MariaDB's names. [`Default`] gives the values of a server without options.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Variables of expressions; other readers of the SQL mode or the time zone use them too.
    pub expressions: TypeContext,
    /// Further variables that plans depend on.
    pub planning: PlanVariables,
    /// Variables of transactions.
    pub transactions: Transactions,
    /// Variables of waits for locks.
    pub locks: Locks,
    /// Variables of INSERT, UPDATE and DELETE.
    pub dml: Dml,
    /// Variables of queries.
    pub queries: Queries,
    /// Variables of the warnings list.
    pub notes: Notes,
    /// Character sets of strings from the client or from files.
    pub charsets: Charsets,
    /// Default engines of new tables.
    pub engines: DefaultEngines,
    /// Variables of the binary log.
    pub binlog: BinlogSettings,
    /// Variables of SHOW CREATE.
    pub show: Show,
    /// `SET timestamp`, in microseconds since 1970.
    pub timestamp_micros: Option<i64>,
    /// Grows whenever a setting that plans depend on changes.
    pub version: u64,
}

impl Settings {
    /// Whether all variables are the same. `timestamp` is none that a session keeps, and the
    /// version counts changes.
    pub fn is_like(&self, other: &Self) -> bool {
        let Self {
            expressions,
            planning,
            transactions,
            locks,
            dml,
            queries,
            notes,
            charsets,
            engines,
            binlog,
            show,
            timestamp_micros: _,
            version: _,
        } = self;
        *expressions == other.expressions
            && *planning == other.planning
            && *transactions == other.transactions
            && *locks == other.locks
            && *dml == other.dml
            && *queries == other.queries
            && *notes == other.notes
            && *charsets == other.charsets
            && *engines == other.engines
            && *binlog == other.binlog
            && *show == other.show
    }
}

/// Variables of transactions.
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

/// Time limits of waits for locks, in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Locks {
    /// `lock_wait_timeout`: for metadata locks.
    pub lock_wait_timeout: u64,
    /// `innodb_lock_wait_timeout`: for row locks.
    pub row_lock_wait_timeout: u64,
}

/// Variables of statements that change rows.
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
    /// Whether the client wants the number of rows found, not changed (`CLIENT_FOUND_ROWS`).
    pub found_rows: bool,
}

/// Whether tables are read by column groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UseColumns {
    /// Never.
    Off,
    /// As far as there are groups: ANALYZE TABLE and repeated reading build them.
    On,
    /// Of every table: groups are built when it is read. For tests.
    Force,
}

/// Most bytes that an operator keeps in memory before it moves rows to a file. A variable that has
/// its default sets none: the defaults are those of small machines of the past, and the limits of
/// the statement and the server hold in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ceilings {
    /// `sort_buffer_size`.
    pub sort: usize,
    /// `join_buffer_size`.
    pub join: usize,
    /// The lower of `tmp_memory_table_size` and `max_heap_table_size`.
    pub table: usize,
}

impl Ceilings {
    /// No ceilings.
    pub const NONE: Self = Self { sort: usize::MAX, join: usize::MAX, table: usize::MAX };
}

/// Whether results of queries are kept, and kept ones used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepResults {
    /// Never.
    Never,
    /// Unless a query says SQL_NO_CACHE.
    Always,
    /// If a query says SQL_CACHE.
    OnDemand,
}

/// Variables of queries.
#[derive(Clone, Debug, PartialEq)]
pub struct Queries {
    /// `query_cache_type`.
    pub keep_results: KeepResults,
    /// `query_cache_wlock_invalidate`: no kept result of a table that another session has locked.
    pub results_wait_for_locks: bool,
    /// Whether `optimizer_switch` and `join_cache_level` allow join buffers for outer joins.
    pub buffers_outer_joins: bool,
    /// `sql_buffer_result`.
    pub buffer_result: bool,
    /// `selkie_columns`.
    pub columns: UseColumns,
    /// `selkie_lanes`: threads that a statement may use, its own among them.
    pub lanes: usize,
    /// `max_sort_length`.
    pub max_sort_length: usize,
    /// `expensive_subquery_limit`: rows from which on a subquery is expensive.
    pub expensive_subquery_rows: u64,
    /// Most bytes of operators in memory.
    pub ceilings: Ceilings,
    /// `max_recursive_iterations`.
    pub max_recursive_iterations: u64,
    /// `max_statement_time` in microseconds; 0 for no limit.
    pub max_statement_micros: u64,
}

/// Variables of the warnings list.
#[derive(Clone, Debug, PartialEq)]
pub struct Notes {
    /// `max_error_count`.
    pub max_error_count: usize,
    /// `sql_notes`.
    pub sql_notes: bool,
    /// Whether `note_verbosity` contains `explain`: EXPLAIN then gives notes about unusable keys.
    pub note_explain: bool,
    /// `optimizer_trace` has `enabled`.
    pub traces: bool,
}

/// Character sets of incoming strings.
#[derive(Clone, Debug, PartialEq)]
pub struct Charsets {
    /// `character_set_client`.
    pub client: Charset,
    /// `character_set_database`.
    pub database: Charset,
}

/// Engines of tables without ENGINE.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DefaultEngines {
    /// `default_storage_engine`; empty if no variables were set: the engine of the dictionary.
    pub default: Box<str>,
    /// `enforce_storage_engine`, if set.
    pub enforced: Option<Box<str>>,
}

/// Variables of the binary log.
#[derive(Clone, Debug, PartialEq)]
pub struct BinlogSettings {
    /// `sql_log_bin`; false for the server's own sessions.
    pub is_enabled: bool,
    /// `server_id`.
    pub server_id: u32,
    /// `gtid_domain_id`.
    pub domain_id: u32,
    /// `gtid_seq_no`: number of the next group only, if it is set.
    pub seq_no: Option<u64>,
    /// Not `skip_parallel_replication`.
    pub is_parallel: bool,
    /// Flags that the headers of all events have: that of `skip_replication`.
    pub header: u16,
    /// `binlog_format`.
    pub format: BinlogFormat,
    /// `binlog_direct_non_transactional_updates`.
    pub is_direct: bool,
    /// `binlog_row_image`.
    pub row_image: RowImage,
    /// `binlog_annotate_row_events`.
    pub annotates: bool,
    /// `unique_checks`.
    pub unique_checks: bool,
    /// `collation_server`.
    pub collation_server: CollationId,
    /// `collation_database`.
    pub collation_database: CollationId,
}

/// Values of `binlog_format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinlogFormat {
    /// The text of statements that do the same everywhere, else rows.
    Mixed,
    /// The text of statements.
    Statement,
    /// Rows.
    Row,
}

/// Variables of SHOW CREATE.
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
            keep_results: KeepResults::Never,
            results_wait_for_locks: false,
            buffers_outer_joins: true,
            buffer_result: false,
            columns: UseColumns::On,
            lanes: 1,
            max_sort_length: 1024,
            expensive_subquery_rows: 100,
            ceilings: Ceilings::NONE,
            max_recursive_iterations: 1000,
            max_statement_micros: 0,
        }
    }
}

impl Default for Notes {
    fn default() -> Self {
        Self { max_error_count: 64, sql_notes: true, note_explain: true, traces: false }
    }
}

impl Default for Charsets {
    fn default() -> Self {
        Self { client: Charset::Utf8mb4, database: Charset::Utf8mb4 }
    }
}

impl Default for BinlogSettings {
    fn default() -> Self {
        Self {
            is_enabled: false,
            server_id: 1,
            domain_id: 0,
            seq_no: None,
            is_parallel: true,
            header: 0,
            format: BinlogFormat::Row,
            is_direct: false,
            row_image: RowImage::Full,
            annotates: true,
            unique_checks: true,
            collation_server: CollationId::UTF8MB4_GENERAL_CI,
            collation_database: CollationId::UTF8MB4_GENERAL_CI,
        }
    }
}

impl Default for Show {
    fn default() -> Self {
        Self { quote_show_create: true }
    }
}
