//! Locks as reports see them.

use super::LockTable;
use crate::ids::FileId;
use selkie_engine::{
    EngineObserver, IndexId, LockDetail, LockExtent, LockInfo, LockMode, LockStrength,
    LockWaitInfo, TableId,
};
use std::sync::Arc;

/// The table and index whose tree a file holds.
pub(crate) type PlaceOf<'a> = &'a dyn Fn(FileId) -> Option<(TableId, Option<IndexId>)>;

impl LockTable {
    /// Has `observer` told of deadlocks.
    pub(crate) fn observe(&self, observer: Arc<dyn EngineObserver>) {
        *self.observer.write() = Some(observer);
    }

    /// Locks in such detail, and who waits for whom by their positions.
    pub(crate) fn inspect(
        &self,
        detail: LockDetail,
        place: PlaceOf<'_>,
    ) -> (Vec<LockInfo>, Vec<LockWaitInfo>) {
        let mut locks = Vec::new();
        if detail == LockDetail::All {
            self.each(&mut |transaction, file, key, mode| {
                let Some((table, index)) = place(file) else { return };
                let strength = match mode {
                    LockMode::Exclusive => LockStrength::Exclusive,
                    _ => LockStrength::Shared,
                };
                let (extent, key) = (LockExtent::Record, Some(key.into()));
                let granted = true;
                locks.push(LockInfo { transaction, strength, extent, table, index, key, granted });
            });
        }
        (locks, Vec::new())
    }
}
