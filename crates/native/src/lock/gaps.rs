//! Gap locks: ranges of an index's keys into which only the lock's holder may insert.
//!
//! They are intervals of key bytes, not marks on records, so they outlive splits, merges and the
//! records at their ends. They do not conflict with each other. Must not wait: called under the
//! latch of a leaf, which makes a check and a lock one step (I29).

use super::table::Holders;
use crate::ids::FileId;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::trx::TrxState;
use hashbrown::HashMap;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

const SHARDS: usize = 16;

/// Disjoint half-open intervals: first key, and the first key after it (`None`: no end).
type Intervals = BTreeMap<Box<[u8]>, Option<Box<[u8]>>>;

/// One interval.
type Interval = (Box<[u8]>, Option<Box<[u8]>>);

struct Holder {
    trx: Arc<TrxState>,
    intervals: Intervals,
}

/// Data to undo the last interval.
#[derive(Debug)]
pub(crate) struct Covered {
    /// Start of the interval that now contains it.
    start: Box<[u8]>,
    /// The intervals it was merged with.
    before: Vec<Interval>,
}

type Shard = HashMap<FileId, Vec<Holder>>;

/// Receives a gap lock's transaction, its tree and the first key after it.
pub(super) type ShowGap<'a> = &'a mut dyn FnMut(u64, FileId, Option<&[u8]>);

/// All gap locks.
#[derive(Default)]
pub(crate) struct Gaps {
    shards: [Mutex<Shard>; SHARDS],
    /// Number of pairs of transaction and tree with gap locks.
    holders: AtomicUsize,
}

impl Gaps {
    fn shard(&self, file: FileId) -> &Mutex<Shard> {
        &self.shards[file.0 as usize % SHARDS]
    }

    /// Locks the keys from `from` up to, not including, `to`. Returns true if it is the first
    /// interval of the transaction in this tree, which the caller notes for [`Self::release`].
    pub(crate) fn cover(
        &self,
        me: &Arc<TrxState>,
        file: FileId,
        from: &[u8],
        to: Option<&[u8]>,
    ) -> (bool, Covered) {
        let mut shard = self.shard(file).lock();
        let holders = shard.entry(file).or_default();
        if let Some(mine) = holders.iter_mut().find(|holder| holder.trx.id == me.id) {
            return (false, add(&mut mine.intervals, from, to));
        }
        let mut intervals = Intervals::new();
        let covered = add(&mut intervals, from, to);
        holders.push(Holder { trx: me.clone(), intervals });
        self.holders.fetch_add(1, Ordering::Release);
        (true, covered)
    }

    /// Replaces the last interval of the transaction in this tree by the keys from `from` up to,
    /// not including, `to`. Wakes the waiters of the transaction, so that they check again.
    pub(crate) fn shrink(
        &self,
        me: &Arc<TrxState>,
        file: FileId,
        covered: Covered,
        kept: (&[u8], Option<&[u8]>),
    ) {
        self.replace(me, file, covered, kept);
        me.wake();
    }

    fn replace(
        &self,
        me: &TrxState,
        file: FileId,
        covered: Covered,
        (from, to): (&[u8], Option<&[u8]>),
    ) {
        let mut shard = self.shard(file).lock();
        let mut holders = shard.get_mut(&file).into_iter().flatten();
        let Some(mine) = holders.find(|holder| holder.trx.id == me.id) else { return };
        mine.intervals.remove(&covered.start);
        mine.intervals.extend(covered.before);
        if to.is_none_or(|to| from < to) {
            add(&mut mine.intervals, from, to);
        }
    }

    /// Other active transactions whose gap locks block an insert of `key` by `me`.
    pub(crate) fn blocking(&self, me: u64, file: FileId, key: &[u8]) -> Holders {
        if self.holders.load(Ordering::Acquire) == 0 {
            return Holders::new();
        }
        let shard = self.shard(file).lock();
        let Some(holders) = shard.get(&file) else { return Holders::new() };
        let in_the_way = |holder: &&Holder| {
            holder.trx.id != me && holder.trx.is_active() && contains(&holder.intervals, key)
        };
        holders.iter().filter(in_the_way).map(|holder| holder.trx.clone()).collect()
    }

    /// Releases the locks of an ended transaction in these trees.
    pub(crate) fn release(&self, me: u64, files: &[FileId]) {
        for file in files {
            let mut shard = self.shard(*file).lock();
            let Some(holders) = shard.get_mut(file) else { continue };
            let before = holders.len();
            holders.retain(|holder| holder.trx.id != me);
            self.holders.fetch_sub(before - holders.len(), Ordering::Relaxed);
            if holders.is_empty() {
                shard.remove(file);
            }
        }
    }

