//! Merging derived tables into the query around them.
//!
//! A projection below a join, filter, grouping or another projection disappears; the expressions
//! above it read what its columns stand for. Column numbers are unique, so one map serves the
//! whole statement.

use hashbrown::HashMap;
use selkie_expr::{Expr, ExprKind};

use super::pull::is_plain;
use crate::logical::{ColumnId, Logical};
use crate::physical::JoinKind;

type Meaning = HashMap<ColumnId, Expr>;

/// Removes the projections that can be merged.
pub(crate) fn merge_projections(plan: &mut Logical) {
    let mut meaning = Meaning::new();
    merge(plan, Place::Kept, &mut meaning);
}

/// What stands above an operator.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// Something that names its columns: they must stay.
    Kept,
    /// Expressions that can read anything else instead.
    Free,
    /// The same, across the right side of an outer join: a constant would not become NULL.
    Nullable,
}

fn merge(plan: &mut Logical, place: Place, meaning: &mut Meaning) {
    let below = match plan {
        Logical::Filter { .. }
        | Logical::Window(_)
        | Logical::Sort { .. }
        | Logical::Limit { .. } => place,
        Logical::Project { .. } | Logical::Aggregate(_) => Place::Free,
        _ => Place::Kept,
    };
    match plan {
        Logical::Join(join) => {
            let right = match (join.kind, place) {
                (JoinKind::Inner, place) => place,
                (JoinKind::Semi | JoinKind::Anti, _) => Place::Free,
                (JoinKind::Left, Place::Free | Place::Nullable) => Place::Nullable,
                _ => Place::Kept,
            };
            merge(&mut join.left, place, meaning);
            merge(&mut join.right, right, meaning);
        }
        _ => plan.inputs_mut().into_iter().for_each(|input| merge(input, below, meaning)),
    }
    if !meaning.is_empty() {
        plan.for_each_expr_mut(&mut |e| substitute(e, meaning));
    }
    if let Logical::Project { columns, input } = plan
        && mergeable(columns, place, input)
    {
        meaning.extend(columns.drain(..));
        *plan = std::mem::replace(input, Logical::OneRow);
    }
}

fn mergeable(columns: &[(ColumnId, Expr)], place: Place, input: &Logical) -> bool {
    let alone = matches!(input, Logical::OneRow);
    match place {
        Place::Kept => false,
        Place::Free => !alone && columns.iter().all(|(_, e)| is_plain(e)),
        Place::Nullable => {
            !alone && columns.iter().all(|(_, e)| matches!(e.kind, ExprKind::Column(_)))
        }
    }
}

fn substitute(expr: &mut Expr, meaning: &Meaning) {
    expr.transform(&mut |e| {
        let mut other = meaning.get(&e.as_column()?)?.clone();
        other.nullable |= e.nullable;
        Some(other)
    });
}
