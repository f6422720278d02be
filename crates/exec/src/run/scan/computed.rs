//! Virtual columns without an index, computed when a row is read. Must not fail because of a value:
//! the stored row exists whatever its expressions give.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_expr::store::{Given, StoreMode, StoreTarget, convert_for_column};
use selkie_expr::{EvalContext, Expr};
use selkie_types::{Batch, Column, Condition, Level, SqlError, SqlResult, SqlType, Value};

use crate::state::columns::{column_of, scale_of};

/// Values of column `at` of `table`: `expr` over the rows of `input`.
pub(crate) fn computed(
    eval: &EvalContext<'_>,
    table: &TableInfo,
    at: usize,
    expr: &Expr,
    input: &Batch,
) -> SqlResult<Arc<Column>> {
    let strict = eval.is_strict_arithmetic();
    let mark = eval.conditions.borrow().mark();
    eval.set_strict_arithmetic(false);
    let values = match expr.has_side_effects() {
        true => row_by_row(eval, expr, input),
        false => evaluated(eval, expr, input),
    };
    eval.set_strict_arithmetic(strict);
    if strict {
        eval.conditions.borrow_mut().pardon_since(mark);
    }
    stored(eval, table, at, &values?, &expr.ty)
}

/// Evaluates `expr`. A row with a data error raises a warning and gets the zero of the type.
fn evaluated(eval: &EvalContext<'_>, expr: &Expr, input: &Batch) -> SqlResult<Arc<Column>> {
    let attempt = eval.attempt();
    match expr.eval(eval, input) {
        Err(error) if is_of_data(&error) => {
            eval.undo(&attempt);
            row_by_row(eval, expr, input)
        }
        done => done,
    }
}

fn row_by_row(eval: &EvalContext<'_>, expr: &Expr, input: &Batch) -> SqlResult<Arc<Column>> {
    let mut out = column_of(&expr.ty, input.rows());
    for row in 0..input.rows() {
        match expr.eval(eval, &input.gather(&[row as u32])) {
            Ok(value) => out.push(&value.value(0)),
            Err(error) if is_of_data(&error) => {
                eval.push(Condition::from_error(Level::Warning, &error));
                out.push(&Value::zero_of(&expr.ty));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Arc::new(out))
}

/// Whether the error is a data exception, not an interruption or a bug.
fn is_of_data(error: &SqlError) -> bool {
    error.sqlstate().starts_with("22")
}

/// Converts values to the column's type. Compat: a value that does not fit is cut without a
/// warning.
fn stored(
    eval: &EvalContext<'_>,
    table: &TableInfo,
    at: usize,
    values: &Arc<Column>,
    from: &SqlType,
) -> SqlResult<Arc<Column>> {
    let column = &table.columns[at];
    let (schema, name) = (table.schema(), table.name());
    let (ty, given) = (&column.ty, Given::Computed);
    let target = StoreTarget { ty, schema, table: name, column: &column.name, given };
    let mark = eval.conditions.borrow().mark();
    let stored = convert_for_column(values, from, &target, StoreMode::Lenient, 1, eval);
    eval.conditions.borrow_mut().forget_since(mark);
    stored
}

/// NULLs for a column that is not computed.
pub(crate) fn nulls(ty: &SqlType, rows: usize) -> Column {
    Column::nulls(ty.physical(), scale_of(ty), rows)
}
