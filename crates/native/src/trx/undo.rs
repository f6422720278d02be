//! All undo segments, found by sequence number.
//!
//! A segment is removed when all readers see its changes, when they are undone, or when they are
//! pruned.

use super::segment::Segment;
use super::state::TrxState;
use super::store::{Place, UndoStore};
use crate::btree::VER_OFFSET_BITS;
use crate::error::Result;
use crate::ids::FileId;
use crate::storage::Storage;
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::sync::{Mutex, RwLock};
use hashbrown::HashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

const SHARDS: usize = 64;

/// The sequence of the segment that a version word names.
pub(crate) fn seq_of(ver: u64) -> u64 {
    ver >> VER_OFFSET_BITS
}

type Shard = RwLock<HashMap<u64, Arc<Segment>, foldhash::fast::RandomState>>;

/// All segments that may still be needed.
pub(crate) struct Undo {
    shards: Box<[Shard]>,
    /// Sequences of the segments in `shards`, to find the lowest.
    live: Mutex<BTreeSet<u64>>,
    next: AtomicU64,
    reclaimed: AtomicU64,
    /// Grows after a version is led past and before it is dropped. A reader that sees it grow on
    /// its way starts again.
    epoch: AtomicU64,
    pub(crate) store: Arc<UndoStore>,
    /// Bytes in memory of segments of history and of transactions with more than one segment.
    memory: AtomicUsize,
    budget: AtomicUsize,
    /// Buffer of the segment that was spilled last: a transaction that spills its segments fills
    /// one buffer again and again, and the system need not clear pages for each.
    spare: Mutex<Vec<u8>>,
    /// Number of versions dropped between snapshots.
    pub(crate) pruned: AtomicU64,
    /// Number of segments removed.
    pub(crate) removed: AtomicU64,
    /// Number of segments moved out of memory.
    pub(crate) spilled: AtomicU64,
}

impl Undo {
    /// An empty undo with sequences from `next` on. `stored` are the places that recovery found in
    /// use.
    pub(crate) fn new(next: u64, storage: &Arc<Storage>, stored: &[Place]) -> Result<Undo> {
        Ok(Undo {
            shards: (0..SHARDS).map(|_| RwLock::default()).collect(),
            live: Mutex::default(),
            next: AtomicU64::new(next),
            reclaimed: AtomicU64::new(next),
            epoch: AtomicU64::new(0),
            store: UndoStore::open(storage.clone(), stored)?,
            memory: AtomicUsize::new(0),
            budget: AtomicUsize::new(usize::MAX),
            spare: Mutex::default(),
            pruned: AtomicU64::new(0),
            removed: AtomicU64::new(0),
            spilled: AtomicU64::new(0),
        })
    }

    fn shard(&self, seq: u64) -> &Shard {
        &self.shards[seq as usize % SHARDS]
    }

    /// Creates a segment for `owner`.
    pub(crate) fn allocate(&self, owner: &Arc<TrxState>) -> Arc<Segment> {
        let mut live = self.live.lock();
        let seq = self.next.fetch_add(1, Ordering::SeqCst);
        let segment = Arc::new(Segment::new(seq, owner.clone(), self.store.clone()));
        self.shard(seq).write().insert(seq, segment.clone());
        live.insert(seq);
        segment
    }

    /// Creates a segment for `owner`, which has filled others: more is to be expected.
    pub(crate) fn allocate_next(&self, owner: &Arc<TrxState>) -> Arc<Segment> {
        let segment = self.allocate(owner);
        segment.reserve(std::mem::take(&mut self.spare.lock()));
        segment
    }

    /// Recreates a segment from before a restart. There are no readers yet, so `reclaimed` may
    /// decrease.
    pub(super) fn adopt(&self, seq: u64, owner: &Arc<TrxState>) -> Arc<Segment> {
        let segment = Arc::new(Segment::new(seq, owner.clone(), self.store.clone()));
        self.live.lock().insert(seq);
        self.reclaimed.fetch_min(seq, Ordering::AcqRel);
        self.shard(seq).write().insert(seq, segment.clone());
        segment
    }

    pub(crate) fn get(&self, seq: u64) -> Option<Arc<Segment>> {
        self.shard(seq).read().get(&seq).cloned()
    }

