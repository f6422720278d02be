//! JSON functions that compare two documents.
//! Equality of whole documents is that of their normal forms (`json/normal.rs`).

use hashbrown::HashSet;
use selkie_meter::tick;
use selkie_types::{Column, SqlResult, stack};

use super::{numbers, read, read_first, read_plain_path};
use crate::json::{Json, normalize, parse_partly};
use crate::kernel::Frame;

/// Whether the target, or the value at a path in it, contains the candidate.
///
/// Compat: text after the documents is ignored.
pub(super) fn contains(frame: &Frame<'_>) -> SqlResult<Column> {
    numbers(frame, |row| {
        if frame.args.len() < 3 {
            let target = read_first(frame, 0, row)?;
            return Some(includes(&target, &read_first(frame, 1, row)?).into());
        }
        let path = read_plain_path(frame, 2, row)?;
        let (root, error) = parse_partly(frame.bytes(0).value(row));
        let found = root.as_ref().map_or(Vec::new(), |root| path.find(root));
        match found.first() {
            Some(target) => Some(includes(target, &read_first(frame, 1, row)?).into()),
            None => {
                let error = error.map(|e| frame.ctx.push(super::condition(frame, 0, e)));
                error.is_none().then_some(0)
            }
        }
    })
}

/// Compat: an array within a candidate array is looked for in the same target, not in its items.
fn includes(target: &Json<'_>, candidate: &Json<'_>) -> bool {
    tick(8);
    stack::ensure();
    match (target, candidate) {
        (Json::Array(..), Json::Array(wanted, _)) => wanted.iter().all(|w| includes(target, w)),
        (Json::Array(items, _), other) => items.iter().any(|item| includes(item, other)),
        (Json::Object(..), Json::Object(wanted, _)) => wanted
            .iter()
            .all(|(name, w)| target.member(name).is_some_and(|value| includes(value, w))),
        (a, b) => same_scalar(a, b),
    }
}

/// Compat: strings are compared as written, escapes included.
fn same_scalar(a: &Json<'_>, b: &Json<'_>) -> bool {
    let value = |digits: &[u8]| selkie_types::number::parse_f64(digits).value;
    match (a, b) {
        (Json::Number(x), Json::Number(y)) => {
            tick(x.len() + y.len());
            x == y || value(x) == value(y)
        }
        (Json::String(x), Json::String(y)) => {
            tick(x.len() / 8);
            x == y
        }
        (Json::Bool(x), Json::Bool(y)) => x == y,
        (Json::Null, Json::Null) => true,
        _ => false,
    }
}

fn normal(json: &Json<'_>) -> Vec<u8> {
    tick(64);
    let mut out = Vec::new();
    normalize(&mut out, json);
    out
}

pub(super) fn equals(frame: &Frame<'_>) -> SqlResult<Column> {
    numbers(frame, |row| {
        let (a, b) = (read(frame, 0, row)?, read(frame, 1, row)?);
        Some((normal(&a) == normal(&b)).into())
    })
}

/// Whether two documents have an item or a member in common, or are equal scalars.
///
/// Compat: the result for a text that is no document is 0.
pub(super) fn overlaps(frame: &Frame<'_>) -> SqlResult<Column> {
    numbers(frame, |row| {
        let both = read(frame, 0, row).and_then(|a| Some((a, read(frame, 1, row)?)));
        Some(both.is_some_and(|(a, b)| meet(&a, &b)).into())
    })
}

fn meet(a: &Json<'_>, b: &Json<'_>) -> bool {
    match (a, b) {
        // Compat: if a name occurs twice in the first document, only its first value counts.
        (Json::Object(..), Json::Object(members, _)) => members.iter().any(|(name, value)| {
            a.member(name).is_some_and(|other| normal(value) == normal(other))
        }),
        (Json::Array(items, _), Json::Array(others, _)) => {
            let others: HashSet<Vec<u8>> = others.iter().map(normal).collect();
            items.iter().any(|item| others.contains(&normal(item)))
        }
        (Json::Array(items, _), other) | (other, Json::Array(items, _)) => {
            let other = normal(other);
            items.iter().any(|item| normal(item) == other)
        }
        (a, b) => same_scalar(a, b),
    }
}
