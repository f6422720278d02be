//! Accounts, users and hosts with the numbers of their connections.
//!
//! Must not show threads of the server, except the main one, which has no account.

use std::collections::BTreeMap;

use selkie_types::Value;

use super::Asked;
use crate::performance::people::{Known, by_part, connected};
use crate::tables::{Row, text};

/// Number of the server's own threads that are shown: the main thread.
const BACKGROUND: u64 = 1;

fn counted(mut names: Row, now: u64, total: u64) -> Row {
    names.push(("CURRENT_CONNECTIONS", Value::Int(now as i64)));
    names.push(("TOTAL_CONNECTIONS", Value::Int(total as i64)));
    names
}

/// The rows of accounts, users or hosts behind that of threads without an account.
fn rows<K: Ord>(
    (known, connected): (&BTreeMap<K, Known>, &BTreeMap<K, u64>),
    nobody: Row,
    names: impl Fn(&K) -> Row,
) -> Vec<Row> {
    let row = |(key, known): (&K, &Known)| {
        counted(names(key), connected.get(key).copied().unwrap_or(0), known.total)
    };
    let nobody = counted(nobody, BACKGROUND, BACKGROUND);
    [nobody].into_iter().chain(known.iter().map(row)).collect()
}

pub(super) fn accounts(asked: &Asked<'_>) -> Vec<Row> {
    let connected = connected(&asked.sessions);
    let nobody = vec![("USER", Value::Null), ("HOST", Value::Null)];
    let people = asked.performance.people.lock();
    rows((&people.accounts, &connected), nobody, |(user, host)| {
        vec![("USER", text(user)), ("HOST", text(host))]
    })
}

pub(super) fn users(asked: &Asked<'_>) -> Vec<Row> {
    let connected = by_part(&connected(&asked.sessions), |(user, _)| user);
    let nobody = vec![("USER", Value::Null)];
    let people = asked.performance.people.lock();
    rows((&people.users, &connected), nobody, |user| vec![("USER", text(user))])
}

pub(super) fn hosts(asked: &Asked<'_>) -> Vec<Row> {
    let connected = by_part(&connected(&asked.sessions), |(_, host)| host);
    let nobody = vec![("HOST", Value::Null)];
    let people = asked.performance.people.lock();
    rows((&people.hosts, &connected), nobody, |host| vec![("HOST", text(host))])
}
