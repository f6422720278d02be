//! Values that an expression uses several times. Copies of a small one cost nothing. Copies of one
//! with copies inside would double at each level, so they are found when the expression is built:
//! its types and conversions are decided as for any other operand.

use selkie_types::SqlResult;

use crate::cast;
use crate::collate::has_others_than_ascii;
use crate::expr::{Expr, ExprKind, Held, Hold};
use crate::json::is_json;

/// Nodes of a value that is still copied.
const SMALL: usize = 24;

fn is_small(value: &Expr) -> bool {
    matches!(value.kind, ExprKind::Row(_)) || value.size_within(SMALL).is_some()
}

/// The expression that `make` makes of a value it uses several times. `number` differs from that of
/// values around that the expression uses too.
pub(super) fn hold(
    number: u8,
    mut value: Expr,
    make: impl FnOnce(Expr) -> SqlResult<Expr>,
) -> SqlResult<Expr> {
    if is_small(&value) {
        return make(value);
    }
    let used = used(&mut value);
    let body = make(used)?;
    Ok(share(&mut first(number), &value, body))
}

/// As [`hold`], of each field of a row.
pub(super) fn hold_row(
    mut row: Expr,
    make: impl FnOnce(Expr) -> SqlResult<Expr>,
) -> SqlResult<Expr> {
    let mut values = Vec::new();
    if let ExprKind::Row(fields) = &mut row.kind {
        for (number, field) in (0..=u8::MAX).zip(fields) {
            if !is_small(field) {
                let mut value = field.clone();
                *field = used(&mut value);
                values.push((number, value));
            }
        }
    }
    let body = make(row)?;
    Ok(values
        .into_iter()
        .fold(body, |body, (number, value)| share(&mut first(number), &value, body)))
}

fn first(number: u8) -> u32 {
    u32::from(number) << 16
}

/// Gives the value all its digits; some uses need them. Returns it as it is shown.
fn used(value: &mut Expr) -> Expr {
    let ty = value.ty.clone();
    let mut used = value.clone();
    if cast::wider_scale(value).is_some() {
        cast::unround(value);
        used = value.clone();
        cast::to_shown(&mut used, &ty);
    }
    used
}

/// Holds a value that an expression contains several times.
///
/// A conversion may have changed some of its copies; then its operands are held.
fn share(next: &mut u32, value: &Expr, body: Expr) -> Expr {
    let held = Held {
        number: *next,
        is_json: is_json(value),
        has_others_than_ascii: has_others_than_ascii(value),
    };
    let held = like(value, ExprKind::Held(held));
    let number = *next;
    *next += 1;
    let mut shared = body.clone();
    let uses = replace(&mut shared, value, &held);
    let operands = match &value.kind {
        ExprKind::Call(call) => &call.args[..],
        _ => &[],
    };
    let large: Vec<&Expr> = operands.iter().filter(|e| !is_small(e)).collect();
    if large.iter().any(|operand| contains(&shared, operand)) {
        return large.into_iter().fold(body, |body, operand| share(next, operand, body));
    }
    match uses {
        0 | 1 => body,
        _ => around(number, value.clone(), shared),
    }
}

/// Replaces a value; returns how many times. Those in the expressions of others that are held or
/// are subqueries stay.
fn replace(e: &mut Expr, value: &Expr, held: &Expr) -> usize {
    selkie_types::stack::ensure();
    if e == value {
        *e = held.clone();
        return 1;
    }
    if is_closed(e) {
        return 0;
    }
    e.children_mut().into_iter().map(|child| replace(child, value, held)).sum()
}

fn contains(e: &Expr, value: &Expr) -> bool {
    selkie_types::stack::ensure();
    e == value || !is_closed(e) && e.any_child(&mut |child| contains(child, value))
}

fn is_closed(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Hold(_) | ExprKind::Subquery(_))
}

fn around(number: u32, value: Expr, body: Expr) -> Expr {
    let whole = like(&body, ExprKind::Row(Vec::new()));
    Expr { kind: ExprKind::Hold(Box::new(Hold { number, value, body })), ..whole }
}

/// An expression of another kind that has the type of `e`.
fn like(e: &Expr, kind: ExprKind) -> Expr {
    let coercibility = e.coercibility;
    Expr { coercibility, ..Expr::new(kind, e.ty.clone(), e.nullable) }
}
