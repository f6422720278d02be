//! The order lock: a commit with a rider takes its rider's place and its own place in the log under
//! it, so both orders are the same. Commits without a rider do not take it.
//!
//! It must not be held over I/O, a wait, a page latch, or an allocation above 4 KiB.

use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicU64};

/// The lock, and what is known of the groups that were given their places under it.
#[derive(Default)]
pub(super) struct OrderLock {
    lock: Mutex<()>,
    /// End of the last group with a rider.
    pub(super) end: AtomicU64,
    /// Flushes with a rider among what they made durable.
    pub(super) flushes: AtomicU64,
    /// Whether commits with riders wait for durability in every mode.
    pub(super) syncs: AtomicBool,
}

impl OrderLock {
    /// Calls `act` under the lock.
    pub(super) fn under<R>(&self, act: impl FnOnce() -> R) -> R {
        let _held = self.lock.lock();
        let _noted = held::Note::new();
        act()
    }
}

/// Panics if this thread holds the order lock. Every wait and every write begins with it.
pub(crate) fn assert_no_order_lock() {
    debug_assert!(!held::is_noted(), "a wait or I/O under the order lock");
}

/// Knows whether the thread holds the lock. The models run all their threads as one.
#[cfg(all(debug_assertions, not(feature = "models")))]
mod held {
    use std::cell::Cell;

    thread_local! { static HELD: Cell<bool> = const { Cell::new(false) } }

    pub(super) struct Note;

    impl Note {
        pub(super) fn new() -> Note {
            HELD.set(true);
            Note
        }
    }

    impl Drop for Note {
        fn drop(&mut self) {
            HELD.set(false);
        }
    }

    pub(super) fn is_noted() -> bool {
        HELD.get()
    }
}

#[cfg(not(all(debug_assertions, not(feature = "models"))))]
mod held {
    pub(super) struct Note;

    impl Note {
        pub(super) fn new() -> Note {
            Note
        }
    }

    pub(super) fn is_noted() -> bool {
        false
    }
}
