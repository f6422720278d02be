//! The part of a transaction that other threads use: its state, and the waiters for its end.
//!
//! Waiters are woken only after the end is published. A waiter checks again after it has
//! subscribed.

use super::inspect::Notes;
use super::weight::Weight;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Condvar, Mutex};
use std::sync::Arc;
use std::task::Wake;
use std::time::Duration;

const ACTIVE: u64 = 0;
const ROLLED_BACK: u64 = u64::MAX;

/// The shared part of a transaction.
pub(crate) struct TrxState {
    pub(crate) id: u64,
    /// `ACTIVE`, `ROLLED_BACK`, or the LSN of the commit.
    status: AtomicU64,
    /// Number of changes and locks; the lightest transaction of a deadlock is its victim.
    pub(crate) weight: Weight,
    /// Notes for reports.
    pub(crate) notes: Notes,
    waiters: Mutex<Vec<Arc<Waiter>>>,
}

impl TrxState {
    pub(crate) fn new(id: u64) -> TrxState {
        TrxState {
            id,
            status: AtomicU64::new(ACTIVE),
            weight: Weight::default(),
            notes: Notes::default(),
            waiters: Mutex::default(),
        }
    }

    pub(crate) fn is_active(&self) -> bool {
        self.status.load(Ordering::Acquire) == ACTIVE
    }

    /// Position of the commit; `None` without one.
    pub(crate) fn commit_lsn(&self) -> Option<u64> {
        match self.status.load(Ordering::Acquire) {
            ACTIVE | ROLLED_BACK => None,
            lsn => Some(lsn),
        }
    }

    /// Makes the changes count from `lsn` on. A call of `wake` must follow for the waiters.
    pub(crate) fn set_committed(&self, lsn: u64) {
        self.status.store(lsn, Ordering::Release);
    }

    /// Notes that all changes have been undone.
    pub(crate) fn set_rolled_back(&self) {
        self.status.store(ROLLED_BACK, Ordering::Release);
    }

    /// Wakes all waiters for the end.
    pub(crate) fn wake(&self) {
        self.waiters.lock().drain(..).for_each(|waiter| waiter.wake());
    }

    /// Adds a waiter to be woken at the end; false if the transaction has ended already.
    pub(crate) fn subscribe(&self, waiter: &Arc<Waiter>) -> bool {
        let mut waiters = self.waiters.lock();
        if !self.is_active() {
            return false;
        }
        waiters.push(waiter.clone());
        true
    }

    pub(crate) fn unsubscribe(&self, waiter: &Arc<Waiter>) {
        self.waiters.lock().retain(|other| !Arc::ptr_eq(other, waiter));
    }
}

/// A thread that sleeps until it is woken.
#[derive(Default)]
pub(crate) struct Waiter {
    woken: Mutex<bool>,
    bell: Condvar,
}

impl Waiter {
    pub(crate) fn wake(&self) {
        *self.woken.lock() = true;
        self.bell.notify_all();
    }

    /// Whether it was woken since the last reset.
    pub(crate) fn is_woken(&self) -> bool {
        *self.woken.lock()
    }

    /// Clears earlier wake-ups. The caller must check afterwards whether to wait at all.
    pub(crate) fn reset(&self) {
        *self.woken.lock() = false;
    }

    /// Sleeps for at most `time`. Returns whether it was woken.
    pub(crate) fn park(&self, time: Duration) -> bool {
        let mut woken = self.woken.lock();
        if !*woken {
            self.bell.wait_for(&mut woken, time);
        }
        *woken
    }
}

impl Wake for Waiter {
    /// Wakes it because its statement was killed.
    fn wake(self: Arc<Self>) {
        Waiter::wake(&self);
    }
}
