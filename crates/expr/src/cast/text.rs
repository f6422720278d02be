//! Conversions to strings: the kernels.
//! Results are ASCII, converted to the charset of the result, which may have wider units.

use selkie_types::{Charset, Column, Date, DateTime, Decimal, SqlResult, SqlType, Time, TypeKind};
use selkie_types::{Physical, Value};

use crate::expr::{Expr, ExprKind};
use crate::kernel::{BytesOut, Frame, Native, to_bytes};
use crate::text::{display_length, write_double, write_value};

/// Most characters of a value of `ty` as a string.
pub fn text_length(ty: &SqlType) -> u32 {
    match ty.kind {
        TypeKind::Bit => ty.length.div_ceil(8),
        _ if ty.physical() == Physical::Bytes => ty.length,
        _ => display_length(ty),
    }
}

/// Writes each value in ASCII (members in utf8), then converts it to the charset of the result.
fn write<T: Native>(frame: &Frame<'_>, mut f: impl FnMut(T, &mut Vec<u8>)) -> SqlResult<Column> {
    let charset = frame.ty.collation.charset();
    if charset.min_len() == 1 {
        return to_bytes(frame, |v, out| {
            f(v, out);
            true
        });
    }
    let mut plain = Vec::new();
    to_bytes(frame, |v, out| {
        plain.clear();
        f(v, &mut plain);
        out.extend_from_slice(&Charset::Utf8mb4.convert(&plain, charset).0);
        true
    })
}

pub(super) fn from_int(frame: &Frame<'_>) -> SqlResult<Column> {
    let ty = frame.arg_type(0).clone();
    write(frame, |v: i64, out| write_value(out, &Value::Int(v), &ty))
}

pub(super) fn from_uint(frame: &Frame<'_>) -> SqlResult<Column> {
    let ty = frame.arg_type(0).clone();
    let charset = frame.ty.collation.charset();
    let members = matches!(ty.kind, TypeKind::Enum | TypeKind::Set);
    if members && charset.min_len() == 1 {
        let mut plain = Vec::new();
        return to_bytes(frame, |v: u64, out| {
            plain.clear();
            write_value(&mut plain, &Value::UInt(v), &ty);
            out.extend_from_slice(&Charset::Utf8mb4.convert(&plain, charset).0);
            true
        });
    }
    write(frame, |v: u64, out| write_value(out, &Value::UInt(v), &ty))
}

pub(super) fn from_double(frame: &Frame<'_>) -> SqlResult<Column> {
    let ty = frame.arg_type(0).clone();
    write(frame, |v: f64, out| write_double(out, v, &ty))
}

pub(super) fn from_date(frame: &Frame<'_>) -> SqlResult<Column> {
    write(frame, |v: Date, out| v.write_to(out))
}

pub(super) fn from_time(frame: &Frame<'_>) -> SqlResult<Column> {
    let fsp = frame.arg_type(0).decimals;
    write(frame, |v: Time, out| v.write_to(out, fsp))
}

pub(super) fn from_datetime(frame: &Frame<'_>) -> SqlResult<Column> {
    let fsp = frame.arg_type(0).decimals;
    write(frame, |v: DateTime, out| v.write_to(out, fsp))
}

/// All digits of the fraction, or none.
pub(super) fn from_datetime_as_needed(frame: &Frame<'_>) -> SqlResult<Column> {
    write(frame, |v: DateTime, out| v.write_to(out, u8::MAX))
}

pub(super) fn from_decimal(frame: &Frame<'_>) -> SqlResult<Column> {
    let view = frame.decimals(0);
    let ty = frame.arg_type(0).clone();
    let charset = frame.ty.collation.charset();
    let mut out = BytesOut::new(frame.rows);
    let mut plain = Vec::new();
    for row in 0..frame.rows {
        let value: Option<Decimal> = view.get(row);
        out.write(|buffer| {
            let Some(value) = value else { return false };
            plain.clear();
            write_value(&mut plain, &Value::Decimal(value), &ty);
            buffer.extend_from_slice(&Charset::Utf8mb4.convert(&plain, charset).0);
            true
        });
    }
    Ok(out.finish())
}

/// Whether a time shows all digits of its fraction or none: FROM_UNIXTIME of a text.
///
/// Compat: MariaDB knows such a time's digits only when it has the value.
pub fn has_needed_digits(e: &Expr) -> bool {
    let ExprKind::Call(call) = &e.kind else { return false };
    let [seconds] = &call.args[..] else { return false };
    let ExprKind::Call(converted) = &seconds.kind else { return false };
    let is_text = converted.args.first().is_some_and(|text| text.ty.is_string());
    is_text && call.function.name() == "FROM_UNIXTIME"
}
