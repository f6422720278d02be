//! Constants compared with columns: converted to the column's type where that loses nothing, so
//! that the comparison runs in the column's representation and an index can serve it.

use selkie_types::number::{Rest, parse_f64, parse_integer};
use selkie_types::{
    Date, DateTime, Decimal, NOT_FIXED_DECIMALS, Physical, SqlType, TypeKind, Value,
};

use crate::cast;
use crate::context::TypeContext;
use crate::expr::{Expr, ExprKind};

/// Converts literals beside an integer column that are integers in another form.
///
/// Compat: MariaDB does so for columns only, never for computed values.
pub(super) fn convert_constants(args: &mut [&mut Expr], types: &TypeContext) {
    let column = |e: &&mut Expr| matches!(e.kind, ExprKind::Column(_) | ExprKind::Parameter(_));
    let Some(ty) = args.iter().find(|e| column(e) && is_exact(&e.ty)).map(|e| e.ty.clone()) else {
        return;
    };
    let mut literals = 0;
    for e in args.iter_mut() {
        if ty.kind == TypeKind::Year && e.is_constant() && e.ty.is_temporal() {
            become_year(e, types);
        }
        if let Some(converted) = literal_as(e, &ty) {
            **e = converted;
            literals += 1;
        }
    }
    if ty.kind == TypeKind::Year && ty.length == 2 && literals > 0 {
        args.iter_mut().for_each(|e| short_year(e));
    }
}

/// A constant date beside a YEAR is its year.
fn become_year(e: &mut Expr, types: &TypeContext) {
    if let Ok(mut year) = super::function_call("YEAR", vec![e.clone()], types) {
        cast::fold_literal(&mut year, types);
        *e = year;
    }
}

/// The two digits of a year beside a YEAR(2).
fn short_year(e: &mut Expr) {
    cast::short_year(e);
    if let ExprKind::Literal(Value::Int(v)) = &e.kind {
        *e = Expr::int(v % 100);
    }
}

/// Rounds an exact constant as a column of FLOAT with digits rounds what it keeps.
///
/// Compat: MariaDB compares such columns up to half a unit of the last digit, which finds the same.
pub(super) fn constant_to_float(column: &mut Expr, constant: &mut Expr) {
    let rounds = column.ty.kind == TypeKind::Float && column.ty.decimals < NOT_FIXED_DECIMALS;
    let is_exact = is_exact(&constant.ty) || constant.ty.kind == TypeKind::Decimal;
    if column.as_column().is_some() && rounds && is_exact && constant.is_constant() {
        cast::to_float(constant);
    }
}

fn is_exact(ty: &SqlType) -> bool {
    ty.is_integer() || matches!(ty.kind, TypeKind::Year | TypeKind::Bit)
}

/// A literal as an integer, if it is one in another form.
fn literal_as(e: &Expr, ty: &SqlType) -> Option<Expr> {
    let value = match e.as_literal()? {
        Value::Bytes(b) if e.is_hex() => i128::from(cast::integer_of_hex(b)),
        // As it is stored: a short zero is the year 2000.
        Value::Bytes(b) if ty.kind == TypeKind::Year => match parse_integer(b).value {
            0 if b.len() < 4 && b.contains(&b'0') => 2000,
            value => value,
        },
        Value::Bytes(b) => integer_text(b)?,
        Value::Decimal(d) => {
            let d = d.normalised();
            if d.scale() > 0 {
                return None;
            }
            d.small_unscaled()?
        }
        Value::Double(v) if v.fract() == 0.0 && v.abs() < 9e15 => *v as i128,
        Value::Int(v) if ty.kind == TypeKind::Year => (*v).into(),
        _ => return None,
    };
    let value = if ty.kind == TypeKind::Year { year(value) } else { value };
    integer_literal(value)
}

fn integer_text(bytes: &[u8]) -> Option<i128> {
    let parsed = parse_integer(bytes);
    if parsed.rest == Rest::None && !parsed.overflow {
        return Some(parsed.value);
    }
    let real = parse_f64(bytes);
    (real.rest == Rest::None && real.value.fract() == 0.0 && real.value.abs() < 9e15)
        .then_some(real.value as i128)
}

/// Two-digit years are years of 1970 to 2069.
fn year(value: i128) -> i128 {
    match value {
        1..70 => value + 2000,
        70..100 => value + 1900,
        _ => value,
    }
}

fn integer_literal(value: i128) -> Option<Expr> {
    if let Ok(v) = i64::try_from(value) {
        return Some(Expr::int(v));
    }
    u64::try_from(value).ok().map(Expr::uint)
}

/// A literal that is not negative, as an unsigned one.
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

/// A constant that converts to midnight of a day, as that day.
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

/// The value a key of type `ty` must have for `column = value` (or an inequality) to hold, if a
/// constant of another type can be expressed so without changing the answer.
///
/// For the planner: with `None` the comparison cannot use the key.
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
