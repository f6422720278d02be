//! Opening a database: find the end of the log, hand logical records to the engine above, repair
//! torn pages, redo. Recovery itself may be interrupted anywhere: until its last step it changes
//! nothing that a second run would not change in the same way.

mod prefetch;
mod redo;
mod repair;
mod require;
mod scan;

pub(crate) use redo::redo;
pub(crate) use repair::{DOUBLEWRITE, repair_torn_pages};
pub(crate) use require::require_log;
pub(crate) use scan::{LogScan, close_log, scan_log};

use crate::error::Result;
use crate::ids::Lsn;

/// Receives what recovery finds that is not in pages. Called in log order, the snapshot first,
/// before any page is redone and before the engine serves anybody.
pub(crate) trait RecoveryVisitor {
    /// The bytes that `CheckpointParticipant::snapshot` returned for the checkpoint that recovery
    /// starts from; empty for a new database. Records from the checkpoint on follow, also those the
    /// snapshot already covers.
    fn snapshot(&mut self, bytes: &[u8]) -> Result<()>;
    /// A record of `Mtr::row`; `lsn` is the end of its group.
    fn row(&mut self, lsn: Lsn, payload: &[u8]) -> Result<()>;
    /// A record of `Mtr::trx`; `lsn` is the end of its group.
    fn trx(&mut self, lsn: Lsn, payload: &[u8]) -> Result<()>;
}
