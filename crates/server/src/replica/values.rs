//! Variables that each connection has a value of: rules about tables, `slave_parallel_mode`,
//! `sql_slave_skip_counter`, `max_relay_log_size`; and `gtid_slave_pos`, which all share.
//!
//! Must not check privileges: that was done before.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use selkie_replication::Gtid;
use selkie_replication::gtid::Position;
use selkie_replication::replica::{FilterRule, Note, ParallelMode};
use selkie_types::error::catalogue::*;
use selkie_types::{Condition, Level, SqlError, SqlResult};

use super::change::must_stop;
use super::connection::{Connection, UsingGtid};
use super::start::check_alive;
use super::{names, threads};
use crate::admin::Notes;
use crate::session::Shared;
use crate::variables::{VarDef, VarValue, ids};

/// Whether `name.variable` is a value of the connection called `name`.
pub(crate) fn is_of_connection(variable: &str) -> bool {
    variable == PARALLEL_MODE || FilterRule::of(variable).is_some()
}

const PARALLEL_MODE: &str = "slave_parallel_mode";

/// Variables of the workers of all connections: none of these may run when they change.
const OF_WORKERS: [&str; 3] =
    ["slave_domain_parallel_threads", "slave_parallel_threads", "slave_parallel_workers"];

/// Whether the variable's value is kept here.
fn is_own(variable: &str) -> bool {
    is_of_connection(variable)
        || matches!(variable, "sql_slave_skip_counter" | "max_relay_log_size" | "gtid_slave_pos")
}

/// The value of a variable that is kept here. Compat: without a connection's name, rules are those
/// of the default connection, the other values those of the session's.
pub(crate) fn value(shared: &Shared, variable: &str, notes: &mut Notes) -> Option<VarValue> {
    if !is_own(variable) {
        return None;
    }
    if variable == "gtid_slave_pos" {
        return Some(VarValue::text(shared.server.applied().state().gtids().to_string()));
    }
    let name = match FilterRule::of(variable).is_some() {
        true => String::new(),
        false => names::default_name(shared),
    };
    Some(match shared.server.replica.find(&name) {
        Some(connection) => of(&connection, variable),
        None => {
            notes.push(warning(&names::unknown(&name)));
            VarValue::Uint(0)
        }
    })
}

/// `@@name.variable`. Compat: of a connection that is not there it is NULL, with a warning.
pub(crate) fn of_connection(
    shared: &Shared,
    name: &str,
    variable: &str,
    notes: &mut Notes,
) -> VarValue {
    match shared.server.replica.find(name) {
        Some(connection) => of(&connection, variable),
        None => {
            notes.push(warning(&names::unknown(name)));
            VarValue::null()
        }
    }
}

fn of(connection: &Connection, variable: &str) -> VarValue {
    match FilterRule::of(variable) {
        Some(rule) => VarValue::text(connection.filter().text(rule)),
        None if variable == PARALLEL_MODE => VarValue::Enum(connection.parallel_mode() as u16),
        None if variable == "max_relay_log_size" => {
            VarValue::Uint(connection.max_relay_log_size.load(Ordering::Relaxed))
        }
        None => VarValue::Uint(connection.progress.lock().skip_counter),
    }
}

fn warning(error: &SqlError) -> Condition {
    Condition::from_error(Level::Warning, error)
}

/// The connection that an assignment is about.
fn target(shared: &Shared, name: Option<&str>, notes: &mut Notes) -> SqlResult<Arc<Connection>> {
    match name {
        // Compat: a name before the variable is treated unlike the session's name.
        Some(name) => names::find(&shared.server, name).map_err(|error| {
            notes.push(warning(&error));
            SqlError::new(&ER_WRONG_ARGUMENTS, &[&"SET"])
        }),
        None => names::find(&shared.server, &names::default_name(shared)),
    }
}

/// Checks an assignment to a variable that is kept here.
pub(crate) fn check(
    shared: &Shared,
    def: &VarDef,
    name: Option<&str>,
    value: &VarValue,
    notes: &mut Notes,
) -> SqlResult<()> {
    if OF_WORKERS.contains(&def.name) {
        return check_stopped(shared);
    }
    if !is_own(def.name) {
        return Ok(());
    }
    if def.name == "gtid_slave_pos" {
        return check_position(shared, value, notes);
    }
    // Compat: the mode of an unknown connection may be set, which does nothing.
    let is_lax =
        def.name == PARALLEL_MODE && name.is_some_and(|n| shared.server.replica.find(n).is_none());
    if is_lax {
        return Ok(());
    }
    let connection = target(shared, name, notes)?;
    match def.name {
        "max_relay_log_size" => Ok(()),
        "sql_slave_skip_counter" if connection.applier.is_running() => {
            Err(must_stop(&connection.name))
        }
        "sql_slave_skip_counter" if value.as_u64() > 0 => check_skip(shared, &connection),
        _ if is_of_connection(def.name) && connection.applier.is_running() => {
            Err(must_stop(&connection.name))
        }
        _ => Ok(()),
    }
}

