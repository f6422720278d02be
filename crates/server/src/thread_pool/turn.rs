//! Turns of connections, used if there are more connections than the processor's caches hold.
//!
//! If thousands of busy connections were served in order of arrival, each would find its memory
//! gone from the caches. So a connection with a turn is served before those without, for some
//! statements; then it waits for its next turn. A connection that was idle gets a turn at once:
//! only connections that always have work wait for each other.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Statements of a turn. The first one loads the caches for the others. More statements make the
/// wait for the next turn longer.
const STATEMENTS: u32 = 8;
/// Idle time, in milliseconds, after which a connection gets a turn at once.
const PAUSE: u64 = 100;

/// The turn of one connection. Written only by the thread that serves or queues it.
#[derive(Default)]
pub(super) struct Turn {
    served: AtomicU32,
    /// Time it became idle, in milliseconds since the machine started.
    idle: AtomicU64,
}

impl Turn {
    /// Starts a turn.
    pub(super) fn begin(&self) {
        self.served.store(0, Relaxed);
    }

    /// Counts a statement of the turn.
    pub(super) fn count(&self) {
        self.served.store(self.served.load(Relaxed) + 1, Relaxed);
    }

    pub(super) fn is_over(&self) -> bool {
        self.served.load(Relaxed) >= STATEMENTS
    }

    /// Notes that the connection is idle from `now` on.
    pub(super) fn rests(&self, now: u64) {
        self.idle.store(now, Relaxed);
    }

    /// Starts a turn if the connection was idle long enough.
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
