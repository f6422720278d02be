//! One undo segment: records of one transaction, found by the position in their version words.
//!
//! Its bytes are in memory, in the undo store, or both. A sealed segment gets no new records:
//! pruning drops versions that no snapshot can see, and gives the version above the value that the
//! dropped one had replaced (I22).

use super::record::RowRecord;
use super::state::TrxState;
use super::store::{Place, UndoStore};
use crate::btree::VER_OFFSET_BITS;
use crate::sync::RwLock;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::borrow::Cow;
use std::sync::Arc;

/// Bytes of a full segment: the range that a version word can address.
pub(super) const SEGMENT_BYTES: usize = 1 << VER_OFFSET_BITS;
/// Bytes after which a transaction gets another segment; small in tests, which need many.
const FULL_BYTES: usize = if cfg!(test) { 16 << 10 } else { SEGMENT_BYTES };
/// Segments smaller than this are written into checkpoints instead of the store.
const STORE_BYTES: usize = FULL_BYTES / 16;

/// Result of a search for the value that a version replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Before {
    /// A value, written to the buffer.
    Value,
    /// Nothing: the version is the first.
    Nothing,
    /// The version is no longer here: the version that led to it now leads past it.
    Pruned,
}

#[derive(Default)]
struct Records {
    /// Positions, ascending.
    starts: Vec<u32>,
    /// Position and length of each record's bytes, with length 0 for a pruned one. If `None`,
    /// records start at their positions and end at the next one.
    ranges: Option<Vec<(u32, u32)>>,
    /// Position of the next record.
    end: u32,
    bytes: Vec<u8>,
    /// The same bytes in the store.
    place: Option<Place>,
    /// Whether the bytes are in `bytes`.
    resident: bool,
    /// One bit per record; set if the record was undone.
    undone: Vec<u64>,
    /// Number of records not pruned.
    live: usize,
    /// Bytes of dropped or replaced records.
    garbage: usize,
}

impl Records {
    fn range(&self, at: usize) -> (usize, usize) {
        match &self.ranges {
            Some(ranges) => ranges.get(at).map_or((0, 0), |r| (r.0 as usize, r.1 as usize)),
            None => {
                let from = self.starts.get(at).map_or(self.end, |start| *start);
                let to = self.starts.get(at + 1).map_or(self.end, |start| *start);
                (from as usize, (to - from) as usize)
            }
        }
    }

    fn is_undone(&self, at: usize) -> bool {
        self.undone.get(at / 64).is_some_and(|bits| bits >> (at % 64) & 1 != 0)
    }

    fn mark_undone(&mut self, at: usize) {
        if self.undone.len() <= at / 64 {
            self.undone.resize(at / 64 + 1, 0);
        }
        self.undone[at / 64] |= 1 << (at % 64);
    }

    fn find(&self, ver: u64) -> Option<usize> {
        self.starts.binary_search(&offset_of(ver)).ok()
    }

    /// The index in the store: number of records and end, then position and length of each.
    fn index(&self) -> Vec<u8> {
        let count = self.starts.len();
        let mut out = Vec::with_capacity(8 + 8 * count);
        out.extend_from_slice(&(count as u32).to_le_bytes());
        out.extend_from_slice(&self.end.to_le_bytes());
        for at in 0..count {
            out.extend_from_slice(&self.starts[at].to_le_bytes());
            out.extend_from_slice(&(self.range(at).1 as u32).to_le_bytes());
        }
        out
    }

    /// The bytes of the records without gaps, which follow the index in the store.
    fn packed(&self) -> Cow<'_, [u8]> {
        let Some(ranges) = &self.ranges else { return Cow::Borrowed(&self.bytes) };
        let mut out = Vec::with_capacity(self.bytes.len());
        for (from, len) in ranges {
            let range = *from as usize..(*from + *len) as usize;
            out.extend_from_slice(self.bytes.get(range).unwrap_or(&[]));
        }
        Cow::Owned(out)
    }

    /// Moves the records together and removes the pruned ones.
    fn compact(&mut self) {
        let mut next = Records { end: self.end, resident: true, ..Records::default() };
        let mut ranges = Vec::with_capacity(self.live);
        for at in 0..self.starts.len() {
            let (from, len) = self.range(at);
            let Some(bytes) = self.bytes.get(from..from + len).filter(|b| !b.is_empty()) else {
                continue;
            };
            if self.is_undone(at) {
                next.mark_undone(next.starts.len());
            }
            ranges.push((next.bytes.len() as u32, len as u32));
            next.starts.push(self.starts[at]);
            next.bytes.extend_from_slice(bytes);
        }
        next.live = next.starts.len();
        next.ranges = Some(ranges);
        next.bytes.shrink_to_fit();
        *self = next;
    }
}

