//! The locks of a locking scan besides those of its rows: the gaps between them, and at the end of
//! the range the row after it. The rules are InnoDB's, as its users observe them.
//!
//! Compat: a range scan also locks the first record after its range, and the gap before it. A
//! search for equal keys locks only the gap there. A search that finds the one record of a primary
//! key locks no gap at all; one that finds that of another unique key locks only the gap before it.

use super::leaf_scan::Passed;
use crate::btree::Node;

/// Uniqueness of an index's keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Uniqueness {
    /// Unique, and the key is the clustered one.
    Clustered,
    /// Unique, except for keys with NULLs.
    Unique,
    /// Equal keys are allowed.
    Plain,
}

/// Kind of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Search {
    /// Keys that begin with a given one.
    Equal(Uniqueness),
    /// Keys in a range.
    Range,
}

/// The range of keys to lock after the visit of a leaf.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) from: Vec<u8>,
    /// `None`: all keys from `from` on.
    pub(super) to: Option<Vec<u8>>,
    /// The entry after the range whose row is locked too.
    pub(super) beyond: Option<usize>,
}

/// The range that a visit of a leaf has covered. `start` is the first key of the scan's range;
/// `is_live` tells whether an entry may stand for a row.
pub(super) fn stretch(
    passed: &Passed<'_>,
    reverse: bool,
    search: Search,
    start: &[u8],
    is_live: impl Fn(Node<'_>, usize) -> bool,
) -> Option<Stretch> {
    let node = passed.node;
    let (low, high) = passed.entries;
    let one = high == low + 1 && passed.first && (passed.ended || passed.stopped.is_some());
    if one && is_live(node, low) {
        match search {
            Search::Equal(Uniqueness::Clustered) => return None,
            Search::Equal(Uniqueness::Unique) => {
                let (from, to) = (behind(node, low), Some(node.key(low)));
                return Some(Stretch { from, to, beyond: None });
            }
            Search::Equal(Uniqueness::Plain) | Search::Range => {}
        }
    }
    Some(match reverse {
        false => forward(passed, search, start, is_live),
        true => backward(passed, search),
    })
}

fn forward(
    passed: &Passed<'_>,
    search: Search,
    start: &[u8],
    is_live: impl Fn(Node<'_>, usize) -> bool,
) -> Stretch {
    let node = passed.node;
    let (low, high) = passed.entries;
    // If the range begins with an existing whole key, the gap before that stays unlocked.
    let begins_there = low < high && node.key(low) == start && is_live(node, low);
    let from = match passed.first && !begins_there {
        true => behind(node, low),
        false => start.to_vec(),
    };
    if let Some(at) = passed.stopped {
        return Stretch { from, to: Some(after(node.key(at))), beyond: None };
    }
    let next = (high..node.count()).find(|at| is_live(node, *at)).filter(|_| passed.ended);
    let to = match next {
        Some(at) => Some(node.key(at)),
        None => node.upper().map(<[u8]>::to_vec),
    };
    Stretch { from, to, beyond: next.filter(|_| search == Search::Range) }
}

fn backward(passed: &Passed<'_>, search: Search) -> Stretch {
    let node = passed.node;
    let (low, high) = passed.entries;
    let to = match high < node.count() {
        true => Some(node.key(high)),
        false => node.upper().map(<[u8]>::to_vec),
    };
    if let Some(at) = passed.stopped {
        return Stretch { from: behind(node, at), to, beyond: None };
    }
    if search == Search::Range && passed.ended && low > 0 {
        return Stretch { from: behind(node, low - 1), to, beyond: Some(low - 1) };
    }
    Stretch { from: behind(node, low), to, beyond: None }
}

/// The first key after the entry before `at`, or the lower fence of the leaf.
pub(super) fn behind(node: Node<'_>, at: usize) -> Vec<u8> {
    match at.checked_sub(1) {
        Some(before) => after(node.key(before)),
        None => node.lower().to_vec(),
    }
}

/// The first key after `key`.
fn after(mut key: Vec<u8>) -> Vec<u8> {
    key.push(0);
    key
}
