//! Cleanup after commits: delete marks, replaced long values, undo itself. Undo of commits that all
//! snapshots see is removed; of the rest, versions that no snapshot can see are pruned. A version
//! that a snapshot in use can see must stay.

use super::prune::Pruning;
use super::record::Kind;
use super::segment::Segment;
use crate::btree::{Decision, Hint, free_chain};
use crate::engine::Shared;
use crate::error::Result;
use crate::ids::{FileId, PageNo};
use crate::page::get_u64;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::table::value;
use std::collections::VecDeque;
use std::sync::Arc;

/// Commits pruned in one go.
const STEP: usize = 4096;

struct Ended {
    lsn: u64,
    segments: Vec<Arc<Segment>>,
}

impl Ended {
    fn is_empty(&self) -> bool {
        self.segments.iter().all(|segment| segment.live() == 0)
    }
}

/// Commits not yet cleaned up, about in the order of their commits.
#[derive(Default)]
pub(crate) struct PurgeQueue {
    /// Commits that were not pruned yet.
    queue: Mutex<VecDeque<Ended>>,
    /// Commits that were pruned and are still needed by a snapshot.
    kept: Mutex<Kept>,
    /// Number of commits in `kept` without any record left.
    hollow: AtomicUsize,
    /// Held by the thread that cleans up.
    busy: Mutex<()>,
}

#[derive(Default)]
struct Kept {
    list: VecDeque<Ended>,
    /// Number of commits at the front of `list` that were considered for spilling.
    spilled: usize,
}

impl PurgeQueue {
    pub(crate) fn push(&self, lsn: u64, segments: Vec<Arc<Segment>>) {
        if !segments.is_empty() {
            self.queue.lock().push_back(Ended { lsn, segments });
        }
    }

    /// Stops the cleanup until the guard is dropped.
    pub(crate) fn pause(&self) -> crate::sync::MutexGuard<'_, ()> {
        self.busy.lock()
    }

    /// Number of transactions not pruned yet.
    pub(crate) fn waiting(&self) -> usize {
        self.queue.lock().len()
    }

    /// Length of the history: transactions of which some versions are left.
    pub(crate) fn len(&self) -> usize {
        let kept = self.kept.lock().list.len();
        self.waiting() + kept.saturating_sub(self.hollow.load(Ordering::Relaxed))
    }
}

/// Cleans up everything that no snapshot needs. Returns whether there was anything.
pub(crate) fn purge_step(shared: &Shared) -> Result<bool> {
    let Some(_busy) = shared.purge.busy.try_lock() else { return Ok(false) };
    let horizon = shared.snapshots.horizon(shared.storage.log());
    let mut any = reclaim(shared, horizon)?;
    any |= prune(shared);
    spill_history(shared);
    Ok(any)
}

/// Removes the undo of commits that all snapshots see.
fn reclaim(shared: &Shared, horizon: u64) -> Result<bool> {
    let mut any = false;
    let mut gone = Vec::new();
    loop {
        let due = |list: &mut VecDeque<Ended>| match list.front() {
            Some(front) if front.lsn <= horizon => list.pop_front(),
            _ => None,
        };
        let kept = {
            let mut kept = shared.purge.kept.lock();
            let ended = due(&mut kept.list);
            kept.spilled -= usize::from(ended.is_some() && kept.spilled > 0);
            ended
        };
        if kept.as_ref().is_some_and(Ended::is_empty) {
            let less = |n: usize| Some(n.saturating_sub(1));
            let _ = shared.purge.hollow.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        }
        let Some(ended) = kept.or_else(|| due(&mut shared.purge.queue.lock())) else { break };
        any = true;
        for segment in &ended.segments {
            if segment.leaves_work.load(Ordering::Relaxed) {
                clean(shared, segment)?;
            }
        }
        gone.extend(ended.segments.iter().map(|segment| segment.seq));
        if gone.len() >= 64 {
            shared.undo.remove(gone.drain(..));
        }
    }
    shared.undo.remove(gone.into_iter());
    Ok(any)
}

