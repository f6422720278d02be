//! Reads of a page without a latch: bytes are copied, then validated.
//!
//! Another thread may write the page meanwhile. So no reference to its bytes is ever formed: reads
//! are relaxed atomic loads at checked offsets, and every value is untrusted until `validate`
//! succeeds. Meant for inner nodes of the tree; leaves are latched.

use super::Pool;
use super::word::{EVICTED, LOADING, MARKED, Word};
use crate::ids::PAGE_SIZE;
use crate::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};
use std::ptr::NonNull;

/// The page changed, moved or is being written: the descent must restart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Restart;

/// Notices changes of the page, but does not prevent them. Costs two loads of the entry word.
#[derive(Clone, Copy)]
pub(crate) struct OptimisticGuard<'p> {
    word: &'p AtomicU64,
    bytes: NonNull<u8>,
    seen: Word,
}

impl<'p> OptimisticGuard<'p> {
    /// Starts a read if the page is in memory and not being written.
    pub(super) fn new(pool: &'p Pool, word: &'p AtomicU64) -> Option<OptimisticGuard<'p>> {
        let mut seen = Word(word.load(Ordering::Acquire));
        if matches!(seen.state(), EVICTED | LOADING) || !seen.is_readable() {
            return None;
        }
        if seen.state() == MARKED {
            // The clock must see this use. If the exchange fails, another use was seen.
            let _ = word.compare_exchange(
                seen.0,
                seen.unmarked().0,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            seen = seen.unmarked();
        }
        Some(OptimisticGuard { word, bytes: pool.frame_bytes(seen.frame()), seen })
    }

    fn cell<T>(&self, at: usize) -> Result<&T, Restart> {
        let size = size_of::<T>();
        if at.checked_add(size).is_none_or(|end| end > PAGE_SIZE) || !at.is_multiple_of(size) {
            return Err(Restart);
        }
        // SAFETY: in bounds and aligned (frames are page-aligned), the arena outlives `'p`, and `T`
        // is one of the atomic integers below, for which any bytes are valid.
        Ok(unsafe { &*self.bytes.as_ptr().add(at).cast::<T>() })
    }

    /// One byte.
    pub(crate) fn u8_at(&self, at: usize) -> Result<u8, Restart> {
        Ok(self.cell::<AtomicU8>(at)?.load(Ordering::Relaxed))
    }

    /// A little-endian u16 at any offset inside the page.
    pub(crate) fn u16_at(&self, at: usize) -> Result<u16, Restart> {
        if at.is_multiple_of(2) {
            return Ok(u16::from_le(self.cell::<AtomicU16>(at)?.load(Ordering::Relaxed)));
        }
        Ok(u16::from_le_bytes([self.u8_at(at)?, self.u8_at(at + 1)?]))
    }

    /// A little-endian u32 at any offset inside the page.
    pub(crate) fn u32_at(&self, at: usize) -> Result<u32, Restart> {
        if at.is_multiple_of(4) {
            return Ok(u32::from_le(self.cell::<AtomicU32>(at)?.load(Ordering::Relaxed)));
        }
        let mut bytes = [0; 4];
        self.copy(at, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Copies `to.len()` bytes from `at`. Out of bounds is a `Restart`: the offset came from bytes
    /// that may be torn.
    pub(crate) fn copy(&self, at: usize, to: &mut [u8]) -> Result<(), Restart> {
        let end = at.checked_add(to.len()).filter(|end| *end <= PAGE_SIZE).ok_or(Restart)?;
        let (mut from, mut done) = (at, 0);
        while from < end {
            if from.is_multiple_of(8) && end - from >= 8 {
                let word = self.cell::<AtomicU64>(from)?.load(Ordering::Relaxed);
                to[done..done + 8].copy_from_slice(&word.to_ne_bytes());
                (from, done) = (from + 8, done + 8);
            } else {
                to[done] = self.u8_at(from)?;
                (from, done) = (from + 1, done + 1);
            }
        }
        Ok(())
    }

    /// Checks that all bytes read so far were one consistent version of the page.
    pub(crate) fn validate(&self) -> Result<(), Restart> {
        fence(Ordering::Acquire);
        let now = Word(self.word.load(Ordering::Relaxed));
        if now.is_readable() && now.same_content(self.seen) { Ok(()) } else { Err(Restart) }
    }
}
