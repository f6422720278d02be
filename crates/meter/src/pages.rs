//! Large blocks of memory, taken from the system as pages and given back when they are freed.
//!
//! Must not allocate, and must not be asked for blocks smaller than [`LEAST`].
//!
//! A block uses memory only for the pages written, grows without a copy, and returns to the system
//! when it is freed: the process holds no more for large values than its statements do.

use std::alloc::Layout;
use std::ptr;

use rustix::mm::{MapFlags, MremapFlags, ProtFlags, mmap_anonymous, mremap, munmap};

/// Size from which blocks are pages of the system: to get and clear the pages costs no more than to
/// fill them.
pub(crate) const LEAST: usize = 2 << 20;

const PAGE: usize = 4096;

/// Whether a block of `size` bytes is made of pages. Blocks with an alignment above a page are not.
#[inline]
pub(crate) fn are_for(layout: Layout, size: usize) -> bool {
    size >= LEAST && layout.align() <= PAGE
}

/// Rounds up to whole pages. A layout's size is far from overflow.
fn whole(size: usize) -> usize {
    size.next_multiple_of(PAGE)
}

/// A new block of zeros; null if there is no memory.
#[cold]
pub(crate) fn take(size: usize) -> *mut u8 {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: without an address the system chooses one where nothing is.
    let block = unsafe { mmap_anonymous(ptr::null_mut(), whole(size), access, MapFlags::PRIVATE) };
    block.map_or(ptr::null_mut(), <*mut _>::cast)
}

/// Frees a block.
///
/// # Safety
/// The block is from [`take`] or [`resize`] and has this size.
#[cold]
pub(crate) unsafe fn give(block: *mut u8, size: usize) {
    // SAFETY: the caller's promise: no other block uses these pages. Pages that cannot be unmapped
    // stay mapped, which is harmless.
    let _ = unsafe { munmap(block.cast(), whole(size)) };
}

/// Changes the size of a block, which may move. Null means failure and leaves the block unchanged.
///
/// # Safety
/// As for [`give`].
#[cold]
pub(crate) unsafe fn resize(block: *mut u8, from: usize, to: usize) -> *mut u8 {
    // SAFETY: the caller's promise; the system moves the pages if there is no room behind them.
    let moved = unsafe { mremap(block.cast(), whole(from), whole(to), MremapFlags::MAYMOVE) };
    moved.map_or(ptr::null_mut(), <*mut _>::cast)
}
