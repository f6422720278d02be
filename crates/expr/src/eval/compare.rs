//! Comparison kernels: two columns in one representation, one truth value per row.
//! The binder has converted both sides: no conversion and no warning may happen here.

use std::cmp::Ordering;

use selkie_types::error::catalogue::ER_TRUNCATED_WRONG_VALUE;
use selkie_types::{
    Batch, Bitmap, Column, ColumnData, Date, DateTime, DecimalColumn, DecimalValues, SqlError,
    SqlMode, SqlResult, SqlType, TypeKind, Value,
};

use super::{Truth, bits, subset};
use crate::context::EvalContext;
use crate::expr::{Compare, CompareBy, CompareOp, Expr, ExprKind};
use crate::kernel::{BytesView, DecimalView, Native, View};

/// The truth of a comparison.
///
/// Compat: where the left side is NULL, the right one is not computed, so that it raises nothing.
pub(super) fn eval(c: &Compare, ctx: &EvalContext<'_>, batch: &Batch) -> SqlResult<Truth> {
    let left = c.left.eval(ctx, batch)?;
    let rows = batch.rows();
    if c.op != CompareOp::NullSafeEq
        && may_raise(&c.right)
        && let Some(numbers) = rows_with_value(&left, rows)
    {
        if numbers.is_empty() {
            return Ok(Truth::all(None, rows));
        }
        let right = subset::eval(&c.right, ctx, batch, &numbers)?;
        let part = decide(c, &left.gather(&numbers), &right, numbers.len(), ctx)?;
        return Ok(spread(&part, &numbers, rows));
    }
    let right = c.right.eval(ctx, batch)?;
    decide(c, &left, &right, rows, ctx)
}

/// Whether an operand may raise something: it is no leaf, or a leaf that is converted from or to
/// other values than numbers.
pub(super) fn may_raise(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Column(_) | ExprKind::Literal(_) | ExprKind::Parameter(_) => false,
        ExprKind::Call(call) if call.function.is_implicit() && e.ty.is_numeric() => {
            call.args.iter().any(|arg| may_raise(arg) || !arg.ty.is_numeric())
        }
        _ => true,
    }
}

fn decide(
    c: &Compare,
    left: &Column,
    right: &Column,
    rows: usize,
    ctx: &EvalContext<'_>,
) -> SqlResult<Truth> {
    if ctx.refuses_zero_dates() && matches!(c.by, CompareBy::Date | CompareBy::DateTime) {
        refuse_zero_date(&c.left, left, rows, ctx)?;
        refuse_zero_date(&c.right, right, rows, ctx)?;
    }
    if rows > 1 && left.is_constant() && right.is_constant() {
        let one = columns(c.op, c.by, left, right, 1);
        let known = one.known.as_ref().is_none_or(|k| k.get(0));
        return Ok(Truth::all(known.then(|| one.yes.get(0)), rows));
    }
    Ok(columns(c.op, c.by, left, right, rows))
}

/// The rows that are not NULL, if there are others.
pub(super) fn rows_with_value(column: &Column, rows: usize) -> Option<Vec<u32>> {
    let numbers = validity(column, rows)?.positions();
    (numbers.len() < rows).then_some(numbers)
}

/// The truth of `rows` rows of which only those at `numbers` may be known.
pub(super) fn spread(part: &Truth, numbers: &[u32], rows: usize) -> Truth {
    let (mut yes, mut known) = (Bitmap::zeros(rows), Bitmap::zeros(rows));
    for (at, row) in numbers.iter().enumerate() {
        let is_known = part.known.as_ref().is_none_or(|known| known.get(at));
        known.set(*row as usize, is_known);
        yes.set(*row as usize, is_known && part.yes.get(at));
    }
    Truth { yes, known: Some(known) }
}

/// Error 1292 for a zero date under NO_ZERO_DATE.
///
/// Compat: only for a date that a subquery gives for each row; other operands may be zero.
fn refuse_zero_date(
    e: &Expr,
    column: &Column,
    rows: usize,
    ctx: &EvalContext<'_>,
) -> SqlResult<()> {
    let Some(ty) = subquery_date(e) else { return Ok(()) };
    let zero = |row: usize| match column.value(row) {
        Value::Date(v) => v == Date::default(),
        Value::DateTime(v) => v == DateTime::default(),
        _ => false,
    };
    if !ctx.types.sql_mode.contains(SqlMode::NO_ZERO_DATE) || !(0..rows).any(zero) {
        return Ok(());
    }
    let (kind, value) = match ty.kind {
        TypeKind::Date => ("date", Value::Date(Date::default())),
        _ => ("datetime", Value::DateTime(DateTime::default())),
    };
    Err(SqlError::new(&ER_TRUNCATED_WRONG_VALUE, &[&kind, &crate::text::display(&value, ty)]))
}

