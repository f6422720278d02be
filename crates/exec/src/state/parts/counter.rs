//! The AUTO_INCREMENT counters of tables in parts: one for each table, whose leaves only remember
//! the values of their own rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashMap;
use parking_lot::Mutex;
use selkie_engine::{EngineResult, TableId, next_in_series};

/// The next value of a table; 0 until it is known.
#[derive(Default)]
pub(crate) struct PartCounter(AtomicU64);

impl PartCounter {
    /// Sets the next value, if it is not known yet.
    pub(super) fn start(&self, next: impl FnOnce() -> EngineResult<u64>) -> EngineResult<()> {
        if self.next() == 0 {
            let next = next()?.max(1);
            let _ = self.0.compare_exchange(0, next, Ordering::AcqRel, Ordering::Acquire);
        }
        Ok(())
    }

    pub(super) fn next(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    pub(super) fn set(&self, next: u64) {
        self.0.store(next.max(1), Ordering::Release);
    }

    /// Reserves values as [`selkie_engine::Table::reserve_auto_increment`] does. Compat: the
    /// counter passes as many numbers as the values take, wherever the series begins.
    pub(super) fn reserve(&self, count: u64, step: u64, offset: u64) -> u64 {
        let after = |next: u64| Some(next.saturating_add(count.saturating_mul(step)));
        let before = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, after);
        next_in_series(before.unwrap_or(u64::MAX), step, offset)
    }

    /// Gives the values from `to` on back, if none at or behind `from` was reserved.
    pub(super) fn release(&self, from: u64, to: u64) {
        let lower = |next: u64| (to < next && next <= from).then_some(to);
        let _ = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, lower);
    }

    /// Follows a value that was stored.
    pub(super) fn follow(&self, value: u64) {
        if self.next() != 0 {
            self.0.fetch_max(value.saturating_add(1), Ordering::AcqRel);
        }
    }
}

/// The counters of all tables in parts.
#[derive(Default)]
pub(crate) struct PartCounters(Mutex<HashMap<TableId, Arc<PartCounter>>>);

impl PartCounters {
    /// The counter of a table.
    pub(crate) fn of(&self, id: TableId) -> Arc<PartCounter> {
        self.0.lock().entry(id).or_default().clone()
    }

    /// Forgets the counter of a table that was dropped or changed.
    pub(crate) fn forget(&self, id: TableId) {
        self.0.lock().remove(&id);
    }
}
