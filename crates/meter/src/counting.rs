//! The allocator that counts.
//!
//! Must not refuse: what asks for memory may be anywhere, and cannot end there.

use std::alloc::{GlobalAlloc, Layout};

use crate::pages;
use crate::thread::{gave, took};

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
        gave(layout.size());
        if pages::are_for(layout, layout.size()) {
            // SAFETY: the layout is that of the allocation, which therefore was made of pages.
            return unsafe { pages::give(memory, layout.size()) };
        }
        // SAFETY: as above.
        unsafe { self.0.dealloc(memory, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let of_pages = pages::are_for(layout, layout.size());
        if of_pages != pages::are_for(layout, size) {
            // SAFETY: as above.
            return unsafe { self.moved(memory, layout, size) };
        }
        match size.checked_sub(layout.size()) {
            Some(more) => took(more),
            None => gave(layout.size() - size),
        }
        if of_pages {
            // SAFETY: as for `dealloc`.
            return unsafe { pages::resize(memory, layout.size(), size) };
        }
        // SAFETY: as above.
        unsafe { self.0.realloc(memory, layout, size) }
    }
}

impl<A: GlobalAlloc> Counting<A> {
    /// A block that becomes one of pages, or is one no longer.
    ///
    /// # Safety
    /// As for `realloc`.
    #[cold]
    unsafe fn moved(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise: `size` is not zero and does not overflow with the alignment.
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
