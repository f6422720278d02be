//! Opening and closing. The steps of `Storage::open_on` follow recovery's order. After each, the
//! directory must allow to run all of them again: data that a start needs is removed, truncated or
//! overwritten only after it was read and its replacement is durable.

use super::background::Background;
use super::options::StorageOptions;
use crate::checkpoint::{
    Brake, CheckpointParticipant, CheckpointRecord, Checkpointer, Control, Throttle,
};
use crate::disk::{Access, DOUBLEWRITE, Disk, File};
use crate::error::{Result, StorageError};
use crate::ids::{FileId, Lsn, PAGE_SIZE};
use crate::log::{BLOCK, Log, Segments};
use crate::mtr::PageRedo;
use crate::pool::{MIN_FRAMES, Pool, doublewrite_bytes};
use crate::recovery::{self, LogScan, RecoveryVisitor};
use crate::space::Space;
use crate::sync::Mutex;
use crate::sync::atomic::Ordering;
use hashbrown::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Start of the first log; position zero means "no LSN".
const FIRST_LSN: Lsn = Lsn(BLOCK);
/// Start of a temporary log: above every page's LSN.
const FAR_LSN: Lsn = Lsn(1 << 52);

/// Lowest `innodb_force_recovery` that skips unreadable pages.
const SALVAGE: u8 = 1;
/// Lowest level that stops the purge.
const WITHOUT_PURGE: u8 = 1;
/// Lowest level that stops the rollback.
const WITHOUT_ROLLBACK: u8 = 3;
/// Lowest level that ignores undo; nothing is written to disk.
pub(crate) const WITHOUT_UNDO: u8 = 5;
/// Lowest level that ignores the log.
pub(crate) const WITHOUT_LOG: u8 = 6;

/// An open database directory.
pub(crate) struct Storage {
    disk: Arc<dyn Disk>,
    log: Arc<Log>,
    pool: Arc<Pool>,
    space: Space,
    redo: Box<dyn PageRedo>,
    pub(super) checkpointer: Checkpointer,
    pub(super) options: StorageOptions,
    pub(super) background: Mutex<Background>,
    /// Number of log groups read at start.
    #[cfg(test)]
    pub(crate) redone_groups: u64,
}

impl Storage {
    /// Opens the database on `disk`, or creates it; recovers it if it was not closed cleanly. When
    /// this returns, the visitor has received everything, and no background thread runs yet. The
    /// caller restores its state, registers its `CheckpointParticipant`, and then calls
    /// `start_background`.
    pub(crate) fn open_on(
        disk: Arc<dyn Disk>,
        options: StorageOptions,
        redo: Box<dyn PageRedo>,
        visitor: &mut dyn RecoveryVisitor,
    ) -> Result<Arc<Storage>> {
        // Writes that a killed process had not synced are visible, but a machine crash could still
        // undo them.
        disk.sync_dir().map_err(|e| StorageError::io("sync of the data directory", e))?;
        let (control, found) = match options.force_recovery {
            WITHOUT_LOG.. => (Control::create(disk.clone())?, None),
            _ => Control::open(disk.clone())?,
        };
        let from = match found {
            Some(record) => record,
            None => create_database(&*disk, &control, &options)?,
        };
        let segments = Segments::open(disk.clone(), from.segment_size)?;
        recovery::require_log(&segments, &from)?;
        show_snapshot(&control, &from, visitor, &options)?;
        let scan = recovery::scan_log(&segments, &from, visitor)?;
        let epoch = from.epoch + 1;
        let start = recovery::close_log(&segments, from.lsn, scan.end, epoch)?;
        visitor.scanned(scan.first_rider)?;

        let space = Space::open(disk.clone())?;
        for file in &scan.dropped {
            space.finish_drop(*file)?;
        }
        let handles = space.handles();
        let repaired_pages = recovery::repair_torn_pages(&*disk, &handles, from.lsn, scan.end)?;
        // I7 across starts: in-place writes of the last run must be durable before its doublewrite
        // slots are reused.
        sync_changed(&*disk, &handles, &scan);
        let frames = (options.pool_bytes / PAGE_SIZE).max(MIN_FRAMES);
        let doublewrite = open_doublewrite(&*disk, options.doublewrite, frames)?;

        let record = next_life(&from, &scan, &space, epoch, start);
        control.write(&record);
        control.reserve_snapshots(&record)?;
        segments.remove_remains(from.lsn)?;
        let log = Arc::new(Log::new(segments, start, epoch, options.log_buffer_bytes)?);
        let pool = Arc::new(Pool::new(disk.clone(), log.clone(), frames, doublewrite)?);
        handles.into_iter().for_each(|(id, handle)| pool.attach(id, handle));
        pool.set_newest_valid(Some(scan.end));
        let segments = log.segments();
        let redone_groups =
            recovery::redo(segments, &from, &scan, &pool, &*redo, &options, visitor)?;
        pool.set_newest_valid(None);
        report_redo(redone_groups, repaired_pages);

        let checkpointer = Checkpointer::new(control, record, start);
        let background = Mutex::new(Background::default());
        let storage = Storage {
            disk,
            log,
            pool,
            space,
            redo,
            checkpointer,
            options,
            background,
            #[cfg(test)]
            redone_groups,
        };
        storage.space.load_states(&storage)?;
        storage.space.refill_spares()?;
        Ok(Arc::new(storage))
    }

