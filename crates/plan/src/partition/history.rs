//! Routing by SYSTEM_TIME: current rows go to the last slot, rows of history to the others.
//!
//! # Invariants
//! - HP-1 Where history rotates by rows, any slot of history may have any row of history: the one
//!   that is open now takes new ones, and no answer about stored rows depends on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use selkie_catalog::{PartitionLimit, PartitionMethod, SystemTime, TableInfo, timestamp_value};
use selkie_types::{RowLayout, SqlResult, Value};

use super::ColumnKeys;

/// The slots of a table partitioned by SYSTEM_TIME.
#[derive(Clone, Debug)]
pub(super) struct HistoryRule {
    pub(super) keys: ColumnKeys,
    /// Number of slots of history; the slot behind them has current rows.
    history: usize,
    /// Ends of the slots of history; empty if they do not rotate by time.
    ends: Vec<Vec<u8>>,
    /// The key of current rows.
    current: Vec<u8>,
    /// The slot that takes new rows of history, if they do not rotate by time.
    open: Arc<AtomicUsize>,
}

impl HistoryRule {
    /// `None` if the table is not versioned.
    pub(super) fn new(
        table: &TableInfo,
        method: &PartitionMethod,
        limits: &[&PartitionLimit],
    ) -> Option<Self> {
        let keys = ColumnKeys::new(method, table)?;
        let ends = limits.iter().filter_map(|limit| match limit {
            PartitionLimit::History(end) => *end,
            _ => None,
        });
        let ends = ends.map(|end| keys.of_value(&timestamp_value(end))).collect();
        let end = table.system_time()?.end;
        let current = keys.of_value(&SystemTime::end_value(&table.columns[end].ty));
        let history = limits.len().saturating_sub(1).max(1);
        Some(Self { keys, history, ends, current, open: Arc::default() })
    }

    /// The slot of a row.
    pub(super) fn slot(&self, layout: &RowLayout, row: &[u8]) -> SqlResult<usize> {
        let mut key = Vec::new();
        self.keys.of_row(layout, row, &mut key)?;
        Ok(match () {
            () if key == self.current => self.history,
            () if self.ends.is_empty() => self.open(),
            () => self.by_time(&key),
        })
    }

    fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed).min(self.history - 1)
    }

    fn by_time(&self, key: &[u8]) -> usize {
        self.ends.partition_point(|end| &end[..] <= key).min(self.history - 1)
    }

    /// Lets a slot take new rows of history.
    pub(super) fn set_open(&self, slot: usize) {
        self.open.store(slot, Ordering::Relaxed);
    }

    /// The slot that takes new rows of history, if they do not rotate by time.
    pub(super) fn opened(&self) -> Option<usize> {
        self.ends.is_empty().then(|| self.open())
    }

    /// Whether rows that belong to one slot may be in another.
    pub(super) fn may_be_in(&self, own: usize, other: usize) -> bool {
        own == other || (self.ends.is_empty() && own < self.history && other < self.history)
    }

    /// The slots of rows with an end.
    pub(super) fn point(&self, end: &Value) -> Vec<usize> {
        let key = self.keys.of_value(end);
        match () {
            () if key == self.current => vec![self.history],
            () if self.ends.is_empty() => (0..self.history).collect(),
            () => vec![self.by_time(&key)],
        }
    }

    /// The slots of rows whose ends have keys from `start` up to `end`.
    pub(super) fn interval(&self, start: &[u8], end: Option<&[u8]>) -> Vec<usize> {
        let mut slots = match () {
            () if start >= &self.current[..] => 0..0,
            () if self.ends.is_empty() => 0..self.history,
            () => {
                let before = |end: &[u8]| self.ends.partition_point(|own| &own[..] < end) + 1;
                self.by_time(start)..end.map_or(self.history, before).min(self.history)
            }
        }
        .collect::<Vec<usize>>();
        // Compat: current rows are read even where the interval ends before them.
        let reaches = end.is_none_or(|end| end >= &self.current[..]);
        if start <= &self.current[..] && reaches {
            slots.push(self.history);
        }
        slots
    }
}