/// The type of a date that a subquery computes anew for each row.
fn subquery_date(e: &Expr) -> Option<&SqlType> {
    match &e.kind {
        ExprKind::Call(call) if call.function.is_implicit() => subquery_date(call.args.first()?),
        ExprKind::Subquery(subquery) => {
            let dated =
                matches!(e.ty.kind, TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp);
            (dated && !subquery.args.is_empty()).then_some(&e.ty)
        }
        _ => None,
    }
}

/// The truth of `a op b` for each row.
pub(crate) fn columns(op: CompareOp, by: CompareBy, a: &Column, b: &Column, rows: usize) -> Truth {
    let yes = match by {
        CompareBy::Int => natives::<i64>(op, a, b, rows),
        CompareBy::UInt => natives::<u64>(op, a, b, rows),
        CompareBy::MixedInt => mixed(op, a, b, rows),
        CompareBy::Double => natives::<f64>(op, a, b, rows),
        CompareBy::Decimal => decimals(op, a, b, rows),
        CompareBy::Date => natives::<selkie_types::Date>(op, a, b, rows),
        CompareBy::Time => natives::<selkie_types::Time>(op, a, b, rows),
        CompareBy::DateTime => natives::<selkie_types::DateTime>(op, a, b, rows),
        CompareBy::Bytes(collation) => strings(op, collation, a, b, rows),
    };
    with_nulls(op, yes, a, b, rows)
}

/// Makes rows with a NULL operand unknown; for `<=>` decides them.
fn with_nulls(op: CompareOp, yes: Bitmap, a: &Column, b: &Column, rows: usize) -> Truth {
    let (a, b) = (validity(a, rows), validity(b, rows));
    if a.is_none() && b.is_none() {
        return Truth { yes, known: None };
    }
    if op == CompareOp::NullSafeEq {
        let all = Bitmap::ones(rows);
        let (a, b) = (a.unwrap_or_else(|| all.clone()), b.unwrap_or(all));
        let both = yes.and(&a).and(&b);
        let neither = bits::and_not(&Bitmap::ones(rows), &bits::or(&a, &b));
        return Truth { yes: bits::or(&both, &neither), known: None };
    }
    match bits::and_optional(a, b.as_ref()) {
        None => Truth { yes, known: None },
        Some(known) => Truth { yes: yes.and(&known), known: Some(known) },
    }
}

/// The validity of logical rows.
fn validity(column: &Column, rows: usize) -> Option<Bitmap> {
    let validity = column.validity()?;
    if !column.is_constant() {
        return Some(validity.clone());
    }
    if validity.get(0) { None } else { Some(Bitmap::zeros(rows)) }
}

/// One loop per operator, so that each loop can be vectorised.
macro_rules! by_operator {
    ($op:expr, $rows:expr, $row:ident => $a:expr, $b:expr) => {
        match $op {
            CompareOp::Eq | CompareOp::NullSafeEq => Bitmap::from_fn($rows, |$row| $a == $b),
            CompareOp::Ne => Bitmap::from_fn($rows, |$row| $a != $b),
            CompareOp::Lt => Bitmap::from_fn($rows, |$row| $a < $b),
            CompareOp::Le => Bitmap::from_fn($rows, |$row| $a <= $b),
            CompareOp::Gt => Bitmap::from_fn($rows, |$row| $a > $b),
            CompareOp::Ge => Bitmap::from_fn($rows, |$row| $a >= $b),
        }
    };
}

fn natives<T: Native + PartialOrd>(op: CompareOp, a: &Column, b: &Column, rows: usize) -> Bitmap {
    let (a, b) = (View::<T>::of(a), View::<T>::of(b));
    if rows == 0 {
        return Bitmap::zeros(0);
    }
    if b.is_constant() && !a.is_constant() {
        return against(op, &a.values()[..rows], b.value(0));
    }
    if a.is_constant() && !b.is_constant() {
        return against(op.swapped(), &b.values()[..rows], a.value(0));
    }
    by_operator!(op, rows, row => a.value(row), b.value(row))
}

/// Compares values with one. A loop over a slice can be vectorised, one by row number cannot.
fn against<T: Copy + PartialOrd>(op: CompareOp, values: &[T], y: T) -> Bitmap {
    match op {
        CompareOp::Eq | CompareOp::NullSafeEq => Bitmap::of_values(values, |x| x == y),
        CompareOp::Ne => Bitmap::of_values(values, |x| x != y),
        CompareOp::Lt => Bitmap::of_values(values, |x| x < y),
        CompareOp::Le => Bitmap::of_values(values, |x| x <= y),
        CompareOp::Gt => Bitmap::of_values(values, |x| x > y),
        CompareOp::Ge => Bitmap::of_values(values, |x| x >= y),
    }
}

