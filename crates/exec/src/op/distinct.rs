//! Each distinct row once.

use std::sync::Arc;

use selkie_plan::physical::{ColumnType, PlanNode};
use selkie_types::{Batch, Column, SqlResult, SqlType};

use super::hash_table::{KeyKind, KeyTable};
use super::{BoxOperator, Operator};
use crate::control::Memory;
use crate::run::Env;

/// Rows seen.
pub(crate) struct DistinctSet {
    table: KeyTable,
    ids: Vec<u32>,
}

impl DistinctSet {
    /// Nothing seen yet of rows of these types.
    pub(crate) fn new(types: &[ColumnType]) -> Self {
        let kinds = types.iter().map(|c| KeyKind::of(&c.ty)).collect();
        Self { table: KeyTable::new(kinds), ids: Vec::new() }
    }

    /// Notes the rows of a batch; the numbers of those not seen before.
    pub(crate) fn insert(&mut self, batch: &Batch) -> Vec<u32> {
        let mut new = Vec::new();
        self.ids.clear();
        self.table.assign(batch.columns(), batch.rows(), &mut self.ids, &mut new);
        new
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        self.table.memory()
    }
}

/// The key number of each row of columns, and how many there are.
pub(crate) fn distinct_keys(columns: &[Arc<Column>], types: &[&SqlType]) -> (Vec<u32>, usize) {
    let mut table = KeyTable::new(types.iter().map(|ty| KeyKind::of(ty)).collect());
    let (mut ids, mut new) = (Vec::new(), Vec::new());
    table.assign(columns, columns.first().map_or(0, |c| c.len()), &mut ids, &mut new);
    (ids, table.len())
}

/// Leaves out rows equal to earlier ones.
pub(super) struct Distinct<'r> {
    env: Env<'r>,
    input: BoxOperator<'r>,
    seen: DistinctSet,
    memory: Memory<'r>,
}

impl<'r> Distinct<'r> {
    pub(super) fn new(env: Env<'r>, input: BoxOperator<'r>, node: &PlanNode) -> Self {
        let memory = Memory::new(env.rt.control);
        Self { env, input, seen: DistinctSet::new(&node.columns), memory }
    }
}

impl Operator for Distinct<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        while let Some(batch) = self.input.next()? {
            let new = self.seen.insert(&batch);
            self.memory.set(self.seen.memory())?;
            if new.len() == batch.rows() {
                return Ok(Some(batch));
            }
            if !new.is_empty() {
                return Ok(Some(batch.gather(&new)));
            }
            self.env.check()?;
        }
        Ok(None)
    }
}
