//! Bytes that become durable with a commit: the engine's log carries them in the commit's own
//! group, in commit order. The binary log is written from them.
//!
//! Must not know what the bytes mean.

use selkie_types::SqlError;

use crate::{EngineResult, Lsn};

/// Reason why [`Rider::place`] takes no place.
#[derive(Debug)]
pub enum Refusal {
    /// The files have no room yet: [`Rider::make_room`] makes some.
    NoRoom,
    /// The commit must fail with this error.
    Error(Box<SqlError>),
}

/// Bytes that must become durable with a commit, in commit order.
///
/// The engine calls `place` and reserves the commit's place in its log under one lock, the order
/// lock, so the order of places is the order of commits. It calls `fill` after it has released the
/// lock.
pub trait Rider: Send {
    /// Takes number and place. Returns how many bytes [`Rider::fill`] will append, not more than
    /// [`crate::Engine::most_rider_bytes`]. Called under the order lock: does no I/O and does not
    /// wait. May be called again after [`Refusal::NoRoom`]. After success the commit cannot fail.
    fn place(&mut self) -> Result<usize, Refusal>;

    /// Makes room after [`Refusal::NoRoom`]. Called without the order lock; may do I/O.
    fn make_room(&mut self) -> EngineResult<()>;

    /// Appends exactly as many bytes as `place` said. `lsn` is the commit's: once it is durable, so
    /// are the bytes. Cannot fail.
    fn fill(&mut self, lsn: Lsn, out: &mut Vec<u8>);
}

/// Owner of the files that are written from riders' bytes.
///
/// A checkpoint saves the owner's state; at start the engine gives back the state of the last
/// checkpoint, and then the bytes of all riders since then, in commit order.
pub trait RiderFiles: Send + Sync {
    /// Makes durable in the files what all riders with an LSN up to `upto` have brought, and
    /// returns the state to save. The state may contain later riders too: they are given back all
    /// the same, and they are durable before the state counts. Called under no lock, but `upto` is
    /// durable in the engine's log. After an error no checkpoint is taken and the log stays.
    fn checkpoint(&self, upto: Lsn) -> EngineResult<Vec<u8>>;

    /// At start: the state of the last checkpoint; empty if there was none.
    fn restore(&self, state: &[u8]) -> EngineResult<()>;

    /// At start, after [`RiderFiles::restore`]: the bytes of the next rider in the log.
    fn replay(&self, lsn: Lsn, bytes: &[u8]) -> EngineResult<()>;

    /// At start, after the last [`RiderFiles::replay`]: nothing else is in the log.
    fn replayed(&self) -> EngineResult<()>;
}
