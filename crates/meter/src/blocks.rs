//! Blocks of middle sizes, kept by the thread that freed them.
//!
//! An operator takes and frees a dozen columns for each batch. The block that was freed last is
//! still in the processor's caches; the allocator below gives the one that was freed first, which
//! is not. In scans of columns, waiting for such memory took a sixth of the time.
//!
//! Must keep only blocks of the allocator below, and not more than [`MOST`] of a size.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::ptr::null_mut;

/// Bytes that a block must be larger than, and may have.
const SIZES: (usize, usize) = (512, 8 << 10);
/// Sizes between a power of two and the next: blocks are rounded up to one, as the allocator below
/// rounds them.
const STEPS: usize = 4;
/// Number of the sizes.
const CLASSES: usize = STEPS * (SIZES.1 / SIZES.0).ilog2() as usize;
/// Alignment that all kept blocks have.
const ALIGN: usize = 8;
/// Most blocks of a size that a thread keeps: of all sizes 400 KiB.
const MOST: usize = 8;

/// Gives a block back to the allocator that it is of.
type Free = unsafe fn(*const (), *mut u8, Layout);

/// Kept blocks of one size; the first `count` are set.
struct Stack {
    blocks: [Cell<*mut u8>; MOST],
    count: Cell<usize>,
}

impl Stack {
    const fn empty() -> Self {
        Self { blocks: [const { Cell::new(null_mut()) }; MOST], count: Cell::new(0) }
    }
}

/// The blocks that a thread keeps.
struct Blocks {
    stacks: [Stack; CLASSES],
    /// The allocator and its function, once a block is kept.
    owner: Cell<Option<(*const (), Free)>>,
}

thread_local! {
    static BLOCKS: Blocks =
        const { Blocks { stacks: [const { Stack::empty() }; CLASSES], owner: Cell::new(None) } };
}

impl Drop for Blocks {
    /// Gives all blocks back when the thread ends.
    fn drop(&mut self) {
        let Some((allocator, free)) = self.owner.get() else { return };
        for (stack, size) in self.stacks.iter().zip((0..CLASSES).map(size_of_class)) {
            for block in &stack.blocks[..stack.count.replace(0)] {
                let layout = Layout::from_size_align(size, ALIGN).expect("a size and an alignment");
                // SAFETY: the block came from this allocator with a layout of this size, and the
                // program's allocator lives as long as its threads.
                unsafe { free(allocator, block.get(), layout) };
            }
        }
    }
}

/// Bytes of the blocks of a class.
#[inline]
fn size_of_class(class: usize) -> usize {
    let step = (SIZES.0 / STEPS) << (class / STEPS);
    step * (STEPS + 1 + class % STEPS)
}

/// The class of the blocks for a layout.
#[inline]
fn class(layout: Layout) -> Option<usize> {
    let size = layout.size();
    if size <= SIZES.0 || size > SIZES.1 || layout.align() > ALIGN {
        return None;
    }
    let power = (size - 1).ilog2() - SIZES.0.ilog2();
    let step = (size - 1) / ((SIZES.0 / STEPS) << power) - STEPS;
    Some(power as usize * STEPS + step)
}

/// The layout of the block for a layout: any that is kept fits all layouts of its class.
#[inline]
pub(crate) fn actual(layout: Layout) -> Layout {
    match class(layout) {
        // SAFETY: the size is small, and the alignment is a power of two.
        Some(class) => unsafe { Layout::from_size_align_unchecked(size_of_class(class), ALIGN) },
        None => layout,
    }
}

/// A kept block for an actual layout, with any contents.
#[inline]
pub(crate) fn take(layout: Layout) -> Option<*mut u8> {
    let class = class(layout)?;
    BLOCKS
        .try_with(|blocks| {
            let stack = &blocks.stacks[class];
            let count = stack.count.get().checked_sub(1)?;
            stack.count.set(count);
            Some(stack.blocks[count].get())
        })
        .ok()
        .flatten()
}

/// Keeps a block; false if it must be freed.
///
/// # Safety
/// The block is one that `allocator` gave for this actual layout, and nobody uses it any more. The
/// allocator lives as long as the thread.
#[inline]
pub(crate) unsafe fn keep<A: GlobalAlloc>(allocator: &A, memory: *mut u8, layout: Layout) -> bool {
    let Some(class) = class(layout) else { return false };
    let kept = BLOCKS.try_with(|blocks| {
        let stack = &blocks.stacks[class];
        let count = stack.count.get();
        if count == MOST {
            return false;
        }
        if blocks.owner.get().is_none() {
            blocks.owner.set(Some(((&raw const *allocator).cast(), free::<A>)));
        }
        stack.blocks[count].set(memory);
        stack.count.set(count + 1);
        true
    });
    kept.unwrap_or(false)
}

/// Frees a block of the allocator behind a pointer.
///
/// # Safety
/// As for `dealloc` of an allocator of this type, which the pointer leads to.
unsafe fn free<A: GlobalAlloc>(allocator: *const (), memory: *mut u8, layout: Layout) {
    // SAFETY: the caller's promise.
    unsafe { (*allocator.cast::<A>()).dealloc(memory, layout) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_at_least_as_large_as_asked_for_and_less_than_a_quarter_larger() {
        for size in 1..=SIZES.1 + 1 {
            let layout = Layout::from_size_align(size, ALIGN).expect("a small layout");
            let block = actual(layout);
            assert_eq!(actual(block), block);
            assert_eq!(class(block), class(layout));
            assert!((size..size + size.div_ceil(STEPS)).contains(&block.size()), "{size}");
            let bytes = actual(Layout::from_size_align(size, 1).expect("a small layout"));
            assert_eq!(bytes == block, class(layout).is_some());
            let is_kept = size > SIZES.0 && size <= SIZES.1;
            assert_eq!(class(layout).is_some(), is_kept);
        }
        assert_eq!(size_of_class(CLASSES - 1), SIZES.1);
        assert_eq!(class(Layout::from_size_align(1024, 64).expect("a layout")), None);
    }
}
