//! One dimension of routing: a method with the values of its partitions, ready to be applied. Slots
//! are numbers of partitions, or of subpartitions within one.

use hashbrown::HashMap;
use selkie_catalog::{MethodKind, PartitionLimit, PartitionMethod, PartitionValue, TableInfo};
use selkie_expr::{EvalContext, Expr, ExprKind};
use selkie_types::{ByteRows, RowLayout, SqlError, SqlResult, Value};

use super::hash::KeyHash;
use super::history::HistoryRule;
use super::prune::End;
use super::{ColumnKeys, RouteError, Sign, as_signed, evaluate, function};

/// A method with the values of its partitions.
#[derive(Clone, Debug)]
pub(super) enum Rule {
    /// The remainder of a number.
    Hash(Function, Slots),
    /// The remainder of a hash of columns.
    Key(KeyHash, Slots),
    /// The first bound above a number; `open`: the last partition has no bound.
    Range { function: Function, bounds: Vec<i128>, open: bool },
    /// A listed number.
    List { function: Function, slots: HashMap<Option<i64>, usize>, default: Option<usize> },
    /// The first bound above a key.
    RangeColumns { keys: ColumnKeys, bounds: Vec<Vec<u8>> },
    /// A listed key.
    ListColumns { keys: ColumnKeys, slots: HashMap<Vec<u8>, usize>, default: Option<usize> },
    /// The end of a row's validity.
    SystemTime(HistoryRule),
}

/// A function over columns of a row.
#[derive(Clone, Debug)]
pub(super) struct Function {
    /// Over `columns`.
    expr: Expr,
    /// Positions in the row.
    columns: Vec<usize>,
    sign: Sign,
}

impl Function {
    fn new(table: &TableInfo, method: &PartitionMethod) -> SqlResult<Self> {
        let mut expr = function(table, method)?;
        let mut columns = expr.columns();
        columns.sort_unstable();
        columns.dedup();
        expr.map_columns(&mut |at| columns.binary_search(&at).unwrap_or(0));
        let sign = Sign::of(&expr.ty);
        Ok(Self { expr, columns, sign })
    }

    pub(super) fn values(
        &self,
        eval: &EvalContext<'_>,
        layout: &RowLayout,
        rows: &ByteRows,
    ) -> SqlResult<Vec<Value>> {
        evaluate(&self.expr, &self.columns, eval, (layout, rows))
    }

    /// Positions in the row of the columns it reads.
    pub(super) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The function's order beside that of its only column.
    fn order(&self) -> FunctionOrder {
        match &self.expr.kind {
            ExprKind::Column(_) => FunctionOrder::Same,
            ExprKind::Call(call) => match call.function.name() {
                "YEAR" | "UNIX_TIMESTAMP" => FunctionOrder::Rising,
                "TO_DAYS" | "TO_SECONDS" => FunctionOrder::RisingOrNull,
                _ => FunctionOrder::Unknown,
            },
            _ => FunctionOrder::Unknown,
        }
    }

    /// The number of the first bound above a value of the function, all if there is none. Compat:
    /// NULL is below all.
    fn bound_above(&self, value: &Value, bounds: &[i128]) -> usize {
        if as_signed(value).is_none() {
            return 0;
        }
        let number = self.sign.number(value);
        bounds.partition_point(|bound| *bound <= number)
    }

    /// A value as messages show it.
    fn shown(&self, value: &Value) -> String {
        match as_signed(value) {
            None => "NULL".into(),
            Some(_) => self.sign.number(value).to_string(),
        }
    }
}

/// Order of a function's values beside that of its column's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FunctionOrder {
    /// The value is the column's.
    Same,
    /// A greater value never gives a lesser one.
    Rising,
    /// The same, but dates that are not days give NULL.
    RisingOrNull,
    Unknown,
}

/// Slots of a hash.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    count: u64,
    linear: bool,
}

