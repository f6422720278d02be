//! Checkpoints: how much of the log recovery still needs, recorded so that a crash at any moment
//! leaves one valid record. `control` is the file with the two alternating records, `run` takes a
//! checkpoint, `throttle` slows writers down before the log budget is used up. Flushing pages is
//! the pool's work; this module only asks for it.

mod control;
mod run;
mod throttle;

pub(crate) use control::{CheckpointRecord, Control};
pub(crate) use run::Checkpointer;
pub(crate) use throttle::{Brake, Throttle};

/// A part of the engine whose memory must survive although it is not in pages: undo of active
/// transactions.
pub(crate) trait CheckpointParticipant: Send + Sync {
    /// The bytes to store beside the checkpoint; recovery returns them through
    /// `RecoveryVisitor::snapshot`.
    ///
    /// Must cover the undo of every transaction that is active or prepared now, as far as its
    /// records lie below `lsn`; it may cover later records too, because recovery delivers every
    /// record from `lsn` on again and the receiver drops what it already has (I16: records carry
    /// their undo position). Transactions whose commit was published may be left out: the log up to
    /// here is made durable before the checkpoint counts.
    fn snapshot(&self, lsn: crate::ids::Lsn) -> Vec<u8>;

    /// About how long the snapshot would be now: long ones are not worth taking every second.
    fn snapshot_len(&self) -> usize;
}
