//! Computing at planning time what is the same in every execution.

use selkie_expr::{EvalContext, Expr, ExprKind, TypeContext};
use selkie_types::{Value, stack};

/// Bytes of the longest text that takes the place of what makes it.
const LARGE: usize = 1 << 20;

/// Replaces the constant parts of an expression by their values, unless computing them raises a
/// warning or an error: that belongs to the execution.
pub(crate) fn fold(expr: &mut Expr, types: &TypeContext) {
    if is_left_alone(expr) {
        return;
    }
    // Asking each part anew would look at the parts of a long sum once for each of its terms.
    let mut parts = Vec::new();
    measure(expr, &mut parts);
    fold_part(expr, &parts, types);
}

fn is_left_alone(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Column(_) | ExprKind::Row(_))
}

/// Properties of an expression; those of its operands follow, in preorder.
struct Part {
    /// Nodes, with those below.
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
    // A text made of a date, and what is taken out of a JSON document, stay what they are: where a
    // number is wanted it is that of the date or of the value.
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
        // A large value would be held by the plan and by each of its copies: it is made when it is
        // used.
        if matches!(&value, Value::Bytes(text) if text.len() > LARGE) {
            return;
        }
        // Result metadata says what the expression can be, not what it is.
        expr.nullable |= value.is_null();
        expr.become_literal(value);
    }
}
