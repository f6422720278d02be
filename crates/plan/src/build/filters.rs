//! Connects hash joins with the scans that they may filter: once a join has all rows of its build
//! side, the scan below its other side may leave out rows whose key is not among them.
//!
//! A filter must not drop a row that the join would give. So a join fills one only for the side
//! whose rows it drops without a match, and the key must reach the scan unchanged through operators
//! that would only have passed the dropped rows on. Nothing in between may raise a warning for
//! them.

use selkie_expr::{CompareBy, Expr};
use selkie_types::{Physical, stack};

use crate::physical::{
    Access, Aggregate, HashJoin, JoinKey, JoinKind, KeyFill, Operator, Plan, PlanNode, ScanFilter,
};

/// Numbers the filters of all joins of a plan.
pub(super) fn connect(plan: &mut Plan) {
    let subplans = plan.subplans.iter_mut().map(|subplan| &mut subplan.root);
    let common = plan.common_tables.iter_mut().map(|table| &mut table.plan);
    let mut next = 0;
    for root in std::iter::once(&mut plan.root).chain(subplans).chain(common) {
        connect_below(root, &mut next);
    }
    plan.sizes.filters = next;
}

fn connect_below(node: &mut PlanNode, next: &mut u32) {
    stack::ensure();
    if let Operator::HashJoin(join) = &mut node.operator {
        fill(join, next);
    }
    node.inputs_mut().into_iter().for_each(|input| connect_below(input, next));
}

fn fill(join: &mut HashJoin, next: &mut u32) {
    let drops = match join.build_left {
        // Right rows without a match are never given.
        true => !join.kind.is_null_aware(),
        false => matches!(join.kind, JoinKind::Inner | JoinKind::Semi),
    };
    // The other keys of a dropped row are not computed.
    let keys = join.keys.iter().flat_map(|key| [&key.left, &key.right]);
    if !drops || !keys.into_iter().all(is_quiet) {
        return;
    }
    for pair in &join.keys {
        let Some((left, right)) = columns(pair) else { continue };
        let (built, probe, probed) = match join.build_left {
            true => (left, &mut join.right, right),
            false => (right, &mut join.left, left),
        };
        let Some(filters) = scan_of(probe, probed) else { continue };
        filters.0.push(ScanFilter { slot: *next, column: filters.1 });
        join.fills.push(KeyFill { column: built, slot: *next });
        *next += 1;
    }
}

/// The columns of both sides, if a key compares columns as numbers of one kind.
fn columns(key: &JoinKey) -> Option<(usize, usize)> {
    let is_number = matches!(
        key.by,
        CompareBy::Int | CompareBy::UInt | CompareBy::Date | CompareBy::Time | CompareBy::DateTime
    );
    let kinds: (Physical, Physical) = (key.left.ty.physical(), key.right.ty.physical());
    if key.null_safe || !is_number || kinds.0 != kinds.1 {
        return None;
    }
    key.left.as_column().zip(key.right.as_column())
}

/// The filters of the scan that gives a column of a node's rows, and the column's position among
/// those that the scan reads.
pub(super) fn scan_of(node: &mut PlanNode, column: usize) -> Option<(&mut Vec<ScanFilter>, usize)> {
    stack::ensure();
    match &mut node.operator {
        Operator::TableScan(scan) => {
            let is_whole = match &scan.access {
                Access::Full { .. } => true,
                Access::Index(range) => range.ranges.is_empty() && !range.covering,
                Access::Union(_) | Access::Text(_) => false,
            };
            let column = *scan.output.get(column)?;
            is_whole.then_some((&mut scan.filters, column))
        }
        Operator::Filter { input, conditions } => {
            if !conditions.iter().all(is_quiet) {
                return None;
            }
            scan_of(input, column)
        }
        Operator::Project { input, exprs } => {
            if !exprs.iter().all(is_quiet) {
                return None;
            }
            scan_of(input, exprs.get(column)?.as_column()?)
        }
        Operator::Aggregate(aggregate) => {
            let key = grouped(aggregate, column)?;
            scan_of(&mut aggregate.input, key)
        }
        Operator::HashJoin(join) => {
            let keys = join.keys.iter().flat_map(|key| [&key.left, &key.right]);
            if !keys.chain(&join.residual).all(is_quiet) {
                return None;
            }
            let width = join.left.columns.len();
            match join.output.get(column)?.checked_sub(width) {
                None => scan_of(&mut join.left, join.output[column]),
                Some(at) if join.kind == JoinKind::Inner => scan_of(&mut join.right, at),
                Some(_) => None,
            }
        }
        Operator::IndexJoin(join) => {
            let lookup = &join.lookup;
            let conditions = join.residual.iter().chain(&lookup.filter).chain(&lookup.keys);
            let is_plain = join.left.columns.len() > *join.output.get(column)?
                && lookup.computed.is_empty()
                && conditions.into_iter().all(is_quiet);
            if !is_plain {
                return None;
            }
            scan_of(&mut join.left, join.output[column])
        }
        _ => None,
    }
}

/// The column by which an aggregation groups, if it gives it at this position and its groups are
/// those of the column's values alone or finer ones.
fn grouped(aggregate: &Aggregate, column: usize) -> Option<usize> {
    let args = aggregate.aggregates.iter().flat_map(|a| a.inputs());
    if aggregate.rollup || !aggregate.groups.iter().chain(args).all(is_quiet) {
        return None;
    }
    aggregate.groups.get(column)?.as_column()
}

/// Whether evaluating an expression raises no warning and no error, whatever the row is.
fn is_quiet(e: &Expr) -> bool {
    !e.any(&mut |e| !e.kind.only_compares())
}
