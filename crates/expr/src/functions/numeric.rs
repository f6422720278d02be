//! Numeric functions over doubles, and RAND.
//! Arguments outside a function's domain give NULL, results outside the doubles error 1690.

use std::f64::consts::PI;

use selkie_types::error::catalogue::ER_DIVISION_BY_ZERO;
use selkie_types::{Column, NOT_FIXED_DECIMALS, SqlResult, SqlType, TypeKind};

use super::logic::take;
use crate::build::{self, Numeric, to_number};
use crate::cast;
use crate::expr::Expr;
use crate::function::{Binding, Function, Kernel, Nature};
use crate::kernel::{DecimalOut, Frame, NativeOut, map, try_map, try_map2};
use crate::operator::Arithmetic;
use crate::random::Random;
use crate::result_type::{double_type, integer_type};

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("ABS", 1, 1, bind_abs),
    Function::new("SIGN", 1, 1, bind_sign),
    Function::new("MOD", 2, 2, |b| {
        let types = b.types;
        let [x, y] = take(b.args);
        build::arithmetic(Arithmetic::Modulo, x, y, types)
    }),
    Function::new("PI", 0, 0, |b| {
        b.never_null(SqlType::new(TypeKind::Double, 8, 6), |f| {
            let mut out = NativeOut::new(f.rows);
            (0..f.rows).for_each(|_| out.push(Some(PI)));
            Ok(out.finish())
        })
    }),
    Function::new("SQRT", 1, 1, |b| real(b, |f| domain(f, |v| v >= 0.0, f64::sqrt))),
    Function::new("EXP", 1, 1, |b| real(b, |f| finite(f, f64::exp))),
    Function::new("LN", 1, 1, |b| real(b, |f| logarithm(f, f64::ln))),
    Function::new("LOG", 1, 2, bind_log),
    Function::new("LOG2", 1, 1, |b| real(b, |f| logarithm(f, |v| v.ln() / std::f64::consts::LN_2))),
    Function::new("LOG10", 1, 1, |b| real(b, |f| logarithm(f, f64::log10))),
    Function::new("POW", 2, 2, pow),
    Function::new("POWER", 2, 2, pow),
    Function::new("SIN", 1, 1, |b| real(b, |f| Ok(map(f, f64::sin)))),
    Function::new("COS", 1, 1, |b| real(b, |f| Ok(map(f, f64::cos)))),
    Function::new("TAN", 1, 1, |b| real(b, |f| finite(f, f64::tan))),
    Function::new("COT", 1, 1, |b| real(b, |f| finite(f, |v| 1.0 / v.tan()))),
    Function::new("ASIN", 1, 1, |b| real(b, |f| domain(f, |v| v.abs() <= 1.0, f64::asin))),
    Function::new("ACOS", 1, 1, |b| real(b, |f| domain(f, |v| v.abs() <= 1.0, f64::acos))),
    Function::new("ATAN", 1, 2, atan),
    Function::new("ATAN2", 1, 2, atan),
    Function::new("DEGREES", 1, 1, |b| angle(b, |f| finite(f, |v| v * (180.0 / PI)))),
    Function::new("RADIANS", 1, 1, |b| angle(b, |f| finite(f, |v| v * (PI / 180.0)))),
    Function::new("RAND", 0, 1, rand).nature(Nature::Volatile),
];

/// A function of one double.
fn real(mut b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    b.double(0);
    b.maybe(double_type(NOT_FIXED_DECIMALS), kernel)
}

/// A function of one double that is NULL only for NULL.
fn angle(mut b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    b.double(0);
    b.strict(double_type(NOT_FIXED_DECIMALS), kernel)
}

/// Applies `f`; its result must be finite.
fn finite(frame: &Frame<'_>, f: impl Fn(f64) -> f64) -> SqlResult<Column> {
    try_map(frame, |v: f64| {
        let result = f(v);
        if result.is_finite() { Ok(Some(result)) } else { Err(frame.out_of_range("DOUBLE")) }
    })
}

/// Applies `f` in its domain; NULL outside it.
fn domain(
    frame: &Frame<'_>,
    defined: impl Fn(f64) -> bool,
    f: impl Fn(f64) -> f64,
) -> SqlResult<Column> {
    try_map(frame, |v: f64| Ok(defined(v).then(|| f(v))))
}

/// Whether a logarithm exists; if not, it is NULL and reported as a division by zero.
fn positive(frame: &Frame<'_>, v: f64) -> bool {
    let mode = selkie_types::SqlMode::ERROR_FOR_DIVISION_BY_ZERO;
    if v <= 0.0 && frame.ctx.types.sql_mode.contains(mode) {
        frame.ctx.warn(&ER_DIVISION_BY_ZERO, &[]);
    }
    v > 0.0
}

fn logarithm(frame: &Frame<'_>, f: impl Fn(f64) -> f64) -> SqlResult<Column> {
    try_map(frame, |v: f64| Ok(positive(frame, v).then(|| f(v))))
}

