//! Filters and projections. Expressions with side effects run row by row; others run a batch at a
//! time, again row by row if they raise conditions, because conditions are reported in row order.

use std::sync::Arc;

use selkie_expr::{EvalContext, Expr};
use selkie_plan::physical::{Operator as Op, PlanNode};
use selkie_types::{Batch, Column, SqlResult, stack};

use super::{BoxOperator, Operator};
use crate::run::Env;
use crate::run::row_filter::{RowFilter, keep_rows};

/// Whether expressions must be evaluated row by row, because one has side effects.
pub(crate) fn in_row_order(exprs: &[Expr]) -> bool {
    exprs.iter().any(|e| e.has_side_effects())
}

/// Gives rows that satisfy all conditions.
pub(super) struct Filter<'r> {
    env: Env<'r>,
    input: BoxOperator<'r>,
    conditions: &'r [Expr],
    filter: RowFilter<'r>,
    ordered: bool,
    /// Rows still to be judged, with the number of the first, if rows are judged one by one.
    rest: Option<(Batch, usize)>,
}

impl<'r> Filter<'r> {
    pub(super) fn new(env: Env<'r>, input: BoxOperator<'r>, conditions: &'r [Expr]) -> Self {
        let ordered = in_row_order(conditions);
        let filter = RowFilter::new(conditions);
        Self { env, input, conditions, filter, ordered, rest: None }
    }

    /// The next row of a batch that satisfies the conditions. Rows behind it are judged when they
    /// are asked for: a LIMIT or EXISTS above may not ask, and their effects would stay.
    fn next_row(&mut self, batch: Batch, from: usize) -> SqlResult<Option<Batch>> {
        for row in from..batch.rows() {
            let one = batch.slice(row, row + 1);
            if keep_rows(self.env.eval, self.conditions, &one)?.is_none() {
                self.rest = Some((batch, row + 1));
                return Ok(Some(one));
            }
        }
        Ok(None)
    }
}

impl Operator for Filter<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        loop {
            let kept = match self.rest.take() {
                Some((batch, from)) => self.next_row(batch, from)?,
                None => {
                    let Some(batch) = self.input.next()? else { return Ok(None) };
                    match self.ordered {
                        true => self.next_row(batch, 0)?,
                        false => self.filter.filter(self.env.eval, batch)?,
                    }
                }
            };
            if kept.is_some() {
                return Ok(kept);
            }
            self.env.check()?;
        }
    }
}

/// Values of `exprs` over the rows of `batch`.
pub(crate) fn project(eval: &EvalContext<'_>, exprs: &[Expr], batch: &Batch) -> SqlResult<Batch> {
    let columns: SqlResult<Vec<_>> = exprs.iter().map(|e| e.eval(eval, batch)).collect();
    Ok(Batch::new(columns?, batch.rows()))
}

/// Computes the output columns.
pub(super) struct Project<'r> {
    env: Env<'r>,
    input: BoxOperator<'r>,
    exprs: &'r [Expr],
    ordered: bool,
    quiet: bool,
    done: u64,
}

impl<'r> Project<'r> {
    /// The projection of `node`, which has these expressions.
    pub(super) fn new(
        env: Env<'r>,
        node: &PlanNode,
        (input, exprs): (BoxOperator<'r>, &'r [Expr]),
    ) -> Self {
        let quiet = is_copied(env, node);
        Self { env, input, exprs, ordered: in_row_order(exprs), quiet, done: 0 }
    }

    fn project(&self, batch: &Batch) -> SqlResult<Batch> {
        match self.ordered && batch.rows() > 1 {
            true => self.row_by_row(batch),
            false => self.whole(batch),
        }
    }

    /// Evaluates a column at a time; if conditions are raised, evaluates again row by row to order
    /// them.
    fn whole(&self, batch: &Batch) -> SqlResult<Batch> {
        let eval = self.env.eval;
        let attempt = eval.attempt();
        eval.set_row(self.done + 1);
        let out = project(eval, self.exprs, batch)?;
        if batch.rows() < 2 || !attempt.is_worth_ordering(eval) {
            return Ok(out);
        }
        eval.undo(&attempt);
        self.row_by_row(batch)
    }

    fn row_by_row(&self, batch: &Batch) -> SqlResult<Batch> {
        let mut out: Vec<Column> = Vec::new();
        for row in 0..batch.rows() {
            self.env.eval.set_row(self.done + row as u64 + 1);
            let one = project(self.env.eval, self.exprs, &batch.slice(row, row + 1))?;
            if row == 0 {
                out = one.columns().iter().map(|c| c.expand()).collect();
                continue;
            }
            out.iter_mut().zip(one.columns()).for_each(|(all, c)| all.append(c));
        }
        Ok(Batch::new(out.into_iter().map(Arc::new).collect(), batch.rows()))
    }
}

impl Operator for Project<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        let Some(batch) = self.input.next()? else { return Ok(None) };
        let out = match self.quiet {
            true => self.env.eval.quietly(|| self.project(&batch))?,
            false => self.project(&batch)?,
        };
        self.done += batch.rows() as u64;
        Ok(Some(out))
    }
}

/// Whether a projection makes the rows of an INSERT's query as they are stored.
///
/// Compat: where the statement lists columns, texts of columns that are no numbers raise nothing in
/// these rows, unless the rows come from a temporary table.
fn is_copied(env: Env<'_>, node: &PlanNode) -> bool {
    let Op::Insert(insert) = &env.rt.plan.root.operator else { return false };
    if !insert.is_query || insert.rules.lenient {
        return false;
    }
    let source = match &insert.source.operator {
        Op::Limit(limit) => &limit.input,
        _ => &insert.source,
    };
    let Op::Project { input, .. } = &source.operator else { return false };
    std::ptr::eq(source, node) && comes_from_tables(input)
}

fn comes_from_tables(node: &PlanNode) -> bool {
    stack::ensure();
    match &node.operator {
        Op::Filter { input, .. } => comes_from_tables(input),
        Op::Limit(limit) => comes_from_tables(&limit.input),
        Op::TopN(top) => comes_from_tables(&top.input),
        Op::Sort(sort) => comes_from_tables(&sort.input),
        Op::TableScan(_) | Op::IndexJoin(_) | Op::HashJoin(_) | Op::NestedLoopJoin(_) => true,
        _ => false,
    }
}
