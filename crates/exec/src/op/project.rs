//! Filters and projections. Expressions with side effects run row by row; others run a batch at a
//! time, again row by row if they raise conditions, because conditions are reported in row order.

use std::sync::Arc;

use selkie_expr::{EvalContext, Expr};
use selkie_types::{Batch, Column, SqlResult};

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
    done: u64,
}

impl<'r> Project<'r> {
    pub(super) fn new(env: Env<'r>, input: BoxOperator<'r>, exprs: &'r [Expr]) -> Self {
        Self { env, input, exprs, ordered: in_row_order(exprs), done: 0 }
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
        let out = match self.ordered && batch.rows() > 1 {
            true => self.row_by_row(&batch)?,
            false => self.whole(&batch)?,
        };
        self.done += batch.rows() as u64;
        Ok(Some(out))
    }
}