    /// Whether unreadable data is skipped, and no file is removed.
    pub(crate) fn salvages(&self) -> bool {
        self.options.force_recovery >= SALVAGE
    }

    /// Whether the log of earlier runs is used.
    pub(crate) fn has_log(&self) -> bool {
        self.options.force_recovery < WITHOUT_LOG
    }

    /// Whether old versions are kept.
    pub(crate) fn rests_purge(&self) -> bool {
        self.options.force_recovery >= WITHOUT_PURGE
    }

    /// Whether unfinished transactions are left as they are.
    pub(crate) fn rests_rollback(&self) -> bool {
        self.options.force_recovery >= WITHOUT_ROLLBACK
    }

    /// The log.
    pub(crate) fn log(&self) -> &Log {
        &self.log
    }

    /// The buffer pool.
    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The data files and their pages.
    pub(crate) fn space(&self) -> &Space {
        &self.space
    }

    /// The operations of the page owner.
    pub(crate) fn redo(&self) -> &dyn PageRedo {
        &*self.redo
    }

    /// The files.
    pub(crate) fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    /// Takes a file id that was never used before.
    pub(crate) fn next_file_id(&self) -> FileId {
        FileId(self.checkpointer.next_file.fetch_add(1, Ordering::SeqCst))
    }

    /// Registers the participant that keeps undo; before that no checkpoint is taken.
    pub(crate) fn set_participant(&self, participant: Arc<dyn CheckpointParticipant>) {
        self.checkpointer.set_participant(participant);
    }

    /// Admits a mini-transaction before it takes any latch: log space on disk (I13), the brake,
    /// room in the log buffer, spare frames.
    pub(crate) fn admit(&self) -> Result<()> {
        self.log.ensure_space()?;
        self.brake()?;
        if self.log.is_crowded() {
            self.log.write_upto(self.log.completed());
        }
        self.pool.wait_for_spare_frames();
        Ok(())
    }

    /// Bytes of log that would have to be read after a crash now.
    pub(crate) fn log_age(&self) -> u64 {
        // In this order: a checkpoint may be newer than the tail of an earlier moment.
        let checkpoint = self.checkpointer.lsn().0;
        self.log.tail().0 - checkpoint
    }

    /// Bound on the bytes of log to read after a crash.
    pub(crate) fn log_budget(&self) -> u64 {
        self.options.log_budget_bytes
    }

    fn brake(&self) -> Result<()> {
        loop {
            let brake = Throttle::brake(self.log_age(), self.options.log_budget_bytes);
            match brake {
                Brake::Free => return Ok(()),
                Brake::Delay(time) if self.has_background() => {
                    crate::sync::sleep(time);
                    return Ok(());
                }
                Brake::Stop if self.has_background() => self.wait_for_checkpoint()?,
                // No other thread makes room. Without a participant (recovery) the log simply
                // grows.
                Brake::Delay(_) | Brake::Stop => {
                    self.pool.write_older_than(self.log.tail(), usize::MAX);
                    let outcome = self.checkpoint();
                    return if brake == Brake::Stop { outcome.map(drop) } else { Ok(()) };
                }
            }
        }
    }

    /// Waits while the budget is used up. If checkpoints fail for lack of space, writers fail too.
    fn wait_for_checkpoint(&self) -> Result<()> {
        if self.checkpointer.blocked.load(Ordering::Relaxed) && !self.is_unblocked_soon() {
            return Err(StorageError::DiskFull);
        }
        self.wake_flusher();
        crate::sync::sleep(Duration::from_millis(1));
        Ok(())
    }

    /// Whether a checkpoint finds space again: a large transaction may have ended since the last
    /// one.
    fn is_unblocked_soon(&self) -> bool {
        let attempts = || self.checkpointer.attempts.load(Ordering::Relaxed);
        // The first attempt may have begun before this call.
        let enough = attempts() + 2;
        for _ in 0..100 {
            self.wake_flusher();
            crate::sync::sleep(Duration::from_millis(5));
            if !self.checkpointer.blocked.load(Ordering::Relaxed) {
                return true;
            }
            if attempts() >= enough {
                return false;
            }
        }
        false
    }