fn bind_log(mut b: Binding<'_>) -> SqlResult<Expr> {
    if b.len() == 1 {
        return real(b, |f| logarithm(f, f64::ln));
    }
    b.double(0);
    b.double(1);
    b.maybe(double_type(NOT_FIXED_DECIMALS), |f| {
        try_map2(f, |base: f64, v: f64| {
            let defined = positive(f, base) && positive(f, v);
            if defined && base == 1.0 {
                return super::arith::division_by_zero(f);
            }
            Ok(defined.then(|| v.ln() / base.ln()))
        })
    })
}

fn pow(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.double(0);
    b.double(1);
    b.maybe(double_type(NOT_FIXED_DECIMALS), |f| {
        try_map2(f, |x: f64, y: f64| {
            let result = x.powf(y);
            if result.is_finite() { Ok(Some(result)) } else { Err(f.out_of_range("DOUBLE")) }
        })
    })
}

fn atan(mut b: Binding<'_>) -> SqlResult<Expr> {
    if b.len() == 1 {
        return real(b, |f| Ok(map(f, f64::atan)));
    }
    b.double(0);
    b.double(1);
    b.maybe(double_type(NOT_FIXED_DECIMALS), |f| try_map2(f, |y: f64, x: f64| Ok(Some(y.atan2(x)))))
}

fn bind_abs(mut b: Binding<'_>) -> SqlResult<Expr> {
    cast::to_widest_variable(&mut b.args[0]);
    let kind = to_number(&mut b.args[0]);
    let arg = b.args[0].ty.clone();
    match kind {
        Numeric::Int if arg.physical() == selkie_types::Physical::UInt => {
            let ty = integer_type(arg.length, true);
            b.strict(ty, |f| Ok(map(f, |v: u64| v)))
        }
        Numeric::Int => {
            // Compat: it is as long as the argument, with room for a sign.
            let kind = if arg.length >= 10 { TypeKind::BigInt } else { TypeKind::Int };
            let ty = SqlType::new(kind, arg.length.min(21), 0);
            b.strict(ty, super::arith::abs_int)
        }
        Numeric::Decimal => {
            cast::unround(&mut b.args[0]);
            b.strict(arg, |f| {
                let view = f.decimals(0);
                let mut out = DecimalOut::new(f.ty.decimals, f.rows);
                (0..f.rows).for_each(|row| out.push(view.get(row).map(|d| d.abs())));
                Ok(out.finish())
            })
        }
        Numeric::Double => {
            let ty = double_type(arg.decimals);
            b.strict(ty, |f| Ok(map(f, f64::abs)))
        }
    }
}

fn bind_sign(mut b: Binding<'_>) -> SqlResult<Expr> {
    let ty = SqlType::new(TypeKind::Int, 2, 0);
    cast::unround(&mut b.args[0]);
    match to_number(&mut b.args[0]) {
        Numeric::Int if b.args[0].ty.physical() == selkie_types::Physical::UInt => {
            b.strict(ty, |f| Ok(map(f, |v: u64| i64::from(v > 0))))
        }
        Numeric::Int => b.strict(ty, |f| Ok(map(f, i64::signum))),
        Numeric::Decimal => b.strict(ty, |f| {
            let view = f.decimals(0);
            let mut out = NativeOut::new(f.rows);
            (0..f.rows).for_each(|row| out.push(view.get(row).map(|d| i64::from(d.signum()))));
            Ok(out.finish())
        }),
        Numeric::Double => {
            b.strict(ty, |f| Ok(map(f, |v: f64| i64::from(v > 0.0) - i64::from(v < 0.0))))
        }
    }
}

/// Compat: a constant seed starts one sequence for the statement; any other seed starts one per
/// row.
fn rand(mut b: Binding<'_>) -> SqlResult<Expr> {
    let ty = double_type(NOT_FIXED_DECIMALS);
    if b.len() == 0 {
        return b.never_null(ty, |f| {
            let mut out = NativeOut::new(f.rows);
            (0..f.rows).for_each(|_| out.push(Some(f.ctx.with_random(Random::next))));
            Ok(out.finish())
        });
    }
    let constant = b.args[0].is_constant();
    b.int(0);
    if constant {
        return b.never_null(ty, |f| {
            let seed = f.view::<i64>(0).get(0).unwrap_or(0);
            let key = std::ptr::from_ref(f.call) as usize;
            let mut out = NativeOut::new(f.rows);
            for _ in 0..f.rows {
                let init = || Random::from_seed(seed);
                out.push(Some(f.ctx.with_seeded(key, init, Random::next)));
            }
            Ok(out.finish())
        });
    }
    b.never_null(ty, |f| {
        let seeds = f.view::<i64>(0);
        let mut out = NativeOut::new(f.rows);
        (0..f.rows).for_each(|row| {
            out.push(Some(Random::from_seed(seeds.get(row).unwrap_or(0)).next()));
        });
        Ok(out.finish())
    })
}
