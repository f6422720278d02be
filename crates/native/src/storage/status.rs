//! What the storage layer can tell about itself: the numbers behind the `Innodb_*` status variables. Taking them costs
//! a scan of the frame descriptors, so this is for people and monitors, not for decisions.

use super::open::Storage;
use std::sync::atomic::Ordering;

/// A moment's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct StorageStatus {
    /// Frames of the buffer pool.
    pub(crate) pages_total: u64,
    /// Frames without a page.
    pub(crate) pages_free: u64,
    /// Pages that differ from disk.
    pub(crate) pages_dirty: u64,
    /// Pages read from files since start.
    pub(crate) pages_read: u64,
    /// Pages written to files since start.
    pub(crate) pages_written: u64,
    /// End of the log.
    pub(crate) lsn_current: u64,
    /// End of the durable log.
    pub(crate) lsn_flushed: u64,
    /// Where redo would start.
    pub(crate) lsn_checkpoint: u64,
    /// Flushes of the log since start.
    pub(crate) log_syncs: u64,
    /// Bytes in log segments.
    pub(crate) log_bytes_on_disk: u64,
    /// Checkpoints since start.
    pub(crate) checkpoints: u64,
}

impl Storage {
    /// The numbers now.
    pub(crate) fn status(&self) -> StorageStatus {
        let (pool, log) = (self.pool(), self.log());
        StorageStatus {
            pages_total: pool.capacity() as u64,
            pages_free: pool.free_frames() as u64,
            pages_dirty: pool.dirty_pages() as u64,
            pages_read: pool.reads.load(Ordering::Relaxed),
            pages_written: pool.pages_written(),
            lsn_current: log.tail().0,
            lsn_flushed: log.durable().0,
            lsn_checkpoint: self.checkpoint_lsn().0,
            log_syncs: log.syncs.load(Ordering::Relaxed),
            log_bytes_on_disk: log.segments().bytes_on_disk(),
            checkpoints: self.checkpoints(),
        }
    }
}
