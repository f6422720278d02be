//! The snapshots in use. A snapshot is one log position: it sees the commits up to there.

use crate::log::Log;
use crate::pool::Backoff;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use selkie_engine::Moment;
use std::collections::BTreeMap;
use std::time::Duration;

/// A snapshot held longer than this is not that of a running statement.
pub(crate) const YOUNG: Duration = Duration::from_millis(100);

/// A position in use.
struct Use {
    users: u32,
    since: Moment,
}

/// Positions in use, with how many use them.
#[derive(Default)]
pub(crate) struct Snapshots {
    used: Mutex<BTreeMap<u64, Use>>,
    /// One that was not young has gone, and it was not the oldest.
    middle_gone: AtomicBool,
    /// How long a snapshot is young, in milliseconds.
    young: AtomicU64,
    /// The highest commit published.
    last_commit: AtomicU64,
}

impl Snapshots {
    /// Sets how long a snapshot is left alone by pruning.
    pub(crate) fn set_young(&self, time: Duration) {
        self.young.store(time.as_millis() as u64, Ordering::Relaxed);
    }

    fn young(&self) -> Duration {
        Duration::from_millis(self.young.load(Ordering::Relaxed))
    }

    /// A commit at `lsn` has been published: snapshots from now on see it.
    pub(crate) fn committed(&self, lsn: u64) {
        self.last_commit.fetch_max(lsn, Ordering::AcqRel);
    }

    /// Everything published by now lies below the position returned; what is published later lies above.
    pub(crate) fn now(&self, log: &Log) -> u64 {
        let wanted = self.last_commit.load(Ordering::Acquire);
        let mut backoff = Backoff::new();
        loop {
            let completed = log.completed().0;
            if completed >= wanted {
                return completed;
            }
            // Somebody is copying a record into the log that lies below the commit.
            backoff.wait();
        }
    }

    /// Takes a snapshot. It keeps versions alive until given back.
    pub(crate) fn take(&self, log: &Log) -> u64 {
        let mut used = self.used.lock();
        let lsn = self.now(log);
        used.entry(lsn).or_insert_with(|| Use { users: 0, since: Moment::recent() }).users += 1;
        lsn
    }

    /// Gives a snapshot back.
    pub(crate) fn release(&self, lsn: u64) {
        let mut used = self.used.lock();
        let Some(entry) = used.get_mut(&lsn) else { return };
        entry.users -= 1;
        if entry.users == 0 {
            let old = entry.since.elapsed_recently() >= self.young();
            used.remove(&lsn);
            if old && used.first_key_value().is_some_and(|(first, _)| *first < lsn) {
                self.middle_gone.store(true, Ordering::Relaxed);
            }
        }
    }

    /// For pruning: the snapshots in use, ascending; the position up to which none of them is young; and whether an
    /// old one has gone from the middle since the last call.
    pub(super) fn in_use(&self, log: &Log) -> (Vec<u64>, u64, bool) {
        let used = self.used.lock();
        let young = used.iter().find(|(_, entry)| entry.since.elapsed() < self.young());
        let upto = young.map_or_else(|| self.now(log), |(lsn, _)| *lsn);
        let again = self.middle_gone.swap(false, Ordering::Relaxed);
        (used.keys().copied().collect(), upto, again)
    }

    /// Commits up to here are seen by all snapshots in use and to come.
    pub(crate) fn horizon(&self, log: &Log) -> u64 {
        let used = self.used.lock();
        used.first_key_value().map_or_else(|| self.now(log), |(lsn, _)| *lsn)
    }
}