/// Prunes after commits that some snapshot does not see yet. Commits after a young snapshot wait:
/// it is that of a running statement and will end in a moment.
fn prune(shared: &Shared) -> bool {
    if shared.purge.queue.lock().is_empty() {
        return false;
    }
    let (snapshots, upto, again) = shared.snapshots.in_use(shared.storage.log());
    let mut pruning = Pruning { shared, snapshots, emptied: Vec::new() };
    if again {
        prune_again(shared, &mut pruning);
    }
    let mut any = false;
    for _ in 0..STEP {
        let ended = {
            let mut queue = shared.purge.queue.lock();
            match queue.front() {
                Some(front) if front.lsn <= upto => queue.pop_front(),
                _ => None,
            }
        };
        let Some(ended) = ended else { break };
        any = true;
        ended.segments.iter().for_each(|segment| pruning.segment(segment, ended.lsn));
        if !ended.is_empty() {
            shared.purge.kept.lock().list.push_back(ended);
        }
    }
    forget(shared, pruning.emptied);
    any
}

/// Prunes once more after the end of a snapshot between others: versions seen only by it are
/// obsolete now.
fn prune_again(shared: &Shared, pruning: &mut Pruning<'_>) {
    let mut list = std::mem::take(&mut shared.purge.kept.lock().list);
    for ended in &list {
        let resident = ended.segments.iter().filter(|segment| !segment.is_spilled());
        resident.for_each(|segment| pruning.segment(segment, ended.lsn));
    }
    list.retain(|ended| !ended.is_empty());
    let mut kept = shared.purge.kept.lock();
    kept.spilled = 0;
    kept.list = list;
    shared.purge.hollow.store(0, Ordering::Relaxed);
}

fn forget(shared: &Shared, emptied: Vec<u64>) {
    let hollow = shared.purge.hollow.fetch_add(emptied.len(), Ordering::Relaxed) + emptied.len();
    shared.undo.remove(emptied.into_iter());
    let mut kept = shared.purge.kept.lock();
    if hollow > 64 && hollow > kept.list.len() / 2 {
        kept.list.retain(|ended| !ended.is_empty());
        kept.spilled = 0;
        shared.purge.hollow.store(0, Ordering::Relaxed);
    }
}

/// Moves history out of memory while it exceeds the budget, oldest first.
fn spill_history(shared: &Shared) {
    while shared.undo.is_over_budget() {
        let mut kept = shared.purge.kept.lock();
        let Some(ended) = kept.list.get(kept.spilled) else { return };
        ended.segments.iter().filter(|s| !s.is_spilled() && s.live() > 0).for_each(|segment| {
            segment.seal();
            shared.undo.spill(segment);
        });
        kept.spilled += 1;
    }
}

fn clean(shared: &Shared, segment: &Segment) -> Result<()> {
    let mut marks: Vec<(u64, FileId, Vec<u8>)> = Vec::new();
    let mut chains: Vec<(FileId, PageNo, u64)> = Vec::new();
    segment.each(|_, record| {
        if record.undone {
            return;
        }
        if record.kind == Kind::Delete {
            marks.push((record.ver, record.file, record.key.to_vec()));
        }
        chains.extend(record.owned_chain().map(|(page, len)| (record.file, page, len)));
    });
    for (ver, file, key) in marks {
        remove_marked(shared, ver, file, &key)?;
    }
    for (file, page, len) in chains {
        if let Some(_kept) = shared.keep_tree(file) {
            free_chain(&shared.storage, file, page, len)?;
        }
    }
    Ok(())
}

/// Removes the entry that version `ver` marked as deleted, unless it has changed again (I21).
/// Returns whether it did.
pub(crate) fn remove_marked(shared: &Shared, ver: u64, file: FileId, key: &[u8]) -> Result<bool> {
    let Some(kept) = shared.keep_tree(file) else { return Ok(false) };
    let tree = &kept.tree;
    if tree.gate.is_growing() {
        tree.gate.keep_mark();
        return Ok(false);
    }
    let mut long = None;
    let mut removed = false;
    let dead = |value: &[u8]| shared.is_dead(value);
    tree.write(key, 0, true, &mut Hint::default(), &dead, |found, _| match found {
        Some(found) if get_u64(found, 0) == ver && value::is_deleted(found) => {
            long = value::chain_of(found);
            removed = true;
            Decision::Remove
        }
        _ => Decision::Leave,
    })?;
    if let Some((page, len)) = long {
        free_chain(&shared.storage, file, page, len)?;
    }
    if removed {
        tree.merge_if_sparse(key)?;
    }
    Ok(removed)
}
