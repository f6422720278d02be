//! Constant folding: computes at planning time the parts of an expression that are the same in
//! every execution (PLAN-1). Must not raise warnings or errors: these belong to the execution.

use selkie_expr::{EvalContext, Expr, ExprKind, TypeContext};
use selkie_types::{Value, stack};

/// Longest text, in bytes, that may replace its expression.
const LARGE: usize = 1 << 20;

/// Replaces the constant parts of an expression by their values. A part whose computation raises a
/// warning or an error is kept, because that belongs to the execution.
pub(crate) fn fold(expr: &mut Expr, types: &TypeContext) {
    if is_left_alone(expr) {
        return;
    }
    // All properties are computed first: a check at each part would visit the terms of a long sum
    // once for each of its terms.
    let mut parts = Vec::new();
    measure(expr, &mut parts);
    fold_part(expr, &parts, types);
}

fn is_left_alone(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Column(_) | ExprKind::Row(_))
}

/// Properties of an expression. The properties of its operands follow in preorder.
struct Part {
    /// Number of nodes, including those below.
    size: usize,
    is_foldable: bool,
}

fn measure(expr: &Expr, parts: &mut Vec<Part>) -> bool {
    stack::ensure();
    let at = parts.len();
    parts.push(Part { size: 1, is_foldable: false });
    let mut is_foldable = expr.is_foldable_over_foldable();
    for child in expr.children() {
        is_foldable &= measure(child, parts);
    }
    parts[at] = Part { size: parts.len() - at, is_foldable };
    is_foldable
}

fn fold_part(expr: &mut Expr, parts: &[Part], types: &TypeContext) {
    stack::ensure();
    if is_left_alone(expr) {
        return;
    }
    // A text made from a date and a value extracted from a JSON document are kept. In a number
    // context they give the number of the date or of the JSON value.
    let stays = selkie_expr::cast::is_date_text(expr) || expr.is_extract();
    if !parts[0].is_foldable || stays {
        let mut rest = &parts[1..];
        for child in expr.children_mut() {
            let size = rest[0].size;
            fold_part(child, rest, types);
            rest = &rest[size..];
        }
        return;
    }
    let context = EvalContext::detached(types);
    if let Ok(value) = expr.eval_value(&context)
        && context.conditions.borrow().count() == 0
    {
        // A large value would be held by the plan and each of its copies, so it is computed at
        // execution.
        if matches!(&value, Value::Bytes(text) if text.len() > LARGE) {
            return;
        }
        // Result metadata describes the expression, not its value: it keeps its nullability.
        expr.nullable |= value.is_null();
        expr.become_literal(value);
    }
}
