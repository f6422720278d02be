//! Subqueries inside expressions.
//!
//! A subquery runs once per batch if it does not depend on the batch; otherwise once for each row
//! whose values differ from those of the row before.

use std::cmp::Ordering;

use selkie_types::{Batch, Column, SqlResult, SqlType, Value};

use super::logic;
use crate::context::EvalContext;
use crate::expr::{CompareBy, CompareOp, Expr, ExprKind, Subquery, SubqueryKind};
use crate::kernel::ColumnScale;
use crate::order::compare_rows;

/// The values of a subquery expression.
pub(super) fn eval(
    subquery: &Subquery,
    ty: &SqlType,
    ctx: &EvalContext<'_>,
    batch: &Batch,
) -> SqlResult<Column> {
    let columns: Vec<_> = subquery
        .args
        .iter()
        .chain(&subquery.operands)
        .map(|(slot, e)| Ok((*slot, e.eval(ctx, batch)?)))
        .collect::<SqlResult<_>>()?;
    let rows = batch.rows();
    let once = columns.iter().all(|(_, c)| c.is_constant());
    let mut out = Column::new(ty.physical(), ty.decimals_of_column(), rows);
    let mut last: Option<Vec<Value>> = None;
    let extremes = if once { None } else { extremes(subquery, ctx)? };
    for row in 0..if once { rows.min(1) } else { rows } {
        let values: Vec<Value> = columns.iter().map(|(_, c)| c.value(row)).collect();
        if last.as_ref() == Some(&values) {
            let again = out.value(row - 1);
            out.push(&again);
            continue;
        }
        for ((slot, _), value) in columns.iter().zip(&values) {
            ctx.set_parameter(*slot, value.clone());
        }
        ctx.check_interrupted()?;
        out.push(&run(subquery, extremes.as_deref(), ctx)?);
        last = Some(values);
    }
    Ok(if once && rows > 1 { out.repeat(rows) } else { out })
}

/// The result for the current values of the slots; `extremes` can replace the subquery's rows.
fn run(subquery: &Subquery, extremes: Option<&[Batch]>, ctx: &EvalContext<'_>) -> SqlResult<Value> {
    let truth = |v: Option<bool>| v.map_or(Value::Null, |v| Value::Int(v.into()));
    match &subquery.kind {
        SubqueryKind::Scalar(column) => ctx.subqueries.scalar(subquery.id, *column, ctx),
        SubqueryKind::Exists => Ok(truth(Some(ctx.subqueries.exists(subquery.id, ctx)?))),
        SubqueryKind::Any(predicate) | SubqueryKind::All(predicate) => {
            let wanted = matches!(subquery.kind, SubqueryKind::Any(_));
            let answer = match extremes {
                Some(rows) => quantified(rows, predicate, ctx, wanted)?,
                None => {
                    let rows = ctx.subqueries.rows(subquery.id, ctx)?;
                    quantified(&rows, predicate, ctx, wanted)?
                }
            };
            Ok(truth(answer))
        }
    }
}

/// The orders of which the first rows decide a comparison with ANY or ALL; empty if all rows are
/// needed.
fn deciding(op: CompareOp, all: bool) -> &'static [Ordering] {
    use CompareOp::{Eq, Ge, Gt, Le, Lt, Ne};
    match (op, all) {
        // For `> ANY`, the least value decides; for `> ALL`, the greatest.
        (Gt | Ge, false) | (Lt | Le, true) => &[Ordering::Less],
        (Lt | Le, false) | (Gt | Ge, true) => &[Ordering::Greater],
        // All values are equal if the least equals the greatest.
        (Ne, false) | (Eq, true) => &[Ordering::Less, Ordering::Greater],
        _ => &[],
    }
}

/// The rows that decide a comparison with ANY or ALL: those with the least or the greatest value,
/// and one with NULL. `None` if other rows may decide, or if the subquery's rows depend on the
/// outer row.
fn extremes(subquery: &Subquery, ctx: &EvalContext<'_>) -> SqlResult<Option<Vec<Batch>>> {
    let (predicate, all) = match &subquery.kind {
        SubqueryKind::Any(predicate) => (predicate, false),
        SubqueryKind::All(predicate) => (predicate, true),
        _ => return Ok(None),
    };
    let ExprKind::Compare(compare) = &predicate.kind else { return Ok(None) };
    let orders = deciding(compare.op, all);
    let right = &compare.right;
    let operand = |e: &Expr| match e.kind {
        ExprKind::Parameter(slot) => subquery.operands.iter().any(|(at, _)| *at == slot),
        _ => false,
    };
    let differs = !subquery.args.is_empty() || ctx.subqueries.is_volatile(subquery.id);
    if orders.is_empty() || differs || right.has_side_effects() || right.any(&mut |e| operand(e)) {
        return Ok(None);
    }
    let collation = match compare.by {
        CompareBy::Bytes(collation) => collation,
        _ => right.ty.collation,
    };
    let rows = ctx.subqueries.rows(subquery.id, ctx)?;
    let attempt = ctx.attempt();
    let mut best: Vec<Option<(Batch, Column)>> = vec![None; orders.len()];
    let mut unknown: Option<Batch> = None;
    for batch in rows.iter() {
        let values = right.eval(ctx, batch)?;
        for row in 0..batch.rows() {
            if values.is_null(row) {
                unknown.get_or_insert_with(|| batch.slice(row, row + 1));
                continue;
            }
            for (best, order) in best.iter_mut().zip(orders) {
                let beats = |(_, value): &(Batch, Column)| {
                    compare_rows(&values, row, value, 0, collation) == *order
                };
                if best.as_ref().is_none_or(beats) {
                    *best = Some((batch.slice(row, row + 1), values.gather(&[row as u32])));
                }
            }
        }
    }
    // The comparison of the remaining rows raises the warnings of conversions; without this they
    // would come twice.
    ctx.undo(&attempt);
    Ok(Some(best.into_iter().flatten().map(|(row, _)| row).chain(unknown).collect()))
}

/// Whether the predicate is `wanted` for some row; that is then the answer. Otherwise the answer is
/// the opposite, or unknown if the predicate was unknown for a row.
fn quantified(
    batches: &[Batch],
    predicate: &Expr,
    ctx: &EvalContext<'_>,
    wanted: bool,
) -> SqlResult<Option<bool>> {
    let mut unknown = false;
    for batch in batches.iter().filter(|b| b.rows() > 0) {
        let truth = logic::eval(predicate, ctx, batch)?;
        let known = truth.known.as_ref().map_or(batch.rows(), |k| k.count_ones());
        let yes = truth.yes.count_ones();
        if (wanted && yes > 0) || (!wanted && yes < known) {
            return Ok(Some(wanted));
        }
        unknown |= known < batch.rows();
    }
    Ok(if unknown { None } else { Some(!wanted) })
}
