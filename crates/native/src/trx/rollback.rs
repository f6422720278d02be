//! Rollback: the transaction's undo records, newest first, applied by key. A record is applied only
//! if the entry still carries its version (I17), so a repetition does no harm.

use super::record::{Kind, RowRecord, TrxRecord};
use super::segment::Segment;
use super::transaction::{Body, DdlStep, NativeTrx, position};
use super::weight::LockKind;
use crate::btree::{Decision, Hint, free_chain};
use crate::engine::Shared;
use crate::error::Result;
use crate::ids::FileId;
use crate::mtr::Mtr;
use crate::page::get_u64;
use crate::table::value;
use selkie_engine::{EngineResult, LockMode, TransactionPhase};

impl NativeTrx {
    pub(super) fn roll_back_all(&self) -> EngineResult<()> {
        self.state().notes.set_phase(TransactionPhase::RollingBack);
        self.unprepare();
        self.undo_to(0, None)?;
        crate::failpoint::reached("rollback before record");
        let mut body = std::mem::take(&mut *self.body.lock());
        self.release_snapshot(&mut body);
        let isolation = body.isolation;
        let state = self.state();
        if !body.segments.is_empty() {
            let seqs: Vec<u64> = body.segments.iter().map(|segment| segment.seq).collect();
            let mut mtr = Mtr::begin_reserved(&self.shared.storage);
            mtr.trx(&TrxRecord::RolledBack { seqs: seqs.clone() }.encode());
            // Published before the record counts as completed, as for commits: a checkpoint in
            // between must not keep the segments of a transaction whose end lies before it.
            let lsn = mtr.commit_with(|_| {
                state.set_rolled_back();
                self.shared.prepared.ended(state.id);
            });
            if body.prepared {
                // The coordinator forgets the transaction now, so a crash must not bring it back.
                self.shared.storage.log().flush_upto(lsn);
            }
            self.shared.undo.remove(seqs.into_iter());
        }
        state.set_rolled_back();
        self.take_back_ddl(&mut body)?;
        self.end(&body);
        // After a deadlock the session uses this object for a new transaction.
        *self.body.lock() = Body { isolation, ..Body::default() };
        self.renew();
        Ok(())
    }

    /// Rolls back to a savepoint; the transaction continues. Waiters for rows inserted since are
    /// woken. Rows that were changed or deleted stay locked.
    pub(super) fn roll_back_to(&self, savepoint: u64) -> EngineResult<()> {
        self.undo_to(savepoint, Some(self))
    }

    fn undo_to(&self, savepoint: u64, goes_on: Option<&NativeTrx>) -> EngineResult<()> {
        loop {
            let step = self.body.lock().step_back(savepoint);
            match step {
                None => return Ok(()),
                Some((segment, at)) => {
                    if undo_record(&self.shared, &segment, at, goes_on)? {
                        self.state().weight.remove_row();
                    }
                }
            }
        }
    }

    /// Locks explicitly a row that was locked by its change.
    fn keep_lock(&self, file: FileId, key: &[u8]) {
        if self.shared.locks.keep(&self.state(), file, key) {
            self.push_lock(file, key, LockKind::Entries(file, LockMode::Exclusive), true);
        }
    }

    fn take_back_ddl(&self, body: &mut Body) -> EngineResult<()> {
        while let Some(step) = body.ddl.pop() {
            match step {
                DdlStep::TableCreated(files) => {
                    self.shared.forget_table(&files);
                    self.shared.delete_created(files.clustered.file)?;
                }
                DdlStep::IndexCreated(files, id, file) => {
                    files.stop_growing(id);
                    if let Some(tree) = files.indexes.write().remove(&id) {
                        tree.gate.close();
                        self.shared.forget_tree(&tree);
                    }
                    self.shared.delete_created(file)?;
                }
                DdlStep::TableDropped(files) => self.shared.remember_table(files),
                DdlStep::IndexDropped(files, id, tree) => {
                    files.indexes.write().insert(id, tree);
                }
            }
        }
        Ok(())
    }
}

impl Body {
    /// Takes the next record to undo; it counts as undone from now on.
    fn step_back(&mut self, savepoint: u64) -> Option<(std::sync::Arc<Segment>, usize)> {
        let end = self.begin_of_skip(self.end());
        if end <= savepoint {
            return None;
        }
        let (mut segment, mut record) = ((end >> 32) as usize, end as u32 as usize);
        while record == 0 {
            segment = segment.checked_sub(1)?;
            let here = self.begin_of_skip(position(segment, self.segments[segment].len()));
            (segment, record) = ((here >> 32) as usize, here as u32 as usize);
            if here <= savepoint {
                return None;
            }
        }
        self.skip(position(segment, record - 1), self.end());
        Some((self.segments[segment].clone(), record - 1))
    }

