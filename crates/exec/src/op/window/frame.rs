//! Frames: which rows of the partition a function sees, and aggregates over them. A frame is a
//! range of positions in the sorted rows, inside one partition.

use std::ops::Range;
use std::sync::Arc;

use selkie_expr::Expr;
use selkie_expr::aggregate::{Aggregate, Groups};
use selkie_plan::physical::{FrameBound, FrameUnit, Window as Plan, WindowCall};
use selkie_types::decimal::MAX_PRECISION;
use selkie_types::{Batch, Column, ColumnData, Decimal, Physical, SqlResult, Value};

use super::Sorted;
use crate::run::Env;

/// The frame of every row.
pub(super) fn frames(
    env: Env<'_>,
    plan: &Plan,
    call: &WindowCall,
    sorted: &Sorted,
) -> SqlResult<Vec<Range<usize>>> {
    let start = Offset::of(env, &call.frame.start)?;
    let end = Offset::of(env, &call.frame.end)?;
    let by_value = call.frame.unit == FrameUnit::Range;
    let order = match (by_value && (start.is_some() || end.is_some()), plan.order.first()) {
        (true, Some(key)) => Some(OrderValues {
            values: Numbers::of(&*key.expr.eval(env.eval, &sorted.rows)?, [start, end]),
            descending: key.descending,
        }),
        _ => None,
    };
    let mut frames = Vec::with_capacity(sorted.rows.rows());
    for range in sorted.ranges() {
        for row in range.clone() {
            let from = edge(&call.frame.start, start, sorted, &range, row, &order, by_value, true);
            let to = edge(&call.frame.end, end, sorted, &range, row, &order, by_value, false);
            frames.push(from..to.max(from));
        }
    }
    Ok(frames)
}

/// Offset of a bound: as a double, and as an integer and a decimal if it is one.
#[derive(Clone, Copy, Default)]
struct Offset {
    real: f64,
    whole: Option<i128>,
    exact: Option<Decimal>,
}

impl Offset {
    fn of(env: Env<'_>, bound: &FrameBound) -> SqlResult<Option<Self>> {
        let (FrameBound::Preceding(e) | FrameBound::Following(e)) = bound else { return Ok(None) };
        let value = e.eval_value(env.eval)?;
        let real = number(&value).unwrap_or(0.0);
        Ok(Some(Self { real, whole: whole(&value), exact: exact(&value) }))
    }
}

/// Values of the order key, for RANGE frames with an offset. `None` is NULL.
struct OrderValues {
    values: Numbers,
    descending: bool,
}

/// Integers and decimals are not rounded to doubles, which would shift the ends of frames.
enum Numbers {
    Whole(Vec<Option<i128>>),
    Exact(Vec<Option<Decimal>>),
    Real(Vec<Option<f64>>),
}

impl Numbers {
    /// Values of a column in the narrowest kind that also holds both offsets.
    fn of(column: &Column, offsets: [Option<Offset>; 2]) -> Self {
        let values: Vec<Value> = (0..column.len()).map(|row| column.value(row)).collect();
        let mut offsets = offsets.iter().flatten();
        if values.iter().all(|v| v.is_null() || whole(v).is_some())
            && offsets.clone().all(|offset| offset.whole.is_some())
        {
            return Self::Whole(values.iter().map(whole).collect());
        }
        if values.iter().all(|v| v.is_null() || exact(v).is_some())
            && offsets.all(|offset| offset.exact.is_some())
        {
            return Self::Exact(values.iter().map(exact).collect());
        }
        Self::Real(values.iter().map(number).collect())
    }
}

/// A number to which a frame's offset is added.
trait Step: Copy + PartialOrd + std::ops::Neg<Output = Self> {
    fn step(self, by: Self) -> Self;
}

impl Step for i128 {
    fn step(self, by: Self) -> Self {
        self + by
    }
}

impl Step for f64 {
    fn step(self, by: Self) -> Self {
        self + by
    }
}

impl Step for Decimal {
    /// A sum with too many digits becomes the largest or smallest decimal.
    fn step(self, by: Self) -> Self {
        self.checked_add(by).unwrap_or_else(|| {
            let most = Decimal::max_value(MAX_PRECISION, 0);
            if by.is_negative() { -most } else { most }
        })
    }
}

fn exact(value: &Value) -> Option<Decimal> {
    match value {
        Value::Decimal(v) => Some(*v),
        _ => whole(value).map(Decimal::from),
    }
}

fn whole(value: &Value) -> Option<i128> {
    match value {
        Value::Int(v) => Some(i128::from(*v)),
        Value::UInt(v) => Some(i128::from(*v)),
        _ => None,
    }
}

