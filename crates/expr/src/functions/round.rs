//! ROUND, TRUNCATE, CEILING, FLOOR and FORMAT.
//! The type follows from a constant number of places; otherwise it is that of the argument.

use selkie_types::Locale;
use selkie_types::number::{round_f64_to, truncate_f64_to, write_fixed};
use selkie_types::{Column, Decimal, NOT_FIXED_DECIMALS, Physical, SqlResult, SqlType, TypeKind};

use super::round_time::{self, Way};
use crate::build::{self, Numeric, to_number};
use crate::cast;
use crate::context::TypeContext;
use crate::expr::{Expr, ExprKind};
use crate::function::{Binding, Function};
use crate::kernel::{DecimalOut, Frame, map, map_rows, write_rows};
use crate::result_type::double_type;

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("ROUND", 1, 2, |b| bind(b, true)),
    Function::new("TRUNCATE", 2, 2, |b| bind(b, false)),
    Function::new("CEILING", 1, 1, |b| whole(b, true)),
    Function::new("CEIL", 1, 1, |b| whole(b, true)),
    Function::new("FLOOR", 1, 1, |b| whole(b, false)),
    Function::new("FORMAT", 2, 3, bind_format),
];

/// Whether the call rounds; otherwise it truncates.
fn rounds(frame: &Frame<'_>) -> bool {
    frame.call.function.name() == "ROUND"
}

fn bind(mut b: Binding<'_>, round: bool) -> SqlResult<Expr> {
    if b.len() == 1 {
        b.args.push(Expr::int(0));
    }
    let places = b.constant_int(1);
    let way = if round { Way::Nearest } else { Way::Cut };
    if b.args[0].ty.is_temporal() {
        let count = b.args[1].clone();
        let rounded = round_time::bind(&mut b, way, places).unwrap_or_else(|| Ok(Expr::null()))?;
        return if count.nullable { unless_null(count, rounded, b.types) } else { Ok(rounded) };
    }
    let is_null = places.is_none() && b.args[1].is_foldable();
    b.int(1);
    let counted = to_counted(&mut b.args[0]);
    if is_null && !b.args[0].ty.is_integer() {
        // Compat: NULL as the number of places makes other numbers doubles.
        cast::to_double(&mut b.args[0]);
        return b.strict(double_type(NOT_FIXED_DECIMALS), doubles);
    }
    let places = places.or(is_null.then_some(0));
    let declared = b.args[0].ty.clone();
    let kind = to_number(&mut b.args[0]);
    let arg = b.args[0].ty.clone();
    match kind {
        Numeric::Int => {
            let mut ty = plain(declared, arg.clone());
            let is_short = b.args[0].as_literal().is_some() && cast::digits_of(&b.args[0]) < 19;
            if b.args[0].as_column().is_some() {
                ty.length = ty.length.max(widest(&ty));
            }
            if round && !counted && places.is_none_or(|p| p < 0) {
                if ty.kind == TypeKind::BigInt && !is_short {
                    cast::to_decimal(&mut b.args[0]);
                    return b.strict(SqlType::decimal(ty.length, 0), decimals);
                }
                ty.length += 1;
                ty.kind = if ty.length < 10 { TypeKind::Int } else { TypeKind::BigInt };
            }
            match arg.physical() {
                Physical::UInt => b.strict(ty, |f| integers(f, |f, v: u64| fit(f, v.into()))),
                _ => b.strict(ty, |f| integers(f, |f, v: i64| fit(f, v.into()))),
            }
        }
        Numeric::Decimal => {
            cast::unround(&mut b.args[0]);
            let ty = decimal_type(&arg, places, round);
            b.strict(ty, decimals)
        }
        Numeric::Double => {
            let decimals = match places {
                Some(p) => p.clamp(0, NOT_FIXED_DECIMALS.into()) as u8,
                // The number of places is unknown only until a parameter has its value.
                None if b.args[1].is_constant()
                    || matches!(b.args[1].kind, ExprKind::Parameter(_)) =>
                {
                    NOT_FIXED_DECIMALS
                }
                None => arg.decimals,
            };
            b.strict(double_type(decimals), doubles)
        }
    }
}

/// `value`, or NULL if `count` is NULL.
fn unless_null(count: Expr, value: Expr, types: &TypeContext) -> SqlResult<Expr> {
    let null = Expr::literal(selkie_types::Value::Null, value.ty.clone());
    build::if_else(build::is_null(count)?, null, value, types)
}

