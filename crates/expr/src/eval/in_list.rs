//! IN over a list of scalars: a search in a prepared set if the list is literal.
//! The set is cached in the plan only for literals: parameters change between executions.

use std::sync::Arc;

use hashbrown::{HashSet, HashTable};
use selkie_types::{Batch, CollationId, Column, ColumnData, SqlResult, Value};

use super::{Truth, compare, subset};
use crate::context::EvalContext;
use crate::expr::{CompareBy, CompareOp, Expr, ExprKind, InList};

/// The searchable form of a literal list.
struct PreparedList {
    set: Set,
    /// The list has a NULL, so a value that is not found is unknown.
    has_null: bool,
}

enum Set {
    Int(HashSet<i64, foldhash::fast::FixedState>),
    UInt(HashSet<u64, foldhash::fast::FixedState>),
    Date(Vec<selkie_types::Date>),
    DateTime(Vec<selkie_types::DateTime>),
    Bytes(CollationId, HashTable<Box<[u8]>>),
}

/// Lists shorter than this are searched item by item.
const SHORT: usize = 4;

/// Whether each value is in the list.
pub(super) fn eval(list: &InList, ctx: &EvalContext<'_>, batch: &Batch) -> SqlResult<Truth> {
    let value = list.value.eval(ctx, batch)?;
    if let Some(prepared) = &*list.set.get_or(true, || prepare(list)) {
        return Ok(search(prepared, &value));
    }
    let rows = batch.rows();
    if let Some(prepared) = prepare_parameters(list, ctx, rows)? {
        return Ok(search(&prepared, &value));
    }
    // Compat: no item is computed for a NULL.
    if list.items.iter().any(compare::may_raise)
        && let Some(numbers) = compare::rows_with_value(&value, rows)
    {
        let part = match numbers.is_empty() {
            true => return Ok(Truth::all(None, rows)),
            false => by_item(list, &value.gather(&numbers), numbers.len(), |item| {
                subset::eval(item, ctx, batch, &numbers)
            })?,
        };
        return Ok(compare::spread(&part, &numbers, rows));
    }
    by_item(list, &value, rows, |item| item.eval(ctx, batch))
}

/// Compares the values with one item after the other.
fn by_item(
    list: &InList,
    value: &Column,
    rows: usize,
    eval: impl Fn(&Expr) -> SqlResult<Arc<Column>>,
) -> SqlResult<Truth> {
    let mut result = Truth::all(Some(false), rows);
    for item in &list.items {
        let truth = compare::columns(CompareOp::Eq, list.by, value, &*eval(item)?, rows);
        result = or(result, truth);
    }
    Ok(result)
}

fn or(a: Truth, b: Truth) -> Truth {
    let rows = a.yes.len();
    if a.known.is_none() && b.known.is_none() {
        return Truth { yes: super::bits::or(&a.yes, &b.yes), known: None };
    }
    Truth::collect(rows, |row| {
        let known = |t: &Truth| t.known.as_ref().is_none_or(|k| k.get(row));
        let yes = a.yes.get(row) || b.yes.get(row);
        if yes { Some(true) } else { (known(&a) && known(&b)).then_some(false) }
    })
}

fn prepare(list: &InList) -> Option<PreparedList> {
    if list.items.len() < SHORT {
        return None;
    }
    let values: Vec<&Value> = list.items.iter().map(|i| i.as_literal()).collect::<Option<_>>()?;
    prepare_values(list.by, &values)
}

/// The searchable form of a list with parameters, for one batch. Their values belong to one
/// execution, so it must not be kept in the plan. Too expensive for a few rows.
fn prepare_parameters(
    list: &InList,
    ctx: &EvalContext<'_>,
    rows: usize,
) -> SqlResult<Option<PreparedList>> {
    let is_value = |e: &Expr| matches!(e.kind, ExprKind::Parameter(_) | ExprKind::Literal(_));
    let is_given = |item: &Expr| match &item.kind {
        ExprKind::Call(call) => item.is_deterministic() && call.args.iter().all(is_value),
        _ => is_value(item),
    };
    if list.items.len() < SHORT || rows < SHORT || !list.items.iter().all(is_given) {
        return Ok(None);
    }
    let values: Vec<Value> =
        list.items.iter().map(|item| item.eval_value(ctx)).collect::<SqlResult<_>>()?;
    Ok(prepare_values(list.by, &values.iter().collect::<Vec<_>>()))
}

fn prepare_values(by: CompareBy, values: &[&Value]) -> Option<PreparedList> {
    let has_null = values.iter().any(|v| v.is_null());
    let present = values.iter().copied().filter(|v| !v.is_null());
    let set = match by {
        CompareBy::Int => Set::Int(present.filter_map(as_int).collect()),
        CompareBy::UInt => Set::UInt(present.filter_map(as_uint).collect()),
        CompareBy::Date => Set::Date(sorted(present.filter_map(|v| match v {
            Value::Date(v) => Some(*v),
            _ => None,
        }))),
        CompareBy::DateTime => Set::DateTime(sorted(present.filter_map(|v| match v {
            Value::DateTime(v) => Some(*v),
            _ => None,
        }))),
        CompareBy::Bytes(collation) => Set::Bytes(collation, strings(collation, present)),
        _ => return None,
    };
    Some(PreparedList { set, has_null })
}

fn as_int(value: &Value) -> Option<i64> {
    match value {
        Value::Int(v) => Some(*v),
        _ => None,
    }
}

fn as_uint(value: &Value) -> Option<u64> {
    match value {
        Value::UInt(v) => Some(*v),
        _ => None,
    }
}

fn sorted<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values
}

fn strings<'a>(
    collation: CollationId,
    values: impl Iterator<Item = &'a Value>,
) -> HashTable<Box<[u8]>> {
    let mut table = HashTable::new();
    for value in values {
        if let Value::Bytes(b) = value {
            let hash = collation.hash(b, 0);
            table.insert_unique(hash, b.clone(), |b| collation.hash(b, 0));
        }
    }
    table
}

fn search(list: &PreparedList, column: &Column) -> Truth {
    let found: Box<dyn Fn(usize) -> bool + '_> = match (&list.set, column.data()) {
        (Set::Int(set), ColumnData::Int(v)) => Box::new(|row| set.contains(&v[row])),
        (Set::UInt(set), ColumnData::UInt(v)) => Box::new(|row| set.contains(&v[row])),
        (Set::Date(set), ColumnData::Date(v)) => Box::new(|row| set.binary_search(&v[row]).is_ok()),
        (Set::DateTime(set), ColumnData::DateTime(v)) => {
            Box::new(|row| set.binary_search(&v[row]).is_ok())
        }
        (Set::Bytes(collation, set), ColumnData::Bytes(v)) => {
            let collation = collation.info();
            Box::new(move |row| {
                let bytes = v.get(row);
                set.find(collation.hash(bytes, 0), |b| collation.equal(b, bytes)).is_some()
            })
        }
        _ => unreachable!("an IN list was prepared for another kind"),
    };
    let miss = if list.has_null { None } else { Some(false) };
    Truth::collect(column.len(), |row| {
        if column.is_null(row) {
            None
        } else if found(column.physical_row(row)) {
            Some(true)
        } else {
            miss
        }
    })
}
