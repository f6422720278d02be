//! Sizes that the caches of sessions may have.
//!
//! Must not change caches that exist: a session keeps the limits that it began with.

use crate::log::binary_log::BinaryLog;
use crate::log::cache::Cache;

/// Most bytes of a session's caches.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct CacheLimits {
    /// For changes of transactions (`max_binlog_cache_size`).
    pub transaction: u64,
    /// For changes that no rollback undoes (`max_binlog_stmt_cache_size`).
    pub statement: u64,
}

impl Default for CacheLimits {
    /// No limits.
    fn default() -> Self {
        Self { transaction: u64::MAX, statement: u64::MAX }
    }
}

impl BinaryLog {
    /// Sets the limits of new caches.
    pub fn set_cache_limits(&self, limits: CacheLimits) {
        self.state().cache_limits = limits;
    }

    /// An empty cache for a session's transactions.
    pub fn transaction_cache(&self) -> Cache {
        self.limited(|limits| limits.transaction)
    }

    /// Gives a cache the limits of one for a session's transactions.
    pub fn limit(&self, cache: &mut Cache) {
        cache.set_limits(usize::MAX, self.state().cache_limits.transaction);
    }

    /// An empty cache for a session's changes that no rollback undoes.
    pub fn statement_cache(&self) -> Cache {
        self.limited(|limits| limits.statement)
    }

    fn limited(&self, limit: impl FnOnce(CacheLimits) -> u64) -> Cache {
        let most = limit(self.state().cache_limits);
        let mut cache = self.cache();
        cache.set_limits(usize::MAX, most);
        cache
    }
}
