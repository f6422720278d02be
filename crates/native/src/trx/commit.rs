//! Commit: one log record that makes all changes count, then the release of locks and waiters.
//!
//! The outcome is published before the log counts the record as completed (I18). Does not wait
//! until the record is durable (ENG-2). A rider refuses before the outcome is decided.

use super::record::TrxRecord;
use super::transaction::{Body, DdlStep, NativeTrx};
use crate::engine::Shared;
use crate::ids::{self, FileId};
use crate::mtr::Mtr;
use selkie_engine::{EngineError, EngineResult, Lsn, Rider, TransactionPhase};

/// Appends a log group with nothing but a rider.
pub(crate) fn append_rider(shared: &Shared, rider: &mut dyn Rider) -> EngineResult<Lsn> {
    shared.riders.check_taken()?;
    let lsn = Mtr::begin(&shared.storage)?.commit_riding(rider, |_| {})?;
    Ok(Lsn(lsn.0))
}

impl NativeTrx {
    pub(super) fn commit_all(&self, rider: Option<&mut dyn Rider>) -> EngineResult<Option<Lsn>> {
        let mut body = std::mem::take(&mut *self.body.lock());
        self.release_snapshot(&mut body);
        let state = self.state();
        state.notes.set_phase(TransactionPhase::Committing);
        if body.segments.is_empty() && body.ddl.is_empty() {
            state.set_rolled_back();
            self.end(&body);
            return rider.map(|rider| append_rider(&self.shared, rider)).transpose();
        }
        let (created, dropped) = files_of(&body.ddl);
        let seqs = body.segments.iter().map(|segment| segment.seq).collect();
        let record =
            TrxRecord::Committed { seqs, created: created.clone(), dropped: dropped.clone() };
        // Must be published before the log counts as complete up to here. Otherwise a checkpoint
        // would take the transaction for an active one, and a snapshot would see half of it.
        let publish = |lsn: ids::Lsn| {
            state.set_committed(lsn.0);
            self.shared.prepared.ended(state.id);
            self.shared.files_committed(&created, &dropped, lsn);
        };
        let lsn = match rider {
            None => {
                let mut mtr = Mtr::begin_reserved(&self.shared.storage);
                mtr.trx(&record.encode());
                mtr.commit_with(publish)
            }
            Some(rider) => match self.ride(&record, rider, publish) {
                Ok(lsn) => lsn,
                Err(e) => return self.not_committed(body, e),
            },
        };
        crate::failpoint::reached("commit published");
        self.shared.snapshots.committed(lsn.0);
        self.finish_ddl(&mut body);
        self.end(&body);
        let segments = std::mem::take(&mut body.segments);
        self.shared.purge.push(lsn.0, segments);
        self.shared.after_commit();
        Ok(Some(Lsn(lsn.0)))
    }

    /// Logs a transaction's record together with a rider. Refused without log space, unlike other
    /// ends of transactions: riders may be many and long.
    pub(super) fn ride(
        &self,
        record: &TrxRecord,
        rider: &mut dyn Rider,
        publish: impl FnOnce(ids::Lsn),
    ) -> EngineResult<ids::Lsn> {
        self.shared.riders.check_taken()?;
        let mut mtr = Mtr::begin(&self.shared.storage)?;
        mtr.trx(&record.encode());
        mtr.commit_riding(rider, publish)
    }

    /// Ends a transaction whose commit failed before anything was logged, as if the commit had
    /// never been called. A prepared one stays prepared and is handed out again.
    #[cold]
    fn not_committed(&self, body: Body, error: EngineError) -> EngineResult<Option<Lsn>> {
        if body.prepared {
            self.state().notes.set_phase(TransactionPhase::Prepared);
            self.shared.prepared.give_back(self.state(), body);
            self.body.lock().ended = true;
            return Err(error);
        }
        *self.body.lock() = body;
        self.roll_back_all()?;
        Err(error)
    }

    /// Releases locks and wakes waiters, after the outcome is published (I18).
    pub(super) fn end(&self, body: &Body) {
        let state = self.state();
        self.shared.locks.release(state.id, &body.row_locks.locks);
        self.shared.locks.release(state.id, &body.entry_locks.locks);
        self.shared.locks.gaps.release(state.id, &body.gaps);
        self.shared.running.leave(&state);
        state.wake();
        self.body.lock().ended = true;
    }

    fn finish_ddl(&self, body: &mut Body) {
        for step in body.ddl.drain(..) {
            match step {
                DdlStep::TableDropped(files) => self.shared.forget_table(&files),
                DdlStep::IndexDropped(files, id, tree) => {
                    self.shared.forget_index(&files, id, &tree)
                }
                DdlStep::TableCreated(_) | DdlStep::IndexCreated(..) => {}
            }
        }
    }
}

/// Files created and dropped by these steps.
fn files_of(steps: &[DdlStep]) -> (Vec<FileId>, Vec<FileId>) {
    let (mut created, mut dropped) = (Vec::new(), Vec::new());
    for step in steps {
        match step {
            DdlStep::TableCreated(files) => created.push(files.clustered.file),
            DdlStep::IndexCreated(_, _, file) => created.push(*file),
            DdlStep::TableDropped(files) => {
                dropped.push(files.clustered.file);
                dropped.extend(files.indexes.read().values().map(|tree| tree.file));
            }
            DdlStep::IndexDropped(_, _, tree) => dropped.push(tree.file),
        }
    }
    // A file created and dropped in the same transaction is only dropped.
    created.retain(|file| !dropped.contains(file));
    (created, dropped)
}
