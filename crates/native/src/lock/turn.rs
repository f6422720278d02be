//! Locks of entries, granted in order of request.
//!
//! Must not be called with a latch held: it may wait.

use super::LockTable;
use super::table::Place;
use crate::ids::FileId;
use crate::trx::{LockKind, TrxState, Waiter};
use selkie_engine::{EngineError, EngineResult, LockMode, LockWait};
use std::sync::Arc;

/// A lock request.
pub(crate) struct Wanted<'k> {
    pub(crate) file: FileId,
    pub(crate) key: &'k [u8],
    pub(crate) mode: LockMode,
    pub(crate) wait: LockWait,
}

/// An entry as it was read under its lock.
pub(crate) struct Locked<T> {
    pub(crate) found: T,
    /// The transaction got its first explicit lock on the entry.
    pub(crate) new: bool,
}

impl LockTable {
    /// Takes the lock when its turn has come; `None` if it is to be skipped instead of waited for.
    /// `look` reads the entry and returns the owner of its newest version, if that has not ended.
    /// It is called with the lock taken, so that a transaction that changes the entry afterwards
    /// meets the lock. `wait` sleeps until one of the given transactions has ended or the waiter is
    /// woken.
    pub(crate) fn lock_in_turn<T>(
        &self,
        me: &Arc<TrxState>,
        wanted: &Wanted<'_>,
        mut look: impl FnMut() -> EngineResult<(T, Option<Arc<TrxState>>)>,
        mut wait: impl FnMut(&[Arc<TrxState>], Arc<Waiter>) -> EngineResult<()>,
    ) -> EngineResult<Option<Locked<T>>> {
        let &Wanted { file, key, mode, .. } = wanted;
        let mut place: Option<Place<'_>> = None;
        loop {
            let waiter = place.as_ref().map(|place| &place.waiter);
            waiter.into_iter().for_each(|waiter| waiter.reset());
            let acquired = self.acquire(me, file, key, mode, waiter);
            let new = matches!(acquired, Ok(true));
            let looked = look();
            if new && looked.is_err() {
                self.take_back(me.id, file, key);
            }
            let (found, owner) = looked?;
            let mine = owner.as_ref().is_some_and(|owner| owner.id == me.id);
            let implied = owner.clone().filter(|_| !mine);
            let holders = match (acquired, owner) {
                // The transaction's own row is locked already, also if others queue for it.
                (_, Some(_)) if mine => Vec::new(),
                // A waiter behind other waiters does not check the row's owner: the first one does.
                (Err(holders), _) => holders.into_vec(),
                (Ok(_), Some(owner)) => vec![owner],
                (Ok(_), None) => Vec::new(),
            };
            if holders.is_empty() {
                return Ok(Some(Locked { found, new }));
            }
            if new {
                // The owner, who has the row already, must not find it locked meanwhile.
                self.take_back(me.id, file, key);
            }
            match wanted.wait {
                LockWait::SkipLocked => return Ok(None),
                LockWait::NoWait => return Err(EngineError::LockWaitTimeout),
                LockWait::Default | LockWait::Upto(_) => {}
            }
            let Some(place) = &place else {
                place = Some(self.queue(me, file, key, mode));
                continue;
            };
            // An implicit lock adds to its owner's weight once another transaction waits for it.
            let kind = LockKind::Entries(file, LockMode::Exclusive);
            implied.iter().for_each(|owner| owner.weight.lock(kind));
            me.notes.will_wait_for(file, key, mode);
            wait(&holders, place.waiter.clone())?;
        }
    }
}

/// Place in the queue of a transaction that changes an entry. It needs others' locks to end but
/// takes none: the change itself locks the entry.
#[derive(Default)]
pub(crate) struct Behind<'l>(Option<Place<'l>>);

impl<'l> Behind<'l> {
    /// Resets the waiter. The caller must then check again for blocking transactions.
    pub(crate) fn look_again(&self) {
        self.0.iter().for_each(|place| place.waiter.reset());
    }

    /// Sleeps, through `wait`, until `holders` have ended or released the lock, or it is this
    /// transaction's turn to check them. The first call only takes a place in the queue: the
    /// blocking transactions may have changed before.
    pub(crate) fn wait(
        &mut self,
        locks: &'l LockTable,
        me: &Arc<TrxState>,
        wanted: &Wanted<'_>,
        holders: &[Arc<TrxState>],
        wait: impl FnOnce(&[Arc<TrxState>], Arc<Waiter>) -> EngineResult<()>,
    ) -> EngineResult<()> {
        let &Wanted { file, key, mode, .. } = wanted;
        if let Some(place) = self.0.as_ref().filter(|place| place.is_at(file, key)) {
            me.notes.will_wait_for(file, key, LockMode::Exclusive);
            let ahead = locks.ahead(me.id, mode, place);
            let holders = if ahead.is_empty() { holders } else { &ahead };
            return wait(holders, place.waiter.clone());
        }
        self.0 = None;
        self.0 = Some(locks.queue(me, file, key, mode));
        Ok(())
    }
}
