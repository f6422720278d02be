//! Conversions between character sets.
//! A lost character is `?` with a warning, except where [`refuse_loss`] makes it an error.

use selkie_types::error::catalogue::{
    ER_CANNOT_CONVERT_CHARACTER, ER_INVALID_CHARACTER_STRING, by_code,
};
use selkie_types::{Charset, CollationId, Column, SqlError, SqlResult, Value};

use crate::expr::{CallOption, Expr, ExprKind};
use crate::kernel::{Frame, bytes_to_bytes};

/// Converts a string to the charset of `collation` and gives it that collation.
pub(super) fn to_charset(e: &mut Expr, collation: CollationId) {
    let (from, to) = (e.ty.collation.charset(), collation.charset());
    if e.ty.collation == collation {
        return;
    }
    let mut ty = e.ty.clone();
    ty.collation = collation;
    if to == Charset::Binary && !matches!(e.kind, ExprKind::Literal(_)) {
        ty.length = e.ty.length.saturating_mul(from.max_len() as u32);
    }
    if from == to || same_bytes(from, to) {
        super::retype(e, ty);
        e.ty.unsigned = false;
        return;
    }
    if let ExprKind::Literal(Value::Bytes(bytes)) = &mut e.kind {
        let (converted, lost) = from.convert(bytes, to);
        if lost == 0 {
            *bytes = converted.into();
            e.ty = ty;
            return;
        }
    }
    super::wrap(e, ty, false, convert);
}

/// Whether every string of one charset has the same bytes in the other.
fn same_bytes(from: Charset, to: Charset) -> bool {
    to == Charset::Binary
        || matches!(
            (from, to),
            (Charset::Utf8mb3, Charset::Utf8mb4) | (Charset::Ascii, _)
                if to.is_ascii_superset() && to != Charset::Sjis
        )
}

/// Compat: each byte is taken as a character if the charset has one byte per character, even in
/// ASCII.
fn is_any_character(from: Charset, to: Charset) -> bool {
    from == Charset::Binary && to.max_len() == 1
}

/// `CONVERT(.. USING ..)` and implicit conversions.
pub(super) fn convert(frame: &Frame<'_>) -> SqlResult<Column> {
    let (from, to) = (frame.arg_type(0).collation.charset(), frame.ty.collation.charset());
    bytes_to_bytes(frame, |bytes, out| {
        if is_any_character(from, to) {
            out.extend_from_slice(bytes);
            return true;
        }
        let (converted, lost) = from.convert(bytes, to);
        if lost > 0 {
            report_lost(frame, bytes, from, to);
        }
        out.extend_from_slice(&converted);
        true
    })
}

/// Makes a conversion raise `error` instead of losing characters.
pub(super) fn refuse_loss(e: &mut Expr, error: &SqlError) {
    if let ExprKind::Call(call) = &mut e.kind
        && call.function.is_implicit()
    {
        call.option = CallOption::Name(format!("{} {}", error.code(), error.message()).into());
        call.kernel = convert_or_refuse;
    }
}

/// A conversion that raises an error; the call's option holds its number and text.
fn convert_or_refuse(frame: &Frame<'_>) -> SqlResult<Column> {
    let (from, to) = (frame.arg_type(0).collation.charset(), frame.ty.collation.charset());
    let view = frame.bytes(0);
    let mut values = (0..frame.rows).filter_map(|row| view.get(row));
    if let CallOption::Name(error) = &frame.call.option
        && let Some((number, message)) = error.split_once(' ')
        && let Some(def) = number.parse().ok().and_then(by_code)
        && values.any(|value| from.convert(value, to).1 > 0)
    {
        return Err(SqlError::with_message(def, message));
    }
    convert(frame)
}

/// Makes a conversion of bytes raise error 1300 if they are no text.
pub(super) fn refuse_invalid(e: &mut Expr) {
    if let ExprKind::Call(call) = &mut e.kind
        && call.function.is_implicit()
    {
        call.kernel = convert_valid;
    }
}

fn convert_valid(frame: &Frame<'_>) -> SqlResult<Column> {
    let to = frame.ty.collation.charset();
    let view = frame.bytes(0);
    let mut values = (0..frame.rows).filter_map(|row| view.get(row));
    match values.find_map(|bytes| crate::collate::invalid_bytes(bytes, to)) {
        Some(error) => Err(error),
        None => convert(frame),
    }
}

/// Appends the first bytes `kept` of `whole` as text of the result's charset.
pub(super) fn bytes_as_text(frame: &Frame<'_>, kept: &[u8], whole: &[u8], out: &mut Vec<u8>) {
    let charset = frame.ty.collation.charset();
    if is_any_character(Charset::Binary, charset) {
        return out.extend_from_slice(kept);
    }
    let (converted, lost) = Charset::Binary.convert(kept, charset);
    if lost > 0 {
        report_lost(frame, whole, Charset::Binary, charset);
    }
    out.extend_from_slice(&converted);
}

#[cold]
fn report_lost(frame: &Frame<'_>, bytes: &[u8], from: Charset, to: Charset) {
    if from == Charset::Binary {
        let text = crate::text::printable(&bytes[to.well_formed_len(bytes)..]);
        return frame.ctx.warn(&ER_INVALID_CHARACTER_STRING, &[&to.name(), &text]);
    }
    let Some((rest, len)) = from.first_lost(bytes, to) else { return };
    if !from.is_well_formed(&rest[..len]) {
        let text = crate::text::printable(rest);
        return frame.ctx.warn(&ER_INVALID_CHARACTER_STRING, &[&from.name(), &text]);
    }
    let char: String = rest[..len].iter().map(|b| format!("{b:02X}")).collect();
    frame.ctx.warn(&ER_CANNOT_CONVERT_CHARACTER, &[&from.name(), &char, &to.name()]);
}
