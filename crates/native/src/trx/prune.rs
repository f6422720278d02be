//! Pruning between snapshots (I22): removes versions of an entry that are older than the newest
//! committed one and that no snapshot in use can see. A long reader then costs each entry one
//! version, not all of them.
//!
//! Version `r`, committed at `c`, replaced version `p`, committed at `cp`. Only snapshots at or
//! after `cp` and before `c` see `p`. Without one, `r` gets the value that `p` had replaced, and
//! `p` is dropped. In between the epoch grows, so that a reader on the way through the chain starts
//! again.

use super::purge::remove_marked;
use super::record::{Kind, RowRecord};
use super::segment::Segment;
use super::undo::seq_of;
use crate::btree::free_chain;
use crate::engine::Shared;
use crate::ids::{FileId, PageNo};
use crate::page::get_u64;
use crate::sync::atomic::Ordering;
use crate::table::value;
use std::sync::Arc;

/// A chain of pages that holds the rest of a long value.
type Chain = (PageNo, u64);

/// State of a step of pruning.
pub(super) struct Pruning<'s> {
    pub(super) shared: &'s Shared,
    /// Snapshots in use, ascending.
    pub(super) snapshots: Vec<u64>,
    /// Segments whose last record was dropped.
    pub(super) emptied: Vec<u64>,
}

/// A copy of a record.
struct Found {
    kind: Kind,
    file: FileId,
    key: Vec<u8>,
    before: Vec<u8>,
    owned: Option<Chain>,
}

fn copy(record: RowRecord<'_>) -> Found {
    Found {
        kind: record.kind,
        file: record.file,
        key: record.key.to_vec(),
        before: record.before.to_vec(),
        owned: record.owned_chain(),
    }
}

impl Pruning<'_> {
    /// Prunes the versions replaced by the records of a segment, committed at `lsn`.
    pub(super) fn segment(&mut self, segment: &Arc<Segment>, lsn: u64) {
        let (mut candidates, mut taken_back) = (Vec::new(), Vec::new());
        let undo = &self.shared.undo;
        segment.each(|at, record| {
            if record.undone {
                taken_back.push(at);
            } else if !record.before.is_empty() {
                let before = get_u64(record.before, 0);
                if seq_of(before) >= undo.reclaimed() {
                    candidates.push((at, record.ver, before));
                }
            }
        });
        // No chain leads to a version that was rolled back.
        taken_back.into_iter().for_each(|at| segment.drop_record(at));
        for (at, ver, before) in candidates {
            self.record(segment, lsn, at, ver, before);
        }
        segment.compact();
        self.shared.undo.count(segment);
        if segment.live() == 0 {
            self.emptied.push(segment.seq);
        }
    }

    fn is_seen_between(&self, from: u64, to: u64) -> bool {
        let first = self.snapshots.partition_point(|snapshot| *snapshot < from);
        self.snapshots.get(first).is_some_and(|snapshot| *snapshot < to)
    }

    fn record(&mut self, segment: &Arc<Segment>, lsn: u64, at: usize, ver: u64, before: u64) {
        let undo = &self.shared.undo;
        let Some(older) = undo.get(seq_of(before)) else { return };
        let Some(older_lsn) = older.owner.commit_lsn() else { return };
        if self.is_seen_between(older_lsn, lsn) {
            return;
        }
        let Some(mine) = segment.with(at, copy) else { return };
        let Some(theirs) = older.with_version(before, copy) else { return };
        if (theirs.file, &theirs.key) != (mine.file, &mine.key) {
            return;
        }
        let led_past = RowRecord {
            ver,
            kind: mine.kind,
            file: mine.file,
            auto: None,
            key: &mine.key,
            before: &theirs.before,
            undone: false,
            pruned: true,
        };
        let mut encoded = Vec::new();
        led_past.encode(&mut encoded);
        segment.replace(at, &encoded);
        if led_past.owned_chain().is_some() {
            segment.leaves_work.store(true, Ordering::Relaxed);
        }
        undo.next_epoch();
        older.drop_version(before);
        undo.pruned.fetch_add(1, Ordering::Relaxed);
        if !Arc::ptr_eq(segment, &older) {
            older.compact();
            undo.count(&older);
            if older.live() == 0 {
                self.emptied.push(older.seq);
            }
        }
        self.free_value(&mine, &theirs.before);
        if mine.kind == Kind::Delete && theirs.before.is_empty() {
            self.remove_entry(segment, at, ver, &mine);
        }
    }

    /// Frees the long value of a dropped version, unless the delete mark that replaced it, or the
    /// version below, has the same value.
    fn free_value(&self, mine: &Found, below: &[u8]) {
        let Some((page, len)) = mine.owned else { return };
        if value::chain_of(below).is_some_and(|(other, _)| other == page) {
            return;
        }
        let Some(_kept) = self.shared.keep_tree(mine.file) else { return };
        if let Err(e) = free_chain(&self.shared.storage, mine.file, page, len) {
            tracing::warn!("a long value could not be freed: {e}");
        }
    }

    /// Removes an entry created and deleted between two snapshots: no reader sees any version of
    /// it.
    fn remove_entry(&self, segment: &Segment, at: usize, ver: u64, mine: &Found) {
        match remove_marked(self.shared, ver, mine.file, &mine.key) {
            Ok(true) => segment.drop_record(at),
            Ok(false) => {}
            Err(e) => tracing::warn!("an entry could not be removed: {e}"),
        }
    }
}
