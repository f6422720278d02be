//! How much a transaction has changed and locked, as InnoDB counts it when a deadlock needs a
//! victim: rows changed, and kinds of locks. It has one lock structure per page, mode and
//! transaction; here it is one per tree and mode. Must not wait, and knows nothing of who holds
//! what.

use crate::ids::FileId;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, Ordering};
use selkie_engine::LockMode;
use smallvec::SmallVec;

/// Locks that count as one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LockKind {
    /// A table is written or read with locks; named by its clustered tree.
    Table(FileId, LockMode),
    /// Entries of a tree.
    Entries(FileId, LockMode),
    /// Entries of a tree with the gaps before them.
    Gaps(FileId, LockMode),
}

#[derive(Default)]
pub(crate) struct Weight {
    rows: AtomicU64,
    kinds: Mutex<SmallVec<[LockKind; 6]>>,
}

impl Weight {
    pub(crate) fn add_row(&self) {
        self.rows.fetch_add(1, Ordering::Relaxed);
    }

    /// A change was taken back.
    pub(crate) fn remove_row(&self) {
        // What a restart found was not counted.
        let less = |rows: u64| Some(rows.saturating_sub(1));
        let _ = self.rows.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    pub(crate) fn lock(&self, kind: LockKind) {
        let mut kinds = self.kinds.lock();
        if !kinds.iter().rev().any(|known| *known == kind) {
            kinds.push(kind);
        }
    }

    /// Changes of rows that were not taken back.
    pub(crate) fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// Kinds of locks, and tables among them.
    pub(crate) fn locks(&self) -> (u64, u64) {
        let kinds = self.kinds.lock();
        let tables = kinds.iter().filter(|kind| matches!(kind, LockKind::Table(..))).count();
        (kinds.len() as u64, tables as u64)
    }

    pub(crate) fn total(&self) -> u64 {
        self.rows() + self.locks().0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_count_once() {
        let weight = Weight::default();
        let (file, other) = (FileId(1), FileId(2));
        weight.add_row();
        for _ in 0..3 {
            weight.lock(LockKind::Table(file, LockMode::Exclusive));
            weight.lock(LockKind::Entries(file, LockMode::Exclusive));
            weight.lock(LockKind::Entries(other, LockMode::Shared));
        }
        assert_eq!((weight.rows(), weight.locks(), weight.total()), (1, (3, 1), 4));
        weight.remove_row();
        assert_eq!(weight.total(), 3);
    }
}
