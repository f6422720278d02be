//! Explicit record locks, with a queue per record.
//!
//! A record's lock is granted in queue order. A shard's mutex is held for moments only: nothing
//! waits or latches a page under it.

use super::gaps::Gaps;
use super::wait::Waits;
use crate::ids::FileId;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::trx::{TrxState, Waiter};
use hashbrown::HashMap;
use selkie_engine::LockMode;
use smallvec::SmallVec;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

const SHARDS: usize = 64;

#[derive(PartialEq, Eq, Hash)]
struct Name(FileId, Box<[u8]>);

/// A borrowed `Name`.
#[derive(Hash)]
struct NameRef<'k>(FileId, &'k [u8]);

impl hashbrown::Equivalent<Name> for NameRef<'_> {
    fn equivalent(&self, name: &Name) -> bool {
        self.0 == name.0 && self.1 == &name.1[..]
    }
}

struct Holder {
    trx: Arc<TrxState>,
    mode: LockMode,
}

/// A transaction that waits for the lock.
struct Waiting {
    trx: Arc<TrxState>,
    mode: LockMode,
    waiter: Arc<Waiter>,
    /// Transactions whose locks blocked its last request; `None` before the first.
    met: Option<SmallVec<[u64; 2]>>,
}

/// Holders of a record's lock, and its waiters in order of arrival. No waiter overtakes another.
#[derive(Default)]
struct Record {
    holders: SmallVec<[Holder; 1]>,
    waiting: Vec<Waiting>,
}

impl Record {
    fn is_unused(&self) -> bool {
        self.holders.is_empty() && self.waiting.is_empty()
    }

    /// Wakes the waiters whose turn is next: the first, or all shared ones before the first
    /// exclusive one. The others wait for these: to wake all of a long queue for each released lock
    /// would cost its length squared.
    fn wake_first(&self) {
        let shared = self.waiting.iter().take_while(|waiting| waiting.mode == LockMode::Shared);
        let first = self.waiting.iter().take(shared.count().max(1));
        first.for_each(|waiting| waiting.waiter.wake());
    }

    /// Wakes the waiters behind one that stood at `at` and has left, up to the first exclusive one,
    /// for which all behind it wait.
    fn wake_behind_place(&self, at: usize) {
        let behind = self.waiting.get(at..).unwrap_or_default();
        let last = behind.iter().position(|waiting| waiting.mode == LockMode::Exclusive);
        let some = &behind[..last.map_or(behind.len(), |last| last + 1)];
        some.iter().for_each(|waiting| waiting.waiter.wake());
    }

    /// Notes for a queued waiter which holders block it.
    fn note_met(&mut self, place: Option<&Arc<Waiter>>, mode: LockMode) {
        let Some(place) = place else { return };
        let mine = self.waiting.iter_mut().find(|waiting| Arc::ptr_eq(place, &waiting.waiter));
        if let Some(mine) = mine {
            let met = conflicts(&self.holders, mine.trx.id, mode);
            mine.met = Some(met.iter().map(|holder| holder.id).collect());
        }
    }

    /// Wakes the queued waiters that may have been blocked by a lock of this transaction.
    fn wake_behind(&self, holder: u64) {
        let met = |waiting: &&Waiting| {
            let met = waiting.met.as_ref().is_none_or(|met| met.contains(&holder));
            met && waiting.trx.id != holder
        };
        self.waiting.iter().filter(met).for_each(|waiting| waiting.waiter.wake());
    }

    /// Transactions that must end, or leave the queue, before the lock is free. These are the
    /// conflicting waiters ahead, back to the nearest exclusive one, which waits for all before it.
    /// If there is no exclusive one, the conflicting holders are added. `place` is the caller's own
    /// place in the queue.
    fn conflicts(&self, me: u64, mode: LockMode, place: Option<&Arc<Waiter>>) -> Holders {
        let (mut blocking, all) = self.ahead(me, mode, place);
        if !all {
            blocking.extend(conflicts(&self.holders, me, mode));
        }
        blocking
    }