    /// Takes a checkpoint at the position that the dirty pages allow, and recycles log segments
    /// before it.
    pub(crate) fn checkpoint(&self) -> Result<bool> {
        let taken = self.checkpointer.run(&self.log, &self.pool)?;
        if taken {
            let segments = self.log.segments();
            let total = self.options.log_budget_bytes / segments.capacity() + 2;
            segments.recycle(self.checkpointer.lsn(), total)?;
        }
        Ok(taken)
    }

    /// Writes every dirty page and takes a checkpoint: a crash after it has almost nothing to redo.
    pub(crate) fn sharp_checkpoint(&self) -> Result<()> {
        for _ in 0..100 {
            self.log.flush_all();
            self.pool.write_older_than(self.log.tail(), usize::MAX);
            if self.pool.dirty_pages() == 0 {
                break;
            }
        }
        self.checkpoint().map(drop)
    }

    /// Position at which redo would start now.
    pub(crate) fn checkpoint_lsn(&self) -> Lsn {
        self.checkpointer.lsn()
    }

    /// Checkpoints taken since start.
    #[cfg(test)]
    pub(crate) fn checkpoints(&self) -> u64 {
        self.checkpointer.count.load(Ordering::Relaxed)
    }

    /// Stops the threads and closes cleanly. The upper half must have ended all transactions and
    /// must not change anything after this.
    pub(crate) fn shutdown(&self) -> Result<()> {
        self.stop_background();
        self.sharp_checkpoint()?;
        self.disk.close();
        Ok(())
    }
}

/// Writes the first record of a new database; `Control::open` has checked that there is none.
fn create_database(
    disk: &dyn Disk,
    control: &Control,
    options: &StorageOptions,
) -> Result<CheckpointRecord> {
    disk.sync_dir().map_err(|e| StorageError::io("sync of the data directory", e))?;
    let first = if options.force_recovery >= WITHOUT_LOG { FAR_LSN } else { FIRST_LSN };
    let segment_size = options.segment_bytes.next_multiple_of(BLOCK).max(16 * BLOCK);
    let record = CheckpointRecord {
        seq: 1,
        lsn: first,
        durable: first,
        epoch_at_lsn: 1,
        epoch: 1,
        next_file: 1,
        snapshot_file: 0,
        snapshot_len: 0,
        snapshot_crc: 0,
        segment_size,
    };
    control.write(&record);
    Ok(record)
}

fn report_redo(groups: u64, repaired_pages: usize) {
    if groups > 0 {
        tracing::info!("redo of {groups} log groups; {repaired_pages} torn pages repaired");
    }
}

fn show_snapshot(
    control: &Control,
    from: &CheckpointRecord,
    visitor: &mut dyn RecoveryVisitor,
    options: &StorageOptions,
) -> Result<()> {
    match control.read_snapshot(from).and_then(|bytes| visitor.snapshot(&bytes)) {
        Err(e) if options.force_recovery >= WITHOUT_UNDO => {
            tracing::warn!("unreadable, skipped: {e}");
            Ok(())
        }
        outcome => outcome,
    }
}

fn sync_changed(disk: &dyn Disk, handles: &HashMap<FileId, Arc<dyn File>>, scan: &LogScan) {
    for (id, handle) in handles.iter().filter(|(id, _)| scan.changed.contains(*id)) {
        if let Err(e) = handle.sync() {
            disk.fatal(&format!("fsync of data file {} failed: {e}", id.0));
        }
    }
}

/// Opens the file for whole copies of pages. Without doublewrite the file is removed: a later start
/// with doublewrite would take its old copies for recent ones.
fn open_doublewrite(disk: &dyn Disk, wanted: bool, frames: usize) -> Result<Option<Arc<dyn File>>> {
    let open = || -> std::io::Result<Option<Arc<dyn File>>> {
        let exists = disk.list()?.iter().any(|n| n == DOUBLEWRITE);
        if !wanted {
            if exists {
                disk.remove(DOUBLEWRITE)?;
                disk.sync_dir()?;
            }
            return Ok(None);
        }
        let file = if exists {
            disk.open(DOUBLEWRITE, Access::Direct)
        } else {
            disk.create(DOUBLEWRITE, Access::Direct)
        }?;
        file.allocate(doublewrite_bytes(frames))?;
        file.sync()?;
        disk.sync_dir()?;
        Ok(Some(file))
    };
    open().map_err(|e| StorageError::io("open of the doublewrite file", e))
}

/// The record of a new start: same redo start, next epoch.
fn next_life(
    from: &CheckpointRecord,
    scan: &LogScan,
    space: &Space,
    epoch: u32,
    start: Lsn,
) -> CheckpointRecord {
    let on_disk = space.files().last().map_or(1, |id| id.0 + 1);
    CheckpointRecord {
        seq: from.seq + 1,
        durable: start,
        epoch,
        next_file: scan.next_file.max(on_disk),
        ..*from
    }
}
