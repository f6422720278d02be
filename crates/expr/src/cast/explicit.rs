//! `CAST(.. AS ..)` and `CONVERT(.., ..)`.
//! Unlike implicit conversions they stay visible in EXPLAIN, and warn about cut values.

use selkie_types::error::catalogue::{
    ER_DATA_OVERFLOW, ER_TRUNCATED_WRONG_VALUE, ER_WARN_DATA_OUT_OF_RANGE,
};
use selkie_types::number::{largest_of_digits, round_fraction};
use selkie_types::{
    CollationId, Column, Condition, Decimal, NOT_FIXED_DECIMALS, Physical, SqlError, SqlResult,
    SqlType, TypeKind, Value,
};

use super::{number, temporal};
use crate::cast::{self, DateRule};
use crate::collate::Coercibility;
use crate::context::TypeContext;
use crate::expr::{Call, CallOption, CompareBy, Expr, ExprKind};
use crate::function::{Function, Kernel, Nature};
use crate::kernel::{DecimalOut, Frame, bytes_to_bytes};
use crate::refuse::refuse_any;
use crate::text::for_message;

static CAST: Function = Function::new("CAST", 1, 1, |_| Err(SqlError::internal("CAST by name")));
static CAST_LOCAL: Function =
    Function::new("CAST", 1, 1, |_| Err(SqlError::internal("CAST by name")))
        .nature(Nature::Statement);

/// `CAST(e AS target)`.
///
/// The parser gives the target: `Char` or `VarChar` with the written length, or `u32::MAX` without
/// one; DECIMAL, integers, DOUBLE, DATE, TIME and DATETIME with their digits. A string target's
/// charset is that of its collation.
pub fn cast(e: Expr, target: &SqlType, types: &TypeContext) -> SqlResult<Expr> {
    if matches!(e.kind, ExprKind::Row(_)) {
        let def = &selkie_types::error::catalogue::ER_OPERAND_COLUMNS;
        return Err(SqlError::new(def, &[&1]));
    }
    if let (true, Some(operation)) = (e.ty.is_opaque(), operation(target)) {
        refuse_any(operation, [&e])?;
    }
    if e.ty.geometry.is_some() && target.is_string() && !target.is_binary_string() {
        refuse_any("cast_as_char", [&e])?;
    }
    let mut e = e;
    match target.kind {
        TypeKind::Char | TypeKind::VarChar => return string(e, target, types),
        TypeKind::Decimal => {
            super::to_scalar(&mut e);
            super::compare_as_numbers(&mut e, CompareBy::Decimal);
            decimal(&mut e, target)
        }
        TypeKind::Float | TypeKind::Double => double(&mut e, target),
        TypeKind::Date => {
            cast::to_date_by(&mut e, DateRule::Mode);
            cast::to_dates_of_mode(&mut e);
        }
        TypeKind::Time => {
            cast::to_time(&mut e);
            fraction(&mut e, target, temporal::time_to_fsp);
        }
        TypeKind::DateTime | TypeKind::Timestamp => {
            cast::to_datetime_by(&mut e, DateRule::Mode);
            cast::to_dates_of_mode(&mut e);
            fraction(&mut e, target, temporal::datetime_to_fsp);
        }
        _ if target.is_integer() => integer(&mut e, target.unsigned),
        TypeKind::Inet4 | TypeKind::Inet6 | TypeKind::Uuid => {
            target
                .fixed_binary()
                .into_iter()
                .for_each(|kind| cast::to_fixed_binary(&mut e, kind, types));
        }
        _ => return Err(SqlError::not_supported("CAST to this type")),
    }
    let mut e = named(e, target);
    // Compat: a conversion to a date, a time or a double is always nullable.
    e.nullable |= target.is_temporal() || matches!(target.kind, TypeKind::Float | TypeKind::Double);
    Ok(e)
}

/// Name in errors of a conversion to a number or date.
fn operation(target: &SqlType) -> Option<&'static str> {
    Some(match target.kind {
        TypeKind::Decimal => "decimal_typecast",
        TypeKind::Float => "float_typecast",
        TypeKind::Double => "double_typecast",
        TypeKind::Date => "cast_as_date",
        TypeKind::Time => "cast_as_time",
        TypeKind::DateTime | TypeKind::Timestamp => "cast_as_datetime",
        _ if !target.is_integer() => return None,
        _ if target.unsigned => "cast_as_unsigned",
        _ => "cast_as_signed",
    })
}