impl Slots {
    /// The slot of a number.
    fn of(self, number: i64) -> usize {
        if !self.linear {
            return (number % self.count as i64).unsigned_abs() as usize;
        }
        let mask = self.count.next_power_of_two() - 1;
        let slot = number as u64 & mask;
        (if slot < self.count { slot } else { slot & (mask >> 1) }) as usize
    }

    /// The slot of a function's value. Compat: NULL is the least number.
    fn of_value(self, value: &Value) -> usize {
        self.of(as_signed(value).unwrap_or(i64::MIN))
    }
}

impl Rule {
    pub(super) fn new(
        table: &TableInfo,
        method: &PartitionMethod,
        limits: &[&PartitionLimit],
    ) -> SqlResult<Self> {
        let slots = Slots { count: limits.len().max(1) as u64, linear: method.linear };
        let missing = || SqlError::internal("a column of a partitioning is missing");
        let keys = || ColumnKeys::new(method, table).ok_or_else(missing);
        Ok(match method.kind {
            MethodKind::Hash => Self::Hash(Function::new(table, method)?, slots),
            MethodKind::Key => {
                let columns = method.columns_of(table).ok_or_else(missing)?;
                Self::Key(KeyHash::new(table, &columns, method.algorithm), slots)
            }
            MethodKind::Range => {
                let function = Function::new(table, method)?;
                let bounds: Vec<i128> = bounds(limits)
                    .filter_map(|bounds| bounds.first())
                    .flatten()
                    .map(|bound| function.sign.number(&bound.value))
                    .collect();
                let open = bounds.len() < limits.len();
                Self::Range { function, bounds, open }
            }
            MethodKind::List => {
                let tuples = listed(limits).map(|(at, tuple)| (as_signed(&tuple[0].value), at));
                let slots = tuples.collect();
                let function = Function::new(table, method)?;
                Self::List { function, slots, default: default_of(limits) }
            }
            MethodKind::RangeColumns => {
                let keys = keys()?;
                let bounds = bounds(limits).map(|bounds| keys.of_bounds(bounds)).collect();
                Self::RangeColumns { keys, bounds }
            }
            MethodKind::ListColumns => {
                let keys = keys()?;
                let slots = listed(limits).map(|(at, tuple)| (keys.of_tuple(tuple), at)).collect();
                Self::ListColumns { keys, slots, default: default_of(limits) }
            }
            MethodKind::SystemTime => {
                Self::SystemTime(HistoryRule::new(table, method, limits).ok_or_else(missing)?)
            }
        })
    }

    /// Positions of the columns that it reads.
    pub(super) fn columns(&self) -> Vec<usize> {
        match self {
            Self::Hash(function, _)
            | Self::Range { function, .. }
            | Self::List { function, .. } => function.columns.clone(),
            Self::Key(hash, _) => hash.columns(),
            Self::RangeColumns { keys, .. } | Self::ListColumns { keys, .. } => {
                keys.columns.clone()
            }
            Self::SystemTime(rule) => rule.keys.columns.clone(),
        }
    }

    /// The slot of each row.
    pub(super) fn slots(
        &self,
        eval: &EvalContext<'_>,
        layout: &RowLayout,
        rows: &ByteRows,
    ) -> SqlResult<Vec<Result<usize, RouteError>>> {
        match self {
            Self::Hash(function, slots) => {
                by_value(function, eval, layout, rows, |value| Ok(slots.of_value(value)))
            }
            Self::Range { function, bounds, open } => {
                let slot = |value: &Value| {
                    let at = function.bound_above(value, bounds);
                    match at < bounds.len() || *open {
                        true => Ok(at),
                        false => Err(RouteError::NoPartition(function.shown(value))),
                    }
                };
                by_value(function, eval, layout, rows, slot)
            }
            Self::List { function, slots, default } => {
                let slot = |value: &Value| {
                    let found = slots.get(&as_signed(value)).copied().or(*default);
                    found.ok_or_else(|| RouteError::NoPartition(function.shown(value)))
                };
                by_value(function, eval, layout, rows, slot)
            }
            Self::Key(hash, slots) => each(rows, |row| Ok(Ok(slots.of(hash.of_row(layout, row)?)))),
            Self::RangeColumns { keys, bounds } => by_key(keys, layout, rows, |key| {
                let at = bounds.partition_point(|bound| &bound[..] <= key);
                (at < bounds.len()).then_some(at)
            }),
            Self::ListColumns { keys, slots, default } => {
                by_key(keys, layout, rows, |key| slots.get(key).copied().or(*default))
            }
            Self::SystemTime(rule) => each(rows, |row| Ok(Ok(rule.slot(layout, row)?))),
        }
    }
}

