//! Groups that are being filled. When they take too much memory, no group is added: rows of other
//! keys go to a file ([`super::overflow`]) and become groups afterwards, part by part.
//!
//! All groups come in the order of their first rows, and the rows of a group are added in theirs:
//! the result must be that of groups in memory.

use std::sync::Arc;

use selkie_plan::physical::{Aggregate as Plan, ColumnType};
use selkie_types::{BATCH_ROWS, Batch, Column, SqlError, SqlResult};

use super::folding::Folding;
use super::group::Grouping;
use super::hash_table::{KeyKind, hashes};
use super::key_sorter::SortedRows;
use super::overflow::{InOrder, Overflow, Parts, number_at, numbers};
use crate::run::Env;
use crate::run::rows::at_once;
use crate::run::spill::{Reader, Written, is_full};
use crate::state::session::bump;

/// Bytes of keys from which on the memory of the states counts: those of few groups stay in memory
/// in any case.
const LEAST_KEYS: usize = 16 << 10;

/// The groups of an aggregation, as far as they fit into memory.
pub(super) struct Filling<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    types: &'r [ColumnType],
    grouping: Grouping,
    overflow: Option<Overflow>,
    /// Number of the next row.
    next: u64,
    /// Times that the rows were spread over parts.
    level: u32,
    /// Bytes that the session held before the first row.
    before: Option<i64>,
    /// Numbers of the first row of each group, if they are needed.
    firsts: Option<Vec<u64>>,
    /// Groups that lanes make of some of the rows.
    folding: Option<Arc<Folding>>,
}

impl<'r> Filling<'r> {
    pub(super) fn new(env: Env<'r>, plan: &'r Plan, types: &'r [ColumnType]) -> Self {
        let grouping = Grouping::new(types, &plan.aggregates);
        Self {
            env,
            plan,
            types,
            grouping,
            overflow: None,
            next: 0,
            level: 0,
            before: None,
            firsts: None,
            folding: None,
        }
    }

    /// The same for groups of which lanes make some.
    pub(super) fn with_folding(self, folding: Arc<Folding>) -> Self {
        Self { folding: Some(folding), ..self }
    }

    /// Number of groups in memory.
    pub(super) fn len(&self) -> usize {
        self.grouping.len()
    }

    /// Whether no group is added any more.
    pub(super) fn is_full(&self) -> bool {
        self.overflow.is_some()
    }

    /// Whether the first row of these keys belongs to one of the groups.
    pub(super) fn has_first(&self, keys: &[Arc<Column>]) -> bool {
        self.grouping.has_first(keys)
    }

    /// Adds rows: their keys, and the arguments of each aggregate.
    pub(super) fn add(
        &mut self,
        keys: &[Arc<Column>],
        args: &[Vec<Arc<Column>>],
        rows: usize,
    ) -> SqlResult<()> {
        let first = self.next;
        self.next += rows as u64;
        self.add_numbered(keys, args, rows, &|row| first + row as u64)
    }

    fn add_numbered(
        &mut self,
        keys: &[Arc<Column>],
        args: &[Vec<Arc<Column>>],
        rows: usize,
        number: &dyn Fn(usize) -> u64,
    ) -> SqlResult<()> {
        let eval = self.env.eval;
        if let Some(overflow) = &mut self.overflow {
            let others = self.grouping.update_known(eval, keys, args, rows)?;
            if others.is_empty() {
                return Ok(());
            }
            let all = keys.iter().chain(args.iter().flatten());
            let mut columns: Vec<_> = all.map(|c| Arc::new(c.gather(&others))).collect();
            let kinds: Vec<_> = self.types.iter().map(|c| KeyKind::of(&c.ty)).collect();
            let hashes = hashes(&kinds, &columns[..keys.len()], others.len());
            columns.push(numbers(others.iter().map(|&row| number(row as usize))));
            return overflow.put(&Batch::new(columns, others.len()), &hashes);
        }
        if self.before.is_none() {
            self.before = Some(selkie_meter::held());
        }
        self.grouping.update(eval, keys, args, rows)?;
        if let Some(firsts) = &mut self.firsts {
            firsts.extend(self.grouping.new_rows().iter().map(|&row| number(row as usize)));
        }
        self.judge()
    }

