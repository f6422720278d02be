//! Statements: the last ones, and sums over all of them.
//!
//! Must take one lock of a session at a time, so that no session waits for a reader for long.

use std::sync::Arc;

use selkie_engine::Moment;
use selkie_types::Value;

use super::{Asked, optional};
use crate::performance::digests::Entry;
use crate::performance::people::{Account, Known};
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

/// The sums of the sessions that are connected and whose account `is_meant` chooses.
fn live(asked: &Asked<'_>, is_meant: impl Fn(&Account) -> bool) -> ByName {
    let mut sums = ByName::default();
    for (_, recorder) in asked.recorders() {
        let state = recorder.state.lock();
        if state.owner.as_ref().is_some_and(&is_meant) {
            sums.merge(&state.sums);
        }
    }
    sums
}

pub(super) fn by_thread(asked: &Asked<'_>) -> Vec<Row> {
    use crate::performance::MAIN_THREAD;
    let mut rows = Vec::new();
    ByName::default().rows(&[("THREAD_ID", Value::UInt(MAIN_THREAD))], &mut rows);
    for (_, recorder) in asked.recorders() {
        let owner = [("THREAD_ID", Value::UInt(recorder.thread))];
        recorder.state.lock().sums.rows(&owner, &mut rows);
    }
    rows
}

pub(super) fn by_account(asked: &Asked<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    ByName::default().rows(&[("USER", Value::Null), ("HOST", Value::Null)], &mut rows);
    let known = sums_of(&asked.performance.people.lock().accounts);
    for (account, mut sums) in known {
        sums.merge(&live(asked, |owner| *owner == account));
        sums.rows(&[("USER", text(&account.0)), ("HOST", text(&account.1))], &mut rows);
    }
    rows
}

fn sums_of<K: Clone + Ord>(known: &std::collections::BTreeMap<K, Known>) -> Vec<(K, ByName)> {
    known.iter().map(|(key, known)| (key.clone(), known.sums.clone())).collect()
}

pub(super) fn by_user(asked: &Asked<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    ByName::default().rows(&[("USER", Value::Null)], &mut rows);
    let known = sums_of(&asked.performance.people.lock().users);
    for (name, mut sums) in known {
        let is_meant = |account: &Account| account.0 == name;
        sums.merge(&asked.performance.people.lock().of_accounts(is_meant));
        sums.merge(&live(asked, is_meant));
        sums.rows(&[("USER", text(&name))], &mut rows);
    }
    rows
}

pub(super) fn by_host(asked: &Asked<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    ByName::default().rows(&[("HOST", Value::Null)], &mut rows);
    let known = sums_of(&asked.performance.people.lock().hosts);
    for (name, mut sums) in known {
        let is_meant = |account: &Account| account.1 == name;
        sums.merge(&asked.performance.people.lock().of_accounts(is_meant));
        sums.merge(&live(asked, is_meant));
        sums.rows(&[("HOST", text(&name))], &mut rows);
    }
    rows
}

pub(super) fn global(asked: &Asked<'_>) -> Vec<Row> {
    let mut sums = {
        let people = asked.performance.people.lock();
        let mut sums = people.server.clone();
        sums.merge(&people.of_accounts(|_| true));
        people.hosts.values().for_each(|known| sums.merge(&known.sums));
        sums
    };
    for (_, recorder) in asked.recorders() {
        let state = recorder.state.lock();
        sums.merge(&state.sums);
        sums.merge(&state.apart);
    }
    let mut rows = Vec::new();
    sums.rows(&[], &mut rows);
    rows
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
