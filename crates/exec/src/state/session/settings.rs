//! The session's system variables the executor reads, as plain values.
//!
//! The server keeps all variables and writes these when one of them changes. Nothing here checks
//! or parses a value.

use selkie_engine::Isolation;
use selkie_expr::TimeZone;
use selkie_types::Locale;
use selkie_types::{Charset, CollationId, SqlMode};

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

/// Variables by MariaDB's names.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// `sql_mode`.
    pub sql_mode: SqlMode,
    /// `character_set_client`.
    pub client_charset: Charset,
    /// `collation_connection`.
    pub collation_connection: CollationId,
    /// `character_set_results`; `None` is NULL: strings are sent as they are stored.
    pub results_charset: Option<Charset>,
    /// `character_set_database`.
    pub database_charset: Charset,
    /// `time_zone`.
    pub time_zone: TimeZone,
    /// `lc_time_names`.
    pub time_locale: &'static Locale,
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
    /// `sql_buffer_result`.
    pub buffer_result: bool,
    /// `sql_quote_show_create`.
    pub quote_show_create: bool,
    /// `max_error_count`.
    pub max_error_count: usize,
    /// `sql_notes`.
    pub sql_notes: bool,
    /// `sql_select_limit`.
    pub sql_select_limit: u64,
    /// `max_sort_length`.
    pub max_sort_length: usize,
    /// `group_concat_max_len`.
    pub group_concat_max_len: u64,
    /// `div_precision_increment`.
    pub div_precision_increment: u8,
    /// `default_week_format`.
    pub default_week_format: u8,
    /// `default_regex_flags`.
    pub regex_flags: u8,
    /// `explicit_defaults_for_timestamp`.
    pub explicit_timestamps: bool,
    /// `max_allowed_packet`.
    pub max_allowed_packet: u64,
    /// `max_statement_time` in microseconds; 0 is none.
    pub max_statement_micros: u64,
    /// `lock_wait_timeout` in seconds: of table definitions.
    pub lock_wait_timeout: u64,
    /// `innodb_lock_wait_timeout` in seconds: of rows.
    pub row_lock_wait_timeout: u64,
    /// `auto_increment_increment`.
    pub auto_increment_increment: u64,
    /// `auto_increment_offset`.
    pub auto_increment_offset: u64,
    /// `SET timestamp`, in microseconds since 1970.
    pub timestamp_micros: Option<i64>,
    /// `sql_safe_updates`.
    pub sql_safe_updates: bool,
    /// `foreign_key_checks`.
    pub foreign_key_checks: bool,
    /// `unique_checks`.
    pub unique_checks: bool,
    /// `check_constraint_checks`.
    pub check_constraint_checks: bool,
    /// `updatable_views_with_limit`.
    pub updatable_views_with_limit: bool,
    /// `note_verbosity` has `unusable_keys`.
    pub note_unusable_keys: bool,
    /// It has `explain`: the same notes for EXPLAIN.
    pub note_explain: bool,
    /// `default_storage_engine`; empty where no variables were set: the engine of the dictionary.
    pub default_storage_engine: Box<str>,
    /// `enforce_storage_engine`, if set.
    pub enforced_storage_engine: Option<Box<str>>,
    /// `default_tmp_storage_engine`, if set.
    pub default_tmp_storage_engine: Option<Box<str>>,
    /// `lower_case_table_names` is not 0.
    pub lower_case_names: bool,
    /// `local_infile`.
    pub local_infile: bool,
    /// The client counts rows found, not changed (`CLIENT_FOUND_ROWS`).
    pub found_rows: bool,
    /// `max_recursive_iterations`.
    pub max_recursive_iterations: u64,
    /// `standard_compliant_cte`.
    pub standard_compliant_cte: bool,
    /// Threads one statement may use.
    pub threads: usize,
    /// Grows whenever one of the settings a plan depends on changes.
    pub version: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            sql_mode: SqlMode::DEFAULT,
            client_charset: Charset::Utf8mb4,
            database_charset: Charset::Utf8mb4,
            collation_connection: CollationId::UTF8MB4_GENERAL_CI,
            results_charset: Some(Charset::Utf8mb4),
            time_zone: TimeZone::utc(),
            time_locale: Locale::english(),
            autocommit: true,
            snapshot_isolation: false,
            isolation: Isolation::RepeatableRead,
            tx_read_only: false,
            completion: Completion::Plain,
            buffer_result: false,
            quote_show_create: true,
            max_error_count: 64,
            sql_notes: true,
            sql_select_limit: u64::MAX,
            max_sort_length: 1024,
            group_concat_max_len: 1 << 20,
            div_precision_increment: 4,
            default_week_format: 0,
            regex_flags: 0,
            explicit_timestamps: true,
            max_allowed_packet: 16 << 20,
            max_statement_micros: 0,
            lock_wait_timeout: 86_400,
            row_lock_wait_timeout: 50,
            auto_increment_increment: 1,
            auto_increment_offset: 1,
            timestamp_micros: None,
            sql_safe_updates: false,
            foreign_key_checks: true,
            unique_checks: true,
            check_constraint_checks: true,
            updatable_views_with_limit: true,
            note_unusable_keys: false,
            note_explain: true,
            default_storage_engine: Box::default(),
            enforced_storage_engine: None,
            default_tmp_storage_engine: None,
            lower_case_names: false,
            local_infile: true,
            found_rows: false,
            max_recursive_iterations: 1000,
            standard_compliant_cte: true,
            threads: std::thread::available_parallelism().map_or(1, |n| n.get()),
            version: 1,
        }
    }
}
