//! Storing into CHAR, VARCHAR, TEXT and their binary forms.
//! Text of clients is validated here: a column must only hold valid characters of its charset.

use std::borrow::Cow;
use std::sync::Arc;

use selkie_types::{Charset, Column, Physical, SqlResult, TypeKind, Value};

use super::Source;
use crate::kernel::BytesOut;
use crate::text::printable;

/// Limits of a string column.
struct Limits {
    charset: Charset,
    /// Limit in characters; for TEXT in bytes.
    length: usize,
    in_bytes: bool,
    /// Trailing spaces are not stored.
    trims: bool,
    /// The value is padded with zero bytes.
    pads: bool,
}

impl Limits {
    fn of(source: &Source<'_>) -> Self {
        let to = source.to();
        let binary = to.collation.is_binary();
        let fixed = to.kind == TypeKind::Char;
        let (length, in_bytes) = match to.kind {
            TypeKind::TinyText => (255, true),
            TypeKind::Text => (65_535, true),
            TypeKind::MediumText => (16_777_215, true),
            TypeKind::LongText => (u32::MAX as usize, true),
            _ => (to.length as usize, false),
        };
        Self {
            charset: to.collation.charset(),
            length,
            in_bytes,
            trims: fixed && !binary,
            pads: fixed && binary,
        }
    }

    /// The longest start of a string that fits.
    fn prefix<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        if !self.in_bytes {
            return self.charset.prefix(bytes, self.length);
        }
        if bytes.len() <= self.length {
            return bytes;
        }
        let cut = &bytes[..self.length];
        &cut[..self.charset.well_formed_len(cut)]
    }
}

pub(super) fn convert(source: &Source<'_>) -> SqlResult<Arc<Column>> {
    let limits = Limits::of(source);
    let mut out = BytesOut::new(source.rows());
    if source.column.physical() != Physical::Bytes {
        for row in 0..source.rows() {
            if source.column.is_null(row) {
                out.push(None);
                continue;
            }
            if limits.in_bytes && source.from.kind == TypeKind::Bit {
                keep_bits(source, &limits, row, &mut out)?;
                continue;
            }
            let plain = match source.column.value(row) {
                // Compat: as many digits as fit, unless a column changes its type.
                Value::Double(v) if !limits.in_bytes && !source.report.was_copied => {
                    number_within(source, row, v, limits.length)?
                }
                // Compat: a BIT is its number here; in an expression it is its bytes.
                Value::UInt(v) if source.from.kind == TypeKind::Bit => v.to_string().into_bytes(),
                Value::UInt(v) if is_plain_year(source, &limits) => v.to_string().into_bytes(),
                _ => source.text(row),
            };
            let text = Charset::Utf8mb4.convert(&plain, limits.charset).0;
            keep(source, &limits, row, &text, &mut out)?;
        }
        return Ok(Arc::new(out.finish()));
    }
    let from = source.from.collation.charset();
    // Bytes in the same charset may come unchecked from a client, so they are checked here too.
    for row in 0..source.rows() {
        if source.column.is_null(row) {
            out.push(None);
            continue;
        }
        let bytes = source.column.bytes(row);
        let whole = from != Charset::Binary || bytes.len().is_multiple_of(limits.charset.min_len());
        let bytes = &if whole { Cow::Borrowed(bytes) } else { limits.charset.completed(bytes) }[..];
        if from == limits.charset || from == Charset::Binary || limits.charset == Charset::Binary {
            match limits.charset.well_formed_len(bytes) == bytes.len() {
                true => keep(source, &limits, row, bytes, &mut out)?,
                false => ill_formed(source, &limits, row, bytes, &mut out)?,
            }
            continue;
        }
        let (text, lost) = from.convert(bytes, limits.charset);
        if lost > 0 {
            let rest = from.first_lost(bytes, limits.charset).map_or(bytes, |(rest, _)| rest);
            source.report.incorrect(row, "string", &printable(rest))?;
        }
        keep(source, &limits, row, &text, &mut out)?;
    }
    Ok(Arc::new(out.finish()))
}

fn number_within(source: &Source<'_>, row: usize, v: f64, room: usize) -> SqlResult<Vec<u8>> {
    let mut text = Vec::new();
    if !selkie_types::number::write_f64_within(&mut text, v, room.min(255)) {
        source.report.too_long(row)?;
        text.truncate(room);
    }
    Ok(text)
}

/// Compat: a year that INSERT stores is a number without leading zeros.
fn is_plain_year(source: &Source<'_>, limits: &Limits) -> bool {
    source.from.kind == TypeKind::Year && !limits.in_bytes && !source.report.was_copied
}

/// Compat: a TEXT stores the bytes of a BIT.
fn keep_bits(
    source: &Source<'_>,
    limits: &Limits,
    row: usize,
    out: &mut BytesOut,
) -> SqlResult<()> {
    let bytes = source.text(row);
    match limits.charset.well_formed_len(&bytes) == bytes.len() {
        true => keep(source, limits, row, &bytes, out),
        false => ill_formed(source, limits, row, &bytes, out),
    }
}

fn ill_formed(
    source: &Source<'_>,
    limits: &Limits,
    row: usize,
    bytes: &[u8],
    out: &mut BytesOut,
) -> SqlResult<()> {
    let good = limits.charset.well_formed_len(bytes);
    source.report.incorrect(row, "string", &printable(&bytes[good..]))?;
    let (repaired, _) = limits.charset.repaired(bytes);
    keep(source, limits, row, &repaired, out)
}

fn keep(
    source: &Source<'_>,
    limits: &Limits,
    row: usize,
    bytes: &[u8],
    out: &mut BytesOut,
) -> SqlResult<()> {
    let bytes = if limits.trims { limits.charset.trim_spaces_end(bytes) } else { bytes };
    let kept = limits.prefix(bytes);
    if kept.len() < bytes.len() {
        let rest = &bytes[kept.len()..];
        let spaces = limits.charset.trim_spaces_end(rest).is_empty();
        if spaces && limits.charset != Charset::Binary && !limits.in_bytes {
            source.report.note(row);
        } else {
            source.report.too_long(row)?;
        }
    }
    let kept = if limits.trims { limits.charset.trim_spaces_end(kept) } else { kept };
    if limits.pads {
        out.write(|buffer| {
            buffer.extend_from_slice(kept);
            buffer.extend(std::iter::repeat_n(0, limits.length - kept.len()));
            true
        });
    } else {
        out.push(Some(kept));
    }
    Ok(())
}
