//! Undo segments: what transactions have changed, in memory, found by sequence number.

use super::record::RowRecord;
use super::state::TrxState;
use crate::btree::VER_OFFSET_BITS;
use hashbrown::HashMap;
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes of a full segment: what the version word can address.
const SEGMENT_BYTES: usize = 1 << VER_OFFSET_BITS;
const SHARDS: usize = 64;

/// The segment a version word names.
pub(crate) fn seq_of(ver: u64) -> u64 {
    ver >> VER_OFFSET_BITS
}

#[derive(Default)]
struct Records {
    bytes: Vec<u8>,
    starts: Vec<u32>,
}

/// A piece of one transaction's undo.
pub(crate) struct Segment {
    pub(crate) seq: u64,
    pub(crate) owner: Arc<TrxState>,
    records: RwLock<Records>,
    /// Whether there are delete marks or long values to clean up behind the commit.
    pub(crate) leaves_work: AtomicBool,
}

impl Segment {
    fn new(seq: u64, owner: Arc<TrxState>) -> Segment {
        let records = RwLock::default();
        Segment { seq, owner, records, leaves_work: AtomicBool::new(false) }
    }

    /// Appends a record, giving it its version word, and leaves its encoding in `out`; false if it does not fit.
    pub(crate) fn push(&self, mut record: RowRecord<'_>, out: &mut Vec<u8>) -> Option<u64> {
        let mut records = self.records.write();
        let at = records.bytes.len();
        record.ver = self.seq << VER_OFFSET_BITS | at as u64;
        out.clear();
        record.encode(out);
        if at + out.len() > SEGMENT_BYTES && at > 0 {
            return None;
        }
        records.starts.push(at as u32);
        records.bytes.extend_from_slice(out);
        Some(record.ver)
    }

    /// Appends an encoded record at the place its version word names, unless it is there already.
    pub(super) fn restore(&self, ver: u64, payload: &[u8]) -> bool {
        let mut records = self.records.write();
        let at = (ver & (SEGMENT_BYTES as u64 - 1)) as usize;
        if at < records.bytes.len() {
            return true;
        }
        // Records of mini-transactions that never became complete leave gaps.
        records.bytes.resize(at, 0);
        records.starts.push(at as u32);
        records.bytes.extend_from_slice(payload);
        true
    }

    /// The version word that the next record would get, if it fits.
    pub(super) fn end(&self) -> u64 {
        self.seq << VER_OFFSET_BITS | self.bytes() as u64
    }

    fn bytes(&self) -> usize {
        self.records.read().bytes.len()
    }

    /// Notes that record `at` has been taken back: nothing is to be cleaned up behind it.
    pub(super) fn mark_undone(&self, at: usize) {
        let mut records = self.records.write();
        if let Some(&from) = records.starts.get(at) {
            RowRecord::mark_undone(&mut records.bytes[from as usize..]);
        }
    }

    /// Notes that the records with these version words have been taken back.
    pub(super) fn mark_undone_versions(&self, versions: &[u64]) {
        let mut records = self.records.write();
        for ver in versions.iter().filter(|ver| seq_of(**ver) == self.seq) {
            let from = (ver & (SEGMENT_BYTES as u64 - 1)) as usize;
            if let Some(record) = records.bytes.get_mut(from..) {
                RowRecord::mark_undone(record);
            }
        }
    }

    /// Number of records.
    pub(crate) fn len(&self) -> usize {
        self.records.read().starts.len()
    }