/// Marks the outermost conversion as explicit.
fn named(mut e: Expr, target: &SqlType) -> Expr {
    if let ExprKind::Call(call) = &mut e.kind
        && call.function.is_implicit()
    {
        call.function = if call.function.is_pure() { &CAST } else { &CAST_LOCAL };
        call.option = CallOption::Type(target.clone());
    } else {
        let ty = e.ty.clone();
        cast::wrap(&mut e, ty, false, super::same);
        return named(e, target);
    }
    e
}

fn fraction(e: &mut Expr, target: &SqlType, kernel: Kernel) {
    if e.ty.decimals != target.decimals {
        let ty = SqlType { decimals: target.decimals, ..e.ty.clone() };
        cast::wrap(e, ty, true, kernel);
    }
}

/// Compat: the result has the length of the argument's text.
fn integer(e: &mut Expr, unsigned: bool) {
    cast::short_year(e);
    let mut ty = SqlType::new(TypeKind::BigInt, 20, 0);
    ty.unsigned = unsigned;
    let shortest = if unsigned { 1 } else { 2 };
    let mut length = crate::text::display_length(&e.ty).max(shortest);
    if !unsigned && e.ty.non_negative {
        length = e.ty.length;
    }
    let counts = e.ty.non_negative || matches!(e.as_literal(), Some(Value::Int(0..)));
    let grows = unsigned && e.ty.is_integer() && !e.ty.unsigned && !counts;
    let grows = grows || unsigned && e.ty.is_string();
    let is_double = matches!(e.ty.kind, TypeKind::Float | TypeKind::Double);
    if length > 20 && !unsigned && !is_double {
        ty.length = 21;
    }
    // Compat: an unsigned integer of a decimal may be any, since a negative one wraps around.
    let wraps = is_double || unsigned && e.ty.kind == TypeKind::Decimal;
    if length < 20 && !grows && !wraps {
        ty.length = length;
        if length < 10 {
            ty.kind = TypeKind::Int;
        }
    }
    if cast::retype_null(e, &ty) {
        return;
    }
    cast::local(e);
    let kernel: Kernel = match (e.ty.physical(), unsigned) {
        _ if e.is_hex() => {
            number::hex_literal(e);
            return integer(e, unsigned);
        }
        (Physical::Int, false) | (Physical::UInt, true) => super::same,
        (Physical::Int, true) => number::cast_int_unsigned,
        (Physical::UInt, false) => number::reinterpret_signed,
        (Physical::Bytes, false) => number::cast_bytes_signed,
        (Physical::Bytes, true) => number::cast_bytes_unsigned,
        (Physical::Decimal, false) => decimal_to_signed,
        (Physical::Decimal, true) => decimal_to_unsigned,
        (Physical::Double, false) => number::cast_double_signed,
        (Physical::Double, true) => number::cast_double_unsigned,
        (Physical::Time, true) => temporal::cast_time_unsigned,
        (_, false) => {
            cast::to_int(e);
            e.ty = ty;
            return;
        }
        (_, true) => {
            cast::to_uint(e);
            e.ty = ty;
            return;
        }
    };
    cast::wrap(e, ty, false, kernel);
}

fn decimal_to_signed(frame: &Frame<'_>) -> SqlResult<Column> {
    let view = frame.decimals(0);
    crate::kernel::map_rows(frame, |row| {
        let d = view.value(row);
        let (v, clamped) = d.to_i64_clamped();
        if clamped {
            frame.ctx.warn(&ER_DATA_OVERFLOW, &[&d, &"INT"]);
        }
        Ok(Some(v))
    })
}

fn decimal_to_unsigned(frame: &Frame<'_>) -> SqlResult<Column> {
    let view = frame.decimals(0);
    crate::kernel::map_rows(frame, |row| {
        let d = view.value(row);
        let (v, clamped) = d.to_u64_clamped();
        if clamped {
            frame.ctx.warn(&ER_DATA_OVERFLOW, &[&d, &"UNSIGNED INT"]);
        }
        Ok(Some(v))
    })
}