/// The display width of any value of an integer type.
fn widest(ty: &SqlType) -> u32 {
    let signed = match ty.kind {
        TypeKind::TinyInt => 4,
        TypeKind::SmallInt => 6,
        TypeKind::MediumInt => 9,
        TypeKind::Int => 11,
        _ => 20,
    };
    if ty.unsigned && ty.kind != TypeKind::BigInt { signed - 1 } else { signed }
}

/// Makes bits, years and members of ENUM and SET integers. Returns whether their number of digits
/// is enough for the rounded result.
fn to_counted(e: &mut Expr) -> bool {
    let length = match e.ty.kind {
        TypeKind::Bit => (u64::MAX >> (64 - e.ty.length.clamp(1, 64))).ilog10() + 1,
        TypeKind::Year => e.ty.length,
        TypeKind::Enum | TypeKind::Set => 5,
        _ => return false,
    };
    let is_year = e.ty.kind == TypeKind::Year;
    cast::short_year(e);
    let kind = if length < 10 { TypeKind::Int } else { TypeKind::BigInt };
    let mut ty = SqlType::new(kind, length, 0);
    ty.unsigned = true;
    cast::wrap(e, ty, false, |frame| Ok(map(frame, |v: u64| v)));
    !is_year
}

/// The type of an integer that is not rounded; it has no leading zeros.
fn plain(declared: SqlType, arg: SqlType) -> SqlType {
    let ty = if declared.is_integer() { declared } else { arg };
    SqlType { zerofill: false, ..ty }
}

/// The type of a rounded decimal. Rounding can add a digit before the point.
fn decimal_type(arg: &SqlType, places: Option<i64>, round: bool) -> SqlType {
    let Some(places) = places else { return arg.clone() };
    let scale = places.clamp(0, 38) as u8;
    let whole = arg.length.saturating_sub(u32::from(arg.decimals));
    let carry = u32::from(round && scale < arg.decimals);
    SqlType::decimal((whole + carry + u32::from(scale)).clamp(1, 65), scale)
}

/// Rounds integers to the number of places; `fit` handles those that stay unchanged.
fn integers<T>(frame: &Frame<'_>, fit: impl Fn(&Frame<'_>, T) -> SqlResult<T>) -> SqlResult<Column>
where
    T: crate::kernel::Native + Into<i128> + TryFrom<i128>,
{
    let (values, places) = (frame.view::<T>(0), frame.view::<i64>(1));
    map_rows(frame, |row| {
        let (v, p) = (values.value(row), places.value(row));
        if p >= 0 {
            return fit(frame, v).map(Some);
        }
        let result = at_places(v.into(), p, rounds(frame));
        T::try_from(result).map(Some).map_err(|_| frame.out_of_range("BIGINT"))
    })
}

