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
    let is_whole = general.subplans.is_empty() && general.common_tables.is_empty();
    !joins && is_whole && Comparison { general, special, assumptions: None }.are_alike()
}

/// The same for all values for which the assumptions hold: whatever else they decide makes no
/// difference to estimates.
pub(crate) fn is_as_estimated(general: &Plan, special: &Plan, assumptions: &[Assumption]) -> bool {
    assumptions.len() <= MOST_ASSUMPTIONS
        && Comparison { general, special, assumptions: Some(assumptions) }.are_alike()
}

/// Whether a plan made without its values reads a whole table of which an index may have few rows
/// for them: unknown ranges count as large shares.
pub(crate) fn may_want_values(general: &Plan) -> bool {
    let mut wants = false;
    let is_given = |e: &Expr| {
        e.any(&mut |e| matches!(e.kind, ExprKind::Parameter(at) if at < general.parameters))
    };
    let mut look = |node: &PlanNode| {
        if let Operator::TableScan(scan) = &node.operator {
            wants |= matches!(scan.access, Access::Full { .. })
                && !scan.shown.possible_keys.is_empty()
                && scan.filter.iter().any(is_given);
        }
    };
    general.root.visit(&mut look);
    general.subplans.iter().for_each(|plan| plan.root.visit(&mut look));
    wants
}

/// Most estimates that are worth repeating for values instead of planning for them.
pub(crate) const MOST_ASSUMPTIONS: usize = 8;

/// Whether a query's plan may run for the same text again: it raises no conditions that only
/// planning knows, and does nothing but read.
pub(crate) fn is_repeatable(plan: &Plan) -> bool {
    plan.warnings.conditions.is_empty()
        && plan.result.into.is_none()
        && plan.variables.user.is_empty()
        && plan.takes_numbers.is_empty()
        && plan.changes.triggers.is_empty()
        && !plan.calls_functions()
        && !plan.uses.has(Uses::VALUE_AT_PLANNING)
}

/// A plan made with parameters and one made with values.
struct Comparison<'p> {
    general: &'p Plan,
    special: &'p Plan,
    /// Estimates on which the general plan may rest; `None` if it must not rest on any.
    assumptions: Option<&'p [Assumption]>,
}

