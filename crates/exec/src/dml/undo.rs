//! A batch of rows that is taken back and tried again row by row when something is wrong with one.
//!
//! Must be used where a statement that fails is rolled back: what it did is nobody else's to see.

use selkie_types::error::catalogue::{ER_LOCK_DEADLOCK, ER_LOCK_WAIT_TIMEOUT};
use selkie_types::{SqlError, SqlResult};

use crate::run::OpenTable;
use crate::state::error::from_engine_commit;

/// The state before a batch, if it can be taken back.
pub(super) struct Undo(Option<u64>);

impl Undo {
    /// Marks the state before a batch.
    pub(super) fn begin(open: &OpenTable<'_>) -> SqlResult<Self> {
        open.trx.savepoint().map(|mark| Self(Some(mark))).map_err(from_engine_commit)
    }

    /// For rows that are not tried again.
    pub(super) fn none() -> Self {
        Self(None)
    }

    pub(super) fn is_possible(&self) -> bool {
        self.0.is_some()
    }

    /// Whether a result asks for another try. A lock that could not be had is not waited for again.
    pub(super) fn applies<T>(&self, result: &SqlResult<T>) -> bool {
        let tried = |e: &SqlError| !e.is(&ER_LOCK_WAIT_TIMEOUT) && !e.is(&ER_LOCK_DEADLOCK);
        self.is_possible() && result.as_ref().is_err_and(tried)
    }

    /// Takes the batch back.
    pub(super) fn run(self, open: &OpenTable<'_>) -> SqlResult<()> {
        match self.0 {
            Some(mark) => open.trx.rollback_to(mark).map_err(from_engine_commit),
            None => Ok(()),
        }
    }
}
