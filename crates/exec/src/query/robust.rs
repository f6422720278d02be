//! Whether a plan made without its values is as good for all of them. Must be conservative: a plan
//! wrongly called robust would be slow for some values, or lose the warnings and errors of
//! literals.

use selkie_engine::IndexKind;
use selkie_expr::{Expr, ExprKind};
use selkie_plan::Assumption;
use selkie_plan::physical::{
    Access, IndexLookup, IndexRange, KeyRange, Operator, Plan, PlanNode, RangeBound, TableScan,
};
use selkie_plan::safety::Uses;
use selkie_types::{TypeKind, stack};

/// Whether `general`, planned with parameters, reads tables like `special`, planned for some
/// values, and no other values would give a much better plan.
pub(crate) fn is_robust(general: &Plan, special: &Plan) -> bool {
    let mut joins = false;
    general.root.visit(&mut |node| joins |= node.is_join());
    !joins
        && are_plain(general, special)
        && same_nodes(&general.root, &special.root, &is_indifferent)
}

/// The same for all values for which the assumptions hold: whatever else they decide makes no
/// difference to estimates.
pub(crate) fn is_as_estimated(general: &Plan, special: &Plan, assumptions: &[Assumption]) -> bool {
    assumptions.len() <= MOST_ASSUMPTIONS
        && are_plain(general, special)
        && same_nodes(&general.root, &special.root, &|scan| is_estimated(scan, assumptions))
}

/// Most estimates that are worth repeating for a text instead of planning it.
const MOST_ASSUMPTIONS: usize = 8;

