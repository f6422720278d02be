//! Evaluation over some rows of a batch.
//! Gathers only the columns the expression uses; the others must not be read.

use std::sync::Arc;

use selkie_types::{Batch, Column, SqlResult};

use crate::context::EvalContext;
use crate::expr::Expr;

/// The rows `rows` of a batch, with the columns that an expression uses; the other columns are
/// placeholders.
pub(super) fn select(e: &Expr, ctx: &EvalContext<'_>, batch: &Batch, rows: &[u32]) -> Batch {
    if rows.len() == batch.rows() {
        return batch.clone();
    }
    let used = e.columns();
    let held = batch.columns().len().saturating_sub(ctx.held.borrow().len());
    let placeholder = Arc::new(Column::nulls(selkie_types::Physical::Bytes, 0, rows.len()));
    let columns =
        batch.columns().iter().enumerate().map(|(at, column)| match used.binary_search(&at) {
            Err(_) if at < held => placeholder.clone(),
            _ => Arc::new(column.gather(rows)),
        });
    Batch::new(columns.collect(), rows.len())
}

/// The values of `e` for some rows only.
pub(super) fn eval(
    e: &Expr,
    ctx: &EvalContext<'_>,
    batch: &Batch,
    rows: &[u32],
) -> SqlResult<Arc<Column>> {
    e.eval(ctx, &select(e, ctx, batch, rows))
}
