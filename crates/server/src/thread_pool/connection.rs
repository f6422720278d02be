//! A connection of the pool: its client, and its state between idle and served.
//!
//! Whoever moves the state from idle to busy owns the client until it rests (POOL-1, POOL-2).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use selkie_engine::Moment;

use parking_lot::Mutex;

use super::client::{Client, Priority};
use super::footprint::Footprint;
use super::transactions::{Counted, Transactions};
use super::turn::Turn;

/// No thread serves it; its socket is watched.
const IDLE: u8 = 0;
/// Queued, being served, or waiting for a commit.
const BUSY: u8 = 1;
/// Like [`BUSY`], and data has arrived since it was taken.
const BUSY_AGAIN: u8 = 2;

/// No deadline.
const FOREVER: u64 = u64::MAX;

/// The deadline `at_most` after `now`, in milliseconds since the machine started.
fn deadline(now: u64, at_most: Duration) -> u64 {
    now.saturating_add(millis(at_most)).min(FOREVER - 1)
}

/// Milliseconds since the machine started; a few milliseconds late.
pub(super) fn recent_millis() -> u64 {
    millis(Moment::recent().since_start())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(FOREVER)
}

/// A connection of a group.
pub(super) struct Connection {
    pub(super) id: u64,
    state: AtomicU8,
    timed_out: AtomicBool,
    high: AtomicBool,
    transactions: Arc<Transactions>,
    counted: Counted,
    /// Time at which it has been idle for too long, in milliseconds since the machine started.
    deadline: AtomicU64,
    pub(super) turn: Turn,
    pub(super) footprint: Footprint,
    pub(super) client: Mutex<Box<dyn Client>>,
}

impl Connection {
    /// A connection that is not served yet and may be idle for `at_most`.
    pub(super) fn new(
        id: u64,
        client: Box<dyn Client>,
        at_most: Duration,
        transactions: Arc<Transactions>,
    ) -> Self {
        Self {
            id,
            state: AtomicU8::new(IDLE),
            timed_out: AtomicBool::new(false),
            high: AtomicBool::new(false),
            transactions,
            counted: Counted::default(),
            deadline: AtomicU64::new(deadline(recent_millis(), at_most)),
            turn: Turn::default(),
            footprint: Footprint::default(),
            client: Mutex::new(client),
        }
    }

    /// Notes that data has arrived. Returns true if it was idle: then the caller must queue it
    /// (POOL-1, POOL-2).
    pub(super) fn arrived(&self) -> bool {
        let next = |state| Some(if state == IDLE { BUSY } else { BUSY_AGAIN });
        self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, next) == Ok(IDLE)
    }

    /// Makes it idle after its service. Returns false if data has arrived since: then the caller
    /// must queue it.
    pub(super) fn rest(&self, at_most: Duration) -> bool {
        let now = recent_millis();
        self.deadline.store(deadline(now, at_most), Ordering::Relaxed);
        self.turn.rests(now);
        if self.state.compare_exchange(BUSY, IDLE, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            return true;
        }
        self.state.store(BUSY, Ordering::Release);
        false
    }

    /// Whether it has been idle for too long: then the caller must queue it.
    pub(super) fn time_out(&self) -> bool {
        let overdue = millis(Moment::now().since_start()) > self.deadline.load(Ordering::Relaxed);
        let taken = overdue
            && self.state.compare_exchange(IDLE, BUSY, Ordering::AcqRel, Ordering::Acquire).is_ok();
        if taken {
            self.timed_out.store(true, Ordering::Relaxed);
        }
        taken
    }

    /// Whether it was queued because its time was over.
    pub(super) fn take_timed_out(&self) -> bool {
        self.timed_out.swap(false, Ordering::Relaxed)
    }

    pub(super) fn priority(&self) -> Priority {
        if self.high.load(Ordering::Relaxed) { Priority::High } else { Priority::Low }
    }

    /// Sets the priority. Only the thread that serves it may call this.
    pub(super) fn set_priority(&self, priority: Priority) {
        let high = priority == Priority::High;
        self.high.store(high, Ordering::Relaxed);
        self.transactions.served(&self.counted, high);
    }
}
