//! GROUP BY and aggregates. ROLLUP is in `rollup`. Hashes input rows into groups, and gives them in
//! the order of each group's first row: at the end of the input or, if it is sorted by the keys, as
//! soon as many groups are complete.

use std::collections::VecDeque;
use std::sync::Arc;

use selkie_plan::physical::{Aggregate as Plan, AggregateStrategy, ColumnType, PlanNode};
use selkie_types::{BATCH_ROWS, Batch, Column, SqlError, SqlResult};

use super::filling::{Filling, Rest};
use super::folding::{Folded, Folding};
use super::group::Inputs;
use super::rollup::Rollup;
use super::runs::Runs;
use super::{BoxOperator, Operator, Rows, limit, open as open_node, sliced};
use crate::run::Env;
use crate::run::rows::at_once;
use crate::run::scan::Fold;

pub(super) fn open<'r>(
    env: Env<'r>,
    plan: &'r Plan,
    node: &'r PlanNode,
) -> SqlResult<BoxOperator<'r>> {
    limit::check_aggregates(env, &plan.aggregates)?;
    let types = &node.columns[..plan.groups.len()];
    if plan.rollup {
        return Ok(Box::new(Rollup::new(env, plan, types)));
    }
    let inputs = Inputs::new(&plan.groups, &plan.aggregates, plan.input.columns.len());
    let input = sliced::for_values(open_node(env, &plan.input)?, inputs.exprs());
    Ok(Box::new(Aggregation {
        env,
        plan,
        types,
        folding: input.takes_folds().then(|| Folding::of(plan, node, types)).flatten(),
        inputs,
        input,
        waiting: None,
        runs: Runs::default(),
        ended: false,
        complete: VecDeque::new(),
        given: 0,
        rest: None,
    }))
}

/// Groups of a sorted input from which on those that are complete are given.
const COMPLETE: usize = BATCH_ROWS;

/// Rows whose keys are known.
struct Keyed {
    batch: Batch,
    keys: Vec<Arc<Column>>,
}

/// The operator: it computes groups until the input ends or, if its rows are sorted by the keys,
/// until there are many complete ones, then gives them in batches.
struct Aggregation<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    types: &'r [ColumnType],
    /// Groups that lanes make of the input, if they may.
    folding: Option<Arc<Folding>>,
    inputs: Inputs<'r>,
    input: BoxOperator<'r>,
    /// The first rows of the next groups.
    waiting: Option<Keyed>,
    /// Groups that lanes have made of sorted rows.
    runs: Runs,
    ended: bool,
    /// Results to be given, of the first of which `given` rows were.
    complete: VecDeque<Batch>,
    given: usize,
    /// Groups that did not fit into memory.
    rest: Option<Rest<'r>>,
}

impl<'r> Aggregation<'r> {
    fn next_rows(&mut self) -> SqlResult<Option<Keyed>> {
        if let Some(rows) = self.waiting.take() {
            return Ok(Some(rows));
        }
        let Some(batch) = self.input.next()? else { return Ok(None) };
        let keys = self.inputs.keys(self.env.eval, &batch)?;
        Ok(Some(Keyed { batch, keys }))
    }

    /// Computes the next groups.
    fn compute(&mut self) -> SqlResult<()> {
        let is_sorted = self.plan.strategy == AggregateStrategy::Sorted;
        let folding = self.folding.clone();
        if let Some(folding) = folding.as_ref().filter(|_| is_sorted) {
            return self.follow(folding);
        }
        let mut filling = Filling::new(self.env, self.plan, self.types);
        if let Some(folding) = folding {
            filling = filling.with_folding(folding.clone());
            self.merge(&folding, &mut filling)?;
            return self.end(filling);
        }
        while let Some(rows) = self.next_rows()? {
            // A new key at the start of a batch ends all groups before it. If some of them are in a
            // file, the key may be one of those.
            let may_end = is_sorted && filling.len() >= COMPLETE && !filling.is_full();
            if may_end && !filling.has_first(&rows.keys) {
                self.waiting = Some(rows);
                return self.finish(filling);
            }
            self.add(&mut filling, &rows)?;
        }
        self.end(filling)
    }

