//! Filters: the rows that satisfy a condition.
//! Unknown counts as false.

use selkie_types::{Batch, Bitmap, SqlResult, stack};

use super::{logic, subset};
use crate::context::EvalContext;
use crate::expr::{Expr, ExprKind};

/// The rows for which `e` is true.
///
/// Conjuncts narrow the rows one after the other. Conjuncts that are cheap and cannot fail run over
/// the whole batch, because gathering rows costs more than comparing them.
pub(super) fn eval(e: &Expr, ctx: &EvalContext<'_>, batch: &Batch) -> SqlResult<Bitmap> {
    stack::check()?;
    let ExprKind::And(parts) = &e.kind else {
        return Ok(logic::eval(e, ctx, batch)?.yes);
    };
    let mut keep: Option<Bitmap> = None;
    for part in parts {
        let Some(so_far) = &mut keep else {
            keep = Some(eval(part, ctx, batch)?);
            continue;
        };
        let count = so_far.count_ones();
        if count == 0 {
            break;
        }
        if is_cheap(part) && count * 8 > batch.rows() {
            *so_far = so_far.and(&eval(part, ctx, batch)?);
        } else if count == batch.rows() {
            *so_far = eval(part, ctx, batch)?;
        } else {
            let numbers = so_far.positions();
            let truth = eval(part, ctx, &subset::select(part, ctx, batch, &numbers))?;
            for (i, &row) in numbers.iter().enumerate() {
                so_far.set(row as usize, truth.get(i));
            }
        }
    }
    Ok(keep.unwrap_or_else(|| Bitmap::ones(batch.rows())))
}

/// Whether evaluation costs a few instructions per row and raises nothing.
pub(super) fn is_cheap(e: &Expr) -> bool {
    // A limit, since every level of an expression asks this of all below it.
    const MOST: usize = 256;
    is_cheap_within(e, &mut { MOST })
}

/// Whether that holds, for at most `left` tests.
fn is_cheap_within(e: &Expr, left: &mut usize) -> bool {
    stack::ensure();
    let Some(rest) = left.checked_sub(1) else { return false };
    *left = rest;
    let leaf = |e: &Expr| {
        matches!(e.kind, ExprKind::Column(_) | ExprKind::Literal(_) | ExprKind::Parameter(_))
    };
    match &e.kind {
        ExprKind::Compare(c) => leaf(&c.left) && leaf(&c.right),
        ExprKind::IsNull(e) => leaf(e),
        ExprKind::InList(l) => leaf(&l.value) && l.items.iter().all(leaf),
        ExprKind::Not(e) => is_cheap_within(e, left),
        ExprKind::And(v) | ExprKind::Or(v) => v.iter().all(|e| is_cheap_within(e, left)),
        _ => false,
    }
}
