//! Filters and projections.

use std::sync::Arc;

use selkie_expr::{EvalContext, Expr};
use selkie_types::{Batch, Bitmap, Column, Physical, SqlResult};

use super::{BoxOperator, Operator};
use crate::run::Env;

/// The rows for which all conditions are true; `None` if that is all of them. Conditions are
/// evaluated in order, each over the rows that are left, so that no row raises a warning or an
/// error that an earlier condition excludes.
pub(crate) fn keep_rows(
    eval: &EvalContext<'_>,
    conditions: &[Expr],
    batch: &Batch,
) -> SqlResult<Option<Bitmap>> {
    let mut keep: Option<Bitmap> = None;
    for condition in conditions {
        let Some(so_far) = &mut keep else {
            let first = condition.eval_filter(eval, batch)?;
            keep = (first.count_ones() < batch.rows()).then_some(first);
            continue;
        };
        let left: Vec<u32> = so_far.iter_ones().map(|row| row as u32).collect();
        if left.is_empty() {
            break;
        }
        let truth = condition.eval_filter(eval, &subset(condition, batch, &left))?;
        for (at, &row) in left.iter().enumerate() {
            so_far.set(row as usize, truth.get(at));
        }
    }
    Ok(keep)
}

/// The rows numbered `rows`, with only the columns `e` reads; others are NULL.
fn subset(e: &Expr, batch: &Batch, rows: &[u32]) -> Batch {
    let mut used = vec![false; batch.columns().len()];
    e.for_each_column(&mut |at| used[at] = true);
    let nothing = Arc::new(Column::nulls(Physical::Int, 0, rows.len()));
    let columns = batch.columns().iter().zip(used);
    let pick = |(column, used): (&Arc<Column>, bool)| match used {
        true => Arc::new(column.gather(rows)),
        false => nothing.clone(),
    };
    Batch::new(columns.map(pick).collect(), rows.len())
}

/// The rows of `batch` that satisfy all conditions, `None` if there are none.
pub(crate) fn filter_batch(
    eval: &EvalContext<'_>,
    conditions: &[Expr],
    batch: Batch,
) -> SqlResult<Option<Batch>> {
    let batch = match keep_rows(eval, conditions, &batch)? {
        None => batch,
        Some(keep) => batch.filter(&keep),
    };
    Ok((batch.rows() > 0).then_some(batch))
}

/// Splits a batch into single rows when an expression must be evaluated in row order.
pub(crate) fn in_row_order(exprs: &[Expr]) -> bool {
    exprs.iter().any(|e| e.has_side_effects())
}

/// Rows that satisfy conditions.
pub(super) struct Filter<'r> {
    env: Env<'r>,
    input: BoxOperator<'r>,
    conditions: &'r [Expr],
    ordered: bool,
}

impl<'r> Filter<'r> {
    pub(super) fn new(env: Env<'r>, input: BoxOperator<'r>, conditions: &'r [Expr]) -> Self {
        Self { env, input, conditions, ordered: in_row_order(conditions) }
    }

    fn row_by_row(&self, batch: &Batch) -> SqlResult<Option<Batch>> {
        let mut keep = Bitmap::zeros(batch.rows());
        for row in 0..batch.rows() {
            let one = batch.slice(row, row + 1);
            keep.set(row, keep_rows(self.env.eval, self.conditions, &one)?.is_none());
        }
        let kept = batch.filter(&keep);
        Ok((kept.rows() > 0).then_some(kept))
    }
}

impl Operator for Filter<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        while let Some(batch) = self.input.next()? {
            let kept = match self.ordered {
                true => self.row_by_row(&batch)?,
                false => filter_batch(self.env.eval, self.conditions, batch)?,
            };
            if kept.is_some() {
                return Ok(kept);
            }
            self.env.check()?;
        }
        Ok(None)
    }
}

/// `exprs` over the rows of `batch`.
pub(crate) fn project(eval: &EvalContext<'_>, exprs: &[Expr], batch: &Batch) -> SqlResult<Batch> {
    let columns: SqlResult<Vec<_>> = exprs.iter().map(|e| e.eval(eval, batch)).collect();
    Ok(Batch::new(columns?, batch.rows()))
}

/// Computes columns.
pub(super) struct Project<'r> {
    env: Env<'r>,
    input: BoxOperator<'r>,
    exprs: &'r [Expr],
    ordered: bool,
}

impl<'r> Project<'r> {
    pub(super) fn new(env: Env<'r>, input: BoxOperator<'r>, exprs: &'r [Expr]) -> Self {
        Self { env, input, exprs, ordered: in_row_order(exprs) }
    }

    fn row_by_row(&self, batch: &Batch) -> SqlResult<Batch> {
        let mut out: Vec<Column> = Vec::new();
        for row in 0..batch.rows() {
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
        if self.ordered && batch.rows() > 1 {
            return self.row_by_row(&batch).map(Some);
        }
        project(self.env.eval, self.exprs, &batch).map(Some)
    }
}
