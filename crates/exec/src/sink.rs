//! Where a statement's results go, and what is said when it ends.
//!
//! Rows leave the executor as batches; packets, text and binary forms are the server's affair.

use std::io::Read;
use std::sync::Arc;

use selkie_plan::physical::OutputColumn;
use selkie_types::error::catalogue::ER_NOT_ALLOWED_COMMAND;
use selkie_types::{Batch, SqlError, SqlResult};

/// Receives the result sets of one statement.
///
/// The calls for each result set are: `columns` once, `batch` any number of times. The last result
/// set is ended by the caller of the executor, who then has the [`Outcome`]; earlier ones by `end`.
pub trait ResultSink {
    /// A result set begins.
    fn columns(&mut self, columns: &[OutputColumn]) -> SqlResult<()>;

    /// The same for the columns of a plan. Who keeps them knows them again by their address.
    fn planned_columns(&mut self, columns: &Arc<[OutputColumn]>) -> SqlResult<()> {
        self.columns(columns)
    }

    /// Its next rows: values of the announced types, strings in their types' charsets, TIMESTAMPs
    /// already in the session's time zone.
    fn batch(&mut self, batch: &Batch) -> SqlResult<()>;

    /// The result set has ended and another one follows.
    fn end(&mut self) -> SqlResult<()> {
        Ok(())
    }

    /// Asks the client for a file (`LOAD DATA LOCAL INFILE`).
    fn local_infile(&mut self, _file: &str) -> SqlResult<Box<dyn Read + '_>> {
        Err(SqlError::new(&ER_NOT_ALLOWED_COMMAND, &[]))
    }
}

/// A sink that forgets everything: `DO`, replication.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullSink;

impl ResultSink for NullSink {
    fn columns(&mut self, _: &[OutputColumn]) -> SqlResult<()> {
        Ok(())
    }

    fn batch(&mut self, _: &Batch) -> SqlResult<()> {
        Ok(())
    }
}

/// How a statement ended. Warnings are in [`crate::Session::diagnostics`].
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Whether a result set was sent: the client gets its end instead of an OK packet.
    pub result_set: bool,
    /// Rows changed (`ROW_COUNT()` is −1 for result sets).
    pub affected: u64,
    /// AUTO_INCREMENT value for the OK packet.
    pub insert_id: u64,
    /// `Records: 3  Duplicates: 0  Warnings: 0`, empty for most statements.
    pub info: String,
    /// The client asked for the connection's end (`COMMIT RELEASE`).
    pub release: bool,
}

impl Outcome {
    /// Done, with nothing to report.
    pub fn ok() -> Self {
        Self::default()
    }

    /// A result set was sent.
    pub fn rows() -> Self {
        Self { result_set: true, ..Self::default() }
    }

    /// Rows were changed.
    pub fn changed(affected: u64) -> Self {
        Self { affected, ..Self::default() }
    }
}