impl Comparison<'_> {
    fn are_alike(&self) -> bool {
        let (a, b) = (self.general, self.special);
        let same_subplans = a.subplans.len() == b.subplans.len()
            && a.subplans.iter().zip(&b.subplans).all(|(a, b)| self.same_nodes(&a.root, &b.root));
        let same_tables = a.common_tables.len() == b.common_tables.len()
            && a.common_tables.iter().zip(&b.common_tables).all(|(a, b)| {
                a.computed_with == b.computed_with && self.same_nodes(&a.plan, &b.plan)
            });
        is_plain(a)
            && is_plain(b)
            && same_subplans
            && same_tables
            && self.same_nodes(&a.root, &b.root)
    }

    fn same_nodes(&self, general: &PlanNode, special: &PlanNode) -> bool {
        stack::ensure();
        use std::mem::discriminant;
        if discriminant(&general.operator) != discriminant(&special.operator) {
            return false;
        }
        match (&general.operator, &special.operator) {
            (Operator::OneRow, _) | (Operator::Empty, _) => true,
            (Operator::TableScan(a), Operator::TableScan(b)) => reads_alike(a, b) && self.is_fit(a),
            (Operator::CommonTableScan(a), Operator::CommonTableScan(b)) => a == b,
            (Operator::Filter { input: a, conditions }, Operator::Filter { input: b, .. }) => {
                self.take_values(conditions) && self.same_nodes(a, b)
            }
            (Operator::IndexJoin(a), Operator::IndexJoin(b)) => {
                a.kind == b.kind
                    && looks_up_alike(&a.lookup, &b.lookup)
                    && self.take_values(&a.lookup.keys)
                    && self.take_values(&a.lookup.filter)
                    && self.take_values(&a.residual)
                    && self.same_nodes(&a.left, &b.left)
            }
            (Operator::HashJoin(a), Operator::HashJoin(b)) => {
                (a.kind, a.build_left, a.keys.len()) == (b.kind, b.build_left, b.keys.len())
                    && self.take_values(&a.residual)
                    && self.same_nodes(&a.left, &b.left)
                    && self.same_nodes(&a.right, &b.right)
            }
            (Operator::NestedLoopJoin(a), Operator::NestedLoopJoin(b)) => {
                a.kind == b.kind
                    && a.null_aware.is_none()
                    && self.take_values(&a.conditions)
                    && self.same_nodes(&a.left, &b.left)
                    && self.same_nodes(&a.right, &b.right)
            }
            (Operator::Aggregate(a), Operator::Aggregate(b)) => {
                a.strategy == b.strategy && self.same_nodes(&a.input, &b.input)
            }
            (Operator::SetOperation(a), Operator::SetOperation(b)) => {
                (a.operator, a.all, a.inputs.len()) == (b.operator, b.all, b.inputs.len())
                    && a.inputs.iter().zip(&b.inputs).all(|(a, b)| self.same_nodes(a, b))
            }
            (Operator::Insert(a), Operator::Insert(b)) => self.same_nodes(&a.source, &b.source),
            (Operator::Values(a), Operator::Values(b)) => a.len() == b.len(),
            (a, b) => match (input(a), input(b)) {
                (Some(a), Some(b)) => self.same_nodes(a, b),
                _ => false,
            },
        }
    }

    fn is_fit(&self, scan: &TableScan) -> bool {
        let is_fit = match self.assumptions {
            None => self.is_indifferent(scan),
            Some(assumptions) => self.is_estimated(scan, assumptions),
        };
        is_fit && !has_ranges_in_groups(scan) && self.take_values(&scan.filter)
    }

    /// Whether the access does not depend on the values: a unique key, or the only index, whose
    /// ranges are never slower than the whole index.
    fn is_indifferent(&self, scan: &TableScan) -> bool {
        let Access::Index(range) = &scan.access else { return false };
        let only = scan.shown.possible_keys.len() <= 1;
        let cheap = range.unique
            || only && (range.covering || is_clustered(scan, range) || is_equality(range));
        cheap
            && range.ranges.iter().all(is_bounded)
            && range.ranges.iter().flat_map(KeyRange::values).all(is_value)
    }

    /// Whether estimates know all that the values of a scan decide. A column that equals a value
    /// counts by the number of its values, whichever this is.
    fn is_estimated(&self, scan: &TableScan, assumptions: &[Assumption]) -> bool {
        let is_known = |ends: &IndexRange| {
            assumptions.iter().any(|one| match one {
                Assumption::Range { table, index, ranges, .. } => {
                    table.def.id == scan.table.def.id
                        && *index == ends.index
                        && *ranges == ends.ranges
                }
                Assumption::Limit { .. } => false,
            })
        };
        match &scan.access {
            Access::Full { .. } => true,
            Access::Index(range) => {
                let given =
                    || range.ranges.iter().flat_map(KeyRange::values).filter(|e| self.has_given(e));
                given().all(is_value)
                    && (range.unique || is_known(range) || given().next().is_none())
            }
            Access::Union(_) | Access::Text(_) => false,
        }
    }

    fn is_given(&self, e: &Expr) -> bool {
        // Slots of outer rows come after the parameters.
        matches!(e.kind, ExprKind::Parameter(at) if at < self.general.parameters)
    }

    fn has_given(&self, e: &Expr) -> bool {
        e.any(&mut |e| self.is_given(e))
    }

    /// Whether no parameter is converted before it is compared. A literal would be converted at
    /// planning, with its own warnings and errors.
    fn take_values(&self, conditions: &[Expr]) -> bool {
        let converts = |e: &Expr| {
            matches!(e.kind, ExprKind::Call(_))
                && e.children().into_iter().any(|e| self.is_given(e))
                && !is_same_text(e)
        };
        !conditions.iter().any(|condition| condition.any(&mut |e| converts(e)))
    }
}

fn is_plain(plan: &Plan) -> bool {
    plan.searches.is_empty()
        && plan.variables.user.is_empty()
        && plan.warnings.conditions.is_empty()
        && plan.takes_numbers.is_empty()
        && plan.changes.triggers.is_empty()
        && !plan.calls_functions()
        && !plan.uses.has(Uses::VALUE_AT_PLANNING)
}

/// The only input of an operator whose work does not depend on the values.
fn input(operator: &Operator) -> Option<&PlanNode> {
    match operator {
        Operator::Project { input, .. } => Some(input),
        Operator::Sort(sort) => Some(&sort.input),
        Operator::TopN(top) => Some(&top.input),
        Operator::Limit(limit) => Some(&limit.input),
        Operator::Distinct(input) | Operator::Materialize(input) | Operator::SingleRow(input) => {
            Some(input)
        }
        Operator::Update(update) => Some(&update.source),
        Operator::Delete(delete) => Some(&delete.source),
        _ => None,
    }
}

/// Whether a scan reads ranges of each group, whose values are no part of what plans share.
fn has_ranges_in_groups(scan: &TableScan) -> bool {
    let Access::Index(range) = &scan.access else { return false };
    range.groups.as_ref().is_some_and(|groups| !groups.within.is_empty())
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
}

fn is_clustered(scan: &TableScan, range: &IndexRange) -> bool {
    scan.table.def.indexes[range.index].kind == IndexKind::Primary
}

fn is_equality(range: &IndexRange) -> bool {
    let unbounded = |b: &RangeBound| matches!(b, RangeBound::Unbounded);
    range.ranges.iter().all(|r| !r.equal.is_empty() && unbounded(&r.lower) && unbounded(&r.upper))
}

fn is_bounded(range: &KeyRange) -> bool {
    let has_end = range.values().next().is_some();
    has_end && range.like.is_none()
}

fn is_value(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Parameter(_) | ExprKind::Literal(_)) || is_same_text(e)
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
