//! Prepared transactions: kept through checkpoints and crashes until a coordinator outside decides
//! their outcome (I32).

use super::record::{Prepared, TrxRecord};
use super::segment::Segment;
use super::state::TrxState;
use super::transaction::{Body, NativeTrx};
use crate::engine::Shared;
use crate::mtr::Mtr;
use crate::sync::Mutex;
use crate::sync::atomic::Ordering;
use selkie_engine::{
    EngineError, EngineResult, LockMode, Lsn, PreparedTrx, Rider, TableId, TransactionPhase, Xid,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A prepared transaction without a session.
pub(super) struct PreparedBody {
    pub(super) prepared: Prepared,
    pub(super) owner: Arc<TrxState>,
    pub(super) body: Body,
}

/// All prepared transactions.
#[derive(Default)]
pub(crate) struct PreparedTransactions {
    /// All of them, by the id of their state.
    live: Mutex<BTreeMap<u64, Prepared>>,
    /// Prepared transactions found by a restart, or whose commit failed, and not handed out yet.
    found: Mutex<Vec<PreparedBody>>,
}

impl PreparedTransactions {
    /// Number of prepared transactions.
    pub(crate) fn len(&self) -> usize {
        self.live.lock().len()
    }

    /// Encodes their part of the undo snapshot.
    pub(super) fn encode(&self) -> Vec<u8> {
        let live = self.live.lock();
        let mut out = (live.len() as u32).to_le_bytes().to_vec();
        live.values().for_each(|prepared| prepared.encode(&mut out));
        out
    }

    /// Adds a transaction that a restart found.
    pub(super) fn found(&self, prepared: Prepared, owner: Arc<TrxState>, body: Body) {
        self.live.lock().insert(owner.id, prepared.clone());
        self.found.lock().push(PreparedBody { prepared, owner, body });
    }

    /// Takes a transaction back from its session.
    pub(super) fn give_back(&self, owner: Arc<TrxState>, body: Body) {
        let Some(prepared) = self.live.lock().get(&owner.id).cloned() else { return };
        self.found.lock().push(PreparedBody { prepared, owner, body });
    }

    /// Marks rollbacks to savepoints in the restored undo; the log has no record of them.
    pub(super) fn mark_undone(&self) {
        for found in self.found.lock().iter() {
            for segment in &found.body.segments {
                segment.leaves_work.store(true, Ordering::Relaxed);
                segment.mark_undone_runs(&found.prepared.undone);
            }
        }
    }

    /// Removes an ended transaction; called while its end is published.
    pub(super) fn ended(&self, id: u64) {
        self.live.lock().remove(&id);
    }
}

/// Hands out the prepared transactions that no session has.
pub(crate) fn take_prepared(shared: &Arc<Shared>) -> Vec<PreparedTrx> {
    let found = std::mem::take(&mut *shared.prepared.found.lock());
    let trx = |found: PreparedBody| PreparedTrx {
        xid: found.prepared.xid.clone(),
        tables: tables_of(shared, &found.body.segments),
        trx: Box::new(NativeTrx::prepared(shared.clone(), found)),
    };
    found.into_iter().map(trx).collect()
}

fn tables_of(shared: &Shared, segments: &[Arc<Segment>]) -> Vec<TableId> {
    let mut files = BTreeSet::new();
    for segment in segments {
        files.extend((0..segment.len()).filter_map(|at| segment.with(at, |record| record.file)));
    }
    let tables: BTreeSet<TableId> =
        files.into_iter().filter_map(|file| shared.tree(file)).map(|(_, t)| t.id).collect();
    tables.into_iter().collect()
}

impl NativeTrx {
    fn prepared(shared: Arc<Shared>, found: PreparedBody) -> NativeTrx {
        shared.running.enter(&found.owner, found.body.isolation);
        found.owner.notes.set_phase(TransactionPhase::Prepared);
        NativeTrx::with_state(shared, found.owner, found.body)
    }

    /// Compat: a prepared transaction keeps only its exclusive row locks, as after a restart.
    fn keep_exclusive_locks(&self, body: &mut Body) {
        let (state, locks) = (self.state(), &self.shared.locks);
        locks.gaps.release(state.id, &std::mem::take(&mut body.gaps));
        let shared = |(file, key): &(_, Box<[u8]>)| {
            locks.mode_of(state.id, *file, key) == Some(LockMode::Shared)
        };
        let Body { row_locks, entry_locks, .. } = body;
        for list in [row_locks, entry_locks] {
            let all = std::mem::take(&mut list.locks);
            let (given_up, kept): (Vec<_>, Vec<_>) = all.into_iter().partition(shared);
            locks.release(state.id, &given_up);
            list.locks = kept;
        }
        state.wake();
    }

    pub(super) fn prepare_as(
        &self,
        xid: &Xid,
        rider: Option<&mut dyn Rider>,
    ) -> EngineResult<Option<Lsn>> {
        let mut body = self.body.lock();
        if !body.ddl.is_empty() {
            return Err(EngineError::Unsupported("XA PREPARE after a change of definitions"));
        }
        self.release_snapshot(&mut body);
        body.prepared = true;
        self.keep_exclusive_locks(&mut body);
        self.state().notes.set_phase(TransactionPhase::Prepared);
        let Some(last) = body.segments.last() else { return Ok(None) };
        self.shared.undo.seal(last);
        let prepared = Prepared {
            xid: xid.clone(),
            seqs: body.segments.iter().map(|segment| segment.seq).collect(),
            undone: body.segments.iter().flat_map(|segment| segment.undone_runs()).collect(),
        };
        let id = self.state().id;
        let record = TrxRecord::Prepared(prepared.clone());
        // A checkpoint after the record must include it (I18).
        let publish = |_| drop(self.shared.prepared.live.lock().insert(id, prepared));
        let logged = match rider {
            Some(rider) => self.ride(&record, rider, publish),
            None => Mtr::begin(&self.shared.storage).map_err(EngineError::from).map(|mut mtr| {
                mtr.trx(&record.encode());
                mtr.commit_with(publish)
            }),
        };
        // Without the record its end need not be decided outside.
        body.prepared = logged.is_ok();
        Ok(Some(Lsn(logged?.0)))
    }
}

impl NativeTrx {
    /// Logs that a rollback begins. It need not be durable: a crash that loses this record loses
    /// the changes of the rollback too.
    pub(super) fn unprepare(&self) {
        let body = self.body.lock();
        if !body.prepared || body.segments.is_empty() {
            return;
        }
        let seqs = body.segments.iter().map(|segment| segment.seq).collect();
        let id = self.state().id;
        let mut mtr = Mtr::begin_reserved(&self.shared.storage);
        mtr.trx(&TrxRecord::Unprepared { seqs }.encode());
        mtr.commit_with(|_| self.shared.prepared.ended(id));
    }
}
