//! The descriptor of each frame: its page, and since when the page differs from disk. One cache
//! line per frame, which hits do not touch.

use super::arena::Arena;
use crate::ids::{Lsn, PageId};
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::io;
use std::ops::Deref;

/// Descriptor of a frame.
///
/// Invariant (I4): a page that differs from disk has `rec_lsn` or `writing` set, at every moment.
/// The writer sets `writing` before it clears `rec_lsn`; a search for the oldest change reads
/// `rec_lsn` before `writing`.
#[repr(align(64))]
pub(super) struct Frame {
    page: AtomicU64,
    rec_lsn: AtomicU64,
    writing: AtomicU64,
    initialised: AtomicBool,
}

/// The descriptors of all possible frames. Only those in use take memory.
pub(super) struct FrameTable {
    memory: Arena,
    len: usize,
}

impl FrameTable {
    /// `len` descriptors of empty frames.
    pub(super) fn new(len: usize) -> io::Result<FrameTable> {
        Ok(FrameTable { memory: Arena::new(len * size_of::<Frame>())?, len })
    }
}

impl Deref for FrameTable {
    type Target = [Frame];

    fn deref(&self) -> &[Frame] {
        // SAFETY: the arena holds `len` descriptors, is aligned to a page at least, and starts as
        // zeros, which are a valid `Frame`: no page, clean. There are no mutable references to
        // them.
        unsafe { std::slice::from_raw_parts(self.memory.at(0).as_ptr().cast::<Frame>(), self.len) }
    }
}

impl Frame {
    /// The page in the frame. Only a hint unless the page is latched.
    pub(super) fn page(&self) -> Option<PageId> {
        PageId::unpack(self.page.load(Ordering::Acquire))
    }

    /// Assigns the frame. Called by the thread that holds the page in `LOADING` or `EXCLUSIVE`.
    pub(super) fn assign(&self, page: Option<PageId>) {
        debug_assert!(self.is_clean());
        self.page.store(page.map_or(0, PageId::pack), Ordering::Release);
    }

    /// Notes the first change since the last write. Called by the exclusive holder.
    pub(super) fn mark_dirty(&self, start: Lsn, initialised: bool) {
        if self.rec_lsn.load(Ordering::Relaxed) == 0 {
            self.initialised.store(initialised, Ordering::Relaxed);
            self.rec_lsn.store(start.0, Ordering::SeqCst);
        }
    }

    /// Whether memory and disk agree.
    pub(super) fn is_clean(&self) -> bool {
        self.rec_lsn.load(Ordering::SeqCst) == 0 && self.writing.load(Ordering::SeqCst) == 0
    }

    /// Start of the log that is needed to redo this frame's page.
    pub(super) fn oldest_change(&self) -> Option<Lsn> {
        let rec = self.rec_lsn.load(Ordering::SeqCst);
        let writing = self.writing.load(Ordering::SeqCst);
        [rec, writing].into_iter().filter(|lsn| *lsn != 0).min().map(Lsn)
    }

    /// `rec_lsn`, if the page must be written.
    pub(super) fn dirty_since(&self) -> Option<Lsn> {
        Some(self.rec_lsn.load(Ordering::Relaxed)).filter(|lsn| *lsn != 0).map(Lsn)
    }

    /// Claims the write of a dirty page, for a holder of its shared latch. Returns whether the page
    /// was initialised within this dirty period, in which case the log alone can rebuild it.
    /// `None`: the page is clean, or another thread is writing it.
    pub(super) fn begin_write(&self) -> Option<bool> {
        let rec = self.rec_lsn.load(Ordering::SeqCst);
        if rec == 0
            || self.writing.compare_exchange(0, rec, Ordering::SeqCst, Ordering::SeqCst).is_err()
        {
            return None;
        }
        let initialised = self.initialised.load(Ordering::Relaxed);
        self.rec_lsn.store(0, Ordering::SeqCst);
        Some(initialised)
    }

    /// Notes that the write reached the file.
    pub(super) fn end_write(&self) {
        self.writing.store(0, Ordering::SeqCst);
    }

    /// Discards the changes, for a file that is being dropped. Called by the exclusive holder.
    pub(super) fn discard(&self) {
        self.rec_lsn.store(0, Ordering::SeqCst);
    }

    /// Whether a copy of the page is being written to the file.
    pub(super) fn is_writing(&self) -> bool {
        self.writing.load(Ordering::SeqCst) != 0
    }
}
