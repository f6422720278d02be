//! GROUP BY ... WITH ROLLUP over rows sorted by the keys.
//!
//! Level `n` groups by the first `n` keys. A group ends where one of its keys changes; it is given
//! after the groups of the next level that it contains. Must not keep keys for each level: their
//! size would grow with the square of the number of keys.

use std::cmp::Ordering;
use std::sync::Arc;

use selkie_expr::aggregate::{AggregateState, Groups};
use selkie_expr::order::compare_rows;
use selkie_plan::physical::{Aggregate as Plan, ColumnType};
use selkie_types::error::catalogue::ER_OUT_OF_RESOURCES;
use selkie_types::{BATCH_ROWS, Batch, Column, NULL_ROW, SqlError, SqlResult};

use super::group::Inputs;
use super::sliced;
use super::{Operator, RowBuffer, open as open_node};
use crate::run::Env;
use crate::run::rows::at_once;
use crate::state::columns::scale_of;

/// The groups of one level.
struct Level {
    states: Vec<AggregateState>,
    /// First row of each group in [`Rollup::keys`].
    firsts: Vec<u32>,
}

/// A result row: group number `group` of level `level`.
#[derive(Clone, Copy)]
struct Place {
    level: usize,
    group: usize,
}

/// The operator: it computes all groups of all levels, then gives them in order.
pub(super) struct Rollup<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    types: &'r [ColumnType],
    levels: Vec<Level>,
    /// Keys of the groups of the last level, which has all keys.
    keys: RowBuffer,
    /// For each group of the last level, the lowest level with a group that ends with it.
    ends: Vec<u32>,
    /// Key columns of the last batch, and the position of its last row.
    last: Option<(Vec<Arc<Column>>, usize)>,
    /// Results of each aggregate, ordered by level.
    results: Vec<Column>,
    /// Position of the first result of each level.
    begins: Vec<usize>,
    /// Number of groups given, per level.
    given: Vec<usize>,
    /// Next result row: a group of the last level, and the level of a group that ends with it.
    next: (usize, usize),
}

impl<'r> Rollup<'r> {
    pub(super) fn new(env: Env<'r>, plan: &'r Plan, types: &'r [ColumnType]) -> Self {
        let count = plan.groups.len();
        Self {
            env,
            plan,
            types,
            levels: Vec::new(),
            keys: RowBuffer::new(types),
            ends: Vec::new(),
            last: None,
            results: Vec::new(),
            begins: Vec::new(),
            given: vec![0; count + 1],
            next: (0, count),
        }
    }

    /// Reads all input rows.
    fn read(&mut self) -> SqlResult<()> {
        for _ in 0..=self.types.len() {
            let states = self.plan.aggregates.iter().map(|a| a.state()).collect();
            self.levels.push(Level { states, firsts: Vec::new() });
            self.env.check()?;
        }
        let inputs =
            Inputs::new(&self.plan.groups, &self.plan.aggregates, self.plan.input.columns.len());
        let input = open_node(self.env, &self.plan.input)?;
        let mut input = sliced::for_values(input, inputs.exprs());
        while let Some(batch) = input.next()? {
            if batch.rows() > 0 {
                let args = inputs.args(self.env.eval, &batch)?;
                self.update(inputs.keys(self.env.eval, &batch)?, &args, batch.rows())?;
            }
            self.env.check()?;
        }
        self.finish()
    }

    fn update(
        &mut self,
        keys: Vec<Arc<Column>>,
        args: &[Vec<Arc<Column>>],
        rows: usize,
    ) -> SqlResult<()> {
        let changes = self.changes(&keys, rows)?;
        let new = |row: &u32| changes[*row as usize] < self.types.len();
        let new: Vec<u32> = (0..rows as u32).filter(new).collect();
        for (n, level) in self.levels.iter_mut().enumerate() {
            let mut ids = Vec::with_capacity(rows);
            let mut first = self.keys.len() as u32;
            for change in &changes {
                if *change < n || level.firsts.is_empty() {
                    level.firsts.push(first);
                }
                first += u32::from(*change < self.types.len());
                ids.push(level.firsts.len() as u32 - 1);
            }
            for (state, args) in level.states.iter_mut().zip(args) {
                let groups = Groups::Ids(&ids);
                state.update(groups, level.firsts.len(), rows, args, self.env.eval)?;
            }
            self.env.check()?;
        }
        // The levels that end with a group are known only when the next group begins.
        let before_first = usize::from(self.keys.len() == 0);
        let ends = new.iter().skip(before_first).map(|row| changes[*row as usize] as u32 + 1);
        self.ends.extend(ends);
        self.keys.append_rows(&keys, &new)?;
        self.last = Some((keys, rows - 1));
        Ok(())
    }

