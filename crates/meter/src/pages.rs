//! Large blocks of memory, taken from the system page by page and given back when they are freed.
//!
//! Must not allocate, and must not be asked for blocks smaller than [`LEAST`].
//!
//! A block takes memory only where it was written, grows without being copied, and is gone when it
//! is freed: what statements hold of large values is what the process takes of the system.

use std::alloc::Layout;
use std::ptr;

use rustix::mm::{MapFlags, MremapFlags, ProtFlags, mmap_anonymous, mremap, munmap};

/// Blocks from this size on are the system's: taking and clearing their pages costs no more than
/// filling them.
pub(crate) const LEAST: usize = 2 << 20;

const PAGE: usize = 4096;

/// Whether a block of `size` bytes is taken here; one that is aligned to more than a page is not.
#[inline]
pub(crate) fn are_for(layout: Layout, size: usize) -> bool {
    size >= LEAST && layout.align() <= PAGE
}

/// Whole pages; a layout's size is far from overflowing.
fn whole(size: usize) -> usize {
    size.next_multiple_of(PAGE)
}

/// A block of zeros, or null.
#[cold]
pub(crate) fn take(size: usize) -> *mut u8 {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: without an address the system chooses one where nothing is.
    let block = unsafe { mmap_anonymous(ptr::null_mut(), whole(size), access, MapFlags::PRIVATE) };
    block.map_or(ptr::null_mut(), <*mut _>::cast)
}

/// Gives a block back.
///
/// # Safety
/// It is one of [`take`] or [`resize`], of this size.
#[cold]
pub(crate) unsafe fn give(block: *mut u8, size: usize) {
    // SAFETY: the caller's promise: the pages are this block's alone. Pages that cannot be unmapped
    // stay mapped, which harms nobody.
    let _ = unsafe { munmap(block.cast(), whole(size)) };
}

/// Makes a block larger or smaller, perhaps elsewhere; null leaves it as it was.
///
/// # Safety
/// As for [`give`].
#[cold]
pub(crate) unsafe fn resize(block: *mut u8, from: usize, to: usize) -> *mut u8 {
    // SAFETY: the caller's promise; the system moves the pages if there is no room behind them.
    let moved = unsafe { mremap(block.cast(), whole(from), whole(to), MremapFlags::MAYMOVE) };
    moved.map_or(ptr::null_mut(), <*mut _>::cast)
}
