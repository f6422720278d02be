//! INTERSECT and EXCEPT: read the right input first, then give left rows by how often they occur in
//! it. Keys for which memory is short go to files, from both inputs ([`super::overflow`]).
//!
//! Rows must come in the order of the left input, however many keys fit into memory.

use selkie_plan::physical::{ColumnType, SetOperation as Plan, SetOperator};
use selkie_types::{Batch, SqlResult};

use super::hash_table::{KeyKind, KeyTable, NOT_FOUND, hashes};
use super::key_sorter::{SortedRows, without_last};
use super::overflow::{InOrder, Overflow, Parts, number_at, numbers};
use super::{BoxOperator, Operator, open as open_node};
use crate::run::Env;
use crate::run::spill::{Reader, is_full};
use crate::state::session::bump;

/// The operator.
pub(super) struct Filtering<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    left: BoxOperator<'r>,
    filter: Option<Filter<'r>>,
    /// Number of the next left row.
    next: u64,
    /// Rows to be given that wait for others of files, before whom they may come.
    waiting: Option<InOrder<'r>>,
    rest: Option<SortedRows<'r>>,
    types: &'r [ColumnType],
}

impl<'r> Filtering<'r> {
    pub(super) fn open(env: Env<'r>, plan: &'r Plan, types: &'r [ColumnType]) -> SqlResult<Self> {
        let left = open_node(env, &plan.inputs[0])?;
        let (filter, waiting, rest) = (None, None, None);
        Ok(Self { env, plan, left, filter, next: 0, waiting, rest, types })
    }

    fn read_right(&self) -> SqlResult<Filter<'r>> {
        let mut filter = Filter::new(self.env, self.plan, self.types, 0);
        let mut right = open_node(self.env, &self.plan.inputs[1])?;
        while let Some(batch) = right.next()? {
            filter.add_right(&batch)?;
            self.env.check()?;
        }
        Ok(filter)
    }

    /// The next rows as long as all keys are in memory.
    fn stream(&mut self, filter: &mut Filter<'r>) -> SqlResult<Option<Batch>> {
        while let Some(batch) = self.left.next()? {
            self.env.check()?;
            let first = self.next;
            self.next += batch.rows() as u64;
            let number = |row: usize| first + row as u64;
            let rows = filter.add_left(&batch, &number)?;
            if rows.is_empty() {
                continue;
            }
            let given = batch.gather(&rows);
            if filter.overflow.is_none() {
                return Ok(Some(given));
            }
            let waiting = self.waiting.get_or_insert_with(|| InOrder::new(self.env));
            waiting.put(&given, rows.iter().map(|&row| number(row as usize)))?;
        }
        Ok(None)
    }
}

impl Operator for Filtering<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        let found = self.next_found()?;
        Ok(self.env.count_kept(found))
    }
}

impl Filtering<'_> {
    fn next_found(&mut self) -> SqlResult<Option<Batch>> {
        if let Some(rest) = &mut self.rest {
            return rest.next();
        }
        let mut filter = match self.filter.take() {
            Some(filter) => filter,
            None => self.read_right()?,
        };
        let given = self.stream(&mut filter)?;
        if given.is_some() || filter.overflow.is_none() {
            self.filter = Some(filter);
            return Ok(given);
        }
        let mut all = self.waiting.take().unwrap_or_else(|| InOrder::new(self.env));
        filter.finish(&mut all)?;
        self.rest.insert(all.finish()?).next()
    }
}

/// Rows of both inputs whose keys are not in memory.
struct Others {
    right: Overflow,
    left: Overflow,
}

/// The keys in memory.
struct Filter<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    types: &'r [ColumnType],
    level: u32,
    table: KeyTable,
    /// Occurrences of each key in the right input.
    counts: Vec<u64>,
    /// Keys given already, for distinct results.
    given: Vec<bool>,
    overflow: Option<Others>,
    ids: Vec<u32>,
}

impl<'r> Filter<'r> {
    /// A filter without keys, for rows that were spread `level` times.
    fn new(env: Env<'r>, plan: &'r Plan, types: &'r [ColumnType], level: u32) -> Self {
        let table = KeyTable::new(kinds(types));
        let (counts, given) = (Vec::new(), Vec::new());
        Self { env, plan, types, level, table, counts, given, overflow: None, ids: Vec::new() }
    }

