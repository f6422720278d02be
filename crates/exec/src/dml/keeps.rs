//! Statements whose rows have to be taken one by one: their changes stay when a later row fails, in
//! tables of engines that cannot roll back, or their defaults take numbers.

use selkie_catalog::TableInfo;
use selkie_expr::{Expr, ExprKind};
use selkie_plan::physical::{Insert, InsertValue, Operator as Op, Plan, PlanNode};

/// Whether the table is of an engine that cannot roll back.
pub(super) fn keeps_changes(table: &TableInfo) -> bool {
    !table.engine.transactional
}

/// Whether rows have to be read one by one: what is done for the rows before one that fails stays,
/// or numbers are taken of sequences for what is read and for what is stored beside it.
pub(super) fn reads_row_by_row(plan: &Plan) -> bool {
    let keeps = || super::targets(plan).any(|table| keeps_changes(table));
    let ordered = || match &plan.root.operator {
        Op::Insert(insert) => has_ordered_defaults(insert),
        _ => false,
    };
    plan.changes_rows() && (keeps() || ordered()) && may_fail(&plan.root)
}

/// Whether a value depends on nothing that a statement between two rows can change: no variable, no
/// other row, no function that gives a new value each time.
pub(super) fn reads_only_its_row(e: &Expr) -> bool {
    let reads_more = |e: &Expr| {
        use ExprKind::{Stored, Subquery, SystemVariable};
        matches!(e.kind, Subquery(_) | Stored(_) | SystemVariable(..))
    };
    e.is_deterministic() && !e.any(&mut { reads_more })
}

/// Whether RETURNING reads tables: it sees what the rows before have changed, and no later one.
pub(super) fn returns_reads(returning: &[Expr]) -> bool {
    returning
        .iter()
        .any(|e| e.any(&mut |e| matches!(e.kind, ExprKind::Subquery(_) | ExprKind::Stored(_))))
}

/// Whether defaults of columns have side effects.
pub(super) fn has_ordered_defaults(insert: &Insert) -> bool {
    let ordered = |value: &InsertValue| match value {
        InsertValue::Expr(e) => e.has_side_effects(),
        _ => false,
    };
    insert.values.iter().any(ordered)
}

/// Whether rows may come before an error.
fn may_fail(root: &PlanNode) -> bool {
    let mut found = false;
    root.visit(&mut |node| {
        found |= match &node.operator {
            Op::TableScan(scan) => any_fails(&scan.filter) || !scan.computed.is_empty(),
            Op::Filter { conditions, .. } => any_fails(conditions),
            Op::Project { exprs, .. } => any_fails(exprs),
            Op::Values(rows) => rows.len() > 1 && rows.iter().any(|row| any_fails(row)),
            Op::BulkValues(bulk) => bulk.templates.iter().any(|row| any_fails(row)),
            Op::Insert(_) | Op::Update(_) | Op::Delete(_) | Op::Limit(_) => false,
            Op::OneRow | Op::Empty => false,
            _ => true,
        }
    });
    found
}

/// Comparisons of columns and constants never fail.
fn any_fails(exprs: &[Expr]) -> bool {
    let fails = |e: &Expr| {
        matches!(
            e.kind,
            ExprKind::Call(_) | ExprKind::Subquery(_) | ExprKind::Stored(_) | ExprKind::Sequence(_)
        )
    };
    exprs.iter().any(|e| e.any(&mut |e| fails(e)))
}
