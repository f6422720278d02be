//! Makes the log durable by greedy group commit: a thread that needs a position which is not
//! durable becomes the leader if no flush runs, and flushes everything complete so far. The others
//! sleep until that flush ends. Batches form by themselves at the speed of the device, so there is
//! no delay to tune.
//!
//! A flush closes the last block with padding and never writes that block again (I8).

use super::buffer::Log;
use super::group::{BLOCK, pad_header};
use super::order::assert_no_order_lock;
use crate::error::Result;
use crate::ids::Lsn;
use crate::pool::Backoff;
use crate::sync::atomic::Ordering;

/// Padding bytes of a block.
static ZEROS: [u8; BLOCK as usize] = [0; BLOCK as usize];

/// The event after which a commit is acknowledged: `innodb_flush_log_at_trx_commit`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum FlushMode {
    /// 0: at once; the log is written and synced once a second.
    EverySecond = 0,
    /// 1: when the commit is durable.
    AtCommit = 1,
    /// 2: when it is written to the operating system; the log is synced once a second.
    WriteAtCommit = 2,
}

impl Log {
    /// The current mode.
    pub(crate) fn mode(&self) -> FlushMode {
        match self.mode.load(Ordering::Relaxed) {
            0 => FlushMode::EverySecond,
            2 => FlushMode::WriteAtCommit,
            _ => FlushMode::AtCommit,
        }
    }

    /// Changes the mode for later commits.
    pub(crate) fn set_mode(&self, mode: FlushMode) {
        self.mode.store(mode as u8, Ordering::Relaxed);
    }

    /// Lets commits with riders wait for durability in every mode if `commits` is 1: each of them
    /// is synced then (`sync_binlog`).
    pub(crate) fn sync_riders_each(&self, commits: u64) {
        self.order.syncs.store(commits == 1, Ordering::Relaxed);
    }

    /// The mode for a commit. One without a rider counts as one with a rider if a rider has come
    /// after it.
    fn mode_of(&self, lsn: Lsn) -> FlushMode {
        let mode = self.mode();
        let syncs = mode != FlushMode::AtCommit
            && self.order.syncs.load(Ordering::Relaxed)
            && lsn.0 <= self.order.end.load(Ordering::Relaxed);
        if syncs { FlushMode::AtCommit } else { mode }
    }

    /// Waits, according to the mode, until a commit may be acknowledged. Hold no latch.
    pub(crate) fn settle_commit(&self, lsn: Lsn) {
        match self.mode_of(lsn) {
            FlushMode::EverySecond => {}
            FlushMode::AtCommit => self.flush_upto(lsn),
            FlushMode::WriteAtCommit => self.write_upto(lsn),
        }
    }

    /// Whether [`Self::settle_commit`] would return at once.
    pub(crate) fn is_settled(&self, lsn: Lsn) -> bool {
        match self.mode_of(lsn) {
            FlushMode::EverySecond => true,
            FlushMode::AtCommit => self.durable() >= lsn,
            FlushMode::WriteAtCommit => self.written() >= lsn,
        }
    }

    /// Returns when everything below `lsn` is durable. Hold no latch.
    pub(crate) fn flush_upto(&self, lsn: Lsn) {
        self.lead_until(|| self.durable() >= lsn, true);
    }

    /// Returns when everything below `lsn` has reached the operating system.
    pub(crate) fn write_upto(&self, lsn: Lsn) {
        self.lead_until(|| self.written() >= lsn, false);
    }

    /// Makes everything reserved so far durable, and returns its end.
    pub(crate) fn flush_all(&self) -> Lsn {
        let tail = self.tail();
        self.flush_upto(tail);
        tail
    }

    /// Keeps a whole segment ready beyond the tail. The log thread calls it.
    pub(crate) fn prepare_ahead(&self) -> Result<()> {
        self.segments.prepare(Lsn(self.tail().0 + self.segments.capacity()))
    }

    /// Makes sure that there is space on disk for the changes before the next check (I13): those in
    /// progress and a rollback. Each takes at most the size of the log buffer.
    pub(crate) fn ensure_space(&self) -> Result<()> {
        let needed = Lsn(self.tail().0 + self.reserve_bytes());
        if self.segments.prepared() >= needed { Ok(()) } else { self.segments.prepare(needed) }
    }

    fn lead_until(&self, done: impl Fn() -> bool, sync: bool) {
        assert_no_order_lock();
        if done() {
            return;
        }
        let mut flushing = self.flushing.lock();
        while !done() {
            if *flushing {
                self.flushed.wait(&mut flushing);
                continue;
            }
            *flushing = true;
            drop(flushing);
            self.flush_round(sync);
            flushing = self.flushing.lock();
            *flushing = false;
            self.flushed.notify_all();
        }
    }

    /// One flush by the leader: closes the last block, waits for unfinished copies, writes, syncs.
    fn flush_round(&self, sync: bool) {
        let unsynced_from = self.durable();
        let from = self.written();
        if let Some(pad) = self.reserve_padding() {
            self.write_until(sync, || self.has_room(pad.end));
            let len = (pad.end.0 - pad.start.0) as u32;
            self.copy(pad.start, &ZEROS[..len as usize]);
            self.copy(pad.start, &pad_header(len, pad.start, self.epoch));
        }
        let end = Lsn(self.tail().0 / BLOCK * BLOCK);
        self.write_until(sync, || self.written() >= end);
        if sync {
            if unsynced_from < from {
                crate::failpoint::reached("log before sync");
                self.segments.sync(unsynced_from, from);
            }
            crate::failpoint::reached("log durable, not yet said");
            self.advance_durable(self.written());
        }
    }

    /// Writes whole blocks as they become complete, until `done`. Called by the leader.
    fn write_until(&self, sync: bool, done: impl Fn() -> bool) {
        let mut backoff = Backoff::new();
        while !done() {
            if !self.write_whole_blocks(sync) {
                backoff.wait();
            }
        }
    }

    /// Writes the whole blocks that are complete; returns whether there were any. Called by the
    /// leader.
    fn write_whole_blocks(&self, sync: bool) -> bool {
        let complete = Lsn(self.completed().0 / BLOCK * BLOCK);
        let from = self.written();
        if complete > from {
            self.write_out(from, complete, sync);
        }
        complete > from
    }

    /// Flushes with a rider among what they made durable. A rider that came during a flush without
    /// one may count too.
    pub(crate) fn rider_flushes(&self) -> u64 {
        self.order.flushes.load(Ordering::Relaxed)
    }

    fn advance_durable(&self, end: Lsn) {
        if self.order.end.load(Ordering::Relaxed) > self.durable().0 {
            self.order.flushes.fetch_add(1, Ordering::Relaxed);
        }
        self.durable.store(end.0, Ordering::Release);
        self.syncs.fetch_add(1, Ordering::Relaxed);
    }

    /// Writes complete blocks without waiting for another flush; returns whether it wrote any.
    pub(super) fn write_completed(&self) -> bool {
        let mut flushing = self.flushing.lock();
        if *flushing {
            return false;
        }
        *flushing = true;
        drop(flushing);
        let progress = self.write_whole_blocks(false);
        *self.flushing.lock() = false;
        self.flushed.notify_all();
        progress
    }
}
