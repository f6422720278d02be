//! Changes of tables by statements: UPDATE, INSERT and DELETE of what is measured, TRUNCATE of what
//! was measured.

use std::sync::atomic::Ordering::Relaxed;

use selkie_exec::computed::{Change, Texts};
use selkie_types::error::catalogue::{ER_DUP_KEY, ER_WRONG_PERFSCHEMA_USAGE, WARN_DATA_TRUNCATED};
use selkie_types::{SqlError, SqlResult};

use super::Performance;
use super::names::{Name, instruments};
use super::setup::{Actor, CONSUMERS, Switch, TIMERS};
use crate::server::Server;

/// Makes a change. Returns the number of rows changed.
pub(crate) fn change(server: &Server, table: &str, change: Change) -> SqlResult<u64> {
    let Some(performance) = server.sessions.performance() else {
        return match change {
            Change::Insert(rows) if !rows.is_empty() => Err(refused()),
            _ => Ok(0),
        };
    };
    match change {
        Change::Truncate => truncate(server, performance, table).map(|()| 0),
        Change::Update(rows) => {
            let mut changed = 0;
            for (row, (old, new)) in rows.iter().enumerate() {
                if old != new {
                    update(server, performance, table, (old, new), row + 1)?;
                    changed += 1;
                }
            }
            Ok(changed)
        }
        Change::Delete(rows) if table == "setup_actors" => {
            let gone = rows.iter().map(|row| actor(row, 1)).collect::<SqlResult<Vec<_>>>()?;
            performance.setup.actors.write().retain(|actor| !gone.contains(actor));
            Ok(rows.len() as u64)
        }
        Change::Insert(rows) if table == "setup_actors" => {
            for (at, row) in rows.iter().enumerate() {
                insert_actor(performance, actor(row, at + 1)?)?;
            }
            Ok(rows.len() as u64)
        }
        Change::Delete(_) | Change::Insert(_) => Err(refused()),
    }
}

fn refused() -> SqlError {
    SqlError::new(&ER_WRONG_PERFSCHEMA_USAGE, &[])
}

/// The text of a column.
fn text(row: &Texts, at: usize) -> &str {
    row.get(at).and_then(Option::as_deref).unwrap_or_default()
}

fn is_yes(row: &Texts, at: usize, (column, number): (&str, usize)) -> SqlResult<bool> {
    match text(row, at) {
        yes if yes.eq_ignore_ascii_case("YES") => Ok(true),
        no if no.eq_ignore_ascii_case("NO") => Ok(false),
        _ => Err(SqlError::new(&WARN_DATA_TRUNCATED, &[&column, &number])),
    }
}

fn actor(row: &Texts, number: usize) -> SqlResult<Actor> {
    Ok(Actor {
        host: text(row, 0).to_owned(),
        user: text(row, 1).to_owned(),
        role: text(row, 2).to_owned(),
        switch: Switch {
            enabled: is_yes(row, 3, ("ENABLED", number))?,
            second: is_yes(row, 4, ("HISTORY", number))?,
        },
    })
}

fn is_same(a: &Actor, b: &Actor) -> bool {
    (&a.host, &a.user, &a.role) == (&b.host, &b.user, &b.role)
}

fn insert_actor(performance: &Performance, new: Actor) -> SqlResult<()> {
    let mut actors = performance.setup.actors.write();
    if actors.iter().any(|actor| is_same(actor, &new)) {
        return Err(SqlError::new(&ER_DUP_KEY, &[&"setup_actors"]));
    }
    if actors.len() >= performance.sizes.actors {
        use selkie_types::error::catalogue::ER_RECORD_FILE_FULL;
        return Err(SqlError::new(&ER_RECORD_FILE_FULL, &[&"setup_actors"]));
    }
    actors.push(new);
    Ok(())
}

/// Fails unless the rows differ only in the columns from `first` on that may change.
fn check_kept((old, new): (&Texts, &Texts), may: std::ops::Range<usize>) -> SqlResult<()> {
    let mut differing = (0..old.len()).filter(|at| old.get(*at) != new.get(*at));
    if differing.all(|at| may.contains(&at)) { Ok(()) } else { Err(refused()) }
}

