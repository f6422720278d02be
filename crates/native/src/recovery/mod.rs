//! Recovery at the opening of a database: finds the end of the log, passes logical records to the
//! engine above, repairs torn pages, redoes changes. It may be interrupted anywhere: until its last
//! step it makes only changes that a second run would make in the same way.

mod prefetch;
mod redo;
mod repair;
mod require;
mod scan;

pub(crate) use redo::redo;
pub(crate) use repair::repair_torn_pages;
pub(crate) use require::require_log;
pub(crate) use scan::{LogScan, close_log, scan_log};

use crate::error::Result;
use crate::ids::Lsn;

/// Receives the recovered data that is not in pages, before the engine serves clients. Called in
/// log order: first the snapshot, then the records of rows and transactions, then `scanned`, all
/// before any page is redone; then the riders.
pub(crate) trait RecoveryVisitor {
    /// Receives the bytes that `CheckpointParticipant::snapshot` returned for the checkpoint that
    /// recovery starts from; empty for a new database. All records from the checkpoint on follow,
    /// also those that the snapshot already covers.
    fn snapshot(&mut self, bytes: &[u8]) -> Result<()>;
    /// Receives a record of `Mtr::row`; `lsn` is the end of its group.
    fn row(&mut self, lsn: Lsn, payload: &[u8]) -> Result<()>;
    /// Receives a record of `Mtr::trx`; `lsn` is the end of its group.
    fn trx(&mut self, lsn: Lsn, payload: &[u8]) -> Result<()>;
    /// Called once, when the log up to its end is read and durable; nothing else has changed yet.
    /// `rider` is the place of the first rider in the log since the checkpoint.
    fn scanned(&mut self, rider: Option<Lsn>) -> Result<()>;
    /// Receives a record of `Mtr::commit_riding`; `lsn` is the end of its group.
    fn rider(&mut self, lsn: Lsn, payload: &[u8]) -> Result<()>;
}
