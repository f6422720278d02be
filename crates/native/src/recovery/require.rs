//! Checks before recovery that the log segments from the checkpoint record on exist. A missing or
//! damaged segment must not be taken for the end of the log.

use crate::checkpoint::CheckpointRecord;
use crate::error::{Result, StorageError};
use crate::log::Segments;

/// Refuses a log without the segment in which redo starts, or with a gap after it.
///
/// Segments are created one after the other, durably, before anything is written to them, and those
/// that a checkpoint has passed are removed in the same order. So those from the redo start on have
/// no gaps. Only the first record of a database, which names the start of the log, is written
/// before the first segment.
pub(crate) fn require_log(segments: &Segments, from: &CheckpointRecord) -> Result<()> {
    let first = segments.index_of(from.lsn);
    let last = segments.last_index();
    if from.seq == 1 && last.is_none() {
        return Ok(());
    }
    for index in first..=last.unwrap_or(first).max(first) {
        if let Some(what) = segments.lacks(index)? {
            return Err(StorageError::corrupt(format!(
                "{what}; recovery needs the log from {} on",
                from.lsn
            )));
        }
    }
    segments.refuse_lost_headers()
}
