//! What others may know of a transaction: whether it has ended, and how to hear of it.

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
    /// Changes and locks so far: whoever has the least gives way in a deadlock.
    pub(crate) weight: Weight,
    /// For reports.
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

    /// Position of the commit, if there was one.
    pub(crate) fn commit_lsn(&self) -> Option<u64> {
        match self.status.load(Ordering::Acquire) {
            ACTIVE | ROLLED_BACK => None,
            lsn => Some(lsn),
        }
    }

    /// The changes count as made from `lsn` on. Waiters hear of it by `wake`.
    pub(crate) fn set_committed(&self, lsn: u64) {
        self.status.store(lsn, Ordering::Release);
    }

    /// All changes have been taken back.
    pub(crate) fn set_rolled_back(&self) {
        self.status.store(ROLLED_BACK, Ordering::Release);
    }

    /// Wakes everybody who waits for the end.
    pub(crate) fn wake(&self) {
        self.waiters.lock().drain(..).for_each(|waiter| waiter.wake());
    }

    /// Asks to be woken at the end; false if it has come already.
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

/// Somebody asleep.
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

    /// Whether something happened since the last look.
    pub(crate) fn is_woken(&self) -> bool {
        *self.woken.lock()
    }

    /// What happened before this does not count. To be followed by a look whether to wait at all.
    pub(crate) fn reset(&self) {
        *self.woken.lock() = false;
    }

    /// Sleeps up to `time`; whether it was woken.
    pub(crate) fn park(&self, time: Duration) -> bool {
        let mut woken = self.woken.lock();
        if !*woken {
            self.bell.wait_for(&mut woken, time);
        }
        *woken
    }
}

impl Wake for Waiter {
    /// Its statement was killed.
    fn wake(self: Arc<Self>) {
        Waiter::wake(&self);
    }
}
