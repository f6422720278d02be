//! The snapshots in use. A snapshot is one log position: it sees the commits up to there.
//!
//! Each thread notes its snapshots in a part of its own, so that readers write no memory that
//! others write. A search for all of them visits the parts one by one. A snapshot taken in a
//! visited part meanwhile is at least as high as the position read before the visit.

use crate::log::Log;
use crate::pool::Backoff;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use selkie_engine::{Moment, Parts};
use std::collections::BTreeMap;
use std::time::Duration;

/// A snapshot held longer than this does not belong to a running statement.
pub(crate) const YOUNG: Duration = Duration::from_millis(100);

/// A snapshot in use.
#[derive(Clone, Copy)]
pub(crate) struct Snapshot {
    /// It sees the commits up to this position.
    pub(crate) lsn: u64,
    part: u8,
}

/// A position in use.
struct Use {
    users: u32,
    since: Moment,
}

/// Positions in use, with their numbers of users.
#[derive(Default)]
struct Uses {
    /// The one taken last, which is often the only one; it needs no allocation.
    last: Option<(u64, Use)>,
    others: BTreeMap<u64, Use>,
}

impl Uses {
    fn add(&mut self, lsn: u64) {
        if let Some((_, last)) = self.last.as_mut().filter(|(at, _)| *at == lsn) {
            last.users += 1;
            return;
        }
        let own = self.others.remove(&lsn).unwrap_or(Use { users: 0, since: Moment::recent() });
        let before = self.last.replace((lsn, Use { users: own.users + 1, ..own }));
        self.others.extend(before);
    }

    /// Removes a user. Returns the time of the first use if no user is left.
    fn remove(&mut self, lsn: u64) -> Option<Moment> {
        let of_last = self.last.as_mut().filter(|(at, _)| *at == lsn).map(|(_, last)| last);
        let found = of_last.or_else(|| self.others.get_mut(&lsn))?;
        found.users -= 1;
        if found.users > 0 {
            return None;
        }
        let since = found.since;
        self.last.take_if(|(at, _)| *at == lsn);
        self.others.remove(&lsn);
        Some(since)
    }

    fn iter(&self) -> impl Iterator<Item = (u64, &Use)> {
        let others = self.others.iter().map(|(lsn, entry)| (*lsn, entry));
        others.chain(self.last.as_ref().map(|(lsn, entry)| (*lsn, entry)))
    }
}

/// Positions in use by all threads.
#[derive(Default)]
pub(crate) struct Snapshots {
    parts: Parts<Mutex<Uses>>,
    /// Set when a snapshot that was neither young nor the oldest has ended.
    middle_gone: AtomicBool,
    /// Time for which a snapshot counts as young, in milliseconds.
    young: AtomicU64,
    /// The highest commit published.
    last_commit: AtomicU64,
    /// Position of the youngest index that was built beside changes.
    pub(crate) last_index: AtomicU64,
}

impl Snapshots {
    /// No snapshots, with a given number of parts.
    #[cfg(all(test, feature = "models"))]
    pub(crate) fn in_parts(parts: usize) -> Snapshots {
        Snapshots { parts: Parts::so_many(parts, Mutex::default), ..Snapshots::default() }
    }

    /// Sets the time for which pruning spares a snapshot.
    pub(crate) fn set_young(&self, time: Duration) {
        self.young.store(time.as_millis() as u64, Ordering::Relaxed);
    }

    fn young(&self) -> Duration {
        Duration::from_millis(self.young.load(Ordering::Relaxed))
    }

    /// Notes the commit published at `lsn`, so that later snapshots see it.
    pub(crate) fn committed(&self, lsn: u64) {
        self.last_commit.fetch_max(lsn, Ordering::AcqRel);
    }

    /// Position of the last commit published.
    pub(crate) fn last_commit(&self) -> u64 {
        self.last_commit.load(Ordering::Acquire)
    }

    /// Returns a position that is not below any commit published by now, and below all published
    /// later.
    pub(crate) fn now(&self, log: &Log) -> u64 {
        let wanted = self.last_commit.load(Ordering::Acquire);
        let mut backoff = Backoff::new();
        loop {
            let completed = log.completed().0;
            if completed >= wanted {
                return completed;
            }
            // A group that lies below the commit is still being copied into the log.
            backoff.wait();
        }
    }

    /// Takes a snapshot. It keeps versions alive until it is released.
    pub(crate) fn take(&self, log: &Log) -> Snapshot {
        self.take_in(self.parts.own_number(), || self.now(log))
    }

    /// Takes a snapshot at the position that `now` returns, in a given part.
    pub(crate) fn take_in(&self, part: usize, now: impl FnOnce() -> u64) -> Snapshot {
        let mut uses = self.parts[part].lock();
        // Read under the lock: a later visit of this part finds the snapshot, an earlier visit
        // began with a position that is not above it.
        let lsn = now();
        uses.add(lsn);
        Snapshot { lsn, part: part as u8 }
    }

    /// Releases a snapshot.
    pub(crate) fn release(&self, snapshot: Snapshot) {
        let gone = self.parts[usize::from(snapshot.part)].lock().remove(snapshot.lsn);
        let old = gone.is_some_and(|since| since.elapsed_recently() >= self.young());
        if old && self.oldest().is_some_and(|first| first < snapshot.lsn) {
            self.middle_gone.store(true, Ordering::Relaxed);
        }
    }

    fn oldest(&self) -> Option<u64> {
        self.parts.iter().filter_map(|part| part.lock().iter().map(|(lsn, _)| lsn).min()).min()
    }

    /// For pruning: the snapshots in use, ascending; the highest position with no young snapshot
    /// below it; and whether an old one between others has ended since the last call.
    pub(super) fn in_use(&self, log: &Log) -> (Vec<u64>, u64, bool) {
        let mut upto = self.now(log);
        let again = self.middle_gone.swap(false, Ordering::Relaxed);
        let young = self.young();
        let mut all = Vec::new();
        for part in self.parts.iter() {
            for (lsn, entry) in part.lock().iter() {
                all.push(lsn);
                if entry.since.elapsed() < young {
                    upto = upto.min(lsn);
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        (all, upto, again)
    }

    /// The position up to which all snapshots, present and future, see every commit.
    pub(crate) fn horizon(&self, log: &Log) -> u64 {
        self.horizon_at(self.now(log))
    }

    /// As [`Self::horizon`], with `now` read before.
    pub(crate) fn horizon_at(&self, now: u64) -> u64 {
        self.oldest().map_or(now, |oldest| oldest.min(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_counted_by_position() {
        let mut uses = Uses::default();
        [5, 5, 9, 7, 9, 5].into_iter().for_each(|lsn| uses.add(lsn));
        let mut all: Vec<_> = uses.iter().map(|(lsn, entry)| (lsn, entry.users)).collect();
        all.sort_unstable();
        assert_eq!(all, [(5, 3), (7, 1), (9, 2)]);
        let gone: Vec<bool> = [5, 9, 5, 7, 9, 5, 5].map(|lsn| uses.remove(lsn).is_some()).into();
        assert_eq!(gone, [false, false, false, true, true, true, false]);
        assert_eq!(uses.iter().count(), 0);
    }
}