    fn end(&mut self, filling: Filling<'r>) -> SqlResult<()> {
        self.ended = true;
        self.finish(filling)
    }

    fn finish(&mut self, filling: Filling<'r>) -> SqlResult<()> {
        let (batch, rest) = filling.finish()?;
        self.complete.push_back(batch);
        self.rest = rest;
        Ok(())
    }

    fn add(&self, filling: &mut Filling<'r>, rows: &Keyed) -> SqlResult<()> {
        let args = self.inputs.args(self.env.eval, &rows.batch)?;
        filling.add(&rows.keys, &args, rows.batch.rows())?;
        self.env.check()
    }

    /// Takes all groups, of rows and of what lanes have made of rows.
    fn merge(&mut self, folding: &Arc<Folding>, filling: &mut Filling<'r>) -> SqlResult<()> {
        let fold: Arc<dyn Fold> = folding.clone();
        while let Some(rows) = self.input.next_for(&fold)? {
            match rows {
                Rows::Given(batch) => {
                    let keys = self.inputs.keys(self.env.eval, &batch)?;
                    self.add(filling, &Keyed { batch, keys })?;
                }
                Rows::Folded { number, .. } => {
                    let Folded::Groups(more) = folding.take(number)? else {
                        return Err(SqlError::internal("a run of rows that are not sorted"));
                    };
                    filling.merge(*more)?;
                    self.env.check()?;
                }
            }
        }
        Ok(())
    }

    /// Takes what lanes have made of sorted rows until some groups are complete.
    fn follow(&mut self, folding: &Arc<Folding>) -> SqlResult<()> {
        let (eval, aggregates) = (self.env.eval, &self.plan.aggregates);
        let fold: Arc<dyn Fold> = folding.clone();
        while self.complete.is_empty() {
            self.env.check()?;
            let folded = match self.input.next_for(&fold)? {
                Some(Rows::Given(batch)) => folding.make(eval, &mut std::iter::once(&batch))?,
                Some(Rows::Folded { number, .. }) => folding.take(number)?,
                None => {
                    self.ended = true;
                    self.complete.extend(self.runs.end(eval, aggregates)?);
                    return Ok(());
                }
            };
            let Folded::Run(run) = folded else {
                return Err(SqlError::internal("a lane has made no run of sorted rows"));
            };
            if let Some(run) = run {
                self.runs.add(eval, aggregates, *run, &mut self.complete)?;
            }
        }
        Ok(())
    }

    /// The next groups that did not fit into memory.
    fn next_rest(&mut self) -> SqlResult<Option<Batch>> {
        let Some(rest) = &mut self.rest else { return Ok(None) };
        let batch = rest.next()?;
        if batch.is_none() {
            self.rest = None;
        }
        Ok(batch)
    }
}

impl Operator for Aggregation<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        let groups = self.next_groups()?;
        let is_kept = !self.plan.groups.is_empty() && self.plan.strategy == AggregateStrategy::Hash;
        Ok(if is_kept { self.env.count_kept(groups) } else { groups })
    }
}

impl Aggregation<'_> {
    fn next_groups(&mut self) -> SqlResult<Option<Batch>> {
        loop {
            if let Some(result) = self.complete.front() {
                let count = at_once(result.memory(), result.rows(), BATCH_ROWS);
                let (from, to) = (self.given, (self.given + count).min(result.rows()));
                if from < to {
                    self.given = to;
                    return Ok(Some(result.slice(from, to)));
                }
                self.complete.pop_front();
                self.given = 0;
                continue;
            }
            match self.next_rest()? {
                Some(batch) => return Ok(Some(batch)),
                None if self.ended => return Ok(None),
                None => self.compute()?,
            }
        }
    }
}
