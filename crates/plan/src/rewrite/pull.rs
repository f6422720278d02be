//! Splits a correlated query into its conditions on outer columns and the rest. Used by
//! `unnest.rs`: the conditions become join conditions.

use hashbrown::HashMap;
use selkie_expr::{Expr, ExprKind};
use selkie_types::stack;

use crate::logical::{ColumnId, ColumnSet, Columns, Logical};
use crate::physical::JoinKind;

/// Maximum number of nodes of an expression that may be copied into several others.
pub(super) const LARGEST: usize = 2000;

/// Result of [`pull`].
#[derive(Default)]
pub(super) struct Pulled {
    /// Conditions that read outer columns.
    pub conditions: Vec<Expr>,
    /// Expressions of the query's computed columns, whose projections are removed.
    pub meaning: HashMap<ColumnId, Expr>,
}

impl Pulled {
    /// Replaces computed columns by their expressions.
    pub(super) fn apply(&self, expr: &mut Expr) {
        if !self.meaning.is_empty() {
            expr.substitute_columns(&mut |id| self.meaning.get(&id).cloned());
        }
    }
}

/// Moves the conditions on `outer` columns out of `plan`, whose duplicates and order do not matter.
/// `None` if the plan depends on outer columns in another way.
pub(super) fn pull(
    plan: Logical,
    outer: &ColumnSet,
    columns: &Columns,
    pulled: &mut Pulled,
) -> Option<Logical> {
    stack::ensure();
    let plan = match plan {
        Logical::Project { input, columns: made } if made.iter().all(|(_, e)| is_plain(e)) => {
            let input = pull(*input, outer, columns, pulled)?;
            for (id, mut expr) in made {
                pulled.apply(&mut expr);
                expr.size_within(LARGEST)?;
                pulled.meaning.insert(id, expr);
            }
            input
        }
        Logical::Filter { input, conditions } => {
            let mut input = pull(*input, outer, columns, pulled)?;
            let kept = split(conditions, outer, pulled);
            input = input.filter(kept);
            input
        }
        Logical::Join(mut join) if join.kind == JoinKind::Inner => {
            join.left = pull(join.left, outer, columns, pulled)?;
            join.right = pull(join.right, outer, columns, pulled)?;
            join.on = split(join.on, outer, pulled);
            Logical::Join(join)
        }
        Logical::Join(mut join) => {
            join.left = pull(join.left, outer, columns, pulled)?;
            join.on.iter_mut().for_each(|e| pulled.apply(e));
            Logical::Join(join)
        }
        Logical::Sort { input, .. } | Logical::Distinct { input, .. } => {
            pull(*input, outer, columns, pulled)?
        }
        other => other,
    };
    plan.free_columns(columns).is_disjoint(outer).then_some(plan)
}

/// Keeps the conditions that do not read `outer`, pulls the others.
fn split(conditions: Vec<Expr>, outer: &ColumnSet, pulled: &mut Pulled) -> Vec<Expr> {
    let mut kept = Vec::new();
    for mut condition in conditions {
        pulled.apply(&mut condition);
        match ColumnSet::of(&condition).is_disjoint(outer) {
            true => kept.push(condition),
            false => pulled.conditions.push(condition),
        }
    }
    kept
}

/// Whether an expression may be evaluated elsewhere, any number of times.
pub(super) fn is_plain(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Column(_))
        || (expr.is_deterministic() && !expr.has_side_effects() && !expr.has_subquery())
}