    /// The start of the undone range of records that ends at `end`; `end` if there is none.
    fn begin_of_skip(&self, end: u64) -> u64 {
        match self.skips.binary_search_by_key(&end, |(_, to)| *to) {
            Ok(at) => self.skips[at].0,
            Err(_) => end,
        }
    }

    /// Notes that the records from `from` to `to`, the end, are undone. The ranges are in order and
    /// do not touch: a statement that refuses many rows leaves one range.
    fn skip(&mut self, from: u64, to: u64) {
        let from = self.begin_of_skip(from);
        while self.skips.last().is_some_and(|skip| skip.0 >= from) {
            self.skips.pop();
        }
        self.skips.push((from, to));
    }

    pub(super) fn end(&self) -> u64 {
        match self.segments.len().checked_sub(1) {
            Some(last) => position(last, self.segments[last].len()),
            None => 0,
        }
    }
}

/// Undoes one record, if its version is still there. Returns whether it was of a row. `goes_on` is
/// the transaction, if it continues after this rollback.
pub(super) fn undo_record(
    shared: &Shared,
    segment: &Segment,
    at: usize,
    goes_on: Option<&NativeTrx>,
) -> Result<bool> {
    let copy = segment.with(at, |record| {
        (record.ver, record.kind, record.file, record.key.to_vec(), record.before.to_vec())
    });
    let Some((ver, kind, file, key, before)) = copy else { return Ok(false) };
    let record = RowRecord {
        ver,
        kind,
        file,
        auto: None,
        key: &key,
        before: &before,
        undone: false,
        pruned: false,
    };
    let is_row = undo_change(shared, record, goes_on)?;
    crate::failpoint::reached("rollback of a record");
    segment.mark_undone(at);
    Ok(is_row)
}

fn undo_change(
    shared: &Shared,
    record: RowRecord<'_>,
    goes_on: Option<&NativeTrx>,
) -> Result<bool> {
    // The entries of a removed file are gone too.
    let Some(kept) = shared.keep_tree(record.file) else { return Ok(false) };
    let (tree, files) = (&kept.tree, &kept.files);
    let Some(_pass) = tree.gate.pass() else { return Ok(false) };
    let is_row = files.clustered.file == record.file;
    let inserted = record.before.is_empty();
    if let Some(trx) = goes_on.filter(|_| is_row && !inserted) {
        trx.keep_lock(record.file, record.key);
    }
    let mut long = None;
    let mut undone = 0;
    let len = record.before.len();
    let dead = |value: &[u8]| shared.is_dead(value);
    tree.write(record.key, len, true, &mut Hint::default(), &dead, |found, change| {
        let Some(found) = found.filter(|value| get_u64(value, 0) == record.ver) else {
            return Decision::Leave;
        };
        undone = value::live(record.before) - value::live(found);
        if record.kind != Kind::Delete {
            long = value::chain_of(found);
        }
        if inserted {
            return Decision::Remove;
        }
        change.value.extend_from_slice(record.before);
        Decision::Put
    })?;
    if goes_on.is_some() && inserted {
        shared.locks.wake(record.file, record.key);
    }
    if inserted {
        tree.merge_if_sparse(record.key)?;
    }
    if is_row {
        files.add_rows(undone);
    }
    if let Some((page, len)) = long {
        free_chain(&shared.storage, record.file, page, len)?;
    }
    Ok(is_row)
}

#[cfg(test)]
mod tests {
    use super::Body;

    #[test]
    fn stretches_that_meet_become_one() {
        let mut body = Body::default();
        for row in 0..1000 {
            // A statement refuses every row: each undone range starts where the one before ended.
            body.skip(10 + row, 11 + row);
        }
        assert_eq!(body.skips, [(10, 1010)]);
        body.skip(1020, 1030);
        assert_eq!((body.begin_of_skip(1030), body.begin_of_skip(1010)), (1020, 10));
        assert_eq!(body.begin_of_skip(1015), 1015);
        // A rollback covers ranges that were undone before.
        body.skip(1015, 1030);
        assert_eq!(body.skips, [(10, 1010), (1015, 1030)]);
        body.skip(5, 1030);
        assert_eq!(body.skips, [(5, 1030)]);
    }
}
