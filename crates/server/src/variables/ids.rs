//! Identities of the variables that the server itself reads.
//!
//! Must list a variable only if code depends on it.

use std::sync::LazyLock;

use super::def::VarId;
use super::registry::registry;

macro_rules! ids {
    ($($name:ident)*) => {
        /// Identities of the variables the server reads.
        #[derive(Debug)]
        pub struct Ids {
            $(#[doc = concat!("`", stringify!($name), "`")] pub $name: VarId,)*
        }
        static IDS: LazyLock<Ids> = LazyLock::new(|| Ids {
            $($name: registry().find(stringify!($name)).expect("listed in the table").id,)*
        });
        #[cfg(test)]
        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

ids! {
    auto_increment_increment auto_increment_offset autocommit automatic_sp_privileges basedir
    bind_address binlog_annotate_row_events binlog_checksum
    binlog_direct_non_transactional_updates binlog_expire_logs_seconds binlog_format binlog_row_image character_set_client character_set_connection
    character_set_database character_set_filesystem character_set_results character_set_server
    character_set_system check_constraint_checks collation_connection collation_database
    collation_server completion_type connect_timeout datadir default_master_connection
    default_password_lifetime default_regex_flags default_storage_engine
    default_tmp_storage_engine default_week_format disconnect_on_expired_password
    div_precision_increment enforce_storage_engine error_count event_scheduler expensive_subquery_limit expire_logs_days
    explicit_defaults_for_timestamp external_user extra_max_connections extra_port
    foreign_key_checks general_log general_log_file group_concat_max_len gtid_binlog_state
    gtid_domain_id gtid_ignore_duplicates gtid_seq_no gtid_slave_pos gtid_strict_mode hostname identity in_transaction
    init_connect init_file innodb_lock_wait_timeout innodb_print_all_deadlocks
    innodb_snapshot_isolation innodb_status_output_locks insert_id interactive_timeout join_buffer_size join_cache_level
    last_insert_id lc_messages lc_time_names local_infile lock_wait_timeout
    log_bin_trust_function_creators log_error log_output log_queries_not_using_indexes
    log_slow_admin_statements log_slow_filter log_slow_query log_slow_query_file
    log_slow_rate_limit log_slow_verbosity log_warnings long_query_time lower_case_table_names max_allowed_packet
    max_binlog_size max_connections max_delayed_threads max_error_count max_heap_table_size max_password_errors
    max_join_size max_prepared_stmt_count max_recursive_iterations max_relay_log_size max_session_mem_used
    max_sort_length max_statement_time max_user_connections min_examined_row_limit
    net_buffer_length net_read_timeout net_write_timeout note_verbosity old_mode open_files_limit
    optimizer_switch optimizer_trace optimizer_trace_max_mem_size pid_file plugin_dir port profiling profiling_history_size proxy_user
    pseudo_slave_mode pseudo_thread_id query_cache_limit query_cache_size query_cache_type query_cache_wlock_invalidate rand_seed1 rand_seed2
    optimizer_use_condition_selectivity
    read_only relay_log_info_file relay_log_purge relay_log_space_limit
    replicate_events_marked_for_skip report_port
    require_secure_transport selkie_column_memory selkie_columns selkie_lanes selkie_memory_limit selkie_statement_memory server_id server_uid
    session_track_schema session_track_state_change session_track_system_variables
    session_track_transaction_info skip_grant_tables skip_name_resolve skip_networking
    skip_parallel_replication skip_replication slave_domain_parallel_threads slave_net_timeout slave_parallel_max_queued
    slave_parallel_threads slave_transaction_retries
    slave_transaction_retry_interval slow_query_log slow_query_log_file socket sort_buffer_size sql_auto_is_null sql_big_selects
    sql_buffer_result sql_log_bin sql_log_off sql_mode sql_notes sql_quote_show_create
    sql_safe_updates sql_select_limit sql_warnings standard_compliant_cte storage_engine
    system_time_zone system_versioning_alter_history system_versioning_asof system_versioning_insert_history thread_handling thread_pool_idle_timeout thread_pool_max_threads
    thread_pool_oversubscribe thread_pool_prio_kickup_timer thread_pool_priority thread_pool_size
    thread_pool_stall_limit time_zone timestamp tmp_memory_table_size tmpdir tx_isolation tx_read_only unique_checks userstat
    updatable_views_with_limit use_stat_tables version version_comment version_compile_machine version_compile_os
    wait_timeout warning_count
}

/// Identities of the variables the server reads.
pub fn ids() -> &'static Ids {
    &IDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_exist() {
        assert!(NAMES.iter().all(|n| registry().find(n).is_some()));
        let _ = ids().wait_timeout;
    }
}