impl Rule {
    pub(super) fn function(&self) -> Option<&Function> {
        match self {
            Self::Hash(function, _)
            | Self::Range { function, .. }
            | Self::List { function, .. } => Some(function),
            _ => None,
        }
    }

    /// The column whose numbers are all that the rule compares, if it is one of RANGE or HASH.
    pub(super) fn number_column(&self) -> Option<usize> {
        let (Self::Hash(function, _) | Self::Range { function, .. }) = self else { return None };
        match (&function.columns[..], function.order()) {
            ([column], FunctionOrder::Same) => Some(*column),
            _ => None,
        }
    }

    /// The slot of a value of [`Self::number_column`]; `None` if there is none.
    pub(super) fn slot_of_number(&self, value: &Value) -> Option<usize> {
        match self {
            Self::Hash(_, slots) => Some(slots.of_value(value)),
            Self::Range { function, bounds, open } => {
                let at = function.bound_above(value, bounds);
                (at < bounds.len() || *open).then_some(at)
            }
            _ => None,
        }
    }

    pub(super) fn default_slot(&self) -> Option<usize> {
        match self {
            Self::List { default, .. } | Self::ListColumns { default, .. } => *default,
            _ => None,
        }
    }

    /// The slots of rows whose only column is in an interval; `value_of` gives the function's value
    /// for one of the column's. `None`: any slot.
    pub(super) fn interval(
        &self,
        lower: End<'_>,
        upper: End<'_>,
        value_of: impl Fn(&Value) -> Option<Value>,
    ) -> Option<Vec<usize>> {
        let function = self.function()?;
        let order = function.order();
        if order == FunctionOrder::Unknown || function.columns.len() != 1 {
            return None;
        }
        // A value of the function at an end; strict only where the column itself is compared.
        let end = |end: End<'_>, step: i128| -> Option<Option<i128>> {
            let Some((value, included)) = end else { return Some(None) };
            let value = value_of(value)?;
            as_signed(&value)?;
            let inside = included || order != FunctionOrder::Same;
            let number = function.sign.number(&value);
            Some(Some(if inside { number } else { number + step }))
        };
        let (first, last) = (end(lower, 1)?, end(upper, -1)?);
        if matches!((first, last), (Some(first), Some(last)) if first > last) {
            return Some(Vec::new());
        }
        match self {
            Self::Range { bounds, open, .. } => {
                let slots = bounds.len() + usize::from(*open);
                let slot = |number: i128| bounds.partition_point(|bound| *bound <= number);
                let from = first.map_or(0, slot);
                let to = last.map_or(slots, |number| slot(number) + 1).min(slots);
                let mut found: Vec<usize> = (from..to).collect();
                if order == FunctionOrder::RisingOrNull {
                    found.push(0);
                }
                Some(found)
            }
            Self::List { slots, default, .. } if order == FunctionOrder::Same => {
                let inside = |number: i64| {
                    let number = function.sign.number(&Value::Int(number));
                    first.is_none_or(|first| first <= number)
                        && last.is_none_or(|last| number <= last)
                };
                let listed = slots.iter().filter(|(number, _)| number.is_some_and(inside));
                Some(listed.map(|(_, slot)| *slot).chain(*default).collect())
            }
            Self::Hash(_, slots) if order == FunctionOrder::Same => {
                let (first, last) = (first?, last?);
                if last - first >= i128::from(slots.count) {
                    return None;
                }
                Some((first..=last).map(|number| slots.of(number as i64)).collect())
            }
            _ => None,
        }
    }

    /// The slots of rows with keys from `start` up to `end`.
    pub(super) fn key_interval(&self, start: &[u8], end: Option<&[u8]>) -> Option<Vec<usize>> {
        match self {
            Self::RangeColumns { bounds, .. } => {
                let from = bounds.partition_point(|bound| &bound[..] <= start);
                // A slot that begins at the end has no such rows.
                let to = end.map_or(bounds.len(), |end| {
                    bounds.partition_point(|bound| &bound[..] < end) + 1
                });
                Some((from..to.min(bounds.len())).collect())
            }
            Self::ListColumns { slots, default, .. } => {
                let inside = |key: &[u8]| key >= start && end.is_none_or(|end| key < end);
                let listed = slots.iter().filter(|(key, _)| inside(key));
                Some(listed.map(|(_, slot)| *slot).chain(*default).collect())
            }
            Self::SystemTime(rule) => Some(rule.interval(start, end)),
            _ => None,
        }
    }
}

