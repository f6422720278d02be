//! Latched access to pages: the safe interface to the pool's shared memory.
//!
//! # Rules of access
//!
//! 1. Frame bytes are reached only through a guard, or by the thread that set the word to
//!    `LOADING`.
//! 2. `SharedGuard` exists only between a successful change of the word to one holder more and one
//!    holder less; while any exists the word cannot become `EXCLUSIVE`, so its `&[u8]` is not
//!    written.
//! 3. `ExclusiveGuard` exists only while the word is `EXCLUSIVE`; it alone has `&mut [u8]`.
//! 4. `OptimisticGuard` (own file) holds nothing and never makes a reference to page bytes.
//! 5. A page with a guard of kind 2 or 3 is not evicted: the clock takes `UNLOCKED`/`MARKED` words
//!    only.
//!
//! Latches are only for short work in memory: no thread waits for a lock, a log flush, a free frame
//! or the network while it holds one (I30).

use super::Pool;
use super::word::{EXCLUSIVE, ONE_SHARED, Word};
use crate::ids::{Lsn, PAGE_SIZE, PageId};
use crate::page::{self, PageBytes};
use crate::sync::atomic::{AtomicU64, Ordering, fence};
use std::ops::Deref;
use std::ptr::NonNull;

/// A page latched for reading; others may read it too.
pub(crate) struct SharedGuard<'p> {
    pub(super) word: &'p AtomicU64,
    pub(super) bytes: NonNull<u8>,
    pub(super) id: PageId,
}

/// A page latched for writing: only this thread may read and change it. Changes must be logged by
/// the mini-transaction that owns the guard. Outside the pool and recovery, only `Mtr` calls
/// `bytes_mut`.
pub(crate) struct ExclusiveGuard<'p> {
    pub(super) pool: &'p Pool,
    pub(super) word: &'p AtomicU64,
    pub(super) bytes: NonNull<u8>,
    pub(super) id: PageId,
    pub(super) changed: bool,
}

impl SharedGuard<'_> {
    /// The page's id.
    pub(crate) fn id(&self) -> PageId {
        self.id
    }
}

impl Deref for SharedGuard<'_> {
    type Target = PageBytes;

    fn deref(&self) -> &PageBytes {
        // SAFETY: rule 2: while this guard lives no thread writes the frame, which is PAGE_SIZE
        // bytes, all initialised.
        unsafe { &*self.bytes.as_ptr().cast::<[u8; PAGE_SIZE]>() }
    }
}

impl Drop for SharedGuard<'_> {
    fn drop(&mut self) {
        self.word.fetch_sub(ONE_SHARED, Ordering::Release);
    }
}

impl<'p> ExclusiveGuard<'p> {
    /// The guard of a word that the caller has just made `EXCLUSIVE`.
    pub(super) fn taken(
        pool: &'p Pool,
        word: &'p AtomicU64,
        bytes: NonNull<u8>,
        id: PageId,
    ) -> ExclusiveGuard<'p> {
        // Pairs with the acquire fence of `OptimisticGuard::validate`: a thread that reads a byte
        // written from here on also sees that the word was taken.
        fence(Ordering::Release);
        ExclusiveGuard { pool, word, bytes, id, changed: false }
    }

    /// The page's id.
    pub(crate) fn id(&self) -> PageId {
        self.id
    }

    /// The page's LSN.
    pub(crate) fn lsn(&self) -> Lsn {
        page::page_lsn(&self[..])
    }

    /// The bytes, for writing. The version grows when the guard is dropped.
    pub(crate) fn bytes_mut(&mut self) -> &mut PageBytes {
        self.changed = true;
        // SAFETY: rule 3: the word is EXCLUSIVE, so this guard is the only access; `&mut self`
        // makes it unique here.
        unsafe { &mut *self.bytes.as_ptr().cast::<[u8; PAGE_SIZE]>() }
    }

    /// Whether the bytes were handed out for writing.
    pub(crate) fn is_changed(&self) -> bool {
        self.changed
    }

    /// Records that the page differs from disk since the log group `[start, end)`, and stamps it.
    /// The first unwritten change decides how far back the log is needed, so an older `rec_lsn`
    /// stays.
    pub(crate) fn mark_dirty(&mut self, start: Lsn, end: Lsn, initialised: bool) {
        page::set_page_lsn(self.bytes_mut(), end);
        let frame = Word(self.word.load(Ordering::Relaxed)).frame();
        self.pool.frame(frame).mark_dirty(start, initialised);
    }
}

impl Deref for ExclusiveGuard<'_> {
    type Target = PageBytes;

    fn deref(&self) -> &PageBytes {
        // SAFETY: rule 3: no other thread reads or writes the frame while this guard lives.
        unsafe { &*self.bytes.as_ptr().cast::<[u8; PAGE_SIZE]>() }
    }
}

impl Drop for ExclusiveGuard<'_> {
    fn drop(&mut self) {
        let word = Word(self.word.load(Ordering::Relaxed));
        debug_assert_eq!(word.state(), EXCLUSIVE);
        let next = if self.changed { word.released() } else { word.released_unchanged() };
        self.word.store(next.0, Ordering::Release);
    }
}

// SAFETY: a guard is a latch plus a pointer into memory that any thread may use under that latch;
// the word does not record which thread holds it.
unsafe impl Send for SharedGuard<'_> {}
// SAFETY: shared references to a shared guard only read.
unsafe impl Sync for SharedGuard<'_> {}
// SAFETY: as for `SharedGuard`; exclusive access travels with the guard.
unsafe impl Send for ExclusiveGuard<'_> {}
