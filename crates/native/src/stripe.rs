//! Counters for hot paths: each thread counts in memory of its own, and a reader sums the parts.
//! For statistics only: no decision may depend on them.

use selkie_engine::Parts;
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter made of parts.
#[derive(Default)]
pub(crate) struct Striped(Parts<AtomicU64>);

impl Striped {
    /// Counts `n`.
    pub(crate) fn add(&self, n: u64) {
        self.0.own().fetch_add(n, Ordering::Relaxed);
    }

    /// Counts `n` without an atomic addition. A count may be lost if two threads share a stripe.
    pub(crate) fn add_about(&self, n: u64) {
        let own = self.0.own();
        own.store(own.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }

    /// The sum of the parts.
    pub(crate) fn sum(&self) -> u64 {
        self.0.iter().fold(0, |sum, part| sum.wrapping_add(part.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_count_together() {
        let counter = Striped::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| counter.add(2)));
            }
        });
        counter.add_about(1);
        assert_eq!(counter.sum(), 8001);
    }
}