    /// The conflicting waiters ahead, back to the nearest exclusive one; true if there is one.
    fn ahead(&self, me: u64, mode: LockMode, place: Option<&Arc<Waiter>>) -> (Holders, bool) {
        let mine = |waiting: &Waiting| place.is_some_and(|mine| Arc::ptr_eq(mine, &waiting.waiter));
        let end = self.waiting.iter().position(mine).unwrap_or(self.waiting.len());
        let mut blocking = Holders::new();
        for ahead in self.waiting[..end].iter().rev().filter(|ahead| ahead.trx.id != me) {
            if ahead.mode == LockMode::Exclusive {
                blocking.push(ahead.trx.clone());
                return (blocking, true);
            }
            if mode == LockMode::Exclusive {
                blocking.push(ahead.trx.clone());
            }
        }
        (blocking, false)
    }
}

type Shard = HashMap<Name, Record, foldhash::fast::RandomState>;

/// Receives a transaction, a tree, a key in it and the lock's mode.
pub(super) type ShowLock<'a> = &'a mut dyn FnMut(u64, FileId, &[u8], LockMode);

/// Transactions that block a request.
pub(crate) type Holders = SmallVec<[Arc<TrxState>; 2]>;

/// All explicit locks, all gap locks, and the wait-for graph.
pub(crate) struct LockTable {
    shards: Box<[Mutex<Shard>]>,
    hasher: foldhash::fast::RandomState,
    count: AtomicUsize,
    pub(crate) gaps: Gaps,
    pub(super) waits: Waits,
}

impl LockTable {
    pub(crate) fn new() -> LockTable {
        LockTable {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            hasher: foldhash::fast::RandomState::default(),
            count: AtomicUsize::new(0),
            gaps: Gaps::default(),
            waits: Waits::default(),
        }
    }

    fn shard(&self, name: &NameRef<'_>) -> &Mutex<Shard> {
        &self.shards[self.hasher.hash_one(name) as usize % SHARDS]
    }

