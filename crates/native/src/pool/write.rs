//! Writes of dirty pages to their files: copy under a shared latch, make the log durable (I1),
//! doublewrite (I7), write in place. The evictor and the age flusher each have their own staging
//! memory and their own part of the doublewrite file, so that neither waits for the other.

use super::arena::Arena;
use super::miss::Pool;
use super::word::{ONE_SHARED, Word};
use crate::disk::File;
use crate::error::{Result, StorageError};
use crate::ids::{FileId, Lsn, PAGE_SIZE, PageId};
use crate::page;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, Ordering};
use hashbrown::HashSet;
use std::sync::Arc;

/// Pages per doublewrite batch.
pub(crate) const BATCH_PAGES: usize = 128;
/// Number of batches before a part of the doublewrite file is reused.
const PART_BATCHES: usize = 4;
/// Parts of the doublewrite file, one per writer.
pub(crate) const PARTS: usize = 2;

/// Length of the doublewrite file of a pool of `frames` frames.
pub(crate) const fn doublewrite_bytes(frames: usize) -> u64 {
    (PARTS * PART_BATCHES * batch_pages(frames) * PAGE_SIZE) as u64
}

const fn batch_pages(frames: usize) -> usize {
    if frames < BATCH_PAGES { frames } else { BATCH_PAGES }
}

/// The writing thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Who {
    /// The evictor, which frees frames.
    Evictor = 0,
    /// The flusher, which bounds the age of changes.
    Flusher = 1,
}

/// A page copied for writing.
struct Staged {
    frame: u32,
    id: PageId,
    /// The log alone can rebuild the page, so a torn write does no harm.
    rebuildable: bool,
}

/// One writer's memory and its place in the doublewrite file.
struct Writer {
    staging: Arena,
    next_slot: usize,
    /// Files that this writer has written in place since their last sync.
    touched: HashSet<FileId>,
}

/// Both writers and their shared state.
pub(super) struct Writers {
    doublewrite: Option<Arc<dyn File>>,
    writers: [Mutex<Writer>; PARTS],
    /// Files written since the sync of the last checkpoint.
    unsynced: Mutex<HashSet<FileId>>,
    batch: usize,
    written: AtomicU64,
}

impl Writers {
    pub(super) fn new(doublewrite: Option<Arc<dyn File>>, frames: usize) -> Result<Writers> {
        let batch = batch_pages(frames);
        let writer = || -> Result<Mutex<Writer>> {
            let staging =
                Arena::new(batch * PAGE_SIZE).map_err(|e| StorageError::io("staging memory", e))?;
            Ok(Mutex::new(Writer { staging, next_slot: 0, touched: HashSet::new() }))
        };
        let writers = [writer()?, writer()?];
        Ok(Writers {
            doublewrite,
            writers,
            unsynced: Mutex::default(),
            batch,
            written: AtomicU64::new(0),
        })
    }

    /// Removes a dropped file, which needs no sync any more.
    pub(super) fn forget(&self, file: FileId) {
        self.unsynced.lock().remove(&file);
        for writer in &self.writers {
            writer.lock().touched.remove(&file);
        }
    }
}

impl Pool {
    /// Writes the pages among `wanted` that are dirty and not exclusively latched. Sorts `wanted`
    /// by file and page.
    pub(super) fn write_pages(&self, wanted: &mut [(u32, PageId)], who: Who) -> usize {
        wanted.sort_unstable_by_key(|(_, id)| *id);
        let mut written = 0;
        let mut writer = self.writers.writers[who as usize].lock();
        for chunk in wanted.chunks(self.writers.batch) {
            written += self.write_batch(&mut writer, chunk, who);
        }
        written
    }

    /// Writes pages first changed before `upto`, at most `limit` of them, those with the oldest
    /// changes first.
    pub(crate) fn write_older_than(&self, upto: Lsn, limit: usize) -> usize {
        let mut old: Vec<(Lsn, u32, PageId)> = Vec::new();
        for (frame, descriptor) in self.frames_in_use().iter().enumerate() {
            if let (Some(since), Some(id)) = (descriptor.dirty_since(), descriptor.page())
                && since < upto
            {
                old.push((since, frame as u32, id));
            }
        }
        if old.len() > limit {
            old.select_nth_unstable(limit);
            old.truncate(limit);
        }
        let mut wanted: Vec<(u32, PageId)> =
            old.into_iter().map(|(_, frame, id)| (frame, id)).collect();
        self.write_pages(&mut wanted, Who::Flusher)
    }

