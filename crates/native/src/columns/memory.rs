//! Memory of all groups and what became of them. A group counts from its end of building until
//! its last user drops it.
//!
//! Must not hold anything itself.

use crate::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// Counts of all groups of an engine.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) bytes: AtomicU64,
    /// Bytes from which on no group is built; 0: as many as the buffer pool has.
    pub(crate) limit: AtomicU64,
    pub(crate) groups: AtomicU64,
    pub(crate) built: AtomicU64,
    /// Groups that became full.
    pub(crate) filled: AtomicU64,
    /// Rows read from groups.
    pub(crate) read: AtomicU64,
    /// Touched keys looked up.
    pub(crate) patches: AtomicU64,
}

/// A group's part of the count.
pub(super) struct Held {
    memory: Arc<Memory>,
    bytes: u64,
}

impl Held {
    pub(super) fn new(memory: Arc<Memory>, bytes: u64) -> Held {
        memory.bytes.fetch_add(bytes, Ordering::Relaxed);
        memory.groups.fetch_add(1, Ordering::Relaxed);
        memory.built.fetch_add(1, Ordering::Relaxed);
        Held { memory, bytes }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.memory.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.memory.groups.fetch_sub(1, Ordering::Relaxed);
    }
}
