//! The known order of an operator's rows.
//!
//! An operator states the order of its rows, and a parent that wants an order tests whether the
//! stated one gives it. Only sort keys and access paths may create such a statement. Builds with
//! debug assertions test the order where a plan relies on it ([`Built::relied_on`]).

use selkie_expr::{Expr, ExprKind};

use super::access::Path;
use super::operators::place_keys;
use super::{Built, Goal};
use crate::logical::{ColumnSet, RelationInfo, SortItem};

/// The order of an operator's rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    /// Sort keys, the major key first. The type of a key determines its collation.
    keys: Vec<SortItem>,
    /// Columns that have the same value in all rows.
    constant: ColumnSet,
}

impl Order {
    /// No order.
    pub(super) fn none() -> Self {
        Self::default()
    }

    /// The order of an operator that sorts by `keys`, or that keeps the order of such rows.
    pub(super) fn sorted_by(keys: &[SortItem]) -> Self {
        Self { keys: keys.to_vec(), constant: ColumnSet::default() }
    }

    /// The order of at most one row of a table. It is not the order of a join with other tables.
    pub(super) fn of_one_row(info: &RelationInfo) -> Self {
        let columns = info.first..info.first + info.table.columns.len();
        Self { keys: Vec::new(), constant: columns.collect() }
    }

    /// The wanted order, if a path has it.
    pub(super) fn asked_for(goal: Goal<'_>, has: bool) -> Self {
        goal.order.filter(|_| has).map_or_else(Self::none, Self::sorted_by)
    }

    /// Whether rows in this order are also in the order of `wanted`.
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

    /// The same order over computed columns: `above`, if this order gives `below`. Both must have
    /// the same values key by key.
    pub(super) fn renamed(self, below: Option<&[SortItem]>, above: Option<&[SortItem]>) -> Self {
        match (below, above) {
            (Some(below), Some(above)) if self.gives(below) => {
                Self { keys: above.to_vec(), constant: self.constant }
            }
            _ => self,
        }
    }

    /// Whether the order has sort keys.
    pub(super) fn has_keys(&self) -> bool {
        !self.keys.is_empty()
    }
}

/// Whether an expression has the same value at every evaluation for a row.
fn has_one_value(expr: &Expr) -> bool {
    let subquery = |e: &Expr| matches!(e.kind, ExprKind::Subquery(_));
    expr.is_deterministic() && !expr.has_side_effects() && !expr.any(&mut { subquery })
}

impl Path {
    /// Whether its rows come in the wanted order.
    pub(super) fn gives(&self, goal: Goal<'_>) -> bool {
        goal.order.is_some_and(|keys| self.order.gives(keys))
    }
}

impl Built {
    /// Marks that the parent uses these rows in the order of `keys` without a sort.
    pub(super) fn relied_on(mut self, keys: &[SortItem]) -> Self {
        debug_assert!(self.order.gives(keys), "rows are not in the order {keys:?}");
        self.node.in_order = place_keys(&self, keys);
        self
    }
}
