//! Storing into ENUM and SET.
//! Texts are compared under the column's collation; a number is a position or a bit set.

use std::sync::Arc;

use hashbrown::HashMap;
use selkie_types::number::Rest;
use selkie_types::number::parse_integer;
use selkie_types::{Charset, Column, ColumnData, Physical, SqlResult, TypeKind};

use super::Source;
use crate::kernel::NativeOut;

/// Members, in the charset of the column.
struct Members {
    names: Vec<Vec<u8>>,
    collation: selkie_types::CollationId,
    exact: HashMap<Vec<u8>, usize>,
}

impl Members {
    fn of(source: &Source<'_>) -> Self {
        let to = source.to();
        let charset = to.collation.charset();
        let names: Vec<Vec<u8>> = to
            .members
            .iter()
            .flat_map(|m| m.iter())
            .map(|m| Charset::Utf8mb4.convert(m.as_bytes(), charset).0.into_owned())
            .collect();
        Self { exact: first_of_each(&names, to.collation), names, collation: to.collation }
    }

    fn find(&self, text: &[u8]) -> Option<usize> {
        if let Some(at) = self.exact.get(text) {
            return Some(*at);
        }
        let text = self.collation.charset().trim_spaces_end(text);
        self.names.iter().position(|n| self.collation.equal(n, text))
    }
}

/// Maps the bytes of a name to its position; names equal under the collation map to the first.
fn first_of_each(
    names: &[Vec<u8>],
    collation: selkie_types::CollationId,
) -> HashMap<Vec<u8>, usize> {
    let mut alike: HashMap<u64, Vec<usize>> = HashMap::new();
    let first_like = |(at, name): (usize, &Vec<u8>)| {
        let same_hash = alike.entry(collation.hash(name, 0)).or_default();
        let earlier = same_hash.iter().find(|&&other| collation.equal(&names[other], name));
        let first = earlier.copied().unwrap_or(at);
        same_hash.push(at);
        (name.clone(), first)
    };
    names.iter().enumerate().map(first_like).collect()
}

pub(super) fn convert(source: &Source<'_>) -> SqlResult<Arc<Column>> {
    let members = Members::of(source);
    let is_set = source.to().kind == TypeKind::Set;
    // Compat: a date or time is stored by its text, not as the number of a member.
    let textual = source.column.physical() == Physical::Bytes
        || source.from.is_temporal()
        || matches!(source.from.kind, TypeKind::Enum | TypeKind::Set);
    let mut out = NativeOut::new(source.rows());
    for row in 0..source.rows() {
        if source.column.is_null(row) {
            out.push(None);
            continue;
        }
        if is_no_member(source, row) {
            out.push(Some(0));
            continue;
        }
        let value = match (textual, is_set) {
            (true, false) => enum_text(source, &members, row)?,
            (true, true) => set_text(source, &members, row)?,
            (false, _) => number(source, &members, row, is_set)?,
        };
        out.push(Some(value));
    }
    Ok(Arc::new(out.finish()))
}

/// Compat: the empty error value of one ENUM is stored in another without an error.
fn is_no_member(source: &Source<'_>, row: usize) -> bool {
    let at = source.column.physical_row(row);
    let enums = [&source.from.kind, &source.to().kind].iter().all(|k| **k == TypeKind::Enum);
    enums && matches!(source.column.data(), ColumnData::UInt(v) if v[at] == 0)
}

/// The text of a row in UTF-8.
fn utf8_text(source: &Source<'_>, row: usize) -> Vec<u8> {
    let text = source.text(row);
    let from = match source.column.physical() {
        Physical::Bytes => source.from.collation.charset(),
        _ => Charset::Utf8mb4,
    };
    let from = if from == Charset::Binary { source.to().collation.charset() } else { from };
    from.convert(&text, Charset::Utf8mb4).0.into_owned()
}

/// A UTF-8 text, converted to the charset of the column.
fn stored<'a>(source: &Source<'_>, text: &'a [u8]) -> std::borrow::Cow<'a, [u8]> {
    Charset::Utf8mb4.convert(text, source.to().collation.charset()).0
}

fn enum_text(source: &Source<'_>, members: &Members, row: usize) -> SqlResult<u64> {
    let text = utf8_text(source, row);
    if let Some(at) = members.find(&stored(source, &text)) {
        return Ok(at as u64 + 1);
    }
    // Compat: spaces around a number are ignored, no other blanks behind it.
    let number = parse_integer(Charset::Utf8mb4.trim_spaces_end(&text));
    if number.rest == Rest::None && (1..=members.names.len() as i128).contains(&number.value) {
        return Ok(number.value as u64);
    }
    source.report.truncated(row)?;
    Ok(0)
}

fn set_text(source: &Source<'_>, members: &Members, row: usize) -> SqlResult<u64> {
    let text = utf8_text(source, row);
    if text.is_empty() {
        return Ok(0);
    }
    let mut bits = 0;
    let mut missing = false;
    // Compat: only the spaces at the very end are ignored.
    for part in Charset::Utf8mb4.trim_spaces_end(&text).split(|&b| b == b',') {
        match members.find(&stored(source, part)).filter(|_| !part.ends_with(b" ")) {
            Some(at) => bits |= 1u64 << at,
            None => missing = true,
        }
    }
    if !missing {
        return Ok(bits);
    }
    let number = parse_integer(&text);
    let all = all_bits(members);
    // Compat: digits in charsets with several bytes per unit are not read as a number.
    let digits = source.column.physical() != Physical::Bytes
        || source.from.collation.charset().min_len() == 1;
    if !digits {
        source.report.truncated(row)?;
        return Ok(bits);
    }
    if number.rest == Rest::None && (0..=i128::from(all)).contains(&number.value) {
        return Ok(number.value as u64);
    }
    source.report.truncated(row)?;
    // Compat: a number that is too large gives those of its members that exist.
    let whole = number.rest == Rest::None && !number.overflow;
    Ok(if bits == 0 && whole { number.value as u64 & all } else { bits })
}

fn all_bits(members: &Members) -> u64 {
    match members.names.len() {
        64.. => u64::MAX,
        count => (1 << count) - 1,
    }
}

fn number(source: &Source<'_>, members: &Members, row: usize, is_set: bool) -> SqlResult<u64> {
    let at = source.column.physical_row(row);
    let value: i128 = match source.column.data() {
        ColumnData::Int(v) => v[at].into(),
        ColumnData::UInt(v) => v[at].into(),
        // Compat: the number of a member is cut, not rounded, unless a column changes its type;
        // beyond 64 bits it is the least number.
        ColumnData::Double(v) if source.report.was_copied => {
            selkie_types::number::f64_to_i64(v[at]).0.into()
        }
        ColumnData::Double(v) => match v[at] {
            v if (-9.3e18..9_223_372_036_854_775_808.0).contains(&v) => v as i128,
            _ => i64::MIN.into(),
        },
        ColumnData::Decimal(v) => {
            let v = v.get(at);
            match source.report.was_copied {
                true => v.to_i128().unwrap_or(i128::MAX).clamp(i64::MIN.into(), i64::MAX.into()),
                false => v.truncate(0).to_i128().filter(|v| i64::try_from(*v).is_ok()).unwrap_or(0),
            }
        }
        _ => -1,
    };
    if is_set {
        let all = all_bits(members);
        if (0..=i128::from(all)).contains(&value) {
            return Ok(value as u64);
        }
        source.report.truncated(row)?;
        return Ok(value as u64 & all);
    }
    if (1..=members.names.len() as i128).contains(&value) {
        return Ok(value as u64);
    }
    source.report.truncated(row)?;
    Ok(0)
}
