//! System variables as the executor's plain settings.
//!
//! Must not validate: values were checked when they were set.

use selkie_engine::Isolation;
use selkie_exec::Session;
use selkie_expr::TimeZone;
use selkie_protocol::Capabilities;
use selkie_types::{Charset, CollationId, SqlMode};

use crate::session::Shared;
use crate::variables::{SessionVars, VarValue, registry};

/// Writes the session's variables into its settings.
pub(super) fn refresh(shared: &Shared, session: &mut Session) {
    let vars = shared.vars.lock();
    let get = |name: &str| value(&vars, name);
    let number = |name: &str| get(name).as_u64();
    let flag = |name: &str| get(name).as_bool();
    let s = &mut session.settings;
    s.sql_mode = SqlMode::from_bits(number("sql_mode")).unwrap_or(SqlMode::DEFAULT);
    s.client_charset = charset(&get("character_set_client")).unwrap_or(Charset::Utf8mb4);
    s.collation_connection = CollationId::from_name(get("collation_connection").as_str())
        .unwrap_or(CollationId::UTF8MB4_GENERAL_CI);
    s.results_charset = charset(&get("character_set_results"));
    s.time_zone = TimeZone::parse(get("time_zone").as_str()).unwrap_or_else(TimeZone::system);
    s.autocommit = flag("autocommit");
    s.snapshot_isolation = number("innodb_snapshot_isolation") != 0;
    s.isolation = isolation(number("tx_isolation"));
    s.tx_read_only = flag("tx_read_only");
    s.max_error_count = number("max_error_count") as usize;
    s.sql_notes = flag("sql_notes");
    s.sql_select_limit = number("sql_select_limit");
    s.max_sort_length = number("max_sort_length") as usize;
    s.group_concat_max_len = number("group_concat_max_len");
    s.div_precision_increment = number("div_precision_increment") as u8;
    s.default_week_format = number("default_week_format") as u8;
    s.max_allowed_packet = number("max_allowed_packet");
    s.max_statement_micros = (get("max_statement_time").as_f64() * 1e6) as u64;
    s.lock_wait_timeout = number("lock_wait_timeout");
    s.row_lock_wait_timeout = number("innodb_lock_wait_timeout");
    s.auto_increment_increment = number("auto_increment_increment");
    s.auto_increment_offset = number("auto_increment_offset");
    s.sql_safe_updates = flag("sql_safe_updates");
    s.sql_auto_is_null = flag("sql_auto_is_null");
    s.foreign_key_checks = flag("foreign_key_checks");
    s.unique_checks = flag("unique_checks");
    s.check_constraint_checks = flag("check_constraint_checks");
    s.default_storage_engine = get("default_storage_engine").as_str().into();
    s.default_tmp_storage_engine =
        Some(get("default_tmp_storage_engine").as_str()).filter(|n| !n.is_empty()).map(Into::into);
    s.max_recursive_iterations = number("max_recursive_iterations");
    shared.handle.set_checks(s.unique_checks, s.foreign_key_checks);
    s.version += 1;
    drop(vars);
    let global = |name: &str| {
        registry().find(name).map_or(VarValue::null(), |d| shared.server.globals.get(d.id))
    };
    s.lower_case_names = global("lower_case_table_names").as_u64() != 0;
    s.local_infile = global("local_infile").as_bool();
    s.found_rows = shared.capabilities().has(Capabilities::FOUND_ROWS);
}

fn value(vars: &SessionVars, name: &str) -> VarValue {
    registry().find(name).map_or(VarValue::null(), |d| vars.get(d.id).clone())
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