fn fit<T>(_: &Frame<'_>, v: i128) -> SqlResult<T>
where
    T: TryFrom<i128>,
{
    T::try_from(v).map_err(|_| selkie_types::SqlError::internal("an integer changed its value"))
}

/// An integer rounded or cut before the point.
fn at_places(v: i128, places: i64, round: bool) -> i128 {
    if places < -30 {
        return 0;
    }
    let unit = 10i128.pow(places.unsigned_abs() as u32);
    let rest = v % unit;
    let cut = v - rest;
    if round && rest.abs() * 2 >= unit { cut + unit * v.signum() } else { cut }
}

fn decimals(frame: &Frame<'_>) -> SqlResult<Column> {
    let (values, places) = (frame.decimals(0), frame.view::<i64>(1));
    let mut out = DecimalOut::new(frame.ty.decimals, frame.rows);
    for row in 0..frame.rows {
        let pair = values.get(row).zip(places.get(row));
        out.push(pair.map(|(v, p)| {
            let p = p.clamp(-80, 38) as i32;
            if rounds(frame) { v.round(p) } else { v.truncate(p) }
        }));
    }
    Ok(out.finish())
}

fn doubles(frame: &Frame<'_>) -> SqlResult<Column> {
    let (values, places) = (frame.view::<f64>(0), frame.view::<i64>(1));
    let f = if rounds(frame) { round_f64_to } else { truncate_f64_to };
    map_rows(frame, |row| {
        let places = places.value(row).clamp(-1000, 1000) as i32;
        Ok(Some(f(values.value(row), places)))
    })
}

fn whole(mut b: Binding<'_>, up: bool) -> SqlResult<Expr> {
    if let Some(done) = round_time::bind(&mut b, if up { Way::Up } else { Way::Down }, Some(0)) {
        return done;
    }
    to_counted(&mut b.args[0]);
    let declared = b.args[0].ty.clone();
    let kind = to_number(&mut b.args[0]);
    let arg = b.args[0].ty.clone();
    match kind {
        Numeric::Int if arg.physical() == Physical::UInt => {
            b.strict(plain(declared, arg), |f| Ok(map(f, |v: u64| v)))
        }
        Numeric::Int => b.strict(plain(declared, arg), |f| Ok(map(f, |v: i64| v))),
        Numeric::Double => {
            let ty = double_type(0);
            if up {
                b.strict(ty, |f| Ok(map(f, f64::ceil)))
            } else {
                b.strict(ty, |f| Ok(map(f, f64::floor)))
            }
        }
        Numeric::Decimal => {
            cast::unround(&mut b.args[0]);
            let digits = arg.length.saturating_sub(u32::from(arg.decimals)) + 1;
            if digits > 18 {
                let ty = SqlType::decimal(digits.min(65), 0);
                return b.strict(ty, whole_decimals);
            }
            let length = digits + 1;
            let kind = if length > 10 { TypeKind::BigInt } else { TypeKind::Int };
            b.strict(SqlType::new(kind, length, 0), whole_integers)
        }
    }
}

fn to_whole(frame: &Frame<'_>, d: Decimal) -> Decimal {
    if frame.call.function.name() == "FLOOR" { d.floor() } else { d.ceil() }
}

fn whole_decimals(frame: &Frame<'_>) -> SqlResult<Column> {
    let view = frame.decimals(0);
    let mut out = DecimalOut::new(0, frame.rows);
    (0..frame.rows).for_each(|row| out.push(view.get(row).map(|d| to_whole(frame, d))));
    Ok(out.finish())
}

fn whole_integers(frame: &Frame<'_>) -> SqlResult<Column> {
    let view = frame.decimals(0);
    map_rows(frame, |row| {
        let value = to_whole(frame, view.value(row)).to_i64();
        value.map(Some).ok_or_else(|| frame.out_of_range("BIGINT"))
    })
}

/// The length of a formatted number with `places` digits after the point.
fn formatted_length(ty: &SqlType, places: Option<u8>) -> u64 {
    let (whole, scale) = match ty.kind {
        TypeKind::Decimal => (ty.length - u32::from(ty.decimals), ty.decimals),
        _ if ty.physical() == Physical::Double || ty.is_string() => (309, NOT_FIXED_DECIMALS),
        _ => (crate::cast::integer_digits(ty), 0),
    };
    let carry = places.map_or(scale > 0, |places| places < scale) || whole == 0;
    let whole = u64::from(whole) + u64::from(carry);
    let places = u64::from(places.unwrap_or(38));
    whole + whole / 3 + u64::from(places > 0) + 1 + places
}

/// `FORMAT(number, digits [, locale])`.
fn bind_format(mut b: Binding<'_>) -> SqlResult<Expr> {
    let mut numeric = b.args[0].ty.clone();
    if numeric.is_integer() && b.args[0].as_literal().is_some() {
        // Compat: a literal may have as many digits as its type.
        numeric.length = if numeric.kind == TypeKind::BigInt { 20 } else { 11 };
    }
    if to_number(&mut b.args[0]) == Numeric::Int {
        b.decimal(0);
    }
    cast::unround(&mut b.args[0]);
    b.int(1);
    if b.len() == 3 {
        super::date_format::bind_locale(&mut b, 2)?;
    }
    b.connection_collation();
    let places = b.constant_int(1).map(|n| n.clamp(0, 38) as u8);
    let ty = b.string_type(formatted_length(&numeric, places));
    b.strict(ty, format)
}

fn format(frame: &Frame<'_>) -> SqlResult<Column> {
    let places = frame.view::<i64>(1);
    let charset = frame.ty.collation.charset();
    let decimal = frame.args[0].physical() == Physical::Decimal;
    let mut plain = Vec::new();
    write_rows(frame, |row, out| {
        let digits = places.value(row).clamp(0, 38) as u8;
        plain.clear();
        if decimal {
            frame.decimals(0).value(row).round(digits.into()).write_to(&mut plain);
        } else {
            // Adding zero removes the sign of a negative zero.
            let value = round_f64_to(frame.view::<f64>(0).value(row), digits.into()) + 0.0;
            write_fixed(&mut plain, value, digits.into());
        }
        let locale = match frame.args.len() {
            3 => super::date_format::locale_of(frame, 2, row),
            _ => Locale::english(),
        };
        let mut text = Vec::new();
        locale.group_digits(&String::from_utf8_lossy(&plain), &mut text);
        out.extend_from_slice(&selkie_types::Charset::Utf8mb4.convert(&text, charset).0);
        true
    })
}