fn decimal(e: &mut Expr, target: &SqlType) {
    if cast::retype_null(e, target) {
        return;
    }
    cast::local(e);
    if e.is_hex() {
        number::hex_literal(e);
    }
    match e.ty.physical() {
        Physical::Bytes => cast::wrap(e, target.clone(), false, bytes_to_decimal),
        Physical::Double => cast::wrap(e, target.clone(), false, double_to_decimal),
        _ => {
            cast::to_decimal(e);
            super::unround(e);
            cast::wrap(e, target.clone(), false, fit_decimal);
        }
    }
}

/// Fits a value into the target; warning 1264 if it was out of range.
fn fit(frame: &Frame<'_>, d: Decimal) -> Decimal {
    let (precision, scale) = number::precision_and_scale(frame.ty);
    let (fitted, how) = d.fit(precision, scale);
    if how == selkie_types::decimal::Fit::Clamped {
        // Compat: the message names the select list's entry, which has no name elsewhere.
        frame.ctx.warn(&ER_WARN_DATA_OUT_OF_RANGE, &[&"(null)", &frame.ctx.row()]);
    }
    fitted
}

fn fit_decimal(frame: &Frame<'_>) -> SqlResult<Column> {
    let view = frame.decimals(0);
    let mut out = DecimalOut::new(frame.ty.decimals, frame.rows);
    (0..frame.rows).for_each(|row| out.push(view.get(row).map(|d| fit(frame, d))));
    Ok(out.finish())
}

fn double_to_decimal(frame: &Frame<'_>) -> SqlResult<Column> {
    let view = frame.view::<f64>(0);
    let mut out = DecimalOut::new(frame.ty.decimals, frame.rows);
    for row in 0..frame.rows {
        out.push(view.get(row).map(|v| {
            let huge = || {
                let max = Decimal::max_value(65, 0);
                if v < 0.0 { -max } else { max }
            };
            fit(frame, Decimal::from_f64(v).unwrap_or_else(huge))
        }));
    }
    Ok(out.finish())
}

fn bytes_to_decimal(frame: &Frame<'_>) -> SqlResult<Column> {
    let view = frame.bytes(0);
    let mut out = DecimalOut::new(frame.ty.decimals, frame.rows);
    for row in 0..frame.rows {
        out.push(view.get(row).map(|bytes| {
            let parsed = Decimal::parse(&number::ascii(frame, bytes));
            number::report(frame, "DECIMAL", bytes, parsed.rest);
            fit(frame, parsed.value)
        }));
    }
    Ok(out.finish())
}

fn double(e: &mut Expr, target: &SqlType) {
    cast::to_double(e);
    let shows_less = e.ty.kind == TypeKind::Float || e.ty.decimals < NOT_FIXED_DECIMALS;
    if shows_less && target.kind == TypeKind::Double {
        // All digits of the double, not those that a FLOAT or a DOUBLE with digits shows.
        cast::wrap(e, SqlType::double(), false, super::same);
    }
    if target.decimals < 31 {
        cast::wrap(e, target.clone(), false, |f| {
            let largest = largest_of_digits(f.ty.length, f.ty.decimals);
            Ok(crate::kernel::map(f, |v: f64| {
                limited(f, round_fraction(v, f.ty.decimals), largest)
            }))
        });
    } else if target.kind == TypeKind::Float {
        cast::wrap(e, target.clone(), false, |f| {
            let largest = f64::from(f32::MAX);
            Ok(crate::kernel::map(f, |v: f64| f64::from(limited(f, v, largest) as f32)))
        });
    }
}

/// `v`, or the nearest value of magnitude `largest` with note 1264.
fn limited(frame: &Frame<'_>, v: f64, largest: f64) -> f64 {
    if v.abs() > largest {
        frame.ctx.note(&ER_WARN_DATA_OUT_OF_RANGE, &[&"(null)", &frame.ctx.row()]);
    }
    v.clamp(-largest, largest)
}

/// Bytes that a text or a literal can have as a binary text; `None` if it is neither.
///
/// Compat: a number is as many bytes as it has characters, in any character set.
pub fn binary_length(e: &Expr) -> Option<u32> {
    let is_text = e.ty.physical() == Physical::Bytes && e.ty.fixed_binary().is_none();
    if !is_text && !matches!(e.ty.kind, TypeKind::Enum | TypeKind::Set) {
        return None;
    }
    Some(e.ty.length.saturating_mul(e.ty.collation.charset().max_len() as u32))
}

