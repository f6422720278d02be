//! Constants compared with columns. They are converted to the column's type if that loses nothing:
//! then the comparison runs in the column's representation, and an index can serve it.

use selkie_types::number::{Rest, parse_f64, parse_integer};
use selkie_types::{
    Date, DateTime, Decimal, NOT_FIXED_DECIMALS, Physical, SqlType, TypeKind, Value,
};

use crate::cast::{self, full_year, year_number, year_text};
use crate::context::TypeContext;
use crate::expr::{Expr, ExprKind};

/// Converts literals beside an integer column that are integers in another form.
///
/// Compat: MariaDB does so for columns only, never for computed values.
pub(super) fn convert_constants(args: &mut [&mut Expr], types: &TypeContext) {
    let column = |e: &&mut Expr| matches!(e.kind, ExprKind::Column(_) | ExprKind::Parameter(_));
    let Some(ty) = args.iter().find(|e| column(e) && is_exact(&e.ty)).map(|e| e.ty.clone()) else {
        return short_years(args);
    };
    let is_year_column =
        args.iter().any(|e| e.ty.kind == TypeKind::Year && e.as_column().is_some());
    for e in args.iter_mut() {
        if ty.kind == TypeKind::Year && e.is_constant() && e.ty.is_temporal() {
            become_year(e, types);
        }
        match literal_as(e, &ty) {
            Some(converted) => **e = converted,
            None if is_year_column => year_when_run(e, types),
            None => {}
        }
    }
    short_years(args);
}

/// Like [`convert_constants`], but a YEAR among them is a number: two digits beside it are no year.
pub(super) fn convert_integers(args: &mut [&mut Expr], types: &TypeContext) {
    match args.iter().any(|e| e.ty.kind == TypeKind::Year) {
        true => short_years(args),
        false => convert_constants(args, types),
    }
}

/// Compat: a YEAR(2) has two digits beside literals and beside numbers computed from rows; it has
/// four digits beside a YEAR and beside values that are computed once.
fn short_years(args: &mut [&mut Expr]) {
    let is_number = |e: &Expr| {
        e.ty.kind != TypeKind::Year
            && !e.ty.is_temporal()
            && (e.as_literal().is_some() || e.any(&mut |e| matches!(e.kind, ExprKind::Column(_))))
    };
    if args.iter().any(|e| is_number(e)) {
        args.iter_mut().for_each(|e| cast::short_year(e));
    }
}

/// Converts a constant that is known only at run time as a literal of its value would be.
fn year_when_run(e: &mut Expr, types: &TypeContext) {
    let is_variable = |e: &Expr| matches!(e.kind, ExprKind::UserVariable(..));
    let varies = e.any(&mut |e| !e.is_constant_over_constants() && !is_variable(e));
    if varies
        || e.as_literal().is_some()
        || e.ty.kind == TypeKind::Null
        || e.ty.kind == TypeKind::Year
        || e.ty.is_temporal()
    {
        return;
    }
    let (mut year, mut number) = (e.clone(), e.clone());
    match e.ty.physical() {
        Physical::Double => cast::to_double(&mut number),
        Physical::Int => {}
        _ => cast::to_decimal(&mut number),
    }
    cast::to_year(&mut year);
    if let Ok(either) = super::function_call("COALESCE", vec![year, number], types) {
        *e = either;
    }
}

/// Beside a YEAR, a constant date is its year, and a time is 0.
fn become_year(e: &mut Expr, types: &TypeContext) {
    if e.ty.kind == TypeKind::Time {
        *e = Expr::int(0);
    } else if let Ok(mut year) = super::function_call("YEAR", vec![e.clone()], types) {
        year.fold(&crate::context::EvalContext::detached(types), false);
        *e = year;
    }
}

/// Rounds an exact constant as a FLOAT column with digits rounds the values it stores.
///
/// Compat: MariaDB treats values as equal up to half a unit of the last digit; the rows found are
/// the same.
pub(super) fn constant_to_float(column: &mut Expr, constant: &mut Expr) {
    let rounds = column.ty.kind == TypeKind::Float && column.ty.decimals < NOT_FIXED_DECIMALS;
    let is_exact = is_exact(&constant.ty) || constant.ty.kind == TypeKind::Decimal;
    if column.as_column().is_some() && rounds && is_exact && constant.is_constant() {
        cast::to_float(constant);
    }
}

