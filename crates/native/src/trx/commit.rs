//! Commit: one log record that makes all changes count, then the release of locks and waiters.
//!
//! The outcome is published before the log counts the record as completed (I18). Does not wait
//! until the record is durable (ENG-2).

use super::record::TrxRecord;
use super::transaction::{Body, DdlStep, NativeTrx};
use crate::ids::FileId;
use crate::mtr::Mtr;
use selkie_engine::{EngineResult, Lsn, TransactionPhase};

impl NativeTrx {
    pub(super) fn commit_all(&self) -> EngineResult<Option<Lsn>> {
        let mut body = std::mem::take(&mut *self.body.lock());
        self.release_snapshot(&mut body);
        let state = self.state();
        state.notes.set_phase(TransactionPhase::Committing);
        if body.segments.is_empty() && body.ddl.is_empty() {
            state.set_rolled_back();
            self.end(&body);
            return Ok(None);
        }
        let (created, dropped) = files_of(&body.ddl);
        let seqs = body.segments.iter().map(|segment| segment.seq).collect();
        let record =
            TrxRecord::Committed { seqs, created: created.clone(), dropped: dropped.clone() };
        let mut mtr = Mtr::begin_reserved(&self.shared.storage);
        mtr.trx(&record.encode());
        // Must be published before the log counts as complete up to here. Otherwise a checkpoint
        // would take the transaction for an active one, and a snapshot would see half of it.
        let lsn = mtr.commit_with(|lsn| {
            state.set_committed(lsn.0);
            self.shared.prepared.ended(state.id);
            self.shared.files_committed(&created, &dropped, lsn);
        });
        crate::failpoint::reached("commit published");
        self.shared.snapshots.committed(lsn.0);
        self.finish_ddl(&mut body);
        self.end(&body);
        let segments = std::mem::take(&mut body.segments);
        self.shared.purge.push(lsn.0, segments);
        self.shared.after_commit();
        Ok(Some(Lsn(lsn.0)))
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
