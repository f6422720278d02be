//! The snapshots in use. A snapshot is one log position: it sees the commits up to there.

use crate::log::Log;
use crate::pool::Backoff;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Positions in use, with how many use them.
#[derive(Default)]
pub(crate) struct Snapshots {
    used: Mutex<BTreeMap<u64, u32>>,
    /// The highest commit published.
    last_commit: AtomicU64,
}

impl Snapshots {
    /// A commit at `lsn` has been published: snapshots from now on see it.
    pub(crate) fn committed(&self, lsn: u64) {
        self.last_commit.fetch_max(lsn, Ordering::AcqRel);
    }

    /// Everything published by now lies below the position returned; what is published later lies above.
    fn now(&self, log: &Log) -> u64 {
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
        *used.entry(lsn).or_insert(0) += 1;
        lsn
    }

    /// Gives a snapshot back.
    pub(crate) fn release(&self, lsn: u64) {
        let mut used = self.used.lock();
        if let Some(users) = used.get_mut(&lsn) {
            *users -= 1;
            if *users == 0 {
                used.remove(&lsn);
            }
        }
    }

    /// Commits up to here are seen by all snapshots in use and to come.
    pub(crate) fn horizon(&self, log: &Log) -> u64 {
        let used = self.used.lock();
        used.first_key_value().map_or_else(|| self.now(log), |(lsn, _)| *lsn)
    }
}
