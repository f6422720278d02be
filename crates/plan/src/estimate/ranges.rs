//! Rows in ranges of an index whose values are known before execution: the engine counts them.
//!
//! Converts only texts that write a date or an integer; another value that the column does not hold
//! as it is gives no count. No warning may come from this: rows are found without it.

use selkie_catalog::TableInfo;
use selkie_engine::{Bound, IndexCodec, prefix_end};
use selkie_expr::Expr;
use selkie_types::charset::LikePattern;
use selkie_types::temporal::{DateOptions, ParsedTemporal};
use selkie_types::{Date, DateTime, Physical, Value};

use super::assumed::{Given, known};
use crate::physical::{KeyRange, RangeBound};
use crate::settings::StatisticsSource;

/// Rows in ranges of an index whose bounds are literals, or parameters with values, of the columns'
/// own types. `None` if they are not known.
pub(crate) fn range_rows(
    table: &TableInfo,
    index: usize,
    ranges: &[KeyRange],
    given: Given<'_>,
    source: &dyn StatisticsSource,
) -> Option<f64> {
    const MANY: usize = 16;
    if ranges.len() > MANY {
        return None;
    }
    let codec = IndexCodec::new(&table.def, &table.def.indexes[index]);
    let ranges = ranges.iter().map(|range| encode_range(&codec, range, given));
    let ranges = apart(ranges.collect::<Option<Vec<_>>>()?);
    // Compat: one of several ranges counts as one row, even if there is none.
    let least = if ranges.len() > 1 { 1.0 } else { 1e-6 };
    let rows = |(lower, upper): &(Bound, Bound)| {
        let found = source.range_rows(table, index, lower, upper)?;
        Some(found.rows.max(least))
    };
    ranges.iter().map(rows).sum()
}

/// Encoded bounds of a range whose values are known and need no conversion.
fn encode_range(codec: &IndexCodec, range: &KeyRange, given: Given<'_>) -> Option<(Bound, Bound)> {
    let mut prefix = Vec::new();
    for (at, (value, null_safe)) in range.equal.iter().zip(&range.null_safe).enumerate() {
        match is_null(value) && *null_safe {
            true => codec.part(at).encode(&Value::Null, &mut prefix),
            false => encode_part(codec, at, (value, given), &mut prefix)?,
        }
    }
    let at = range.equal.len();
    if let Some((pattern, escape)) = &range.like {
        return like_bounds(codec, at, prefix, pattern, *escape);
    }
    let end = |bound: &RangeBound| -> Option<Bound> {
        let (value, included) = match bound {
            RangeBound::Unbounded if prefix.is_empty() => return Some(Bound::Unbounded),
            RangeBound::Unbounded => return Some(Bound::Included(prefix.clone().into())),
            RangeBound::Included(value) => (value, true),
            RangeBound::Excluded(value) => (value, false),
        };
        let mut key = prefix.clone();
        match is_null(value) && !included {
            true => codec.part(at).encode(&Value::Null, &mut key),
            false => encode_part(codec, at, (value, given), &mut key)?,
        }
        Some(if included { Bound::Included(key.into()) } else { Bound::Excluded(key.into()) })
    };
    let (lower, upper) = (end(&range.lower)?, end(&range.upper)?);
    let has_nulls = matches!(range.lower, RangeBound::Unbounded)
        && !matches!(range.upper, RangeBound::Unbounded)
        && codec.part(at).nullable;
    if !has_nulls {
        return Some((lower, upper));
    }
    // NULLs, which come first, are outside of such a range.
    codec.part(at).encode(&Value::Null, &mut prefix);
    Some((Bound::Excluded(prefix.into()), upper))
}

fn is_null(value: &Expr) -> bool {
    value.as_literal().is_some_and(Value::is_null)
}

