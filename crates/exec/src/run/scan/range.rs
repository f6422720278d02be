//! Key ranges of a plan as ranges of key bytes. Must not leave out a row that the plan's ranges
//! select: a row outside is never read.

use selkie_engine::{Bound, IndexCodec, prefix_end};
use selkie_expr::{EvalContext, Expr, ExprKind};
use selkie_plan::physical::{KeyRange, RangeBound};
use selkie_types::key::{KeyPart, NOT_NULL, NULL};
use selkie_types::{SqlResult, Value};

use super::fit::{Fit, fit};
use super::like::constant_prefix;

/// Keys from `start` (included) to `end` (excluded; `None` for no end).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: Vec<u8>,
    end: Option<Vec<u8>>,
    /// Whether the range is all keys that begin with `start` (an equality); `end` is unused then.
    pub(crate) is_prefix: bool,
}

impl Range {
    /// All keys.
    pub(crate) fn everything() -> Self {
        Self { start: Vec::new(), end: None, is_prefix: false }
    }

    /// Keys that begin with `prefix`.
    fn prefix(prefix: Vec<u8>) -> Self {
        Self { start: prefix, end: None, is_prefix: true }
    }

    /// Sets `end` for a range of keys with one prefix.
    fn set_end(&mut self) {
        if self.is_prefix {
            self.end = prefix_end(&self.start);
        }
    }

    /// Its start, and its end if it has one.
    pub(crate) fn ends(&self) -> (&[u8], Option<Vec<u8>>) {
        let end = if self.is_prefix { prefix_end(&self.start) } else { self.end.clone() };
        (&self.start, end)
    }

    /// Bounds of the range for an engine scan.
    pub(crate) fn bounds(&self) -> (Bound, Bound) {
        if self.is_prefix && !self.start.is_empty() {
            let key = Bound::Included(self.start.as_slice().into());
            return (key.clone(), key);
        }
        let lower = match self.start.is_empty() {
            true => Bound::Unbounded,
            false => Bound::Included(self.start.as_slice().into()),
        };
        let upper = match &self.end {
            None => Bound::Unbounded,
            Some(end) => Bound::Excluded(end.as_slice().into()),
        };
        (lower, upper)
    }
}

/// Evaluates, sorts and merges the ranges. An empty result means that no row can match.
pub(crate) fn ranges_of(
    eval: &EvalContext<'_>,
    codec: &IndexCodec,
    ranges: &[KeyRange],
) -> SqlResult<Vec<Range>> {
    if ranges.is_empty() {
        return Ok(vec![Range::everything()]);
    }
    let mut found = Vec::with_capacity(ranges.len());
    for range in ranges {
        let mut keys = Keys::default();
        if put_equal(eval, codec, range, &mut keys)? {
            found.extend(range_of(eval, codec, range, keys.first)?);
            for prefix in keys.more {
                found.extend(range_of(eval, codec, range, prefix)?);
            }
        }
    }
    if found.len() > 1 {
        merge(&mut found);
    }
    Ok(found)
}

fn merge(ranges: &mut Vec<Range>) {
    ranges.iter_mut().for_each(Range::set_end);
    ranges.sort_by(|a, b| a.start.cmp(&b.start));
    ranges.dedup_by(|next, last| {
        let overlaps = last.end.as_ref().is_none_or(|end| next.start < *end);
        if !overlaps {
            return false;
        }
        let further = match (&last.end, &next.end) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(a), Some(b)) => b > a,
        };
        if further {
            last.end = next.end.take();
            last.is_prefix = false;
        }
        true
    });
}

/// Keys built from values, one part after the other.
#[derive(Default)]
pub(crate) struct Keys {
    /// The first key, nearly always the only one.
    pub(crate) first: Vec<u8>,
    /// Further keys, if a value equals several values of the index; needs no allocation if there
    /// are none.
    pub(crate) more: Vec<Vec<u8>>,
}

impl Keys {
    /// Appends a part to all keys; false if no row can match.
    #[inline]
    fn put(&mut self, part: &KeyPart, fit: Fit, null_safe: bool) -> bool {
        match fit {
            Fit::Exact(value) => self.put_value(part, &value),
            Fit::Null if null_safe && part.nullable => self.put_value(part, &Value::Null),
            Fit::OneOf(values) => self.multiply(part, &values),
            Fit::Twice(first, last) => self.multiply(part, &[first, last]),
            _ => return false,
        }
        true
    }

    #[inline]
    fn put_value(&mut self, part: &KeyPart, value: &Value) {
        part.encode(value, &mut self.first);
        self.more.iter_mut().for_each(|key| part.encode(value, key));
    }

    #[cold]
    fn multiply(&mut self, part: &KeyPart, values: &[Value]) {
        let prefixes = std::iter::once(std::mem::take(&mut self.first)).chain(self.more.drain(..));
        let mut keys: Vec<Vec<u8>> = Vec::new();
        for prefix in prefixes {
            keys.extend(values.iter().map(|value| {
                let mut key = prefix.clone();
                part.encode(value, &mut key);
                key
            }));
        }
        let mut keys = keys.into_iter();
        self.first = keys.next().unwrap_or_default();
        self.more = keys.collect();
    }
}

