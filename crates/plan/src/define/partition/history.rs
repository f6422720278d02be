//! PARTITION BY SYSTEM_TIME: the rule for rows of history, and the ends of partitions that rotate
//! by time. Rows are routed elsewhere.

use selkie_catalog::{
    Given, HistoryInterval, MethodKind, Partition, PartitionLimit, PartitionMethod, Partitioning,
    RotateBy, Rotation, TableInfo, quote_identifier, smallest_unit,
};
use selkie_expr::{Expr as Bound, cast};
use selkie_sql::ast::{self, Expr, ExprKind, IntervalUnit, Literal, PartitionDef, PartitionValues};
use selkie_types::error::catalogue::*;
use selkie_types::temporal::{Interval, MICROS_PER_SECOND};
use selkie_types::{Batch, Condition, DateTime, SqlError, SqlResult, Value};

use super::plain;
use crate::bind::Clause;
use crate::define::{DefineContext, expressions};

/// Number of partitions without a list or a number.
const FEWEST: usize = 2;
const NO_ROTATION: &str = "no rotation condition for multiple HISTORY partitions.";

/// The method of a clause.
pub(super) fn method(
    context: &DefineContext<'_>,
    table: &TableInfo,
    given: &ast::PartitionMethod,
) -> SqlResult<PartitionMethod> {
    let ast::PartitionMethod::SystemTime { interval, starts, limit, auto } = given else {
        return Err(super::not_found());
    };
    let by = match (interval, limit) {
        (Some((amount, unit)), _) => {
            let count = count(context, table, amount, *unit)?;
            let unit_name = unit.name().to_owned();
            let starts = match starts {
                Some(starts) => given_start(context, table, starts)?,
                None => rounded_now(context, *unit),
            };
            RotateBy::Interval(HistoryInterval { count, unit: unit_name, starts })
        }
        (None, Some(0)) => return Err(wrong(table, "LIMIT")),
        (None, Some(rows)) => RotateBy::Rows(*rows),
        (None, None) => RotateBy::Nothing,
    };
    let end = table.system_time().map(|period| quote_identifier(&table.columns[period.end].name));
    Ok(PartitionMethod {
        kind: MethodKind::SystemTime,
        linear: false,
        algorithm: None,
        expression: format!("unix_timestamp({})", end.unwrap_or_default()),
        columns: Vec::new(),
        rotation: Some(Rotation { by, auto: *auto }),
    })
}

fn wrong(table: &TableInfo, what: &str) -> SqlError {
    SqlError::new(&ER_PART_WRONG_VALUE, &[&table.name(), &what])
}

/// A constant of the clause.
fn constant(context: &DefineContext<'_>, table: &TableInfo, expr: &Expr) -> SqlResult<Bound> {
    let queries = |e: &mut Expr| matches!(e.kind, ExprKind::Subquery(_) | ExprKind::Exists(_));
    if expr.clone().find(&mut |e| queries(&mut e.clone()).then_some(())).is_some() {
        return Err(SqlError::new(&ER_SUBQUERIES_NOT_SUPPORTED, &[&"INTERVAL"]));
    }
    let none = TableInfo { columns: Vec::new(), ..table.clone() };
    let bound = expressions::with_binder(context, |binder| {
        binder.row_syntax(&none, expr, Clause::Partition)
    });
    bound.map_err(|error| match expr.find(&mut first_column) {
        // Compat: an unknown column is one of a query.
        Some(name) => SqlError::new(&ER_BAD_FIELD_ERROR, &[&name, &"SELECT"]),
        None => error,
    })
}

fn first_column(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Column(column) => Some(column.name.value.to_string()),
        _ => None,
    }
}

/// An amount of `unit` as a number of smallest units.
fn count(
    context: &DefineContext<'_>,
    table: &TableInfo,
    amount: &Expr,
    unit: IntervalUnit,
) -> SqlResult<u32> {
    let wrong = || wrong(table, "INTERVAL");
    let mut bound = constant(context, table, amount)?;
    if unit.has_micros() {
        return Err(wrong());
    }
    let value = |bound: &Bound| -> SqlResult<Value> {
        Ok(bound.eval(context.eval, &Batch::one_row())?.value(0))
    };
    let (part, scale) = smallest_unit(unit);
    let count = match unit {
        _ if unit.is_compound() => {
            cast::to_text(&mut bound, &context.eval.types);
            let Value::Bytes(text) = value(&bound)? else { return Err(wrong()) };
            let interval = Interval::parse(unit, &text).ok_or_else(wrong)?;
            let one = Interval::new(part, 1);
            match one.months {
                0 => interval.micros / one.micros.max(1),
                months => i128::from(interval.months / months),
            }
        }
        IntervalUnit::Second => {
            cast::to_decimal(&mut bound);
            match value(&bound)? {
                Value::Decimal(seconds) if seconds.truncate(0) == seconds => {
                    i128::from(seconds.to_i64().unwrap_or(0))
                }
                _ => 0,
            }
        }
        _ => {
            cast::to_int(&mut bound);
            match value(&bound)? {
                Value::Int(count) => i128::from(count) * i128::from(scale),
                Value::UInt(count) => i128::from(count) * i128::from(scale),
                _ => 0,
            }
        }
    };
    u32::try_from(count).ok().filter(|count| *count > 0).ok_or_else(wrong)
}

