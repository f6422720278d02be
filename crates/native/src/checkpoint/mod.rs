//! Checkpoints: records of the part of the log that recovery still needs, written so that a crash
//! at any moment leaves one valid record. `control` is the file with the two alternating records,
//! `run` takes a checkpoint, `throttle` slows writers down before the log budget is used up. The
//! pool writes pages; this module must not.

mod control;
mod run;
mod throttle;

pub(crate) use control::{CheckpointRecord, Control};
pub(crate) use run::Checkpointer;
pub(crate) use throttle::{Brake, Throttle};

use crate::error::Result;
use crate::ids::Lsn;

/// A part of the engine whose memory must survive although it is not in pages: the undo of active
/// transactions.
pub(crate) trait CheckpointParticipant: Send + Sync {
    /// Returns the bytes to store with the checkpoint; recovery passes them to
    /// `RecoveryVisitor::snapshot`.
    ///
    /// They must cover the undo of every transaction that is active or prepared now, for its
    /// records below `lsn`. They may cover later records too: recovery delivers every record from
    /// `lsn` on again, and the receiver drops those it already has (I16: records carry their undo
    /// position). Transactions whose commit was published may be left out: the log up to here
    /// becomes durable before the checkpoint counts.
    ///
    /// Whatever else is to be there after recovery without the log before `lsn` must be durable
    /// when this returns. If it fails, no checkpoint is taken, and the log stays.
    fn snapshot(&self, lsn: Lsn) -> Result<Vec<u8>>;

    /// Approximate length of the snapshot now: a long one is not worth taking every second.
    fn snapshot_len(&self) -> usize;
}
