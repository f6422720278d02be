//! Integer arithmetic with overflow checks.
//! An overflow is error 1690 for the row, never a wrapped value.

use selkie_types::{Bitmap, Column, ColumnData, Physical, SqlResult};

use super::division_by_zero;
use crate::function::Kernel;
use crate::kernel::{Frame, Native, View, map_rows, try_map};
use crate::operator::Arithmetic;

/// The kernel of an operator over two kinds of integers (`Int` or `UInt`), with a result of a
/// third.
pub(crate) fn integer_kernel(
    op: Arithmetic,
    (a, b): (Physical, Physical),
    result: Physical,
) -> Kernel {
    use Physical::UInt;
    match (a, b, result) {
        (UInt, UInt, UInt) => general::<u64, u64, u64>(op),
        (UInt, UInt, _) => general::<u64, u64, i64>(op),
        (UInt, _, UInt) => general::<u64, i64, u64>(op),
        (UInt, _, _) => general::<u64, i64, i64>(op),
        (_, UInt, UInt) => general::<i64, u64, u64>(op),
        (_, UInt, _) => general::<i64, u64, i64>(op),
        (_, _, UInt) => general::<i64, i64, u64>(op),
        _ => signed_kernel(op),
    }
}

fn signed_kernel(op: Arithmetic) -> Kernel {
    match op {
        Arithmetic::Add => |f| signed(f, i64::overflowing_add),
        Arithmetic::Subtract => |f| signed(f, i64::overflowing_sub),
        Arithmetic::Multiply => |f| signed(f, i64::overflowing_mul),
        other => general::<i64, i64, i64>(other),
    }
}

/// The common validity of the logical rows of two arguments.
pub(crate) fn both_valid(frame: &Frame<'_>) -> Option<Bitmap> {
    if frame.args.iter().all(|a| a.validity().is_none()) {
        return None;
    }
    Some((0..frame.rows).map(|row| !frame.any_null(row)).collect())
}

/// One pass without branches; a second pass only if something overflowed.
fn signed(frame: &Frame<'_>, f: impl Fn(i64, i64) -> (i64, bool)) -> SqlResult<Column> {
    let (a, b) = (frame.view::<i64>(0), frame.view::<i64>(1));
    let mut overflow = false;
    let mut each = |a: i64, b: i64| {
        let (v, o) = f(a, b);
        overflow |= o;
        v
    };
    let values: Vec<i64> = match (a.is_constant(), b.is_constant()) {
        (false, true) => {
            let y = b.value(0);
            a.values()[..frame.rows].iter().map(|&x| each(x, y)).collect()
        }
        (false, false) => {
            let pairs = a.values()[..frame.rows].iter().zip(b.values());
            pairs.map(|(&x, &y)| each(x, y)).collect()
        }
        _ => (0..frame.rows).map(|row| each(a.value(row), b.value(row))).collect(),
    };
    let validity = both_valid(frame);
    let failed = |row: usize| !frame.any_null(row) && f(a.value(row), b.value(row)).1;
    if overflow && (0..frame.rows).any(failed) {
        return Err(frame.out_of_range("BIGINT"));
    }
    Ok(Column::from_data(ColumnData::Int(values), validity))
}

/// Integers of either signedness.
trait Integer: Native + Into<i128> + TryFrom<i128> {}
impl Integer for i64 {}
impl Integer for u64 {}

fn general<A: Integer, B: Integer, R: Integer>(op: Arithmetic) -> Kernel {
    match op {
        Arithmetic::Add => |f| wide::<A, B, R>(f, |a, b| a + b),
        Arithmetic::Subtract => |f| wide::<A, B, R>(f, |a, b| a - b),
        Arithmetic::Multiply => |f| wide::<A, B, R>(f, |a, b| a.saturating_mul(b)),
        Arithmetic::IntDivide => |f| divided::<A, B, R>(f, |a, b| a / b),
        _ => |f| divided::<A, B, R>(f, |a, b| a % b),
    }
}

fn wide<A: Integer, B: Integer, R: Integer>(
    frame: &Frame<'_>,
    f: impl Fn(i128, i128) -> i128,
) -> SqlResult<Column> {
    let (a, b): (View<'_, A>, View<'_, B>) = (frame.view(0), frame.view(1));
    map_rows(frame, |row| fit::<R>(frame, f(a.value(row).into(), b.value(row).into())).map(Some))
}

fn divided<A: Integer, B: Integer, R: Integer>(
    frame: &Frame<'_>,
    f: impl Fn(i128, i128) -> i128,
) -> SqlResult<Column> {
    let (a, b): (View<'_, A>, View<'_, B>) = (frame.view(0), frame.view(1));
    map_rows(frame, |row| match b.value(row).into() {
        0 => division_by_zero(frame),
        divisor => fit::<R>(frame, f(a.value(row).into(), divisor)).map(Some),
    })
}

fn fit<R: Integer>(frame: &Frame<'_>, v: i128) -> SqlResult<R> {
    R::try_from(v).map_err(|_| frame.out_of_range("BIGINT"))
}

pub(crate) fn negate_int(frame: &Frame<'_>) -> SqlResult<Column> {
    try_map(frame, |v: i64| v.checked_neg().map(Some).ok_or_else(|| frame.out_of_range("BIGINT")))
}

pub(crate) fn negate_uint(frame: &Frame<'_>) -> SqlResult<Column> {
    try_map(frame, |v: u64| {
        let negative = i64::try_from(-i128::from(v));
        negative.map(Some).map_err(|_| frame.out_of_range("BIGINT"))
    })
}
