//! Translation of a page id to its entry word by array indexing: a growing table of files, each
//! with a growing array of words. Growth must not move anything, so that `&AtomicU64` stays valid
//! as long as the table; nothing is freed earlier. A lookup of an existing word takes no lock. The
//! meaning of words is not known here.

use super::arena::Arena;
use super::readahead::MissHistory;
use crate::disk::File;
use crate::ids::{FileId, PageNo};
use crate::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use crate::sync::{Mutex, RwLock};
use std::sync::Arc;

/// Elements of the first chunk; each further chunk is twice as long as the one before.
const FIRST: usize = 64;
/// Chunks needed for 2^32 elements.
const CHUNKS: usize = 27;

/// Chunk and position in it of element `n`.
fn locate(n: u32) -> (usize, usize) {
    let n = n as usize + FIRST;
    let chunk = (n.ilog2() - FIRST.ilog2()) as usize;
    (chunk, n - (FIRST << chunk))
}

/// An array of words that grows by chunks of doubling size; words never written are zero.
struct Growing {
    chunks: [AtomicPtr<AtomicU64>; CHUNKS],
    owned: Mutex<Vec<Arena>>,
}

impl Growing {
    fn new() -> Growing {
        Growing {
            chunks: [const { AtomicPtr::new(std::ptr::null_mut()) }; CHUNKS],
            owned: Mutex::new(Vec::new()),
        }
    }

    fn get(&self, n: u32) -> Option<&AtomicU64> {
        let (chunk, at) = locate(n);
        let base = self.chunks[chunk].load(Ordering::Acquire);
        // SAFETY: a non-null chunk pointer is an arena of `FIRST << chunk` words owned by `self`;
        // `at` is below that.
        (!base.is_null()).then(|| unsafe { &*base.add(at) })
    }

    fn get_or_grow(&self, n: u32) -> &AtomicU64 {
        if let Some(word) = self.get(n) {
            return word;
        }
        self.grow(locate(n).0);
        self.get(n).expect("the chunk was just added")
    }

    #[cold]
    fn grow(&self, chunk: usize) {
        let mut owned = self.owned.lock();
        if self.chunks[chunk].load(Ordering::Acquire).is_null() {
            let arena =
                Arena::new((FIRST << chunk) * 8).expect("address space for a translation array");
            self.chunks[chunk].store(arena.at(0).as_ptr().cast(), Ordering::Release);
            owned.push(arena);
        }
    }

    fn reset(&self) {
        self.owned.lock().iter().for_each(Arena::discard);
    }
}

/// The pool's view of a file: the words of its pages and, while it is open, its handle.
pub(crate) struct FileEntry {
    words: Growing,
    handle: RwLock<Option<Arc<dyn File>>>,
    pub(super) misses: MissHistory,
}

impl FileEntry {
    fn new() -> FileEntry {
        FileEntry { words: Growing::new(), handle: RwLock::new(None), misses: MissHistory::new() }
    }

    /// The word of a page; zero if the page was never in memory.
    pub(super) fn word(&self, page: PageNo) -> &AtomicU64 {
        self.words.get_or_grow(page.0)
    }

    /// The open file, unless it was dropped.
    pub(super) fn handle(&self) -> Option<Arc<dyn File>> {
        self.handle.read().clone()
    }
}

/// All files, by id.
pub(super) struct FileTable {
    slots: Growing,
    #[expect(
        clippy::vec_box,
        reason = "entries are reached through raw pointers and must not move"
    )]
    entries: Mutex<Vec<Box<FileEntry>>>,
}

impl FileTable {
    pub(super) fn new() -> FileTable {
        FileTable { slots: Growing::new(), entries: Mutex::new(Vec::new()) }
    }

    /// The entry of a file that was ever attached.
    pub(super) fn get(&self, file: FileId) -> Option<&FileEntry> {
        let pointer = self.slots.get(file.0)?.load(Ordering::Acquire) as *const FileEntry;
        // SAFETY: non-zero slots hold the address of a box in `entries`, from which nothing is ever
        // removed.
        (!pointer.is_null()).then(|| unsafe { &*pointer })
    }

    /// Makes a file known under its id.
    pub(super) fn attach(&self, file: FileId, handle: Arc<dyn File>) {
        let mut entries = self.entries.lock();
        if self.get(file).is_none() {
            let entry = Box::new(FileEntry::new());
            self.slots.get_or_grow(file.0).store(&raw const *entry as u64, Ordering::Release);
            entries.push(entry);
        }
        if let Some(entry) = self.get(file) {
            *entry.handle.write() = Some(handle);
        }
    }

    /// Removes the handle and the words of a dropped file. Its pages must already have left the
    /// pool.
    pub(super) fn detach(&self, file: FileId) -> Option<Arc<dyn File>> {
        let entry = self.get(file)?;
        entry.words.reset();
        entry.handle.write().take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_has_its_own_place() {
        assert_eq!(locate(0), (0, 0));
        assert_eq!(locate(63), (0, 63));
        assert_eq!(locate(64), (1, 0));
        assert_eq!(locate(191), (1, 127));
        assert_eq!(locate(192), (2, 0));
        assert_eq!(locate(u32::MAX).0, CHUNKS - 1);
    }

    #[test]
    fn words_keep_their_address() {
        let words = Growing::new();
        let first = words.get_or_grow(5);
        first.store(9, Ordering::Relaxed);
        words.get_or_grow(100_000).store(8, Ordering::Relaxed);
        assert_eq!(words.get(5).map(std::ptr::from_ref), Some(std::ptr::from_ref(first)));
        assert_eq!(words.get(100_000).map(|w| w.load(Ordering::Relaxed)), Some(8));
        assert!(words.get(1 << 30).is_none());
    }
}
