//! Memory of all groups and what became of them. A group counts from its end of building until
//! its last user drops it.
//!
//! Must not hold anything itself. The limits of statements leave the groups' bytes out.

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
    /// Columns of groups whose strings were compressed.
    pub(crate) compressed: AtomicU64,
    /// Groups that became full.
    pub(crate) filled: AtomicU64,
    /// Rows read from groups.
    pub(crate) read: AtomicU64,
    /// Touched keys looked up.
    pub(crate) patches: AtomicU64,
}

impl Memory {
    /// Bytes that groups may still take; `otherwise`: the limit if none is set.
    pub(crate) fn room(&self, otherwise: u64) -> u64 {
        let most = match self.limit.load(Ordering::Relaxed) {
            0 => otherwise,
            limit => limit,
        };
        most.saturating_sub(self.bytes.load(Ordering::Relaxed))
    }
}

/// A group's part of the count.
pub(super) struct Held {
    memory: Arc<Memory>,
    bytes: AtomicU64,
}

impl Held {
    pub(super) fn new(memory: Arc<Memory>, bytes: u64) -> Held {
        memory.bytes.fetch_add(bytes, Ordering::Relaxed);
        memory.groups.fetch_add(1, Ordering::Relaxed);
        memory.built.fetch_add(1, Ordering::Relaxed);
        selkie_meter::set_aside(bytes as i64);
        Held { memory, bytes: AtomicU64::new(bytes) }
    }

    /// Some of the group's bytes are gone.
    pub(super) fn less(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.memory.bytes.fetch_sub(bytes, Ordering::Relaxed);
        selkie_meter::set_aside(-(bytes as i64));
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let bytes = self.bytes.load(Ordering::Relaxed);
        self.memory.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.memory.groups.fetch_sub(1, Ordering::Relaxed);
        selkie_meter::set_aside(-(bytes as i64));
    }
}
