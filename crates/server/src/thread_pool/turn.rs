//! Whose turn it is when there are more connections than the processor's caches hold.
//!
//! Served in the order of arrival, thousands of busy connections would each find what they need
//! gone from the caches. So one that has its turn is served before those that wait for theirs, for
//! some statements; then it waits for the next. Who was idle before has its turn at once: only
//! those that always have something to do wait for each other.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Statements of a turn: what the first one spends on its memory is shared by the others. Each
/// makes the wait for the next turn longer.
const STATEMENTS: u32 = 8;
/// Who had nothing to do for so long, in milliseconds, does not wait.
const PAUSE: u64 = 100;

/// The turn of one connection. Written only by who serves or queues it.
#[derive(Default)]
pub(super) struct Turn {
    served: AtomicU32,
    /// When it became idle, in milliseconds since the machine started.
    idle: AtomicU64,
}

impl Turn {
    /// It has waited for it.
    pub(super) fn begin(&self) {
        self.served.store(0, Relaxed);
    }

    /// A statement of it is served.
    pub(super) fn count(&self) {
        self.served.store(self.served.load(Relaxed) + 1, Relaxed);
    }

    pub(super) fn is_over(&self) -> bool {
        self.served.load(Relaxed) >= STATEMENTS
    }

    /// It has nothing to do from `now` on.
    pub(super) fn rests(&self, now: u64) {
        self.idle.store(now, Relaxed);
    }

    /// It has something to do again.
    pub(super) fn comes_back(&self, now: u64) {
        if now.saturating_sub(self.idle.load(Relaxed)) >= PAUSE {
            self.begin();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_ends_unless_there_is_a_pause() {
        let turn = Turn::default();
        (1..STATEMENTS).for_each(|_| turn.count());
        assert!(!turn.is_over());
        turn.count();
        turn.rests(1000);
        turn.comes_back(1000 + PAUSE - 1);
        assert!(turn.is_over());
        turn.comes_back(1000 + PAUSE);
        assert!(!turn.is_over());
    }
}
