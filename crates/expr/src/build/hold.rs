//! Values that an expression uses several times. Copies of a small one cost nothing. Copies of one
//! with copies inside would double at each level, so a large one is computed once.
//!
//! An expression is first built with copies, because the conversion of an operand depends on the
//! operand. Then equal copies are replaced. Conversions may have changed the inside of some copies:
//! then the operands of the value are replaced instead.
//!
//! A value that may differ each time it is computed is held before anything is built of it,
//! however small it is: its copies would have different values, and an equal operand beside it is
//! another value.

use std::cmp::Reverse;

use selkie_types::{SqlResult, stack};

use crate::cast;
use crate::collate::has_others_than_ascii;
use crate::expr::{Call, Expr, ExprKind, Held, Hold};
use crate::json::is_json;

/// Nodes of a value that is still copied.
const SMALL: usize = 24;

/// Values that are replaced in one expression. Copies of a smaller value do not multiply: each
/// level of them makes the text so many times as long.
const MOST: usize = 16;

/// Numbers for each value: its own, and those of its operands.
const NUMBERS: usize = 1 << 16;

/// The first number of values that vary. Numbers of others are lower.
const VARYING: u32 = 1 << 24;

/// The expression that `make` makes of a value it uses several times, or of the fields of a row.
pub(super) fn hold(value: Expr, make: impl FnOnce(Expr) -> SqlResult<Expr>) -> SqlResult<Expr> {
    hold_each([value], |[value]| make(value))
}

/// As [`hold`], of several values.
pub(super) fn hold_each<const N: usize>(
    values: [Expr; N],
    make: impl FnOnce([Expr; N]) -> SqlResult<Expr>,
) -> SqlResult<Expr> {
    hold_with(varies, values, make)
}

/// As [`hold`], but a small value that varies is computed each time.
pub(super) fn hold_large(
    value: Expr,
    make: impl FnOnce(Expr) -> SqlResult<Expr>,
) -> SqlResult<Expr> {
    hold_with(|e| large(e).is_some() && varies(e), [value], |[value]| make(value))
}

/// Values for which `is_varying` are held before anything is built of them.
fn hold_with<const N: usize>(
    is_varying: fn(&Expr) -> bool,
    mut values: [Expr; N],
    make: impl FnOnce([Expr; N]) -> SqlResult<Expr>,
) -> SqlResult<Expr> {
    let mut varying = Vec::new();
    // Numbers that the values use already would be taken for these.
    let mut next = values.iter().map(free_number).max().unwrap_or(VARYING);
    for value in &mut values {
        take_varying(is_varying, value, &mut next, &mut varying);
    }
    let mut body = share_large(values, make)?;
    for (number, value) in varying.into_iter().rev() {
        body = held_in(number, value, body);
    }
    Ok(body)
}

/// Whether two computations of a value can differ, or have an effect each.
fn varies(value: &Expr) -> bool {
    value.has_side_effects()
        || value.any(&mut |e| match &e.kind {
            ExprKind::Call(call) => !call.function.is_deterministic(),
            _ => false,
        })
}

/// A number of varying values that `value` does not use.
fn free_number(value: &Expr) -> u32 {
    let mut free = VARYING;
    value.any(&mut |e| {
        match &e.kind {
            ExprKind::Held(held) => free = free.max(held.number.saturating_add(1)),
            ExprKind::Hold(hold) => free = free.max(hold.number.saturating_add(1)),
            _ => {}
        }
        false
    });
    free
}

/// Puts a number in the place of a value that varies, or of the fields of a row that do.
fn take_varying(
    is_varying: fn(&Expr) -> bool,
    value: &mut Expr,
    next: &mut u32,
    varying: &mut Vec<(u32, Expr)>,
) {
    stack::ensure();
    if let ExprKind::Row(fields) = &mut value.kind {
        fields.iter_mut().for_each(|field| take_varying(is_varying, field, next, varying));
        return;
    }
    if !is_varying(value) {
        return;
    }
    // Conversions look at calls, so a call stays whose arguments alone vary. Other parts are not
    // always computed.
    let stays = |call: &Call| call.function.is_deterministic() && !call.function.has_side_effects();
    if matches!(&value.kind, ExprKind::Call(call) if stays(call)) {
        for argument in value.children_mut() {
            take_varying(varies, argument, next, varying);
        }
        return;
    }
    let (shown, limited) = (value.ty.clone(), cast::wider_scale(value).is_some());
    let mut whole = std::mem::replace(value, Expr::null());
    if limited {
        cast::unround(&mut whole);
    }
    *value = number_of(*next, &whole);
    if limited {
        cast::to_shown(value, &shown);
    }
    varying.push((*next, whole));
    *next += 1;
}

/// The number that stands for a value.
fn number_of(number: u32, value: &Expr) -> Expr {
    let held = Held {
        number,
        is_json: is_json(value),
        has_others_than_ascii: has_others_than_ascii(value),
    };
    like(value, ExprKind::Held(held))
}

/// `body`, in which `number` stands for a value.
fn held_in(number: u32, value: Expr, body: Expr) -> Expr {
    let whole = like(&body, ExprKind::Row(Vec::new()));
    let hold = Hold { number, value, body };
    Expr { kind: ExprKind::Hold(Box::new(hold)), ..whole }
}

/// The expression that `make` makes, with each large value computed once.
fn share_large<const N: usize>(
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
    replace(&mut body, value, &number_of(number, value), number);
    held_in(number, value.clone(), body)
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
