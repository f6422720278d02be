//! The snapshots of a transaction's engines.
//!
//! Must not begin a transaction.

use selkie_engine::Isolation;
use selkie_types::SqlResult;

use super::Transaction;
use crate::state::error::from_engine_commit;

impl Transaction {
    /// Position of a snapshot that is older than an index. Plans for it leave such indexes out, and
    /// are not for others.
    pub fn old_snapshot(&self) -> Option<u64> {
        self.parts.iter().find_map(|part| part.trx().old_snapshot())
    }

    /// Time, in changes of tables, before which no snapshot of the open transaction was taken. Each
    /// statement has snapshots of its own if there is none.
    pub(crate) fn snapshots_after(&self) -> Option<u64> {
        let keeps =
            matches!(self.view.isolation, Isolation::RepeatableRead | Isolation::Serializable);
        (self.is_open() && keeps && !self.parts.is_empty()).then_some(self.view.after)
    }

    /// Whether an engine has changes of the transaction.
    pub(super) fn has_changes(&self) -> bool {
        self.parts.iter().any(|part| part.trx().has_changes())
    }

    /// Takes the engines' snapshots now, and notes the place in the binary log that they belong to.
    pub fn take_snapshots(&self) -> SqlResult<()> {
        for part in &self.parts {
            let lsn = part.trx().take_snapshot().map_err(from_engine_commit)?;
            if let (Some(lsn), Some(log)) = (lsn, &self.logged.log)
                && part.engine.carries_riders()
            {
                log.note_snapshot(lsn);
            }
        }
        Ok(())
    }
}
