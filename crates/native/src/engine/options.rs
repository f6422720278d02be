//! The options of opening an engine.
//!
//! They are fixed while it is open, except those that `set_variable` or a setter can change.

use super::riders::Riders;
use crate::log::FlushMode;
use crate::storage::{StorageOptions, WITHOUT_UNDO};
use selkie_engine::RiderFiles;
use std::fs::File;
use std::io;
use std::sync::Arc;

/// The event after which a commit is acknowledged: `innodb_flush_log_at_trx_commit`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlushAtCommit {
    /// 0: at once; the log is written and synced once a second.
    EverySecond,
    /// 1: when the commit is durable.
    #[default]
    Durable,
    /// 2: when it is written to the operating system; the log is synced once a second.
    Written,
}

impl FlushAtCommit {
    /// The meaning of the variable's value. Compat: 3 differs from 1 only with a binary log.
    pub fn of_setting(value: u64) -> FlushAtCommit {
        match value {
            0 => FlushAtCommit::EverySecond,
            2 => FlushAtCommit::Written,
            _ => FlushAtCommit::Durable,
        }
    }
}

impl From<FlushAtCommit> for FlushMode {
    fn from(mode: FlushAtCommit) -> FlushMode {
        match mode {
            FlushAtCommit::EverySecond => FlushMode::EverySecond,
            FlushAtCommit::Durable => FlushMode::AtCommit,
            FlushAtCommit::Written => FlushMode::WriteAtCommit,
        }
    }
}

/// Makes a file without a name.
pub type MakeFile = Arc<dyn Fn() -> io::Result<File> + Send + Sync>;

/// The smallest log buffer with room for every change of a tree.
const MIN_LOG_BUFFER: usize = 512 << 10;

/// Sizes and switches of an engine.
#[derive(Clone)]
pub struct NativeOptions {
    /// `innodb_buffer_pool_size`.
    pub buffer_pool_bytes: usize,
    /// `innodb_log_file_size`: bound on the log to read after a crash.
    pub log_capacity_bytes: u64,
    /// `innodb_log_buffer_size`.
    pub log_buffer_bytes: usize,
    /// Memory for undo before it is moved to a file. 0: an eighth of the buffer pool's size, at
    /// least 8 MiB.
    pub undo_memory_bytes: usize,
    /// Bytes per log segment file; fixed when the database is created.
    pub log_segment_bytes: u64,
    /// `innodb_flush_log_at_trx_commit`.
    pub flush_at_commit: FlushAtCommit,
    /// `innodb_open_files`: number of data files that are open at the same time, unless more are in
    /// use.
    pub open_files: usize,
    /// `innodb_doublewrite`.
    pub doublewrite: bool,
    /// Whether threads flush, evict, checkpoint and purge on their own. If not, callers do it, for
    /// tests.
    pub background: bool,
    /// `innodb_force_recovery`: 1 skips unreadable pages and stops the purge, 3 stops the rollback,
    /// 5 takes unfinished transactions for committed, 6 ignores the log; 5 and 6 change nothing on
    /// disk.
    pub force_recovery: u8,
    /// Files of index builds that do not fit into memory.
    pub temporary: MakeFile,
    /// The owner of the files that are written from riders. Without one no commit carries a rider,
    /// and a log with riders since the last checkpoint is refused.
    pub rider_files: Option<Arc<dyn RiderFiles>>,
}

impl Default for NativeOptions {
    fn default() -> Self {
        let storage = StorageOptions::default();
        Self {
            buffer_pool_bytes: storage.pool_bytes,
            log_capacity_bytes: storage.log_budget_bytes,
            log_buffer_bytes: storage.log_buffer_bytes,
            undo_memory_bytes: 0,
            log_segment_bytes: storage.segment_bytes,
            flush_at_commit: FlushAtCommit::default(),
            open_files: 400,
            doublewrite: storage.doublewrite,
            background: storage.background,
            force_recovery: storage.force_recovery,
            temporary: Arc::new(tempfile::tempfile),
            rider_files: None,
        }
    }
}

impl NativeOptions {
    pub(super) fn undo_memory(&self) -> usize {
        match self.undo_memory_bytes {
            0 => (self.buffer_pool_bytes / 8).max(8 << 20),
            bytes => bytes,
        }
    }

    /// The riders' owner. Where nothing may change on disk, its files must not either.
    pub(super) fn riders(&self) -> Riders {
        if self.force_recovery >= WITHOUT_UNDO {
            return Riders::ignored();
        }
        Riders::of(self.rider_files.clone())
    }

    pub(super) fn storage(&self) -> StorageOptions {
        StorageOptions {
            pool_bytes: self.buffer_pool_bytes,
            // A group may take a quarter of the buffer, and a split up to the root changes several
            // pages.
            log_buffer_bytes: self.log_buffer_bytes.max(MIN_LOG_BUFFER),
            segment_bytes: self.log_segment_bytes,
            log_budget_bytes: self.log_capacity_bytes,
            doublewrite: self.doublewrite,
            background: self.background,
            force_recovery: self.force_recovery,
        }
    }
}
