//! Which variables change what the server does. All others are accepted, checked and shown, and
//! have no effect.
//!
//! Must be kept true: `docs/compatibility.md` repeats this list and a test compares them.

/// Variables with an effect, or whose value states a fact.
pub const EFFECTIVE: &[&str] = &[
    "auto_increment_increment",
    "auto_increment_offset",
    "autocommit",
    "bind_address",
    "character_set_client",
    "character_set_connection",
    "character_set_database",
    "character_set_results",
    "character_set_server",
    "check_constraint_checks",
    "collation_connection",
    "collation_database",
    "collation_server",
    "connect_timeout",
    "datadir",
    "default_storage_engine",
    "default_tmp_storage_engine",
    "default_week_format",
    "div_precision_increment",
    "error_count",
    "extra_max_connections",
    "extra_port",
    "foreign_key_checks",
    "group_concat_max_len",
    "hostname",
    "identity",
    "in_transaction",
    "init_connect",
    "innodb_buffer_pool_size",
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_lock_wait_timeout",
    "innodb_log_buffer_size",
    "innodb_log_file_size",
    "insert_id",
    "interactive_timeout",
    "last_insert_id",
    "local_infile",
    "lock_wait_timeout",
    "log_error",
    "log_warnings",
    "lower_case_table_names",
    "max_allowed_packet",
    "max_connections",
    "max_error_count",
    "max_prepared_stmt_count",
    "max_recursive_iterations",
    "max_sort_length",
    "max_statement_time",
    "max_user_connections",
    "net_read_timeout",
    "net_write_timeout",
    "pid_file",
    "port",
    "pseudo_thread_id",
    "report_port",
    "selkie_undo_memory",
    "server_id",
    "session_track_schema",
    "session_track_state_change",
    "session_track_system_variables",
    "skip_grant_tables",
    "skip_name_resolve",
    "skip_networking",
    "socket",
    "sql_auto_is_null",
    "sql_mode",
    "sql_notes",
    "sql_safe_updates",
    "sql_select_limit",
    "storage_engine",
    "system_time_zone",
    "thread_handling",
    "thread_pool_idle_timeout",
    "thread_pool_max_threads",
    "thread_pool_oversubscribe",
    "thread_pool_prio_kickup_timer",
    "thread_pool_priority",
    "thread_pool_size",
    "thread_pool_stall_limit",
    "time_zone",
    "timestamp",
    "tmpdir",
    "tx_isolation",
    "tx_read_only",
    "unique_checks",
    "version",
    "version_comment",
    "version_compile_machine",
    "version_compile_os",
    "wait_timeout",
    "warning_count",
];

/// Whether a variable changes what the server does.
pub fn has_effect(name: &str) -> bool {
    EFFECTIVE.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::registry;

    #[test]
    fn sorted_and_known() {
        assert!(EFFECTIVE.is_sorted());
        assert!(EFFECTIVE.iter().all(|n| registry().find(n).is_some()));
    }

    #[test]
    fn documented() {
        let page = include_str!("../../../../docs/compatibility.md");
        let listed = |n: &&&str| page.contains(&format!("`{n}`"));
        let missing: Vec<_> = EFFECTIVE.iter().filter(|n| !listed(n)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
