//! Explicit record locks.

use super::wait::Waits;
use crate::ids::FileId;
use crate::trx::TrxState;
use hashbrown::HashMap;
use parking_lot::Mutex;
use selkie_engine::LockMode;
use smallvec::SmallVec;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const SHARDS: usize = 64;

#[derive(PartialEq, Eq, Hash)]
struct Name(FileId, Box<[u8]>);

/// The same name, borrowed.
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

type Shard = HashMap<Name, SmallVec<[Holder; 1]>, foldhash::fast::RandomState>;

/// Is shown a transaction, a tree, a key in it and the lock's mode.
pub(super) type ShowLock<'a> = &'a mut dyn FnMut(u64, FileId, &[u8], LockMode);

/// Transactions in the way.
pub(crate) type Holders = SmallVec<[Arc<TrxState>; 2]>;

/// All explicit locks, and who waits for whom.
pub(crate) struct LockTable {
    shards: Box<[Mutex<Shard>]>,
    hasher: foldhash::fast::RandomState,
    count: AtomicUsize,
    pub(super) waits: Waits,
}

impl LockTable {
    pub(crate) fn new() -> LockTable {
        LockTable {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            hasher: foldhash::fast::RandomState::default(),
            count: AtomicUsize::new(0),
            waits: Waits::default(),
        }
    }

    fn shard(&self, name: &NameRef<'_>) -> &Mutex<Shard> {
        &self.shards[self.hasher.hash_one(name) as usize % SHARDS]
    }

    /// Takes the lock, or says who holds one that conflicts. The flag: the transaction did not have it before.
    pub(crate) fn acquire(
        &self,
        me: &Arc<TrxState>,
        file: FileId,
        key: &[u8],
        mode: LockMode,
    ) -> Result<bool, Holders> {
        let name = NameRef(file, key);
        let mut shard = self.shard(&name).lock();
        if let Some(holders) = shard.get_mut(&name) {
            let blocking = conflicts(holders, me.id, mode);
            if !blocking.is_empty() {
                return Err(blocking);
            }
            match holders.iter_mut().find(|h| h.trx.id == me.id) {
                Some(mine) if mode == LockMode::Exclusive => mine.mode = mode,
                Some(_) => {}
                None => {
                    holders.push(Holder { trx: me.clone(), mode });
                    self.count.fetch_add(1, Ordering::Relaxed);
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        let holder = Holder { trx: me.clone(), mode };
        shard.insert(Name(file, key.into()), SmallVec::from_iter([holder]));
        self.count.fetch_add(1, Ordering::Relaxed);
        Ok(true)
    }

    /// Who else holds a lock that conflicts with `mode`.
    pub(crate) fn blocking(&self, me: u64, file: FileId, key: &[u8], mode: LockMode) -> Holders {
        if self.count.load(Ordering::Acquire) == 0 {
            return Holders::new();
        }
        let name = NameRef(file, key);
        let shard = self.shard(&name).lock();
        shard.get(&name).map_or_else(Holders::new, |holders| conflicts(holders, me, mode))
    }

    /// Gives back locks of an ended transaction.
    pub(crate) fn release(&self, me: u64, locks: &[(FileId, Box<[u8]>)]) {
        for (file, key) in locks {
            let name = NameRef(*file, key);
            let mut shard = self.shard(&name).lock();
            let Some(holders) = shard.get_mut(&name) else { continue };
            let before = holders.len();
            holders.retain(|holder| holder.trx.id != me);
            let gone = before - holders.len();
            if holders.is_empty() {
                shard.remove(&name);
            }
            self.count.fetch_sub(gone, Ordering::Relaxed);
        }
    }

    /// Gives back one lock.
    pub(crate) fn release_one(&self, me: u64, file: FileId, key: &[u8]) {
        self.release(me, &[(file, key.into())]);
    }

    /// The explicit lock of a transaction on a row.
    pub(super) fn mode_of(&self, trx: u64, file: FileId, key: &[u8]) -> Option<LockMode> {
        let name = NameRef(file, key);
        let shard = self.shard(&name).lock();
        let holder = shard.get(&name)?.iter().find(|holder| holder.trx.id == trx)?;
        Some(holder.mode)
    }

    /// Shows every explicit lock: its transaction, tree, key and mode.
    pub(super) fn each(&self, show: ShowLock<'_>) {
        for shard in &self.shards {
            for (Name(file, key), holders) in shard.lock().iter() {
                holders.iter().for_each(|holder| show(holder.trx.id, *file, key, holder.mode));
            }
        }
    }

    /// Explicit locks held.
    pub(crate) fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

fn conflicts(holders: &[Holder], me: u64, mode: LockMode) -> Holders {
    let conflicting = |holder: &&Holder| {
        let shared = mode == LockMode::Shared && holder.mode == LockMode::Shared;
        holder.trx.id != me && !shared && holder.trx.is_active()
    };
    holders.iter().filter(conflicting).map(|holder| holder.trx.clone()).collect()
}
