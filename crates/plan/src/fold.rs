//! Computing at planning time what is the same in every execution.

use selkie_expr::{EvalContext, Expr, ExprKind, TypeContext};

/// Replaces the constant parts of an expression by their values, unless computing them raises a
/// warning or an error: that belongs to the execution.
pub(crate) fn fold(expr: &mut Expr, types: &TypeContext) {
    if matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Column(_) | ExprKind::Row(_)) {
        return;
    }
    // A text made of a date, and what is taken out of a JSON document, stay what they are: where a
    // number is wanted it is that of the date or of the value.
    let stays = selkie_expr::cast::is_date_text(expr) || expr.is_extract();
    if !expr.is_foldable() || stays {
        expr.children_mut().into_iter().for_each(|child| fold(child, types));
        return;
    }
    let context = EvalContext::detached(types);
    if let Ok(value) = expr.eval_value(&context)
        && context.conditions.borrow().count() == 0
    {
        // Result metadata says what the expression can be, not what it is.
        expr.nullable |= value.is_null();
        expr.become_literal(value);
    }
}
