//! Queries that read nothing but the ends of indexes.
//!
//! Compat: MariaDB reads such ends while it plans the query, and its EXPLAIN lists no table.

use selkie_expr::aggregate::AggregateKind;
use selkie_expr::{Expr, ExprKind};
use selkie_types::stack;

use super::rows::number;
use crate::physical::{Access, Operator, PlanNode, TableScan};

/// Whether a node gives MIN and MAX of columns, each read from the end of an index. Values of the
/// first `parameters` parameters are known.
pub(super) fn is_of_ends(node: &PlanNode, parameters: usize) -> bool {
    stack::ensure();
    match &node.operator {
        Operator::NestedLoopJoin(join) => {
            let both = is_of_ends(&join.left, parameters) && is_of_ends(&join.right, parameters);
            both && join.conditions.is_empty()
        }
        Operator::Aggregate(aggregate) if aggregate.groups.is_empty() => {
            let is_end = |kind| matches!(kind, AggregateKind::Min | AggregateKind::Max);
            let mut calls = aggregate.aggregates.iter();
            calls.all(|call| is_end(call.kind)) && reads_one(&aggregate.input, parameters)
        }
        _ => false,
    }
}

fn reads_one(node: &PlanNode, parameters: usize) -> bool {
    let Operator::Limit(limit) = &node.operator else { return false };
    let one = limit.limit.as_ref().and_then(number) == Some(1) && limit.offset.is_none();
    let mut input = &limit.input;
    while let Operator::Project { input: below, .. } = &input.operator {
        input = below;
    }
    match &input.operator {
        Operator::TableScan(scan) => one && is_end(scan, parameters),
        _ => false,
    }
}

/// Whether a scan reads an index in its order, under no condition but on its key.
fn is_end(scan: &TableScan, parameters: usize) -> bool {
    let Access::Index(range) = &scan.access else { return false };
    let of_outer = |e: &Expr| matches!(e.kind, ExprKind::Parameter(at) if at >= parameters);
    let mut values = range.ranges.iter().flat_map(|range| &range.equal);
    let is_not_null = |condition: &Expr| match &condition.kind {
        ExprKind::Not(inner) => matches!(inner.kind, ExprKind::IsNull(_)),
        _ => false,
    };
    range.ordered
        && scan.filter.iter().all(is_not_null)
        && !values.any(|value| value.any(&mut |e| of_outer(e)))
}
