//! Counts of groups since the start, for status variables.
//!
//! Must not count what has no place: a count is never taken back.

use crate::codec::GtidEvent;
use crate::log::cache::Cache;

/// Counts of groups.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Groups that end with a commit: all but those of one statement without one.
    pub commits: u64,
    /// Bytes of all groups.
    pub bytes: u64,
    /// Groups of transactions, and those of them whose events needed a file.
    pub transactions: Caches,
    /// Groups of statements outside of transactions, and those whose events needed a file.
    pub statements: Caches,
}

/// Counts of used caches.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Caches {
    /// All of them.
    pub used: u64,
    /// Those that needed a file.
    pub used_disk: u64,
}

impl Counts {
    /// Counts a group of `bytes` bytes.
    pub(super) fn add(&mut self, flags: u8, events: &Cache, bytes: u64) {
        self.bytes += bytes;
        if flags & GtidEvent::STANDALONE != 0 {
            return;
        }
        self.commits += 1;
        let is_transaction = flags & GtidEvent::TRANSACTIONAL != 0;
        let caches = if is_transaction { &mut self.transactions } else { &mut self.statements };
        caches.used += 1;
        caches.used_disk += u64::from(events.used_disk());
    }
}