    /// Numbers the keys of rows. Once memory was short, those of new keys have [`NOT_FOUND`].
    fn number(&mut self, batch: &Batch) -> SqlResult<()> {
        self.ids.clear();
        if self.overflow.is_some() {
            self.table.find(batch.columns(), batch.rows(), &mut self.ids);
            return Ok(());
        }
        self.table.assign(batch.columns(), batch.rows(), &mut self.ids, &mut Vec::new())?;
        self.counts.resize(self.table.len(), 0);
        self.given.resize(self.table.len(), false);
        let memory = self.table.memory() + self.counts.capacity() * size_of::<u64>();
        let ceiling = self.env.rt.session.frame.settings.queries.ceilings.table;
        if is_full(self.env.rt, memory, ceiling) && Overflow::is_possible(self.level) {
            if self.level == 0 {
                bump(&self.env.counters().created_tmp_disk_tables, 1);
            }
            let right = Overflow::begin(self.env, self.level)?;
            let left = Overflow::begin(self.env, self.level)?;
            self.overflow = Some(Others { right, left });
        }
        Ok(())
    }

    /// Positions of rows without a number.
    fn others(&self) -> Vec<u32> {
        let rows = self.ids.iter().zip(0..).filter(|(id, _)| **id == NOT_FOUND);
        rows.map(|(_, row)| row).collect()
    }

    fn add_right(&mut self, batch: &Batch) -> SqlResult<()> {
        self.number(batch)?;
        for &id in self.ids.iter().filter(|id| **id != NOT_FOUND) {
            self.counts[id as usize] += 1;
        }
        let others = self.others();
        let Some(overflow) = self.overflow.as_mut().filter(|_| !others.is_empty()) else {
            return Ok(());
        };
        let rows = batch.gather(&others);
        let hashes = hashes(&kinds(self.types), rows.columns(), rows.rows());
        overflow.right.put(&rows, &hashes)
    }

    /// Adds left rows and returns the positions of those to be given.
    fn add_left(&mut self, batch: &Batch, number: &dyn Fn(usize) -> u64) -> SqlResult<Vec<u32>> {
        self.number(batch)?;
        let others = self.others();
        if let Some(overflow) = self.overflow.as_mut().filter(|_| !others.is_empty()) {
            let rows = batch.gather(&others);
            let hashes = hashes(&kinds(self.types), rows.columns(), rows.rows());
            let numbers = numbers(others.iter().map(|&row| number(row as usize)));
            overflow.left.put(&rows.zip(&Batch::new(vec![numbers], others.len())), &hashes)?;
        }
        let ids = std::mem::take(&mut self.ids);
        let rows = (0..batch.rows() as u32).filter(|&row| self.takes(ids[row as usize])).collect();
        self.ids = ids;
        Ok(rows)
    }

    /// Whether a left row with this key is given; with ALL, it uses up one right row.
    fn takes(&mut self, id: u32) -> bool {
        let Some(count) = self.counts.get_mut(id as usize) else { return false };
        let present = *count > 0;
        let intersect = self.plan.operator == SetOperator::Intersect;
        if self.plan.all {
            *count = count.saturating_sub(1);
            return present == intersect;
        }
        present == intersect && !std::mem::replace(&mut self.given[id as usize], true)
    }

    /// Adds the left rows of the files that are to be given.
    fn finish(self, all: &mut InOrder<'r>) -> SqlResult<()> {
        let Some(others) = self.overflow else { return Ok(()) };
        let (right, left) = (others.right.end()?, others.left.end()?);
        let (env, plan, types) = (self.env, self.plan, self.types);
        drop((self.table, self.counts, self.given));
        let Parts { level, .. } = left;
        for (left, right) in left.parts.into_iter().zip(right.parts) {
            let mut filter = Filter::new(env, plan, types, level);
            let mut rows = Reader::new(Box::new(right));
            while let Some(batch) = rows.next()? {
                filter.add_right(&batch)?;
                env.check()?;
            }
            let mut rows = Reader::new(Box::new(left));
            while let Some(batch) = rows.next()? {
                let Some(numbers) = batch.columns().last().cloned() else { continue };
                let batch = without_last(batch);
                let number = |row: usize| number_at(&numbers, row);
                let given = filter.add_left(&batch, &number)?;
                if !given.is_empty() {
                    let numbers = given.iter().map(|&row| number(row as usize));
                    all.put(&batch.gather(&given), numbers)?;
                }
                env.check()?;
            }
            filter.finish(all)?;
        }
        Ok(())
    }
}

fn kinds(types: &[ColumnType]) -> Vec<KeyKind> {
    types.iter().map(|c| KeyKind::of(&c.ty)).collect()
}
