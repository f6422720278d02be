//! PERCENTILE_CONT, PERCENTILE_DISC and MEDIAN: a position in the sorted values that are not NULL.
//! The rows of a partition all get the same result.

use std::sync::Arc;

use selkie_plan::physical::{Window as Plan, WindowCall, WindowFunction};
use selkie_types::error::catalogue::{ER_ARGUMENT_NOT_CONSTANT, ER_ARGUMENT_OUT_OF_RANGE};
use selkie_types::{Column, SqlError, SqlResult, Value};

use super::Sorted;
use super::frame::number;
use crate::run::Env;
use crate::state::columns::column_of;

/// A percentile of the order key for every partition.
pub(super) fn compute(
    env: Env<'_>,
    plan: &Plan,
    call: &WindowCall,
    sorted: &Sorted,
    args: &[Arc<Column>],
) -> SqlResult<Column> {
    let mut out = column_of(&call.ty, sorted.rows.rows());
    let Some(key) = plan.order.first() else { return Ok(out) };
    let values = key.expr.eval(env.eval, &sorted.rows)?;
    let between = matches!(call.function, WindowFunction::PercentileCont);
    for range in sorted.ranges() {
        let share = share(name(between), &args[0], range.clone())?;
        let known: Vec<usize> = range.clone().filter(|&row| !values.is_null(row)).collect();
        let value = match (known.is_empty(), between) {
            (true, _) => Value::Null,
            (false, true) => Value::Double(interpolated(&values, &known, share)),
            (false, false) => values.value(known[place(known.len(), share)]),
        };
        range.for_each(|_| out.push(&value));
    }
    Ok(out)
}

fn name(between: bool) -> &'static str {
    if between { "percentile_cont" } else { "percentile_disc" }
}

/// The fraction argument, which must be the same number for the whole partition.
fn share(name: &str, shares: &Column, mut rows: std::ops::Range<usize>) -> SqlResult<f64> {
    let Some(first) = rows.next().map(|row| shares.value(row)) else { return Ok(0.0) };
    if rows.any(|row| shares.value(row) != first) {
        return Err(SqlError::new(&ER_ARGUMENT_NOT_CONSTANT, &[&name]));
    }
    let share = number(&first).filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| SqlError::new(&ER_ARGUMENT_OUT_OF_RANGE, &[&name]))
}

/// Position of the first of `count` values whose cumulative share is at least `share`.
fn place(count: usize, share: f64) -> usize {
    (0..count).find(|&at| (at + 1) as f64 / count as f64 >= share).unwrap_or(count - 1)
}

/// Interpolates linearly between the two values next to the position.
fn interpolated(values: &Column, known: &[usize], share: f64) -> f64 {
    let value = |at: f64| {
        let row = known[(at as usize - 1).min(known.len() - 1)];
        number(&values.value(row)).unwrap_or(0.0)
    };
    let place = 1.0 + share * (known.len() - 1) as f64;
    let (below, above) = (place.floor(), place.ceil());
    if below == above {
        return value(below);
    }
    (place - below) * value(above) + (above - place) * value(below)
}
