//! Factors out conjuncts that all alternatives of an OR share, so that they can join tables or use
//! indexes. Only deterministic conditions without side effects are factored.

use selkie_expr::{Expr, ExprKind};
use selkie_meter::tick;

use super::simplify::{is_false, simplified};
use crate::logical::ColumnSet;

/// The conjuncts of `condition`, with the common conjuncts of OR branches factored out.
pub(super) fn factor(condition: Expr) -> Vec<Expr> {
    let mut all = Vec::new();
    for part in simplified(condition).into_conjuncts() {
        match part.kind {
            ExprKind::Or(branches) => {
                let mut branches = branches;
                // A branch that is never true selects no rows.
                branches.retain(|branch| !is_false(branch));
                match branches.is_empty() {
                    true => all.push(Expr::boolean(false)),
                    false => factor_or(branches, &mut all),
                }
            }
            _ => all.push(part),
        }
    }
    all
}

fn factor_or(branches: Vec<Expr>, out: &mut Vec<Expr>) {
    let mut branches: Vec<Vec<Expr>> = branches.into_iter().map(Expr::into_conjuncts).collect();
    let pure = |e: &Expr| e.is_deterministic() && !e.has_side_effects();
    let holds = |branch: &[Expr], e: &Expr| {
        tick(8 * branch.len());
        branch.contains(e)
    };
    let common: Vec<Expr> = branches[0]
        .iter()
        .filter(|e| pure(e) && branches[1..].iter().all(|b| holds(b, e)))
        .cloned()
        .collect();
    for branch in &mut branches {
        branch.retain(|e| !holds(&common, e));
    }
    out.extend(common);
    if branches.iter().all(|b| !b.is_empty()) {
        out.push(any(branches.into_iter().map(all)));
    }
}

/// For an OR over several tables, the weaker OR over the columns of `side` that follows from it. It
/// is an additional condition that can be tested early, not a replacement.
pub(crate) fn implied_by_or(condition: &Expr, side: &ColumnSet) -> Option<Expr> {
    let ExprKind::Or(branches) = &condition.kind else { return None };
    let mut weaker = Vec::with_capacity(branches.len());
    for branch in branches {
        let parts: Vec<Expr> = branch
            .clone()
            .into_conjuncts()
            .into_iter()
            .filter(|e| {
                let used = ColumnSet::of(e);
                !used.is_empty()
                    && used.is_subset(side)
                    && !e.has_subquery()
                    && e.is_deterministic()
            })
            .collect();
        if parts.is_empty() {
            return None;
        }
        weaker.push(all(parts));
    }
    weaker.dedup();
    Some(if weaker.len() == 1 { weaker.remove(0) } else { any(weaker) })
}

/// AND of the conditions.
pub(crate) fn all(mut parts: Vec<Expr>) -> Expr {
    if parts.len() == 1 {
        return parts.remove(0);
    }
    boolean(ExprKind::And(Vec::new()), parts, true)
}

/// OR of the conditions.
fn any(parts: impl IntoIterator<Item = Expr>) -> Expr {
    boolean(ExprKind::Or(Vec::new()), parts.into_iter().collect(), false)
}

fn boolean(kind: ExprKind, parts: Vec<Expr>, and: bool) -> Expr {
    debug_assert!(matches!(kind, ExprKind::And(_) | ExprKind::Or(_)));
    let nullable = parts.iter().any(|p| p.nullable);
    let ty = Expr::boolean(true).ty;
    let kind = if and { ExprKind::And(parts) } else { ExprKind::Or(parts) };
    Expr::new(kind, ty, nullable)
}
