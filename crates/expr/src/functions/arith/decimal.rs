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
        Arithmetic::Add => |f| sum(f, narrow_sum(f, plus), Decimal::checked_add),
        Arithmetic::Subtract => |f| sum(f, narrow_sum(f, minus), Decimal::checked_sub),
        Arithmetic::Multiply => product,
        Arithmetic::Divide => quotient,
        _ => remainder,
    }
}

/// An argument of 64 bits.
#[derive(Clone, Copy)]
enum Narrow<'a> {
    /// All rows have this value.
    One(i64),
    Each(&'a [i64]),
}

impl<'a> Narrow<'a> {
    /// An argument as it is; `None` if it is wider.
    fn of(view: &DecimalView<'a>, rows: usize) -> Option<Self> {
        let DecimalValues::I64(values) = view.column().values() else { return None };
        match view.mask() {
            0 => values.first().map(|one| Self::One(*one)),
            _ => values.get(..rows).map(Self::Each),
        }
    }

    /// Whether no value is negative and all have at most 31 bits.
    fn is_short(self) -> bool {
        let all = match self {
            Self::One(one) => one,
            Self::Each(values) => values.iter().fold(0, |all, value| all | value),
        };
        (0..1 << 31).contains(&all)
    }
}

/// The results of `f` for the two arguments of each row. A loop for each shape can be vectorised.
#[inline]
fn by_row<T>(
    rows: usize,
    arguments: (Narrow<'_>, Narrow<'_>),
    mut f: impl FnMut(i64, i64) -> T,
) -> Vec<T> {
    match arguments {
        (Narrow::One(x), Narrow::One(y)) => (0..rows).map(|_| f(x, y)).collect(),
        (Narrow::One(x), Narrow::Each(y)) => y.iter().map(|y| f(x, *y)).collect(),
        (Narrow::Each(x), Narrow::One(y)) => x.iter().map(|x| f(*x, y)).collect(),
        (Narrow::Each(x), Narrow::Each(y)) => x.iter().zip(y).map(|(x, y)| f(*x, *y)).collect(),
    }
}

/// As [`by_row`] for results with a word that is negative if they overflow; `None` if any does. One
/// test for all keeps branches out of the loop.
#[inline]
fn unless_any_overflows(
    rows: usize,
    arguments: (Narrow<'_>, Narrow<'_>),
    one: impl Fn(i64, i64) -> (i64, i64),
) -> Option<Vec<i64>> {
    let mut any = 0;
    let values = by_row(rows, arguments, |x, y| {
        let (value, overflow) = one(x, y);
        any |= overflow;
        value
    });
    (any >= 0).then_some(values)
}

/// A sum, and a word that is negative if it overflows: then it has the sign of neither term.
#[inline]
fn plus(x: i64, y: i64) -> (i64, i64) {
    let sum = x.wrapping_add(y);
    (sum, (x ^ sum) & (y ^ sum))
}

/// A difference, and a word that is negative if it overflows.
#[inline]
fn minus(x: i64, y: i64) -> (i64, i64) {
    let difference = x.wrapping_sub(y);
    (difference, (x ^ y) & (x ^ difference))
}

fn finish(frame: &Frame<'_>, values: DecimalValues) -> Column {
    let data = DecimalColumn::from_values(frame.ty.decimals, values);
    Column::from_data(ColumnData::Decimal(data), both_valid(frame))
}

/// A factor to a scale that is not less than a column's.
fn factor_to(scale: u8, view: &DecimalView<'_>) -> Option<i64> {
    10i64.checked_pow(u32::from(scale.checked_sub(view.column().scale())?))
}

/// Sums or differences of 64 bits at the result's scale; `None` if anything needs more.
#[inline]
fn narrow_sum(frame: &Frame<'_>, one: impl Fn(i64, i64) -> (i64, i64)) -> Option<Vec<i64>> {
    let (a, b) = (frame.decimals(0), frame.decimals(1));
    let scaled = |view: &DecimalView<'_>| factor_to(frame.ty.decimals, view);
    let (fx, fy) = (scaled(&a)?, scaled(&b)?);
    // A constant is brought to the scale once.
    let prepared = |argument, factor: i64| match argument {
        Narrow::One(value) => Some((Narrow::One(value.checked_mul(factor)?), 1)),
        each => Some((each, factor)),
    };
    let (x, fx) = prepared(Narrow::of(&a, frame.rows)?, fx)?;
    let (y, fy) = prepared(Narrow::of(&b, frame.rows)?, fy)?;
    if fx == 1 && fy == 1 {
        return unless_any_overflows(frame.rows, (x, y), one);
    }
    unless_any_overflows(frame.rows, (x, y), |x, y| {
        let ((x, no_x), (y, no_y)) = (x.overflowing_mul(fx), y.overflowing_mul(fy));
        let (sum, no_sum) = one(x, y);
        (sum, no_sum | -i64::from(no_x | no_y))
    })
}

fn sum(
    frame: &Frame<'_>,
    values: Option<Vec<i64>>,
    slow: fn(Decimal, Decimal) -> Option<Decimal>,
) -> SqlResult<Column> {
    match values {
        Some(values) => Ok(finish(frame, DecimalValues::I64(values))),
        None => each(frame, slow),
    }
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
    if let (Some(x), Some(y), true) =
        (Narrow::of(&a, frame.rows), Narrow::of(&b, frame.rows), exact)
    {
        let arguments = (x, y);
        let values = match x.is_short() && y.is_short() {
            // A product of numbers of 32 bits takes one instruction for several rows.
            true => Some(by_row(frame.rows, arguments, |x, y| {
                (u64::from(x as u32) * u64::from(y as u32)) as i64
            })),
            false => unless_any_overflows(frame.rows, arguments, |x, y| {
                let (product, overflows) = x.overflowing_mul(y);
                (product, -i64::from(overflows))
            }),
        };
        if let Some(values) = values {
            return Ok(finish(frame, DecimalValues::I64(values)));
        }
        let wide = by_row(frame.rows, arguments, |x, y| i128::from(x) * i128::from(y));
        return Ok(finish(frame, DecimalValues::I128(wide)));
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

#[cfg(test)]
mod tests {
    use super::{Narrow, minus, plus};

    #[test]
    fn overflows_of_sums_and_differences_are_seen() {
        let ends = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX];
        for (x, y) in ends.iter().flat_map(|x| ends.map(|y| (*x, y))) {
            let ((sum, no_sum), (difference, no_difference)) = (plus(x, y), minus(x, y));
            assert_eq!((sum, no_sum < 0), x.overflowing_add(y));
            assert_eq!((difference, no_difference < 0), x.overflowing_sub(y));
        }
    }

    /// The product of two short values is computed from 32 bits of each, and must fit 63.
    #[test]
    fn values_of_31_bits_without_sign_are_short() {
        const MOST: i64 = (1 << 31) - 1;
        assert!(Narrow::One(MOST).is_short() && Narrow::Each(&[0, MOST, 5]).is_short());
        for value in [MOST + 1, 1 << 32, -1, i64::MIN] {
            assert!(!Narrow::One(value).is_short() && !Narrow::Each(&[7, value, 0]).is_short());
        }
    }
}
