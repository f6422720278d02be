//! Arithmetic and bit operators: kernels over integers, decimals and doubles.
//! Types of results are decided in `build/arith.rs`; overflow is error 1690.

mod decimal;
mod integer;

use selkie_types::error::catalogue::ER_DIVISION_BY_ZERO;
use selkie_types::{Column, Decimal, SqlError, SqlResult, SqlType};

pub(crate) use decimal::{decimal_kernel, int_divide_decimal, negate_decimal};
pub(crate) use integer::{integer_kernel, negate_int, negate_uint};

use crate::expr::Expr;
use crate::function::{Binding, Function, Kernel};
use crate::kernel::{Frame, map, map_rows, try_map, try_map2};
use crate::operator::Arithmetic;

pub(crate) static BIT_AND: Function = Function::new("&", 2, 2, |b| bits(b, bit_and));
pub(crate) static BIT_OR: Function = Function::new("|", 2, 2, |b| bits(b, bit_or));
pub(crate) static BIT_XOR: Function = Function::new("^", 2, 2, |b| bits(b, bit_xor));
pub(crate) static SHIFT_LEFT: Function = Function::new("<<", 2, 2, |b| shifted(b, shift_left));
pub(crate) static SHIFT_RIGHT: Function = Function::new(">>", 2, 2, |b| shifted(b, shift_right));
pub(crate) static BIT_NOT: Function = Function::new("~", 1, 1, |b| bits(b, bit_not));

fn bits(mut b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    (0..b.len()).for_each(|at| b.bits(at));
    let mut ty = SqlType::bigint_unsigned();
    ty.length = 21;
    b.strict(ty, kernel)
}

/// Compat: a count that is out of range gives no warning.
fn shifted(mut b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    b.uint(1);
    bits(b, kernel)
}

fn bit_and(frame: &Frame<'_>) -> SqlResult<Column> {
    try_map2(frame, |a: u64, b: u64| Ok(Some(a & b)))
}

fn bit_or(frame: &Frame<'_>) -> SqlResult<Column> {
    try_map2(frame, |a: u64, b: u64| Ok(Some(a | b)))
}

fn bit_xor(frame: &Frame<'_>) -> SqlResult<Column> {
    try_map2(frame, |a: u64, b: u64| Ok(Some(a ^ b)))
}

/// Compat: only the lower 32 bits of the count matter.
fn shift(count: u64) -> u32 {
    count as u32
}

fn shift_left(frame: &Frame<'_>) -> SqlResult<Column> {
    try_map2(frame, |a: u64, b: u64| Ok(Some(a.checked_shl(shift(b)).unwrap_or(0))))
}

fn shift_right(frame: &Frame<'_>) -> SqlResult<Column> {
    try_map2(frame, |a: u64, b: u64| Ok(Some(a.checked_shr(shift(b)).unwrap_or(0))))
}

fn bit_not(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map(frame, |v: u64| !v))
}

/// Result of a division by zero: NULL, with a warning or an error according to the sql mode.
#[cold]
pub(super) fn division_by_zero<T>(frame: &Frame<'_>) -> SqlResult<Option<T>> {
    let mode = frame.ctx.types.sql_mode;
    if mode.contains(selkie_types::SqlMode::ERROR_FOR_DIVISION_BY_ZERO) {
        if frame.ctx.is_strict_arithmetic() {
            return Err(SqlError::new(&ER_DIVISION_BY_ZERO, &[]));
        }
        frame.ctx.warn(&ER_DIVISION_BY_ZERO, &[]);
    }
    Ok(None)
}

/// The kernel of an operator over doubles.
pub(crate) fn double_kernel(op: Arithmetic) -> Kernel {
    match op {
        Arithmetic::Add => |f| doubles(f, |a, b| a + b),
        Arithmetic::Subtract => |f| doubles(f, |a, b| a - b),
        Arithmetic::Multiply => |f| doubles(f, |a, b| a * b),
        Arithmetic::Divide => |f| {
            try_map2(
                f,
                |a: f64, b: f64| {
                    if b == 0.0 { division_by_zero(f) } else { finite(f, a / b).map(Some) }
                },
            )
        },
        _ => |f| {
            try_map2(
                f,
                |a: f64, b: f64| {
                    if b == 0.0 { division_by_zero(f) } else { Ok(Some(a % b)) }
                },
            )
        },
    }
}

fn doubles(frame: &Frame<'_>, f: impl Fn(f64, f64) -> f64) -> SqlResult<Column> {
    let (a, b) = (frame.view::<f64>(0), frame.view::<f64>(1));
    let values: Vec<f64> = (0..frame.rows).map(|row| f(a.value(row), b.value(row))).collect();
    if values.iter().all(|v| v.is_finite()) {
        let validity = super::arith::integer::both_valid(frame);
        return Ok(Column::from_data(selkie_types::ColumnData::Double(values), validity));
    }
    map_rows(frame, |row| finite(frame, values[row]).map(Some))
}

fn finite(frame: &Frame<'_>, v: f64) -> SqlResult<f64> {
    if v.is_finite() { Ok(v) } else { Err(frame.out_of_range("DOUBLE")) }
}

pub(crate) fn negate_double(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map(frame, |v: f64| -v))
}

/// `a DIV b` over doubles.
pub(crate) fn int_divide_double(unsigned: bool) -> Kernel {
    if unsigned {
        |f| try_map2(f, |a: f64, b: f64| quotient(f, a, b).map(|q| q.map(|q| q as u64)))
    } else {
        |f| try_map2(f, |a: f64, b: f64| quotient(f, a, b).map(|q| q.map(|q| q as i64)))
    }
}

fn quotient(frame: &Frame<'_>, a: f64, b: f64) -> SqlResult<Option<i128>> {
    if b == 0.0 {
        return division_by_zero(frame);
    }
    // Compat: doubles are divided as the decimals that they show.
    let decimals = Decimal::from_f64(a).zip(Decimal::from_f64(b).filter(|b| !b.is_zero()));
    let exact = decimals.and_then(|(a, b)| a.checked_int_div(b)?.small_unscaled());
    if let Some(q) = exact {
        let fits = match frame.ty.unsigned {
            true => u64::try_from(q).is_ok(),
            false => i64::try_from(q).is_ok(),
        };
        return if fits { Ok(Some(q)) } else { Err(frame.out_of_range("BIGINT")) };
    }
    let q = (a / b).trunc();
    let limits =
        if frame.ty.unsigned { 0.0..1.8446744073709552e19 } else { -9.3e18..9.223372036854775e18 };
    if limits.contains(&q) { Ok(Some(q as i128)) } else { Err(frame.out_of_range("BIGINT")) }
}

/// Absolute values; also used by `ABS`.
pub(crate) fn abs_int(frame: &Frame<'_>) -> SqlResult<Column> {
    try_map(frame, |v: i64| v.checked_abs().map(Some).ok_or_else(|| frame.out_of_range("BIGINT")))
}