fn offset_of(ver: u64) -> u32 {
    (ver & (SEGMENT_BYTES as u64 - 1)) as u32
}

/// A part of one transaction's undo.
pub(crate) struct Segment {
    pub(crate) seq: u64,
    pub(crate) owner: Arc<TrxState>,
    records: RwLock<Records>,
    /// Whether there are delete marks or long values to clean up after the commit.
    pub(crate) leaves_work: AtomicBool,
    /// No record will be added any more.
    sealed: AtomicBool,
    /// Bytes included in the count of memory in use.
    pub(super) counted: AtomicUsize,
    store: Arc<UndoStore>,
}

impl Segment {
    pub(super) fn new(seq: u64, owner: Arc<TrxState>, store: Arc<UndoStore>) -> Segment {
        Segment {
            seq,
            owner,
            records: RwLock::new(Records { resident: true, ..Records::default() }),
            leaves_work: AtomicBool::new(false),
            sealed: AtomicBool::new(false),
            counted: AtomicUsize::new(0),
            store,
        }
    }

    /// Gives the empty segment a buffer for all records that it can get.
    pub(super) fn reserve(&self, mut buffer: Vec<u8>) {
        buffer.clear();
        buffer.reserve_exact(FULL_BYTES);
        self.records.write().bytes = buffer;
    }

    /// Appends a record with a new version word and leaves its encoding in `out`; `None` if it does
    /// not fit.
    pub(crate) fn push(&self, mut record: RowRecord<'_>, out: &mut Vec<u8>) -> Option<u64> {
        let mut records = self.records.write();
        let at = records.bytes.len();
        record.ver = self.seq << VER_OFFSET_BITS | at as u64;
        out.clear();
        record.encode(out);
        if at + out.len() > FULL_BYTES && at > 0 {
            return None;
        }
        records.append(at, out);
        Some(record.ver)
    }

    /// Adds an encoded record at the position of its version word, unless it is there already.
    pub(super) fn restore(&self, ver: u64, payload: &[u8]) {
        let mut records = self.records.write();
        let at = offset_of(ver) as usize;
        if at < records.end as usize || !records.resident {
            return;
        }
        // Records of incomplete mini-transactions are missing and leave gaps.
        records.bytes.resize(at, 0);
        records.append(at, payload);
        if RowRecord::decode(payload).is_some_and(|record| record.undone) {
            let last = records.starts.len() - 1;
            records.mark_undone(last);
        }
    }

