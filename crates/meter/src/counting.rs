//! The allocator that counts.
//!
//! Must not refuse memory: an allocation may happen anywhere, also where a statement cannot end.

use std::alloc::{GlobalAlloc, Layout};

use crate::thread::{gave, gave_large, took};
use crate::{blocks, pages};

/// An allocator that reports allocations and frees to the thread's meter. Large blocks are pages
/// from the system. A thread keeps some blocks of a few sizes that it has freed. Must be the
/// program's allocator, which lives as long as its threads.
#[derive(Debug)]
pub struct Counting<A>(pub A);

// SAFETY: the layout alone decides whether a block is made of pages of the system or comes from the
// allocator below, and with which actual layout, at least as large. Such a block may be one that
// the thread freed before with the same actual size. Counting touches no memory of the allocation.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Counting<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        if pages::are_for(layout, layout.size()) {
            return pages::take(layout.size());
        }
        let layout = blocks::actual(layout);
        if let Some(block) = blocks::take(layout) {
            return block;
        }
        // SAFETY: the caller's promise is the same as this call needs.
        unsafe { self.0.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        if pages::are_for(layout, layout.size()) {
            return pages::take(layout.size());
        }
        let layout = blocks::actual(layout);
        if let Some(block) = blocks::take(layout) {
            // SAFETY: the block has the size of the layout, and nobody else has it.
            unsafe { block.write_bytes(0, layout.size()) };
            return block;
        }
        // SAFETY: as above.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if pages::are_for(layout, layout.size()) {
            gave_large(layout.size());
            // SAFETY: the layout is that of the allocation, so the block was made of pages.
            return unsafe { pages::give(memory, layout.size()) };
        }
        gave(layout.size());
        let layout = blocks::actual(layout);
        // SAFETY: the caller gives up the block, which is of the allocator below; an allocator of
        // the program lives as long as its threads.
        if unsafe { blocks::keep(&self.0, memory, layout) } {
            return;
        }
        // SAFETY: as above.
        unsafe { self.0.dealloc(memory, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if pages::are_for(layout, size.max(layout.size())) {
            // SAFETY: as above.
            return unsafe { self.resized(memory, layout, size) };
        }
        // SAFETY: the caller's promise: the size does not overflow with the alignment.
        let to = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        let (from, to) = (blocks::actual(layout), blocks::actual(to));
        if from.align() != to.align() {
            // SAFETY: as above.
            return unsafe { self.resized(memory, layout, size) };
        }
        counted(layout.size(), size);
        if from == to {
            return memory;
        }
        // SAFETY: the block has its actual layout.
        unsafe { self.0.realloc(memory, from, to.size()) }
    }
}

/// Counts the change of a block's size.
#[inline]
fn counted(from: usize, to: usize) {
    match to.checked_sub(from) {
        Some(more) => took(more),
        None => gave(from - to),
    }
}

impl<A: GlobalAlloc> Counting<A> {
    /// Changes the size of a block that is or becomes a block of pages, or whose alignment changes.
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
