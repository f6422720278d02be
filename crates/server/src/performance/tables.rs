//! The tables of `performance_schema`. A table that is not named here is empty, because nothing
//! measures what it shows.
//!
//! Must not change what is measured.

mod locks;
mod people;
mod setup;
mod statements;
mod status;
mod threads;

use std::sync::Arc;

use selkie_exec::Instance;
use selkie_types::{SqlResult, Value};

use super::{Performance, Recorder, recorders};
use crate::session::Shared;
use crate::sessions::SessionHandle;
use crate::tables::{Pseudo, Row};

/// Names of the tables.
pub(crate) const NAMES: &[&str] = &[
    "accounts",
    "events_statements_current",
    "events_statements_history",
    "events_statements_history_long",
    "events_statements_summary_by_account_by_event_name",
    "events_statements_summary_by_digest",
    "events_statements_summary_by_host_by_event_name",
    "events_statements_summary_by_thread_by_event_name",
    "events_statements_summary_by_user_by_event_name",
    "events_statements_summary_global_by_event_name",
    "global_status",
    "hosts",
    "metadata_locks",
    "performance_timers",
    "session_account_connect_attrs",
    "session_connect_attrs",
    "session_status",
    "setup_actors",
    "setup_consumers",
    "setup_instruments",
    "setup_objects",
    "setup_timers",
    "threads",
    "users",
];

/// Input for the rows of a table.
struct Asked<'a> {
    performance: &'a Performance,
    /// The session that reads.
    shared: &'a Shared,
    /// In the order of their numbers.
    sessions: Vec<Arc<SessionHandle>>,
}

impl Asked<'_> {
    /// All measured sessions with their recorders.
    fn recorders(&self) -> impl Iterator<Item = (&SessionHandle, &Recorder)> {
        recorders(&self.sessions)
    }
}

/// Receives the rows of a table. A summary has many for each owner, so that not all are made before
/// the first is taken.
pub(crate) type Emit<'e> = &'e mut dyn FnMut(Row) -> SqlResult<()>;

/// Emits the rows of a table for the session that reads it; none if nothing is measured.
pub(crate) fn rows(
    table: &str,
    (shared, instance): (&Shared, &Instance),
    pseudo: Pseudo<'_>,
    emit: Emit<'_>,
) -> SqlResult<()> {
    let Some(performance) = shared.server.sessions.performance() else { return Ok(()) };
    let asked = Asked { performance, shared, sessions: shared.server.sessions.list() };
    let rows = match table {
        "accounts" => people::accounts(&asked),
        "users" => people::users(&asked),
        "hosts" => people::hosts(&asked),
        "metadata_locks" => locks::metadata_locks(&asked, instance),
        "events_statements_current" => statements::current(&asked),
        "events_statements_history" => statements::history(&asked),
        "events_statements_history_long" => statements::history_long(&asked),
        "events_statements_summary_by_digest" => statements::by_digest(&asked),
        "global_status" => status::global(shared),
        "session_status" => status::session(shared, pseudo),
        "performance_timers" => setup::performance_timers(),
        "session_account_connect_attrs" => threads::account_attributes(&asked),
        "session_connect_attrs" => threads::attributes(&asked),
        "setup_actors" => setup::actors(performance),
        "setup_consumers" => setup::consumers(performance),
        "setup_instruments" => setup::instruments(performance),
        "setup_objects" => setup::objects(performance),
        "setup_timers" => setup::timers(performance),
        "threads" => threads::threads(&asked),
        summary => return emit_summary(summary, &asked, emit),
    };
    rows.into_iter().try_for_each(emit)
}

/// Emits the rows of a summary of statements by their names.
fn emit_summary(table: &str, asked: &Asked<'_>, emit: Emit<'_>) -> SqlResult<()> {
    match table {
        "events_statements_summary_by_account_by_event_name" => statements::by_account(asked, emit),
        "events_statements_summary_by_host_by_event_name" => statements::by_host(asked, emit),
        "events_statements_summary_by_thread_by_event_name" => statements::by_thread(asked, emit),
        "events_statements_summary_by_user_by_event_name" => statements::by_user(asked, emit),
        "events_statements_summary_global_by_event_name" => statements::global(asked, emit),
        _ => Ok(()),
    }
}

fn yes_no(on: bool) -> Value {
    Value::bytes(if on { "YES" } else { "NO" })
}

fn optional(text: Option<impl AsRef<[u8]>>) -> Value {
    text.map_or(Value::Null, Value::bytes)
}
