//! Reads pages before they are requested. Consecutive misses in a file are a scan. Other threads
//! then read the next pages, several with one call, while the scan works on the page it waited for.
//! A wrong guess only costs a read. An error is ignored here: the thread that needs the page will
//! report it.

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

/// Number of consecutive misses that make a scan.
const SCAN_MISSES: u32 = 3;
/// Largest distance between misses that still count as consecutive.
const MAX_GAP: u32 = 4;
/// Pages per read.
pub(crate) const RUN_PAGES: u32 = 8;
/// Number of reads requested at once.
const RUNS: u32 = 4;
/// Largest number of waiting reads; more are dropped.
const MAX_QUEUE: usize = 64;

/// A run of pages to read.
#[derive(Clone, Copy)]
struct Run {
    file: FileId,
    first: u32,
}

/// A scan may keep one of this many frames before its oldest pages are evicted ahead of others.
const SCAN_SHARE: usize = 8;

/// Runs that wait for a reader thread.
pub(super) struct ReadAhead {
    queue: Mutex<VecDeque<Run>>,
    /// Pages that scans have brought in, oldest first: a page that a scan uses once must not
    /// replace one that is used repeatedly. Entries may be out of date.
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

/// Kind of a miss.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Miss {
    /// Not part of a scan.
    Alone,
    /// Part of a scan: the pages after it should be read.
    Scan,
    /// Part of a scan whose read was requested already but is not done.
    Requested,
}

/// Number of scans of one file that are told apart.
const SCANS: usize = 8;

/// Mark of a scan that has gone on since it was last looked at for its place.
const GOES_ON: u32 = 1 << 31;

/// The last misses of the scans of a file. Each is one word: the page, and the number of
/// consecutive misses before it, with a mark.
pub(super) struct MissHistory {
    scans: [AtomicU64; SCANS],
    /// Number of places looked at for a miss that continues no scan. It takes that of the first
    /// scan without a mark, and the marks of those before are removed.
    looked_at: AtomicU64,
}

impl MissHistory {
    pub(super) fn new() -> MissHistory {
        MissHistory { scans: [0; SCANS].map(AtomicU64::new), looked_at: AtomicU64::new(0) }
    }

    /// Notes a miss. A race only makes a guess worse.
    fn note(&self, page: u32) -> Miss {
        for scan in &self.scans {
            let seen = scan.load(Ordering::Relaxed);
            let (last, in_row) = ((seen >> 32) as u32, seen as u32 & !GOES_ON);
            if in_row >= SCAN_MISSES && last.wrapping_sub(page) < RUN_PAGES * RUNS {
                return Miss::Requested;
            }
            if !(1..=MAX_GAP).contains(&page.wrapping_sub(last)) {
                continue;
            }
            let in_row = (in_row + 1).min(SCAN_MISSES);
            let is_scan = in_row >= SCAN_MISSES;
            // After a request the next miss of the scan is expected after the requested pages.
            let next = if is_scan { page.saturating_add(RUN_PAGES * RUNS) } else { page };
            scan.store(u64::from(next) << 32 | u64::from(in_row | GOES_ON), Ordering::Relaxed);
            return if is_scan { Miss::Scan } else { Miss::Alone };
        }
        self.place().store(u64::from(page) << 32, Ordering::Relaxed);
        Miss::Alone
    }

    /// The place of a scan that is likely over.
    fn place(&self) -> &AtomicU64 {
        loop {
            let at = self.looked_at.fetch_add(1, Ordering::Relaxed) as usize % SCANS;
            let seen = self.scans[at].load(Ordering::Relaxed);
            if seen & u64::from(GOES_ON) == 0 {
                return &self.scans[at];
            }
            self.scans[at].store(seen & !u64::from(GOES_ON), Ordering::Relaxed);
        }
    }
}

impl Pool {
    /// Called for every page that is about to be read on demand from a file into `frame`.
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

    /// Up to `most` frames of pages brought in by scans, if scans hold more than their share.
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
            // A thread that needs one of the pages will meet the error again and report it.
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

    /// Claims the absent pages of the run, reads the whole run with one call, and publishes the
    /// pages.
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

    /// Moves an absent page to `LOADING` if a frame is free without an eviction.
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

    /// Ends a claim: with the page's bytes, or with the page still absent.
    fn finish_load(&self, id: PageId, loading: Word, bytes: Option<&[u8]>) -> Result<()> {
        let word = self.word(id)?;
        match bytes {
            Some(bytes) => {
                // SAFETY: rule 1 of `guard`: the word is LOADING and this thread set it, so only
                // this thread uses the frame.
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

    /// Checks that bytes read from a file are the page.
    pub(super) fn check_page(&self, bytes: &[u8], id: PageId) -> Result<()> {
        page::verify(bytes, id)?;
        if page::page_lsn(bytes) > self.newest_valid() {
            return Err(StorageError::page(id, "newer than the end of the log"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scans_of_one_file_are_told_apart_among_single_misses() {
        let history = MissHistory::new();
        let mut scans: Vec<u32> = (0..4).map(|scan| 10_000 * (scan + 1)).collect();
        let mut requests = 0;
        for step in 0..200 {
            for page in &mut scans {
                let miss = history.note(*page);
                requests += u32::from(miss == Miss::Scan);
                assert!(miss == Miss::Scan || step < SCAN_MISSES);
                *page += if miss == Miss::Scan { RUN_PAGES * RUNS + 1 } else { 1 };
            }
            assert!(history.note(1_000_000 + 100 * step) == Miss::Alone);
        }
        assert_eq!(requests, 4 * (200 - SCAN_MISSES));
    }

    #[test]
    fn pages_that_are_on_their_way_are_not_requested_again() {
        let history = MissHistory::new();
        (1..=SCAN_MISSES).for_each(|page| assert!(history.note(page) != Miss::Requested));
        assert!(history.note(SCAN_MISSES + 5) == Miss::Requested);
        assert!(history.note(SCAN_MISSES + 5) == Miss::Requested);
    }
}