    /// Adds the groups of other rows.
    pub(super) fn merge(&mut self, more: Grouping) -> SqlResult<()> {
        if self.before.is_none() {
            self.before = Some(selkie_meter::held());
        }
        if self.overflow.is_some() {
            return Err(SqlError::internal("a lane has made groups of rows that a file may have"));
        }
        self.grouping.merge(self.env.eval, more)?;
        self.judge()
    }

    /// Lets no group be added if the groups take too much memory.
    fn judge(&mut self) -> SqlResult<()> {
        let keys = self.grouping.memory();
        if keys == 0 || !Overflow::is_possible(self.level) {
            return Ok(());
        }
        let grown = selkie_meter::held() - self.before.unwrap_or(0);
        let own = match keys < LEAST_KEYS {
            true => keys,
            false => keys.max(usize::try_from(grown).unwrap_or(0)),
        };
        if is_full(self.env.rt, own, self.env.rt.session.frame.settings.queries.ceilings.table) {
            // A group that a lane has made cannot go to the file, where others of its key may be.
            if self.folding.as_ref().is_some_and(|folding| !folding.has_ended()) {
                return Ok(());
            }
            if self.level == 0 {
                bump(&self.env.counters().created_tmp_disk_tables, 1);
            }
            self.overflow = Some(Overflow::begin(self.env, self.level)?);
        }
        Ok(())
    }

    /// The groups in memory, and those of the rows in files, which come behind them.
    pub(super) fn finish(self) -> SqlResult<(Batch, Option<Rest<'r>>)> {
        let (env, plan, types) = (self.env, self.plan, self.types);
        let parts = self.overflow.map(Overflow::end).transpose()?;
        let groups = self.grouping.finish(env.eval, &plan.aggregates)?;
        Ok((groups, parts.map(|parts| Rest { env, plan, types, state: State::Waiting(parts) })))
    }
}

/// Groups of rows in files.
pub(super) struct Rest<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    types: &'r [ColumnType],
    state: State<'r>,
}

enum State<'r> {
    Waiting(Parts),
    Sorted(SortedRows<'r>),
    Ended,
}

impl<'r> Rest<'r> {
    /// The next groups; `None` after the last.
    pub(super) fn next(&mut self) -> SqlResult<Option<Batch>> {
        let mut sorted = match std::mem::replace(&mut self.state, State::Ended) {
            State::Waiting(parts) => {
                let mut all = InOrder::new(self.env);
                self.group(parts, &mut all)?;
                all.finish()?
            }
            State::Sorted(sorted) => sorted,
            State::Ended => return Ok(None),
        };
        let batch = sorted.next()?;
        if batch.is_some() {
            self.state = State::Sorted(sorted);
        }
        Ok(batch)
    }

    /// Makes groups of the rows of all parts.
    fn group(&self, parts: Parts, all: &mut InOrder<'r>) -> SqlResult<()> {
        let level = parts.level;
        for part in parts.parts {
            let mut filling = Filling::new(self.env, self.plan, self.types);
            (filling.level, filling.firsts) = (level, Some(Vec::new()));
            self.fill(part, &mut filling)?;
            let firsts = filling.firsts.take().unwrap_or_default();
            let more = filling.overflow.take().map(Overflow::end).transpose()?;
            let groups = filling.grouping.finish(self.env.eval, &self.plan.aggregates)?;
            let count = at_once(groups.memory(), groups.rows(), BATCH_ROWS);
            for (at, firsts) in firsts.chunks(count).enumerate() {
                let some = groups.slice(at * count, at * count + firsts.len());
                all.put(&some, firsts.iter().copied())?;
            }
            drop(groups);
            if let Some(more) = more {
                self.group(more, all)?;
            }
        }
        Ok(())
    }

    fn fill(&self, part: Written, filling: &mut Filling<'r>) -> SqlResult<()> {
        let mut rows = Reader::new(Box::new(part));
        while let Some(batch) = rows.next()? {
            let (keys, mut others) = batch.columns().split_at(self.types.len());
            let mut args = Vec::with_capacity(self.plan.aggregates.len());
            for aggregate in &self.plan.aggregates {
                let (own, rest) = others.split_at(aggregate.inputs().count());
                args.push(own.to_vec());
                others = rest;
            }
            let number = |row: usize| others.first().map_or(0, |column| number_at(column, row));
            filling.add_numbered(keys, &args, batch.rows(), &number)?;
            self.env.check()?;
        }
        Ok(())
    }
}
