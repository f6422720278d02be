//! Repair of torn pages: a page whose in-place write was interrupted by a crash has a whole copy in
//! the doublewrite file (I6, I7). All such pages must be restored before redo reads any page.

use crate::disk::{Access, DOUBLEWRITE, Disk, File};
use crate::error::{Result, StorageError};
use crate::ids::{FileId, Lsn, PAGE_SIZE, PageId};
use crate::page;
use crate::pool::Arena;
use hashbrown::{HashMap, HashSet};
use std::io;
use std::sync::Arc;

/// Restores torn pages of `files` and returns how many there were.
///
/// Only copies newer than the checkpoint are used. The copy of an interrupted write is newer: its
/// change still kept the checkpoint back. An older copy may be of any age: to restore it over a
/// page damaged in another way would silently bring back old data. Redo completes pages newer than
/// the checkpoint.
///
/// A copy was written after the log of its last change was durable (I1). So a copy newer than
/// `end`, the end of the log, shows that a part of the log is lost, or that the log is older than
/// the data.
pub(crate) fn repair_torn_pages(
    disk: &dyn Disk,
    files: &HashMap<FileId, Arc<dyn File>>,
    checkpoint: Lsn,
    end: Lsn,
) -> Result<usize> {
    if !disk
        .list()
        .map_err(|e| StorageError::io("list of the data directory", e))?
        .iter()
        .any(|n| n == DOUBLEWRITE)
    {
        return Ok(0);
    }
    let copies = disk
        .open(DOUBLEWRITE, Access::Direct)
        .map_err(|e| StorageError::io("open of the doublewrite file", e))?;
    let mut repaired = HashSet::new();
    let mut buf = page_buffer()?;
    let newest = newest_copies(&*copies, checkpoint)?;
    if let Some((id, (lsn, _))) = newest.iter().find(|(_, (lsn, _))| *lsn > end) {
        return Err(StorageError::corrupt(format!(
            "the log ends at {end}, but {id} has changes up to {lsn}: log segments or the file control \
             are older than the data"
        )));
    }
    for (id, (_, at)) in newest {
        let Some(file) = files.get(&id.file) else { continue };
        if !is_torn(&**file, id, buf.bytes_mut())? {
            continue;
        }
        read(&*copies, at, buf.bytes_mut())?;
        if let Err(e) = file.write_at(buf.bytes_mut(), id.byte_offset()) {
            disk.fatal(&format!("repair of {id} failed: {e}"));
        }
        repaired.insert(id);
    }
    for file in repaired.iter().map(|id| id.file).collect::<HashSet<_>>() {
        if let Err(e) = files[&file].sync() {
            disk.fatal(&format!("fsync of data file {} failed: {e}", file.0));
        }
    }
    Ok(repaired.len())
}

fn page_buffer() -> Result<Arena> {
    Arena::new(PAGE_SIZE).map_err(|e| StorageError::io("memory", e))
}

fn read(file: &dyn File, at: u64, buf: &mut [u8]) -> Result<bool> {
    match file.read_at(buf, at) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(e) => Err(StorageError::io("read during page repair", e)),
    }
}

/// Position of the newest whole copy of each page. A torn copy has no valid checksum; its page was
/// not being written in place yet.
fn newest_copies(copies: &dyn File, after: Lsn) -> Result<HashMap<PageId, (Lsn, u64)>> {
    let mut newest: HashMap<PageId, (Lsn, u64)> = HashMap::new();
    let mut buf = page_buffer()?;
    let mut at = 0;
    while read(copies, at, buf.bytes_mut())? {
        let bytes = &*buf.bytes_mut();
        if let Some(id) = page::claimed_id(bytes).filter(|_| page::checksum_ok(bytes)) {
            let lsn = page::page_lsn(bytes);
            if lsn > after && newest.get(&id).is_none_or(|(known, _)| *known <= lsn) {
                newest.insert(id, (lsn, at));
            }
        }
        at += PAGE_SIZE as u64;
    }
    Ok(newest)
}

/// Whether the page in its file is not a whole page. A page beyond the end of the file was never
/// written there.
fn is_torn(file: &dyn File, id: PageId, buf: &mut [u8]) -> Result<bool> {
    Ok(!read(file, id.byte_offset(), buf)? || page::verify(buf, id).is_err())
}
