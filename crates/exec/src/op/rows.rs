//! Rows kept in columns that grow.

use std::sync::Arc;

use selkie_plan::physical::ColumnType;
use selkie_types::error::catalogue::ER_OUT_OF_RESOURCES;
use selkie_types::{Batch, Column, SqlError, SqlResult};

use super::column_of;

/// Most bytes of strings a column can address.
const MAX_BYTES: usize = 3 << 30;

/// Rows of an operator, read back by number.
#[derive(Debug, Default)]
pub(crate) struct RowBuffer {
    columns: Vec<Arc<Column>>,
    rows: usize,
}

impl RowBuffer {
    /// No rows of columns of these types.
    pub(crate) fn new(types: &[ColumnType]) -> Self {
        let columns = types.iter().map(|c| Arc::new(column_of(&c.ty, 0))).collect();
        Self { columns, rows: 0 }
    }

    /// Rows.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Appends the rows of a batch.
    pub(crate) fn append(&mut self, batch: &Batch) -> SqlResult<()> {
        if self.columns.is_empty() && self.rows == 0 {
            self.columns = batch.columns().to_vec();
            self.rows = batch.rows();
            return Ok(());
        }
        for (all, column) in self.columns.iter_mut().zip(batch.columns()) {
            if all.memory() + column.memory() > MAX_BYTES {
                return Err(SqlError::new(&ER_OUT_OF_RESOURCES, &[]));
            }
            Arc::make_mut(all).append(column);
        }
        self.rows += batch.rows();
        Ok(())
    }

    /// Appends the rows numbered `rows` of columns.
    pub(crate) fn append_rows(&mut self, columns: &[Arc<Column>], rows: &[u32]) -> SqlResult<()> {
        for (all, column) in self.columns.iter_mut().zip(columns) {
            if all.memory() + column.memory() > MAX_BYTES {
                return Err(SqlError::new(&ER_OUT_OF_RESOURCES, &[]));
            }
            Arc::make_mut(all).append(&column.gather(rows));
        }
        self.rows += rows.len();
        Ok(())
    }

    /// All rows as one batch.
    pub(crate) fn batch(&self) -> Batch {
        Batch::new(self.columns.clone(), self.rows)
    }

    /// The rows numbered `rows`; [`selkie_types::NULL_ROW`] gives NULLs.
    pub(crate) fn gather(&self, rows: &[u32]) -> Vec<Arc<Column>> {
        self.columns.iter().map(|c| Arc::new(c.gather(rows))).collect()
    }

    /// The rows numbered `rows` of one column.
    pub(crate) fn gather_column(&self, at: usize, rows: &[u32]) -> Arc<Column> {
        Arc::new(self.columns[at].gather(rows))
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        self.columns.iter().map(|c| c.memory()).sum()
    }
}
