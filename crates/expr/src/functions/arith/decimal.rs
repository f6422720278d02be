//! Decimal arithmetic at the narrowest width: 64 bits while everything fits, 128 bits for products,
//! the full width otherwise.

use selkie_types::{Column, ColumnData, Decimal, DecimalColumn, DecimalValues, SqlResult};

use super::division_by_zero;
use super::integer::both_valid;
use crate::expr::CallOption;
use crate::function::Kernel;
use crate::kernel::{DecimalOut, DecimalView, Frame, map_rows};
use crate::operator::{Arithmetic, quotient_scale};

/// The kernel of an operator over decimals.
pub(crate) fn decimal_kernel(op: Arithmetic) -> Kernel {
    match op {
        Arithmetic::Add => |f| sum(f, i64::overflowing_add, Decimal::checked_add),
        Arithmetic::Subtract => |f| sum(f, i64::overflowing_sub, Decimal::checked_sub),
        Arithmetic::Multiply => product,
        Arithmetic::Divide => quotient,
        _ => remainder,
    }
}

/// A 64-bit column: its values, its row mask, and the factor to a scale.
type Narrow<'a> = (&'a [i64], usize, i64);

fn narrow<'a>(view: &DecimalView<'a>, scale: u8) -> Option<Narrow<'a>> {
    let DecimalValues::I64(values) = view.column().values() else { return None };
    let up = scale.checked_sub(view.column().scale())?;
    let factor = 10i64.checked_pow(u32::from(up))?;
    Some((values, view.mask(), factor))
}

fn finish(frame: &Frame<'_>, values: DecimalValues) -> Column {
    let data = DecimalColumn::from_values(frame.ty.decimals, values);
    Column::from_data(ColumnData::Decimal(data), both_valid(frame))
}

/// The results of all rows; `None` if one of them overflows. One test for all keeps branches out of
/// the loop.
#[inline]
fn unless_any_overflows(rows: usize, one: impl Fn(usize) -> (i64, bool)) -> Option<Vec<i64>> {
    let mut overflows = false;
    let value = |row| {
        let (value, overflow) = one(row);
        overflows |= overflow;
        value
    };
    let values = (0..rows).map(value).collect();
    (!overflows).then_some(values)
}

fn sum(
    frame: &Frame<'_>,
    fast: impl Fn(i64, i64) -> (i64, bool),
    slow: fn(Decimal, Decimal) -> Option<Decimal>,
) -> SqlResult<Column> {
    let (a, b) = (frame.decimals(0), frame.decimals(1));
    let scale = frame.ty.decimals;
    if let (Some((x, mx, fx)), Some((y, my, fy))) = (narrow(&a, scale), narrow(&b, scale)) {
        let one = |row: usize| {
            let (x, no_x) = x[row & mx].overflowing_mul(fx);
            let (y, no_y) = y[row & my].overflowing_mul(fy);
            let (sum, no_sum) = fast(x, y);
            (sum, no_x | no_y | no_sum)
        };
        if let Some(values) = unless_any_overflows(frame.rows, one) {
            return Ok(finish(frame, DecimalValues::I64(values)));
        }
    }
    each(frame, slow)
}

/// A result at its scale; out of range if it does not fit there.
fn kept(frame: &Frame<'_>, value: Option<Decimal>) -> SqlResult<Decimal> {
    let value = value.and_then(|v| v.at_scale(frame.ty.decimals));
    value.ok_or_else(|| frame.out_of_range("DECIMAL"))
}

/// Computes row by row at full width.
fn each(frame: &Frame<'_>, f: impl Fn(Decimal, Decimal) -> Option<Decimal>) -> SqlResult<Column> {
    let (a, b) = (frame.decimals(0), frame.decimals(1));
    let mut out = DecimalOut::new(frame.ty.decimals, frame.rows);
    for row in 0..frame.rows {
        out.push(match (a.get(row), b.get(row)) {
            (Some(a), Some(b)) => Some(kept(frame, f(a, b))?),
            _ => None,
        });
    }
    Ok(out.finish())
}

fn product(frame: &Frame<'_>) -> SqlResult<Column> {
    let (a, b) = (frame.decimals(0), frame.decimals(1));
    let exact = a.column().scale() + b.column().scale() == frame.ty.decimals;
    if let (DecimalValues::I64(x), DecimalValues::I64(y), true) =
        (a.column().values(), b.column().values(), exact)
    {
        let (mx, my) = (a.mask(), b.mask());
        let one = |row: usize| x[row & mx].overflowing_mul(y[row & my]);
        if let Some(values) = unless_any_overflows(frame.rows, one) {
            return Ok(finish(frame, DecimalValues::I64(values)));
        }
        let wide = |row: usize| i128::from(x[row & mx]) * i128::from(y[row & my]);
        let values: Vec<i128> = (0..frame.rows).map(wide).collect();
        return Ok(finish(frame, DecimalValues::I128(values)));
    }
    each(frame, Decimal::checked_mul)
}

