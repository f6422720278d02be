//! A walk over a range of a tree, one leaf per call and latch. The position is a key range: nothing
//! is held between calls, so leaves may split, merge and move.

use crate::btree::{Hint, Node, Seek, Tree};
use crate::error::Result;
use selkie_engine::KeyRange;

/// A visitor's answer after an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// Continue.
    Next,
    /// Stop here; the next call continues after this entry.
    Stop,
}

/// The rest of a range of a tree.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    pub(super) range: KeyRange,
    pub(super) reverse: bool,
    pub(super) done: bool,
    /// Whether the next leaf is the first.
    first: bool,
    hint: Hint,
}

/// End of a visit of a leaf.
enum Reached {
    /// The end of the range.
    End,
    /// The end of the leaf, with the fence at which the next call continues.
    Fence(Vec<u8>),
    /// An entry, with its key.
    Entry(usize, Vec<u8>),
}

/// The part of a leaf that a visit covered, for locks taken under the same latch.
pub(super) struct Passed<'n> {
    pub(super) node: Node<'n>,
    /// The first entry of the range in this leaf, and the first one after the range.
    pub(super) entries: (usize, usize),
    /// The entry at which the visitor stopped.
    pub(super) stopped: Option<usize>,
    /// Whether the range ends in this leaf.
    pub(super) ended: bool,
    /// Whether the range begins in this leaf.
    pub(super) first: bool,
}

impl Walk {
    pub(super) fn new(range: KeyRange, reverse: bool) -> Walk {
        let done = range.is_empty();
        Walk { range, reverse, done, first: true, hint: Hint::default() }
    }

    /// Starts over with another range and keeps the hint of the last leaf.
    pub(super) fn restart(&mut self, range: KeyRange) {
        self.done = range.is_empty();
        self.first = true;
        self.range = range;
    }

    /// Calls `visit` with the entries of one leaf, in order, until it stops.
    pub(super) fn leaf(
        &mut self,
        tree: &Tree,
        visit: impl FnMut(Node<'_>, usize) -> Step,
    ) -> Result<()> {
        self.leaf_passing(tree, visit, |_| ())
    }

    /// As [`Self::leaf`]; then calls `passed`, still under the latch, with the covered part.
    pub(super) fn leaf_passing(
        &mut self,
        tree: &Tree,
        visit: impl FnMut(Node<'_>, usize) -> Step,
        passed: impl FnOnce(Passed<'_>),
    ) -> Result<()> {
        let range = &self.range;
        let first = std::mem::replace(&mut self.first, false);
        let seek = match self.reverse {
            false => Seek::At(&range.start),
            true => Seek::Before(range.end.as_deref()),
        };
        let reached = tree.read_near(&mut self.hint, seek, |node| {
            let entries = limits(node, range);
            let reached = match self.reverse {
                false => forward(node, entries, range, visit),
                true => backward(node, entries, range, visit),
            };
            let stopped = match &reached {
                Reached::Entry(at, _) => Some(*at),
                _ => None,
            };
            let ended = matches!(reached, Reached::End);
            passed(Passed { node, entries, stopped, ended, first });
            reached
        })?;
        match (reached, self.reverse) {
            (Reached::End, _) => self.done = true,
            (Reached::Fence(key), false) => self.range.start = key,
            (Reached::Entry(_, mut key), false) => {
                key.push(0);
                self.range.start = key;
            }
            (Reached::Fence(key) | Reached::Entry(_, key), true) => self.range.end = Some(key),
        }
        Ok(())
    }
}

/// Calls `visit` with the entries of a range of a tree, in order and under the latch of their leaf,
/// until it returns something, which is the result.
pub(super) fn find<R>(
    tree: &Tree,
    range: KeyRange,
    mut visit: impl FnMut(Node<'_>, usize) -> Option<R>,
) -> Result<Option<R>> {
    let (mut walk, mut found) = (Walk::new(range, false), None);
    while !walk.done && found.is_none() {
        walk.leaf(tree, |node, at| {
            found = visit(node, at);
            if found.is_some() { Step::Stop } else { Step::Next }
        })?;
    }
    Ok(found)
}

/// The entries of the node from `low` up to, not including, `high` are in the range.
fn limits(node: Node<'_>, range: &KeyRange) -> (usize, usize) {
    let low = if range.start[..] <= *node.lower() { 0 } else { node.lower_bound(&range.start) };
    let high = match &range.end {
        Some(end) if node.upper().is_none_or(|upper| end[..] < *upper) => {
            if end[..] <= *node.lower() { 0 } else { node.lower_bound(end) }
        }
        _ => node.count(),
    };
    (low, high)
}

fn forward(
    node: Node<'_>,
    (low, high): (usize, usize),
    range: &KeyRange,
    mut visit: impl FnMut(Node<'_>, usize) -> Step,
) -> Reached {
    for at in low..high {
        if visit(node, at) == Step::Stop {
            return Reached::Entry(at, node.key(at));
        }
    }
    match node.upper() {
        Some(upper) if high == node.count() && range.ends_after(upper) => {
            Reached::Fence(upper.to_vec())
        }
        _ => Reached::End,
    }
}

fn backward(
    node: Node<'_>,
    (low, high): (usize, usize),
    range: &KeyRange,
    mut visit: impl FnMut(Node<'_>, usize) -> Step,
) -> Reached {
    for at in (low..high).rev() {
        if visit(node, at) == Step::Stop {
            return Reached::Entry(at, node.key(at));
        }
    }
    let lower = node.lower();
    if lower.is_empty() || *lower <= range.start[..] {
        return Reached::End;
    }
    Reached::Fence(lower.to_vec())
}