/// Beside a number of fixed digits, rounds the other number to these digits if it is a FLOAT value
/// or is computed.
///
/// Compat: MariaDB treats two such numbers as equal up to half a unit of the last digit; the rows
/// found are the same.
pub(super) fn round_beside(a: &mut Expr, b: &mut Expr) {
    let Some(digits) = fixed_digits(&a.ty).zip(fixed_digits(&b.ty)).map(|(a, b)| a.max(b)) else {
        return;
    };
    for e in [a, b] {
        let is_rounded = e.ty.kind == TypeKind::Double && e.as_column().is_some();
        if matches!(e.ty.kind, TypeKind::Float | TypeKind::Double) && !is_rounded {
            cast::round_double(e, digits);
        }
    }
}

/// Most digits after the point that values of a type have; `None` without a limit.
fn fixed_digits(ty: &SqlType) -> Option<u8> {
    match ty.kind {
        TypeKind::Decimal => Some(ty.decimals),
        TypeKind::Float | TypeKind::Double => {
            Some(ty.decimals).filter(|digits| *digits < NOT_FIXED_DECIMALS)
        }
        _ => is_exact(ty).then_some(0),
    }
}

/// Makes a constant date beside a column of eight bytes a number.
///
/// Compat: beside a shorter column, the column's value becomes a date instead.
pub(super) fn date_beside_bigint(column: &Expr, constant: &mut Expr) {
    let is_column = matches!(column.kind, ExprKind::Column(_) | ExprKind::Parameter(_));
    if !is_column || column.ty.kind != TypeKind::BigInt {
        return;
    }
    let number = match constant.as_literal() {
        Some(Value::Date(d)) => i64::from(d.to_number()),
        Some(Value::DateTime(v)) if v.micros() == 0 => v.to_number(),
        Some(Value::Time(v)) if v.micros() == 0 => v.to_number(),
        Some(_) => return,
        None => {
            let is_date = constant.ty.is_temporal() && constant.ty.decimals == 0;
            if is_date && constant.ty.kind != TypeKind::Year && constant.is_constant() {
                cast::to_int(constant);
            }
            return;
        }
    };
    *constant = Expr::int(number);
}

fn is_exact(ty: &SqlType) -> bool {
    ty.is_integer() || matches!(ty.kind, TypeKind::Year | TypeKind::Bit)
}

/// A literal as an integer, if it is an integer in another form.
fn literal_as(e: &Expr, ty: &SqlType) -> Option<Expr> {
    if ty.kind == TypeKind::Year {
        return year_literal(e, ty);
    }
    let value = match e.as_literal()? {
        Value::Bytes(b) if e.is_hex() => i128::from(cast::integer_of_hex(b)),
        Value::Bytes(b) => integer_text(b, ty)?,
        Value::Decimal(d) => {
            let d = d.normalised();
            if d.scale() > 0 {
                return None;
            }
            d.small_unscaled()?
        }
        Value::Double(v) => whole(*v, ty)?,
        _ => return None,
    };
    integer_literal(value)
}

/// A literal as the year that a column would store, with the digits of `ty`.
fn year_literal(e: &Expr, ty: &SqlType) -> Option<Expr> {
    let is_short = ty.length == 2;
    let year = match e.as_literal()? {
        Value::Bytes(b) if e.is_hex() => full_year(cast::integer_of_hex(b).into(), is_short)?,
        Value::Bytes(b) => year_text(b)?,
        value => year_number(value, is_short)?,
    };
    Some(Expr::int(if is_short { year % 100 } else { year }))
}

/// The whole number `v`, if a column of 8 bytes with the signedness of `ty` can hold it.
fn whole(v: f64, ty: &SqlType) -> Option<i128> {
    let end = if ty.unsigned { u64::MAX as f64 } else { i64::MAX as f64 };
    (v.fract() == 0.0 && v >= i64::MIN as f64 && v < end).then_some(v as i128)
}

