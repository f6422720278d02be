//! Threads whose statement reads much: they stand behind those that serve short statements, and
//! their group goes on without them.
//!
//! A thread cannot take a better priority again without a privilege of the process. So it ends when
//! its statement has.

use std::cell::Cell;

/// Niceness of a thread in the background, and of lanes: where cores are scarce, such a thread gets
/// about a tenth of the time of another one. At 5, a third, reports without a pause cost writers on
/// two cores a fifth of their throughput (`tests/sysbench/reports.py`).
pub(crate) const NICE: i32 = 10;

thread_local! {
    static IS_BEHIND: Cell<bool> = const { Cell::new(false) };
}

/// Puts the calling thread behind the others for the rest of its life. It must start no thread of
/// the pool any more: that would be behind too.
pub(super) fn enter() {
    IS_BEHIND.set(true);
    // Compat: Linux sets it for the calling thread alone.
    let _ = rustix::process::setpriority_process(None, NICE);
}

/// Whether the calling thread is behind the others.
pub(super) fn is_entered() -> bool {
    IS_BEHIND.get()
}
