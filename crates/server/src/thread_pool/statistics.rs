//! Counters and present state of a pool: `INFORMATION_SCHEMA.THREAD_POOL_*`.
//!
//! Counters are relaxed atomics: each is correct, but two of them may be from different moments.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counters of a group.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) thread_creations: AtomicU64,
    pub(super) thread_creations_due_to_stall: AtomicU64,
    pub(super) wakes: AtomicU64,
    pub(super) wakes_due_to_stall: AtomicU64,
    pub(super) throttles: AtomicU64,
    pub(super) stalls: AtomicU64,
    pub(super) polls: AtomicU64,
    pub(super) dequeues: AtomicU64,
}

impl Counts {
    fn all(&self) -> [&AtomicU64; 8] {
        [
            &self.thread_creations,
            &self.thread_creations_due_to_stall,
            &self.wakes,
            &self.wakes_due_to_stall,
            &self.throttles,
            &self.stalls,
            &self.polls,
            &self.dequeues,
        ]
    }

    pub(super) fn reset(&self) {
        self.all().iter().for_each(|count| count.store(0, Ordering::Relaxed));
    }

    pub(super) fn read(&self) -> GroupCounts {
        let [
            creations,
            due_to_stall,
            wakes,
            wakes_due_to_stall,
            throttles,
            stalls,
            polls,
            dequeues,
        ] = self.all().map(|count| count.load(Ordering::Relaxed));
        GroupCounts {
            thread_creations: creations,
            thread_creations_due_to_stall: due_to_stall,
            wakes,
            wakes_due_to_stall,
            throttles,
            stalls,
            polls,
            dequeues,
        }
    }
}

/// Adds one.
pub(super) fn bump(count: &AtomicU64) {
    count.fetch_add(1, Ordering::Relaxed);
}

/// Counters of a group since the start or FLUSH THREAD_POOL_STATS.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct GroupCounts {
    /// Threads created.
    pub(crate) thread_creations: u64,
    /// Threads created because the group was stalled.
    pub(crate) thread_creations_due_to_stall: u64,
    /// Waiting threads woken.
    pub(crate) wakes: u64,
    /// Threads woken because the group was stalled.
    pub(crate) wakes_due_to_stall: u64,
    /// Threads not created because of the limit on the rate.
    pub(crate) throttles: u64,
    /// Times the group was stalled.
    pub(crate) stalls: u64,
    /// Times a thread waited for the sockets.
    pub(crate) polls: u64,
    /// Connections taken from the queue.
    pub(crate) dequeues: u64,
}

/// Present state of a group.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct GroupState {
    /// Its connections.
    pub(crate) connections: usize,
    /// Its threads.
    pub(crate) threads: usize,
    /// Threads at work.
    pub(crate) active: usize,
    /// Threads that wait until they are needed.
    pub(crate) standby: usize,
    /// Connections that wait for a thread.
    pub(crate) queued: usize,
    /// Whether a thread waits for the sockets.
    pub(crate) has_listener: bool,
    /// Whether it was stalled at the timer's last check.
    pub(crate) is_stalled: bool,
}

/// A connection that waits for a thread.
#[derive(Copy, Clone, Debug)]
pub(crate) struct QueuedConnection {
    /// Number of the connection.
    pub(crate) connection: u64,
    /// Whether it is of high priority.
    pub(crate) high_priority: bool,
    /// Time it has waited.
    pub(crate) waited: Duration,
}
