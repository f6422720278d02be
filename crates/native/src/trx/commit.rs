//! Commit: one log record that makes everything count, then locks and waiters.

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
        // Nothing may look at the log as complete up to here before these are said: a checkpoint
        // would take the transaction for an active one, a snapshot would see half of it.
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

    /// Locks go and waiters wake, after the outcome is published (I18).
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

/// Files that come and go with these steps.
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
    // What came and went in the same transaction just goes.
    created.retain(|file| !dropped.contains(file));
    (created, dropped)
}
