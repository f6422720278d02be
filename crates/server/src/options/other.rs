//! Options that are not system variables, and aliases of system variables.
//!
//! Must not have options of its own: each of these exists in MariaDB 10.11.

use super::logs::LogOption;
use super::replica::ReplicaOption;
use crate::variables::{OptionArgument, registry};

/// Aliases of variables.
const ALIASES: &[(&str, &str)] = &[
    ("transaction_isolation", "tx_isolation"),
    ("transaction_read_only", "tx_read_only"),
    ("default_time_zone", "time_zone"),
    ("log_slow_queries", "slow_query_log"),
    ("log_warnings", "log_warnings"),
    ("warnings", "log_warnings"),
    ("default_character_set", "character_set_server"),
    ("default_collation", "collation_server"),
];

/// Options that are accepted without effect: they choose features of MariaDB that this server does
/// not have or need not switch.
const ACCEPTED: &[&str] = &[
    "allow_suspicious_udfs",
    "character_set_client_handshake",
    "chroot",
    "console",
    "core_file",
    "debug_gdb",
    "debug_no_sync",
    "des_key_file",
    "disconnect_slave_event_count",
    "external_locking",
    "gdb",
    "init_rpl_role",
    "language",
    "lc_messages_dir",
    "log_ddl_recovery",
    "log_isam",
    "log_tc",
    "memlock",
    "old_style_user_limits",
    "plugin_load",
    "plugin_load_add",
    "safe_user_create",
    "skip_bdb",
    "stack_trace",
    "symbolic_links",
    "tc_heuristic_recover",
    "temp_pool",
    "user",
    "verbose",
];

/// Plugins of MariaDB, each an option that switches it. Without one that names a table of
/// `information_schema` there is no such table. What others name is always there, or never.
const PLUGINS: &[&str] = &[
    "feedback",
    "innodb",
    "innodb_buffer_page",
    "innodb_buffer_page_lru",
    "innodb_buffer_pool_stats",
    "innodb_cmp",
    "innodb_cmp_per_index",
    "innodb_cmp_per_index_reset",
    "innodb_cmp_reset",
    "innodb_cmpmem",
    "innodb_cmpmem_reset",
    "innodb_ft_being_deleted",
    "innodb_ft_config",
    "innodb_ft_default_stopword",
    "innodb_ft_deleted",
    "innodb_ft_index_cache",
    "innodb_ft_index_table",
    "innodb_lock_waits",
    "innodb_locks",
    "innodb_metrics",
    "innodb_sys_columns",
    "innodb_sys_fields",
    "innodb_sys_foreign",
    "innodb_sys_foreign_cols",
    "innodb_sys_indexes",
    "innodb_sys_tables",
    "innodb_sys_tablespaces",
    "innodb_sys_tablestats",
    "innodb_sys_virtual",
    "innodb_tablespaces_encryption",
    "innodb_trx",
    "partition",
    "sequence",
    "thread_pool_groups",
    "thread_pool_queues",
    "thread_pool_stats",
    "thread_pool_waits",
    "unix_socket",
    "user_variables",
];

/// Options of older servers. MariaDB warns about them and continues.
const REMOVED: &[&str] = &[
    "innodb_additional_mem_pool_size",
    "innodb_adaptive_hash_index_partitions",
    "innodb_adaptive_max_sleep_delay",
    "innodb_api_bk_commit_interval",
    "innodb_api_disable_rowlock",
    "innodb_api_enable_binlog",
    "innodb_api_enable_mdl",
    "innodb_api_trx_level",
    "innodb_background_scrub_data_check_interval",
    "innodb_background_scrub_data_compressed",
    "innodb_background_scrub_data_interval",
    "innodb_background_scrub_data_uncompressed",
    "innodb_buffer_pool_instances",
    "innodb_checksums",
    "innodb_commit_concurrency",
    "innodb_concurrency_tickets",
    "innodb_file_format",
    "innodb_file_format_check",
    "innodb_file_format_max",
    "innodb_large_prefix",
    "innodb_lock_schedule_algorithm",
    "innodb_locks_unsafe_for_binlog",
    "innodb_log_arch_dir",
    "innodb_log_checksums",
    "innodb_log_compressed_pages",
    "innodb_log_files_in_group",
    "innodb_log_optimize_ddl",
    "innodb_log_block_size",
    "innodb_max_changed_pages",
    "innodb_mirrored_log_groups",
    "innodb_mtflush_threads",
    "innodb_page_cleaners",
    "innodb_replication_delay",
    "innodb_rollback_segments",
    "innodb_scrub_log",
    "innodb_scrub_log_speed",
    "innodb_stats_sample_pages",
    "innodb_sync_array_size",
    "innodb_thread_concurrency",
    "innodb_thread_sleep_delay",
    "innodb_undo_logs",
    "innodb_use_mtflush",
    "innodb_use_sys_malloc",
    "innodb_use_trim",
    "multi_range_count",
    "secure_auth_old",
    "table_cache",
    "thread_concurrency",
    "timed_mutexes",
];

