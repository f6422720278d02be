//! GROUP_CONCAT, and JSON_ARRAYAGG, which is the same with values as JSON in brackets.
//! Results are limited by `group_concat_max_len`; only the first cut of a group is reported.

use std::cmp::Ordering;
use std::sync::Arc;

use hashbrown::HashSet;
use selkie_meter::{ask, interruptible, spend, tick};
use selkie_types::error::catalogue::ER_CUT_VALUE_GROUP_CONCAT;
use selkie_types::{
    Charset, CollationId, Column, Date, DateTime, Decimal, SqlResult, SqlType, Time, Value,
};

use super::state::{Groups, State, length_at, same_kind};
use super::{Aggregate, AggregateKind};
use crate::context::EvalContext;
use crate::expr::Expr;
use crate::json::put_sql_value;
use crate::kernel::BytesOut;
use crate::order::compare_values;
use crate::row_key::put_nullable;

/// One row of a group: its sort key and its text.
struct Row {
    keys: Vec<Value>,
    text: Vec<u8>,
}

#[derive(Default)]
struct Group {
    /// The rows, if they must be ordered or counted; otherwise their texts are joined at once.
    rows: Vec<Row>,
    joined: Option<Vec<u8>>,
    seen: HashSet<Box<[u8]>>,
    /// Number of the first row that did not fit.
    cut: Option<u64>,
    count: u64,
}

/// Joined strings of each group.
pub(super) struct GroupConcat {
    args: usize,
    collations: Vec<CollationId>,
    /// Collation and direction of each sort key.
    order: Vec<(CollationId, bool)>,
    distinct: bool,
    separator: Box<[u8]>,
    limit: Option<Box<(Expr, Expr)>>,
    max_bytes: usize,
    collation: CollationId,
    /// Conversion of values to elements of an array; `None` for GROUP_CONCAT.
    json: Option<Element>,
    groups: Vec<Group>,
    /// Rows of finished groups up to their cuts. Compat: warnings count them, too.
    taken: u64,
}

/// Conversion of a value to an element of a JSON array.
struct Element {
    ty: SqlType,
    /// Whether a string is a JSON document.
    is_json: bool,
}

impl GroupConcat {
    pub(super) fn new(a: &Aggregate) -> Self {
        Self {
            args: a.args.len(),
            collations: a.args.iter().map(|e| e.ty.collation).collect(),
            order: a.order_by.iter().map(|(e, desc)| (e.ty.collation, *desc)).collect(),
            distinct: a.distinct,
            separator: a.separator.clone(),
            limit: a.limit.clone(),
            max_bytes: usize::try_from(a.parameter).unwrap_or(usize::MAX),
            collation: a.ty.collation,
            json: (a.kind == AggregateKind::JsonArrayAgg).then(|| Element {
                ty: a.args[0].ty.clone(),
                is_json: crate::json::is_json(&a.args[0]),
            }),
            groups: Vec::new(),
            taken: 0,
        }
    }

    /// The text of a row. NULL has none, except in an array.
    fn text(&self, values: &[Arc<Column>], row: usize) -> Option<Vec<u8>> {
        match &self.json {
            Some(element) => {
                let mut text = Vec::new();
                put_sql_value(&mut text, &values[0].value(row), &element.ty, element.is_json);
                Some(in_charset(text, self.collation))
            }
            None if values.iter().any(|a| a.is_null(row)) => None,
            None => Some(values.iter().flat_map(|a| a.bytes(row)).copied().collect()),
        }
    }

    fn is_new(&mut self, group: usize, args: &[Arc<Column>], row: usize) -> bool {
        if !self.distinct {
            return true;
        }
        let mut key = Vec::new();
        for (column, collation) in args.iter().zip(&self.collations) {
            put_nullable(&mut key, column, row, *collation);
        }
        self.groups[group].seen.insert(key.into())
    }

    fn add(&mut self, group: usize, row: Row) {
        let keep = !self.order.is_empty() || self.limit.is_some();
        let (separator, max) = (&self.separator, self.max_bytes);
        let group = &mut self.groups[group];
        if keep {
            group.rows.push(row);
            return;
        }
        group.count += 1;
        join(&mut group.joined, &row.text, separator);
        shorten(group, max, self.collation, self.json.as_ref());
    }

    /// Sorts the rows. Compat: of equal rows the last comes first. NULL counts as zero or as the
    /// empty text, except in arrays.
    fn sort(&self, rows: &mut [Row]) {
        let compare = if self.json.is_some() { compare_values } else { compare_nulls_as_zero };
        if !self.order.is_empty() {
            rows.reverse();
        }
        rows.sort_by(|a, b| {
            tick(64);
            for (at, (collation, descending)) in self.order.iter().enumerate() {
                let ordering = compare(&a.keys[at], &b.keys[at], *collation);
                let ordering = if *descending { ordering.reverse() } else { ordering };
                if ordering != Ordering::Equal {
                    return ordering;
                }
            }
            Ordering::Equal
        });
    }

    /// The numbers of rows of each group that are left out and taken.
    fn limits(&self, ctx: &EvalContext<'_>) -> SqlResult<(usize, usize)> {
        let Some(limit) = self.limit.as_deref() else { return Ok((0, usize::MAX)) };
        let number = |e: &Expr| -> SqlResult<usize> {
            Ok(usize::try_from(e.eval_count(ctx)?).unwrap_or(usize::MAX))
        };
        Ok((number(&limit.0)?, number(&limit.1)?))
    }

