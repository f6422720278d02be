//! The gate through which all changes pass: FLUSH TABLES WITH READ LOCK and BACKUP STAGE close it.
//!
//! A statement that changes something enters the gate before it takes any lock, and leaves when it
//! ends; a commit enters on its own. A closer waits until all inside have left, and keeps others
//! out until it opens the gate again.
//!
//! # Invariants
//! - GATE-1 An owner inside never waits for the gate again: a nested statement uses the passage of
//!   the outer one.
//! - GATE-2 Kinds are closed in the order of [`Work`], so that an owner inside for one kind can
//!   still enter for the next, and leave.
//!
//! Must not know kinds of statements.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::task::Wake;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use selkie_engine::{WaitKind, blocking};
use selkie_types::error::catalogue::ER_CANT_UPDATE_WITH_READLOCK;
use selkie_types::{SqlError, SqlResult};

use crate::state::control::Control;
use crate::state::patience::Patience;

/// Kinds of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Changes of definitions, and changes that cannot be undone.
    Definition,
    /// Changes of rows.
    Rows,
    /// Commits.
    Commit,
}

impl Work {
    const ALL: [Self; 3] = [Self::Definition, Self::Rows, Self::Commit];

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// The gate of an instance.
#[derive(Debug, Default)]
pub struct Gate {
    inside: [AtomicUsize; 3],
    /// Bits of the kinds that are closed.
    closed: AtomicU8,
    closers: Mutex<Vec<(u64, u8)>>,
    changed: Condvar,
}

/// Passage of an owner inside the gate; dropping it leaves.
#[derive(Debug)]
pub struct Passage {
    gate: Arc<Gate>,
    work: Work,
}

impl Passage {
    /// Kind of work it was entered for.
    pub(crate) fn work(&self) -> Work {
        self.work
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        self.gate.leave(self.work);
    }
}

/// Closed kinds of work; dropping it opens them.
#[derive(Debug)]
pub struct Closing {
    gate: Arc<Gate>,
    owner: u64,
    kinds: u8,
}

impl Drop for Closing {
    fn drop(&mut self) {
        self.gate.open(self.owner, self.kinds);
    }
}

impl Gate {
    fn leave(&self, work: Work) {
        self.inside[work as usize].fetch_sub(1, Ordering::SeqCst);
        if self.closed.load(Ordering::SeqCst) != 0 {
            drop(self.closers.lock());
            self.changed.notify_all();
        }
    }

    fn open(&self, owner: u64, kinds: u8) {
        let mut closers = self.closers.lock();
        if let Some(at) = closers.iter().position(|c| *c == (owner, kinds)) {
            closers.swap_remove(at);
        }
        let closed = closers.iter().fold(0, |all, (_, kinds)| all | kinds);
        self.closed.store(closed, Ordering::SeqCst);
        self.changed.notify_all();
    }

    /// Enters for `owner`, waiting up to `limit`. Error 1223 if the owner itself has closed this
    /// kind of work.
    pub fn enter(
        self: &Arc<Self>,
        control: &Control,
        owner: u64,
        work: Work,
        limit: Duration,
    ) -> SqlResult<Passage> {
        let patience = control.patience(Some(limit));
        loop {
            // Count first, then check; a closer marks first, then counts: one of them sees the
            // other.
            self.inside[work as usize].fetch_add(1, Ordering::SeqCst);
            if self.closed.load(Ordering::SeqCst) & work.bit() == 0 {
                return Ok(Passage { gate: Arc::clone(self), work });
            }
            self.leave(work);
            if self.wait_until_open(control, owner, work, &patience)? {
                self.inside[work as usize].fetch_add(1, Ordering::SeqCst);
                return Ok(Passage { gate: Arc::clone(self), work });
            }
        }
    }

    /// Waits; true if `owner` may pass because only it has closed the gate, false if the gate was
    /// open for a moment.
    fn wait_until_open(
        self: &Arc<Self>,
        control: &Control,
        owner: u64,
        work: Work,
        patience: &Patience,
    ) -> SqlResult<bool> {
        let mut closers = self.closers.lock();
        loop {
            let closes = |c: &&(u64, u8)| c.1 & work.bit() != 0;
            let own = closers.iter().filter(closes).any(|c| c.0 == owner);
            if own && work != Work::Commit {
                return Err(SqlError::new(&ER_CANT_UPDATE_WITH_READLOCK, &[]));
            }
            if closers.iter().filter(closes).all(|c| c.0 == owner) {
                return Ok(own);
            }
            self.wait(control, &mut closers, patience)?;
        }
    }

    fn wait(
        self: &Arc<Self>,
        control: &Control,
        closers: &mut parking_lot::MutexGuard<'_, Vec<(u64, u8)>>,
        patience: &Patience,
    ) -> SqlResult<()> {
        let left = patience.left().ok_or_else(SqlError::lock_wait_timeout)?;
        let _woken = control.wakes(Arc::clone(self).into());
        control.check()?;
        blocking(WaitKind::GlobalLock, || self.changed.wait_for(closers, left));
        control.check()
    }

    /// Closes `kinds` one after the other, and waits until nobody is inside for them (GATE-2).
    pub fn close(
        self: &Arc<Self>,
        control: &Control,
        owner: u64,
        kinds: &[Work],
        limit: Duration,
    ) -> SqlResult<Vec<Closing>> {
        let patience = control.patience(Some(limit));
        let mut out = Vec::new();
        for work in Work::ALL.into_iter().filter(|work| kinds.contains(work)) {
            let mut closers = self.closers.lock();
            closers.push((owner, work.bit()));
            self.closed.fetch_or(work.bit(), Ordering::SeqCst);
            out.push(Closing { gate: Arc::clone(self), owner, kinds: work.bit() });
            while self.inside[work as usize].load(Ordering::SeqCst) > 0 {
                if let Err(error) = self.wait(control, &mut closers, &patience) {
                    drop(closers);
                    return Err(error);
                }
            }
        }
        Ok(out)
    }
}

impl Wake for Gate {
    /// A waiter was killed.
    fn wake(self: Arc<Self>) {
        drop(self.closers.lock());
        self.changed.notify_all();
    }
}
