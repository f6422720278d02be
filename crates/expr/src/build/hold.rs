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
use crate::expr::{Expr, ExprKind, Held, Hold};
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
    mut values: [Expr; N],
    make: impl FnOnce([Expr; N]) -> SqlResult<Expr>,
) -> SqlResult<Expr> {
    if !values.iter().any(varies) {
        return share_large(values, make);
    }
    // Numbers that the values use already would be taken for these.
    let mut next = values.iter().map(free_number).max().unwrap_or(VARYING);
    let mut varying = Vec::new();
    values.iter_mut().for_each(|value| take_varying(value, &mut next, &mut varying));
    let mut body = share_large(values, make)?;
    for (number, value) in varying.into_iter().rev() {
        body = held_in(number, value, body);
    }
    Ok(body)
}

/// As [`hold`], but a small value is copied even if it varies.
pub(super) fn hold_large(
    value: Expr,
    make: impl FnOnce(Expr) -> SqlResult<Expr>,
) -> SqlResult<Expr> {
    if large(&value).is_some() { hold(value, make) } else { make(value) }
}

/// Whether two computations of a value can differ, or have an effect each. User variables do not
/// count: conversions must see them.
fn varies(value: &Expr) -> bool {
    value.any(&mut |e| match &e.kind {
        ExprKind::Call(call) => !call.function.is_deterministic(),
        ExprKind::AssignUserVariable(..) | ExprKind::Stored(_) | ExprKind::Sequence(_) => true,
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

/// Puts a number in the place of each part of a value that varies. Rows and deterministic calls
/// stay, since conversions look at them; the parts of other expressions are not always computed.
fn take_varying(value: &mut Expr, next: &mut u32, varying: &mut Vec<(u32, Expr)>) {
    stack::ensure();
    let stays = match &value.kind {
        ExprKind::Row(_) => true,
        ExprKind::Call(call) => call.function.is_deterministic(),
        _ => false,
    };
    if stays {
        value.children_mut().into_iter().for_each(|part| take_varying(part, next, varying));
    } else if varies(value) {
        varying.push((*next, take_whole(value, |whole| number_of(*next, whole))));
        *next += 1;
    }
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
    let whole: Vec<Expr> =
        largest(found).into_iter().map(|value| take_whole(value, Expr::clone)).collect();
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

/// Takes a value with all its digits, because some uses need them. `stand_in` makes of it what
/// takes its place, which shows as many digits as before.
fn take_whole(value: &mut Expr, stand_in: impl FnOnce(&Expr) -> Expr) -> Expr {
    let (shown, limited) = (value.ty.clone(), cast::wider_scale(value).is_some());
    let mut whole = std::mem::replace(value, Expr::null());
    if limited {
        cast::unround(&mut whole);
    }
    *value = stand_in(&whole);
    if limited {
        cast::to_shown(value, &shown);
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

#[cfg(test)]
mod tests {
    use super::{VARYING, hold, hold_each};
    use crate::build::{comparison, function_call};
    use crate::context::TypeContext;
    use crate::expr::{CompareOp, ExprKind};

    /// A value that is held while an operand has a number must not get that number.
    #[test]
    fn values_held_within_have_other_numbers() {
        let types = TypeContext::default();
        let random = || function_call("RAND", Vec::new(), &types).unwrap();
        let held = hold(random(), |outer| {
            hold_each([outer, random()], |[a, b]| comparison(CompareOp::Lt, a, b, &types))
        });
        let ExprKind::Hold(outer) = held.unwrap().kind else { panic!("not held") };
        let ExprKind::Hold(inner) = &outer.body.kind else { panic!("not held within") };
        assert_eq!((outer.number, inner.number), (VARYING, VARYING + 1));
    }
}
