//! The allocator that counts.
//!
//! Must not refuse: what asks for memory may be anywhere, and cannot end there.

use std::alloc::{GlobalAlloc, Layout};

use crate::pages;
use crate::thread::{gave, gave_large, took};

/// An allocator that tells the thread's meter what it hands out and gets back. Large blocks it
/// takes from the system itself.
#[derive(Debug)]
pub struct Counting<A>(pub A);

// SAFETY: every call is passed on as it came, or answered with pages of the system, as the layout
// alone decides; counting touches no memory of the allocation.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Counting<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        if pages::are_for(layout, layout.size()) {
            return pages::take(layout.size());
        }
        // SAFETY: what the caller promises is what the callee asks for.
        unsafe { self.0.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        if pages::are_for(layout, layout.size()) {
            return pages::take(layout.size());
        }
        // SAFETY: as above.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if pages::are_for(layout, layout.size()) {
            gave_large(layout.size());
            // SAFETY: the layout is that of the allocation, which therefore was made of pages.
            return unsafe { pages::give(memory, layout.size()) };
        }
        gave(layout.size());
        // SAFETY: as above.
        unsafe { self.0.dealloc(memory, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if pages::are_for(layout, size.max(layout.size())) {
            // SAFETY: as above.
            return unsafe { self.resized(memory, layout, size) };
        }
        counted(layout.size(), size);
        // SAFETY: as above.
        unsafe { self.0.realloc(memory, layout, size) }
    }
}

/// Counts a block of `from` bytes that has `to` now.
#[inline]
fn counted(from: usize, to: usize) {
    match to.checked_sub(from) {
        Some(more) => took(more),
        None => gave(from - to),
    }
}

impl<A: GlobalAlloc> Counting<A> {
    /// A block of pages that changes its size, or one that becomes a block of pages or is one no
    /// longer.
    ///
    /// # Safety
    /// As for `realloc`.
    #[cold]
    unsafe fn resized(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if pages::are_for(layout, layout.size()) && pages::are_for(layout, size) {
            counted(layout.size(), size);
            // SAFETY: as for `dealloc`.
            return unsafe { pages::resize(memory, layout.size(), size) };
        }
        // SAFETY: the caller's promise: `size` is not zero and does not overflow with the
        // alignment.
        unsafe {
            let to = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !to.is_null() {
                to.copy_from_nonoverlapping(memory, size.min(layout.size()));
                self.dealloc(memory, layout);
            }
            to
        }
    }
}
