//! The ring that committers copy their groups into, and the positions up to which each step is
//! done:
//!
//! ```text
//! durable <= written <= completed <= tail
//! ```
//!
//! A committer publishes a lower bound of its position in an in-flight slot, reserves its range
//! with one fetch-add on `tail`, copies, and clears the slot. `completed` is the smallest published
//! slot, or, when none is published, a tail read before the slots: everything below it has been
//! copied. No lock is taken, and no two committers write the same bytes.
//!
//! Rejected: a latch around the copy (the log latch is the classic bottleneck), and logs per thread
//! (snapshots and the binlog would need a new order to merge them).

use super::group::{BLOCK, GROUP_HEADER_LEN, group_header, group_len};
use super::order::{OrderLock, assert_no_order_lock};
use super::segment::Segments;
use crate::error::{Result, StorageError};
use crate::ids::Lsn;
use crate::pool::{Arena, Backoff};
use crate::stripe::Striped;
use crate::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use crate::sync::{Condvar, Mutex};
use std::cell::Cell;

/// Committers that can be between reservation and end of copy at the same time.
const SLOTS: usize = crate::sync::capacity(128, 3);
const FREE: u64 = u64::MAX;

#[repr(align(64))]
struct Padded<T>(T);

/// The in-flight slots: a lower bound of the position of each committer between reservation and end
/// of copy.
struct Slots {
    bounds: Box<[Padded<AtomicU64>]>,
    /// Number of slots that have ever been occupied.
    used: AtomicUsize,
}

impl Slots {
    fn new() -> Slots {
        let bounds = (0..SLOTS).map(|_| Padded(AtomicU64::new(FREE))).collect();
        Slots { bounds, used: AtomicUsize::new(0) }
    }

    fn set(&self, slot: usize, bound: u64) {
        self.bounds[slot].0.store(bound, Ordering::SeqCst);
    }

    /// Occupies a slot unless it is not free.
    fn occupy(&self, slot: usize, bound: impl FnOnce() -> u64) -> bool {
        if self.used.load(Ordering::Relaxed) <= slot {
            self.used.fetch_max(slot + 1, Ordering::SeqCst);
        }
        let (cell, bound) = (&self.bounds[slot].0, bound());
        cell.compare_exchange(FREE, bound, Ordering::SeqCst, Ordering::Relaxed).is_ok()
    }

    /// The lowest bound of all.
    fn lowest(&self) -> u64 {
        let used = self.used.load(Ordering::SeqCst);
        let bounds = self.bounds[..used].iter().map(|bound| bound.0.load(Ordering::SeqCst));
        bounds.min().unwrap_or(FREE)
    }
}

/// The write-ahead log of one engine.
pub(crate) struct Log {
    pub(super) segments: Segments,
    ring: Arena,
    tail: Padded<AtomicU64>,
    pub(super) order: OrderLock,
    slots: Slots,
    /// The highest value of `completed` returned so far.
    completed: AtomicU64,
    pub(super) epoch: u32,
    pub(super) written: AtomicU64,
    pub(super) durable: AtomicU64,
    /// Whether a leader is flushing.
    pub(super) flushing: Mutex<bool>,
    pub(super) flushed: Condvar,
    pub(super) mode: AtomicU8,
    /// Flushes that made the log durable.
    pub(crate) syncs: AtomicU64,
    /// Groups reserved.
    pub(crate) groups: Striped,
    /// Number of waits for room in the ring.
    pub(crate) waits: AtomicU64,
}

/// Most bytes of a rider, however large the log buffer is: more would delay other commits.
const MOST_RIDER_BYTES: usize = 1 << 20;

/// A reserved piece of the stream. It counts as in flight until dropped.
pub(crate) struct Reserved<'l> {
    log: &'l Log,
    slot: usize,
    /// First byte of the group.
    pub(crate) start: Lsn,
    /// First byte after the group: the LSN of its changes.
    pub(crate) end: Lsn,
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.log.slots.set(self.slot, FREE);
    }
}

impl Log {
    /// A log that continues at `start`, a block boundary; everything before it is durable. `ring`
    /// is the size of the buffer in bytes.
    pub(crate) fn new(segments: Segments, start: Lsn, epoch: u32, ring: usize) -> Result<Log> {
        assert!(start.0.is_multiple_of(BLOCK), "the log goes on at a block boundary");
        let ring = Arena::new(ring.next_multiple_of(BLOCK as usize).max(16 * BLOCK as usize));
        segments.settle(start);
        Ok(Log {
            segments,
            ring: ring.map_err(|e| StorageError::io("log buffer", e))?,
            tail: Padded(AtomicU64::new(start.0)),
            order: OrderLock::default(),
            slots: Slots::new(),
            completed: AtomicU64::new(start.0),
            epoch,
            written: AtomicU64::new(start.0),
            durable: AtomicU64::new(start.0),
            flushing: Mutex::new(false),
            flushed: Condvar::new(),
            mode: AtomicU8::new(1),
            syncs: AtomicU64::new(0),
            groups: Striped::default(),
            waits: AtomicU64::new(0),
        })
    }

