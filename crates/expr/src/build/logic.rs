//! Logical operators and subquery predicates.
//! NOT is pushed into comparisons here, so that the planner sees them as ranges.

use selkie_types::{SqlResult, SqlType};

use crate::cast;
use crate::context::TypeContext;
use crate::expr::{Expr, ExprKind, Subquery, SubqueryId, SubqueryKind};
use crate::function::Binding;
use crate::refuse::{refuse_condition, refuse_row};
use crate::result_type::boolean_type;

fn condition(operation: &str, mut e: Expr) -> SqlResult<Expr> {
    refuse_row(&e)?;
    refuse_condition(operation, &e, "int")?;
    cast::to_where_condition(&mut e);
    Ok(e)
}

/// A value as an operand whose truth is tested.
fn truth(mut e: Expr) -> SqlResult<Expr> {
    refuse_row(&e)?;
    cast::to_whole_condition(&mut e);
    Ok(e)
}

/// `a AND b AND ...`
pub fn and(parts: Vec<Expr>) -> SqlResult<Expr> {
    nary(parts, true)
}

/// `a OR b OR ...`
pub fn or(parts: Vec<Expr>) -> SqlResult<Expr> {
    nary(parts, false)
}

fn nary(parts: Vec<Expr>, conjunction: bool) -> SqlResult<Expr> {
    let mut flat = Vec::with_capacity(parts.len());
    for part in parts {
        match part.kind {
            ExprKind::And(inner) if conjunction => flat.extend(inner),
            ExprKind::Or(inner) if !conjunction => flat.extend(inner),
            _ => flat.push(condition("<>", part)?),
        }
    }
    let nullable = flat.iter().any(|e| e.nullable);
    let kind = if conjunction { ExprKind::And(flat) } else { ExprKind::Or(flat) };
    Ok(Expr::new(kind, boolean_type(), nullable))
}

/// `NOT a`, pushed into comparisons.
pub fn not(e: Expr) -> SqlResult<Expr> {
    let mut e = condition("=", e)?;
    if let ExprKind::Compare(c) = &mut e.kind
        && let Some(op) = c.op.negated()
    {
        c.op = op;
        return Ok(e);
    }
    let nullable = e.nullable;
    Ok(Expr::new(ExprKind::Not(Box::new(e)), boolean_type(), nullable))
}

/// `a XOR b`
pub fn xor(a: Expr, b: Expr, types: &TypeContext) -> SqlResult<Expr> {
    let args = vec![truth(a)?, truth(b)?];
    let function = &crate::functions::logic::XOR;
    function.bind(Binding::new(function, args, types))
}

/// `a IS NULL`. Compat: a constant that cannot be NULL is not evaluated.
pub fn is_null(e: Expr) -> SqlResult<Expr> {
    refuse_row(&e)?;
    let known = !e.nullable && e.is_constant() && e.as_literal().is_none();
    Ok(null_test(if known { Expr::int(0) } else { e }))
}

/// `a IS NOT NULL`
pub fn is_not_null(e: Expr) -> SqlResult<Expr> {
    refuse_row(&e)?;
    not(null_test(e))
}

fn null_test(e: Expr) -> Expr {
    Expr::new(ExprKind::IsNull(Box::new(e)), boolean_type(), false)
}

/// `a IS TRUE` (`value`) or `a IS FALSE`.
pub fn is_truth(e: Expr, value: bool, types: &TypeContext) -> SqlResult<Expr> {
    let function =
        if value { &crate::functions::logic::IS_TRUE } else { &crate::functions::logic::IS_FALSE };
    function.bind(Binding::new(function, vec![truth(e)?], types))
}

/// A column of a subquery as a value.
pub fn scalar_subquery(id: SubqueryId, column: usize, ty: SqlType) -> Expr {
    let kind = SubqueryKind::Scalar(column);
    let subquery = Subquery { id, kind, args: Vec::new(), operands: Vec::new(), placed: false };
    let mut e = Expr::new(ExprKind::Subquery(Box::new(subquery)), ty, true);
    if e.ty.is_string() {
        e.coercibility = crate::Coercibility::Implicit;
    }
    e
}

/// `EXISTS (subquery)`
pub fn exists(id: SubqueryId, args: Vec<(usize, Expr)>) -> Expr {
    let subquery =
        Subquery { id, kind: SubqueryKind::Exists, args, operands: Vec::new(), placed: false };
    Expr::new(ExprKind::Subquery(Box::new(subquery)), boolean_type(), false)
}

/// `operands op ANY (subquery)`, or `ALL`. The predicate compares parameters in the operands' slots
/// with the subquery's columns. `IN` is `= ANY`, and `NOT IN` is its negation.
pub fn quantified(
    id: SubqueryId,
    args: Vec<(usize, Expr)>,
    operands: Vec<(usize, Expr)>,
    predicate: Expr,
    all: bool,
) -> Expr {
    let kind = if all { SubqueryKind::All(predicate) } else { SubqueryKind::Any(predicate) };
    let subquery = Subquery { id, kind, args, operands, placed: true };
    Expr::new(ExprKind::Subquery(Box::new(subquery)), boolean_type(), true)
}
