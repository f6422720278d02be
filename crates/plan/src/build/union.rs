//! Reading a table by several indexes, one for each branch of an OR.
//!
//! MariaDB calls this an index merge, and EXPLAIN shows "Using union", or "Using sort_union" where
//! the keys of one index do not come in the order of the clustered key.

use selkie_engine::LockMode;
use selkie_expr::{Expr, ExprKind};

use super::access::Path;
use super::bounds::{Bounds, conjunction};
use super::{Builder, Goal, Order};
use crate::cost;
use crate::logical::RelationInfo;

impl Builder<'_> {
    /// The best path over several indexes that together find all rows of an OR in `conditions`.
    pub(super) fn union_path(
        &self,
        info: &RelationInfo,
        conditions: &[Expr],
        read: &[usize],
        goal: Goal<'_>,
        rows: f64,
        selectivity: f64,
    ) -> Option<Path> {
        // Compat: tables whose rows have no order of their own give them in insertion order.
        if info.table.engine.rows.insertion_order {
            return None;
        }
        let unions = conditions.iter().filter_map(|c| self.union_of(info, c, rows));
        let (found, union) = unions.min_by(|a, b| a.0.total_cmp(&b.0))?;
        let descents: usize = union.iter().map(|(_, bounds)| bounds.ranges.len()).sum();
        let each = cost::INDEX_ENTRY + cost::HASH_BUILD + cost::FETCH_ROW + self.page_cost(info);
        let cost = cost::OPEN_SCAN * union.len() as f64
            + descents as f64 * cost::INDEX_DESCENT
            + found * (each + read.len() as f64 * cost::DECODE_COLUMN)
            + self.conditions_cost(conditions, found);
        let clustered = info.table.def.primary().and(goal.order);
        let order = clustered.and_then(|keys| self.index_order(info, 0, None, keys));
        let order = Order::asked_for(goal, order == Some(false));
        Some(Path {
            index: None,
            bounds: Bounds::default(),
            union,
            covering: false,
            entry_locks: false,
            reverse: false,
            order,
            groups: None,
            text: None,
            rows: (rows * selectivity).min(found).max(1e-6),
            examined: found,
            cost,
            unique: false,
        })
    }

    /// The ranges of an OR by index, and the number of rows in them. `None` if one index is enough
    /// or if a branch restricts no index.
    fn union_of(
        &self,
        info: &RelationInfo,
        condition: &Expr,
        rows: f64,
    ) -> Option<(f64, Vec<(usize, Bounds)>)> {
        let ExprKind::Or(branches) = &condition.kind else { return None };
        let mut union: Vec<(usize, Bounds)> = Vec::new();
        let mut found = 0.0;
        for branch in branches {
            let parts = branch.clone().into_conjuncts();
            let (count, at, bounds) = self.branch_bounds(info, &parts, rows)?;
            found += count;
            match union.iter_mut().find(|(index, _)| *index == at) {
                Some((_, all)) => all.ranges.extend(bounds.ranges),
                None => union.push((at, bounds)),
            }
        }
        (union.len() > 1).then_some((found.min(rows), union))
    }

    /// The index with the fewest rows under some conditions.
    fn branch_bounds(
        &self,
        info: &RelationInfo,
        conditions: &[Expr],
        rows: f64,
    ) -> Option<(f64, usize, Bounds)> {
        let restricted = |at: usize| {
            let bounds = conjunction(info, &info.table.def.indexes[at], conditions);
            let count = || self.range_rows(info, at, &bounds, conditions, rows);
            bounds.restricts().then(count).map(|count| (count, at, bounds))
        };
        let indexes = 0..info.table.def.indexes.len();
        let allowed = indexes.filter(|at| self.is_allowed(info, *at));
        allowed.filter_map(restricted).min_by(|a, b| a.0.total_cmp(&b.0))
    }
}

/// The indexes that branches of an OR could use. Compat: they are listed even if other branches
/// have no index.
pub(super) fn union_keys(info: &RelationInfo, condition: &Expr) -> Vec<usize> {
    let ExprKind::Or(branches) = &condition.kind else { return Vec::new() };
    let mut usable = Vec::new();
    for branch in branches {
        let parts = branch.clone().into_conjuncts();
        let indexes = info.table.def.indexes.iter().enumerate().filter(|(_, index)| !index.hashed);
        let before = usable.len();
        usable.extend(
            indexes.filter_map(|(at, index)| {
                conjunction(info, index, &parts).restricts().then_some(at)
            }),
        );
        if info.lock == LockMode::Exclusive && usable.len() == before {
            // All rows must be read for this branch. Compat: a query lists the indexes all the
            // same.
            return Vec::new();
        }
    }
    usable
}
