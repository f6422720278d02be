//! Locking an entry, in the order of asking.

use super::LockTable;
use super::table::Place;
use crate::ids::FileId;
use crate::trx::{LockKind, TrxState, Waiter};
use selkie_engine::{EngineError, EngineResult, LockMode, LockWait};
use std::sync::Arc;

/// A lock that is asked for.
pub(crate) struct Wanted<'k> {
    pub(crate) file: FileId,
    pub(crate) key: &'k [u8],
    pub(crate) mode: LockMode,
    pub(crate) wait: LockWait,
}

/// An entry as it was found while locked.
pub(crate) struct Locked<T> {
    pub(crate) found: T,
    /// The transaction had no explicit lock on it before, and has one now.
    pub(crate) new: bool,
}

impl LockTable {
    /// Takes the lock when its turn has come; `None` if it is to be skipped instead of waited for.
    /// `look` reads the entry and says whose newest version it is, if that transaction has not
    /// ended; it is called with the lock taken, so that whoever changes the entry afterwards meets
    /// the lock. `wait` sleeps until one of these has ended or the waiter is woken.
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
                // A row of one's own is locked already, whoever queues for it.
                (_, Some(_)) if mine => Vec::new(),
                // Who stands behind others leaves the row's owner to them.
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
            // A lock that was only implied counts once somebody waits for it.
            let kind = LockKind::Entries(file, LockMode::Exclusive);
            implied.iter().for_each(|owner| owner.weight.lock(kind));
            me.notes.will_wait_for(file, key, mode);
            wait(&holders, place.waiter.clone())?;
        }
    }
}

/// The queue of somebody who needs others' locks to go and takes none: he changes the entry, which
/// locks it too.
#[derive(Default)]
pub(crate) struct Behind<'l>(Option<Place<'l>>);

impl<'l> Behind<'l> {
    /// To be followed by a look at what is in the way.
    pub(crate) fn look_again(&self) {
        self.0.iter().for_each(|place| place.waiter.reset());
    }

    /// Sleeps, through `wait`, until `holders` have ended or have given back the lock, or it is
    /// this one's turn to look at them. The first time this only takes a place in the queue: what
    /// is in the way may have changed before.
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
