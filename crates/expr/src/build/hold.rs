//! Values that an expression uses several times. Copies of a small one cost nothing. Copies of one
//! with copies inside would double at each level, so a large one is computed once.
//!
//! An expression is first built with copies, because the conversion of an operand depends on the
//! operand. Then equal copies are replaced. Conversions may have changed the inside of some copies:
//! then the operands of the value are replaced instead.

use std::cmp::Reverse;

use selkie_types::{SqlResult, stack};

use crate::cast;
use crate::collate::has_others_than_ascii;
use crate::expr::{Expr, ExprKind, Held, Hold};
use crate::json::is_json;

/// Nodes of a value that is still copied.
const SMALL: usize = 24;

/// Values that are replaced in one expression. Copies of a smaller value do not multiply: each
/// level of them makes the text so many times as long.
const MOST: usize = 16;

/// Numbers for each value: its own, and those of its operands.
const NUMBERS: usize = 1 << 16;

/// The expression that `make` makes of a value it uses several times, or of the fields of a row.
pub(super) fn hold(value: Expr, make: impl FnOnce(Expr) -> SqlResult<Expr>) -> SqlResult<Expr> {
    hold_each([value], |[value]| make(value))
}

/// As [`hold`], of several values.
pub(super) fn hold_each<const N: usize>(
    mut values: [Expr; N],
    make: impl FnOnce([Expr; N]) -> SqlResult<Expr>,
) -> SqlResult<Expr> {
    let mut found = Vec::new();
    values.iter_mut().for_each(|value| add_large(value, &mut found));
    let whole: Vec<Expr> = largest(found).into_iter().map(unround).collect();
    let mut body = make(values)?;
    for (number, value) in (0..).step_by(NUMBERS).zip(&whole) {
        body = share(&mut { number }, value, body);
    }
    Ok(body)
}

/// Adds a large value, or the large fields of a row, with their sizes.
fn add_large<'e>(value: &'e mut Expr, found: &mut Vec<(usize, &'e mut Expr)>) {
    stack::ensure();
    let size = large(value);
    match (size, value) {
        (_, Expr { kind: ExprKind::Row(fields), .. }) => {
            fields.iter_mut().for_each(|field| add_large(field, found));
        }
        (Some(size), value) => found.push((size, value)),
        _ => {}
    }
}

/// The size of a value that is not small.
fn large(value: &Expr) -> Option<usize> {
    match value.size_within(SMALL) {
        Some(_) => None,
        None => value.size_within(usize::MAX),
    }
}

/// The largest values come first: one may contain others, and would differ once they are replaced.
fn largest<E>(mut values: Vec<(usize, E)>) -> Vec<E> {
    values.sort_by_key(|(size, _)| Reverse(*size));
    values.into_iter().take(MOST).map(|(_, value)| value).collect()
}

/// Gives a value all its digits, because some uses need them; it still shows as many as before.
/// Returns it without what limits the shown digits.
fn unround(value: &mut Expr) -> Expr {
    let ty = value.ty.clone();
    let mut whole = value.clone();
    if cast::wider_scale(value).is_some() {
        cast::unround(&mut whole);
        *value = whole.clone();
        cast::to_shown(value, &ty);
    }
    whole
}

/// Replaces a value that an expression contains several times; `next` is the next free number.
fn share(next: &mut u32, value: &Expr, mut body: Expr) -> Expr {
    let number = *next;
    *next += 1;
    let operands = match &value.kind {
        ExprKind::Call(call) => call.args.iter().filter_map(|e| Some((large(e)?, e))).collect(),
        _ => Vec::new(),
    };
    let operands = largest(operands);
    let (mut uses, mut has_operands) = (0, false);
    visit(&body, number, &mut |e| {
        let found = e == value;
        uses += usize::from(found);
        has_operands |= !found && operands.contains(&e);
        found
    });
    if has_operands {
        return operands.into_iter().fold(body, |body, operand| share(next, operand, body));
    }
    if uses < 2 {
        return body;
    }
    let held = Held {
        number,
        is_json: is_json(value),
        has_others_than_ascii: has_others_than_ascii(value),
    };
    replace(&mut body, value, &like(value, ExprKind::Held(held)), number);
    let whole = like(&body, ExprKind::Row(Vec::new()));
    let hold = Hold { number, value: value.clone(), body };
    Expr { kind: ExprKind::Hold(Box::new(hold)), ..whole }
}

/// Visits the parts of an expression in which `number` can stand for a value, except inside those
/// for which `f` returns true.
fn visit(e: &Expr, number: u32, f: &mut impl FnMut(&Expr) -> bool) {
    stack::ensure();
    if f(e) {
        return;
    }
    match &e.kind {
        ExprKind::Subquery(_) => {}
        // In its body the number stands for its own value.
        ExprKind::Hold(hold) if hold.number == number => visit(&hold.value, number, f),
        _ => {
            e.any_child(&mut |child| {
                visit(child, number, f);
                false
            });
        }
    }
}

/// Replaces a value where [`visit`] comes to it.
fn replace(e: &mut Expr, value: &Expr, held: &Expr, number: u32) {
    stack::ensure();
    if e == value {
        *e = held.clone();
        return;
    }
    match &mut e.kind {
        ExprKind::Subquery(_) => {}
        ExprKind::Hold(hold) if hold.number == number => {
            replace(&mut hold.value, value, held, number);
        }
        _ => e.children_mut().into_iter().for_each(|child| replace(child, value, held, number)),
    }
}

/// An expression of another kind that has the type of `e`.
fn like(e: &Expr, kind: ExprKind) -> Expr {
    let coercibility = e.coercibility;
    Expr { coercibility, ..Expr::new(kind, e.ty.clone(), e.nullable) }
}
