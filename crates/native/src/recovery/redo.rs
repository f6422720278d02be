//! Second pass over the log: brings pages up to its end, and passes on the riders. A group is
//! applied to a page iff the page is older than the group (I5); all pages of the group stay latched
//! until it is complete.

use super::RecoveryVisitor;
use super::prefetch::{Ahead, with_prefetch};
use super::scan::LogScan;
use crate::checkpoint::CheckpointRecord;
use crate::error::{Result, StorageError};
use crate::ids::{FileId, PAGE_SIZE, PageId};
use crate::log::{Group, LogReader, Record, RecordReader, Segments};
use crate::mtr::PageRedo;
use crate::page;
use crate::pool::{ExclusiveGuard, Pool};
use crate::storage::StorageOptions;
use smallvec::SmallVec;

/// A page of the current group.
struct Touched<'p> {
    guard: ExclusiveGuard<'p>,
    /// The page is older than the group.
    stale: bool,
    initialised: bool,
}

/// Redoes all groups from the checkpoint to the end that the scan found. With background threads,
/// others read pages ahead. Returns the number of groups read.
pub(crate) fn redo(
    segments: &Segments,
    from: &CheckpointRecord,
    scan: &LogScan,
    pool: &Pool,
    apply: &dyn PageRedo,
    options: &StorageOptions,
    visitor: &mut dyn RecoveryVisitor,
) -> Result<u64> {
    let mut redo = |ahead: &Ahead| {
        let mut reader = LogReader::new(segments, from.lsn, from.epoch_at_lsn, from.epoch)?;
        let mut groups = 0;
        while reader.position() < scan.end
            && let Some(group) = reader.next_group()?
        {
            ahead.note(group.start.0);
            redo_group(&group, scan, pool, apply, visitor, ahead.salvages)?;
            groups += 1;
        }
        Ok(groups)
    };
    if options.force_recovery > 0 {
        return redo(&Ahead::salvaging());
    }
    if options.background && from.lsn < scan.end {
        return with_prefetch(segments, from, scan, pool, redo);
    }
    redo(&Ahead::default())
}

fn redo_group(
    group: &Group<'_>,
    scan: &LogScan,
    pool: &Pool,
    apply: &dyn PageRedo,
    visitor: &mut dyn RecoveryVisitor,
    salvages: bool,
) -> Result<()> {
    let mut touched: SmallVec<[Touched<'_>; 8]> = SmallVec::new();
    for record in RecordReader::new(group.payload) {
        let record = record
            .map_err(|_| StorageError::corrupt(format!("invalid log group at {}", group.start)))?;
        let (id, first_is_init) = match record {
            Record::Init { page, .. } => (page, true),
            Record::Write { page, .. } | Record::Op { page, .. } => (page, false),
            Record::Rider(payload) => {
                visitor.rider(group.end, payload)?;
                crate::failpoint::reached("rider given back");
                continue;
            }
            Record::Row(_) | Record::Trx(_) | Record::FileCreated(_) | Record::FileDropped(_) => {
                continue;
            }
        };
        if is_moot(scan, group, id) {
            continue;
        }
        let at = match touched.iter().position(|t| t.guard.id() == id) {
            Some(at) => at,
            None => {
                match touch(pool, id, group, first_is_init) {
                    Ok(page) => touched.push(page),
                    Err(e @ StorageError::Corrupt { .. }) if salvages => {
                        tracing::warn!("unreadable, skipped by redo: {e}");
                        continue;
                    }
                    Err(e) => return Err(e),
                }
                touched.len() - 1
            }
        };
        if touched[at].stale {
            apply_record(&mut touched[at], record, apply)?;
        }
    }
    for mut t in touched.into_iter().filter(|t| t.stale) {
        t.guard.mark_dirty(group.start, group.end, t.initialised);
    }
    Ok(())
}

/// Whether the change need not be redone: the file is dropped later, or the page is initialised
/// later.
pub(super) fn is_moot(scan: &LogScan, group: &Group<'_>, id: PageId) -> bool {
    scan.dropped.contains(&id.file)
        || scan.last_init.get(&id).is_some_and(|init| group.start < *init)
}

/// Latches a page and compares its age. A page that will be initialised need not be readable (I6).
fn touch<'p>(pool: &'p Pool, id: PageId, group: &Group<'_>, init: bool) -> Result<Touched<'p>> {
    if !pool.has_file(id.file) {
        return Err(StorageError::page(
            id,
            format!("the log at {} changes a file that is missing", group.start),
        ));
    }
    let guard = if init { pool.create(id)? } else { pool.exclusive(id)? };
    let stale = guard.lsn() < group.end;
    Ok(Touched { guard, stale, initialised: init })
}

fn apply_record(to: &mut Touched<'_>, record: Record<'_>, apply: &dyn PageRedo) -> Result<()> {
    let id = to.guard.id();
    let page = to.guard.bytes_mut();
    match record {
        Record::Init { kind, .. } => page::init(page, id, kind),
        Record::Write { offset, bytes, .. } => {
            let place = page.get_mut(offset as usize..offset as usize + bytes.len());
            place
                .ok_or_else(|| StorageError::page(id, "log record outside the page"))?
                .copy_from_slice(bytes);
        }
        Record::Op { op, payload, .. } => apply.apply(id, op, &mut page[..PAGE_SIZE], payload)?,
        Record::Row(_) | Record::Trx(_) | Record::FileCreated(_) | Record::FileDropped(_) => {}
        Record::Rider(_) => {}
    }
    Ok(())
}

impl Pool {
    /// Whether the file is attached.
    pub(crate) fn has_file(&self, file: FileId) -> bool {
        self.handle(file).is_ok()
    }
}