    fn finish_group(
        &mut self,
        at: usize,
        (offset, count): (usize, usize),
        ctx: &EvalContext<'_>,
    ) -> SqlResult<Option<Vec<u8>>> {
        let mut group = std::mem::take(&mut self.groups[at]);
        interruptible(|| self.sort(&mut group.rows))?;
        let rows = std::mem::take(&mut group.rows);
        for row in rows.iter().skip(offset).take(count) {
            spend(row.text.len())?;
            ask(row.text.len())?;
            group.count += 1;
            join(&mut group.joined, &row.text, &self.separator);
            shorten(&mut group, self.max_bytes, self.collation, self.json.as_ref());
            if group.cut.is_some() {
                break;
            }
        }
        // Compat: if LIMIT leaves no value, the result is the empty text.
        if self.limit.is_some() && !rows.is_empty() {
            group.joined.get_or_insert_default();
        }
        let name = if self.json.is_some() { "JSON_ARRAYAGG(" } else { "GROUP_CONCAT(" };
        let taken = group.cut.unwrap_or(group.count);
        if let Some(row) = group.cut {
            ctx.warn(&ER_CUT_VALUE_GROUP_CONCAT, &[&(self.taken + row), &name]);
        }
        self.taken += taken;
        Ok(match self.json {
            None => group.joined,
            Some(_) => group.joined.map(|text| [b"[", &text[..], b"]"].concat()),
        })
    }
}

/// A part of a JSON document in the charset of the whole.
pub(super) fn in_charset(text: Vec<u8>, collation: CollationId) -> Vec<u8> {
    let to = collation.charset();
    match to == Charset::Utf8mb4 {
        true => text,
        false => Charset::Utf8mb4.convert(&text, to).0.into_owned(),
    }
}

/// The order of two values of one type; NULL counts as the type's zero.
fn compare_nulls_as_zero(a: &Value, b: &Value, collation: CollationId) -> Ordering {
    match (a, b) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, b) => compare_values(&zero_like(b), b, collation),
        (a, Value::Null) => compare_values(a, &zero_like(a), collation),
        _ => compare_values(a, b, collation),
    }
}

fn zero_like(value: &Value) -> Value {
    match value {
        Value::Null => Value::Null,
        Value::Int(_) => Value::Int(0),
        Value::UInt(_) => Value::UInt(0),
        Value::Double(_) => Value::Double(0.0),
        Value::Decimal(_) => Value::Decimal(Decimal::ZERO),
        Value::Date(_) => Value::Date(Date::default()),
        Value::Time(_) => Value::Time(Time::ZERO),
        Value::DateTime(_) => Value::DateTime(DateTime::ZERO),
        Value::Bytes(_) => Value::Bytes(Default::default()),
    }
}

fn join(joined: &mut Option<Vec<u8>>, text: &[u8], separator: &[u8]) {
    match joined {
        None => *joined = Some(text.to_vec()),
        Some(joined) => {
            joined.extend_from_slice(separator);
            joined.extend_from_slice(text);
        }
    }
}

/// Cuts a text that is too long, and records the row at which this first happened.
///
/// Compat: a cut string of an array ends with a quotation mark.
fn shorten(group: &mut Group, max: usize, collation: CollationId, element: Option<&Element>) {
    let Some(joined) = &mut group.joined else { return };
    if joined.len() <= max {
        return;
    }
    let quoted = element.is_some() && joined.ends_with(b"\"");
    let room = max.saturating_sub(usize::from(quoted));
    let whole = collation.charset().well_formed_len(&joined[..room]);
    joined.truncate(whole);
    if quoted {
        joined.push(b'"');
    }
    group.cut.get_or_insert(group.count);
}

impl State for GroupConcat {
    fn resize(&mut self, groups: usize) {
        self.groups.resize_with(groups, Group::default);
    }

    fn update(
        &mut self,
        groups: Groups<'_>,
        rows: usize,
        args: &[Arc<Column>],
        _: &EvalContext<'_>,
    ) -> SqlResult<()> {
        let (values, keys) = args.split_at(self.args);
        for row in 0..rows {
            let group = groups.of(row);
            if self.groups[group].cut.is_some() {
                continue;
            }
            // The text is made, then kept or joined.
            ask(2 * length_at(values, row))?;
            let Some(text) = self.text(values, row) else { continue };
            spend(text.len())?;
            if !self.is_new(group, values, row) {
                continue;
            }
            let keys = keys.iter().map(|k| k.value(row)).collect();
            self.add(group, Row { keys, text });
        }
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn State>, map: &[u32], _: &EvalContext<'_>) -> SqlResult<()> {
        let other = same_kind::<Self>(other);
        for (mut from, &to) in other.groups.into_iter().zip(map) {
            for row in std::mem::take(&mut from.rows) {
                self.add(to as usize, row);
            }
            if let Some(text) = from.joined {
                self.add(to as usize, Row { keys: Vec::new(), text });
            }
        }
        Ok(())
    }

    fn finish(&mut self, ctx: &EvalContext<'_>) -> SqlResult<Column> {
        let mut out = BytesOut::new(self.groups.len());
        let limits = self.limits(ctx)?;
        for at in 0..self.groups.len() {
            out.push(self.finish_group(at, limits, ctx)?.as_deref());
        }
        Ok(out.finish())
    }
}