/// Quotients of 64-bit decimals, rounded to the scale of the result; cut instead if the result has
/// all digits that MariaDB computes.
///
/// Rounding at once gives the same as cutting after those digits and then rounding.
fn narrow_quotient(frame: &Frame<'_>, increment: u32) -> Option<SqlResult<Column>> {
    let (a, b) = (frame.decimals(0), frame.decimals(1));
    let (DecimalValues::I64(x), DecimalValues::I64(y)) = (a.column().values(), b.column().values())
    else {
        return None;
    };
    let shift = i32::from(frame.ty.decimals) + i32::from(b.column().scale())
        - i32::from(a.column().scale());
    let factor = 10i128.checked_pow(u32::try_from(shift).ok().filter(|s| *s <= 19)?)?;
    let digits = quotient_scale(a.column().scale(), b.column().scale(), increment);
    let divide = if frame.ty.decimals >= digits { cut_quotient } else { rounded_quotient };
    let mut out = DecimalOut::new(frame.ty.decimals, frame.rows);
    for row in 0..frame.rows {
        if frame.any_null(row) {
            out.push(None);
            continue;
        }
        let divisor = y[row & b.mask()];
        if divisor == 0 {
            match division_by_zero(frame) {
                Ok(null) => out.push(null),
                Err(e) => return Some(Err(e)),
            }
            continue;
        }
        out.push_i128(divide(i128::from(x[row & a.mask()]) * factor, divisor.into()));
    }
    Some(Ok(out.finish()))
}

/// The quotient, cut towards zero.
#[inline]
fn cut_quotient(dividend: i128, divisor: i128) -> i128 {
    dividend / divisor
}

/// The quotient, rounded half away from zero.
#[inline]
fn rounded_quotient(dividend: i128, divisor: i128) -> i128 {
    if let (Ok(n), Ok(d)) = (i64::try_from(dividend), i64::try_from(divisor))
        && d != -1
    {
        let (q, r) = (n / d, n % d);
        let up = r.unsigned_abs() >= d.unsigned_abs().div_ceil(2);
        return i128::from(q) + if up { if (n < 0) == (d < 0) { 1 } else { -1 } } else { 0 };
    }
    let (q, r) = (dividend / divisor, dividend % divisor);
    let up = r.unsigned_abs() >= divisor.unsigned_abs().div_ceil(2);
    q + if up { if (dividend < 0) == (divisor < 0) { 1 } else { -1 } } else { 0 }
}

fn quotient(frame: &Frame<'_>) -> SqlResult<Column> {
    let increment = match frame.call.option {
        CallOption::Number(n) => n as u32,
        _ => 4,
    };
    if let Some(column) = narrow_quotient(frame, increment) {
        return column;
    }
    divided(frame, |a, b| a.checked_div(b, increment))
}

fn remainder(frame: &Frame<'_>) -> SqlResult<Column> {
    divided(frame, Decimal::checked_rem)
}

fn divided(
    frame: &Frame<'_>,
    f: impl Fn(Decimal, Decimal) -> Option<Decimal>,
) -> SqlResult<Column> {
    let (a, b) = (frame.decimals(0), frame.decimals(1));
    let mut out = DecimalOut::new(frame.ty.decimals, frame.rows);
    for row in 0..frame.rows {
        out.push(match (a.get(row), b.get(row)) {
            (Some(_), Some(b)) if b.is_zero() => division_by_zero(frame)?,
            (Some(a), Some(b)) => Some(kept(frame, f(a, b))?),
            _ => None,
        });
    }
    Ok(out.finish())
}

/// `a DIV b` over decimals.
pub(crate) fn int_divide_decimal(unsigned: bool) -> Kernel {
    fn cut(frame: &Frame<'_>, row: usize) -> SqlResult<Option<i128>> {
        let (a, b) = (frame.decimals(0).value(row), frame.decimals(1).value(row));
        if b.is_zero() {
            return division_by_zero(frame);
        }
        let cut = a.checked_int_div(b).and_then(Decimal::small_unscaled);
        cut.map(Some).ok_or_else(|| frame.out_of_range("BIGINT"))
    }
    if unsigned {
        |f| {
            map_rows(f, |row| match cut(f, row)? {
                None => Ok(None),
                Some(q) => u64::try_from(q).map(Some).map_err(|_| f.out_of_range("BIGINT")),
            })
        }
    } else {
        |f| {
            map_rows(f, |row| match cut(f, row)? {
                None => Ok(None),
                Some(q) => i64::try_from(q).map(Some).map_err(|_| f.out_of_range("BIGINT")),
            })
        }
    }
}

pub(crate) fn negate_decimal(frame: &Frame<'_>) -> SqlResult<Column> {
    let view = frame.decimals(0);
    let mut out = DecimalOut::new(frame.ty.decimals, frame.rows);
    (0..frame.rows).for_each(|row| out.push(view.get(row).map(|d| -d)));
    Ok(out.finish())
}