/// Strings are cut to the written length; BINARY(n) is padded with zero bytes.
fn string(mut e: Expr, target: &SqlType, types: &TypeContext) -> SqlResult<Expr> {
    let collation = target.collation;
    let unlimited = target.length == u32::MAX;
    let from_number = e.ty.physical() != Physical::Bytes;
    if collation.is_binary() {
        cast::to_its_bytes(&mut e);
    }
    let bytes = binary_length(&e);
    cast::to_text(&mut e, types);
    let bytes = bytes.unwrap_or(e.ty.length);
    let bare = CallOption::Type(target.clone());
    let cut_bytes = e.ty.collation.is_binary() && !collation.is_binary() && !unlimited;
    // Compat: the length counts the characters of the text, however many bytes they have.
    let cut_characters = collation.is_binary() && !unlimited;
    if !cut_bytes && !cut_characters {
        cast::to_charset(&mut e, collation);
    }
    let length = match unlimited {
        true if collation.is_binary() && !e.ty.is_text_or_blob() => bytes,
        true => e.ty.length,
        false => target.length,
    };
    let mut ty = crate::function::string_type(length.into(), collation, types);
    if e.ty.is_text_or_blob() && unlimited {
        ty.kind = e.ty.kind;
    }
    let kernel: Kernel = match (unlimited, collation.is_binary()) {
        (true, _) => super::same,
        (false, true) => cut_binary,
        (false, false) if cut_bytes => cut_as_text,
        (false, false) => cut,
    };
    let call = Call {
        function: if e.is_foldable() || !from_number { &CAST } else { &CAST_LOCAL },
        args: vec![e],
        option: bare,
        collation,
        kernel,
        cache: Default::default(),
    };
    // Compat: a conversion to a text is always nullable.
    let mut cast = Expr::new(ExprKind::Call(Box::new(call)), ty, true);
    cast.coercibility = Coercibility::Implicit;
    Ok(cast)
}

fn cut(frame: &Frame<'_>) -> SqlResult<Column> {
    let charset = frame.call.collation.charset();
    let length = frame.ty.length as usize;
    bytes_to_bytes(frame, |bytes, out| {
        let kept = charset.prefix(bytes, length);
        if kept.len() < bytes.len() {
            let text = for_message(bytes, frame.call.collation);
            truncated(frame, &format!("CHAR({length})"), &text);
        }
        out.extend_from_slice(kept);
        true
    })
}

/// Bytes as text; only the part that is kept must be valid.
fn cut_as_text(frame: &Frame<'_>) -> SqlResult<Column> {
    let charset = frame.call.collation.charset();
    let length = frame.ty.length as usize;
    bytes_to_bytes(frame, |bytes, out| {
        let kept = charset.prefix(bytes, length);
        super::charset::bytes_as_text(frame, kept, bytes, out);
        if kept.len() < bytes.len() {
            let text = for_message(bytes, CollationId::BINARY);
            truncated(frame, &format!("CHAR({length})"), &text);
        }
        true
    })
}

fn cut_binary(frame: &Frame<'_>) -> SqlResult<Column> {
    let length = match &frame.call.option {
        CallOption::Type(written) => written.length as usize,
        _ => frame.ty.length as usize,
    };
    let from = frame.arg_type(0).collation;
    bytes_to_bytes(frame, |bytes, out| {
        let kept = from.charset().prefix(bytes, length);
        if kept.len() < bytes.len() {
            let text = for_message(bytes, from);
            truncated(frame, &format!("BINARY({length})"), &text);
        }
        out.extend_from_slice(kept);
        out.extend(std::iter::repeat_n(0, length.saturating_sub(kept.len())));
        true
    })
}

#[cold]
fn truncated(frame: &Frame<'_>, kind: &str, text: &str) {
    let warning = Condition::warning(&ER_TRUNCATED_WRONG_VALUE, &[&kind, &text]);
    // Compat: strict modes do not make this an error, since the length was written.
    frame.ctx.push(Condition { soft: true, ..warning });
}