fn update(
    server: &Server,
    performance: &Performance,
    table: &str,
    (old, new): (&Texts, &Texts),
    number: usize,
) -> SqlResult<()> {
    let setup = &performance.setup;
    match table {
        "setup_consumers" => {
            check_kept((old, new), 1..2)?;
            if let Some(at) = CONSUMERS.iter().position(|name| *name == text(old, 0)) {
                setup.set_consumer(at, is_yes(new, 1, ("ENABLED", at + 1))?);
            }
        }
        "setup_instruments" => {
            check_kept((old, new), 1..3)?;
            let enabled = is_yes(new, 1, ("ENABLED", number))?;
            let switch = Switch { enabled, second: is_yes(new, 2, ("TIMED", number))? };
            if let Some(at) = instruments().position(|name| name == text(old, 0)) {
                setup.set_instrument(Name(at as u16), switch);
            }
        }
        "setup_actors" => {
            check_kept((old, new), 3..5)?;
            let new = actor(new, number)?;
            let mut actors = setup.actors.write();
            if let Some(found) = actors.iter_mut().find(|found| is_same(found, &new)) {
                found.switch = new.switch;
            }
        }
        "setup_timers" => {
            check_kept((old, new), 1..2)?;
            let timer = TIMERS.iter().find(|(name, _)| name.eq_ignore_ascii_case(text(new, 1)));
            let error = || SqlError::new(&WARN_DATA_TRUNCATED, &[&"TIMER_NAME", &number]);
            setup.unit.store(timer.ok_or_else(error)?.1, Relaxed);
        }
        "threads" => return update_thread(server, (old, new), number),
        _ => return Err(refused()),
    }
    Ok(())
}

fn update_thread(server: &Server, (old, new): (&Texts, &Texts), number: usize) -> SqlResult<()> {
    const INSTRUMENTED: usize = 13;
    check_kept((old, new), INSTRUMENTED..INSTRUMENTED + 2)?;
    let enabled = is_yes(new, INSTRUMENTED, ("INSTRUMENTED", number))?;
    let switch = Switch { enabled, second: is_yes(new, INSTRUMENTED + 1, ("HISTORY", number))? };
    for session in server.sessions.list() {
        if let Some(recorder) = session.recorder()
            && recorder.thread.to_string() == text(old, 0)
        {
            recorder.switch.set(switch);
        }
    }
    Ok(())
}

fn truncate(server: &Server, performance: &Performance, table: &str) -> SqlResult<()> {
    let sessions = server.sessions.list();
    let recorders = || sessions.iter().filter_map(|session| session.recorder());
    // Sums of a session move to its account.
    let pass = || {
        for recorder in recorders() {
            let mut state = recorder.state.lock();
            let sums = std::mem::take(&mut state.sums);
            let owner = state.owner.clone();
            drop(state);
            let mut people = performance.people.lock();
            match owner {
                Some(owner) => people.take(&owner, &sums),
                None => people.server.merge(&sums),
            }
        }
    };
    let people = || performance.people.lock();
    match table {
        "setup_actors" => performance.setup.actors.write().clear(),
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
fn forget_gone(
    sessions: &[std::sync::Arc<crate::sessions::SessionHandle>],
    performance: &Performance,
    table: &str,
) {
    let owners: Vec<_> = sessions
        .iter()
        .filter_map(|session| session.recorder()?.state.lock().owner.clone())
        .collect();
    let mut people = performance.people.lock();
    match table {
        "accounts" => {
            people.truncate_accounts();
            people.accounts.retain(|account, known| {
                known.total = owners.iter().filter(|owner| *owner == account).count() as u64;
                known.total > 0
            });
        }
        "users" => people.users.retain(|user, known| {
            known.total = owners.iter().filter(|owner| owner.0 == *user).count() as u64;
            known.total > 0
        }),
        _ => {
            people.truncate_hosts();
            people.hosts.retain(|host, known| {
                known.total = owners.iter().filter(|owner| owner.1 == *host).count() as u64;
                known.total > 0
            });
        }
    }
}
