//! Costs that a hash join saves below an aggregation: the keys of its build side filter the scan
//! that the aggregation reads (`filters.rs`), so that only the groups that are joined are computed.

use selkie_expr::{CompareOp, Expr, ExprKind};

use super::Builder;
use super::filters::scan_of;
use super::graph::{Graph, Leaf, Leaves};
use crate::cost;
use crate::logical::{ColumnId, ColumnSet};
use crate::physical::{Operator, PlanNode};

/// Share of a leaf's rows from which on a join counts as saving nothing.
const MOST_LEFT: f64 = 0.25;

/// The part of a leaf's cost that shrinks with the rows its scan gives.
#[derive(Clone, Debug)]
pub(super) struct Below {
    /// Columns of the leaf whose values a join can look for in the scan.
    pub columns: ColumnSet,
    /// Cost of all that is done with the rows of the scan.
    pub cost: f64,
    /// Rows of the scan before any condition.
    pub scanned: f64,
}

impl Builder<'_> {
    /// The costs below a leaf that aggregates the rows of a scan of column groups.
    pub(super) fn below(&self, node: &mut PlanNode, layout: &[ColumnId]) -> Option<Below> {
        let (cost, scanned) = self.scan_below(node)?;
        let columns: ColumnSet = layout
            .iter()
            .enumerate()
            .filter(|(at, _)| scan_of(node, *at).is_some())
            .map(|(_, id)| *id)
            .collect();
        (!columns.is_empty()).then_some(Below { columns, cost: node.cost - cost, scanned })
    }

    /// Cost and number of rows of the scan of column groups below an aggregation.
    fn scan_below(&self, node: &PlanNode) -> Option<(f64, f64)> {
        let mut node = node;
        let mut aggregations = 0;
        loop {
            node = match &node.operator {
                Operator::Aggregate(aggregate) => {
                    aggregations += 1;
                    &aggregate.input
                }
                Operator::Project { input, .. } | Operator::Filter { input, .. } => input,
                Operator::TableScan(scan) => {
                    let grouped = self.source.grouped_share(&scan.table, &[]) > 0.5;
                    return (aggregations > 0 && grouped).then_some((node.cost, scan.examined));
                }
                _ => return None,
            };
        }
    }

    /// Share of a leaf's rows that are left if a hash join built from `built` rows of `build`
    /// probes with them, and the cost that it saves below.
    pub(super) fn saved_below(
        &self,
        graph: &Graph,
        probe: Leaves,
        (build, built): (Leaves, f64),
    ) -> (f64, f64) {
        let at = probe.trailing_zeros() as usize;
        let leaf = &graph.leaves[at];
        let Some(below) = leaf.below.as_ref().filter(|_| probe.count_ones() == 1) else {
            return (1.0, 0.0);
        };
        let mut share = 1.0;
        for (mine, theirs) in pairs(graph, at, build) {
            if below.columns.contains(mine) {
                let found = self.values_in(graph, build, theirs).min(built);
                share *= (found / self.distinct(mine).max(1.0)).min(1.0);
            }
        }
        // A little that may be saved is within the error of the estimate.
        if share > MOST_LEFT {
            return (1.0, 0.0);
        }
        let saved = below.cost * (1.0 - share) - below.scanned * cost::FILTER_PROBE;
        (share, saved.max(0.0))
    }

    /// Distinct values of a column in the rows of joined leaves.
    fn values_in(&self, graph: &Graph, set: Leaves, id: ColumnId) -> f64 {
        let rows = |leaf: &Leaf| leaf.rows.max(1.0);
        let of = |at: usize, id: ColumnId| self.distinct(id).min(rows(&graph.leaves[at]));
        let class = graph.classes.iter().find(|class| class.iter().any(|(_, c)| *c == id));
        let members = class.into_iter().flatten().filter(|(at, _)| set >> at & 1 == 1);
        members.map(|(at, id)| of(*at, *id)).fold(self.distinct(id), f64::min)
    }
}

/// Columns of a leaf, each with a column of joined leaves that it must equal.
fn pairs(graph: &Graph, at: usize, others: Leaves) -> Vec<(ColumnId, ColumnId)> {
    let leaf = &graph.leaves[at];
    let mut pairs = Vec::new();
    for class in &graph.classes {
        let mine = class.iter().find(|(own, _)| *own == at);
        let theirs = class.iter().find(|(other, _)| others >> other & 1 == 1 && *other != at);
        if let (Some((_, mine)), Some((_, theirs))) = (mine, theirs) {
            pairs.push((*mine, *theirs));
        }
    }
    let on = leaf.dependent.iter().flat_map(|d| &d.on);
    pairs.extend(
        on.filter_map(equal_columns).map(
            |(a, b)| {
                if leaf.columns.contains(a) { (a, b) } else { (b, a) }
            },
        ),
    );
    pairs
}

fn equal_columns(condition: &Expr) -> Option<(ColumnId, ColumnId)> {
    let ExprKind::Compare(compare) = &condition.kind else { return None };
    if compare.op != CompareOp::Eq {
        return None;
    }
    compare.left.as_column().zip(compare.right.as_column())
}
