//! A client with its place in the pool.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::client::{Client, Priority};

/// Nobody serves it; its socket is watched.
const IDLE: u8 = 0;
/// Queued, being served, or waiting for a commit.
const BUSY: u8 = 1;
/// As before, and something has arrived since it was taken.
const BUSY_AGAIN: u8 = 2;

/// No time is too long.
const FOREVER: u64 = u64::MAX;

/// A connection of a group.
pub(super) struct Connection {
    pub(super) id: u64,
    state: AtomicU8,
    timed_out: AtomicBool,
    high: AtomicBool,
    /// Milliseconds after `born` when it has been idle for too long.
    deadline: AtomicU64,
    born: Instant,
    pub(super) client: Mutex<Box<dyn Client>>,
}

impl Connection {
    /// A connection that nobody serves yet, and may be idle for `at_most`.
    pub(super) fn new(id: u64, client: Box<dyn Client>, at_most: Duration) -> Self {
        Self {
            id,
            state: AtomicU8::new(IDLE),
            timed_out: AtomicBool::new(false),
            high: AtomicBool::new(false),
            deadline: AtomicU64::new(at_most.as_millis() as u64),
            born: Instant::now(),
            client: Mutex::new(client),
        }
    }

    /// Something has arrived. True if it was idle, and is the caller's to queue (POOL-1, POOL-2).
    pub(super) fn arrived(&self) -> bool {
        let next = |state| Some(if state == IDLE { BUSY } else { BUSY_AGAIN });
        self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, next) == Ok(IDLE)
    }

    /// The caller is done with it. False if something has arrived meanwhile: the caller queues it.
    pub(super) fn rest(&self, at_most: Duration) -> bool {
        let until = (self.born.elapsed() + at_most).as_millis().min(u128::from(FOREVER - 1));
        self.deadline.store(until as u64, Ordering::Relaxed);
        if self.state.compare_exchange(BUSY, IDLE, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            return true;
        }
        self.state.store(BUSY, Ordering::Release);
        false
    }

    /// Whether it has been idle for too long; then it is the caller's to queue.
    pub(super) fn time_out(&self) -> bool {
        let overdue =
            self.born.elapsed().as_millis() as u64 > self.deadline.load(Ordering::Relaxed);
        let taken = overdue
            && self.state.compare_exchange(IDLE, BUSY, Ordering::AcqRel, Ordering::Acquire).is_ok();
        if taken {
            self.timed_out.store(true, Ordering::Relaxed);
        }
        taken
    }

    /// Whether it was queued because nothing arrived.
    pub(super) fn take_timed_out(&self) -> bool {
        self.timed_out.swap(false, Ordering::Relaxed)
    }

    pub(super) fn priority(&self) -> Priority {
        if self.high.load(Ordering::Relaxed) { Priority::High } else { Priority::Low }
    }

    pub(super) fn set_priority(&self, priority: Priority) {
        self.high.store(priority == Priority::High, Ordering::Relaxed);
    }
}