/// The time of STARTS, a text or a time.
fn given_start(context: &DefineContext<'_>, table: &TableInfo, starts: &Expr) -> SqlResult<i64> {
    let wrong = || wrong(table, "STARTS");
    let literal = match &starts.kind {
        ExprKind::Literal(literal @ (Literal::String(_) | Literal::Temporal { .. })) => literal,
        _ => return Err(wrong()),
    };
    let mut bound = constant(context, table, starts)?;
    if matches!(literal, Literal::String(_)) {
        cast::to_datetime(&mut bound);
    }
    let Value::DateTime(local) = bound.eval_value(context.eval).map_err(|_| wrong())? else {
        return Err(wrong());
    };
    if local.date().has_zero_part() {
        return Err(wrong());
    }
    let at = context.eval.types.time_zone.micros_from_local(local).div_euclid(MICROS_PER_SECOND);
    if !(1..=i64::from(i32::MAX)).contains(&at) {
        return Err(wrong());
    }
    if at > context.eval.now_micros.div_euclid(MICROS_PER_SECOND) {
        let name = table.name();
        context.eval.push(Condition::warning(&ER_PART_STARTS_BEYOND_INTERVAL, &[&name]));
    }
    Ok(at)
}

/// The time of the statement, rounded down to whole units; no unit is longer than a day.
fn rounded_now(context: &DefineContext<'_>, unit: IntervalUnit) -> i64 {
    use IntervalUnit as U;
    let zone = &context.eval.types.time_zone;
    let Some(local) = zone.local_from_micros(context.eval.now_micros) else { return 0 };
    let seconds = match smallest_unit(unit).0 {
        U::Second => 1,
        U::Minute => 60,
        U::Hour => 3600,
        _ => 86_400,
    };
    let step = seconds * MICROS_PER_SECOND;
    let micros = local.unix_micros();
    let rounded = DateTime::from_unix_micros(micros - micros.rem_euclid(step));
    rounded.map_or(0, |local| zone.micros_from_local(local).div_euclid(MICROS_PER_SECOND))
}

/// The rows of a partition by its definition; the ends of partitions come later.
pub(super) fn limit(kind: MethodKind, def: &PartitionDef) -> SqlResult<PartitionLimit> {
    match &def.values {
        _ if kind != MethodKind::SystemTime => Err(wrong_type("SYSTEM_TIME", kind)),
        PartitionValues::History => Ok(PartitionLimit::History(None)),
        PartitionValues::Current => Ok(PartitionLimit::Current),
        _ => Ok(PartitionLimit::Slot),
    }
}

/// The error for a partition that its table cannot have.
fn wrong_type(ty: &str, table: MethodKind) -> SqlError {
    let by = match table {
        MethodKind::Range | MethodKind::RangeColumns => "RANGE",
        MethodKind::List | MethodKind::ListColumns => "LIST",
        MethodKind::Hash => "HASH",
        MethodKind::Key => "KEY",
        MethodKind::SystemTime => "SYSTEM_TIME",
    };
    SqlError::new(&ER_PARTITION_WRONG_TYPE, &[&ty, &by])
}

/// The partitions of a clause without a list.
pub(super) fn made(count: Option<usize>) -> Vec<Partition> {
    let count = count.unwrap_or(FEWEST);
    let history = super::names("p", count.saturating_sub(1))
        .map(|name| plain(name, PartitionLimit::History(None)));
    history.chain([plain("pn".into(), PartitionLimit::Current)]).collect()
}