/// Groups of several domains that are applied in parallel have no order to count in.
fn check_skip(shared: &Shared, connection: &Connection) -> SqlResult<()> {
    let globals = &shared.server.globals;
    let is_parallel = globals.get(ids().slave_parallel_threads).as_u64() > 0;
    let by_gtid = connection.config.lock().using_gtid != UsingGtid::No;
    let domains = || shared.server.applied().state().gtids().gtids().count();
    match is_parallel && by_gtid && domains() > 1 {
        true => Err(SqlError::new(&ER_SLAVE_SKIP_NOT_IN_GTID, &[])),
        false => Ok(()),
    }
}

/// Fails (1198) if a thread of any connection runs.
pub(crate) fn check_stopped(shared: &Shared) -> SqlResult<()> {
    match shared.server.replica.list().iter().find(|c| c.is_running()) {
        Some(running) => Err(must_stop(&running.name)),
        None => Ok(()),
    }
}

/// SET GLOBAL gtid_slave_pos: no thread may run. What the binary log has and the position has not
/// gives warnings.
fn check_position(shared: &Shared, value: &VarValue, notes: &mut Notes) -> SqlResult<()> {
    let server = &shared.server;
    check_stopped(shared)?;
    if shared.handle.in_transaction() {
        return Err(SqlError::new(&ER_CANT_DO_THIS_DURING_AN_TRANSACTION, &[]));
    }
    let position = crate::admin::parsed::<Position>(value.as_str())?;
    let Some(binlog) = server.binlog() else { return Ok(()) };
    // Compat: groups of other servers do not count.
    let own = server.globals.get(ids().server_id).as_u64();
    let logged = binlog.log().gtid_state().position();
    for logged in logged.gtids().filter(|logged| u64::from(logged.server) == own) {
        notes.extend(conflict(&position, logged));
    }
    Ok(())
}

/// The warning about a group of the binary log that is newer than a position.
fn conflict(position: &Position, logged: Gtid) -> Option<Condition> {
    let Gtid { domain, server, seq } = logged;
    match position.last(domain) {
        None => Some(Condition::warning(
            &ER_MASTER_GTID_POS_MISSING_DOMAIN,
            &[&domain, &domain, &server, &seq],
        )),
        Some(said) if said.seq < seq => Some(Condition::warning(
            &ER_MASTER_GTID_POS_CONFLICTS_WITH_BINLOG,
            &[&said.domain, &said.server, &said.seq, &domain, &server, &seq],
        )),
        Some(_) => None,
    }
}

/// Makes a checked assignment. Returns whether the value is a connection's alone.
pub(crate) fn assign(
    shared: &Shared,
    def: &VarDef,
    name: Option<&str>,
    value: &VarValue,
    notes: &mut Notes,
) -> SqlResult<bool> {
    if !is_own(def.name) {
        return Ok(false);
    }
    let server = &shared.server;
    if def.name == "gtid_slave_pos" {
        let _turn = server.replica.turn(&|| check_alive(shared))?;
        check_stopped(shared)?;
        let position = crate::admin::parsed::<Position>(value.as_str())?;
        // Received events follow what was applied before.
        let all = server.replica.list();
        all.iter().try_for_each(|connection| threads::drop_relay_files(server, connection))?;
        server.applied().note(&Note::Position(position.gtids().collect()))?;
        if let Some(binlog) = server.binlog() {
            binlog.log().note_seen(position.gtids());
        }
        return Ok(false);
    }
    if let Some(name) = name.filter(|_| def.name == PARALLEL_MODE)
        && server.replica.find(name).is_none()
    {
        notes.push(warning(&names::unknown(name)));
        return Ok(true);
    }
    let connection = target(shared, name, notes)?;
    match FilterRule::of(def.name) {
        Some(rule) => {
            let mut filter = (*connection.filter()).clone();
            let wrong = |_| SqlError::new(&ER_WRONG_ARGUMENTS, &[&"SET"]);
            filter.set(rule, value.as_str()).map_err(wrong)?;
            connection.set_filter(filter);
        }
        None if def.name == PARALLEL_MODE => {
            connection.set_parallel_mode(ParallelMode::of(value.as_u64()));
        }
        None if def.name == "max_relay_log_size" => {
            connection.max_relay_log_size.store(value.as_u64(), Ordering::Relaxed);
        }
        None => connection.progress.lock().skip_counter = value.as_u64(),
    }
    Ok(!connection.name.is_empty())
}
