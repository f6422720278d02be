//! Accounts, users and hosts with the numbers of their connections.
//!
//! Must not show threads of the server, except the main one, which has no account.

use std::collections::BTreeMap;

use selkie_types::Value;

use super::Asked;
use crate::performance::people::Account;
use crate::tables::{Row, text};

/// Number of the server's own threads that are shown: the main thread.
const BACKGROUND: u64 = 1;

fn counted(mut names: Row, now: u64, total: u64) -> Row {
    names.push(("CURRENT_CONNECTIONS", Value::Int(now as i64)));
    names.push(("TOTAL_CONNECTIONS", Value::Int(total as i64)));
    names
}

/// Numbers of the sessions that are connected, by `key` of their account.
fn now<K: Ord>(asked: &Asked<'_>, key: impl Fn(Account) -> K) -> BTreeMap<K, u64> {
    let mut now = BTreeMap::new();
    for (_, recorder) in asked.recorders() {
        if let Some(owner) = recorder.state.lock().owner.clone() {
            *now.entry(key(owner)).or_default() += 1;
        }
    }
    now
}

pub(super) fn accounts(asked: &Asked<'_>) -> Vec<Row> {
    let now = now(asked, |account| account);
    let nobody = vec![("USER", Value::Null), ("HOST", Value::Null)];
    let people = asked.performance.people.lock();
    let known = people.accounts.iter().map(|(account, known)| {
        let names = vec![("USER", text(&account.0)), ("HOST", text(&account.1))];
        counted(names, now.get(account).copied().unwrap_or(0), known.total)
    });
    [counted(nobody, BACKGROUND, BACKGROUND)].into_iter().chain(known).collect()
}

pub(super) fn users(asked: &Asked<'_>) -> Vec<Row> {
    let now = now(asked, |(user, _)| user);
    let people = asked.performance.people.lock();
    let known = people.users.iter().map(|(user, known)| {
        counted(vec![("USER", text(user))], now.get(user).copied().unwrap_or(0), known.total)
    });
    let nobody = counted(vec![("USER", Value::Null)], BACKGROUND, BACKGROUND);
    [nobody].into_iter().chain(known).collect()
}

pub(super) fn hosts(asked: &Asked<'_>) -> Vec<Row> {
    let now = now(asked, |(_, host)| host);
    let people = asked.performance.people.lock();
    let known = people.hosts.iter().map(|(host, known)| {
        counted(vec![("HOST", text(host))], now.get(host).copied().unwrap_or(0), known.total)
    });
    let nobody = counted(vec![("HOST", Value::Null)], BACKGROUND, BACKGROUND);
    [nobody].into_iter().chain(known).collect()
}
