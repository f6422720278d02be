//! The snapshots in use. A snapshot is one log position: it sees the commits up to there.
//!
//! Each thread notes those it takes in a part of its own, so that readers write no memory that
//! others write. Whoever asks for all of them visits the parts one by one: a snapshot that is taken
//! in a part behind its back is at least as high as the position that counted before the visit.

use crate::log::Log;
use crate::pool::Backoff;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use selkie_engine::{Moment, Parts};
use std::collections::BTreeMap;
use std::time::Duration;

/// A snapshot held longer than this is not that of a running statement.
pub(crate) const YOUNG: Duration = Duration::from_millis(100);

/// A snapshot that somebody holds.
#[derive(Clone, Copy)]
pub(crate) struct Snapshot {
    /// It sees the commits up to here.
    pub(crate) lsn: u64,
    part: u8,
}

/// A position in use.
struct Use {
    users: u32,
    since: Moment,
}

/// Positions in use, with how many use them.
#[derive(Default)]
struct Uses {
    /// The one taken last, most often the only one: it costs no memory of its own.
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

    /// When it was taken first, if it was the last one there.
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

/// Positions in use by everybody.
#[derive(Default)]
pub(crate) struct Snapshots {
    parts: Parts<Mutex<Uses>>,
    /// One that was not young has gone, and it was not the oldest.
    middle_gone: AtomicBool,
    /// How long a snapshot is young, in milliseconds.
    young: AtomicU64,
    /// The highest commit published.
    last_commit: AtomicU64,
}

impl Snapshots {
    /// None in use; to be noted in so many parts.
    #[cfg(all(test, feature = "models"))]
    pub(crate) fn in_parts(parts: usize) -> Snapshots {
        Snapshots { parts: Parts::so_many(parts, Mutex::default), ..Snapshots::default() }
    }

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

    /// Everything published by now lies below the position returned; what is published later lies
    /// above.
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
    pub(crate) fn take(&self, log: &Log) -> Snapshot {
        self.take_in(self.parts.own_number(), || self.now(log))
    }

    /// Takes one of the position `now` says, in a part.
    pub(crate) fn take_in(&self, part: usize, now: impl FnOnce() -> u64) -> Snapshot {
        let mut uses = self.parts[part].lock();
        // Read under the lock: who visits this part afterwards must find the snapshot, or have
        // counted from before it.
        let lsn = now();
        uses.add(lsn);
        Snapshot { lsn, part: part as u8 }
    }

    /// Gives a snapshot back.
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

    /// For pruning: the snapshots in use, ascending; the position up to which none of them is
    /// young; and whether an old one has gone from the middle since the last call.
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

    /// Commits up to here are seen by all snapshots in use and to come.
    pub(crate) fn horizon(&self, log: &Log) -> u64 {
        self.horizon_at(self.now(log))
    }

    /// The same; `now` was read before.
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
