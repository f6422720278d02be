//! Threads whose statement reads much: they stand behind those that serve short statements, and
//! their group goes on without them.
//!
//! A thread cannot take a better priority again without a privilege of the process. So it ends when
//! its statement has.

use std::cell::Cell;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Niceness of a thread in the background, and of lanes: where cores are scarce, such a thread gets
/// a thirtieth of the time of another one. Reports without a pause beside writers on two cores
/// (`tests/sysbench/reports.py`) cost them a fifth of their throughput at 5, a tenth at 10 and a
/// twentieth at 19, where an eighth fewer reports end.
pub(crate) const NICE: i32 = 15;

/// Time of the processor that a statement gets before its thread goes to the background: fifty
/// times that of a new thread.
const SHORT: Duration = Duration::from_millis(3);

thread_local! {
    static IS_BEHIND: Cell<bool> = const { Cell::new(false) };
    /// Time of the processor that the thread had used when its statement was first seen to read
    /// much.
    static SEEN: Cell<Option<Duration>> = const { Cell::new(None) };
}

/// Begins to serve a connection.
pub(super) fn begin() {
    SEEN.set(None);
}

/// Whether the statement of this thread, which reads much, is not short. Measured from the first
/// call, so that the clock is not read for statements that read little.
pub(super) fn is_long() -> bool {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let now = Duration::new(time.tv_sec as u64, time.tv_nsec as u32);
    match SEEN.get() {
        Some(seen) => now.saturating_sub(seen) >= SHORT,
        None => {
            SEEN.set(Some(now));
            false
        }
    }
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
