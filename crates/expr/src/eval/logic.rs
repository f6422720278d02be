//! Three-valued logic: truth of values, AND, OR, IS NULL.
//! Later operands of AND and OR run only over undecided rows, unless they are cheap and raise
//! nothing.

use selkie_types::{Batch, Bitmap, Column, ColumnData, DecimalValues, SqlResult, Value, stack};

use super::{Truth, bits, compare, in_list, subset};
use crate::context::EvalContext;
use crate::expr::{Expr, ExprKind};

/// The truth of a condition. Nodes whose result is a truth value give it without a column of
/// integers.
pub(crate) fn eval(e: &Expr, ctx: &EvalContext<'_>, batch: &Batch) -> SqlResult<Truth> {
    stack::check()?;
    Ok(match &e.kind {
        ExprKind::Compare(c) => compare::eval(c, ctx, batch)?,
        ExprKind::And(parts) => all(parts, ctx, batch)?,
        ExprKind::Or(parts) => any(parts, ctx, batch)?,
        ExprKind::Not(e) => eval(e, ctx, batch)?.negate(),
        ExprKind::IsNull(e) => {
            let column = e.eval(ctx, batch)?;
            is_null(&column)
        }
        ExprKind::InList(list) => in_list::eval(list, ctx, batch)?,
        _ => {
            let column = e.eval(ctx, batch)?;
            of_column(&column)
        }
    })
}

/// Whether a value is true; `None` for NULL, and for strings, which the binder has converted to
/// numbers.
pub(crate) fn truth_of(value: &Value) -> Option<bool> {
    Some(match value {
        Value::Null | Value::Bytes(_) => return None,
        Value::Int(v) => *v != 0,
        Value::UInt(v) => *v != 0,
        Value::Double(v) => *v != 0.0,
        Value::Decimal(v) => !v.is_zero(),
        Value::Date(v) => !v.is_zero(),
        Value::Time(v) => v.0 != 0,
        Value::DateTime(v) => v.0 != 0,
    })
}

/// The truth of numbers and temporal values: true if not zero.
pub(crate) fn of_column(column: &Column) -> Truth {
    let rows = column.len();
    if column.is_constant() {
        return Truth::all(truth_of(&column.value(0)), rows);
    }
    let nonzero: Bitmap = match column.data() {
        ColumnData::Int(v) => v.iter().map(|v| *v != 0).collect(),
        ColumnData::UInt(v) => v.iter().map(|v| *v != 0).collect(),
        ColumnData::Double(v) => v.iter().map(|v| *v != 0.0).collect(),
        ColumnData::Decimal(v) => match v.values() {
            DecimalValues::I64(v) => v.iter().map(|v| *v != 0).collect(),
            DecimalValues::I128(v) => v.iter().map(|v| *v != 0).collect(),
            DecimalValues::I256(v) => v.iter().map(|v| *v != 0).collect(),
        },
        ColumnData::Date(v) => v.iter().map(|v| !v.is_zero()).collect(),
        ColumnData::Time(v) => v.iter().map(|v| v.0 != 0).collect(),
        ColumnData::DateTime(v) => v.iter().map(|v| v.0 != 0).collect(),
        ColumnData::Bytes(_) => Bitmap::zeros(rows),
    };
    match column.validity() {
        None => Truth { yes: nonzero, known: None },
        Some(v) => Truth { yes: nonzero.and(v), known: Some(v.clone()) },
    }
}

/// The rows that are NULL, as truth values.
pub(crate) fn is_null(column: &Column) -> Truth {
    let rows = column.len();
    let yes = match column.validity() {
        None => Bitmap::zeros(rows),
        Some(v) if column.is_constant() => {
            if v.get(0) {
                Bitmap::zeros(rows)
            } else {
                Bitmap::ones(rows)
            }
        }
        Some(v) => bits::and_not(&Bitmap::ones(rows), v),
    };
    Truth { yes, known: None }
}

/// AND: later operands are evaluated over the rows that are not yet false.
pub(super) fn all(parts: &[Expr], ctx: &EvalContext<'_>, batch: &Batch) -> SqlResult<Truth> {
    lazily(parts, ctx, batch, true)
}

/// OR: later operands are evaluated over the rows that are not yet true.
pub(super) fn any(parts: &[Expr], ctx: &EvalContext<'_>, batch: &Batch) -> SqlResult<Truth> {
    lazily(parts, ctx, batch, false)
}

/// Combines operands until every row has the deciding value: false for AND, true for OR.
///
/// Operands that are cheap and raise nothing are evaluated for all rows, because picking rows costs
/// more than evaluating them.
fn lazily(
    parts: &[Expr],
    ctx: &EvalContext<'_>,
    batch: &Batch,
    conjunction: bool,
) -> SqlResult<Truth> {
    let rows = batch.rows();
    let mut result = Truth::all(Some(conjunction), rows);
    for part in parts {
        if super::filter::is_cheap(part) {
            let truth = eval(part, ctx, batch)?;
            combine(&mut result, truth, conjunction);
            continue;
        }
        let open = undecided(&result, conjunction);
        let numbers = open.positions();
        if numbers.is_empty() {
            break;
        }
        let truth = eval(part, ctx, &subset::select(part, ctx, batch, &numbers))?;
        merge(&mut result, &truth, &numbers, conjunction);
    }
    Ok(result)
}

/// Combines the truth of all rows with that of a further operand.
fn combine(result: &mut Truth, part: Truth, conjunction: bool) {
    if result.known.is_some() || part.known.is_some() {
        let numbers: Vec<u32> = (0..result.yes.len() as u32).collect();
        return merge(result, &part, &numbers, conjunction);
    }
    result.yes = match conjunction {
        true => result.yes.and(&part.yes),
        false => bits::or(&result.yes, &part.yes),
    };
}

fn undecided(result: &Truth, conjunction: bool) -> Bitmap {
    let rows = result.yes.len();
    match (conjunction, &result.known) {
        (true, None) => result.yes.clone(),
        (true, Some(known)) => bits::or(&result.yes, &bits::and_not(&Bitmap::ones(rows), known)),
        (false, _) => bits::and_not(&Bitmap::ones(rows), &result.yes),
    }
}

fn merge(result: &mut Truth, part: &Truth, numbers: &[u32], conjunction: bool) {
    let rows = result.yes.len();
    for (i, &row) in numbers.iter().enumerate() {
        let row = row as usize;
        let known = part.known.as_ref().is_none_or(|k| k.get(i));
        let yes = part.yes.get(i);
        let was_known = result.known.as_ref().is_none_or(|k| k.get(row));
        if known && yes != conjunction {
            // The deciding value replaces any other.
            result.yes.set(row, !conjunction);
            if let Some(k) = &mut result.known {
                k.set(row, true);
            }
        } else if !known && was_known && result.yes.get(row) == conjunction {
            result.yes.set(row, false);
            result.known.get_or_insert_with(|| Bitmap::ones(rows)).set(row, false);
        }
    }
}