    fn write_batch(&self, writer: &mut Writer, wanted: &[(u32, PageId)], who: Who) -> usize {
        let mut staged: Vec<Staged> = Vec::with_capacity(wanted.len());
        let mut newest = Lsn(0);
        for &(frame, id) in wanted {
            let to = &mut writer.staging.bytes_mut()[staged.len() * PAGE_SIZE..][..PAGE_SIZE];
            if let Some(rebuildable) = self.copy_for_write(frame, id, to) {
                newest = newest.max(page::page_lsn(to));
                page::seal(to);
                staged.push(Staged { frame, id, rebuildable });
            }
        }
        if staged.is_empty() {
            return 0;
        }
        self.log.flush_upto(newest);
        assert!(self.log.durable() >= newest, "I1: a page must not overtake its log");
        crate::failpoint::reached("pages before doublewrite");
        self.doublewrite(writer, &staged, who);
        crate::failpoint::reached("pages after doublewrite");
        self.write_in_place(writer, &staged);
        crate::failpoint::reached("pages in place");
        self.writers.written.fetch_add(staged.len() as u64, Ordering::Relaxed);
        staged.len()
    }

    /// Copies a dirty page under a shared latch. It does not wait for the latch: an exclusive
    /// holder is about to change the page again anyway.
    fn copy_for_write(&self, frame: u32, id: PageId, to: &mut [u8]) -> Option<bool> {
        let word = self.word(id).ok()?;
        let seen = Word(word.load(Ordering::Relaxed));
        let next = seen.shared().filter(|_| seen.frame() == frame)?;
        word.compare_exchange(seen.0, next.0, Ordering::Acquire, Ordering::Relaxed).ok()?;
        let rebuildable = self.frame(frame).begin_write();
        if rebuildable.is_some() {
            // SAFETY: rule 2 of `guard`: this thread was just counted as a shared holder, so no
            // thread writes the frame.
            let bytes =
                unsafe { std::slice::from_raw_parts(self.frame_bytes(frame).as_ptr(), PAGE_SIZE) };
            to.copy_from_slice(bytes);
        }
        word.fetch_sub(ONE_SHARED, Ordering::Release);
        rebuildable
    }

    /// I7: the copies are durable before the in-place writes start, and a slot is reused only after
    /// the in-place writes of its last use are durable.
    fn doublewrite(&self, writer: &mut Writer, staged: &[Staged], who: Who) {
        let Some(file) = &self.writers.doublewrite else { return };
        if staged.iter().all(|s| s.rebuildable) {
            return;
        }
        let part_slots = self.writers.batch * PART_BATCHES;
        if writer.next_slot + staged.len() > part_slots {
            let touched: Vec<FileId> = writer.touched.drain().collect();
            touched.into_iter().for_each(|f| self.sync_file(f));
            writer.next_slot = 0;
        }
        let slot = who as usize * part_slots + writer.next_slot;
        let bytes = &writer.staging.bytes_mut()[..staged.len() * PAGE_SIZE];
        if let Err(e) = file.write_durable_at(bytes, (slot * PAGE_SIZE) as u64) {
            self.disk.fatal(&format!("doublewrite failed: {e}"));
        }
        writer.next_slot += staged.len();
    }

    fn write_in_place(&self, writer: &mut Writer, staged: &[Staged]) {
        let mut at = 0;
        while at < staged.len() {
            let run = run_length(&staged[at..]);
            let first = staged[at].id;
            let bytes = &writer.staging.bytes_mut()[at * PAGE_SIZE..(at + run) * PAGE_SIZE];
            // The pages of a file dropped meanwhile are not needed any more.
            if let Ok(handle) = self.handle(first.file) {
                if let Err(e) = handle.write_at(bytes, first.byte_offset()) {
                    self.disk.fatal(&format!("write of {first} failed: {e}"));
                }
                writer.touched.insert(first.file);
                self.writers.unsynced.lock().insert(first.file);
            }
            staged[at..at + run].iter().for_each(|s| self.frame(s.frame).end_write());
            crate::failpoint::reached("pages partly in place");
            at += run;
        }
    }

    /// Makes every completed in-place write durable.
    pub(crate) fn sync_files(&self) {
        let files: Vec<FileId> = self.writers.unsynced.lock().drain().collect();
        files.into_iter().for_each(|f| self.sync_file(f));
    }

    fn sync_file(&self, file: FileId) {
        if let Ok(handle) = self.handle(file)
            && let Err(e) = handle.sync()
        {
            self.disk.fatal(&format!("fsync of data file {} failed: {e}", file.0));
        }
    }

    /// Pages written since start.
    pub(crate) fn pages_written(&self) -> u64 {
        self.writers.written.load(Ordering::Relaxed)
    }
}

/// Number of leading pages that follow each other in one file.
fn run_length(staged: &[Staged]) -> usize {
    let first = staged[0].id;
    let follows = |(n, s): &(usize, &Staged)| {
        s.id.file == first.file && s.id.page.0 as usize == first.page.0 as usize + n
    };
    staged.iter().enumerate().take_while(follows).count()
}
