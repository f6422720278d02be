//! Cleaning up behind commits that everybody sees: delete marks, long values that were replaced, undo itself.

use super::record::Kind;
use super::undo::Segment;
use crate::btree::{Decision, Hint, free_chain};
use crate::engine::Shared;
use crate::error::Result;
use crate::ids::FileId;
use crate::page::get_u64;
use crate::table::value;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

struct Ended {
    lsn: u64,
    segments: Vec<Arc<Segment>>,
}

/// Commits not yet cleaned up, about in their order.
#[derive(Default)]
pub(crate) struct PurgeQueue {
    queue: Mutex<VecDeque<Ended>>,
    /// Held by whoever cleans up.
    busy: Mutex<()>,
}

impl PurgeQueue {
    pub(crate) fn push(&self, lsn: u64, segments: Vec<Arc<Segment>>) {
        if !segments.is_empty() {
            self.queue.lock().push_back(Ended { lsn, segments });
        }
    }

    /// Transactions waiting: the length of the history.
    pub(crate) fn len(&self) -> usize {
        self.queue.lock().len()
    }
}

/// Cleans up everything that no snapshot needs; whether there was anything.
pub(crate) fn purge_step(shared: &Shared) -> Result<bool> {
    let Some(_busy) = shared.purge.busy.try_lock() else { return Ok(false) };
    let mut any = false;
    let mut gone = Vec::new();
    let horizon = shared.snapshots.horizon(shared.storage.log());
    loop {
        let ended = {
            let mut queue = shared.purge.queue.lock();
            match queue.front() {
                Some(front) if front.lsn <= horizon => queue.pop_front(),
                _ => None,
            }
        };
        let Some(ended) = ended else { break };
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

fn clean(shared: &Shared, segment: &Segment) -> Result<()> {
    for at in 0..segment.len() {
        let work = segment.with(at, |record| match record.kind {
            _ if record.undone => None,
            Kind::Delete => Some((record.ver, record.file, record.key.to_vec(), None)),
            Kind::Update => value::chain_of(record.before)
                .map(|chain| (record.ver, record.file, Vec::new(), Some(chain))),
            Kind::Insert => None,
        });
        match work.flatten() {
            Some((ver, file, key, None)) => remove_marked(shared, ver, file, &key)?,
            Some((_, file, _, Some((page, len)))) if shared.tree(file).is_some() => {
                free_chain(&shared.storage, file, page, len)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Removes the entry that version `ver` marked as deleted, unless it has changed again (I21).
fn remove_marked(shared: &Shared, ver: u64, file: FileId, key: &[u8]) -> Result<()> {
    let Some((tree, _)) = shared.tree(file) else { return Ok(()) };
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
    Ok(())
}
