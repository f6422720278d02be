//! Transactions whose owner panicked. While it unwinds, its thread may hold page latches, so the
//! purge thread rolls them back. Until then their rows are locked like those of any other
//! transaction.
//!
//! Without a purge thread they stay unfinished until the next start.

use super::state::TrxState;
use super::transaction::{Body, NativeTrx};
use crate::engine::Shared;
use crate::error::{Result, StorageError};
use crate::sync::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Transactions to be rolled back by the purge thread.
#[derive(Default)]
pub(crate) struct Abandoned(Mutex<Vec<(Arc<TrxState>, Body)>>);

impl NativeTrx {
    /// Leaves an unfinished transaction to the purge thread. Must not change pages or take latches.
    pub(super) fn abandon(&self) {
        let mut body = std::mem::take(&mut *self.body.lock());
        self.release_snapshot(&mut body);
        // A transaction in the middle of its commit may count as committed already: its body is
        // empty here.
        if !body.is_untouched() && self.shared.is_purging() {
            self.shared.abandoned.0.lock().push((self.state(), body));
        }
    }
}

/// Rolls back the abandoned transactions. Returns whether there were any.
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
        // There is no second try: its rows stay locked until the restart.
        trx.body.lock().ended = true;
        failed = Some(match outcome {
            Ok(Err(e)) => format!("rollback of an abandoned transaction failed: {e}"),
            _ => "rollback of an abandoned transaction panicked".to_owned(),
        });
    }
    failed.map_or(Ok(any), |told| Err(StorageError::corrupt(told)))
}