    /// First position not yet reserved.
    pub(crate) fn tail(&self) -> Lsn {
        Lsn(self.tail.0.load(Ordering::SeqCst))
    }

    /// Everything below this survives a crash.
    pub(crate) fn durable(&self) -> Lsn {
        Lsn(self.durable.load(Ordering::Acquire))
    }

    /// Everything below this has been handed to the operating system.
    pub(crate) fn written(&self) -> Lsn {
        Lsn(self.written.load(Ordering::Acquire))
    }

    /// The epoch of the current run of the log.
    pub(crate) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The segment files.
    pub(crate) fn segments(&self) -> &Segments {
        &self.segments
    }

    /// Log space that is always kept free on disk.
    pub(super) fn reserve_bytes(&self) -> u64 {
        2 * self.ring.len() as u64
    }

    /// The largest payload one group may have.
    pub(crate) fn max_payload(&self) -> usize {
        self.ring.len() / 4 - GROUP_HEADER_LEN - 8
    }

    /// The most bytes a rider may bring. The rest of its group is for the commit's own record.
    pub(crate) fn most_rider_bytes(&self) -> usize {
        MOST_RIDER_BYTES.min(self.max_payload() / 4)
    }

    /// Everything below this is complete: reserved, copied, and its effects published. Never
    /// decreases, so it can serve as a snapshot. The tail is read before the slots (I4): a group
    /// below that tail published its slot before it moved the tail.
    pub(crate) fn completed(&self) -> Lsn {
        let now = self.scan_completed();
        // A committer that publishes its bound late makes the slots look older than the value seen
        // before.
        let known = self.completed.load(Ordering::SeqCst);
        if now.0 > known {
            return Lsn(self.completed.fetch_max(now.0, Ordering::SeqCst).max(now.0));
        }
        Lsn(known)
    }

    fn scan_completed(&self) -> Lsn {
        let tail = self.tail();
        Lsn(self.slots.lowest().min(tail.0))
    }

    /// Publishes a slot whose bound, the tail, is not above the position reserved next.
    fn enter(&self) -> usize {
        let first = thread_slot();
        let mut backoff = Backoff::new();
        loop {
            for slot in (0..SLOTS).map(|n| (first + n) % SLOTS) {
                if self.slots.occupy(slot, || self.tail().0) {
                    return slot;
                }
            }
            assert_no_order_lock();
            backoff.wait();
        }
    }