fn bounds<'a>(
    limits: &'a [&'a PartitionLimit],
) -> impl Iterator<Item = &'a [Option<PartitionValue>]> {
    limits.iter().filter_map(|limit| match limit {
        PartitionLimit::LessThan(bounds) => Some(&bounds[..]),
        _ => None,
    })
}

fn listed<'a>(
    limits: &'a [&'a PartitionLimit],
) -> impl Iterator<Item = (usize, &'a [PartitionValue])> {
    limits.iter().enumerate().flat_map(|(at, limit)| {
        let tuples = match limit {
            PartitionLimit::In(tuples) => &tuples[..],
            _ => &[],
        };
        tuples.iter().map(move |tuple| (at, &tuple[..]))
    })
}

fn default_of(limits: &[&PartitionLimit]) -> Option<usize> {
    limits.iter().position(|limit| **limit == PartitionLimit::Default)
}

fn by_value(
    function: &Function,
    eval: &EvalContext<'_>,
    layout: &RowLayout,
    rows: &ByteRows,
    slot: impl Fn(&Value) -> Result<usize, RouteError>,
) -> SqlResult<Vec<Result<usize, RouteError>>> {
    match function.values(eval, layout, rows) {
        Ok(values) => Ok(values.iter().map(slot).collect()),
        // One row must not fail the others.
        Err(_) if rows.len() > 1 => {
            let mut out = Vec::with_capacity(rows.len());
            for row in rows.iter() {
                let mut one = ByteRows::with_capacity(1);
                one.push(row);
                out.push(match function.values(eval, layout, &one) {
                    Ok(values) => slot(&values[0]),
                    Err(error) => Err(RouteError::Function(error)),
                });
            }
            Ok(out)
        }
        Err(error) => Ok(vec![Err(RouteError::Function(error))]),
    }
}

fn by_key(
    keys: &ColumnKeys,
    layout: &RowLayout,
    rows: &ByteRows,
    slot: impl Fn(&[u8]) -> Option<usize>,
) -> SqlResult<Vec<Result<usize, RouteError>>> {
    let mut key = Vec::new();
    each(rows, |row| {
        key.clear();
        keys.of_row(layout, row, &mut key)?;
        Ok(slot(&key).ok_or_else(|| RouteError::NoPartition("from column_list".into())))
    })
}

fn each(
    rows: &ByteRows,
    slot: impl FnMut(&[u8]) -> SqlResult<Result<usize, RouteError>>,
) -> SqlResult<Vec<Result<usize, RouteError>>> {
    rows.iter().map(slot).collect()
}
