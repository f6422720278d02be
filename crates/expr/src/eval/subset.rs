//! Evaluation over some rows of a batch.

use std::sync::Arc;

use selkie_types::{Batch, Bitmap, Column, SqlResult};

use crate::context::EvalContext;
use crate::expr::Expr;

/// The rows of a batch that are set in a bitmap, with the columns an expression uses; the other
/// columns are placeholders.
pub(super) fn select(e: &Expr, batch: &Batch, rows: &[u32]) -> Batch {
    if rows.len() == batch.rows() {
        return batch.clone();
    }
    let used = e.columns();
    let placeholder = Arc::new(Column::nulls(selkie_types::Physical::Bytes, 0, rows.len()));
    let columns =
        batch.columns().iter().enumerate().map(|(at, column)| match used.binary_search(&at) {
            Ok(_) => Arc::new(column.gather(rows)),
            Err(_) => placeholder.clone(),
        });
    Batch::new(columns.collect(), rows.len())
}

/// Row numbers of set bits.
pub(super) fn numbers(rows: &Bitmap) -> Vec<u32> {
    rows.iter_ones().map(|row| row as u32).collect()
}

/// The values of `e` over some rows only.
pub(super) fn eval(
    e: &Expr,
    ctx: &EvalContext<'_>,
    batch: &Batch,
    rows: &[u32],
) -> SqlResult<Arc<Column>> {
    e.eval(ctx, &select(e, batch, rows))
}
