//! Values of variables that are valid alone, but not with other values or not at this moment.
//!
//! Must not store values; `variable` does, after these checks.

use selkie_types::error::catalogue::*;
use selkie_types::{Condition, Level, SqlError, SqlResult};

use super::super::answer::Notes;
use super::binlog;
use crate::session::Shared;
use crate::variables::{OLD_LOCALE, SetValue, VarDef, VarId, VarScope, VarValue, ids, shown};

/// Checks a value against other variables; may add warnings.
pub(super) fn check(
    shared: &Shared,
    def: &VarDef,
    scope: VarScope,
    value: &VarValue,
    given: &SetValue,
    notes: &mut Notes,
) -> SqlResult<()> {
    let is_global = scope == VarScope::Global;
    match def.name {
        "query_cache_type" if !is_global => query_cache_type(shared, value),
        "tx_isolation" | "tx_read_only" if scope == VarScope::Default => next_transaction(shared),
        "max_delayed_threads" | "max_insert_delayed_threads" if !is_global => {
            delayed_threads(shared, def, value, given)
        }
        "max_user_connections" if is_global => user_connections(shared),
        "key_buffer_size" if value.as_u64() == 0 => {
            Err(SqlError::new(&ER_WARN_CANT_DROP_DEFAULT_KEYCACHE, &[]))
        }
        "lc_messages" | "lc_time_names" => {
            notes.extend(old_locale(given));
            Ok(())
        }
        "optimizer_switch" => optimizer_switch(def, value, notes),
        "pseudo_slave_mode" => {
            notes.extend(slave_mode(shared, value));
            Ok(())
        }
        "max_allowed_packet" | "net_buffer_length" if is_global => {
            notes.extend(packet_below_buffer(shared, def, value));
            Ok(())
        }
        _ => binlog::check(shared, def, scope, value, given),
    }
}

/// Values of other variables that a value implies.
pub(super) fn implied(
    shared: &Shared,
    def: &VarDef,
    scope: VarScope,
    value: &VarValue,
) -> Vec<(VarId, VarValue)> {
    match def.name {
        "old" => {
            let id = ids().old_mode;
            let modes = match scope {
                VarScope::Global => shared.server.globals.get(id),
                _ => shared.var(id),
            };
            let modes = modes.as_u64();
            let modes = if value.as_bool() { modes | OLD_MODES } else { modes & !OLD_MODES };
            vec![(id, VarValue::Uint(modes))]
        }
        _ => binlog::age(def, value).into_iter().collect(),
    }
}

/// The least value of a variable, if the given one is lower. Compat: without a warning.
pub(super) fn raised(def: &VarDef, value: VarValue) -> VarValue {
    match (def.name, &value) {
        ("query_cache_min_res_unit", VarValue::Uint(unit)) => VarValue::Uint((*unit).max(512)),
        _ => value,
    }
}

/// The variable to which [`implied`] may give a value.
pub(super) fn implied_by(def: &VarDef) -> Option<VarId> {
    match def.name {
        "old" => Some(ids().old_mode),
        _ => binlog::age(def, &VarValue::Uint(0)).map(|(other, _)| other),
    }
}

/// Compat: variables whose new global value is also the value of the session that sets it.
pub(super) fn is_own_at_once(def: &VarDef, value: &VarValue) -> bool {
    match def.name {
        "server_id" | "sql_slave_skip_counter" => true,
        "query_cache_type" => value.as_u64() == 0,
        _ => false,
    }
}

/// Members of `old_mode` that `old` implies: NO_PROGRESS_INFO, IGNORE_INDEX_ONLY_FOR_JOIN,
/// COMPAT_5_1_CHECKSUM.
const OLD_MODES: u64 = 1 << 1 | 1 << 4 | 1 << 5;

fn query_cache_type(shared: &Shared, value: &VarValue) -> SqlResult<()> {
    let off = shared.server.globals.get(ids().query_cache_type).as_u64() == 0;
    match off && value.as_u64() != 0 {
        true => Err(SqlError::new(&ER_QUERY_CACHE_IS_GLOBALY_DISABLED, &[])),
        false => Ok(()),
    }
}

fn next_transaction(shared: &Shared) -> SqlResult<()> {
    match shared.handle.in_transaction() {
        true => Err(SqlError::new(&ER_CANT_CHANGE_TX_CHARACTERISTICS, &[])),
        false => Ok(()),
    }
}

/// A session may only switch delayed inserts off, or back to the server's value.
fn delayed_threads(
    shared: &Shared,
    def: &VarDef,
    value: &VarValue,
    given: &SetValue,
) -> SqlResult<()> {
    let (wanted, server) = (value.as_u64(), shared.server.globals.get(def.id).as_u64());
    match given {
        SetValue::Value(given) if wanted != 0 && wanted != server => {
            Err(SqlError::new(&ER_WRONG_VALUE_FOR_VAR, &[&def.name, &shown(given)]))
        }
        _ => Ok(()),
    }
}

/// A server that started without limits does not count connections, so it cannot limit them later.
fn user_connections(shared: &Shared) -> SqlResult<()> {
    match shared.server.globals.at_start(ids().max_user_connections).as_u64() {
        0 => {
            let option = "--max-user-connections=0";
            Err(SqlError::new(&ER_OPTION_PREVENTS_STATEMENT, &[&option]))
        }
        _ => Ok(()),
    }
}

/// At least one strategy for subqueries must stay on.
fn optimizer_switch(def: &VarDef, value: &VarValue, notes: &mut Notes) -> SqlResult<()> {
    let bit = |name: &str| def.names.iter().position(|n| *n == name).map_or(0, |at| 1u64 << at);
    let bits = value.as_u64();
    if bits & (bit("in_to_exists") | bit("materialization")) == 0 {
        return Err(SqlError::new(&ER_ILLEGAL_SUBQUERY_OPTIMIZER_SWITCHES, &[]));
    }
    if bits & bit("engine_condition_pushdown") != 0 {
        let what = "engine_condition_pushdown=on";
        notes.push(Condition::warning(&ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT, &[&what]));
    }
    Ok(())
}

fn old_locale(given: &SetValue) -> Option<Condition> {
    let (old, new) = OLD_LOCALE;
    let said = matches!(given, SetValue::Value(v) if shown(v).eq_ignore_ascii_case(old));
    said.then(|| Condition::warning(&ER_WARN_DEPRECATED_SYNTAX, &[&old, &new]))
}

/// Warnings about `pseudo_slave_mode`: a session here never applies a replica's events.
fn slave_mode(shared: &Shared, value: &VarValue) -> Option<Condition> {
    let text = match (shared.var(ids().pseudo_slave_mode).as_bool(), value.as_bool()) {
        (false, false) => "'pseudo_slave_mode' change was ineffective.",
        (true, false) => "Slave applier execution mode not active, statement ineffective.",
        _ => return None,
    };
    let error = SqlError::with_message(&ER_WRONG_VALUE_FOR_VAR, text);
    Some(Condition::from_error(Level::Warning, &error))
}

fn packet_below_buffer(shared: &Shared, def: &VarDef, value: &VarValue) -> Option<Condition> {
    let globals = &shared.server.globals;
    let (mut packet, mut buffer) =
        (globals.get(ids().max_allowed_packet), globals.get(ids().net_buffer_length));
    *if def.id == ids().max_allowed_packet { &mut packet } else { &mut buffer } = value.clone();
    (packet.as_u64() < buffer.as_u64()).then(|| {
        let (packet, buffer) = ("max_allowed_packet", "net_buffer_length");
        Condition::warning(&WARN_OPTION_BELOW_LIMIT, &[&packet, &buffer])
    })
}
