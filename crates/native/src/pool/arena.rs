//! Memory for frames and other large aligned buffers: one anonymous mapping with huge pages
//! advised. Owns the mapping and returns raw frame pointers. It does not synchronise access: the
//! latch protocol of `guard` does.

use crate::ids::PAGE_SIZE;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::{io, ptr::NonNull};

/// Alignment of the usable part: one huge page.
const HUGE: usize = 2 << 20;

/// A zeroed mapping of a fixed length, at least page-aligned, unmapped on drop.
pub(crate) struct Arena {
    base: NonNull<u8>,
    len: usize,
    map: NonNull<u8>,
    map_len: usize,
}

// SAFETY: the arena is plain memory with no thread affinity; access to its bytes is synchronised by
// its users.
unsafe impl Send for Arena {}
// SAFETY: as above; the arena itself offers only its address and length.
unsafe impl Sync for Arena {}

impl Arena {
    /// Maps `len` bytes of zeros.
    pub(crate) fn new(len: usize) -> io::Result<Arena> {
        let align = if len >= HUGE { HUGE } else { 4096 };
        let map_len = len.max(1).next_multiple_of(4096) + align;
        let prot = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh anonymous private mapping at an address of the kernel's choice aliases
        // nothing.
        let map = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                map_len,
                prot,
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )
        };
        let map = NonNull::new(map?.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let skip = map.as_ptr().align_offset(align);
        // SAFETY: `skip` < `align`, and the mapping is `align` longer than `len`.
        let base = unsafe { map.add(skip) };
        if len >= HUGE {
            // SAFETY: the range lies in the mapping; advice does not change its contents. Failure
            // only costs speed.
            let _ = unsafe { madvise(base.as_ptr().cast(), len, Advice::LinuxHugepage) };
        }
        Ok(Arena { base, len, map, map_len })
    }

    /// Number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The address of byte `at`.
    pub(crate) fn at(&self, at: usize) -> NonNull<u8> {
        assert!(at < self.len, "address outside the arena");
        // SAFETY: inside the mapping, checked above.
        unsafe { self.base.add(at) }
    }

    /// The address of the `n`-th page-sized frame.
    pub(crate) fn frame(&self, n: u32) -> NonNull<u8> {
        debug_assert!((n as usize + 1) * PAGE_SIZE <= self.len);
        // SAFETY: frame numbers come from this arena's free list and entry words, all below the
        // number of frames that fit into `len`.
        unsafe { self.base.add(n as usize * PAGE_SIZE) }
    }

    /// The bytes, for an owner that does not share the arena.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `&mut self` is exclusive, the mapping is initialised (zeros) and `len` bytes
        // long.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), self.len) }
    }

    /// Returns the memory of `[from, from + len)`, whole pages, to the system.
    pub(super) fn discard_part(&self, from: usize, len: usize) {
        assert!(from + len <= self.len, "range outside the arena");
        // SAFETY: inside the mapping, checked above; it stays valid under DONTNEED, readers see
        // zeros.
        let _ = unsafe { madvise(self.base.add(from).as_ptr().cast(), len, Advice::LinuxDontNeed) };
    }

    /// Returns memory to the system; the bytes read as zero afterwards.
    pub(crate) fn discard(&self) {
        // SAFETY: an anonymous private mapping stays valid under DONTNEED; readers see zeros.
        let _ = unsafe { madvise(self.map.as_ptr().cast(), self.map_len, Advice::LinuxDontNeed) };
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and all borrows of it have ended (lifetimes of guards and
        // slices).
        let _ = unsafe { munmap(self.map.as_ptr().cast(), self.map_len) };
    }
}
