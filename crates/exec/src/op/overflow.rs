//! Rows of keys for which a hash table has no more room, in a file. They are spread over parts by a
//! hash of the keys, so that rows with equal keys are in one part, in their order. A part that is
//! too large again is spread by further bits of the hash.

use std::sync::Arc;

use selkie_types::{Batch, Column, ColumnData, SqlResult};

use super::key_sorter::{KeySorter, SortedRows};
use super::sort_head::Equals;
use crate::run::Env;
use crate::run::spill::{Stream, Written, create};

/// Bits of the hash that choose the part.
const BITS: u32 = 4;

/// Times that rows can be spread: over a million parts. What is too large then has equal keys.
const MOST_LEVELS: u32 = 5;

/// The parts that are being written.
pub(super) struct Overflow {
    parts: Vec<Stream>,
    level: u32,
}

/// Parts of rows that were spread `level` times.
pub(super) struct Parts {
    pub(super) parts: Vec<Written>,
    pub(super) level: u32,
}

impl Overflow {
    /// Whether rows that were spread `level` times can be spread once more.
    pub(super) fn is_possible(level: u32) -> bool {
        level < MOST_LEVELS
    }

    /// Parts without rows, for rows that were spread `level` times.
    pub(super) fn begin(env: Env<'_>, level: u32) -> SqlResult<Self> {
        let file = create(env.rt)?;
        Ok(Self { parts: (0..1 << BITS).map(|_| Stream::new(&file)).collect(), level })
    }

    /// Adds rows by the hashes of their keys.
    pub(super) fn put(&mut self, batch: &Batch, hashes: &[u64]) -> SqlResult<()> {
        let shift = u64::BITS - BITS * (self.level + 1);
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); self.parts.len()];
        for (row, hash) in hashes.iter().enumerate() {
            rows[(hash >> shift) as usize & ((1 << BITS) - 1)].push(row as u32);
        }
        for (part, rows) in self.parts.iter_mut().zip(rows) {
            if !rows.is_empty() {
                part.push(&batch.gather(&rows))?;
            }
        }
        Ok(())
    }

    /// Ends writing.
    pub(super) fn end(self) -> SqlResult<Parts> {
        let parts = self.parts.into_iter().map(Stream::end).collect::<SqlResult<_>>()?;
        Ok(Parts { parts, level: self.level + 1 })
    }
}

/// A column of numbers, for rows that must come back in the order of these.
pub(super) fn numbers(values: impl Iterator<Item = u64>) -> Arc<Column> {
    Arc::new(Column::from_data(ColumnData::UInt(values.collect()), None))
}

/// The numbers of a column of [`numbers`] that may have been in a file.
pub(super) fn number_at(column: &Column, row: usize) -> u64 {
    match column.data() {
        ColumnData::UInt(values) => values[column.physical_row(row)],
        _ => 0,
    }
}

/// Brings rows of all parts into the order of their numbers. Rows with equal numbers keep theirs.
pub(super) struct InOrder<'r>(KeySorter<'r>);

impl<'r> InOrder<'r> {
    pub(super) fn new(env: Env<'r>) -> Self {
        Self(KeySorter::new(env, Equals::Kept))
    }

    /// Adds rows with these numbers.
    pub(super) fn put(
        &mut self,
        batch: &Batch,
        numbers: impl Iterator<Item = u64>,
    ) -> SqlResult<()> {
        self.0.put(batch, |_, keys| {
            numbers.for_each(|number| keys.push(&number.to_be_bytes()));
            Ok(())
        })
    }

    /// All rows in order.
    pub(super) fn finish(self) -> SqlResult<SortedRows<'r>> {
        Ok(SortedRows::of(self.0.finish()?))
    }
}
