//! Changes of tables by statements: UPDATE, INSERT and DELETE of what is measured, TRUNCATE of what
//! was measured.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use selkie_exec::computed::{Change, Texts};
use selkie_types::error::catalogue::{
    ER_DUP_KEY, ER_NO_REFERENCED_ROW_2, ER_RECORD_FILE_FULL, ER_WRONG_PERFSCHEMA_USAGE,
    WARN_DATA_TRUNCATED,
};
use selkie_types::{SqlError, SqlResult};

use super::names::{Name, instruments};
use super::people::{by_part, connected, keep_connected};
use super::setup::{CONSUMERS, Rule, Rules, Switch, TIMERS};
use super::{Performance, recorders};
use crate::server::Server;
use crate::sessions::SessionHandle;

/// Makes a change.
pub(crate) fn change(server: &Server, table: &str, change: Change) -> SqlResult<()> {
    let Some(performance) = server.sessions.performance() else {
        return match change {
            Change::Insert(_) => Err(refused()),
            _ => Ok(()),
        };
    };
    match change {
        Change::Truncate => truncate(server, performance, table),
        Change::Update { old, new, assigned } => {
            check_kept(table, &assigned)?;
            update(server, performance, table, (&old, &new))
        }
        Change::Delete(row) => {
            let rules = rules(performance, table).ok_or_else(refused)?;
            let gone = rule(&row)?;
            rules.rows.write().retain(|rule| rule.key != gone.key);
            Ok(())
        }
        Change::Insert(row) => insert(rules(performance, table).ok_or_else(refused)?, table, &row),
    }
}

fn refused() -> SqlError {
    SqlError::new(&ER_WRONG_PERFSCHEMA_USAGE, &[])
}

/// The table of rules with this name.
fn rules<'p>(performance: &'p Performance, table: &str) -> Option<&'p Rules> {
    match table {
        "setup_actors" => Some(&performance.setup.actors),
        "setup_objects" => Some(&performance.setup.objects),
        _ => None,
    }
}

/// The text of a column.
fn text(row: &Texts, at: usize) -> &str {
    row.get(at).and_then(Option::as_deref).unwrap_or_default()
}

/// The value of a column that is YES or NO. Compat: the error value of the enumeration is told as a
/// row that refers to none.
fn is_yes(row: &Texts, at: usize) -> SqlResult<bool> {
    match text(row, at) {
        "YES" => Ok(true),
        "NO" => Ok(false),
        _ => Err(refers_to_none()),
    }
}

fn refers_to_none() -> SqlError {
    let text = "Cannot add or update a child row: a foreign key constraint fails";
    SqlError::with_message(&ER_NO_REFERENCED_ROW_2, text)
}

fn rule(row: &Texts) -> SqlResult<Rule> {
    Ok(Rule {
        key: std::array::from_fn(|at| text(row, at).to_owned()),
        switch: Switch { enabled: is_yes(row, 3)?, second: is_yes(row, 4)? },
    })
}

fn insert(rules: &Rules, table: &str, row: &Texts) -> SqlResult<()> {
    let new = rule(row)?;
    match table {
        "setup_actors" if new.key.iter().any(String::is_empty) => return Err(refused()),
        "setup_objects" if new.key[0].is_empty() => return Err(refers_to_none()),
        _ => {}
    }
    let mut rows = rules.rows.write();
    if rows.iter().any(|rule| rule.key == new.key) {
        return Err(SqlError::new(&ER_DUP_KEY, &[&table]));
    }
    if rows.len() >= rules.size {
        return Err(SqlError::new(&ER_RECORD_FILE_FULL, &[&table]));
    }
    rows.push(new);
    Ok(())
}

/// Place of INSTRUMENTED in `threads`; HISTORY follows.
const INSTRUMENTED: usize = 13;

/// Fails if a statement assigns to columns that cannot change.
fn check_kept(table: &str, assigned: &[usize]) -> SqlResult<()> {
    let may = match table {
        "setup_consumers" | "setup_timers" => 1..2,
        "setup_instruments" => 1..3,
        "setup_actors" | "setup_objects" => 3..5,
        "threads" => INSTRUMENTED..INSTRUMENTED + 2,
        _ => 0..0,
    };
    if assigned.iter().all(|at| may.contains(at)) { Ok(()) } else { Err(refused()) }
}