    /// Takes the lock, or returns the transactions that hold a conflicting one or came before;
    /// `place` is the caller's own place in the queue. True: the transaction had no lock before.
    pub(crate) fn acquire(
        &self,
        me: &Arc<TrxState>,
        file: FileId,
        key: &[u8],
        mode: LockMode,
        place: Option<&Arc<Waiter>>,
    ) -> Result<bool, Holders> {
        let name = NameRef(file, key);
        let mut shard = self.shard(&name).lock();
        let Some(record) = shard.get_mut(&name) else {
            let holders = SmallVec::from_iter([Holder { trx: me.clone(), mode }]);
            shard.insert(Name(file, key.into()), Record { holders, waiting: Vec::new() });
            self.count.fetch_add(1, Ordering::Relaxed);
            return Ok(true);
        };
        let mine = record.holders.iter().position(|holder| holder.trx.id == me.id);
        let has = mine.map(|at| record.holders[at].mode);
        if has.is_some_and(|has| has == mode || has == LockMode::Exclusive) {
            return Ok(false);
        }
        record.note_met(place, mode);
        let blocking = record.conflicts(me.id, mode, place);
        if !blocking.is_empty() {
            return Err(blocking);
        }
        match mine {
            Some(at) => record.holders[at].mode = mode,
            None => {
                record.holders.push(Holder { trx: me.clone(), mode });
                self.count.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(mine.is_none())
    }

    /// Takes the explicit lock of a record that this transaction has locked by a change, also if
    /// others wait for it. Returns true if it did not have it before. Takes nothing if another
    /// transaction holds the lock for the moment in which it checks the record's owner: that one is
    /// to find the record free.
    pub(crate) fn keep(&self, me: &Arc<TrxState>, file: FileId, key: &[u8]) -> bool {
        let mode = LockMode::Exclusive;
        let mut shard = self.shard(&NameRef(file, key)).lock();
        let record = shard.entry(Name(file, key.into())).or_default();
        if let Some(mine) = record.holders.iter_mut().find(|holder| holder.trx.id == me.id) {
            mine.mode = mode;
            return false;
        }
        if !conflicts(&record.holders, me.id, mode).is_empty() {
            return false;
        }
        record.holders.push(Holder { trx: me.clone(), mode });
        self.count.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Wakes the next waiters for a record that is gone.
    pub(crate) fn wake(&self, file: FileId, key: &[u8]) {
        let name = NameRef(file, key);
        self.shard(&name).lock().get(&name).into_iter().for_each(Record::wake_first);
    }

    /// Takes a place in the record's queue. Dropping it leaves the queue.
    pub(crate) fn queue<'l>(
        &'l self,
        me: &Arc<TrxState>,
        file: FileId,
        key: &[u8],
        mode: LockMode,
    ) -> Place<'l> {
        let name = NameRef(file, key);
        let waiter = Arc::new(Waiter::default());
        let waiting = Waiting { trx: me.clone(), mode, waiter: waiter.clone(), met: None };
        let mut shard = self.shard(&name).lock();
        match shard.get_mut(&name) {
            Some(record) => record.waiting.push(waiting),
            None => {
                let record = Record { holders: SmallVec::new(), waiting: vec![waiting] };
                shard.insert(Name(file, key.into()), record);
            }
        }
        Place { locks: self, file, key: key.into(), waiter }
    }

    fn leave(&self, place: &Place<'_>) {
        let name = NameRef(place.file, &place.key);
        let mut shard = self.shard(&name).lock();
        let Some(record) = shard.get_mut(&name) else { return };
        let mine = |waiting: &Waiting| Arc::ptr_eq(&waiting.waiter, &place.waiter);
        if let Some(at) = record.waiting.iter().position(mine) {
            record.waiting.remove(at);
            record.wake_behind_place(at);
        }
        if record.is_unused() {
            shard.remove(&name);
        }
    }

    /// Other transactions that hold a lock in conflict with `mode`.
    pub(crate) fn blocking(&self, me: u64, file: FileId, key: &[u8], mode: LockMode) -> Holders {
        if self.count.load(Ordering::Acquire) == 0 {
            return Holders::new();
        }
        let name = NameRef(file, key);
        let shard = self.shard(&name).lock();
        shard.get(&name).map_or_else(Holders::new, |record| conflicts(&record.holders, me, mode))
    }

    /// Whether [`Self::acquire`] would have to wait.
    pub(crate) fn is_contended(&self, me: u64, file: FileId, key: &[u8], mode: LockMode) -> bool {
        let name = NameRef(file, key);
        let shard = self.shard(&name).lock();
        let Some(record) = shard.get(&name) else { return false };
        let has = record.holders.iter().find(|holder| holder.trx.id == me);
        let enough = has.is_some_and(|has| has.mode == mode || has.mode == LockMode::Exclusive);
        !enough && !record.conflicts(me, mode, None).is_empty()
    }

    /// Transactions that get the lock before the one at `place`.
    pub(super) fn ahead(&self, me: u64, mode: LockMode, place: &Place<'_>) -> Holders {
        let name = NameRef(place.file, &place.key);
        let shard = self.shard(&name).lock();
        let Some(record) = shard.get(&name) else { return Holders::new() };
        record.ahead(me, mode, Some(&place.waiter)).0
    }

    /// Releases locks of an ended transaction.
    pub(crate) fn release(&self, me: u64, locks: &[(FileId, Box<[u8]>)]) {
        for (file, key) in locks {
            let name = NameRef(*file, key);
            let mut shard = self.shard(&name).lock();
            let Some(record) = shard.get_mut(&name) else { continue };
            let before = record.holders.len();
            record.holders.retain(|holder| holder.trx.id != me);
            let gone = before - record.holders.len();
            record.wake_first();
            if record.is_unused() {
                shard.remove(&name);
            }
            self.count.fetch_sub(gone, Ordering::Relaxed);
        }
    }

    /// Takes back a lock that was just acquired.
    pub(crate) fn take_back(&self, me: u64, file: FileId, key: &[u8]) {
        let name = NameRef(file, key);
        let mut shard = self.shard(&name).lock();
        let Some(record) = shard.get_mut(&name) else { return };
        record.holders.retain(|holder| holder.trx.id != me);
        // The row's owner may have ended meanwhile: then only this lock blocked the others. To wake
        // all of them would let them take and return theirs, and wake this one.
        record.wake_behind(me);
        if record.is_unused() {
            shard.remove(&name);
        }
        self.count.fetch_sub(1, Ordering::Relaxed);
    }

    /// Releases one lock.
    pub(crate) fn release_one(&self, me: u64, file: FileId, key: &[u8]) {
        self.release(me, &[(file, key.into())]);
    }

    /// Mode of the explicit lock of a transaction on a row.
    pub(crate) fn mode_of(&self, trx: u64, file: FileId, key: &[u8]) -> Option<LockMode> {
        let name = NameRef(file, key);
        let shard = self.shard(&name).lock();
        let holder = shard.get(&name)?.holders.iter().find(|holder| holder.trx.id == trx)?;
        Some(holder.mode)
    }

    /// Shows every explicit lock: its transaction, tree, key and mode.
    pub(super) fn each(&self, show: ShowLock<'_>) {
        for shard in &self.shards {
            for (Name(file, key), record) in shard.lock().iter() {
                record
                    .holders
                    .iter()
                    .for_each(|holder| show(holder.trx.id, *file, key, holder.mode));
            }
        }
    }

    /// Number of explicit locks held.
    pub(crate) fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

/// A place in the queue for a record.
pub(crate) struct Place<'l> {
    locks: &'l LockTable,
    file: FileId,
    key: Box<[u8]>,
    /// Woken when the record's lock or queue changes.
    pub(crate) waiter: Arc<Waiter>,
}

impl Place<'_> {
    pub(super) fn is_at(&self, file: FileId, key: &[u8]) -> bool {
        self.file == file && *self.key == *key
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.locks.leave(self);
    }
}

