//! Statements: the last ones, and sums over all of them.
//!
//! Must take one lock of a session at a time, so that no session waits for a reader for long.

use std::collections::BTreeMap;
use std::sync::Arc;

use selkie_engine::Moment;
use selkie_types::{SqlResult, Value};

use super::{Asked, Emit, optional};
use crate::performance::MAIN_THREAD;
use crate::performance::digests::Entry;
use crate::performance::people::Account;
use crate::performance::sums::ByName;
use crate::tables::{Row, text, utc};

pub(super) fn current(asked: &Asked<'_>) -> Vec<Row> {
    let now = asked.performance.nanos(Moment::now());
    let events = asked.recorders().filter_map(|(session, recorder)| {
        recorder.now(&session.counters, session.activity().info.as_deref())
    });
    events.map(|event| event.row(now)).collect()
}

pub(super) fn history(asked: &Asked<'_>) -> Vec<Row> {
    let of = |(_, recorder): (_, &super::Recorder)| -> Vec<Row> {
        recorder.state.lock().history.iter().map(|event| event.row(0)).collect()
    };
    asked.recorders().flat_map(of).collect()
}

pub(super) fn history_long(asked: &Asked<'_>) -> Vec<Row> {
    asked.performance.long.events().iter().map(|event| event.row(0)).collect()
}

/// Emits the rows of one owner.
fn emit_sums(sums: &ByName, owner: &[(&'static str, Value)], emit: Emit<'_>) -> SqlResult<()> {
    let mut rows = Vec::new();
    sums.rows(owner, &mut rows);
    rows.into_iter().try_for_each(emit)
}

pub(super) fn by_thread(asked: &Asked<'_>, emit: Emit<'_>) -> SqlResult<()> {
    let owner = |thread| [("THREAD_ID", Value::UInt(thread))];
    emit_sums(&ByName::default(), &owner(MAIN_THREAD), emit)?;
    for (_, recorder) in asked.recorders() {
        let sums = recorder.state.lock().sums.clone();
        emit_sums(&sums, &owner(recorder.thread), emit)?;
    }
    Ok(())
}

/// The columns that name an owner, and their values.
struct Names<K> {
    columns: &'static [&'static str],
    values: fn(&K) -> Vec<&str>,
}

/// Emits the rows of the sums of ended sessions with those of connected ones, by the part of their
/// accounts that `key` gives, behind those of threads without an account.
fn by_owner<K: Ord>(
    asked: &Asked<'_>,
    mut sums: BTreeMap<K, ByName>,
    key: impl Fn(&Account) -> K,
    Names { columns, values }: Names<K>,
    emit: Emit<'_>,
) -> SqlResult<()> {
    for (_, recorder) in asked.recorders() {
        let state = recorder.state.lock();
        if let Some(sums) = state.owner.as_ref().and_then(|owner| sums.get_mut(&key(owner))) {
            sums.merge(&state.sums);
        }
    }
    let nobody: Row = columns.iter().map(|column| (*column, Value::Null)).collect();
    emit_sums(&ByName::default(), &nobody, emit)?;
    for (key, sums) in &sums {
        let values = values(key).into_iter().map(text);
        let owner: Row = columns.iter().copied().zip(values).collect();
        emit_sums(sums, &owner, emit)?;
    }
    Ok(())
}

pub(super) fn by_account(asked: &Asked<'_>, emit: Emit<'_>) -> SqlResult<()> {
    let sums = asked.performance.people.lock().by_account();
    let names =
        Names { columns: &["USER", "HOST"], values: |(user, host): &Account| vec![user, host] };
    by_owner(asked, sums, Clone::clone, names, emit)
}

pub(super) fn by_user(asked: &Asked<'_>, emit: Emit<'_>) -> SqlResult<()> {
    let sums = {
        let people = asked.performance.people.lock();
        people.by_known(&people.users, |(user, _)| user)
    };
    let names = Names { columns: &["USER"], values: |user: &String| vec![user] };
    by_owner(asked, sums, |(user, _)| user.clone(), names, emit)
}

pub(super) fn by_host(asked: &Asked<'_>, emit: Emit<'_>) -> SqlResult<()> {
    let sums = {
        let people = asked.performance.people.lock();
        people.by_known(&people.hosts, |(_, host)| host)
    };
    let names = Names { columns: &["HOST"], values: |host: &String| vec![host] };
    by_owner(asked, sums, |(_, host)| host.clone(), names, emit)
}

pub(super) fn global(asked: &Asked<'_>, emit: Emit<'_>) -> SqlResult<()> {
    let mut sums = asked.performance.people.lock().all();
    for (_, recorder) in asked.recorders() {
        let state = recorder.state.lock();
        sums.merge(&state.sums);
        sums.merge(&state.apart);
    }
    emit_sums(&sums, &[], emit)
}

pub(super) fn by_digest(asked: &Asked<'_>) -> Vec<Row> {
    for (_, recorder) in asked.recorders() {
        recorder.state.lock().digests.give();
    }
    let entries = asked.performance.digests.entries();
    entries.iter().map(|entry| digest_row(asked, entry)).collect()
}

fn digest_row(asked: &Asked<'_>, entry: &Arc<Entry>) -> Row {
    let seen = entry.given.lock().clone();
    let time = |nanos| utc(asked.performance.time_of(nanos));
    let digest = entry.digest.as_ref();
    let mut row = vec![
        ("SCHEMA_NAME", optional(entry.schema.as_deref())),
        ("DIGEST", optional(digest.map(|digest| format!("{:032x}", digest.hash)))),
        ("DIGEST_TEXT", optional(digest.map(|digest| digest.text.as_str()))),
        ("FIRST_SEEN", time(seen.first)),
        ("LAST_SEEN", time(seen.last)),
    ];
    seen.sums.columns(&mut row);
    row
}