    /// Shows every interval: its transaction, its tree and the first key after it.
    pub(super) fn each(&self, show: ShowGap<'_>) {
        for shard in &self.shards {
            for (file, holders) in shard.lock().iter() {
                for holder in holders {
                    holder
                        .intervals
                        .values()
                        .for_each(|to| show(holder.trx.id, *file, to.as_deref()));
                }
            }
        }
    }
}

/// Adds an interval and merges it with those it overlaps or touches.
fn add(intervals: &mut Intervals, from: &[u8], to: Option<&[u8]>) -> Covered {
    let mut before = Vec::new();
    let mut from: Box<[u8]> = from.into();
    let mut to: Option<Box<[u8]>> = to.map(Into::into);
    let at_most = match &to {
        Some(to) => Bound::Included(to.clone()),
        None => Bound::Unbounded,
    };
    // Disjoint intervals end in the order they begin, so those to be merged are the last ones that
    // begin at or before the end.
    while let Some((low, high)) =
        intervals.range::<[u8], _>((Bound::Unbounded, by_ref(&at_most))).next_back()
    {
        if high.as_ref().is_some_and(|high| **high < *from) {
            break;
        }
        let low = low.clone();
        let high = intervals.remove(&low).flatten();
        before.push((low.clone(), high.clone()));
        to = match (to, high) {
            (Some(a), Some(b)) => Some(a.max(b)),
            _ => None,
        };
        from = from.min(low);
    }
    intervals.insert(from.clone(), to);
    Covered { start: from, before }
}

fn by_ref(bound: &Bound<Box<[u8]>>) -> Bound<&[u8]> {
    match bound {
        Bound::Included(key) => Bound::Included(key),
        Bound::Excluded(key) => Bound::Excluded(key),
        Bound::Unbounded => Bound::Unbounded,
    }
}

fn contains(intervals: &Intervals, key: &[u8]) -> bool {
    let before = intervals.range::<[u8], _>((Bound::Unbounded, Bound::Included(key))).next_back();
    before.is_some_and(|(_, to)| to.as_ref().is_none_or(|to| key < &to[..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(intervals: &Intervals) -> Vec<(&[u8], Option<&[u8]>)> {
        intervals.iter().map(|(from, to)| (&from[..], to.as_deref())).collect()
    }

    #[test]
    fn intervals_that_meet_become_one() {
        let mut all = Intervals::new();
        add(&mut all, b"b", Some(b"d"));
        add(&mut all, b"f", Some(b"h"));
        assert_eq!(list(&all), [(&b"b"[..], Some(&b"d"[..])), (b"f", Some(b"h"))]);
        add(&mut all, b"d", Some(b"e"));
        assert_eq!(list(&all), [(&b"b"[..], Some(&b"e"[..])), (b"f", Some(b"h"))]);
        add(&mut all, b"c", Some(b"g"));
        assert_eq!(list(&all), [(&b"b"[..], Some(&b"h"[..]))]);
        add(&mut all, b"k", None);
        add(&mut all, b"a", Some(b"l"));
        assert_eq!(list(&all), [(&b"a"[..], None)]);
    }

    #[test]
    fn the_last_interval_can_shrink() {
        let gaps = Gaps::default();
        let (one, two) = (Arc::new(TrxState::new(1)), Arc::new(TrxState::new(2)));
        let file = FileId(7);
        gaps.cover(&one, file, b"b", Some(b"d"));
        gaps.cover(&one, file, b"f", Some(b"h"));
        let (_, covered) = gaps.cover(&one, file, b"c", Some(b"g"));
        gaps.shrink(&one, file, covered, (b"c", Some(b"e")));
        let free = |key: &[u8]| gaps.blocking(two.id, file, key).is_empty();
        assert!(!free(b"b") && !free(b"d") && free(b"e") && !free(b"f") && free(b"h"));
        let (_, covered) = gaps.cover(&one, file, b"x", None);
        gaps.shrink(&one, file, covered, (b"x", Some(b"x")));
        assert!(free(b"x") && !free(b"f"));
    }

    #[test]
    fn only_others_are_kept_out() {
        let gaps = Gaps::default();
        let (one, two) = (Arc::new(TrxState::new(1)), Arc::new(TrxState::new(2)));
        let file = FileId(7);
        assert!(gaps.cover(&one, file, b"b", Some(b"d")).0);
        assert!(!gaps.cover(&one, file, b"x", None).0);
        assert!(gaps.cover(&two, file, b"a", Some(b"c")).0);
        assert_eq!(gaps.blocking(1, file, b"b").len(), 1);
        assert_eq!(gaps.blocking(2, file, b"c").len(), 1);
        assert!(gaps.blocking(1, file, b"c").is_empty());
        assert!(gaps.blocking(2, file, b"d").is_empty());
        assert_eq!(gaps.blocking(2, file, b"zz").len(), 1);
        gaps.release(1, &[file]);
        assert!(gaps.blocking(2, file, b"zz").is_empty());
    }
}
