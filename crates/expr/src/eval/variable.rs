//! Parameters, variables, stored functions and sequences: values from outside the batch.
//! Assignments and calls run once per row, in row order, since they have effects.

use selkie_types::{Batch, Column, SqlResult, SqlType, Value};

use super::constant;
use crate::cast;
use crate::context::EvalContext;
use crate::expr::{Expr, SequenceCall, StoredCall, VariableScope};
use crate::kernel::ColumnScale;

/// The value in a parameter slot.
pub(super) fn parameter(ctx: &EvalContext<'_>, slot: usize, ty: &SqlType, rows: usize) -> Column {
    constant(&fitted(ctx, ctx.parameter(slot), ty), ty, rows)
}

/// `@name`, converted if its read type differs from that of its value.
///
/// Compat: a text that is no number gives no warning here.
pub(super) fn user(
    ctx: &EvalContext<'_>,
    name: &str,
    ty: &SqlType,
    rows: usize,
) -> SqlResult<Column> {
    let value = match ctx.session.user_variable(name) {
        None => Value::Null,
        Some((value, from)) => {
            selkie_meter::ask(super::length_of(&value))?;
            match from.is_string() && ty.is_numeric() {
                true => cast::value(value, &from, ty, &EvalContext::detached(&ctx.types)),
                false => cast::value(value, &from, ty, ctx),
            }
        }
    };
    Ok(constant(&value, ty, rows))
}

/// `@@name`.
pub(super) fn system(
    ctx: &EvalContext<'_>,
    scope: VariableScope,
    name: &str,
    ty: &SqlType,
    rows: usize,
) -> SqlResult<Column> {
    let value = ctx.session.system_variable(scope, name)?;
    Ok(constant(&fitted(ctx, value, ty), ty, rows))
}

/// `@name := value`, for each row in order.
pub(super) fn assign(
    ctx: &EvalContext<'_>,
    name: &str,
    e: &Expr,
    batch: &Batch,
) -> SqlResult<Column> {
    let column = e.eval(ctx, batch)?;
    let rows = batch.rows();
    if rows > 0 {
        selkie_meter::ask(column.memory())?;
        ctx.session.set_user_variable(name, column.value(rows - 1), &e.ty);
    }
    Ok((*column).clone())
}

/// A stored function, for each row in order.
pub(super) fn stored(
    call: &StoredCall,
    ty: &SqlType,
    ctx: &EvalContext<'_>,
    batch: &Batch,
) -> SqlResult<Column> {
    let args: Vec<_> = call.args.iter().map(|a| a.eval(ctx, batch)).collect::<SqlResult<_>>()?;
    let mut out = Column::new(ty.physical(), ty.decimals_of_column(), batch.rows());
    for row in 0..batch.rows() {
        let values: Vec<Value> = args.iter().map(|a| a.value(row)).collect();
        let value = ctx.subqueries.stored(call, values, ctx)?;
        out.push(&fitted(ctx, value, ty));
    }
    Ok(out)
}

/// A sequence, asked once per row.
pub(super) fn sequence(
    call: &SequenceCall,
    ty: &SqlType,
    ctx: &EvalContext<'_>,
    rows: usize,
) -> SqlResult<Column> {
    let mut out = Column::new(ty.physical(), ty.decimals_of_column(), rows);
    for _ in 0..rows {
        out.push(&ctx.subqueries.sequence(call)?);
    }
    Ok(out)
}

/// A value from outside, converted to the physical kind that the expression declares.
pub(crate) fn fitted(ctx: &EvalContext<'_>, value: Value, ty: &SqlType) -> Value {
    match value.physical() {
        None => Value::Null,
        Some(physical) if physical == ty.physical() => value,
        Some(_) => {
            let from = cast::natural_type(&value);
            cast::value(value, &from, ty, ctx)
        }
    }
}
