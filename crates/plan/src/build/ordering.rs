//! The order an operator's rows are known to have.
//!
//! An operator does not answer whether its rows come "in order"; it says in which, and whoever
//! wants one asks whether that gives it. Only what is made here from keys that were sorted by, or
//! from the path a table is read by, is such a claim. Builds with debug assertions test it where a
//! plan relies on it ([`Built::relied_on`]).

use selkie_expr::{Expr, ExprKind};

use super::access::Path;
use super::operators::place_keys;
use super::{Built, Goal};
use crate::logical::{ColumnSet, RelationInfo, SortItem};

/// The order in which rows come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    /// They are sorted by these, the major key first. A key says by its type which collation
    /// counts.
    keys: Vec<SortItem>,
    /// Columns that have the same value in all rows.
    constant: ColumnSet,
}

impl Order {
    /// No order.
    pub(super) fn none() -> Self {
        Self::default()
    }

    /// The order of an operator that sorts by `keys`, or keeps apart what comes sorted by them.
    pub(super) fn sorted_by(keys: &[SortItem]) -> Self {
        Self { keys: keys.to_vec(), constant: ColumnSet::default() }
    }

    /// The order of at most one row of a table. Joined with others it is no order of theirs.
    pub(super) fn of_one_row(info: &RelationInfo) -> Self {
        let columns = info.first..info.first + info.table.columns.len();
        Self { keys: Vec::new(), constant: columns.collect() }
    }

    /// The order that was asked for, if a path was found to have it.
    pub(super) fn asked_for(goal: Goal<'_>, has: bool) -> Self {
        goal.order.filter(|_| has).map_or_else(Self::none, Self::sorted_by)
    }

    /// Whether rows in this order are in the order of `wanted` too.
    pub(super) fn gives(&self, wanted: &[SortItem]) -> bool {
        let mut keys = self.keys.iter();
        wanted.iter().all(|item| {
            has_one_value(&item.expr)
                && (self.is_constant(&item.expr)
                    || keys.next().is_some_and(|key| {
                        key.expr == item.expr && key.descending == item.descending
                    }))
        })
    }

    fn is_constant(&self, expr: &Expr) -> bool {
        ColumnSet::of(expr).is_subset(&self.constant)
    }

    /// The same order said of columns that were computed: by `above`, if it gives `below`, which
    /// are the same values key by key.
    pub(super) fn renamed(self, below: Option<&[SortItem]>, above: Option<&[SortItem]>) -> Self {
        match (below, above) {
            (Some(below), Some(above)) if self.gives(below) => {
                Self { keys: above.to_vec(), constant: self.constant }
            }
            _ => self,
        }
    }

    /// Whether rows have to come as the keys say.
    pub(super) fn has_keys(&self) -> bool {
        !self.keys.is_empty()
    }
}

/// Whether an expression has the same value wherever it is computed for a row.
fn has_one_value(expr: &Expr) -> bool {
    let subquery = |e: &Expr| matches!(e.kind, ExprKind::Subquery(_));
    expr.is_deterministic() && !expr.has_side_effects() && !expr.any(&mut { subquery })
}

impl Path {
    /// Whether its rows come in the order that is wanted.
    pub(super) fn gives(&self, goal: Goal<'_>) -> bool {
        goal.order.is_some_and(|keys| self.order.gives(keys))
    }
}

impl Built {
    /// Rows of this operator are used as they come, since they are in the order of `keys`.
    pub(super) fn relied_on(mut self, keys: &[SortItem]) -> Self {
        debug_assert!(self.order.gives(keys), "rows are not in the order {keys:?}");
        self.node.in_order = place_keys(&self, keys);
        self
    }
}