    /// For each row, the first key that differs from the row before; the number of keys if none
    /// differs.
    fn changes(&self, keys: &[Arc<Column>], rows: usize) -> SqlResult<Vec<usize>> {
        let mut changes = Vec::with_capacity(rows);
        for row in 0..rows {
            let differs = |n: usize| {
                let (before, at) = match (row, &self.last) {
                    (0, None) => return true,
                    (0, Some((before, at))) => (&before[n], *at),
                    _ => (&keys[n], row - 1),
                };
                let collation = self.types[n].ty.collation;
                compare_rows(before, at, &keys[n], row, collation) != Ordering::Equal
            };
            changes.push((0..keys.len()).find(|n| differs(*n)).unwrap_or(keys.len()));
            self.env.check()?;
        }
        Ok(changes)
    }

    /// Computes the results of all groups.
    fn finish(&mut self) -> SqlResult<()> {
        if self.keys.len() > 0 {
            self.ends.push(0);
        }
        self.last = None;
        let mut total = 0;
        for level in &mut self.levels {
            self.begins.push(total);
            total += level.firsts.len();
            let results: SqlResult<Vec<_>> =
                level.states.drain(..).map(|mut state| state.finish(self.env.eval)).collect();
            let results = results?;
            if self.results.is_empty() {
                self.results = results.iter().map(Column::expand).collect();
            } else {
                self.results.iter_mut().zip(&results).for_each(|(all, c)| all.append(c));
            }
            self.env.check()?;
        }
        // Row numbers have 32 bits.
        match total < NULL_ROW as usize {
            true => Ok(()),
            false => Err(SqlError::new(&ER_OUT_OF_RESOURCES, &[])),
        }
    }

    /// Rows per output batch.
    fn at_once(&self) -> usize {
        let shown = self.plan.shown.iter().enumerate().filter(|(_, shown)| **shown);
        let keys: usize = shown.map(|(n, _)| self.keys.column_memory(n)).sum();
        let results: usize = self.results.iter().map(Column::memory).sum();
        let (groups, all) = (self.keys.len().max(1), self.results.first().map_or(1, Column::len));
        at_once(keys / groups + results / all.max(1), 1, BATCH_ROWS)
    }

    fn take(&mut self) -> Place {
        let (last, level) = self.next;
        self.next = match level > self.ends[last] as usize {
            true => (last, level - 1),
            false => (last + 1, self.types.len()),
        };
        let group = self.given[level];
        self.given[level] += 1;
        Place { level, group }
    }

    /// Key columns of groups, with NULL for keys that a level does not group by.
    fn key_columns(&self, places: &[Place]) -> SqlResult<Vec<Arc<Column>>> {
        let firsts: Vec<u32> =
            places.iter().map(|p| self.levels[p.level].firsts[p.group]).collect();
        let mut unread: Vec<(&ColumnType, Arc<Column>)> = Vec::new();
        let mut columns = Vec::with_capacity(self.types.len() + self.results.len());
        for (n, ty) in self.types.iter().enumerate() {
            if self.plan.shown[n] {
                let row = |(p, first): (&Place, &u32)| if n < p.level { *first } else { NULL_ROW };
                let rows: Vec<u32> = places.iter().zip(&firsts).map(row).collect();
                columns.push(self.keys.gather_column(n, &rows));
                self.env.check()?;
                continue;
            }
            let same = |(other, _): &&(&ColumnType, Arc<Column>)| {
                other.ty.physical() == ty.ty.physical() && scale_of(&other.ty) == scale_of(&ty.ty)
            };
            let column = match unread.iter().find(same) {
                Some((_, column)) => column.clone(),
                None => {
                    let nulls = Column::nulls(ty.ty.physical(), scale_of(&ty.ty), places.len());
                    unread.push((ty, Arc::new(nulls)));
                    unread[unread.len() - 1].1.clone()
                }
            };
            columns.push(column);
        }
        Ok(columns)
    }
}

impl Operator for Rollup<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        if self.levels.is_empty() {
            self.read()?;
        }
        let most = self.at_once();
        let mut places = Vec::new();
        while places.len() < most && self.next.0 < self.ends.len() {
            places.push(self.take());
        }
        if places.is_empty() {
            return Ok(None);
        }
        self.env.check()?;
        let mut columns = self.key_columns(&places)?;
        let row = |place: &Place| (self.begins[place.level] + place.group) as u32;
        let rows: Vec<u32> = places.iter().map(row).collect();
        columns.extend(self.results.iter().map(|c| Arc::new(c.gather(&rows))));
        Ok(Some(Batch::new(columns, places.len())))
    }
}
