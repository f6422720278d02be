//! The owner of the files that are written from riders' bytes: its part in checkpoints and at
//! start.
//!
//! Knows nothing about the bytes.

use crate::error::{Result, StorageError};
use crate::ids::Lsn;
use crate::log::Log;
use selkie_engine::{EngineError, EngineResult, RiderFiles};
use std::sync::Arc;

/// The owner of riders' files, if there is one, and its state in the checkpoint found at start.
#[derive(Clone, Default)]
pub(crate) struct Riders {
    files: Option<Arc<dyn RiderFiles>>,
    /// Commits can carry riders.
    taken: bool,
    /// A life without the owner keeps this for a later life with it.
    found: Vec<u8>,
}

impl Riders {
    /// Riders for these files.
    pub(crate) fn of(files: Option<Arc<dyn RiderFiles>>) -> Riders {
        Riders { taken: files.is_some(), files, found: Vec::new() }
    }

    /// Riders in the log are passed over, and there will be no new ones.
    pub(super) fn ignored() -> Riders {
        Riders { files: Some(Arc::new(IgnoredRiders)), ..Riders::default() }
    }

    /// Fails if commits cannot carry riders.
    pub(crate) fn check_taken(&self) -> EngineResult<()> {
        if self.taken { Ok(()) } else { Err(EngineError::Unsupported("a rider")) }
    }

    /// Whether commits can carry riders.
    pub(super) fn are_taken(&self) -> bool {
        self.taken
    }

    /// Sets the state found in the snapshot.
    pub(crate) fn set_found(&mut self, state: &[u8]) {
        self.found = state.to_vec();
    }

    /// The state found in the snapshot.
    #[cfg(test)]
    pub(crate) fn found(&self) -> &[u8] {
        &self.found
    }

    /// Gives the state found back to the owner. `rider` is the first rider in the log since then.
    pub(crate) fn restore(&self, rider: Option<Lsn>) -> Result<()> {
        match (&self.files, rider) {
            (Some(files), _) => files.restore(&self.found).map_err(storage_error)?,
            (None, Some(lsn)) => {
                return Err(StorageError::corrupt(format!(
                    "the log from {lsn} on has bytes of the binary log that its files may lack: start \
                     once with the binary log"
                )));
            }
            (None, None) => {}
        }
        crate::failpoint::reached("riders restored");
        Ok(())
    }

    /// Gives the bytes of the next rider in the log back to the owner.
    pub(crate) fn replay(&self, lsn: Lsn, bytes: &[u8]) -> Result<()> {
        let Some(files) = &self.files else { return Ok(()) };
        files.replay(selkie_engine::Lsn(lsn.0), bytes).map_err(storage_error)
    }

    /// Tells the owner that it has all riders of the log.
    pub(crate) fn replayed(&self) -> Result<()> {
        let Some(files) = &self.files else { return Ok(()) };
        files.replayed().map_err(storage_error)
    }

    /// Makes the riders up to `lsn` durable in their files. Returns the state for a checkpoint at
    /// `lsn`. The log before `lsn` may be recycled afterwards.
    pub(super) fn checkpoint(&self, log: &Log, lsn: Lsn) -> Result<Vec<u8>> {
        let Some(files) = &self.files else { return Ok(self.found.clone()) };
        // The files get only what a crash cannot take from the log any more.
        log.flush_upto(lsn);
        crate::failpoint::reached("checkpoint before riders");
        let state = files.checkpoint(selkie_engine::Lsn(lsn.0)).map_err(storage_error)?;
        crate::failpoint::reached("checkpoint riders synced");
        Ok(state)
    }
}

/// Files of which nothing is known and nothing is written: for directories that are only read.
pub(crate) struct IgnoredRiders;

impl RiderFiles for IgnoredRiders {
    fn checkpoint(&self, _: selkie_engine::Lsn) -> EngineResult<Vec<u8>> {
        Ok(Vec::new())
    }

    fn restore(&self, _: &[u8]) -> EngineResult<()> {
        Ok(())
    }

    fn replay(&self, _: selkie_engine::Lsn, _: &[u8]) -> EngineResult<()> {
        Ok(())
    }

    fn replayed(&self) -> EngineResult<()> {
        Ok(())
    }
}

/// The owner's error as the storage layer passes it on.
fn storage_error(error: EngineError) -> StorageError {
    match error {
        EngineError::DiskFull => StorageError::DiskFull,
        EngineError::Io(source) => StorageError::io("access to the files of the riders", source),
        EngineError::Corrupt(detail) => StorageError::corrupt(detail),
        other => StorageError::corrupt(other.to_string()),
    }
}
