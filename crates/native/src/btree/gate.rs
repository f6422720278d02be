//! The gate of a tree that is filled while transactions change its table. Who works on the tree
//! passes the gate, so that the tree can be held still for a moment, or taken away.
//!
//! Must not be held while its holder waits for a row.

use crate::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use crate::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

const SETTLED: u8 = 0;
const GROWING: u8 = 1;
const CLOSED: u8 = 2;

/// A tree's gate. Trees that are complete have none to pass.
#[derive(Default)]
pub(crate) struct Gate {
    state: AtomicU8,
    lock: RwLock<()>,
    /// A delete mark stayed that would have been removed otherwise.
    kept_mark: AtomicBool,
    /// Position of the log from which on snapshots may read the tree; 0: no limit.
    since: AtomicU64,
}

/// The right to work on a tree.
pub(crate) enum Pass<'g> {
    /// The tree is complete.
    Free,
    /// The tree grows, and stays until this is dropped.
    Held { _held: RwLockReadGuard<'g, ()> },
}

impl Gate {
    /// The gate of an empty tree that will be filled.
    pub(crate) fn grow(&self) {
        self.state.store(GROWING, Ordering::Release);
    }

    /// Opens the gate for good: the tree is complete.
    pub(crate) fn settle(&self) {
        let _alone = self.lock.write();
        self.state.store(SETTLED, Ordering::Release);
    }

    /// Closes the gate for good: nobody works on the tree any more.
    pub(crate) fn close(&self) {
        if self.is_growing() {
            let _alone = self.lock.write();
            self.state.store(CLOSED, Ordering::Release);
        }
    }

    /// Whether the tree is being filled. Its delete marks stay: they keep rows out that a snapshot
    /// of the fill has seen.
    pub(crate) fn is_growing(&self) -> bool {
        self.state.load(Ordering::Acquire) == GROWING
    }

    /// Passes the gate; `None` if the tree is gone.
    pub(crate) fn pass(&self) -> Option<Pass<'_>> {
        if self.state.load(Ordering::Acquire) == SETTLED {
            return Some(Pass::Free);
        }
        let held = self.lock.read();
        match self.state.load(Ordering::Acquire) {
            CLOSED => None,
            _ => Some(Pass::Held { _held: held }),
        }
    }

    /// Keeps everybody out until the guard is dropped.
    pub(crate) fn hold(&self) -> RwLockWriteGuard<'_, ()> {
        self.lock.write()
    }

    /// Notes a delete mark that was not removed.
    pub(crate) fn keep_mark(&self) {
        self.kept_mark.store(true, Ordering::Relaxed);
    }

    /// Whether a delete mark was not removed.
    pub(crate) fn has_kept_marks(&self) -> bool {
        self.kept_mark.load(Ordering::Relaxed)
    }

    /// Sets the position of the log from which on snapshots may read the tree.
    pub(crate) fn publish(&self, position: u64) {
        self.since.store(position, Ordering::Release);
    }

    /// Position of the log from which on snapshots may read the tree.
    pub(crate) fn since(&self) -> u64 {
        self.since.load(Ordering::Acquire)
    }
}
