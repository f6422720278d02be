//! Conditions in a form that tells of ranges, and those of a table that no row fulfils. A condition
//! keeps its value for every row, NULL included. Must not look at indexes.

use selkie_expr::{Compare, CompareOp, Expr, ExprKind};
use selkie_types::{Value, stack};

use super::as_they_are;
use crate::logical::{Columns, RelationId};

/// A condition with NOT moved into comparisons, AND and OR.
pub(super) fn simplified(condition: Expr) -> Expr {
    stack::ensure();
    let kind = match condition.kind {
        ExprKind::Not(inner) => return negated(*inner, condition.nullable),
        ExprKind::And(parts) => ExprKind::And(
            parts.into_iter().flat_map(|part| simplified(part).into_conjuncts()).collect(),
        ),
        ExprKind::Or(parts) => {
            ExprKind::Or(parts.into_iter().flat_map(|part| branches(simplified(part))).collect())
        }
        kind => kind,
    };
    Expr { kind, ..condition }
}

/// `NOT inner`.
fn negated(inner: Expr, nullable: bool) -> Expr {
    stack::ensure();
    let ty = Expr::boolean(true).ty;
    let part = |part: Expr| {
        let nullable = part.nullable;
        negated(part, nullable)
    };
    let kind = match inner.kind {
        ExprKind::And(parts) => {
            ExprKind::Or(parts.into_iter().flat_map(|e| branches(part(e))).collect())
        }
        ExprKind::Or(parts) => {
            ExprKind::And(parts.into_iter().flat_map(|e| part(e).into_conjuncts()).collect())
        }
        ExprKind::Not(inner) => return truth(simplified(*inner)),
        ExprKind::Column(_) if inner.ty.is_integer() => return against_zero(inner, CompareOp::Eq),
        ExprKind::Literal(Value::Null) => return inner,
        ExprKind::Compare(compare) if has_opposite(&compare) => {
            let op = compare.op.negated().unwrap_or(compare.op);
            ExprKind::Compare(Box::new(Compare { op, ..*compare }))
        }
        _ => ExprKind::Not(Box::new(inner)),
    };
    Expr::new(kind, ty, nullable)
}

fn has_opposite(compare: &Compare) -> bool {
    let is_row = |e: &Expr| matches!(e.kind, ExprKind::Row(_));
    compare.op.negated().is_some() && !is_row(&compare.left) && !is_row(&compare.right)
}

/// The branches of a condition that is an OR, or the condition alone.
fn branches(condition: Expr) -> Vec<Expr> {
    match condition.kind {
        ExprKind::Or(parts) => parts,
        _ => vec![condition],
    }
}

/// A value as a condition: an integer column is compared with zero.
fn truth(value: Expr) -> Expr {
    match value.as_column().is_some() && value.ty.is_integer() {
        true => against_zero(value, CompareOp::Ne),
        false => value,
    }
}

fn against_zero(value: Expr, op: CompareOp) -> Expr {
    let nullable = value.nullable;
    let mut zero = Expr::int(0);
    if value.ty.unsigned {
        zero.become_literal(Value::UInt(0));
    }
    zero.ty = value.ty.clone();
    let by = as_they_are(&value.ty);
    let compare = Compare { op, left: value, right: zero, by };
    Expr::new(ExprKind::Compare(Box::new(compare)), Expr::boolean(true).ty, nullable)
}

/// Whether no row of a table can fulfil all of `conditions`: a column without NULLs must be NULL,
/// or a column must equal two numbers.
pub(super) fn are_contradictory(
    relation: RelationId,
    conditions: &[Expr],
    columns: &Columns,
) -> bool {
    let info = &columns.relations[relation];
    if !info.table.has_storage() {
        return false;
    }
    let has_no_nulls = |id: usize| {
        let column = id.checked_sub(info.first).and_then(|at| info.table.columns.get(at));
        column.is_some_and(|column| !column.nullable)
    };
    let mut numbers: Vec<(usize, &Value)> = Vec::new();
    conditions.iter().any(|condition| match &condition.kind {
        ExprKind::IsNull(inner) => inner.as_column().is_some_and(has_no_nulls),
        ExprKind::Compare(compare) if compare.op == CompareOp::Eq => {
            let Some((id, value)) = number_of(compare) else { return false };
            let differs = numbers.iter().any(|(other, old)| *other == id && *old != value);
            numbers.push((id, value));
            differs
        }
        _ => false,
    })
}

/// The column and the integer that are compared.
fn number_of(compare: &Compare) -> Option<(usize, &Value)> {
    let (id, value) = match (compare.left.as_column(), compare.right.as_column()) {
        (Some(id), None) => (id, compare.right.as_literal()?),
        (None, Some(id)) => (id, compare.left.as_literal()?),
        _ => return None,
    };
    matches!(value, Value::Int(_)).then_some((id, value))
}

/// Whether a condition is a constant that is not true.
pub(crate) fn is_false(condition: &Expr) -> bool {
    matches!(condition.as_literal(), Some(Value::Int(0) | Value::UInt(0) | Value::Null))
}
