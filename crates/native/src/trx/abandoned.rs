//! Transactions that a panic took from their owner: while it unwinds, pages may be latched by the
//! thread itself, so the purge thread takes them back. Until then their rows are locked like those
//! of any other transaction.
//!
//! Where nobody purges they stay as they are, for the next start.

use super::state::TrxState;
use super::transaction::{Body, NativeTrx};
use crate::engine::Shared;
use crate::error::{Result, StorageError};
use crate::sync::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Those that are to be taken back.
#[derive(Default)]
pub(crate) struct Abandoned(Mutex<Vec<(Arc<TrxState>, Body)>>);

impl NativeTrx {
    /// Leaves what is open to the purge thread. Changes no pages and takes no latches.
    pub(super) fn abandon(&self) {
        let mut body = std::mem::take(&mut *self.body.lock());
        self.release_snapshot(&mut body);
        // One that was being committed may have counted already; nothing of it is known here.
        if !body.is_untouched() && self.shared.is_purging() {
            self.shared.abandoned.0.lock().push((self.state(), body));
        }
    }
}

/// Takes back what was abandoned; whether there was anything.
pub(crate) fn roll_back_abandoned(shared: &Arc<Shared>) -> Result<bool> {
    let all = std::mem::take(&mut *shared.abandoned.0.lock());
    let any = !all.is_empty();
    let mut failed = None;
    for (state, body) in all {
        let trx = NativeTrx::with_state(shared.clone(), state, body);
        let outcome = catch_unwind(AssertUnwindSafe(|| trx.roll_back_all()));
        if matches!(outcome, Ok(Ok(()))) {
            continue;
        }
        // It is not tried again: its rows stay locked until the restart.
        trx.body.lock().ended = true;
        failed = Some(match outcome {
            Ok(Err(e)) => format!("rollback of an abandoned transaction failed: {e}"),
            _ => "rollback of an abandoned transaction panicked".to_owned(),
        });
    }
    failed.map_or(Ok(any), |told| Err(StorageError::corrupt(told)))
}
