//! First pass over the log: finds its end, the files and pages it creates anew or drops, and passes
//! on the logical records. Then the end is padded, so that the next start of the server continues
//! the log in a new block.

use super::RecoveryVisitor;
use crate::checkpoint::CheckpointRecord;
use crate::error::{Result, StorageError};
use crate::ids::{FileId, Lsn, PageId};
use crate::log::{BLOCK, Group, LogReader, Record, RecordReader, Segments};
use hashbrown::{HashMap, HashSet};

/// Result of the first pass.
#[derive(Default)]
pub(crate) struct LogScan {
    /// End of the last whole group.
    pub(crate) end: Lsn,
    /// Epoch of the log that wrote the last group.
    pub(crate) epoch: u32,
    /// For pages initialised since the checkpoint, the group of their last initialisation. Earlier
    /// changes need no redo.
    pub(crate) last_init: HashMap<PageId, Lsn>,
    /// Files with pages changed since the checkpoint.
    pub(crate) changed: HashSet<FileId>,
    /// Files dropped since the checkpoint.
    pub(crate) dropped: HashSet<FileId>,
    /// First file id that is unused as far as the log tells.
    pub(crate) next_file: u32,
    /// The first group with a rider since the checkpoint.
    pub(crate) first_rider: Option<Lsn>,
}

/// Reads the log from the checkpoint to its end.
pub(crate) fn scan_log(
    segments: &Segments,
    from: &CheckpointRecord,
    visitor: &mut dyn RecoveryVisitor,
) -> Result<LogScan> {
    let mut scan = LogScan { next_file: from.next_file, ..LogScan::default() };
    let mut reader = LogReader::new(segments, from.lsn, from.epoch_at_lsn, from.epoch)?;
    while let Some(group) = reader.next_group()? {
        scan.group(&group, visitor)?;
    }
    scan.end = reader.position();
    scan.epoch = reader.epoch();
    refuse_lost_end(&mut reader, from, scan.end)?;
    Ok(scan)
}

/// Refuses an end of the log that no crash can leave.
fn refuse_lost_end(reader: &mut LogReader<'_>, from: &CheckpointRecord, end: Lsn) -> Result<()> {
    if reader.leaves_segments()? && from.seq > 1 {
        return Err(StorageError::corrupt(format!(
            "the log continues at {end}, but the next log segment is missing"
        )));
    }
    let behind = reader.behind_end()?;
    if let Some(later) = behind.later {
        return Err(StorageError::corrupt(format!(
            "the record in the file control is from life {} of the log, but at {end} there is life {later}: \
             the newer record was lost",
            from.epoch
        )));
    }
    let durable = from.durable.max(behind.durable);
    if end < durable {
        return Err(StorageError::corrupt(format!(
            "the log ends at {end}, but it was durable up to {durable}: log data was lost"
        )));
    }
    Ok(())
}

impl LogScan {
    fn group(&mut self, group: &Group<'_>, visitor: &mut dyn RecoveryVisitor) -> Result<()> {
        for record in RecordReader::new(group.payload) {
            let record = record.map_err(|_| {
                StorageError::corrupt(format!("invalid log group at {}", group.start))
            })?;
            match record {
                Record::Init { page, .. } => {
                    self.changed.insert(page.file);
                    self.last_init.insert(page, group.start);
                }
                Record::FileCreated(file) => self.next_file = self.next_file.max(file.0 + 1),
                Record::FileDropped(file) => drop(self.dropped.insert(file)),
                Record::Rider(_) => drop(self.first_rider.get_or_insert(group.start)),
                Record::Row(payload) => visitor.row(group.end, payload)?,
                Record::Trx(payload) => visitor.trx(group.end, payload)?,
                Record::Write { page, .. } | Record::Op { page, .. } => {
                    self.changed.insert(page.file);
                }
            }
        }
        Ok(())
    }
}

/// Pads the last block after `end`, makes the log durable, and returns the position at which the
/// log continues.
///
/// The padded block is the only one ever written twice. That is safe: its bytes before `end` are
/// written again unchanged, and nothing after `end` was ever acknowledged.
pub(crate) fn close_log(segments: &Segments, from: Lsn, end: Lsn, epoch: u32) -> Result<Lsn> {
    let start = segments.close(end, epoch)?;
    segments.prepare(Lsn(start.0 + BLOCK))?;
    segments.make_durable(from, start);
    Ok(start)
}
