//! Locks and deadlocks in reports.
//!
//! Nothing here may influence the granting of locks. The description of a deadlock is made while
//! the wait-for graph is locked.

use super::{CycleObserver, LockTable, WaitObserver};
use crate::btree::{Seek, Tree};
use crate::engine::Shared;
use crate::ids::FileId;
use crate::trx::{Request, TrxState};
use selkie_engine::{
    Deadlock, DeadlockParty, IndexId, LockDetail, LockExtent, LockInfo, LockMode, LockStrength,
    LockWaitInfo, TableId,
};
use std::sync::Arc;
use std::time::SystemTime;

/// Returns the table and index whose tree a file holds.
pub(crate) type PlaceOf<'a> = &'a dyn Fn(FileId) -> Option<(TableId, Option<IndexId>)>;

fn strength_of(mode: LockMode) -> LockStrength {
    match mode {
        LockMode::Exclusive => LockStrength::Exclusive,
        _ => LockStrength::Shared,
    }
}

/// The report of a requested lock.
fn requested(trx: &TrxState, request: &Request, place: PlaceOf<'_>) -> Option<LockInfo> {
    let (table, index) = place(request.file)?;
    Some(LockInfo {
        transaction: trx.id,
        strength: strength_of(request.mode),
        extent: LockExtent::Record,
        table,
        index,
        key: Some(request.key.clone()),
        record: 0,
        granted: false,
    })
}

impl LockTable {
    /// Sets the observers of deadlocks and of waits.
    pub(crate) fn observe(&self, cycles: CycleObserver, waits: WaitObserver) {
        *self.waits.observer.write() = Some(cycles);
        *self.waits.wait_observer.write() = Some(waits);
    }

    /// Shows each waiting session with each session it waits for.
    pub(crate) fn session_waits(&self, show: &mut dyn FnMut(u64, u64)) {
        self.waits.each(&mut |me, holders| {
            holders.iter().for_each(|holder| show(me.notes.session(), holder.notes.session()));
        });
    }

    /// The report of a lock that blocks a request: explicit, or that of the newest version's owner.
    fn blocking_lock(&self, holder: &TrxState, request: &Request, wanted: &LockInfo) -> LockInfo {
        let mode = self.mode_of(holder.id, request.file, &request.key);
        LockInfo {
            transaction: holder.id,
            strength: strength_of(mode.unwrap_or(LockMode::Exclusive)),
            granted: true,
            ..wanted.clone()
        }
    }

    /// Reports locks in the given detail, and waits as pairs of their positions.
    pub(crate) fn inspect(
        &self,
        detail: LockDetail,
        place: PlaceOf<'_>,
    ) -> (Vec<LockInfo>, Vec<LockWaitInfo>) {
        let (mut locks, mut waits) = (Vec::new(), Vec::new());
        if detail == LockDetail::None {
            return (locks, waits);
        }
        self.waits.each_with_all(&mut |me, holders| {
            let Some(request) = me.notes.request() else { return };
            let Some(wanted) = requested(me, &request, place) else { return };
            let at = locks.len();
            locks.push(wanted.clone());
            for holder in holders {
                let lock = self.blocking_lock(holder, &request, &wanted);
                let known = locks.iter().position(|other| *other == lock);
                let blocking = known.unwrap_or(locks.len());
                if known.is_none() {
                    locks.push(lock);
                }
                waits.push(LockWaitInfo { requested: at, blocking });
            }
        });
        if detail == LockDetail::All {
            let blocking: Vec<LockInfo> = locks.iter().filter(|l| l.granted).cloned().collect();
            self.each(&mut |transaction, file, key, mode| {
                let Some((table, index)) = place(file) else { return };
                let (strength, extent) = (strength_of(mode), LockExtent::Record);
                let (key, granted) = (Some(key.into()), true);
                let lock = LockInfo {
                    transaction,
                    strength,
                    extent,
                    table,
                    index,
                    key,
                    record: 0,
                    granted,
                };
                if !blocking.contains(&lock) {
                    locks.push(lock);
                }
            });
            self.gaps.each(&mut |transaction, file, to| {
                let Some((table, index)) = place(file) else { return };
                let (strength, extent) = (LockStrength::Exclusive, LockExtent::Gap);
                let (key, granted) = (to.map(Into::into), true);
                let record = 0;
                let lock =
                    LockInfo { transaction, strength, extent, table, index, key, record, granted };
                locks.push(lock);
            });
        }
        (locks, waits)
    }

    /// Describes a cycle of waiting transactions.
    pub(crate) fn describe_cycle(
        &self,
        parties: &[Arc<TrxState>],
        victim: usize,
        place: PlaceOf<'_>,
    ) -> Option<Deadlock> {
        let mut described = Vec::new();
        for (at, party) in parties.iter().enumerate() {
            let request = party.notes.request()?;
            let before = &parties[(at + parties.len() - 1) % parties.len()];
            let wanted = before.notes.request()?;
            let held = requested(before, &wanted, place)?;
            described.push(DeadlockParty {
                transaction: party.info(),
                requested: requested(party, &request, place)?,
                held: vec![self.blocking_lock(party, &wanted, &held)],
            });
        }
        Some(Deadlock { at: SystemTime::now(), parties: described, victim })
    }
}

impl Shared {
    /// Finds the record of a lock. Compat: an insert waits for the record after its key, or for the
    /// end of the page.
    pub(crate) fn find_record(&self, lock: &mut LockInfo) {
        let Some(key) = lock.key.clone() else { return };
        let Some(tree) = self.tree_of(lock.table, lock.index) else { return };
        let found = tree.read(Seek::At(&key), |node| {
            let at = node.lower_bound(&key);
            let next = (at < node.count()).then(|| node.key(at));
            (at as u32 + 2, next)
        });
        match found {
            Ok((number, Some(next))) => {
                lock.record = number;
                if *next != *key {
                    lock.key = Some(next.into());
                    lock.extent = LockExtent::Gap;
                }
            }
            Ok((_, None)) => (lock.key, lock.record) = (None, 1),
            Err(_) => {}
        }
    }

    fn tree_of(&self, table: TableId, index: Option<IndexId>) -> Option<Arc<Tree>> {
        let files = self.table_files(table).ok()?;
        match index {
            None => Some(files.clustered.clone()),
            Some(id) => files.indexes.read().get(&id).cloned(),
        }
    }
}
