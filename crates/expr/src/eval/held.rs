//! Values that an expression uses several times. While it is evaluated they are columns behind
//! those of the batch, so that each branch gets those of its rows.

use std::sync::Arc;

use selkie_types::{Batch, Column, SqlError, SqlResult};

use crate::context::EvalContext;
use crate::expr::Hold;

/// The expression, with its value behind the columns of the batch.
pub(super) fn hold(hold: &Hold, ctx: &EvalContext<'_>, batch: &Batch) -> SqlResult<Arc<Column>> {
    let value = hold.value.eval(ctx, batch)?;
    let columns = batch.columns().iter().cloned().chain([value]).collect();
    let batch = Batch::new(columns, batch.rows());
    ctx.held.borrow_mut().push(hold.number);
    let result = hold.body.eval(ctx, &batch);
    ctx.held.borrow_mut().pop();
    result
}

/// A value behind the columns of the batch.
pub(super) fn value(number: u32, ctx: &EvalContext<'_>, batch: &Batch) -> SqlResult<Arc<Column>> {
    let place = ctx.held.borrow().iter().rev().position(|held| *held == number);
    let columns = batch.columns();
    let found = place.and_then(|place| columns.len().checked_sub(place + 1));
    let column = found.and_then(|at| columns.get(at)).cloned();
    column.ok_or_else(|| SqlError::internal("a value that is not held"))
}