pub(super) fn number(value: &Value) -> Option<f64> {
    Some(match value {
        Value::Int(v) => *v as f64,
        Value::UInt(v) => *v as f64,
        Value::Double(v) => *v,
        Value::Decimal(v) => v.to_f64(),
        Value::Date(v) => v.day_number() as f64,
        Value::Time(v) => v.0 as f64,
        Value::DateTime(v) => v.linear_micros() as f64,
        Value::Null | Value::Bytes(_) => return None,
    })
}

/// One end of a row's frame, as a position: the first row, or the row after the last.
#[allow(clippy::too_many_arguments)] // one call site, all of it needed
fn edge(
    bound: &FrameBound,
    offset: Option<Offset>,
    sorted: &Sorted,
    range: &Range<usize>,
    row: usize,
    order: &Option<OrderValues>,
    by_value: bool,
    is_start: bool,
) -> usize {
    let by = offset.unwrap_or_default();
    let back = match bound {
        FrameBound::UnboundedPreceding => return range.start,
        FrameBound::UnboundedFollowing => return range.end,
        FrameBound::CurrentRow if by_value => {
            return if is_start { sorted.peer_start[row] } else { sorted.peer_end[row] };
        }
        FrameBound::CurrentRow | FrameBound::Following(_) => false,
        FrameBound::Preceding(_) => true,
    };
    let Some(order) = order else {
        let by = if back { -by.real } else { by.real } as i64;
        let at = (row as i64).saturating_add(by).saturating_add(i64::from(!is_start));
        return at.clamp(range.start as i64, range.end as i64) as usize;
    };
    let found = match &order.values {
        Numbers::Whole(values) => {
            let by = by.whole.unwrap_or(0);
            let shift = if back { -by } else { by };
            value_edge(values, order.descending, shift, range, row, is_start)
        }
        Numbers::Exact(values) => {
            let by = by.exact.unwrap_or_default();
            let shift = if back { -by } else { by };
            value_edge(values, order.descending, shift, range, row, is_start)
        }
        Numbers::Real(values) => {
            let shift = if back { -by.real } else { by.real };
            value_edge(values, order.descending, shift, range, row, is_start)
        }
    };
    found.unwrap_or(if is_start { sorted.peer_start[row] } else { sorted.peer_end[row] })
}

/// First row whose value is at least (for an end: more than) the row's value plus `shift`; `None`
/// if the row's value is NULL.
fn value_edge<T: Step>(
    values: &[Option<T>],
    descending: bool,
    shift: T,
    range: &Range<usize>,
    row: usize,
    is_start: bool,
) -> Option<usize> {
    let signed = |value: T| if descending { -value } else { value };
    let target = signed(values[row]?).step(shift);
    let before = |value: &Option<T>| match value {
        // NULLs come first in ascending and last in descending order.
        None => !descending,
        Some(v) if is_start => signed(*v) < target,
        Some(v) => signed(*v) <= target,
    };
    Some(range.start + values[range.clone()].partition_point(before))
}

/// Aggregate over the frame of every row. Equal frames share a result; growing frames go to
/// [`running`].
pub(super) fn aggregate(
    env: Env<'_>,
    aggregate: &Aggregate,
    sorted: &Sorted,
    frames: &[Range<usize>],
) -> SqlResult<Column> {
    let args: SqlResult<Vec<Arc<Column>>> =
        aggregate.inputs().map(|e: &Expr| e.eval(env.eval, &sorted.rows)).collect();
    let args = Batch::new(args?, sorted.rows.rows());
    let mut out: Option<Column> = None;
    let mut push = |value: Column, rows: usize| {
        let all = value.gather(&vec![0; rows]);
        match &mut out {
            None => out = Some(all.expand()),
            Some(out) => out.append(&all),
        }
    };
    let mut row = 0;
    while row < frames.len() {
        env.check()?;
        let frame = frames[row].clone();
        let same = frames[row..].iter().take_while(|f| **f == frame).count();
        if let Some(grown) = growing(&frames[row..]) {
            let results = running(env, aggregate, &args, &frames[row..row + grown])?;
            (0..grown).for_each(|at| push(results.gather(&[at as u32]), 1));
            row += grown;
            continue;
        }
        push(over(env, aggregate, &args, frame)?, same);
        row += same;
    }
    Ok(out.unwrap_or_else(|| Column::new(Physical::Int, 0, 0)))
}

fn over(
    env: Env<'_>,
    aggregate: &Aggregate,
    args: &Batch,
    frame: Range<usize>,
) -> SqlResult<Column> {
    let mut state = aggregate.state();
    state.resize(1);
    if !frame.is_empty() {
        let rows = args.slice(frame.start, frame.end);
        state.update(Groups::One, 1, rows.rows(), rows.columns(), env.eval)?;
    }
    state.finish(env.eval)
}

/// Number of frames from the first on that share its start and never shrink; `None` if fewer than
/// three or if they do not grow.
fn growing(frames: &[Range<usize>]) -> Option<usize> {
    let start = frames.first()?.start;
    let pairs = frames.windows(2);
    let count = 1 + pairs.take_while(|w| w[1].start == start && w[1].end >= w[0].end).count();
    let grows = frames[count - 1].end > frames[0].end;
    (count > 2 && grows).then_some(count)
}