/// Checks the partitions of a table and gives those that rotate by time their ends.
pub(super) fn settle(partitioning: &mut Partitioning, table: &TableInfo) -> SqlResult<()> {
    let Some(rotation) = partitioning.method.rotation.clone() else { return Ok(()) };
    let is_history = |part: &Partition| matches!(part.limit, PartitionLimit::History(_));
    let shape = match partitioning.parts.split_last() {
        Some((last, others)) => {
            last.limit == PartitionLimit::Current
                && !others.is_empty()
                && others.iter().all(is_history)
        }
        None => false,
    };
    if !shape {
        return Err(wrong_parts(table));
    }
    let RotateBy::Interval(interval) = &rotation.by else { return Ok(()) };
    let mut from = interval.starts;
    let mut ends = partitioning.parts.iter_mut().filter_map(|part| match &mut part.limit {
        PartitionLimit::History(end) => Some(end),
        _ => None,
    });
    let mut next = ends.next();
    while let Some(end) = next {
        next = ends.next();
        let type_name = "TIMESTAMP";
        let wide = || SqlError::new(&ER_DATA_OUT_OF_RANGE, &[&type_name, &"INTERVAL"]);
        // The last one may go on to the end of all times.
        let last = || next.is_none().then_some(i64::from(i32::MAX));
        from = interval.after(from).or_else(last).ok_or_else(wide)?;
        *end = Some(from);
    }
    Ok(())
}

/// Fails if a new clause has several history partitions and nothing by which they rotate.
pub(super) fn check_rotation(table: &TableInfo) -> SqlResult<()> {
    let Some(partitions) = &table.partitions else { return Ok(()) };
    let never = partitions.rotation().is_some_and(|by| by.by == RotateBy::Nothing);
    if never && partitions.parts.len() > FEWEST {
        return Err(SqlError::new(&WARN_VERS_PARAMETERS, &[&NO_ROTATION]));
    }
    Ok(())
}

fn wrong_parts(table: &TableInfo) -> SqlError {
    SqlError::new(&ER_VERS_WRONG_PARTS, &[&table.name()])
}

/// Puts new history partitions before the one of current rows.
///
/// Compat: that nothing tells when they rotate is a warning here.
pub(super) fn add(
    context: &DefineContext<'_>,
    to: &mut Partitioning,
    new: Vec<Partition>,
) -> SqlResult<()> {
    if new.iter().any(|part| part.limit == PartitionLimit::Slot) {
        return Err(wrong_type("HASH", MethodKind::SystemTime));
    }
    let before = to.parts.len().saturating_sub(1);
    to.parts.splice(before..before, new);
    if to.rotation().is_some_and(|by| by.by == RotateBy::Nothing) {
        context.eval.push(Condition::warning(&WARN_VERS_PARAMETERS, &[&NO_ROTATION]));
    }
    Ok(())
}

/// The number that begins the names of `count` added partitions: none of them is taken.
pub(super) fn first_free(of: &Partitioning, count: usize) -> usize {
    let mut first = of.parts.len().saturating_sub(1);
    let taken = |at: usize| of.leaves_of(&format!("p{at}")).is_some();
    while let Some(at) = (first..first + count).rev().find(|at| taken(*at)) {
        first = at + 1;
    }
    first
}

/// Checks that partitions may be dropped, and moves the start of their intervals.
pub(super) fn before_drop(
    table: &TableInfo,
    of: &mut Partitioning,
    dropped: &[usize],
) -> SqlResult<()> {
    of.given = Given::List;
    let last = of.parts.len().saturating_sub(1);
    if dropped.contains(&last) || dropped.len() >= last {
        return Err(wrong_parts(table));
    }
    let ends: Vec<i64> = of.history_ends().collect();
    let Some(Rotation { by: RotateBy::Interval(interval), .. }) = &mut of.method.rotation else {
        return Ok(());
    };
    if !(0..dropped.len()).all(|at| dropped.contains(&at)) {
        return Err(SqlError::new(&ER_VERS_DROP_PARTITION_INTERVAL, &[]));
    }
    if let Some(end) = dropped.len().checked_sub(1).and_then(|at| ends.get(at)) {
        interval.starts = *end;
    }
    Ok(())
}

/// Gives history partitions, which keep their rows, other names and options.
pub(super) fn replace(
    table: &TableInfo,
    of: &mut Partitioning,
    found: std::ops::RangeInclusive<usize>,
    mut new: Vec<Partition>,
) -> SqlResult<()> {
    for (part, old) in new.iter_mut().zip(&of.parts[found.clone()]) {
        let is_history = |part: &Partition| matches!(part.limit, PartitionLimit::History(_));
        if !is_history(part) || !is_history(old) {
            return Err(wrong_parts(table));
        }
        part.id = old.id;
        for (sub, old) in part.subs.iter_mut().zip(&old.subs) {
            sub.id = old.id;
        }
    }
    of.parts.splice(found, new);
    of.given = Given::List;
    Ok(())
}