fn conflicts(holders: &[Holder], me: u64, mode: LockMode) -> Holders {
    let conflicting = |holder: &&Holder| {
        let shared = mode == LockMode::Shared && holder.mode == LockMode::Shared;
        holder.trx.id != me && !shared && holder.trx.is_active()
    };
    holders.iter().filter(conflicting).map(|holder| holder.trx.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn woken(places: &[Place<'_>]) -> Vec<bool> {
        let woken = places.iter().map(|place| place.waiter.is_woken()).collect();
        places.iter().for_each(|place| place.waiter.reset());
        woken
    }

    #[test]
    fn only_those_whose_turn_it_is_are_woken() {
        use LockMode::{Exclusive as X, Shared as S};
        let (locks, file) = (LockTable::new(), FileId(7));
        let trx: Vec<_> = (1..=6).map(|id| Arc::new(TrxState::new(id))).collect();
        assert!(locks.acquire(&trx[0], file, b"k", X, None).is_ok());
        let modes = [S, S, X, X, X];
        let queued = |(mode, trx)| locks.queue(trx, file, b"k", mode);
        let mut places: Vec<_> = modes.into_iter().zip(&trx[1..]).map(queued).collect();
        let ahead = |trx: &Arc<TrxState>, mode, place| {
            locks.ahead(trx.id, mode, place).iter().map(|trx| trx.id).collect::<Vec<_>>()
        };
        assert_eq!(ahead(&trx[2], S, &places[1]), [0; 0]);
        assert_eq!(ahead(&trx[3], X, &places[2]), [3, 2]);
        assert_eq!(ahead(&trx[5], X, &places[4]), [5]);
        locks.release_one(1, file, b"k");
        assert_eq!(woken(&places), [true, true, false, false, false]);
        drop(places.remove(3));
        assert_eq!(
            woken(&places),
            [false, false, false, true],
            "it stood behind the one that left"
        );
        places.drain(..2);
        assert_eq!(woken(&places), [true, false]);
    }

    #[test]
    fn who_met_a_lock_that_is_taken_back_is_woken() {
        const MODE: LockMode = LockMode::Exclusive;
        let (locks, file) = (LockTable::new(), FileId(7));
        let trx = [1, 2, 3].map(|id| Arc::new(TrxState::new(id)));
        let take = |n: usize, place: Option<&Place<'_>>| {
            let place = place.map(|place| &place.waiter);
            locks.acquire(&trx[n], file, b"k", MODE, place).is_ok()
        };
        assert!(take(0, None));
        let places = [1, 2].map(|n| locks.queue(&trx[n], file, b"k", MODE));
        assert!(!take(1, Some(&places[0])));
        locks.take_back(1, file, b"k");
        assert!(places[0].waiter.park(Duration::ZERO), "it met the lock");
        assert!(take(1, Some(&places[0])) && !take(2, Some(&places[1])));
        places.iter().for_each(|place| place.waiter.reset());
        locks.take_back(2, file, b"k");
        assert!(places[1].waiter.park(Duration::ZERO));
        assert!(!places[0].waiter.park(Duration::ZERO), "its own lock was in nobody's way");
    }
}