/// Results for frames with one start. COUNT, SUM, MIN and MAX add each row once; other aggregates
/// are recomputed for each frame, in quadratic time.
fn running(
    env: Env<'_>,
    aggregate: &Aggregate,
    args: &Batch,
    frames: &[Range<usize>],
) -> SqlResult<Column> {
    let start = frames[0].start;
    if let Some(column) = running_sum(aggregate, args, frames) {
        return Ok(column);
    }
    let mut out: Option<Column> = None;
    let mut results = Vec::new();
    for frame in frames {
        results.push(over(env, aggregate, args, start..frame.end)?);
    }
    for result in results {
        match &mut out {
            None => out = Some(result.expand()),
            Some(out) => out.append(&result),
        }
    }
    Ok(out.unwrap_or_else(|| Column::new(Physical::Int, 0, 0)))
}

/// Running COUNT, SUM, MIN and MAX without DISTINCT, the common cases, which must not be quadratic.
fn running_sum(aggregate: &Aggregate, args: &Batch, frames: &[Range<usize>]) -> Option<Column> {
    use selkie_expr::aggregate::AggregateKind::{Count, Max, Min, Sum};
    if aggregate.distinct {
        return None;
    }
    let start = frames[0].start;
    let arg = args.columns().first();
    match aggregate.kind {
        Count => {
            let mut values = Vec::with_capacity(frames.len());
            let (mut at, mut count) = (start, 0i64);
            for frame in frames {
                while at < frame.end {
                    let null = args.columns().iter().any(|c| c.is_null(at));
                    count += i64::from(!null);
                    at += 1;
                }
                values.push(count);
            }
            Some(Column::from_data(ColumnData::Int(values), None))
        }
        Sum | Min | Max => running_value(aggregate, arg?, frames),
        _ => None,
    }
}

fn running_value(aggregate: &Aggregate, arg: &Column, frames: &[Range<usize>]) -> Option<Column> {
    use selkie_expr::aggregate::AggregateKind::{Max, Min};
    let mut out = crate::state::columns::column_of(&aggregate.ty, frames.len());
    let mut so_far = Value::Null;
    let mut at = frames[0].start;
    for frame in frames {
        while at < frame.end {
            let value = arg.value(at);
            at += 1;
            so_far = match (so_far, value) {
                (so_far, Value::Null) => so_far,
                (Value::Null, value) => match (aggregate.kind, &value) {
                    (Min | Max, _) => value,
                    (_, Value::Decimal(_) | Value::Double(_)) => value,
                    (_, Value::Int(v)) => {
                        Value::Decimal(selkie_types::Decimal::from_i128((*v).into(), 0))
                    }
                    (_, Value::UInt(v)) => {
                        Value::Decimal(selkie_types::Decimal::from_i128((*v).into(), 0))
                    }
                    _ => return None,
                },
                (a, b) => step(aggregate, a, b)?,
            };
        }
        if so_far.physical().is_some_and(|p| p != aggregate.ty.physical()) {
            return None;
        }
        out.push(&so_far);
    }
    Some(out)
}

fn step(aggregate: &Aggregate, a: Value, b: Value) -> Option<Value> {
    use selkie_expr::aggregate::AggregateKind::{Max, Min};
    let greater = match (&a, &b) {
        (Value::Int(x), Value::Int(y)) => x > y,
        (Value::UInt(x), Value::UInt(y)) => x > y,
        (Value::Double(x), Value::Double(y)) => x > y,
        (Value::Decimal(x), Value::Decimal(y)) => x > y,
        (Value::Date(x), Value::Date(y)) => x.0 > y.0,
        (Value::Time(x), Value::Time(y)) => x.0 > y.0,
        (Value::DateTime(x), Value::DateTime(y)) => x.0 > y.0,
        (Value::Bytes(x), Value::Bytes(y)) => aggregate.ty.collation.compare(x, y).is_gt(),
        _ => false,
    };
    match (aggregate.kind, a, b) {
        (Min, a, b) => Some(if greater { b } else { a }),
        (Max, a, b) => Some(if greater { a } else { b }),
        (_, Value::Double(x), Value::Double(y)) => Some(Value::Double(x + y)),
        (_, Value::Decimal(x), Value::Decimal(y)) => x.checked_add(y).map(Value::Decimal),
        (_, Value::Decimal(x), Value::Int(y)) => {
            x.checked_add(selkie_types::Decimal::from_i128(y.into(), 0)).map(Value::Decimal)
        }
        (_, Value::Decimal(x), Value::UInt(y)) => {
            x.checked_add(selkie_types::Decimal::from_i128(y.into(), 0)).map(Value::Decimal)
        }
        _ => None,
    }
}