/// Compares signed with unsigned integers.
fn mixed(op: CompareOp, a: &Column, b: &Column, rows: usize) -> Bitmap {
    match (a.data(), b.data()) {
        (ColumnData::Int(_), ColumnData::UInt(_)) => {
            mixed_views(op, View::of(a), View::of(b), rows)
        }
        (ColumnData::UInt(_), ColumnData::Int(_)) => {
            mixed_views(op.swapped(), View::of(b), View::of(a), rows)
        }
        (ColumnData::Int(_), _) => natives::<i64>(op, a, b, rows),
        _ => natives::<u64>(op, a, b, rows),
    }
}

fn mixed_views(op: CompareOp, a: View<'_, i64>, b: View<'_, u64>, rows: usize) -> Bitmap {
    by_operator!(op, rows, row => i128::from(a.value(row)), i128::from(b.value(row)))
}

fn decimals(op: CompareOp, a: &Column, b: &Column, rows: usize) -> Bitmap {
    let (a, b) = (DecimalView::of(a), DecimalView::of(b));
    if rows == 0 {
        return Bitmap::zeros(0);
    }
    if b.mask() == 0 && a.mask() != 0 {
        if let Some(yes) = decimals_against(op, a.column(), b.value(0), rows) {
            return yes;
        }
    } else if a.mask() == 0
        && b.mask() != 0
        && let Some(yes) = decimals_against(op.swapped(), b.column(), a.value(0), rows)
    {
        return yes;
    }
    if let (DecimalValues::I64(x), DecimalValues::I64(y)) =
        (a.column().values(), b.column().values())
    {
        let (sx, sy) = (a.column().scale(), b.column().scale());
        let (ma, mb) = (a.mask(), b.mask());
        if sx == sy {
            return by_operator!(op, rows, row => x[row & ma], y[row & mb]);
        }
        if sx.abs_diff(sy) <= 18 {
            let fx = 10i128.pow(sy.saturating_sub(sx).into());
            let fy = 10i128.pow(sx.saturating_sub(sy).into());
            return by_operator!(
                op, rows,
                row => i128::from(x[row & ma]) * fx, i128::from(y[row & mb]) * fy
            );
        }
    }
    Bitmap::from_fn(rows, |row| op.holds(a.value(row).cmp(&b.value(row))))
}

/// Compares a column of 64-bit decimals with one value; `None` if that has no equal at the column's
/// scale.
fn decimals_against(
    op: CompareOp,
    column: &DecimalColumn,
    value: selkie_types::Decimal,
    rows: usize,
) -> Option<Bitmap> {
    let DecimalValues::I64(values) = column.values() else { return None };
    let value = value.normalised();
    if value.scale() > column.scale() {
        return None;
    }
    let factor = 10i128.checked_pow(u32::from(column.scale() - value.scale()))?;
    let unscaled = value.small_unscaled()?.checked_mul(factor)?;
    Some(against(op, &values[..rows], i64::try_from(unscaled).ok()?))
}

fn strings(
    op: CompareOp,
    collation: selkie_types::CollationId,
    a: &Column,
    b: &Column,
    rows: usize,
) -> Bitmap {
    let (a, b) = (BytesView::of(a), BytesView::of(b));
    if rows > 1 && matches!(op, CompareOp::Eq | CompareOp::Ne) {
        let column_first =
            if b.is_constant() { Some((a, b)) } else { a.is_constant().then_some((b, a)) };
        if let Some((column, constant)) = column_first {
            return strings_equal(op, collation, column, constant.value(0), rows);
        }
    }
    let collation = collation.info();
    let order = |row: usize| -> Ordering { collation.compare(a.value(row), b.value(row)) };
    match op {
        CompareOp::Eq | CompareOp::NullSafeEq => {
            Bitmap::from_fn(rows, |row| collation.equal(a.value(row), b.value(row)))
        }
        CompareOp::Ne => Bitmap::from_fn(rows, |row| !collation.equal(a.value(row), b.value(row))),
        _ => Bitmap::from_fn(rows, |row| op.holds(order(row))),
    }
}

/// Compares strings with one string. Under simple collations, a different first letter or digit
/// decides without weights.
fn strings_equal(
    op: CompareOp,
    collation: selkie_types::CollationId,
    column: BytesView<'_>,
    value: &[u8],
    rows: usize,
) -> Bitmap {
    let collation = collation.info();
    let simple = collation.charset.is_ascii_compatible()
        && (collation.name.ends_with("_general_ci") || collation.is_bin());
    let first = value.first().copied().filter(|b| simple && b.is_ascii_alphanumeric());
    let equal = |row: usize| {
        let text = column.value(row);
        if let (Some(wanted), Some(&b)) = (first, text.first())
            && b.is_ascii_alphanumeric()
            && !b.eq_ignore_ascii_case(&wanted)
        {
            return false;
        }
        collation.equal(text, value)
    };
    if op == CompareOp::Ne {
        Bitmap::from_fn(rows, |row| !equal(row))
    } else {
        Bitmap::from_fn(rows, equal)
    }
}
