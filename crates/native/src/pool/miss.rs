//! The pool itself: hits, misses and new pages. The hit path is two array lookups and one
//! compare-and-swap; it takes no mutex and touches no shared word but the page's own.

use super::arena::Arena;
use super::evict::Clock;
use super::frame::{Frame, FrameTable};
use super::guard::{ExclusiveGuard, SharedGuard};
use super::optimistic::OptimisticGuard;
use super::readahead::ReadAhead;
use super::resize::{Extent, reserved_frames};
use super::translate::{FileEntry, FileTable};
use super::wait::{Backoff, ReadWaiters};
use super::word::{EVICTED, EXCLUSIVE, LOADING, MAX_FRAMES, UNLOCKED, Word};
use super::write::Writers;
use crate::disk::{Disk, File};
use crate::error::{Result, StorageError};
use crate::ids::{FileId, Lsn, PAGE_SIZE, PageId};
use crate::log::Log;
use crate::stripe::Striped;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::ptr::NonNull;
use std::sync::Arc;

/// The smallest pool that works.
pub(crate) const MIN_FRAMES: usize = crate::sync::capacity(16, 2);

/// Pages in memory.
///
/// Waits: `shared`, `exclusive` and `create` may wait for a frame when the page is not in memory. A
/// caller that holds latches calls `shared_resident` / `exclusive_resident` / `optimistic` first;
/// on `None` it releases its latches, calls `load`, and starts over (I30). `create` inside a
/// mini-transaction is covered by `Mtr::begin`, which waits for spare frames while it holds
/// nothing.
pub(crate) struct Pool {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) log: Arc<Log>,
    pub(super) arena: Arena,
    pub(super) frames: FrameTable,
    pub(super) extent: Extent,
    pub(super) files: FileTable,
    waiters: ReadWaiters,
    pub(super) clock: Clock,
    pub(super) writers: Writers,
    pub(super) read_ahead: ReadAhead,
    /// Upper bound of valid page LSNs; recovery sets it to the end of the log it found.
    newest_valid: AtomicU64,
    pub(super) background: AtomicBool,
    /// Number of page reads from files since start.
    pub(crate) reads: AtomicU64,
    /// Requests for pages.
    pub(crate) requests: Striped,
    /// Pages changed by mini-transactions.
    pub(crate) changes: Striped,
    /// Pages created without reading.
    pub(crate) created: AtomicU64,
    /// Number of waits for a free frame.
    pub(crate) waits_for_frames: AtomicU64,
}

