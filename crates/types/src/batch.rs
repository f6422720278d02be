//! A batch: some rows of several columns, the unit that operators exchange.
//! Immutable once built: its columns are shared between operators.

use std::sync::Arc;

use crate::{Bitmap, Column, Value};

/// Rows of a full batch. Operators may produce fewer rows, but an empty batch only at their end.
pub const BATCH_ROWS: usize = 1024;

/// Columns of equal length. Columns are shared, so projecting a batch or passing it on copies
/// nothing.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    columns: Vec<Arc<Column>>,
    rows: usize,
}

impl Batch {
    /// A batch of `columns`, each with `rows` rows. A batch without columns may have rows.
    pub fn new(columns: Vec<Arc<Column>>, rows: usize) -> Self {
        debug_assert!(columns.iter().all(|c| c.len() == rows));
        Self { columns, rows }
    }

    /// One row without columns: the input of `SELECT 1`.
    pub fn one_row() -> Self {
        Self { columns: Vec::new(), rows: 1 }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns in order.
    pub fn columns(&self) -> &[Arc<Column>] {
        &self.columns
    }

    /// Column `at`.
    pub fn column(&self, at: usize) -> &Arc<Column> {
        &self.columns[at]
    }

    /// The columns, for re-use.
    pub fn into_columns(self) -> Vec<Arc<Column>> {
        self.columns
    }

    /// Value of a column at a row.
    pub fn value(&self, column: usize, row: usize) -> Value {
        self.columns[column].value(row)
    }

    /// The rows with the numbers `rows`, as in [`Column::gather`].
    pub fn gather(&self, rows: &[u32]) -> Self {
        let columns = self.columns.iter().map(|c| Arc::new(c.gather(rows))).collect();
        Self { columns, rows: rows.len() }
    }

    /// The rows whose bit in `keep` is set.
    pub fn filter(&self, keep: &Bitmap) -> Self {
        let count = keep.count_ones();
        if count == self.rows {
            return self.clone();
        }
        let rows = keep.positions();
        self.gather(&rows)
    }

    /// Rows `from..to`.
    pub fn slice(&self, from: usize, to: usize) -> Self {
        if from == 0 && to >= self.rows {
            return self.clone();
        }
        let rows: Vec<u32> = (from as u32..to.min(self.rows) as u32).collect();
        self.gather(&rows)
    }

    /// The columns of `self`, then those of `other`, which must have as many rows.
    pub fn zip(mut self, other: &Self) -> Self {
        debug_assert_eq!(self.rows, other.rows);
        self.columns.extend(other.columns.iter().cloned());
        self
    }

    /// Approximate size in memory, in bytes.
    pub fn memory(&self) -> usize {
        self.columns.iter().map(|c| c.memory()).sum()
    }
}
