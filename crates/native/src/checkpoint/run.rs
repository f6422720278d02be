//! Takes a checkpoint. The order is the invariant: log tail, in-flight slots, dirty pages (I4);
//! data files durable; riders' files durable; undo snapshot durable; log durable; record durable;
//! only then are log segments recycled (I9).

use super::CheckpointParticipant;
use super::control::{CheckpointRecord, Control};
use crate::error::Result;
use crate::ids::Lsn;
use crate::log::{Log, assert_no_order_lock};
use crate::pool::Pool;
use crate::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use crate::sync::{Mutex, RwLock};
use std::sync::Arc;

/// Takes checkpoints, one at a time.
pub(crate) struct Checkpointer {
    control: Control,
    last: Mutex<CheckpointRecord>,
    last_lsn: AtomicU64,
    /// First position of the log written since this start.
    life_start: Lsn,
    participant: RwLock<Option<Arc<dyn CheckpointParticipant>>>,
    /// First unused file id.
    pub(crate) next_file: AtomicU32,
    /// Checkpoints taken since start.
    pub(crate) count: AtomicU64,
    /// Number of attempts to save an undo snapshot.
    pub(crate) attempts: AtomicU64,
    /// Whether the last attempt found the disk full.
    pub(crate) blocked: AtomicBool,
}

impl Checkpointer {
    /// Continues after `last`; `life_start` is the first position of the log of this start.
    pub(crate) fn new(control: Control, last: CheckpointRecord, life_start: Lsn) -> Checkpointer {
        Checkpointer {
            control,
            last_lsn: AtomicU64::new(last.lsn.0),
            next_file: AtomicU32::new(last.next_file),
            last: Mutex::new(last),
            life_start,
            participant: RwLock::new(None),
            count: AtomicU64::new(0),
            attempts: AtomicU64::new(0),
            blocked: AtomicBool::new(false),
        }
    }

    /// Registers the participant that keeps undo. Without one no checkpoint is taken.
    pub(crate) fn set_participant(&self, participant: Arc<dyn CheckpointParticipant>) {
        *self.participant.write() = Some(participant);
    }

    /// Position at which redo would start now.
    pub(crate) fn lsn(&self) -> Lsn {
        Lsn(self.last_lsn.load(Ordering::Acquire))
    }

    /// Whether a checkpoint now would free clearly more log than its undo snapshot costs, or a good
    /// part of `budget`.
    pub(crate) fn is_worthwhile(&self, log: &Log, pool: &Pool, budget: u64) -> bool {
        let len = self.participant.read().as_ref().map_or(0, |p| p.snapshot_len()) as u64;
        let worthwhile = (4 * len).min(budget / 4).max(1);
        let completed = log.completed();
        // The frames are looked through only where they could decide it.
        if completed.0.saturating_sub(self.lsn().0) < worthwhile {
            return false;
        }
        let lsn = pool.oldest_change().map_or(completed, |oldest| oldest.min(completed));
        lsn.0.saturating_sub(self.lsn().0) >= worthwhile
    }

    /// Moves the redo start forward as far as the dirty pages allow. Returns whether a record was
    /// written.
    pub(crate) fn run(&self, log: &Log, pool: &Pool) -> Result<bool> {
        assert_no_order_lock();
        let mut last = self.last.lock();
        let Some(participant) = self.participant.read().clone() else {
            // Without it, the undo of active transactions is only in the log since the last record.
            return Ok(false);
        };
        let completed = log.completed();
        let lsn = pool.oldest_change().map_or(completed, |oldest| oldest.min(completed));
        if lsn <= last.lsn {
            return Ok(false);
        }
        pool.sync_files();
        crate::failpoint::reached("checkpoint files synced");
        let snapshot_file = 1 - last.snapshot_file.min(1);
        let saved = self.save_snapshot(snapshot_file, &*participant, lsn);
        self.blocked.store(saved.is_err(), Ordering::Relaxed);
        self.attempts.fetch_add(1, Ordering::Relaxed);
        let (snapshot_len, snapshot_crc) = saved?;
        crate::failpoint::reached("checkpoint snapshot saved");
        // The snapshot leaves out transactions that have committed, so their commit records must be
        // durable first. It may know riders that have only their places yet: those must be durable
        // too.
        log.wait_for_order();
        let durable = log.flush_all();
        let record = CheckpointRecord {
            seq: last.seq + 1,
            lsn,
            durable,
            epoch_at_lsn: if lsn >= self.life_start { log.epoch() } else { last.epoch_at_lsn },
            epoch: log.epoch(),
            next_file: self.next_file.load(Ordering::SeqCst),
            snapshot_file,
            snapshot_len,
            snapshot_crc,
            segment_size: last.segment_size,
        };
        assert!(log.durable() >= lsn, "a checkpoint must not overtake the log");
        crate::failpoint::reached("checkpoint before record");
        self.control.write(&record);
        crate::failpoint::reached("checkpoint recorded");
        *last = record;
        self.last_lsn.store(lsn.0, Ordering::Release);
        self.count.fetch_add(1, Ordering::Relaxed);
        Ok(true)
    }

    /// Writes the participant's snapshot durably to file `number`; returns its length and checksum.
    fn save_snapshot(
        &self,
        number: u32,
        participant: &dyn CheckpointParticipant,
        lsn: Lsn,
    ) -> Result<(u64, u32)> {
        let snapshot = participant.snapshot(lsn)?;
        let crc = self.control.write_snapshot(number, &snapshot)?;
        Ok((snapshot.len() as u64, crc))
    }
}
