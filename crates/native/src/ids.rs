//! Identities on disk: files, pages, log positions. Each is a plain number with a type of its own,
//! so that one cannot be passed for another. No behaviour and no I/O here.

use std::fmt;

/// Bytes in a page. A compile-time constant that is also recorded in every file header.
pub(crate) const PAGE_SIZE: usize = 16 * 1024;

/// A data file. Ids start at 1 and are never used twice, also not after a restart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct FileId(pub(crate) u32);

/// A page's position in its file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct PageNo(pub(crate) u32);

/// A page of a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct PageId {
    /// The file the page lies in.
    pub(crate) file: FileId,
    /// Its position there.
    pub(crate) page: PageNo,
}

impl PageId {
    /// The page `page` of file `file`.
    pub(crate) const fn new(file: FileId, page: u32) -> PageId {
        PageId { file, page: PageNo(page) }
    }

    /// The id as one word, for atomics. Never zero, because file ids start at 1.
    pub(crate) const fn pack(self) -> u64 {
        (self.file.0 as u64) << 32 | self.page.0 as u64
    }

    /// The inverse of `pack`; `None` for zero, which means "no page".
    pub(crate) const fn unpack(word: u64) -> Option<PageId> {
        if word == 0 { None } else { Some(PageId::new(FileId((word >> 32) as u32), word as u32)) }
    }

    /// Byte position of the page in its file.
    pub(crate) const fn byte_offset(self) -> u64 {
        self.page.0 as u64 * PAGE_SIZE as u64
    }
}

impl fmt::Display for PageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "file {} page {}", self.file.0, self.page.0)
    }
}

/// A byte position in the log. A page's LSN is the *end* of the group that last changed it, and a
/// commit's LSN is the end of its group: so "durable up to `lsn`" includes that change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Lsn(pub(crate) u64);

impl fmt::Display for Lsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
