//! Number of a group's connections that are at work in a transaction.
//!
//! A connection that was not served recently does not count: its client thinks, or its statement
//! waits for a row. Recently means the present tick of the timer or the one before. A count may be
//! off by one for a tick, if a tick happens at the same time.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

/// The counts of one group.
#[derive(Default)]
pub(super) struct Transactions {
    tick: AtomicU32,
    /// Connections last served in an even tick, and in an odd one.
    served: [AtomicUsize; 2],
}

/// Tick in which a connection was last counted, plus one; 0 if it is not counted.
#[derive(Default)]
pub(super) struct Counted(AtomicU32);

impl Transactions {
    /// Number of transactions at work.
    pub(super) fn at_work(&self) -> usize {
        self.served.iter().map(|count| count.load(Relaxed)).sum()
    }

    /// Starts a tick. Connections that were last served before the previous tick no longer count.
    pub(super) fn tick(&self) {
        let next = self.tick.load(Relaxed).wrapping_add(1);
        self.of(next).store(0, Relaxed);
        self.tick.store(next, Relaxed);
    }

    /// Notes that a connection was served; `open` is whether it has a transaction now.
    pub(super) fn served(&self, counted: &Counted, open: bool) {
        let tick = self.tick.load(Relaxed);
        let (last, now) = (counted.0.load(Relaxed), if open { tick.wrapping_add(1) } else { 0 });
        if last == now {
            return;
        }
        counted.0.store(now, Relaxed);
        let age = tick.wrapping_sub(last.wrapping_sub(1));
        if last != 0 && age < 2 {
            let less = |count: usize| count.checked_sub(1);
            let _ = self.of(last.wrapping_sub(1)).fetch_update(Relaxed, Relaxed, less);
        }
        if open {
            self.of(tick).fetch_add(1, Relaxed);
        }
    }

    fn of(&self, tick: u32) -> &AtomicUsize {
        &self.served[tick as usize % 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_not_served_lately_is_not_counted() {
        let (all, one, two) = (Transactions::default(), Counted::default(), Counted::default());
        all.served(&one, true);
        all.served(&one, true);
        all.served(&two, true);
        assert_eq!(all.at_work(), 2);
        all.tick();
        all.served(&one, true);
        assert_eq!(all.at_work(), 2);
        all.tick();
        assert_eq!(all.at_work(), 1);
        all.served(&two, true);
        all.served(&one, false);
        assert_eq!(all.at_work(), 1);
        all.served(&two, false);
        all.served(&two, false);
        assert_eq!(all.at_work(), 0);
    }
}
