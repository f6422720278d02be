//! Whether a plan made without its values is as good for all of them. Must be conservative: a plan
//! wrongly called robust would be slow for some values, or lose the warnings and errors of
//! literals.

use selkie_engine::IndexKind;
use selkie_expr::{Expr, ExprKind};
use selkie_plan::physical::{
    Access, IndexRange, KeyRange, Operator, Plan, PlanNode, RangeBound, TableScan,
};
use selkie_plan::safety::Uses;
use selkie_types::stack;

/// Whether `general`, planned with parameters, reads tables like `special`, planned for some
/// values, and no other values would give a much better plan.
pub(crate) fn is_robust(general: &Plan, special: &Plan) -> bool {
    let is_plain = |plan: &Plan| {
        plan.subplans.is_empty()
            && plan.common_tables.is_empty()
            && plan.warnings.conditions.is_empty()
            && plan.takes_numbers.is_empty()
            && plan.changes.triggers.is_empty()
            && !plan.calls_functions()
            && !plan.uses.has(Uses::VALUE_AT_PLANNING)
    };
    is_plain(general) && is_plain(special) && same_nodes(&general.root, &special.root)
}

/// Whether a query's plan may run for the same text again: it raises no conditions that only
/// planning knows, and does nothing but read.
pub(crate) fn is_repeatable(plan: &Plan) -> bool {
    plan.warnings.conditions.is_empty()
        && plan.result.into.is_none()
        && plan.user_variables.is_empty()
        && plan.takes_numbers.is_empty()
        && plan.changes.triggers.is_empty()
        && !plan.calls_functions()
}

fn same_nodes(general: &PlanNode, special: &PlanNode) -> bool {
    stack::ensure();
    use std::mem::discriminant;
    if discriminant(&general.operator) != discriminant(&special.operator) {
        return false;
    }
    match (&general.operator, &special.operator) {
        (Operator::TableScan(a), Operator::TableScan(b)) => reads_alike(a, b) && is_indifferent(a),
        (Operator::Filter { input: a, conditions }, Operator::Filter { input: b, .. }) => {
            conditions.iter().all(takes_values_as_they_are) && same_nodes(a, b)
        }
        (Operator::Insert(a), Operator::Insert(b)) => same_nodes(&a.source, &b.source),
        (Operator::Values(a), Operator::Values(b)) => a.len() == b.len(),
        (a, b) => match (input(a), input(b)) {
            (Some(a), Some(b)) => same_nodes(a, b),
            _ => false,
        },
    }
}

/// The only input of an operator whose work does not depend on the values.
fn input(operator: &Operator) -> Option<&PlanNode> {
    match operator {
        Operator::Project { input, .. } => Some(input),
        Operator::Aggregate(aggregate) => Some(&aggregate.input),
        Operator::Sort(sort) => Some(&sort.input),
        Operator::TopN(top) => Some(&top.input),
        Operator::Limit(limit) => Some(&limit.input),
        Operator::Distinct(input) | Operator::Materialize(input) => Some(input),
        Operator::Update(update) => Some(&update.source),
        Operator::Delete(delete) => Some(&delete.source),
        _ => None,
    }
}

fn reads_alike(a: &TableScan, b: &TableScan) -> bool {
    let (Access::Index(x), Access::Index(y)) = (&a.access, &b.access) else { return false };
    x.index == y.index
        && x.ranges.len() == y.ranges.len()
        && (x.unique, x.covering, x.entry_locks, x.ordered, x.reverse)
            == (y.unique, y.covering, y.entry_locks, y.ordered, y.reverse)
        && x.groups == y.groups
        && a.filter.len() == b.filter.len()
}

/// Whether the access does not depend on the values: a unique key, or the only index, whose ranges
/// are never slower than the whole index.
fn is_indifferent(scan: &TableScan) -> bool {
    let Access::Index(range) = &scan.access else { return false };
    let only = scan.shown.possible_keys.len() <= 1;
    let cheap =
        range.unique || only && (range.covering || is_clustered(scan, range) || is_equality(range));
    cheap
        && range.ranges.iter().all(is_bounded)
        && range.ranges.iter().flat_map(bounds).all(is_value)
        && scan.filter.iter().all(takes_values_as_they_are)
}

fn is_clustered(scan: &TableScan, range: &IndexRange) -> bool {
    scan.table.def.indexes[range.index].kind == IndexKind::Primary
}

fn is_equality(range: &IndexRange) -> bool {
    let unbounded = |b: &RangeBound| matches!(b, RangeBound::Unbounded);
    range.ranges.iter().all(|r| !r.equal.is_empty() && unbounded(&r.lower) && unbounded(&r.upper))
}

fn is_bounded(range: &KeyRange) -> bool {
    let has_end = bounds(range).next().is_some();
    has_end && range.like.is_none()
}

fn bounds(range: &KeyRange) -> impl Iterator<Item = &Expr> {
    let ends = [&range.lower, &range.upper].into_iter().filter_map(|end| match end {
        RangeBound::Unbounded => None,
        RangeBound::Included(e) | RangeBound::Excluded(e) => Some(e),
    });
    range.equal.iter().chain(ends)
}

fn is_value(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Parameter(_) | ExprKind::Literal(_))
}

/// Whether no parameter is converted before it is compared. A literal would be converted at
/// planning, with its own warnings and errors.
fn takes_values_as_they_are(e: &Expr) -> bool {
    let is_parameter = |e: &&Expr| matches!(e.kind, ExprKind::Parameter(_));
    !e.any(&mut |e| matches!(e.kind, ExprKind::Call(_)) && e.children().iter().any(is_parameter))
}
