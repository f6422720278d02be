//! Data divided into parts on separate cache lines, so that each thread writes its own part.
//!
//! Threads may share a part, so a part must bear use by several threads.

use std::cell::Cell;
use std::ops::{Deref, Index};
use std::sync::atomic::{AtomicU32, Ordering};

const UNKNOWN: u32 = u32::MAX;

/// This thread's number, in the order of first use.
fn own_stripe() -> usize {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    thread_local!(static MINE: Cell<u32> = const { Cell::new(UNKNOWN) });
    MINE.with(|mine| {
        if mine.get() == UNKNOWN {
            mine.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        mine.get() as usize
    })
}

/// A value on cache lines of its own: whole pairs of lines, as processors fetch them.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct OwnLines<T>(T);

impl<T> OwnLines<T> {
    /// Wraps a value.
    pub fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for OwnLines<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Equal parts, of which each thread uses one. There may be more threads than parts, so some
/// threads share a part: a part has to bear that.
#[derive(Debug)]
pub struct Parts<T>(Box<[OwnLines<T>]>);

impl<T: Default> Default for Parts<T> {
    fn default() -> Self {
        Self::new(T::default)
    }
}

impl<T> Parts<T> {
    /// 64 parts: with the threads of a server, two seldom share one.
    pub fn new(make: impl FnMut() -> T) -> Self {
        Self::so_many(64, make)
    }

    /// `number` parts. It must be a power of two, so that finding a thread's part needs no
    /// division.
    pub fn so_many(number: usize, mut make: impl FnMut() -> T) -> Self {
        assert!(number.is_power_of_two(), "{number} parts");
        Self((0..number).map(|_| OwnLines::new(make())).collect())
    }

    /// The number of this thread's part, for callers that return to it from another thread.
    #[inline]
    pub fn own_number(&self) -> usize {
        own_stripe() & (self.0.len() - 1)
    }

    /// This thread's part.
    #[inline]
    pub fn own(&self) -> &T {
        &self[self.own_number()]
    }

    /// All parts.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(Deref::deref)
    }
}

impl<T> Index<usize> for Parts<T> {
    type Output = T;

    #[inline]
    fn index(&self, number: usize) -> &T {
        &self.0[number]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_thread_keeps_to_its_part() {
        let parts = Parts::<AtomicU32>::so_many(4, AtomicU32::default);
        let count = || {
            for _ in 0..10 {
                parts.own().fetch_add(1, Ordering::Relaxed);
            }
            let own = parts.own_number();
            assert!(parts[own].load(Ordering::Relaxed) >= 10);
            own
        };
        let mut used: Vec<usize> = thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(count)).collect();
            threads.into_iter().map(|thread| thread.join().expect("a number")).collect()
        });
        used.sort_unstable();
        used.dedup();
        let sums: Vec<u32> = parts.iter().map(|part| part.load(Ordering::Relaxed)).collect();
        assert_eq!(sums.iter().sum::<u32>(), 80);
        assert_eq!(sums.iter().filter(|sum| **sum > 0).count(), used.len());
    }

    #[test]
    fn parts_share_no_lines() {
        let parts = Parts::<u8>::default();
        let places: Vec<usize> = parts.iter().map(|part| std::ptr::from_ref(part).addr()).collect();
        assert!(places.iter().all(|place| place.is_multiple_of(128)));
        assert!(places.is_sorted_by(|a, b| a < b));
    }
}
