//! System variables as the executor's plain settings.
//!
//! Must not validate: values were checked when they were set.

use selkie_engine::Isolation;
use selkie_exec::Session;
use selkie_exec::session::Completion;
use selkie_expr::TimeZone;
use selkie_protocol::Capabilities;
use selkie_types::{Charset, CollationId, Locale, SqlMode};

use crate::session::Shared;
use crate::variables::{VarId, VarValue, ids};

/// Writes the session's variables into its settings.
pub(super) fn refresh(shared: &Shared, session: &mut Session) {
    let vars = shared.vars.lock();
    let ids = ids();
    let get = |id: VarId| vars.get(id);
    let number = |id: VarId| get(id).as_u64();
    let flag = |id: VarId| get(id).as_bool();
    let s = &mut session.frame.settings;
    s.sql_mode = SqlMode::from_bits(number(ids.sql_mode)).unwrap_or(SqlMode::DEFAULT);
    s.client_charset = charset(get(ids.character_set_client)).unwrap_or(Charset::Utf8mb4);
    s.collation_connection = CollationId::from_name(get(ids.collation_connection).as_str())
        .unwrap_or(CollationId::UTF8MB4_GENERAL_CI);
    s.results_charset = charset(get(ids.character_set_results));
    s.database_charset = charset(get(ids.character_set_database)).unwrap_or(Charset::Utf8mb4);
    s.time_zone = TimeZone::parse(get(ids.time_zone).as_str()).unwrap_or_else(TimeZone::system);
    s.time_locale =
        Locale::from_name(get(ids.lc_time_names).as_str()).unwrap_or_else(Locale::english);
    s.autocommit = flag(ids.autocommit);
    s.snapshot_isolation = number(ids.innodb_snapshot_isolation) != 0;
    s.isolation = isolation(number(ids.tx_isolation));
    s.tx_read_only = flag(ids.tx_read_only);
    s.completion = match number(ids.completion_type) {
        1 => Completion::Chain,
        2 => Completion::Release,
        _ => Completion::Plain,
    };
    s.buffer_result = flag(ids.sql_buffer_result);
    s.quote_show_create = flag(ids.sql_quote_show_create);
    s.max_error_count = number(ids.max_error_count) as usize;
    s.sql_notes = flag(ids.sql_notes);
    s.sql_select_limit = number(ids.sql_select_limit);
    s.max_sort_length = number(ids.max_sort_length) as usize;
    s.group_concat_max_len = number(ids.group_concat_max_len);
    s.div_precision_increment = number(ids.div_precision_increment) as u8;
    s.default_week_format = number(ids.default_week_format) as u8;
    s.regex_flags = number(ids.default_regex_flags) as u8;
    s.explicit_timestamps = flag(ids.explicit_defaults_for_timestamp);
    s.max_allowed_packet = number(ids.max_allowed_packet);
    s.max_statement_micros = (get(ids.max_statement_time).as_f64() * 1e6) as u64;
    s.lock_wait_timeout = number(ids.lock_wait_timeout);
    s.row_lock_wait_timeout = number(ids.innodb_lock_wait_timeout);
    s.auto_increment_increment = number(ids.auto_increment_increment);
    s.auto_increment_offset = number(ids.auto_increment_offset);
    s.sql_safe_updates = flag(ids.sql_safe_updates);
    s.foreign_key_checks = flag(ids.foreign_key_checks);
    s.unique_checks = flag(ids.unique_checks);
    s.check_constraint_checks = flag(ids.check_constraint_checks);
    s.updatable_views_with_limit = flag(ids.updatable_views_with_limit);
    s.note_unusable_keys = number(ids.note_verbosity) & 2 != 0;
    s.note_explain = number(ids.note_verbosity) & 4 != 0;
    s.default_storage_engine = get(ids.default_storage_engine).as_str().into();
    let engine = |id| Some(get(id).as_str()).filter(|n| !n.is_empty()).map(Into::into);
    s.default_tmp_storage_engine = engine(ids.default_tmp_storage_engine);
    s.enforced_storage_engine = engine(ids.enforce_storage_engine);
    s.max_recursive_iterations = number(ids.max_recursive_iterations);
    s.standard_compliant_cte = flag(ids.standard_compliant_cte);
    shared.handle.set_checks(s.unique_checks, s.foreign_key_checks);
    s.version += 1;
    let most = i64::try_from(number(ids.max_session_mem_used)).unwrap_or(i64::MAX);
    session.frame.kill.account().set_limit(most);
    drop(vars);
    let global = |id: VarId| shared.server.globals.get(id);
    s.lower_case_names = global(ids.lower_case_table_names).as_u64() != 0;
    s.local_infile = global(ids.local_infile).as_bool();
    s.found_rows = shared.capabilities().has(Capabilities::FOUND_ROWS);
}

fn charset(value: &VarValue) -> Option<Charset> {
    Charset::from_name(value.as_str())
}

fn isolation(level: u64) -> Isolation {
    match level {
        0 => Isolation::ReadUncommitted,
        1 => Isolation::ReadCommitted,
        3 => Isolation::Serializable,
        _ => Isolation::RepeatableRead,
    }
}
