//! Memory that is kept in parts, so that each thread writes its own.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

const UNKNOWN: u32 = u32::MAX;

/// This thread's number, in the order in which threads asked first: whoever keeps something in parts takes the part of
/// this number, modulo how many there are.
pub fn own_stripe() -> usize {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    thread_local!(static MINE: Cell<u32> = const { Cell::new(UNKNOWN) });
    MINE.with(|mine| {
        if mine.get() == UNKNOWN {
            mine.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        mine.get() as usize
    })
}
