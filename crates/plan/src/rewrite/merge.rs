//! Merges derived tables into the outer query.
//!
//! A projection below a join, filter, grouping or another projection is removed, and the
//! expressions above it read the expressions of its columns. Column numbers are unique, so one map
//! serves the whole statement.

use hashbrown::HashMap;
use selkie_expr::{Expr, ExprKind};
use selkie_types::stack;

use super::pull::{LARGEST, is_plain};
use crate::logical::{ColumnId, Logical};
use crate::physical::JoinKind;

type Meaning = HashMap<ColumnId, Expr>;

/// Maximum number of nodes that merging may add. A column that is read twice is computed twice, and
/// its reader may be read twice again.
const MOST_ADDED: usize = 100_000;

struct Merger {
    /// Expressions of the merged columns.
    meaning: Meaning,
    /// Number of reads of each column.
    uses: HashMap<ColumnId, usize>,
    /// Number of nodes that may still be added.
    left: usize,
}

/// Removes the projections that can be merged.
pub(crate) fn merge_projections(plan: &mut Logical) {
    let mut uses = HashMap::new();
    plan.for_each_expr_deep(&mut |e| {
        e.for_each_column(&mut |id| *uses.entry(id).or_default() += 1)
    });
    let mut merger = Merger { meaning: Meaning::new(), uses, left: MOST_ADDED };
    merge(plan, Place::Kept, &mut merger);
}

/// Context of an operator in the plan.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// An operator above refers to its columns, so they must stay.
    Kept,
    /// Expressions above can read any other expression instead.
    Free,
    /// As `Free`, but on the right side of an outer join, where a constant would not become NULL.
    Nullable,
}

fn merge(plan: &mut Logical, place: Place, merger: &mut Merger) {
    stack::ensure();
    let below = match plan {
        Logical::Filter { .. }
        | Logical::Window(_)
        | Logical::RowNumbers(_)
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
            merge(&mut join.left, place, merger);
            merge(&mut join.right, right, merger);
        }
        _ => plan.inputs_mut().into_iter().for_each(|input| merge(input, below, merger)),
    }
    if !merger.meaning.is_empty() {
        plan.for_each_expr_mut(&mut |e| substitute(e, &merger.meaning));
    }
    if let Logical::Project { columns, input } = plan
        && mergeable(columns, place, input)
        && let Some(left) = merger.left_after(columns)
    {
        merger.left = left;
        merger.meaning.extend(columns.drain(..));
        *plan = std::mem::replace(input, Logical::OneRow);
    }
}

impl Merger {
    /// Nodes that may still be added after `columns` are merged; `None` if there would be too many.
    fn left_after(&self, columns: &[(ColumnId, Expr)]) -> Option<usize> {
        columns.iter().try_fold(self.left, |left, (id, e)| match e.size_within(LARGEST)? {
            1 => Some(left),
            size => left.checked_sub(size * self.uses.get(id).copied().unwrap_or(0)),
        })
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
