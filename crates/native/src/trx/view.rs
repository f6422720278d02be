//! Visibility: the version of an entry that a reader sees.
//!
//! Reads undo under the latch of the entry's leaf; must not wait for locks.

use super::segment::Before;
use super::undo::{Undo, seq_of};
use crate::page::get_u64;
use crate::table::value;
use std::cell::Cell;

/// Result of resolving an entry for a reader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Resolved {
    /// The value in the leaf is visible.
    Current,
    /// An older value is visible; it was written to the scratch buffer.
    Old,
    /// No value is visible.
    Gone,
}

/// A reader's view: a snapshot with the reader's own changes, or simply the newest versions.
pub(crate) struct View<'u> {
    undo: &'u Undo,
    me: u64,
    /// Position of the snapshot; `None`: the newest version, committed or not.
    snapshot: Option<u64>,
    pub(crate) reclaimed: u64,
    /// Own versions from this word on are invisible: they were made after the read began.
    own_end: u64,
    /// The transaction has changed rows that others changed since the snapshot. It sees its own
    /// version of such a row. Of the row's index entries, which have versions of their own, it sees
    /// those of the row before these changes.
    pub(crate) overtakes: bool,
    /// The last sequence looked up, and its visibility, which cannot change for a snapshot.
    last: Cell<(u64, bool)>,
}

/// A view without what it has looked up: each thread that reads makes its own view of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ViewSpec {
    me: u64,
    /// Position of the snapshot; `None`: the newest version, committed or not.
    pub(crate) snapshot: Option<u64>,
    own_end: u64,
}

impl ViewSpec {
    /// The view, for reads of rows by their clustered keys.
    pub(crate) fn view(self, undo: &Undo) -> View<'_> {
        View::new(undo, self.me, self.snapshot, self.own_end)
    }
}

impl<'u> View<'u> {
    pub(crate) fn new(undo: &'u Undo, me: u64, snapshot: Option<u64>, own_end: u64) -> View<'u> {
        let reclaimed = undo.reclaimed();
        let last = Cell::new((u64::MAX, false));
        View { undo, me, snapshot, reclaimed, own_end, overtakes: false, last }
    }

    /// The view without its memory.
    pub(crate) fn spec(&self) -> ViewSpec {
        ViewSpec { me: self.me, snapshot: self.snapshot, own_end: self.own_end }
    }

    /// Whether this is a snapshot older than a position of the log.
    pub(crate) fn is_before(&self, position: u64) -> bool {
        self.snapshot.is_some_and(|snapshot| snapshot < position)
    }

    pub(crate) fn sees(&self, ver: u64) -> bool {
        let seq = seq_of(ver);
        let Some(snapshot) = self.snapshot.filter(|_| seq >= self.reclaimed) else { return true };
        let (last, answer) = self.last.get();
        if last == seq {
            return answer;
        }
        let Some(segment) = self.undo.get(seq) else { return true };
        if segment.owner.id == self.me {
            return ver < self.own_end;
        }
        let answer = segment.owner.commit_lsn().is_some_and(|lsn| lsn <= snapshot);
        self.last.set((seq, answer));
        answer
    }

    /// The transaction that has written a version and has not ended.
    pub(crate) fn active_owner(&self, ver: u64) -> Option<u64> {
        self.undo.active_owner(ver).map(|owner| owner.id)
    }

    /// Resolves the value of an entry, under its leaf's latch.
    #[inline]
    pub(crate) fn resolve(&self, value: &[u8], scratch: &mut Vec<u8>) -> Resolved {
        if self.sees(get_u64(value, 0)) {
            return if value::is_deleted(value) { Resolved::Gone } else { Resolved::Current };
        }
        self.older(get_u64(value, 0), scratch)
    }

    /// Follows the chain of versions from `newest`, which is in a leaf and so never pruned.
    fn older(&self, newest: u64, scratch: &mut Vec<u8>) -> Resolved {
        loop {
            let epoch = self.undo.epoch();
            let found = self.walk(newest, scratch);
            // A version on the way may have been pruned, and so may have looked visible to all,
            // only if the epoch changed.
            if self.undo.epoch() == epoch {
                return found.unwrap_or(Resolved::Gone);
            }
        }
    }

    /// `None` if a version of the chain is missing.
    fn walk(&self, mut ver: u64, scratch: &mut Vec<u8>) -> Option<Resolved> {
        loop {
            match self.undo.get(seq_of(ver))?.before(ver, scratch) {
                Before::Value => {}
                Before::Nothing => return Some(Resolved::Gone),
                Before::Pruned => return None,
            }
            ver = get_u64(scratch, 0);
            if self.sees(ver) {
                let gone = value::is_deleted(scratch);
                return Some(if gone { Resolved::Gone } else { Resolved::Old });
            }
        }
    }
}
