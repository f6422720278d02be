//! Reading pages before they are asked for. Misses that follow each other in a file are a scan; the
//! next pages are then read by other threads, several with one call, while the scan works on the
//! one it waited for. A wrong guess costs a read and nothing else: what cannot be read is left for
//! whoever really wants it.

use super::arena::Arena;
use super::miss::Pool;
use super::word::{EVICTED, UNLOCKED, Word};
use crate::error::{Result, StorageError};
use crate::ids::{FileId, PAGE_SIZE, PageId};
use crate::page;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Condvar, Mutex};
use std::collections::VecDeque;
use std::time::Duration;

/// Misses in a row that make a scan.
const SCAN_MISSES: u32 = 3;
/// Holes between misses that still count as in a row.
const MAX_GAP: u32 = 4;
/// Pages per read.
pub(crate) const RUN_PAGES: u32 = 8;
/// Reads asked for at once.
const RUNS: u32 = 4;
/// Reads that may wait; more are forgotten.
const MAX_QUEUE: usize = 64;

/// A run of pages to read.
#[derive(Clone, Copy)]
struct Run {
    file: FileId,
    first: u32,
}

/// A scan may keep one frame in so many before its oldest pages leave ahead of everybody else's.
const SCAN_SHARE: usize = 8;

/// Runs that wait for a reader thread.
pub(super) struct ReadAhead {
    queue: Mutex<VecDeque<Run>>,
    /// Pages that scans have brought in, oldest first: a page used once by a scan must not push out
    /// one that is used again and again. Entries may be out of date.
    scanned: Mutex<VecDeque<(u32, PageId)>>,
    work: Condvar,
    pages: AtomicU64,
}

impl ReadAhead {
    pub(super) fn new() -> ReadAhead {
        ReadAhead {
            queue: Mutex::default(),
            scanned: Mutex::default(),
            work: Condvar::new(),
            pages: AtomicU64::new(0),
        }
    }
}

/// What a miss looks like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Miss {
    /// Nothing special.
    Alone,
    /// Part of a scan: the pages after it should be read.
    Scan,
    /// Part of a scan, asked for already, only not read yet.
    Requested,
}

/// The last miss of a file, as one word: page and how many misses in a row led there.
pub(super) struct MissHistory(AtomicU64);

impl MissHistory {
    pub(super) const fn new() -> MissHistory {
        MissHistory(AtomicU64::new(0))
    }

    /// Notes a miss. Races lose a guess, no more.
    fn note(&self, page: u32) -> Miss {
        let seen = self.0.load(Ordering::Relaxed);
        let (last, in_row) = ((seen >> 32) as u32, seen as u32);
        if in_row >= SCAN_MISSES && last.wrapping_sub(page) < RUN_PAGES * RUNS {
            return Miss::Requested;
        }
        let in_row = if (1..=MAX_GAP).contains(&page.wrapping_sub(last)) { in_row + 1 } else { 0 };
        let scan = in_row >= SCAN_MISSES;
        // After a request the next miss of the scan is expected behind what was requested.
        let next = if scan { page.saturating_add(RUN_PAGES * RUNS) } else { page };
        self.0.store(u64::from(next) << 32 | u64::from(in_row), Ordering::Relaxed);
        if scan { Miss::Scan } else { Miss::Alone }
    }
}

impl Pool {
    /// Called for every page that is about to be read from a file on demand into `frame`.
    pub(super) fn note_miss(&self, id: PageId, frame: u32) {
        let Some(entry) = self.files.get(id.file) else { return };
        let miss = if self.is_background() { entry.misses.note(id.page.0) } else { Miss::Alone };
        if miss != Miss::Alone {
            self.note_scanned(frame, id);
        }
        if miss != Miss::Scan {
            return;
        }
        let mut queue = self.read_ahead.queue.lock();
        for n in 0..RUNS {
            if queue.len() < MAX_QUEUE {
                let first = id.page.0.saturating_add(1 + n * RUN_PAGES);
                queue.push_back(Run { file: id.file, first });
            }
        }
        drop(queue);
        self.read_ahead.work.notify_all();
    }

    fn note_scanned(&self, frame: u32, id: PageId) {
        let mut scanned = self.read_ahead.scanned.lock();
        if scanned.len() >= self.capacity() {
            scanned.pop_front();
        }
        scanned.push_back((frame, id));
    }

