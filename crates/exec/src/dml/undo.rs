//! Changes that are taken back when something is wrong with a row: those of one row, or those of a
//! batch, which is then tried again row by row.
//!
//! Must not take back more than the statement's own changes: nobody else has seen them.

use selkie_types::error::catalogue::{ER_LOCK_DEADLOCK, ER_LOCK_WAIT_TIMEOUT};
use selkie_types::{SqlError, SqlResult};

use crate::run::{OpenTable, TableMark};
use crate::state::error::from_engine_commit;

/// The state before a batch, if it can be taken back.
pub(super) struct Undo(Option<TableMark>);

impl Undo {
    /// Marks the state before a batch.
    pub(super) fn begin(open: &OpenTable<'_>) -> SqlResult<Self> {
        open.mark().map(|mark| Self(Some(mark))).map_err(from_engine_commit)
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
            Some(mark) => open.undo(mark).map_err(from_engine_commit),
            None => Ok(()),
        }
    }
}

/// Runs `change` so that it leaves nothing behind if it fails.
pub(super) fn undone_on_error<T, E: From<SqlError>>(
    open: &OpenTable<'_>,
    change: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let mark = open.mark().map_err(from_engine_commit)?;
    let result = change();
    if result.is_err() {
        open.undo(mark).map_err(from_engine_commit)?;
    }
    result
}