impl Pool {
    /// A pool of `frames` pages, at least `MIN_FRAMES`. `doublewrite` is the file from which torn
    /// pages are repaired.
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        log: Arc<Log>,
        frames: usize,
        doublewrite: Option<Arc<dyn File>>,
    ) -> Result<Pool> {
        let frames = frames.clamp(MIN_FRAMES, MAX_FRAMES);
        let (arena, table) =
            reserve(frames).map_err(|e| StorageError::io("buffer pool memory", e))?;
        Ok(Pool {
            disk,
            log,
            arena,
            frames: table,
            extent: Extent::new(frames),
            files: FileTable::new(),
            waiters: ReadWaiters::new(),
            clock: Clock::new(frames as u32),
            writers: Writers::new(doublewrite, frames)?,
            read_ahead: ReadAhead::new(),
            newest_valid: AtomicU64::new(u64::MAX),
            background: AtomicBool::new(false),
            reads: AtomicU64::new(0),
            requests: Striped::default(),
            changes: Striped::default(),
            created: AtomicU64::new(0),
            waits_for_frames: AtomicU64::new(0),
        })
    }

    /// Number of frames.
    pub(crate) fn capacity(&self) -> usize {
        self.extent.limit()
    }

    /// The frames that may hold a page.
    pub(super) fn frames_in_use(&self) -> &[Frame] {
        &self.frames[..self.extent.end()]
    }

    /// Makes the pages of an open file accessible.
    pub(crate) fn attach(&self, file: FileId, handle: Arc<dyn File>) {
        self.files.attach(file, handle);
    }

    /// The handle of an attached file.
    pub(crate) fn handle(&self, file: FileId) -> Result<Arc<dyn File>> {
        self.files
            .get(file)
            .and_then(FileEntry::handle)
            .ok_or_else(|| no_such_file(PageId::new(file, 0)))
    }

    /// Whether an evictor thread runs.
    pub(crate) fn is_background(&self) -> bool {
        self.background.load(Ordering::Relaxed)
    }

    /// Sets whether an evictor thread runs.
    pub(crate) fn set_background(&self, runs: bool) {
        self.background.store(runs, Ordering::Relaxed);
    }

    /// Makes pages with a higher LSN count as corrupt: their log does not exist.
    pub(crate) fn set_newest_valid(&self, lsn: Option<Lsn>) {
        self.newest_valid.store(lsn.map_or(u64::MAX, |l| l.0), Ordering::Release);
    }

    /// Upper bound of the LSN of a page just read from its file: a page's log is written before the
    /// page (I1).
    pub(super) fn newest_valid(&self) -> Lsn {
        self.log.tail().min(Lsn(self.newest_valid.load(Ordering::Acquire)))
    }

    pub(super) fn wake_waiters(&self, id: PageId) {
        self.waiters.wake(id);
    }

    pub(super) fn frame(&self, frame: u32) -> &Frame {
        &self.frames[frame as usize]
    }

    pub(super) fn frame_bytes(&self, frame: u32) -> NonNull<u8> {
        self.arena.frame(frame)
    }

    pub(super) fn word(&self, id: PageId) -> Result<&AtomicU64> {
        match self.files.get(id.file) {
            Some(entry) => Ok(entry.word(id.page)),
            None => Err(no_such_file(id)),
        }
    }

    /// Latches the page for reading; reads it from disk if necessary.
    pub(crate) fn shared(&self, id: PageId) -> Result<SharedGuard<'_>> {
        let word = self.word(id)?;
        loop {
            match self.latch_shared(word, id) {
                Some(guard) => return Ok(guard),
                None => self.load(id)?,
            }
        }
    }

    /// Latches the page for reading if it is in memory. May wait for a latch, never for I/O.
    pub(crate) fn shared_resident(&self, id: PageId) -> Result<Option<SharedGuard<'_>>> {
        Ok(self.latch_shared(self.word(id)?, id))
    }

    /// Latches the page for writing; reads it from disk if necessary.
    pub(crate) fn exclusive(&self, id: PageId) -> Result<ExclusiveGuard<'_>> {
        let word = self.word(id)?;
        loop {
            match self.latch_exclusive(word, id) {
                Some(guard) => return Ok(guard),
                None => self.load(id)?,
            }
        }
    }

    /// Latches the page for writing if it is in memory. May wait for a latch, never for I/O.
    pub(crate) fn exclusive_resident(&self, id: PageId) -> Result<Option<ExclusiveGuard<'_>>> {
        Ok(self.latch_exclusive(self.word(id)?, id))
    }

    /// Returns the page for optimistic reading; `None` if it is not in memory or is just being
    /// changed.
    pub(crate) fn optimistic(&self, id: PageId) -> Result<Option<OptimisticGuard<'_>>> {
        self.requests.add_about(1);
        Ok(OptimisticGuard::new(self, self.word(id)?))
    }

    /// `None`: the page is not in memory, or is being read from disk.
    fn latch_shared<'p>(&'p self, word: &'p AtomicU64, id: PageId) -> Option<SharedGuard<'p>> {
        self.requests.add_about(1);
        let mut backoff = Backoff::new();
        loop {
            let seen = Word(word.load(Ordering::Relaxed));
            if let Some(next) = seen.shared() {
                if word
                    .compare_exchange_weak(seen.0, next.0, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
                {
                    return Some(SharedGuard { word, bytes: self.frame_bytes(next.frame()), id });
                }
            } else if matches!(seen.state(), EVICTED | LOADING) {
                return None;
            } else {
                backoff.wait();
            }
        }
    }

    fn latch_exclusive<'p>(
        &'p self,
        word: &'p AtomicU64,
        id: PageId,
    ) -> Option<ExclusiveGuard<'p>> {
        self.requests.add_about(1);
        let mut backoff = Backoff::new();
        loop {
            let seen = Word(word.load(Ordering::Relaxed));
            if let Some(next) = seen.exclusive() {
                if word
                    .compare_exchange_weak(seen.0, next.0, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
                {
                    return Some(self.exclusive_guard(word, next, id));
                }
            } else if matches!(seen.state(), EVICTED | LOADING) {
                return None;
            } else {
                backoff.wait();
            }
        }
    }

    fn exclusive_guard<'p>(
        &'p self,
        word: &'p AtomicU64,
        held: Word,
        id: PageId,
    ) -> ExclusiveGuard<'p> {
        debug_assert_eq!(held.state(), EXCLUSIVE);
        ExclusiveGuard::taken(self, word, self.frame_bytes(held.frame()), id)
    }

    /// Whether the page is in memory or being read, at this moment.
    pub(crate) fn is_resident(&self, id: PageId) -> bool {
        self.word(id).is_ok_and(|word| Word(word.load(Ordering::Relaxed)).state() != EVICTED)
    }

    /// Brings the page into memory without a latch on it. Hold no latch when calling this.
    pub(crate) fn load(&self, id: PageId) -> Result<()> {
        let word = self.word(id)?;
        loop {
            let seen = Word(word.load(Ordering::Acquire));
            match seen.state() {
                EVICTED => match self.claim(word, seen)? {
                    Some(loading) => {
                        self.note_miss(id, loading.frame());
                        return self.read_into(word, loading, id);
                    }
                    None => continue,
                },
                LOADING => {
                    self.waiters.wait(id, || Word(word.load(Ordering::Acquire)).state() != LOADING)
                }
                _ => return Ok(()),
            }
        }
    }

    /// Moves an absent page to `LOADING` with a free frame; `None` if another thread was faster.
    fn claim(&self, word: &AtomicU64, seen: Word) -> Result<Option<Word>> {
        let frame = self.take_frame()?;
        let loading = seen.loading(frame);
        if word.compare_exchange(seen.0, loading.0, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.clock.give_back(frame);
            return Ok(None);
        }
        Ok(Some(loading))
    }

    fn read_into(&self, word: &AtomicU64, loading: Word, id: PageId) -> Result<()> {
        let pointer = self.frame_bytes(loading.frame());
        // SAFETY: rule 1 of `guard`: the word is LOADING and this thread set it, so only this
        // thread uses the frame.
        let bytes = unsafe { std::slice::from_raw_parts_mut(pointer.as_ptr(), PAGE_SIZE) };
        let outcome = self.read_page(id, bytes);
        if outcome.is_ok() {
            self.frame(loading.frame()).assign(Some(id));
            word.store(
                Word::new(UNLOCKED, loading.version(), loading.frame()).0,
                Ordering::Release,
            );
        } else {
            word.store(loading.evicted().0, Ordering::Release);
            self.clock.give_back(loading.frame());
        }
        self.waiters.wake(id);
        outcome
    }

    fn read_page(&self, id: PageId, bytes: &mut [u8]) -> Result<()> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        match self.handle(id.file)?.read_at(bytes, id.byte_offset()) {
            Ok(()) => {}
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => {
                return Err(StorageError::page(id, "beyond the end of the file"));
            }
            Err(e) => return Err(StorageError::io(format!("read of {id}"), e)),
        }
        self.check_page(bytes, id)
    }

    /// Latches a page whose old content is not needed, because it will be initialised. Never reads
    /// the file.
    pub(crate) fn create(&self, id: PageId) -> Result<ExclusiveGuard<'_>> {
        let word = self.word(id)?;
        loop {
            if let Some(guard) = self.latch_exclusive(word, id) {
                return Ok(guard);
            }
            let seen = Word(word.load(Ordering::Acquire));
            if seen.state() == LOADING {
                self.waiters.wait(id, || Word(word.load(Ordering::Acquire)).state() != LOADING);
            } else if seen.state() == EVICTED
                && let Some(loading) = self.claim(word, seen)?
            {
                self.created.fetch_add(1, Ordering::Relaxed);
                return Ok(self.enter_blank(word, loading, id));
            }
        }
    }

    fn enter_blank<'p>(
        &'p self,
        word: &'p AtomicU64,
        loading: Word,
        id: PageId,
    ) -> ExclusiveGuard<'p> {
        self.frame(loading.frame()).assign(Some(id));
        let held = Word::new(EXCLUSIVE, loading.version(), loading.frame());
        word.store(held.0, Ordering::Release);
        self.waiters.wake(id);
        let mut guard = self.exclusive_guard(word, held, id);
        guard.bytes_mut().fill(0);
        guard
    }

    /// Removes all pages of a file without writing them, and the file's handle. No thread may use
    /// the file.
    pub(crate) fn drop_file(&self, file: FileId) {
        for (frame, descriptor) in self.frames_in_use().iter().enumerate() {
            if let Some(id) = descriptor.page().filter(|id| id.file == file) {
                self.drop_page(frame as u32, id);
            }
        }
        self.writers.forget(file);
        self.files.detach(file);
    }

    fn drop_page(&self, frame: u32, id: PageId) {
        let Ok(word) = self.word(id) else { return };
        let mut backoff = Backoff::new();
        while let Some(guard) = self.latch_exclusive(word, id) {
            let held = Word(word.load(Ordering::Relaxed));
            if held.frame() != frame {
                return;
            }
            if self.frame(frame).is_writing() {
                drop(guard);
                backoff.wait();
                continue;
            }
            // The latch ends with the page: `release_frame` ends both.
            #[expect(clippy::disallowed_methods, reason = "`release_frame` unlatches")]
            std::mem::forget(guard);
            self.frame(frame).discard();
            self.release_frame(word, held);
            return;
        }
    }

    /// Removes an exclusively held page from its frame.
    pub(super) fn release_frame(&self, word: &AtomicU64, held: Word) {
        debug_assert_eq!(held.state(), EXCLUSIVE);
        self.frame(held.frame()).assign(None);
        word.store(held.evicted().0, Ordering::Release);
        self.clock.give_back(held.frame());
    }

    /// The oldest log position that a page in memory still needs; `None` when all are clean. Read
    /// the log's tail and in-flight slots *before* calling this (I4).
    pub(crate) fn oldest_change(&self) -> Option<Lsn> {
        self.frames_in_use().iter().filter_map(Frame::oldest_change).min()
    }

    /// Number of pages that must be written.
    pub(crate) fn dirty_pages(&self) -> usize {
        self.frames_in_use().iter().filter(|f| f.dirty_since().is_some()).count()
    }
}

/// Reserves address space for all possible frames, or only for `frames` if that is refused.
fn reserve(frames: usize) -> std::io::Result<(Arena, FrameTable)> {
    let space = |n: usize| Ok((Arena::new(n * PAGE_SIZE)?, FrameTable::new(n)?));
    space(reserved_frames(frames)).or_else(|_: std::io::Error| space(frames))
}

fn no_such_file(id: PageId) -> StorageError {
    StorageError::page(id, "no such file")
}
