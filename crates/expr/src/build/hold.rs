//! Values that an expression uses several times. Copies of a small one cost nothing, and what is
//! known of it stays known. Copies of one with copies inside would double at each level.

use selkie_types::SqlResult;

use crate::expr::{Expr, ExprKind, Hold};

/// Nodes of a value that is still copied.
const SMALL: usize = 24;

/// Whether a value is copied.
pub(super) fn is_small(value: &Expr) -> bool {
    value.size_within(SMALL).is_some()
}

/// The expression that `make` makes of a value it uses several times. `number` differs from that of
/// values around that the expression uses too.
pub(super) fn hold(
    number: u8,
    value: Expr,
    make: impl FnOnce(Expr) -> SqlResult<Expr>,
) -> SqlResult<Expr> {
    if matches!(value.kind, ExprKind::Row(_)) || is_small(&value) {
        return make(value);
    }
    let held = like(&value, ExprKind::Held(number));
    Ok(around(number, value, make(held)?))
}

/// As [`hold`], of each field of a row.
pub(super) fn hold_row(
    mut row: Expr,
    make: impl FnOnce(Expr) -> SqlResult<Expr>,
) -> SqlResult<Expr> {
    let mut values = Vec::new();
    if let ExprKind::Row(fields) = &mut row.kind {
        for (number, field) in (0..=u8::MAX).zip(fields) {
            let is_row = matches!(field.kind, ExprKind::Row(_));
            if !is_row && !is_small(field) {
                let held = like(field, ExprKind::Held(number));
                values.push((number, std::mem::replace(field, held)));
            }
        }
    }
    let body = make(row)?;
    Ok(values.into_iter().fold(body, |body, (number, value)| around(number, value, body)))
}

fn around(number: u8, value: Expr, body: Expr) -> Expr {
    let whole = like(&body, ExprKind::Held(number));
    Expr { kind: ExprKind::Hold(Box::new(Hold { number, value, body })), ..whole }
}

/// An expression of another kind that has the type of `e`.
fn like(e: &Expr, kind: ExprKind) -> Expr {
    let coercibility = e.coercibility;
    Expr { coercibility, ..Expr::new(kind, e.ty.clone(), e.nullable) }
}
