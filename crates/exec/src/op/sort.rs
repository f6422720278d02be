//! Sorts all rows.

use selkie_plan::physical::SortKey;
use selkie_types::{BATCH_ROWS, Batch, ByteRows, SqlResult};

use super::sort_key::{put_keys, sorted};
use super::{BoxOperator, Operator, RowBuffer};
use crate::control::Memory;
use crate::run::Env;
use crate::session::bump;

/// Rows in order, given batch by batch.
pub(super) struct SortedRows {
    pub(super) rows: RowBuffer,
    pub(super) order: Vec<u32>,
    pub(super) given: usize,
}

impl SortedRows {
    pub(super) fn next(&mut self) -> Option<Batch> {
        let to = (self.given + BATCH_ROWS).min(self.order.len());
        if self.given >= to {
            return None;
        }
        let rows = &self.order[self.given..to];
        self.given = to;
        Some(Batch::new(self.rows.gather(rows), rows.len()))
    }
}

/// The operator.
pub(super) struct Sort<'r> {
    env: Env<'r>,
    input: BoxOperator<'r>,
    keys: &'r [SortKey],
    sorted: Option<SortedRows>,
    memory: Memory<'r>,
}

impl<'r> Sort<'r> {
    pub(super) fn new(env: Env<'r>, input: BoxOperator<'r>, keys: &'r [SortKey]) -> Self {
        Self { env, input, keys, sorted: None, memory: Memory::new(env.rt.control) }
    }

    fn sort(&mut self) -> SqlResult<SortedRows> {
        let mut rows = RowBuffer::default();
        let mut keys = ByteRows::default();
        while let Some(batch) = self.input.next()? {
            put_keys(self.env, self.keys, &batch, &mut keys)?;
            rows.append(&batch)?;
            self.memory.set(rows.memory() + keys.memory())?;
            self.env.check()?;
        }
        let counters = self.env.counters();
        bump(&counters.sort_rows, rows.len() as u64);
        bump(&counters.sort_scan, 1);
        self.memory.grow(keys.len() * 16)?;
        let order = sorted(&keys);
        Ok(SortedRows { rows, order, given: 0 })
    }
}

impl Operator for Sort<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        let mut sorted = match self.sorted.take() {
            Some(sorted) => sorted,
            None => self.sort()?,
        };
        let batch = sorted.next();
        self.sorted = Some(sorted);
        Ok(batch)
    }
}