fn integer_text(bytes: &[u8], ty: &SqlType) -> Option<i128> {
    let parsed = parse_integer(bytes);
    if parsed.rest == Rest::None && !parsed.overflow {
        return Some(parsed.value);
    }
    let real = parse_f64(bytes);
    if real.rest == Rest::None { whole(real.value, ty) } else { None }
}

fn integer_literal(value: i128) -> Option<Expr> {
    if let Ok(v) = i64::try_from(value) {
        return Some(Expr::int(v));
    }
    u64::try_from(value).ok().map(Expr::uint)
}

/// Makes a literal that is not negative unsigned.
pub(super) fn literal_to_unsigned(e: &mut Expr) {
    if let ExprKind::Literal(value @ Value::Int(0..)) = &mut e.kind {
        if let Value::Int(v) = *value {
            *value = Value::UInt(v as u64);
        }
        e.ty.unsigned = true;
    } else if matches!(e.kind, ExprKind::Literal(Value::Null)) && e.ty.physical() == Physical::Int {
        e.ty.unsigned = true;
    }
}

/// The date of a constant that converts to midnight of a day.
pub(super) fn midnight_literal(e: &Expr, types: &TypeContext) -> Option<Expr> {
    let mut converted = e.clone();
    cast::to_datetime(&mut converted);
    if !converted.is_foldable() {
        return None;
    }
    let ctx = crate::context::EvalContext::detached(types);
    let value = converted.eval_value(&ctx).ok()?;
    if ctx.conditions.borrow().count() > 0 {
        return None;
    }
    match value {
        Value::DateTime(v) if v.micros_of_day() == 0 => Some(Expr::date(v.date())),
        Value::Null => Some(Expr::literal(Value::Null, SqlType::date())),
        _ => None,
    }
}

/// The value that a key of type `ty` must have for `column = value` (or an inequality) to hold.
/// `None` if a constant of another type has no such value with the same answer.
///
/// For the planner: with `None`, the comparison cannot use the key.
pub fn for_comparison_with_key(value: &Value, from: &SqlType, ty: &SqlType) -> Option<Value> {
    if value.is_null() {
        return Some(Value::Null);
    }
    let physical = value.physical()?;
    if physical == Physical::Bytes && ty.physical() == Physical::Bytes {
        return (from.collation.charset() == ty.collation.charset()).then(|| value.clone());
    }
    match (ty.physical(), value) {
        (p, v) if p == physical && p != Physical::Decimal => Some(v.clone()),
        (Physical::Int, Value::UInt(v)) => i64::try_from(*v).ok().map(Value::Int),
        (Physical::UInt, Value::Int(v)) => u64::try_from(*v).ok().map(Value::UInt),
        (Physical::Int | Physical::UInt, Value::Decimal(d)) => {
            let exact = d.normalised().scale() == 0;
            let value = exact.then(|| d.to_i128()).flatten()?;
            integer_value(value, ty)
        }
        (Physical::Decimal, Value::Decimal(d)) => decimal_key(*d, ty),
        (Physical::Decimal, Value::Int(v)) => decimal_key((*v).into(), ty),
        (Physical::Decimal, Value::UInt(v)) => decimal_key((*v).into(), ty),
        (Physical::Double, Value::Int(v)) => Some(Value::Double(*v as f64)),
        (Physical::Double, Value::UInt(v)) => Some(Value::Double(*v as f64)),
        (Physical::Double, Value::Decimal(d)) => Some(Value::Double(d.to_f64())),
        (Physical::DateTime, Value::Date(d)) => Some(Value::DateTime(DateTime::from_date(*d))),
        (Physical::Date, Value::DateTime(v)) if v.micros_of_day() == 0 => {
            let date: Date = v.date();
            Some(Value::Date(date))
        }
        _ => None,
    }
}

fn integer_value(value: i128, ty: &SqlType) -> Option<Value> {
    match ty.physical() {
        Physical::UInt => u64::try_from(value).ok().map(Value::UInt),
        _ => i64::try_from(value).ok().map(Value::Int),
    }
}

fn decimal_key(d: Decimal, ty: &SqlType) -> Option<Value> {
    d.fits(ty.length.min(65) as u8, ty.decimals)
        .then(|| Value::Decimal(d.round(i32::from(ty.decimals))))
}
