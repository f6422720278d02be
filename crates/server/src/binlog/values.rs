//! Variables and status of the binary log: values that the log has, and effects of assignments.
//!
//! Must not check values: that was done before.

use std::sync::atomic::Ordering;

use selkie_types::SqlResult;

use super::setup::{cache_limits, checksum, semi_sync};
use crate::server::Server;
use crate::status::Gauges;
use crate::variables::{VarDef, VarValue, ids, registry};

/// Whether a variable's value is the log's own, so that no stored one counts.
pub(crate) fn is_dynamic(name: &str) -> bool {
    matches!(name, "gtid_binlog_pos" | "gtid_binlog_state" | "gtid_current_pos")
}

/// The value of a variable for which [`is_dynamic`] says yes.
pub(crate) fn value(server: &Server, name: &str) -> Option<VarValue> {
    if !is_dynamic(name) {
        return None;
    }
    // If the log is broken, its error comes with the next commit.
    let told = server.binlog().and_then(|binlog| binlog.told().ok());
    let state = told.map(|(_, state)| state).unwrap_or_default();
    Some(VarValue::text(match name {
        "gtid_binlog_state" => state.to_string(),
        "gtid_binlog_pos" => state.position().to_string(),
        _ => {
            let applied = server.applied().state().gtids().clone();
            let own = server.globals.get(ids().server_id).as_u64() as u32;
            applied.current(state.position().gtids(), own).to_string()
        }
    }))
}

/// Carries out an assignment to a global variable, before its value is stored. Returns the value to
/// store.
pub(crate) fn apply(server: &Server, def: &VarDef, value: VarValue) -> SqlResult<VarValue> {
    let Some(binlog) = server.binlog() else { return Ok(value) };
    let stored = |name: &str| {
        let def = registry().find(name);
        def.map_or(VarValue::Uint(0), |def| server.globals.get(def.id))
    };
    match def.name {
        "gtid_binlog_state" => binlog.begin_with(crate::admin::parsed(value.as_str())?)?,
        "binlog_checksum" => binlog.set_checksum(checksum(&value))?,
        "max_binlog_size" => binlog.set_max_size(value.as_u64()),
        "gtid_strict_mode" => binlog.strict.store(value.as_bool(), Ordering::Relaxed),
        "max_binlog_cache_size"
        | "max_binlog_stmt_cache_size"
        | "binlog_cache_size"
        | "binlog_stmt_cache_size" => {
            let number = |name: &str| match name == def.name {
                true => value.as_u64(),
                false => stored(name).as_u64(),
            };
            binlog.log().set_cache_limits(cache_limits(&number));
        }
        "server_id" => binlog.set_server_id(value.as_u64() as u32),
        "binlog_expire_logs_seconds" => binlog.set_expiry(value.as_u64()),
        "expire_logs_days" => binlog.set_expiry((value.as_f64() * 86_400.0) as u64),
        "rpl_semi_sync_master_enabled" => match value.as_bool() {
            true => binlog.semi.enable(binlog.log().end()),
            false => binlog.semi.disable(),
        },
        "rpl_semi_sync_master_timeout" | "rpl_semi_sync_master_wait_no_slave" => {
            binlog.semi.set(semi_sync(&|name| match name == def.name {
                true => value.clone(),
                false => stored(name),
            }));
        }
        _ => {}
    }
    Ok(value)
}

/// Name of the current file and its end, once nobody can lose it any more.
pub(crate) fn position(server: &Server) -> SqlResult<Option<(String, u64)>> {
    let Some(binlog) = server.binlog() else { return Ok(None) };
    let (end, _) = binlog.told()?;
    Ok(Some((binlog.files().names().file(end.file), end.offset)))
}

/// Place of the session's snapshot, in place of the log's end. `pseudo` has the file's number.
pub(crate) fn snapshot_status(
    server: &Server,
    pseudo: &dyn Fn(&str) -> Option<String>,
    gauges: &mut Gauges,
) {
    let number = |name: &str| pseudo(name)?.parse::<u32>().ok();
    let Some(binlog) = server.binlog() else { return };
    let Some(file) = number("binlog_snapshot_file") else { return };
    let Some(offset) = pseudo("binlog_snapshot_position") else { return };
    gauges.insert("binlog_snapshot_file".to_owned(), binlog.files().names().file(file));
    gauges.insert("binlog_snapshot_position".to_owned(), offset);
}

/// Values of status variables.
pub(crate) fn status(server: &Server, gauges: &mut Gauges) {
    let Ok(Some((file, offset))) = position(server) else { return };
    gauges.insert("binlog_snapshot_file".to_owned(), file);
    server.binlog().iter().for_each(|binlog| binlog.semi.status(gauges));
    let counts = server.binlog().map(|binlog| binlog.log().counts()).unwrap_or_default();
    // The engine also counts flushes for groups that are no commits.
    let flushes = gauges.get("binlog_group_commits").and_then(|flushes| flushes.parse().ok());
    let numbers = [
        ("binlog_group_commits", counts.commits.min(flushes.unwrap_or(0))),
        ("binlog_snapshot_position", offset),
        ("binlog_commits", counts.commits),
        ("binlog_bytes_written", counts.bytes),
        ("binlog_cache_use", counts.transactions.used),
        ("binlog_cache_disk_use", counts.transactions.used_disk),
        ("binlog_stmt_cache_use", counts.statements.used),
        ("binlog_stmt_cache_disk_use", counts.statements.used_disk),
    ];
    for (name, number) in numbers {
        gauges.insert(name.to_owned(), number.to_string());
    }
}