    /// Removes segments whose changes all readers see, were undone, or no reader can see any more.
    pub(crate) fn remove(&self, seqs: impl Iterator<Item = u64>) {
        let mut live = self.live.lock();
        for seq in seqs {
            if let Some(segment) = self.shard(seq).write().remove(&seq) {
                self.memory.fetch_sub(segment.counted.swap(0, Ordering::AcqRel), Ordering::Relaxed);
                self.removed.fetch_add(1, Ordering::Relaxed);
            }
            live.remove(&seq);
        }
        let lowest = live.first().copied();
        let lowest = lowest.unwrap_or_else(|| self.next.load(Ordering::SeqCst));
        self.reclaimed.fetch_max(lowest, Ordering::Release);
    }

    /// Versions of lower sequences are visible to all readers.
    pub(crate) fn reclaimed(&self) -> u64 {
        self.reclaimed.load(Ordering::Acquire)
    }

    /// First of the sequences that have never been used.
    pub(crate) fn next(&self) -> u64 {
        self.next.load(Ordering::SeqCst)
    }

    /// Number of segments in use.
    pub(crate) fn len(&self) -> usize {
        self.live.lock().len()
    }

    pub(super) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    pub(super) fn next_epoch(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// Segments of transactions that have not ended.
    pub(super) fn active(&self) -> Vec<Arc<Segment>> {
        let mut found = Vec::new();
        for shard in &self.shards {
            let shard = shard.read();
            found.extend(shard.values().filter(|s| s.owner.is_active()).cloned());
        }
        found.sort_by_key(|segment| segment.seq);
        found
    }

    /// Calls `with` on the file and the replaced value of every change in all segments.
    pub(crate) fn each_value(&self, mut with: impl FnMut(FileId, &[u8])) {
        for shard in &self.shards {
            let segments: Vec<_> = shard.read().values().cloned().collect();
            segments.iter().for_each(|segment| {
                segment.each(|_, record| {
                    if !record.before.is_empty() {
                        with(record.file, record.before);
                    }
                });
            });
        }
    }

    /// Approximate bytes of undo of active transactions that a checkpoint would write; 0 if there
    /// are few segments.
    pub(crate) fn active_bytes(&self) -> usize {
        let few = self.live.lock().len() < 8;
        if few { 0 } else { self.active().iter().map(|segment| segment.unsaved_bytes()).sum() }
    }

    /// The transaction that wrote version `ver`, if it is active.
    pub(crate) fn active_owner(&self, ver: u64) -> Option<Arc<TrxState>> {
        let seq = seq_of(ver);
        if seq < self.reclaimed() {
            return None;
        }
        self.get(seq).map(|segment| segment.owner.clone()).filter(|owner| owner.is_active())
    }

    /// Sets the memory budget of the segments.
    pub(crate) fn set_budget(&self, bytes: usize) {
        self.budget.store(bytes, Ordering::Relaxed);
    }

    /// Bytes of segments in memory.
    pub(crate) fn memory(&self) -> usize {
        self.memory.load(Ordering::Relaxed)
    }

    /// Updates the memory count of `segment`.
    pub(super) fn count(&self, segment: &Segment) {
        let now = segment.resident_bytes();
        let before = segment.counted.swap(now, Ordering::AcqRel);
        self.memory.fetch_add(now.wrapping_sub(before), Ordering::Relaxed);
    }

    /// Seals a segment when its transaction needs another one, and spills it if memory is short.
    pub(super) fn seal(&self, segment: &Segment) {
        segment.seal();
        self.count(segment);
        if self.is_over_budget() {
            self.spill(segment);
        }
    }

    /// Whether the segments exceed their memory budget.
    pub(super) fn is_over_budget(&self) -> bool {
        self.memory() > self.budget.load(Ordering::Relaxed)
    }

    /// Moves a segment out of memory.
    pub(super) fn spill(&self, segment: &Segment) {
        if let Some(buffer) = segment.spill() {
            self.spilled.fetch_add(1, Ordering::Relaxed);
            let mut spare = self.spare.lock();
            if buffer.capacity() > spare.capacity() {
                *spare = buffer;
            }
        }
        self.count(segment);
    }
}
