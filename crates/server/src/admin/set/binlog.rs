//! Checks of variables that decide how changes come into the binary log, and of GTID positions.
//!
//! Must not change the log; `crate::binlog` does, when the assignment is made.

use selkie_replication::Gtid;
use selkie_replication::gtid::{BinlogState, ParseError};
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

use crate::binlog;
use crate::session::Shared;
use crate::variables::{SetValue, VarDef, VarId, VarScope, VarValue, ids};

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// The errors for a session's variable that must keep its value inside of a transaction, and of a
/// function.
fn switch_errors(name: &str) -> Option<(&'static ErrorDef, &'static ErrorDef)> {
    Some(match name {
        "sql_log_bin" => (
            &ER_INSIDE_TRANSACTION_PREVENTS_SWITCH_SQL_LOG_BIN,
            &ER_STORED_FUNCTION_PREVENTS_SWITCH_SQL_LOG_BIN,
        ),
        "binlog_format" => (
            &ER_INSIDE_TRANSACTION_PREVENTS_SWITCH_BINLOG_FORMAT,
            &ER_STORED_FUNCTION_PREVENTS_SWITCH_BINLOG_FORMAT,
        ),
        "binlog_direct_non_transactional_updates" => (
            &ER_INSIDE_TRANSACTION_PREVENTS_SWITCH_BINLOG_DIRECT,
            &ER_STORED_FUNCTION_PREVENTS_SWITCH_BINLOG_DIRECT,
        ),
        "gtid_domain_id" | "gtid_seq_no" => (
            &ER_INSIDE_TRANSACTION_PREVENTS_SWITCH_GTID_DOMAIN_ID_SEQ_NO,
            &ER_STORED_FUNCTION_PREVENTS_SWITCH_GTID_DOMAIN_ID_SEQ_NO,
        ),
        "skip_replication" => (
            &ER_INSIDE_TRANSACTION_PREVENTS_SWITCH_SKIP_REPLICATION,
            &ER_STORED_FUNCTION_PREVENTS_SWITCH_SKIP_REPLICATION,
        ),
        _ => return None,
    })
}

/// Replaces the result of a check inside of a function: the error about it comes before the one
/// about the transaction.
pub(super) fn inside_function<T>(name: &str, checked: SqlResult<T>) -> SqlResult<T> {
    let Some((transaction, function)) = switch_errors(name) else { return checked };
    match checked {
        Err(error) if !error.is(transaction) => Err(error),
        _ => Err(SqlError::new(function, &[])),
    }
}

/// Checks a value.
pub(super) fn check(
    shared: &Shared,
    def: &VarDef,
    scope: VarScope,
    value: &VarValue,
    given: &SetValue,
) -> SqlResult<()> {
    let is_global = scope == VarScope::Global;
    if !is_global
        && let Some((error, _)) = switch_errors(def.name)
        && shared.handle.in_transaction()
    {
        return Err(SqlError::new(error, &[]));
    }
    if shared.server.binlog().is_some()
        && let Some(what) = binlog::unbuilt(def, value)
    {
        return Err(SqlError::not_supported(what));
    }
    match def.name {
        "gtid_ignore_duplicates" => crate::replica::check_stopped(shared),
        "gtid_seq_no" => explicit_number(shared, value.as_u64(), given),
        "gtid_binlog_state" => state_assignment(shared, value),
        _ => Ok(()),
    }
}

/// In strict mode a number that cannot follow is refused at once.
fn explicit_number(shared: &Shared, seq: u64, given: &SetValue) -> SqlResult<()> {
    let (Some(binlog), SetValue::Value(_)) = (shared.server.binlog(), given) else { return Ok(()) };
    let is_strict = shared.server.globals.get(ids().gtid_strict_mode).as_bool();
    if seq == 0 || !is_strict {
        return Ok(());
    }
    let domain = shared.var(ids().gtid_domain_id).as_u64() as u32;
    let server = shared.var(ids().server_id).as_u64() as u32;
    let state = binlog.log().gtid_state();
    state.check_strict(Gtid { domain, server, seq }).map_err(|e| binlog::out_of_order(&e))
}

/// Checks the moment of an assignment to `gtid_binlog_state`, and the form of its value.
fn state_assignment(shared: &Shared, value: &VarValue) -> SqlResult<()> {
    if shared.server.binlog().is_none() {
        return Err(SqlError::new(&ER_FLUSH_MASTER_BINLOG_CLOSED, &[]));
    }
    if shared.handle.in_transaction() {
        return Err(SqlError::new(&ER_CANT_DO_THIS_DURING_AN_TRANSACTION, &[]));
    }
    parsed::<BinlogState>(value.as_str()).map(drop)
}

/// A list of numbers of groups.
pub(crate) fn parsed<T: std::str::FromStr<Err = ParseError>>(text: &str) -> SqlResult<T> {
    text.parse().map_err(|error| match error {
        ParseError::Malformed => SqlError::new(&ER_INCORRECT_GTID_STATE, &[]),
        ParseError::DuplicateDomain(first, again) => SqlError::new(
            &ER_DUPLICATE_GTID_DOMAIN,
            &[
                &again.domain,
                &again.server,
                &again.seq,
                &first.domain,
                &first.server,
                &first.seq,
                &again.domain,
            ],
        ),
    })
}

/// The other one of the two variables for the age of files.
pub(super) fn age(def: &VarDef, value: &VarValue) -> Option<(VarId, VarValue)> {
    Some(match def.name {
        "expire_logs_days" => {
            (ids().binlog_expire_logs_seconds, VarValue::Uint((value.as_f64() * DAY) as u64))
        }
        "binlog_expire_logs_seconds" => {
            (ids().expire_logs_days, VarValue::Double(value.as_u64() as f64 / DAY))
        }
        _ => return None,
    })
}
