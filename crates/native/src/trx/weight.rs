//! The weight of a transaction, as InnoDB counts it to choose a deadlock's victim: changed rows,
//! and kinds of locks. InnoDB has one lock structure per page, mode and transaction; here it is one
//! per tree and mode. Must not wait, and does not know which locks are held.

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

    /// Counts a change as undone.
    pub(crate) fn remove_row(&self) {
        // Changes found by a restart were not counted.
        let less = |rows: u64| Some(rows.saturating_sub(1));
        let _ = self.rows.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    pub(crate) fn lock(&self, kind: LockKind) {
        let mut kinds = self.kinds.lock();
        if !kinds.iter().rev().any(|known| *known == kind) {
            kinds.push(kind);
        }
    }

    /// Changed rows, without undone changes.
    pub(crate) fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// Number of kinds of locks, and of tables among them.
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