/// Keys of `values`; `None` if no row can match.
pub(crate) fn keys_of(
    eval: &EvalContext<'_>,
    codec: &IndexCodec,
    values: impl Iterator<Item = (Value, bool)>,
    exprs: &[Expr],
) -> Option<Keys> {
    let mut keys = Keys { first: Vec::with_capacity(16), more: Vec::new() };
    for (at, (value, null_safe)) in values.enumerate() {
        let part = codec.part(at);
        let fit = fit(value, &exprs[at].ty, &part.ty, &eval.types.time_zone);
        if !keys.put(part, fit, null_safe) {
            return None;
        }
    }
    Some(keys)
}

/// Appends the equalities of a range to `keys`. False if no row can match.
pub(crate) fn put_equal(
    eval: &EvalContext<'_>,
    codec: &IndexCodec,
    range: &KeyRange,
    keys: &mut Keys,
) -> SqlResult<bool> {
    for (at, e) in range.equal.iter().enumerate() {
        let value = bound_value(eval, e)?;
        let null_safe = range.null_safe.get(at).copied().unwrap_or(false);
        let part = codec.part(at);
        let fit = fit(value, &e.ty, &part.ty, &eval.types.time_zone);
        if !keys.put(part, fit, null_safe) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Evaluates a bound. Compat: a literal or a parameter that is not a number raises its warning when
/// rows are compared, not when the index is searched. Constants that were converted before any row
/// was read have raised theirs.
pub(super) fn bound_value(eval: &EvalContext<'_>, e: &Expr) -> SqlResult<Value> {
    let implicit = match &e.kind {
        ExprKind::Call(call) if call.function.is_implicit() => Some(call),
        _ => None,
    };
    let mark = eval.conditions.borrow().mark();
    let value = e.eval_value(eval);
    if let Some(call) = implicit {
        let mut conditions = eval.conditions.borrow_mut();
        if e.ty.is_temporal() {
            conditions.forget_repeated_since(mark);
        } else if e.ty.is_numeric() && call.args.iter().all(is_given) {
            conditions.forget_since(mark);
        }
    }
    value
}

/// Whether a value is written in the statement or bound to it.
fn is_given(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Literal(_) | ExprKind::Parameter(_))
}

/// The range of keys that begin with `prefix`, the encoded equalities.
fn range_of(
    eval: &EvalContext<'_>,
    codec: &IndexCodec,
    range: &KeyRange,
    prefix: Vec<u8>,
) -> SqlResult<Option<Range>> {
    let at = range.equal.len();
    if let Some((pattern, escape)) = &range.like {
        return like_range(eval, codec, at, prefix, pattern, *escape);
    }
    let (lower, upper) = (&range.lower, &range.upper);
    if matches!((lower, upper), (RangeBound::Unbounded, RangeBound::Unbounded)) {
        return Ok(Some(Range::prefix(prefix)));
    }
    bounded(eval, codec, at, prefix, lower, upper)
}

fn like_range(
    eval: &EvalContext<'_>,
    codec: &IndexCodec,
    at: usize,
    mut prefix: Vec<u8>,
    pattern: &Expr,
    escape: u32,
) -> SqlResult<Option<Range>> {
    let part = codec.part(at);
    let Value::Bytes(text) = pattern.eval_value(eval)? else { return Ok(None) };
    let escape = match u8::try_from(escape) {
        Ok(0) => None,
        Ok(byte) if byte.is_ascii() => Some(byte),
        // Other escape characters are rare: the whole part is scanned.
        _ => return Ok(Some(Range::prefix(prefix))),
    };
    let constant = constant_prefix(&text, escape, part.ty.collation.charset());
    // The codec inverts the prefix of a descending part, so its keys still begin with it.
    part.encode_prefix(&constant, &mut prefix);
    let end = prefix_end(&prefix);
    Ok(Some(Range { start: prefix, end, is_prefix: false }))
}

/// Position of a bound: before or after all keys that begin with the encoded value.
pub(super) enum Edge {
    Before(Value),
    After(Value),
    /// No value lies within the bound.
    Nothing,
    /// The bound excludes nothing.
    Open,
    /// The bound is NULL: no value compares to it.
    Null,
}

pub(super) fn lower_edge(
    eval: &EvalContext<'_>,
    codec: &IndexCodec,
    at: usize,
    b: &RangeBound,
) -> SqlResult<Edge> {
    let (e, included) = match b {
        RangeBound::Unbounded => return Ok(Edge::Open),
        // This bound only excludes NULLs.
        RangeBound::Excluded(e) if e.as_literal().is_some_and(Value::is_null) => {
            return Ok(Edge::Open);
        }
        RangeBound::Included(e) => (e, true),
        RangeBound::Excluded(e) => (e, false),
    };
    let part = codec.part(at);
    let value = bound_value(eval, e)?;
    Ok(match fit(value, &e.ty, &part.ty, &eval.types.time_zone) {
        Fit::Exact(v) if included || part.prefix.is_some() => Edge::Before(v),
        Fit::Exact(v) => Edge::After(v),
        Fit::Between(_, above) => Edge::Before(above),
        Fit::OneOf(values) => edge_of(values, included, true),
        Fit::Twice(first, _) if included => Edge::Before(first),
        Fit::Twice(first, _) => Edge::After(first),
        Fit::Less => Edge::Open,
        Fit::Greater => Edge::Nothing,
        Fit::Null => Edge::Null,
    })
}

/// Position of a bound that equals several values.
fn edge_of(mut values: Vec<Value>, included: bool, is_lower: bool) -> Edge {
    match included == is_lower {
        true => Edge::Before(values.swap_remove(0)),
        false => values.pop().map_or(Edge::Nothing, Edge::After),
    }
}

pub(super) fn upper_edge(
    eval: &EvalContext<'_>,
    codec: &IndexCodec,
    at: usize,
    b: &RangeBound,
) -> SqlResult<Edge> {
    let (e, included) = match b {
        RangeBound::Unbounded => return Ok(Edge::Open),
        RangeBound::Included(e) => (e, true),
        RangeBound::Excluded(e) => (e, false),
    };
    let part = codec.part(at);
    let value = bound_value(eval, e)?;
    Ok(match fit(value, &e.ty, &part.ty, &eval.types.time_zone) {
        Fit::Exact(v) if included || part.prefix.is_some() => Edge::After(v),
        Fit::Exact(v) => Edge::Before(v),
        Fit::Between(below, _) => Edge::After(below),
        Fit::OneOf(values) => edge_of(values, included, false),
        Fit::Twice(_, last) if included => Edge::After(last),
        Fit::Twice(_, last) => Edge::Before(last),
        Fit::Less => Edge::Nothing,
        Fit::Greater => Edge::Open,
        Fit::Null => Edge::Null,
    })
}

fn bounded(
    eval: &EvalContext<'_>,
    codec: &IndexCodec,
    at: usize,
    prefix: Vec<u8>,
    lower: &RangeBound,
    upper: &RangeBound,
) -> SqlResult<Option<Range>> {
    let part = codec.part(at);
    let (lower, upper) = (lower_edge(eval, codec, at, lower)?, upper_edge(eval, codec, at, upper)?);
    let dead = |e: &Edge| matches!(e, Edge::Nothing | Edge::Null);
    if dead(&lower) || dead(&upper) {
        return Ok(None);
    }
    let encoded = |value: &Value| {
        let mut key = prefix.clone();
        part.encode(value, &mut key);
        key
    };
    // In a descending part, the greater value has the lesser key.
    let (first, last) = if part.descending { (&upper, &lower) } else { (&lower, &upper) };
    let (start_after, end_before) = (first, last);
    let start = match (start_after, part.descending) {
        (Edge::Before(v), false) | (Edge::After(v), true) => Some(encoded(v)),
        (Edge::After(v), false) | (Edge::Before(v), true) => match prefix_end(&encoded(v)) {
            Some(key) => Some(key),
            None => return Ok(None),
        },
        _ => Some(open_start(&prefix, part.nullable, part.descending)),
    };
    let end = match (end_before, part.descending) {
        (Edge::Before(v), false) | (Edge::After(v), true) => Some(encoded(v)),
        (Edge::After(v), false) | (Edge::Before(v), true) => prefix_end(&encoded(v)),
        _ => open_end(&prefix, part.nullable, part.descending),
    };
    let start = start.unwrap_or_default();
    let empty = end.as_ref().is_some_and(|end| start >= *end);
    Ok((!empty).then_some(Range { start, end, is_prefix: false }))
}

/// Start of a part's values: NULLs come first in ascending order and are excluded.
fn open_start(prefix: &[u8], nullable: bool, descending: bool) -> Vec<u8> {
    let mut start = prefix.to_vec();
    if nullable && !descending {
        start.push(NOT_NULL);
    }
    start
}

/// End of a part's values: NULLs come last in descending order and are excluded.
fn open_end(prefix: &[u8], nullable: bool, descending: bool) -> Option<Vec<u8>> {
    if nullable && descending {
        let mut end = prefix.to_vec();
        end.push(!NULL);
        return Some(end);
    }
    prefix_end(prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u8, end: u8) -> Range {
        Range { start: vec![start], end: Some(vec![end]), is_prefix: false }
    }

    #[test]
    fn overlapping_ranges_merge() {
        let mut ranges = vec![range(5, 9), range(1, 3), range(2, 4), range(6, 7)];
        merge(&mut ranges);
        assert_eq!(ranges, [range(1, 4), range(5, 9)]);
    }
}