/// Meaning of an option's name.
pub(super) enum Meaning {
    /// A variable's startup option.
    Variable(&'static str),
    /// An option without effect.
    Accepted,
    /// The switch of a plugin.
    Plugin(&'static str),
    /// An option of older servers.
    Removed,
    /// The switch of TLS.
    Tls,
    /// Seconds to wait for a port that is in use.
    PortWait,
    /// The switch of prefixes of names.
    Prefixes,
    /// An option about the name of a log.
    Log(LogOption),
    /// An option of a replica.
    Replica(ReplicaOption),
    /// The switch of a consumer of events.
    Consumer(String),
    /// The switch of kinds of events.
    Instrument,
    /// An unknown name.
    Unknown,
    /// A prefix of several options.
    Ambiguous(Vec<&'static str>),
    /// A prefix of one option.
    Prefix(&'static str),
}

/// The meaning of `name`, in lower case with underscores.
pub(super) fn meaning(name: &str) -> Meaning {
    if let Some(option) = LogOption::of(name) {
        return Meaning::Log(option);
    }
    if let Some(option) = ReplicaOption::of(name) {
        return Meaning::Replica(option);
    }
    match name {
        "ssl" => return Meaning::Tls,
        "port_open_timeout" => return Meaning::PortWait,
        "getopt_prefix_matching" => return Meaning::Prefixes,
        "performance_schema_instrument" => return Meaning::Instrument,
        _ => {}
    }
    if let Some(consumer) = name.strip_prefix("performance_schema_consumer_")
        && crate::performance::CONSUMERS.contains(&consumer)
    {
        return Meaning::Consumer(consumer.to_owned());
    }
    if let Some(found) = exact(name) {
        return Meaning::Variable(found);
    }
    if ACCEPTED.contains(&name) {
        return Meaning::Accepted;
    }
    if let Some(plugin) = PLUGINS.iter().find(|plugin| **plugin == name) {
        return Meaning::Plugin(plugin);
    }
    if REMOVED.contains(&name) {
        return Meaning::Removed;
    }
    let candidates: Vec<&'static str> = option_names().filter(|n| n.starts_with(name)).collect();
    match candidates[..] {
        [] => Meaning::Unknown,
        [one] => Meaning::Prefix(one),
        _ => Meaning::Ambiguous(candidates),
    }
}

fn exact(name: &str) -> Option<&'static str> {
    let aliased = ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, target)| *target);
    let def = registry().find(aliased.unwrap_or(name))?;
    (def.has_option || aliased.is_some()).then_some(def.name)
}

fn option_names() -> impl Iterator<Item = &'static str> {
    registry().all().iter().filter(|d| d.argument != OptionArgument::NoOption).map(|d| d.name)
}

/// Whether `--name` without `=` takes the next argument as its value.
pub(super) fn takes_value(argument: &str) -> bool {
    let name = argument.trim_start_matches("--").replace('-', "_").to_ascii_lowercase();
    match exact(&name).and_then(|n| registry().find(n)) {
        Some(def) => def.argument == OptionArgument::Required,
        None => match LogOption::of(&name) {
            Some(option) => option != LogOption::Bin,
            None => match ReplicaOption::of(&name) {
                Some(option) => option.takes_value(),
                None => matches!(
                    name.as_str(),
                    "user" | "plugin_load" | "plugin_load_add" | "performance_schema_instrument"
                ),
            },
        },
    }
}

/// The option of a one-letter form.
pub(super) fn long_name(short: u8) -> Option<&'static str> {
    Some(match short {
        b'P' => "port",
        b'h' => "datadir",
        b'b' => "basedir",
        b'C' => "character_set_server",
        b't' => "tmpdir",
        b'u' => "user",
        b'W' => "log_warnings",
        _ => return None,
    })
}
