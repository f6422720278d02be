//! Counters for hot paths: each thread counts in memory of its own, and reading sums. Nothing decides by them.

use selkie_engine::own_stripe;
use std::sync::atomic::{AtomicU64, Ordering};

const STRIPES: usize = 64;

/// A count on cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct Stripe(AtomicU64);

/// A counter in parts.
pub(crate) struct Striped(Box<[Stripe]>);

impl Default for Striped {
    fn default() -> Striped {
        Striped((0..STRIPES).map(|_| Stripe::default()).collect())
    }
}

impl Striped {
    /// Counts `n`.
    pub(crate) fn add(&self, n: u64) {
        self.0[own_stripe() % STRIPES].0.fetch_add(n, Ordering::Relaxed);
    }

    /// Counts one, cheaper: of two threads that share a stripe, one may count for both.
    pub(crate) fn add_about(&self, n: u64) {
        let own = &self.0[own_stripe() % STRIPES].0;
        own.store(own.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }

    /// The sum of the parts.
    pub(crate) fn sum(&self) -> u64 {
        self.0.iter().fold(0, |sum, part| sum.wrapping_add(part.0.load(Ordering::Relaxed)))
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
