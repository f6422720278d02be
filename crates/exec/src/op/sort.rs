//! Sorts all rows.

use selkie_plan::physical::SortKey;
use selkie_types::{BATCH_ROWS, Batch, ByteRows, SqlResult};

use super::sort_head::{Heads, are_useful};
use super::sort_key::{put_columns, put_keys, sorted};
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
        let most = self.env.rt.session.settings.max_sort_length;
        match are_useful(self.keys, most) {
            true => self.sort_by_heads(),
            false => self.sort_by_keys(),
        }
    }

    fn sort_by_heads(&mut self) -> SqlResult<SortedRows> {
        let keys = self.keys;
        let mut heads = Heads::default();
        let rows = self.collect(|batch| {
            heads.put(keys, batch);
            Ok(heads.memory())
        })?;
        let places = self.keys.iter().filter_map(|key| key.expr.as_column());
        let places: Vec<usize> = places.collect();
        let order = heads.order(|some| {
            let columns = places.iter().map(|&at| rows.gather_column(at, some)).collect();
            let mut keys = ByteRows::default();
            put_columns(self.env, self.keys, columns, some.len(), &mut keys);
            let held = rows.memory() + heads.memory() + rows.len() * 16;
            self.memory.set(held + keys.memory())?;
            Ok(keys)
        })?;
        Ok(SortedRows { rows, order, given: 0 })
    }

    fn sort_by_keys(&mut self) -> SqlResult<SortedRows> {
        let (env, by) = (self.env, self.keys);
        let mut keys = ByteRows::default();
        let rows = self.collect(|batch| {
            put_keys(env, by, batch, &mut keys)?;
            Ok(keys.memory())
        })?;
        let order = sorted(&keys);
        Ok(SortedRows { rows, order, given: 0 })
    }

    /// All rows; `put` makes their keys and says how many bytes these take so far.
    fn collect(&mut self, mut put: impl FnMut(&Batch) -> SqlResult<usize>) -> SqlResult<RowBuffer> {
        let mut rows = RowBuffer::default();
        while let Some(batch) = self.input.next()? {
            let keys = put(&batch)?;
            rows.append(&batch)?;
            self.memory.set(rows.memory() + keys)?;
            self.env.check()?;
        }
        let counters = self.env.counters();
        bump(&counters.sort_rows, rows.len() as u64);
        bump(&counters.sort_scan, 1);
        self.memory.grow(rows.len() * 16)?;
        Ok(rows)
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
