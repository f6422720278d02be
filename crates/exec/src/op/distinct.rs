//! Each distinct row once, in the order of the input. Keeps a key of every row seen. Rows are
//! passed on as they come, so the first batch does not wait for the whole input; only those for
//! which memory is short wait in a file ([`super::overflow`]).

use std::sync::Arc;

use selkie_plan::physical::{ColumnType, PlanNode};
use selkie_types::{Batch, Column, SqlResult, SqlType};

use super::hash_table::{KeyKind, KeyTable, NOT_FOUND, hashes};
use super::key_sorter::{SortedRows, without_last};
use super::overflow::{InOrder, Overflow, Parts, number_at, numbers};
use super::{BoxOperator, Operator};
use crate::run::Env;
use crate::run::spill::{Reader, is_full};
use crate::state::session::bump;

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

    /// Positions of the rows of a batch that are not in the set.
    fn unknown(&mut self, batch: &Batch) -> Vec<u32> {
        self.ids.clear();
        self.table.find(batch.columns(), batch.rows(), &mut self.ids);
        let rows = self.ids.iter().zip(0..).filter(|(id, _)| **id == NOT_FOUND);
        rows.map(|(_, row)| row).collect()
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

/// Rows seen so far, as far as they fit into memory. Rows that were not seen among those go to a
/// file, and the new ones among them come behind all others.
pub(super) struct Seen<'r> {
    env: Env<'r>,
    types: &'r [ColumnType],
    set: DistinctSet,
    overflow: Option<Overflow>,
    /// Number of the next row.
    next: u64,
    rest: Option<SortedRows<'r>>,
}

impl<'r> Seen<'r> {
    pub(super) fn new(env: Env<'r>, types: &'r [ColumnType]) -> Self {
        let set = DistinctSet::new(types);
        Self { env, types, set, overflow: None, next: 0, rest: None }
    }

    /// The rows that are new, without those that went to the file; `None` if there are none.
    pub(super) fn keep_new(&mut self, batch: Batch) -> SqlResult<Option<Batch>> {
        let first = self.next;
        self.next += batch.rows() as u64;
        let new = self.insert(&batch, 0, &|row| first + row as u64)?;
        Ok(match new.len() {
            0 => None,
            n if n == batch.rows() => Some(batch),
            _ => Some(batch.gather(&new)),
        })
    }

    fn insert(
        &mut self,
        batch: &Batch,
        level: u32,
        number: &dyn Fn(usize) -> u64,
    ) -> SqlResult<Vec<u32>> {
        if let Some(overflow) = &mut self.overflow {
            let unknown = self.set.unknown(batch);
            if !unknown.is_empty() {
                let rows = batch.gather(&unknown);
                let kinds: Vec<_> = self.types.iter().map(|c| KeyKind::of(&c.ty)).collect();
                let hashes = hashes(&kinds, rows.columns(), rows.rows());
                let numbers = numbers(unknown.iter().map(|&row| number(row as usize)));
                let rows = rows.zip(&Batch::new(vec![numbers], unknown.len()));
                overflow.put(&rows, &hashes)?;
            }
            return Ok(Vec::new());
        }
        let new = self.set.insert(batch)?;
        let ceiling = self.env.rt.session.frame.settings.queries.ceilings.table;
        if is_full(self.env.rt, self.set.table.memory(), ceiling) && Overflow::is_possible(level) {
            if level == 0 {
                bump(&self.env.counters().created_tmp_disk_tables, 1);
            }
            self.overflow = Some(Overflow::begin(self.env, level)?);
        }
        Ok(new)
    }

    /// After the last row: the next new rows of those in the file; `None` if there are no more.
    pub(super) fn next_rest(&mut self) -> SqlResult<Option<Batch>> {
        if let Some(overflow) = self.overflow.take() {
            self.set = DistinctSet::new(self.types);
            let mut all = InOrder::new(self.env);
            self.read_parts(overflow.end()?, &mut all)?;
            self.rest = Some(all.finish()?);
        }
        self.rest.as_mut().map_or(Ok(None), SortedRows::next)
    }

    fn read_parts(&self, parts: Parts, all: &mut InOrder<'r>) -> SqlResult<()> {
        for part in parts.parts {
            let mut seen = Self::new(self.env, self.types);
            let mut rows = Reader::new(Box::new(part));
            while let Some(batch) = rows.next()? {
                let Some(numbers) = batch.columns().last().cloned() else { continue };
                let batch = without_last(batch);
                let number = |row: usize| number_at(&numbers, row);
                let new = seen.insert(&batch, parts.level, &number)?;
                if !new.is_empty() {
                    let numbers = new.iter().map(|&row| number(row as usize));
                    all.put(&batch.gather(&new), numbers)?;
                }
                self.env.check()?;
            }
            if let Some(overflow) = seen.overflow.take() {
                drop(seen);
                self.read_parts(overflow.end()?, all)?;
            }
        }
        Ok(())
    }
}

/// Drops rows equal to earlier ones.
pub(super) struct Distinct<'r> {
    env: Env<'r>,
    input: BoxOperator<'r>,
    seen: Seen<'r>,
    /// Whether the only batch of an input may pass unchanged: a following sort drops duplicates
    /// cheaper than a hash does.
    may_pass: bool,
    /// Batch read ahead to learn whether there is another one.
    ahead: Option<Option<Batch>>,
}

impl<'r> Distinct<'r> {
    pub(super) fn new(env: Env<'r>, input: BoxOperator<'r>, node: &'r PlanNode) -> Self {
        let seen = Seen::new(env, &node.columns);
        Self { env, input, seen, may_pass: false, ahead: None }
    }

    /// For use below a sort that drops duplicates.
    pub(super) fn before_sort(env: Env<'r>, input: BoxOperator<'r>, node: &'r PlanNode) -> Self {
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
                return Ok(self.env.count_kept(Some(batch)));
            }
            if let Some(new) = self.seen.keep_new(batch)? {
                return Ok(self.env.count_kept(Some(new)));
            }
            self.env.check()?;
        }
        Ok(self.env.count_kept(self.seen.next_rest()?))
    }
}
