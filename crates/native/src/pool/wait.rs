//! Waits for latches and page reads. Latches are held for microseconds, so waiters spin, then
//! yield. Page reads take longer, so waiters sleep on one of a few condition variables.

use crate::ids::PageId;
use crate::sync::{Condvar, Mutex};
use std::time::Duration;

/// Spins briefly, then yields the core, then sleeps: the holder may have been preempted.
pub(crate) struct Backoff(u32);

impl Backoff {
    /// A backoff without waits so far.
    pub(crate) const fn new() -> Backoff {
        Backoff(0)
    }

    /// Waits a little longer than the last time.
    pub(crate) fn wait(&mut self) {
        self.0 += 1;
        match self.0 {
            0..=6 => (0..1 << self.0).for_each(|_| crate::sync::spin_loop()),
            7..=60 => crate::sync::yield_now(),
            _ => crate::sync::sleep(Duration::from_micros(50)),
        }
    }
}

const SHARDS: usize = 64;

/// Threads that wait for another thread's page read.
pub(super) struct ReadWaiters {
    shards: [(Mutex<()>, Condvar); SHARDS],
}

impl ReadWaiters {
    pub(super) fn new() -> ReadWaiters {
        ReadWaiters { shards: [const { (Mutex::new(()), Condvar::new()) }; SHARDS] }
    }

    fn shard(&self, id: PageId) -> &(Mutex<()>, Condvar) {
        let mixed = id.pack().wrapping_mul(0x9E37_79B9_7F4A_7C15);
        &self.shards[(mixed >> 58) as usize % SHARDS]
    }

    /// Sleeps until `done` is true; the reading thread makes it true before it calls `wake`.
    pub(super) fn wait(&self, id: PageId, done: impl Fn() -> bool) {
        let (mutex, condvar) = self.shard(id);
        let mut lock = mutex.lock();
        while !done() {
            condvar.wait(&mut lock);
        }
    }

    /// Wakes the waiters of a page whose read has ended.
    pub(super) fn wake(&self, id: PageId) {
        let (mutex, condvar) = self.shard(id);
        drop(mutex.lock());
        condvar.notify_all();
    }
}