fn update(
    server: &Server,
    performance: &Performance,
    table: &str,
    (old, new): (&Texts, &Texts),
) -> SqlResult<()> {
    let setup = &performance.setup;
    match table {
        "setup_consumers" => {
            if let Some(at) = CONSUMERS.iter().position(|name| *name == text(old, 0)) {
                setup.set_consumer(at, is_yes(new, 1)?);
            }
        }
        "setup_instruments" => {
            let switch = Switch { enabled: is_yes(new, 1)?, second: is_yes(new, 2)? };
            if let Some(at) = instruments().position(|name| name == text(old, 0)) {
                setup.set_instrument(Name(at as u16), switch);
            }
        }
        "setup_actors" | "setup_objects" => {
            let new = rule(new)?;
            let rules = rules(performance, table).ok_or_else(refused)?;
            if let Some(found) = rules.rows.write().iter_mut().find(|found| found.key == new.key) {
                found.switch = new.switch;
            }
        }
        "setup_timers" => {
            let timer = TIMERS.iter().find(|(name, _)| *name == text(new, 1));
            let error = || SqlError::new(&WARN_DATA_TRUNCATED, &[&"TIMER_NAME", &1]);
            setup.unit.store(timer.ok_or_else(error)?.1, Relaxed);
        }
        "threads" => return update_thread(server, new),
        _ => return Err(refused()),
    }
    Ok(())
}

fn update_thread(server: &Server, new: &Texts) -> SqlResult<()> {
    const PROCESSLIST_ID: usize = 3;
    let (enabled, second) = (is_yes(new, INSTRUMENTED)?, is_yes(new, INSTRUMENTED + 1)?);
    let id = text(new, PROCESSLIST_ID).parse().ok();
    let session = id.and_then(|id| server.sessions.find(id));
    if let Some(recorder) = session.as_ref().and_then(|session| session.recorder()) {
        recorder.switch.set(Switch { enabled, second });
    }
    Ok(())
}

/// Moves the sums of connected sessions to their accounts.
fn pass(sessions: &[Arc<SessionHandle>], performance: &Performance) {
    for (_, recorder) in recorders(sessions) {
        let mut state = recorder.state.lock();
        let sums = std::mem::take(&mut state.sums);
        let owner = state.owner.clone();
        drop(state);
        performance.people.lock().take(owner.as_ref(), &sums);
    }
}

fn truncate(server: &Server, performance: &Performance, table: &str) -> SqlResult<()> {
    let sessions = server.sessions.list();
    let recorders = || recorders(&sessions).map(|(_, recorder)| recorder);
    let pass = || pass(&sessions, performance);
    let people = || performance.people.lock();
    match table {
        "setup_actors" => performance.setup.actors.rows.write().clear(),
        "setup_objects" => performance.setup.objects.rows.write().clear(),
        "events_statements_current" => recorders().for_each(|r| r.state.lock().current = None),
        "events_statements_history" => recorders().for_each(|r| r.state.lock().history.clear()),
        "events_statements_history_long" => performance.long.clear(),
        "events_statements_summary_by_digest" => {
            performance.digests.clear();
            recorders().for_each(|recorder| recorder.forget_digests());
        }
        "events_statements_summary_by_thread_by_event_name" => pass(),
        "events_statements_summary_by_account_by_event_name" => {
            pass();
            people().truncate_accounts();
        }
        "events_statements_summary_by_user_by_event_name" => {
            pass();
            people().truncate_users();
        }
        "events_statements_summary_by_host_by_event_name" => {
            pass();
            people().truncate_hosts();
        }
        "events_statements_summary_global_by_event_name" => {
            pass();
            recorders().for_each(|recorder| recorder.state.lock().apart.clear());
            people().truncate_server();
        }
        "accounts" | "users" | "hosts" => forget_gone(&sessions, performance, table),
        _ if KEPT.contains(&table) => return Err(refused()),
        _ => {}
    }
    Ok(())
}

/// Tables that cannot be emptied.
const KEPT: &[&str] = &[
    "cond_instances",
    "file_instances",
    "metadata_locks",
    "mutex_instances",
    "performance_timers",
    "replication_applier_configuration",
    "replication_applier_status",
    "replication_applier_status_by_coordinator",
    "replication_applier_status_by_worker",
    "replication_connection_configuration",
    "rwlock_instances",
    "session_account_connect_attrs",
    "session_connect_attrs",
    "session_status",
    "setup_consumers",
    "setup_instruments",
    "setup_timers",
    "socket_instances",
    "table_handles",
    "threads",
    "user_variables_by_thread",
];

/// TRUNCATE of accounts, users or hosts: those without a connection go, the others count anew.
fn forget_gone(sessions: &[Arc<SessionHandle>], performance: &Performance, table: &str) {
    // Taken before `people`: a session locks its own state first, too.
    let accounts = connected(sessions);
    let mut people = performance.people.lock();
    match table {
        "accounts" => {
            people.truncate_accounts();
            keep_connected(&mut people.accounts, &accounts);
        }
        "users" => {
            let users = by_part(&accounts, |(user, _)| user);
            keep_connected(&mut people.users, &users);
        }
        _ => {
            people.truncate_hosts();
            let hosts = by_part(&accounts, |(_, host)| host);
            keep_connected(&mut people.hosts, &hosts);
        }
    }
}