    /// Calls `with` on record `at`.
    pub(crate) fn with<R>(&self, at: usize, with: impl FnOnce(RowRecord<'_>) -> R) -> Option<R> {
        let records = self.records.read();
        let from = *records.starts.get(at)? as usize;
        let to = records.starts.get(at + 1).map_or(records.bytes.len(), |next| *next as usize);
        RowRecord::decode(records.bytes.get(from..to)?).map(with)
    }

    /// The value that the version `ver` replaced, written to `out`; false if there was none.
    pub(super) fn before(&self, ver: u64, out: &mut Vec<u8>) -> bool {
        let records = self.records.read();
        let from = (ver & (SEGMENT_BYTES as u64 - 1)) as u32;
        let Ok(at) = records.starts.binary_search(&from) else { return false };
        let to = records.starts.get(at + 1).map_or(records.bytes.len(), |next| *next as usize);
        let record = records.bytes.get(from as usize..to).and_then(RowRecord::decode);
        out.clear();
        record.iter().for_each(|record| out.extend_from_slice(record.before));
        record.is_some_and(|record| !record.before.is_empty())
    }

    /// All bytes, and where records start.
    pub(super) fn copy(&self) -> (Vec<u8>, Vec<u32>) {
        let records = self.records.read();
        (records.bytes.clone(), records.starts.clone())
    }
}

type Shard = RwLock<HashMap<u64, Arc<Segment>, foldhash::fast::RandomState>>;

/// All segments that somebody may still need.
pub(crate) struct Undo {
    shards: Box<[Shard]>,
    /// Sequences of `shards`, to know the lowest.
    live: Mutex<BTreeSet<u64>>,
    next: AtomicU64,
    reclaimed: AtomicU64,
}

impl Undo {
    /// Nothing yet; sequences from `next` on.
    pub(crate) fn new(next: u64) -> Undo {
        Undo {
            shards: (0..SHARDS).map(|_| RwLock::default()).collect(),
            live: Mutex::default(),
            next: AtomicU64::new(next),
            reclaimed: AtomicU64::new(next),
        }
    }

    fn shard(&self, seq: u64) -> &Shard {
        &self.shards[seq as usize % SHARDS]
    }

    /// A new segment of `owner`.
    pub(crate) fn allocate(&self, owner: &Arc<TrxState>) -> Arc<Segment> {
        let mut live = self.live.lock();
        let seq = self.next.fetch_add(1, Ordering::SeqCst);
        let segment = Arc::new(Segment::new(seq, owner.clone()));
        self.shard(seq).write().insert(seq, segment.clone());
        live.insert(seq);
        segment
    }

    /// A segment that existed before a restart. Nobody reads yet, so `reclaimed` may go back.
    pub(super) fn adopt(&self, seq: u64, owner: &Arc<TrxState>) -> Arc<Segment> {
        let segment = Arc::new(Segment::new(seq, owner.clone()));
        self.live.lock().insert(seq);
        self.reclaimed.fetch_min(seq, Ordering::AcqRel);
        self.shard(seq).write().insert(seq, segment.clone());
        segment
    }

    pub(crate) fn get(&self, seq: u64) -> Option<Arc<Segment>> {
        self.shard(seq).read().get(&seq).cloned()
    }

    /// Forgets segments: everybody sees what they changed, or it has been undone.
    pub(crate) fn remove(&self, seqs: impl Iterator<Item = u64>) {
        let mut live = self.live.lock();
        for seq in seqs {
            self.shard(seq).write().remove(&seq);
            live.remove(&seq);
        }
        let lowest = live.first().copied();
        let lowest = lowest.unwrap_or_else(|| self.next.load(Ordering::SeqCst));
        self.reclaimed.fetch_max(lowest, Ordering::Release);
    }

    /// Versions of lower sequences are visible to everybody.
    pub(crate) fn reclaimed(&self) -> u64 {
        self.reclaimed.load(Ordering::Acquire)
    }

    /// Sequences from here on have never been used.
    pub(crate) fn next(&self) -> u64 {
        self.next.load(Ordering::SeqCst)
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

    /// Bytes of undo of transactions that have not ended, about.
    pub(crate) fn active_bytes(&self) -> usize {
        let few = self.live.lock().len() < 8;
        if few { 0 } else { self.active().iter().map(|segment| segment.bytes()).sum() }
    }

    /// The transaction that wrote version `ver`, if it has not ended.
    pub(crate) fn active_owner(&self, ver: u64) -> Option<Arc<TrxState>> {
        let seq = seq_of(ver);
        if seq < self.reclaimed() {
            return None;
        }
        self.get(seq).map(|segment| segment.owner.clone()).filter(|owner| owner.is_active())
    }
}