    /// Restores the segment from its place in the store.
    pub(super) fn restore_stored(&self, place: Place) -> crate::error::Result<()> {
        let bytes = self.store.read_all(&place)?;
        let word = |at: usize| {
            let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
            u32::from_le_bytes(word.unwrap_or_default())
        };
        let count = word(0) as usize;
        let mut records = self.records.write();
        let mut ranges = Vec::with_capacity(count);
        let mut from = 0;
        for at in 0..count {
            records.starts.push(word(8 + 8 * at));
            let len = word(12 + 8 * at);
            ranges.push((from, len));
            from += len;
        }
        (records.end, records.live) = (word(4), count);
        (records.ranges, records.place, records.resident) = (Some(ranges), Some(place), false);
        self.sealed.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// The version word that the next record would get, if it fits.
    pub(super) fn end(&self) -> u64 {
        self.seq << VER_OFFSET_BITS | u64::from(self.records.read().end)
    }

    /// Bytes in memory.
    pub(super) fn resident_bytes(&self) -> usize {
        let records = self.records.read();
        records.bytes.capacity() + 4 * records.starts.capacity()
    }

    /// Whether its bytes are in the store only.
    pub(super) fn is_spilled(&self) -> bool {
        !self.records.read().resident
    }

    /// Bytes that a checkpoint would have to write.
    pub(super) fn unsaved_bytes(&self) -> usize {
        let records = self.records.read();
        if records.place.is_some() { 0 } else { records.bytes.len() }
    }

    /// Marks the segment as complete: no record will be added.
    pub(super) fn seal(&self) {
        self.sealed.store(true, Ordering::Release);
        let mut records = self.records.write();
        records.bytes.shrink_to_fit();
        records.starts.shrink_to_fit();
    }

    /// Marks record `at` as undone: the cleanup skips it.
    pub(super) fn mark_undone(&self, at: usize) {
        self.records.write().mark_undone(at);
    }

    /// Marks the records in these runs of version words as undone.
    pub(super) fn mark_undone_runs(&self, runs: &[(u64, u64)]) {
        let mut records = self.records.write();
        for (first, last) in runs.iter().filter(|run| run.0 >> VER_OFFSET_BITS == self.seq) {
            let from = records.starts.partition_point(|start| *start < offset_of(*first));
            let to = records.starts.partition_point(|start| *start <= offset_of(*last));
            (from..to).for_each(|at| records.mark_undone(at));
        }
    }

    /// The undone records, as runs of consecutive ones: their first and last version word.
    pub(super) fn undone_runs(&self) -> Vec<(u64, u64)> {
        let records = self.records.read();
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for (at, start) in
            records.starts.iter().enumerate().filter(|(at, _)| records.is_undone(*at))
        {
            let ver = self.seq << VER_OFFSET_BITS | u64::from(*start);
            match runs.last_mut() {
                Some(run) if at > 0 && records.is_undone(at - 1) => run.1 = ver,
                _ => runs.push((ver, ver)),
            }
        }
        runs
    }

    /// Number of records.
    pub(crate) fn len(&self) -> usize {
        self.records.read().starts.len()
    }

    /// Number of records not pruned.
    pub(super) fn live(&self) -> usize {
        self.records.read().live
    }

    /// Calls `with` on record `at`; `None` if it has been pruned.
    pub(crate) fn with<R>(&self, at: usize, with: impl FnOnce(RowRecord<'_>) -> R) -> Option<R> {
        let records = self.records.read();
        let (from, len) = records.range(at);
        let undone = records.is_undone(at);
        if records.resident {
            let bytes = records.bytes.get(from..from + len)?;
            return RowRecord::decode(bytes).map(|record| with(RowRecord { undone, ..record }));
        }
        let mut bytes = vec![0; len];
        let head = 8 + 8 * records.starts.len();
        self.store.read(records.place.as_ref()?, head + from, &mut bytes);
        RowRecord::decode(&bytes).map(|record| with(RowRecord { undone, ..record }))
    }

    /// Calls `with` on every record. The segment must not change meanwhile.
    pub(super) fn each(&self, mut with: impl FnMut(usize, RowRecord<'_>)) {
        let records = self.records.read();
        let (mut loaded, mut head) = (Vec::new(), 0);
        if let (false, Some(place)) = (records.resident, &records.place) {
            loaded.resize(place.len(), 0);
            self.store.read(place, 0, &mut loaded);
            head = 8 + 8 * records.starts.len();
        }
        let bytes = if records.resident { &records.bytes } else { &loaded };
        for at in 0..records.starts.len() {
            let (from, len) = records.range(at);
            let undone = records.is_undone(at);
            let record = bytes.get(head + from..head + from + len).and_then(RowRecord::decode);
            record.into_iter().for_each(|record| with(at, RowRecord { undone, ..record }));
        }
    }

    /// Copies the value that version `ver` replaced to `out`.
    pub(super) fn before(&self, ver: u64, out: &mut Vec<u8>) -> Before {
        let at = self.records.read().find(ver);
        let copy = |record: RowRecord<'_>| {
            out.clear();
            out.extend_from_slice(record.before);
            if record.before.is_empty() { Before::Nothing } else { Before::Value }
        };
        at.and_then(|at| self.with(at, copy)).unwrap_or(Before::Pruned)
    }

    /// Calls `with` on the record of version `ver`.
    pub(super) fn with_version<R>(
        &self,
        ver: u64,
        with: impl FnOnce(RowRecord<'_>) -> R,
    ) -> Option<R> {
        let at = self.records.read().find(ver)?;
        self.with(at, with)
    }

    /// Replaces record `at` by `encoded`, an encoding of the same version.
    pub(super) fn replace(&self, at: usize, encoded: &[u8]) {
        let mut records = self.records.write();
        self.make_sparse(&mut records);
        let from = records.bytes.len() as u32;
        records.bytes.extend_from_slice(encoded);
        let range = (from, encoded.len() as u32);
        let old = records.ranges.as_mut().and_then(|ranges| ranges.get_mut(at));
        let gone = old.map_or(0, |old| std::mem::replace(old, range).1 as usize);
        records.garbage += gone;
    }

    /// Drops record `at`.
    pub(super) fn drop_record(&self, at: usize) {
        let mut records = self.records.write();
        self.make_sparse(&mut records);
        let old = records.ranges.as_mut().and_then(|ranges| ranges.get_mut(at));
        let gone = old.map_or(0, |old| std::mem::take(old).1 as usize);
        if gone > 0 {
            records.garbage += gone;
            records.live -= 1;
        }
    }

    /// Drops the record of version `ver`.
    pub(super) fn drop_version(&self, ver: u64) {
        let at = self.records.read().find(ver);
        if let Some(at) = at {
            self.drop_record(at);
        }
    }

    /// Frees the memory of pruned records. The numbers of records change.
    pub(super) fn compact(&self) {
        let mut records = self.records.write();
        if records.resident && records.garbage > records.bytes.len() / 2 {
            records.compact();
        }
    }

    fn make_sparse(&self, records: &mut Records) {
        if let (false, Some(place)) = (records.resident, records.place.take()) {
            let head = 8 + 8 * records.starts.len();
            records.bytes = vec![0; place.len() - head];
            self.store.read(&place, head, &mut records.bytes);
            records.resident = true;
            self.store.free(place);
        } else if let Some(place) = records.place.take() {
            self.store.free(place);
        }
        if records.ranges.is_none() {
            let range = |at| {
                let (from, len) = records.range(at);
                (from as u32, len as u32)
            };
            records.ranges = Some((0..records.starts.len()).map(range).collect());
        }
    }

    /// Moves the bytes to the store and returns their buffer. A full disk leaves them in memory.
    pub(super) fn spill(&self) -> Option<Vec<u8>> {
        self.save()?;
        let mut records = self.records.write();
        records.place?;
        if records.ranges.is_some() {
            // The store has the records without gaps.
            let mut from = 0;
            for range in records.ranges.iter_mut().flatten() {
                range.0 = from;
                from += range.1;
            }
        }
        records.resident = false;
        Some(std::mem::take(&mut records.bytes))
    }

    /// Writes the bytes to the store, unless they are there or more may come. The caller syncs.
    fn save(&self) -> Option<Place> {
        let records = self.records.read();
        if records.place.is_some() || !self.sealed.load(Ordering::Acquire) {
            return records.place;
        }
        let place = self.store.write(&[&records.index(), &records.packed()])?;
        drop(records);
        self.records.write().place = Some(place);
        Some(place)
    }

    /// For a checkpoint: the segment's place in the store, if it is large enough to be stored.
    pub(super) fn save_if_large(&self) -> Option<Place> {
        let (len, place) = {
            let records = self.records.read();
            (records.bytes.len(), records.place)
        };
        if place.is_some() || len < STORE_BYTES { place } else { self.save() }
    }

    /// Appends the records to a checkpoint's bytes: their number, then length and encoding of each.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let (count_at, mut count) = (out.len(), 0_u32);
        out.extend_from_slice(&[0; 4]);
        self.each(|_, record| {
            let len_at = out.len();
            out.extend_from_slice(&[0; 4]);
            record.encode(out);
            let len = (out.len() - len_at - 4) as u32;
            out[len_at..len_at + 4].copy_from_slice(&len.to_le_bytes());
            count += 1;
        });
        out[count_at..count_at + 4].copy_from_slice(&count.to_le_bytes());
    }
}

impl Records {
    fn append(&mut self, at: usize, bytes: &[u8]) {
        self.starts.push(at as u32);
        self.bytes.extend_from_slice(bytes);
        self.end = self.bytes.len() as u32;
        self.live += 1;
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        if let Some(place) = self.records.get_mut().place.take() {
            self.store.free(place);
        }
    }
}