/// The same keys in ranges that do not overlap.
fn apart(ranges: Vec<(Bound, Bound)>) -> Vec<(Bound, Bound)> {
    if ranges.len() < 2 {
        return ranges;
    }
    let behind = |key: &[u8]| prefix_end(key);
    // The first key inside and the first one behind; `None` is behind all keys.
    let ends = |(lower, upper): &(Bound, Bound)| {
        let from = match lower {
            Bound::Unbounded => Some(Vec::new()),
            Bound::Included(key) => Some(key.to_vec()),
            Bound::Excluded(key) => behind(key),
        };
        let to = match upper {
            Bound::Unbounded => None,
            Bound::Included(key) => behind(key),
            Bound::Excluded(key) => Some(key.to_vec()),
        };
        (from, to)
    };
    let is_before =
        |from: &[u8], to: &Option<Vec<u8>>| to.as_ref().is_none_or(|to| from <= &to[..]);
    let mut all: Vec<_> =
        ranges.iter().map(ends).filter_map(|(from, to)| Some((from?, to))).collect();
    all.sort();
    let mut merged: Vec<(Vec<u8>, Option<Vec<u8>>)> = Vec::new();
    for (from, to) in all {
        match merged.last_mut().filter(|(_, last)| is_before(&from, last)) {
            Some((_, last)) => {
                let longer = last.is_some() && (to.is_none() || to > *last);
                *last = if longer { to } else { last.take() };
            }
            None => merged.push((from, to)),
        }
    }
    let bounds = |(from, to): (Vec<u8>, Option<Vec<u8>>)| {
        let upper = to.map_or(Bound::Unbounded, |to| Bound::Excluded(to.into()));
        (Bound::Included(from.into()), upper)
    };
    merged.into_iter().map(bounds).collect()
}

/// Encoded bounds of the keys whose part `at` begins with the constant prefix of a pattern.
fn like_bounds(
    codec: &IndexCodec,
    at: usize,
    mut prefix: Vec<u8>,
    pattern: &Expr,
    escape: u32,
) -> Option<(Bound, Bound)> {
    let part = codec.part(at);
    let Value::Bytes(text) = pattern.as_literal()? else { return None };
    if !part.ty.collation.charset().is_ascii_superset() {
        return None;
    }
    let pattern = LikePattern::new(part.ty.collation, text, Some(escape).filter(|e| *e != 0));
    part.encode_prefix(pattern.prefix()?, &mut prefix);
    let end = prefix_end(&prefix).map_or(Bound::Unbounded, |end| Bound::Excluded(end.into()));
    Some((Bound::Included(prefix.into()), end))
}

/// The value that a text writes in full.
fn written(text: &[u8], physical: Physical) -> Option<Value> {
    fn whole<T>(parsed: ParsedTemporal<T>) -> Option<T> {
        parsed.value.filter(|_| !parsed.truncated && !parsed.fraction_cut)
    }
    let number = || std::str::from_utf8(text).ok();
    match physical {
        Physical::Int => number()?.parse().ok().map(Value::Int),
        Physical::UInt => number()?.parse().ok().map(Value::UInt),
        Physical::Date => whole(Date::parse(text, DateOptions::LENIENT)).map(Value::Date),
        Physical::DateTime => {
            whole(DateTime::parse(text, DateOptions::LENIENT)).map(Value::DateTime)
        }
        _ => None,
    }
}

fn encode_part(
    codec: &IndexCodec,
    at: usize,
    (value, given): (&Expr, Given<'_>),
    out: &mut Vec<u8>,
) -> Option<()> {
    let part = codec.part(at);
    let literal = known(value, given)?;
    let converted = match (literal, part.ty.physical()) {
        (Value::Int(v), Physical::UInt) => Value::UInt(u64::try_from(*v).ok()?),
        (Value::UInt(v), Physical::Int) => Value::Int(i64::try_from(*v).ok()?),
        (Value::Bytes(text), physical) if physical != Physical::Bytes => written(text, physical)?,
        (other, _) => other.clone(),
    };
    let same = converted.physical()? == part.ty.physical();
    let scale = match &converted {
        Value::Decimal(d) => d.scale() == part.ty.decimals,
        Value::Bytes(_) => value.ty.collation == part.ty.collation && part.prefix.is_none(),
        _ => true,
    };
    if !(same && scale) {
        return None;
    }
    part.encode(&converted, out);
    Some(())
}