    fn reserved(&self, slot: usize, start: u64, end: u64) -> Reserved<'_> {
        self.slots.set(slot, start);
        Reserved { log: self, slot, start: Lsn(start), end: Lsn(end) }
    }

    /// Takes the next place in the stream for a thread that has entered.
    fn take(&self, slot: usize, payload: usize) -> (Lsn, Lsn) {
        let len = group_len(payload) as u64;
        self.groups.add_about(1);
        let start = self.tail.0.fetch_add(len, Ordering::SeqCst);
        self.slots.set(slot, start);
        (Lsn(start), Lsn(start + len))
    }

    /// Reserves the place of a group. Called with the page latches held, so that log order is page
    /// order (I3).
    pub(crate) fn reserve(&self, payload: usize) -> Reserved<'_> {
        assert!(
            payload <= self.max_payload(),
            "a mini-transaction larger than the log buffer allows"
        );
        let slot = self.enter();
        let (start, end) = self.take(slot, payload);
        let reserved = Reserved { log: self, slot, start, end };
        self.wait_for_room(end);
        reserved
    }

    /// Reserves the place of a group whose payload is as long as `place` says. No other call of
    /// this function comes between `place` and the reservation, so the order of places is the order
    /// of groups. If `place` fails, nothing is reserved. The caller waits for room.
    pub(crate) fn reserve_in_order<E>(
        &self,
        place: impl FnOnce() -> std::result::Result<usize, E>,
    ) -> std::result::Result<Reserved<'_>, E> {
        // A slot may be a while in coming, so it is there before the lock is taken.
        let mut reserved = Reserved { log: self, slot: self.enter(), start: Lsn(0), end: Lsn(0) };
        self.order.under(|| {
            let payload = place()?;
            assert!(payload <= self.max_payload(), "a commit larger than the log buffer allows");
            (reserved.start, reserved.end) = self.take(reserved.slot, payload);
            self.order.end.store(reserved.end.0, Ordering::Relaxed);
            Ok(reserved)
        })
    }

    /// Returns when every rider that has its place by now has its place in the log too.
    pub(crate) fn wait_for_order(&self) {
        self.order.under(|| ());
    }

    /// Copies a group into its place.
    pub(crate) fn fill(&self, to: &Reserved<'_>, payload: &[u8], payload_crc: u32) {
        let len = payload.len() as u32;
        let header = group_header(payload_crc, len, to.start, self.epoch, self.durable());
        self.copy(to.start, &header);
        self.copy(Lsn(to.start.0 + GROUP_HEADER_LEN as u64), payload);
        let used = to.start.0 + (GROUP_HEADER_LEN + payload.len()) as u64;
        self.copy(Lsn(used), &[0; 8][..(to.end.0 - used) as usize]);
    }

    /// Appends a group that changes no page.
    #[cfg(test)]
    pub(crate) fn append(&self, payload: &[u8]) -> Lsn {
        let crc = crc32c::crc32c(payload);
        let reserved = self.reserve(payload.len());
        self.fill(&reserved, payload, crc);
        reserved.end
    }

    /// Reserves the bytes up to the next block boundary, unless the tail is on one.
    pub(super) fn reserve_padding(&self) -> Option<Reserved<'_>> {
        let slot = self.enter();
        let mut tail = self.tail().0;
        loop {
            let end = tail.next_multiple_of(BLOCK);
            if end == tail {
                self.slots.set(slot, FREE);
                return None;
            }
            match self.tail.0.compare_exchange(tail, end, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => return Some(self.reserved(slot, tail, end)),
                Err(now) => tail = now,
            }
        }
    }

    /// Waits until the ring can take bytes below `end`. The log's writer needs no page latch, so
    /// waiting here under latches cannot deadlock; `Mtr::begin` makes it rare.
    pub(crate) fn wait_for_room(&self, end: Lsn) {
        assert_no_order_lock();
        if self.has_room(end) {
            return;
        }
        self.waits.fetch_add(1, Ordering::Relaxed);
        let mut backoff = Backoff::new();
        while !self.has_room(end) {
            if !self.write_completed() {
                backoff.wait();
            }
        }
    }

    /// Whether the ring has room for bytes below `end`.
    pub(super) fn has_room(&self, end: Lsn) -> bool {
        end.0 <= self.written().0 + self.ring.len() as u64
    }

    /// Whether more than half of the ring is not written yet: time to flush before taking latches.
    pub(crate) fn is_crowded(&self) -> bool {
        // In this order: the tail of an earlier moment may be below what is written now.
        let written = self.written().0;
        self.tail().0 - written > self.ring.len() as u64 / 2
    }

    /// Copies into the ring. The range is reserved by this thread and not yet written out.
    pub(super) fn copy(&self, at: Lsn, bytes: &[u8]) {
        let start = (at.0 % self.ring.len() as u64) as usize;
        let first = bytes.len().min(self.ring.len() - start);
        if first > 0 {
            // SAFETY: the range is inside the ring. It belongs to one reservation, whose holder
            // alone writes it. It is read only after its slot was cleared, and reused only after it
            // was written out.
            unsafe {
                self.ring
                    .at(start)
                    .copy_from_nonoverlapping(std::ptr::NonNull::from(bytes).cast(), first)
            };
        }
        if first < bytes.len() {
            let rest = &bytes[first..];
            // SAFETY: as above; the reservation wraps around to the ring's start.
            unsafe {
                self.ring
                    .at(0)
                    .copy_from_nonoverlapping(std::ptr::NonNull::from(rest).cast(), rest.len())
            };
        }
    }

    /// Writes completed bytes `[from, upto)` to the segments.
    pub(super) fn write_out(&self, from: Lsn, upto: Lsn, durable: bool) {
        let mut at = from.0;
        while at < upto.0 {
            let start = (at % self.ring.len() as u64) as usize;
            let len = (upto.0 - at).min((self.ring.len() - start) as u64) as usize;
            // SAFETY: below `completed`, so no thread writes these bytes any more, and not below
            // `written`, so no thread reuses them before this call has ended.
            let bytes = unsafe { std::slice::from_raw_parts(self.ring.at(start).as_ptr(), len) };
            self.segments.write(Lsn(at), bytes, durable);
            at += len as u64;
        }
        self.written.store(upto.0, Ordering::Release);
    }
}

/// The slot this thread tries first, so that threads rarely meet.
fn thread_slot() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! { static MINE: Cell<usize> = Cell::new(NEXT.fetch_add(1, Ordering::Relaxed)) }
    MINE.with(Cell::get) % SLOTS
}
