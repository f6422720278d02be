//! Each distinct row once. Keeps a key of every row seen. Rows are passed on as they come, so the
//! first batch does not wait for the whole input.

use std::sync::Arc;

use selkie_plan::physical::{ColumnType, PlanNode};
use selkie_types::{Batch, Column, SqlResult, SqlType};

use super::hash_table::{KeyKind, KeyTable};
use super::{BoxOperator, Operator};
use crate::run::Env;

/// Set of the rows seen.
pub(crate) struct DistinctSet {
    table: KeyTable,
    ids: Vec<u32>,
}

impl DistinctSet {
    /// An empty set for rows of these types.
    pub(crate) fn new(types: &[ColumnType]) -> Self {
        let kinds = types.iter().map(|c| KeyKind::of(&c.ty)).collect();
        Self { table: KeyTable::new(kinds), ids: Vec::new() }
    }

    /// Adds the rows of a batch; returns the positions of rows not seen before.
    pub(crate) fn insert(&mut self, batch: &Batch) -> SqlResult<Vec<u32>> {
        let mut new = Vec::new();
        self.ids.clear();
        self.table.assign(batch.columns(), batch.rows(), &mut self.ids, &mut new)?;
        Ok(new)
    }
}

/// Key number of each row, and how many different keys there are.
pub(crate) fn distinct_keys(
    columns: &[Arc<Column>],
    types: &[&SqlType],
) -> SqlResult<(Vec<u32>, usize)> {
    let mut table = KeyTable::new(types.iter().map(|ty| KeyKind::of(ty)).collect());
    let (mut ids, mut new) = (Vec::new(), Vec::new());
    table.assign(columns, columns.first().map_or(0, |c| c.len()), &mut ids, &mut new)?;
    Ok((ids, table.len()))
}

/// Drops rows equal to earlier ones.
pub(super) struct Distinct<'r> {
    env: Env<'r>,
    input: BoxOperator<'r>,
    seen: DistinctSet,
    /// Whether the only batch of an input may pass unchanged: a following sort drops duplicates
    /// cheaper than a hash does.
    may_pass: bool,
    /// Batch read ahead to learn whether there is another one.
    ahead: Option<Option<Batch>>,
}

impl<'r> Distinct<'r> {
    pub(super) fn new(env: Env<'r>, input: BoxOperator<'r>, node: &PlanNode) -> Self {
        let seen = DistinctSet::new(&node.columns);
        Self { env, input, seen, may_pass: false, ahead: None }
    }

    /// For use below a sort that drops duplicates.
    pub(super) fn before_sort(env: Env<'r>, input: BoxOperator<'r>, node: &PlanNode) -> Self {
        Self { may_pass: true, ..Self::new(env, input, node) }
    }

    fn read(&mut self) -> SqlResult<Option<Batch>> {
        self.ahead.take().map_or_else(|| self.input.next(), Ok)
    }

    /// Whether the batch just read may pass unchanged.
    fn passes(&mut self) -> SqlResult<bool> {
        if !std::mem::take(&mut self.may_pass) {
            return Ok(false);
        }
        let next = self.input.next()?;
        let is_only = next.is_none();
        self.ahead = Some(next);
        Ok(is_only)
    }
}

impl Operator for Distinct<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        while let Some(batch) = self.read()? {
            if self.passes()? {
                return Ok(Some(batch));
            }
            let new = self.seen.insert(&batch)?;
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
