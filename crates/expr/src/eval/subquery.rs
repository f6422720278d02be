//! Subqueries inside expressions.
//!
//! A subquery runs once per batch if it depends on nothing in it, else once per row with other
//! values than the row before.

use selkie_types::{Batch, Column, SqlResult, SqlType, Value};

use super::{ColumnScale, logic};
use crate::context::EvalContext;
use crate::expr::{Expr, Subquery, SubqueryKind};

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
        out.push(&run(subquery, ctx)?);
        last = Some(values);
    }
    Ok(if once && rows > 1 { out.repeat(rows) } else { out })
}

fn run(subquery: &Subquery, ctx: &EvalContext<'_>) -> SqlResult<Value> {
    let truth = |v: Option<bool>| v.map_or(Value::Null, |v| Value::Int(v.into()));
    match &subquery.kind {
        SubqueryKind::Scalar(column) => ctx.subqueries.scalar(subquery.id, *column, ctx),
        SubqueryKind::Exists => Ok(truth(Some(ctx.subqueries.exists(subquery.id, ctx)?))),
        SubqueryKind::Any(predicate) => Ok(truth(quantified(subquery, predicate, ctx, true)?)),
        SubqueryKind::All(predicate) => Ok(truth(quantified(subquery, predicate, ctx, false)?)),
    }
}

/// Whether the predicate has the value `wanted` for some row: then that is the answer, else it is
/// the opposite, or unknown if the predicate was.
fn quantified(
    subquery: &Subquery,
    predicate: &Expr,
    ctx: &EvalContext<'_>,
    wanted: bool,
) -> SqlResult<Option<bool>> {
    let batches = ctx.subqueries.rows(subquery.id, ctx)?;
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