    /// Up to `most` frames of pages that only a scan has brought in, if scans hold more than their
    /// share.
    pub(super) fn overrun_frames(&self, most: usize) -> Vec<u32> {
        let mut scanned = self.read_ahead.scanned.lock();
        let excess = scanned.len().saturating_sub(self.capacity() / SCAN_SHARE);
        let oldest: Vec<_> = scanned.drain(..excess.min(most)).collect();
        drop(scanned);
        let is_there =
            |(frame, id): (u32, PageId)| (self.frame(frame).page() == Some(id)).then_some(frame);
        oldest.into_iter().filter_map(is_there).collect()
    }

    /// A reader thread's body: waits for a run and reads it.
    pub(crate) fn read_ahead_step(&self, buffer: &mut Arena, timeout: Duration) {
        let mut queue = self.read_ahead.queue.lock();
        if queue.is_empty() {
            self.read_ahead.work.wait_for(&mut queue, timeout);
        }
        let run = queue.pop_front();
        drop(queue);
        if let Some(run) = run {
            // Whoever needs one of the pages meets the error again, and reports it.
            let _ = self.read_run(run, buffer);
        }
    }

    /// Ends the sleep of reader threads.
    pub(crate) fn wake_readers(&self) {
        self.read_ahead.work.notify_all();
    }

    /// Pages read ahead since start: `Innodb_buffer_pool_read_ahead`.
    pub(crate) fn read_ahead_pages(&self) -> u64 {
        self.read_ahead.pages.load(Ordering::Relaxed)
    }

    /// Claims the absent pages of the run, reads the whole run with one call, and hands the pages
    /// over.
    fn read_run(&self, run: Run, buffer: &mut Arena) -> Result<()> {
        let handle = self.handle(run.file)?;
        let len = handle.len().map_err(|e| StorageError::io("length of a data file", e))?;
        let first = PageId::new(run.file, run.first);
        let room = len.saturating_sub(first.byte_offset()) / PAGE_SIZE as u64;
        let pages = RUN_PAGES.min(room as u32);
        let claimed: Vec<(PageId, Word)> = (0..pages)
            .map(|n| PageId::new(run.file, run.first + n))
            .filter_map(|id| Some((id, self.claim_if_cheap(id)?)))
            .collect();
        if claimed.is_empty() {
            return Ok(());
        }
        let bytes = &mut buffer.bytes_mut()[..pages as usize * PAGE_SIZE];
        let read = handle.read_at(bytes, first.byte_offset());
        for (id, loading) in claimed {
            let at = (id.page.0 - run.first) as usize * PAGE_SIZE;
            let page = &bytes[at..at + PAGE_SIZE];
            let good = read.is_ok() && self.check_page(page, id).is_ok();
            self.finish_load(id, loading, good.then_some(page))?;
        }
        read.map_err(|e| StorageError::io("read-ahead", e))
    }

    /// Moves an absent page to `LOADING` if a frame is free without pushing anybody out.
    fn claim_if_cheap(&self, id: PageId) -> Option<Word> {
        let word = self.word(id).ok()?;
        let seen = Word(word.load(Ordering::Acquire));
        if seen.state() != EVICTED {
            return None;
        }
        let frame = self.take_spare_frame()?;
        let loading = seen.loading(frame);
        let won = word.compare_exchange(seen.0, loading.0, Ordering::Acquire, Ordering::Relaxed);
        if won.is_err() {
            self.clock.give_back(frame);
            return None;
        }
        Some(loading)
    }

    /// Ends a claim: with the page's bytes, or with the page absent as before.
    fn finish_load(&self, id: PageId, loading: Word, bytes: Option<&[u8]>) -> Result<()> {
        let word = self.word(id)?;
        match bytes {
            Some(bytes) => {
                // SAFETY: rule 1 of `guard`: the word is LOADING and this thread set it, so the
                // frame is ours alone.
                let frame = unsafe {
                    let start = self.frame_bytes(loading.frame()).as_ptr();
                    std::slice::from_raw_parts_mut(start, PAGE_SIZE)
                };
                frame.copy_from_slice(bytes);
                self.frame(loading.frame()).assign(Some(id));
                let ready = Word::new(UNLOCKED, loading.version(), loading.frame());
                word.store(ready.0, Ordering::Release);
                self.note_scanned(loading.frame(), id);
                self.read_ahead.pages.fetch_add(1, Ordering::Relaxed);
            }
            None => {
                word.store(loading.evicted().0, Ordering::Release);
                self.clock.give_back(loading.frame());
            }
        }
        self.wake_waiters(id);
        Ok(())
    }

    /// Whether bytes read from a file are the page.
    pub(super) fn check_page(&self, bytes: &[u8], id: PageId) -> Result<()> {
        page::verify(bytes, id)?;
        if page::page_lsn(bytes) > self.newest_valid() {
            return Err(StorageError::page(id, "newer than the end of the log"));
        }
        Ok(())
    }
}
