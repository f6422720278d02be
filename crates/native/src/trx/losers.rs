//! Losers: transactions that a crash interrupted. They are rolled back while the server already
//! works: newest undo segment first, each with a record of its own, so that another crash repeats
//! little and does no harm (I17). Until then their rows are locked like those of any other
//! transaction.

use super::record::TrxRecord;
use super::rollback::undo_record;
use super::segment::Segment;
use crate::engine::Shared;
use crate::error::Result;
use crate::mtr::Mtr;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;

/// Undo segments to roll back, by sequence.
#[derive(Default)]
pub(crate) struct Losers {
    segments: Mutex<Vec<Arc<Segment>>>,
    /// Held by the thread that rolls back a segment.
    turn: Mutex<()>,
    /// Number of changes undone so far.
    pub(crate) undone: AtomicU64,
    /// Set to leave the rest to the next start.
    pub(crate) stop: AtomicBool,
}

impl Losers {
    pub(super) fn set(&self, mut segments: Vec<Arc<Segment>>) {
        segments.sort_by_key(|segment| segment.seq);
        *self.segments.lock() = segments;
    }

    /// Segments left.
    pub(crate) fn len(&self) -> usize {
        self.segments.lock().len()
    }
}

/// Rolls back the newest segment. Returns whether there was one.
pub(crate) fn undo_losers_step(shared: &Shared) -> Result<bool> {
    let _turn = shared.losers.turn.lock();
    let Some(segment) = shared.losers.segments.lock().last().cloned() else { return Ok(false) };
    for at in (0..segment.len()).rev() {
        if shared.losers.stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
        undo_record(shared, &segment, at, None)?;
        shared.losers.undone.fetch_add(1, Ordering::Relaxed);
    }
    crate::failpoint::reached("losers before record");
    let mut mtr = Mtr::begin_reserved(&shared.storage);
    mtr.trx(&TrxRecord::RolledBack { seqs: vec![segment.seq] }.encode());
    mtr.commit_with(|_| segment.owner.set_rolled_back());
    shared.undo.remove([segment.seq].into_iter());
    segment.owner.wake();
    shared.losers.segments.lock().pop();
    Ok(true)
}