fn are_plain(general: &Plan, special: &Plan) -> bool {
    let is_plain = |plan: &Plan| {
        plan.subplans.is_empty()
            && plan.common_tables.is_empty()
            && plan.searches.is_empty()
            && plan.warnings.conditions.is_empty()
            && plan.takes_numbers.is_empty()
            && plan.changes.triggers.is_empty()
            && !plan.calls_functions()
            && !plan.uses.has(Uses::VALUE_AT_PLANNING)
    };
    is_plain(general) && is_plain(special)
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

/// A test of the scans of a general plan.
type Test<'t> = &'t dyn Fn(&TableScan) -> bool;

fn same_nodes(general: &PlanNode, special: &PlanNode, is_fit: Test<'_>) -> bool {
    stack::ensure();
    use std::mem::discriminant;
    if discriminant(&general.operator) != discriminant(&special.operator) {
        return false;
    }
    let plain = |conditions: &[Expr]| conditions.iter().all(takes_values_as_they_are);
    match (&general.operator, &special.operator) {
        (Operator::TableScan(a), Operator::TableScan(b)) => reads_alike(a, b) && is_fit(a),
        (Operator::Filter { input: a, conditions }, Operator::Filter { input: b, .. }) => {
            plain(conditions) && same_nodes(a, b, is_fit)
        }
        (Operator::IndexJoin(a), Operator::IndexJoin(b)) => {
            a.kind == b.kind
                && looks_up_alike(&a.lookup, &b.lookup)
                && plain(&a.residual)
                && same_nodes(&a.left, &b.left, is_fit)
        }
        (Operator::HashJoin(a), Operator::HashJoin(b)) => {
            (a.kind, a.build_left, a.keys.len()) == (b.kind, b.build_left, b.keys.len())
                && plain(&a.residual)
                && same_nodes(&a.left, &b.left, is_fit)
                && same_nodes(&a.right, &b.right, is_fit)
        }
        (Operator::NestedLoopJoin(a), Operator::NestedLoopJoin(b)) => {
            a.kind == b.kind
                && a.null_aware.is_none()
                && plain(&a.conditions)
                && same_nodes(&a.left, &b.left, is_fit)
                && same_nodes(&a.right, &b.right, is_fit)
        }
        (Operator::Aggregate(a), Operator::Aggregate(b)) => {
            a.strategy == b.strategy && same_nodes(&a.input, &b.input, is_fit)
        }
        (Operator::Insert(a), Operator::Insert(b)) => same_nodes(&a.source, &b.source, is_fit),
        (Operator::Values(a), Operator::Values(b)) => a.len() == b.len(),
        (a, b) => match (input(a), input(b)) {
            (Some(a), Some(b)) => same_nodes(a, b, is_fit),
            _ => false,
        },
    }
}

/// The only input of an operator whose work does not depend on the values.
fn input(operator: &Operator) -> Option<&PlanNode> {
    match operator {
        Operator::Project { input, .. } => Some(input),
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
    let same_rows = a.table.def.id == b.table.def.id && a.filter.len() == b.filter.len();
    same_rows
        && match (&a.access, &b.access) {
            (Access::Full { reverse: a }, Access::Full { reverse: b }) => a == b,
            (Access::Index(x), Access::Index(y)) => {
                x.index == y.index
                    && x.ranges.len() == y.ranges.len()
                    && (x.unique, x.covering, x.entry_locks, x.ordered, x.reverse)
                        == (y.unique, y.covering, y.entry_locks, y.ordered, y.reverse)
                    && x.groups == y.groups
            }
            _ => false,
        }
}

fn looks_up_alike(a: &IndexLookup, b: &IndexLookup) -> bool {
    (a.table.def.id, a.index, a.keys.len()) == (b.table.def.id, b.index, b.keys.len())
        && (a.unique, a.covering, a.entry_locks) == (b.unique, b.covering, b.entry_locks)
        && a.filter.len() == b.filter.len()
        && a.keys.iter().all(takes_values_as_they_are)
        && a.filter.iter().all(takes_values_as_they_are)
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

/// Whether estimates know all that the values of a scan decide. A column that equals a value counts
/// by the number of its values, whichever this is.
fn is_estimated(scan: &TableScan, assumptions: &[Assumption]) -> bool {
    let is_known = |ends: &IndexRange| {
        assumptions.iter().any(|one| match one {
            Assumption::Range { table, index, ranges, .. } => {
                table.def.id == scan.table.def.id && *index == ends.index && *ranges == ends.ranges
            }
            Assumption::Limit { .. } => false,
        })
    };
    let is_fit = match &scan.access {
        Access::Full { .. } => true,
        Access::Index(range) => {
            let mut values = range.ranges.iter().flat_map(bounds);
            values.all(|e| is_value(e) || !has_parameter(e))
                && (range.unique
                    || !range.ranges.iter().flat_map(bounds).any(has_parameter)
                    || is_known(range))
        }
        Access::Union(_) | Access::Text(_) => false,
    };
    is_fit && scan.filter.iter().all(takes_values_as_they_are)
}

fn has_parameter(e: &Expr) -> bool {
    e.any(&mut |e| matches!(e.kind, ExprKind::Parameter(_)))
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
    matches!(e.kind, ExprKind::Parameter(_) | ExprKind::Literal(_)) || is_same_text(e)
}

/// Whether no parameter is converted before it is compared. A literal would be converted at
/// planning, with its own warnings and errors.
fn takes_values_as_they_are(e: &Expr) -> bool {
    let is_parameter = |e: &&Expr| matches!(e.kind, ExprKind::Parameter(_));
    let converts = |e: &Expr| {
        matches!(e.kind, ExprKind::Call(_))
            && e.children().iter().any(is_parameter)
            && !is_same_text(e)
    };
    !e.any(&mut |e| converts(e))
}

/// Whether a parameter is only converted to another character set. Strings of shapes are ASCII, so
/// this changes nothing and loses no character.
fn is_same_text(e: &Expr) -> bool {
    let ExprKind::Call(call) = &e.kind else { return false };
    let is_text =
        |e: &Expr| e.ty.kind == TypeKind::VarChar && e.ty.collation.charset().is_ascii_superset();
    match &e.children()[..] {
        [value] => {
            call.function.is_implicit()
                && matches!(value.kind, ExprKind::Parameter(_))
                && is_text(e)
                && is_text(value)
                && e.ty.length == value.ty.length
        }
        _ => false,
    }
}
