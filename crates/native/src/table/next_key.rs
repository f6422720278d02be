//! What a locking scan locks besides the rows it gives: the gaps between them, and where its range
//! ends the row behind it. The rules are InnoDB's, as its users observe them.
//!
//! Compat: a range scan also locks the first record behind its range, and the gap before it; a
//! search for equal keys locks only the gap there. A search that finds the one record of a primary
//! key locks no gap at all, one that finds that of another unique key only the gap before it.

use super::leaf_scan::Passed;
use crate::btree::Node;

/// How many equal keys an index allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Uniqueness {
    /// One, and it is the clustered one.
    Clustered,
    /// One without NULLs.
    Unique,
    /// Any.
    Plain,
}

/// What is searched for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Search {
    /// Keys that begin with the one given.
    Equal(Uniqueness),
    /// Keys in a range.
    Range,
}

/// The stretch of keys to be locked after the visit of a leaf.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) from: Vec<u8>,
    /// `None`: everything that follows.
    pub(super) to: Option<Vec<u8>>,
    /// The entry behind the range whose row is locked too.
    pub(super) beyond: Option<usize>,
}

/// The stretch that a visit of a leaf has passed. `start` is the first key of the range;
/// `is_live` says whether an entry may stand for a row.
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
    // A range that begins with a whole key that exists leaves the gap before it alone.
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

/// The first key behind the entry before `at`, or the first of the leaf.
pub(super) fn behind(node: Node<'_>, at: usize) -> Vec<u8> {
    match at.checked_sub(1) {
        Some(before) => after(node.key(before)),
        None => node.lower().to_vec(),
    }
}

/// The first key behind `key`.
fn after(mut key: Vec<u8>) -> Vec<u8> {
    key.push(0);
    key
}
