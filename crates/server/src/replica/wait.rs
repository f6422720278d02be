//! MASTER_GTID_WAIT and MASTER_POS_WAIT: waits until something is applied.
//!
//! Must not keep a thread from applying: it only looks.

use std::time::{Duration, Instant};

use selkie_exec::Killed;
use selkie_replication::gtid::Position;
use selkie_replication::replica::{Applied, Place};
use selkie_types::{Condition, Level, SqlError, SqlResult};

use super::connection::Connection;
use super::names;
use crate::admin::{Notes, parsed};
use crate::session::Shared;
use crate::status::{StatusId, find_status};

/// Time between two looks.
const STEP: Duration = Duration::from_millis(10);

/// Whether all groups of a list are applied before `longest` is over.
pub(crate) fn wait_for_groups(
    shared: &Shared,
    list: &str,
    longest: Option<Duration>,
) -> SqlResult<bool> {
    let position = parsed::<Position>(list)?;
    let counters = &shared.handle.counters;
    count("Master_gtid_wait_count", |id| counters.bump(id));
    let begun = Instant::now();
    let reached =
        wait(shared, longest, &mut |state| state.gtids().reaches(&position).then_some(true))?;
    count("Master_gtid_wait_time", |id| counters.add(id, begun.elapsed().as_micros() as u64));
    if reached.is_none() {
        count("Master_gtid_wait_timeouts", |id| counters.bump(id));
    }
    Ok(reached.unwrap_or(false))
}

/// Counts something in a status variable.
fn count(name: &str, add: impl FnOnce(StatusId)) {
    find_status(name).map(add);
}

/// Number of events that were applied until the connection was at or behind a place of its
/// primary's log, -1 if `longest` is over before; none if it does not apply.
pub(crate) fn wait_for_place(
    shared: &Shared,
    place: &Place,
    longest: Option<Duration>,
    name: Option<&str>,
    notes: &mut Notes,
) -> SqlResult<Option<i64>> {
    let name = name.map_or_else(|| names::default_name(shared), str::to_owned);
    let Some(connection) = shared.server.replica.find(&name) else {
        notes.push(Condition::from_error(Level::Warning, &names::unknown(&name)));
        return Ok(None);
    };
    let Some(wanted) = order(place) else { return Ok(None) };
    let first = connection.progress.lock().executed_entries;
    let found = wait(shared, longest, &mut |_| {
        let running = connection.applier.is_running();
        running.then(|| reached(&connection, &wanted, first)).map_or(Some(None), |r| r.map(Some))
    })?;
    Ok(found.unwrap_or(Some(-1)))
}

/// A place in the order of places: the stem of the file's name, its number, the offset.
fn order(place: &Place) -> Option<(&str, u64, u64)> {
    let (stem, number) = place.file.rsplit_once('.')?;
    Some((stem, number.parse().ok()?, place.offset))
}

/// The events applied since `first`, if the connection is at the place or behind it.
fn reached(connection: &Connection, wanted: &(&str, u64, u64), first: u64) -> Option<i64> {
    let progress = connection.progress.lock();
    let at = order(&progress.applied)?;
    let is_there = at.0 == wanted.0 && (at.1, at.2) >= (wanted.1, wanted.2);
    let count = progress.executed_entries.saturating_sub(first);
    is_there.then(|| i64::try_from(count).unwrap_or(i64::MAX))
}

/// Looks until there is an answer. None: the time is over.
fn wait<R>(
    shared: &Shared,
    longest: Option<Duration>,
    answer: &mut dyn FnMut(&Applied) -> Option<R>,
) -> SqlResult<Option<R>> {
    let deadline = longest.and_then(|longest| Instant::now().checked_add(longest));
    loop {
        if let Some(found) = answer(&shared.server.applied().state()) {
            return Ok(Some(found));
        }
        if shared.handle.kill.get() != Killed::No {
            return Err(SqlError::interrupted());
        }
        let now = Instant::now();
        let left = deadline.map(|deadline| deadline.saturating_duration_since(now));
        if left == Some(Duration::ZERO) {
            return Ok(None);
        }
        std::thread::sleep(left.map_or(STEP, |left| left.min(STEP)));
    }
}
