//! Waits of the pool's threads: counts by reason, and the observer that lets another thread take
//! over.
//!
//! Kept answers are sent before a thread waits (see [`answers`]).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use selkie_engine::{WaitKind, WaitObserver};

use super::answers;
use super::background;
use super::group::Group;
use super::pool::Shared;

/// The reasons of `INFORMATION_SCHEMA.THREAD_POOL_WAITS`, in its order.
pub(crate) const REASONS: [&str; 12] = [
    "UNKNOWN",
    "SLEEP",
    "DISKIO",
    "ROW_LOCK",
    "GLOBAL_LOCK",
    "META_DATA_LOCK",
    "TABLE_LOCK",
    "USER_LOCK",
    "BINLOG",
    "GROUP_COMMIT",
    "SYNC",
    "NET",
];

/// Number of waits of the threads, by reason.
#[derive(Debug, Default)]
pub(super) struct WaitCounts([AtomicU64; REASONS.len()]);

impl WaitCounts {
    pub(super) fn read(&self) -> [u64; REASONS.len()] {
        std::array::from_fn(|at| self.0[at].load(Ordering::Relaxed))
    }

    pub(super) fn reset(&self) {
        self.0.iter().for_each(|count| count.store(0, Ordering::Relaxed));
    }
}

fn reason(kind: WaitKind) -> usize {
    let name = match kind {
        WaitKind::Sleep => "SLEEP",
        WaitKind::PageRead | WaitKind::TemporaryFile => "DISKIO",
        WaitKind::RowLock => "ROW_LOCK",
        WaitKind::MetadataLock => "META_DATA_LOCK",
        WaitKind::GlobalLock => "GLOBAL_LOCK",
        WaitKind::UserLock => "USER_LOCK",
        WaitKind::LogFlush => "GROUP_COMMIT",
        WaitKind::Throttle => "SYNC",
        WaitKind::Network => "NET",
    };
    REASONS.iter().position(|r| *r == name).unwrap_or(0)
}

/// Wait, in microseconds, that is long enough for another thread, also without queued work.
const LONG: u64 = 1000;

/// Duration of log flushes, in microseconds: a moving average.
#[derive(Debug, Default)]
pub(super) struct FlushTime(AtomicU64);

impl FlushTime {
    /// Notes the duration of a flush.
    pub(super) fn note(&self, time: Duration) {
        let average = self.0.load(Ordering::Relaxed);
        let micros = time.as_micros() as u64;
        // If two threads write at once, one value is lost; the average can bear that.
        self.0.store((average * 7 + micros) / 8, Ordering::Relaxed);
    }
}

/// Whether the wait ends about as soon as another thread could start. Then another thread is useful
/// only if there is work.
fn is_short(kind: WaitKind, flush: &FlushTime) -> bool {
    match kind {
        WaitKind::PageRead | WaitKind::TemporaryFile | WaitKind::Throttle => true,
        WaitKind::LogFlush => flush.0.load(Ordering::Relaxed) < LONG,
        _ => false,
    }
}

/// Observer that tells a group of its threads' waits.
pub(super) struct GroupObserver {
    pub(super) shared: Weak<Shared>,
    pub(super) group: Arc<Group>,
}

impl WaitObserver for GroupObserver {
    fn begin(&self, kind: WaitKind) {
        let Some(shared) = self.shared.upgrade() else { return };
        shared.waits.0[reason(kind)].fetch_add(1, Ordering::Relaxed);
        answers::send(&shared, &self.group);
        if !background::is_entered() {
            self.group.wait_begins(&shared, is_short(kind, &shared.flush_time));
        }
    }

    fn goes_on(&self) {
        if answers::are_late()
            && let Some(shared) = self.shared.upgrade()
        {
            answers::send(&shared, &self.group);
        }
    }

    fn reads_much(&self) {
        if background::is_entered() || !background::is_long() {
            return;
        }
        let Some(shared) = self.shared.upgrade() else { return };
        answers::send(&shared, &self.group);
        // For the group it waits, until it ends.
        self.group.wait_begins(&shared, false);
        background::enter();
    }

    fn end(&self, _: WaitKind) {
        if !background::is_entered() {
            self.group.wait_ends();
        }
    }
}
