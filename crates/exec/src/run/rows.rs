//! Rows kept in columns that grow. Every append is charged to the statement's memory (EXEC-2). Row
//! numbers have 32 bits.
//!
//! Strings that are entries of one dictionary stay codes. Their memory counts as if they were
//! copied, since the buffer may be the last to hold the dictionary.

use std::sync::Arc;

use selkie_plan::physical::ColumnType;
use selkie_types::error::catalogue::ER_OUT_OF_RESOURCES;
use selkie_types::{BATCH_ROWS, Batch, Column, ColumnData, SqlError, SqlResult};

use crate::state::columns::column_of;

/// Most bytes of strings that a column can address.
const MAX_BYTES: usize = 3 << 30;

/// Target size of an output batch in bytes.
pub(crate) const GOAL: usize = 4 << 20;

/// Rows per output batch if `rows` rows take `memory` bytes: between 1 and `most`.
pub(crate) fn at_once(memory: usize, rows: usize, most: usize) -> usize {
    let fit = GOAL / (memory / rows.max(1)).max(1);
    fit.min(most).max(1)
}

/// Rows kept by an operator and read by number.
#[derive(Debug, Default)]
pub(crate) struct RowBuffer {
    columns: Vec<Arc<Column>>,
    rows: usize,
}

/// Size of a copy of the column, in bytes.
fn copied(column: &Column) -> usize {
    match column.data() {
        ColumnData::Bytes(values) if values.codes().is_some() => {
            values.text_size().max(column.memory())
        }
        _ => column.memory(),
    }
}

/// Bytes to copy if `more` is appended to a column, checked against what a column can address.
fn growth(all: &Column, more: &Column) -> SqlResult<usize> {
    // Codes of another dictionary make strings of all rows.
    let (own, again) = match (all.data(), more.data()) {
        (ColumnData::Bytes(own), ColumnData::Bytes(other)) if !own.shares_entries(other) => {
            let size = copied(all);
            (size, if own.codes().is_some() { size } else { 0 })
        }
        _ => (all.memory(), 0),
    };
    let more = copied(more);
    match own + more > MAX_BYTES {
        true => Err(SqlError::new(&ER_OUT_OF_RESOURCES, &[])),
        false => Ok(more + again),
    }
}

impl RowBuffer {
    /// An empty buffer for columns of these types.
    pub(crate) fn new(types: &[ColumnType]) -> Self {
        let columns = types.iter().map(|c| Arc::new(column_of(&c.ty, 0))).collect();
        Self { columns, rows: 0 }
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Appends the rows of a batch.
    pub(crate) fn append(&mut self, batch: &Batch) -> SqlResult<()> {
        if self.columns.is_empty() && self.rows == 0 {
            selkie_meter::ask(batch.memory())?;
            self.columns = batch.columns().to_vec();
            self.rows = batch.rows();
            return Ok(());
        }
        self.extend(batch.columns(), batch.rows())
    }

    /// Whether rows of `batch` can be appended without rounding a decimal.
    pub(crate) fn has_scales_of(&self, batch: &Batch) -> bool {
        self.columns.iter().zip(batch.columns()).all(|(own, other)| own.scale() == other.scale())
    }

    /// Appends the rows at positions `rows` of columns.
    pub(crate) fn append_rows(&mut self, columns: &[Arc<Column>], rows: &[u32]) -> SqlResult<()> {
        selkie_meter::ask(columns.iter().map(|c| c.memory()).sum())?;
        let gathered: Vec<_> = columns.iter().map(|column| Arc::new(column.gather(rows))).collect();
        self.extend(&gathered, rows.len())
    }

    fn extend(&mut self, columns: &[Arc<Column>], rows: usize) -> SqlResult<()> {
        let pairs = self.columns.iter().zip(columns);
        selkie_meter::ask(pairs.map(|(all, more)| growth(all, more)).sum::<SqlResult<usize>>()?)?;
        for (all, more) in self.columns.iter_mut().zip(columns) {
            Arc::make_mut(all).append(more);
        }
        self.rows += rows;
        Ok(())
    }

    /// Lets gathered rows share the strings of this buffer, which gets no more rows.
    pub(crate) fn share_strings(&mut self) -> SqlResult<()> {
        let texts = || self.columns.iter().filter(|c| matches!(c.data(), ColumnData::Bytes(_)));
        selkie_meter::ask(texts().map(|c| c.len() * size_of::<u32>()).sum())?;
        let columns = std::mem::take(&mut self.columns).into_iter();
        let share = |column: Arc<Column>| match column.data() {
            ColumnData::Bytes(_) => Arc::new(Arc::unwrap_or_clone(column).into_entries()),
            _ => column,
        };
        self.columns = columns.map(share).collect();
        Ok(())
    }

    /// Rows to gather at once, so that the output is small beside the kept rows.
    pub(crate) fn at_once(&self, most: usize) -> usize {
        at_once(self.memory(), self.rows, most)
    }

    /// Memory of all columns in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.columns.iter().map(|c| c.memory()).sum()
    }

    /// All rows of a column.
    pub(crate) fn column(&self, at: usize) -> &Arc<Column> {
        &self.columns[at]
    }

    /// Memory of a column in bytes.
    pub(crate) fn column_memory(&self, at: usize) -> usize {
        self.columns[at].memory()
    }

    /// All rows as one batch.
    pub(crate) fn batch(&self) -> Batch {
        Batch::new(self.columns.clone(), self.rows)
    }

    /// Calls `each` with all rows in order, some at a time.
    pub(crate) fn each(&self, mut each: impl FnMut(&Batch) -> SqlResult<()>) -> SqlResult<()> {
        let all: Vec<u32> = (0..self.rows as u32).collect();
        let mut parts = all.chunks(self.at_once(BATCH_ROWS));
        parts.try_for_each(|some| each(&Batch::new(self.gather(some), some.len())))
    }

    /// Rows at positions `rows`; [`selkie_types::NULL_ROW`] gives NULLs.
    pub(crate) fn gather(&self, rows: &[u32]) -> Vec<Arc<Column>> {
        self.columns.iter().map(|c| Arc::new(c.gather(rows))).collect()
    }

    /// Rows at positions `rows` of one column.
    pub(crate) fn gather_column(&self, at: usize, rows: &[u32]) -> Arc<Column> {
        Arc::new(self.columns[at].gather(rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_rows_are_given_one_by_one_and_small_ones_together() {
        assert_eq!(at_once(100 * 1024, 1024, 4096), 4096);
        assert_eq!(at_once(100 * GOAL, 100, 4096), 1);
        assert_eq!(at_once(10 * GOAL, 40, 4096), 4);
        // Neither an empty table nor a limit of 0 gives 0 rows.
        assert_eq!(at_once(0, 0, 4096), 4096);
        assert_eq!(at_once(GOAL, 1, 0), 1);
    }
}
