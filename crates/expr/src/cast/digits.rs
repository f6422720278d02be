//! Digits after the point beyond those of an expression's type.
//!
//! Must not decide where they are kept: the code that takes the operand asks for them.

use selkie_types::{SqlType, TypeKind, Value};

use super::extreme::is_extreme;
use super::{RESCALE, number, wrap};
use crate::expr::{Call, CallOption, Expr, ExprKind};
use crate::operator;

/// Gives an arithmetic result all digits that its kernel can compute, beyond those of its type.
///
/// Compat: MariaDB rounds to the declared scale only when a value leaves the expression, so `1/3*3`
/// is 1.0000; a column stores as many of the digits as it can.
pub fn unround(e: &mut Expr) {
    if let Some(scale) = wider_scale(e) {
        widen(e, scale);
    }
}

fn widen(e: &mut Expr, scale: u8) {
    let pass = |e: &mut Expr| to_scale(e, scale);
    match &mut e.kind {
        ExprKind::Call(call) if is_converted(call) => unround(&mut call.args[0]),
        ExprKind::Call(call) if is_extreme(call) => call.args.iter_mut().for_each(pass),
        ExprKind::Coalesce(parts) => parts.iter_mut().for_each(pass),
        ExprKind::Case(case) => {
            case.whens.iter_mut().map(|(_, then)| then).for_each(pass);
            case.otherwise.iter_mut().for_each(pass);
        }
        ExprKind::Hold(hold) => unround(&mut hold.body),
        _ => {}
    }
    e.ty.length += u32::from(scale - e.ty.decimals);
    e.ty.decimals = scale;
}

/// Gives one of several values the digits of the one with the most.
fn to_scale(e: &mut Expr, scale: u8) {
    unround(e);
    let more = scale.saturating_sub(e.ty.decimals);
    if matches!(e.kind, ExprKind::Literal(Value::Null)) {
        e.ty.decimals += more;
    } else if more > 0 {
        super::to_decimal_scale(e, e.ty.length + u32::from(more), scale);
    }
}

/// The digits after the point that an arithmetic result, or a value chosen among several, can be
/// given, if they are more than those of its type.
pub fn wider_scale(e: &Expr) -> Option<u8> {
    if e.ty.kind != TypeKind::Decimal {
        return None;
    }
    let scale = match &e.kind {
        ExprKind::Call(call) if is_converted(call) => {
            let arg = &call.args[0];
            Some(wider_scale(arg).unwrap_or(arg.ty.decimals))
        }
        ExprKind::Call(call) if is_extreme(call) => widest(&call.args),
        ExprKind::Call(call) => computed(call),
        ExprKind::Coalesce(parts) => widest(parts),
        ExprKind::Case(case) => {
            widest(case.whens.iter().map(|(_, then)| then).chain(&case.otherwise))
        }
        ExprKind::Hold(hold) => wider_scale(&hold.body),
        _ => None,
    };
    scale.filter(|scale| *scale > e.ty.decimals)
}

/// Whether the call only gives its argument the type of values beside it.
fn is_converted(call: &Call) -> bool {
    let by = |function| std::ptr::eq(call.function, function);
    (by(&super::RETYPE) || by(&super::RESCALE)) && call.args[0].ty.kind == TypeKind::Decimal
}

/// Most digits that one of the values can be given.
fn widest<'e>(values: impl IntoIterator<Item = &'e Expr>) -> Option<u8> {
    values.into_iter().filter_map(wider_scale).max()
}

/// Digits that an operator computes.
fn computed(call: &Call) -> Option<u8> {
    let is = |function: &_| std::ptr::eq(call.function, function);
    let scale = |at: usize| call.args[at].ty.decimals;
    if is(&operator::NEGATE) || call.function.name() == "ABS" {
        return Some(scale(0));
    }
    if is(&operator::DIVIDE) {
        let CallOption::Number(increment) = call.option else { return None };
        return Some(operator::quotient_scale(scale(0), scale(1), increment as u32));
    }
    if is(&operator::MULTIPLY) {
        return Some((scale(0) + scale(1)).min(38));
    }
    let sums = [&operator::ADD, &operator::SUBTRACT, &operator::MODULO];
    sums.into_iter().any(is).then(|| scale(0).max(scale(1)))
}

/// Shows a decimal with the digits of `ty`; [`unround`] can still restore all its digits.
pub fn to_shown(e: &mut Expr, ty: &SqlType) {
    wrap(e, ty.clone(), false, number::decimal_to_scale);
    if let ExprKind::Call(call) = &mut e.kind {
        call.function = &RESCALE;
    }
}

/// Gives a decimal no more digits than it shows; [`unround`] cannot restore others.
pub fn cut_to_shown(e: &mut Expr) {
    if wider_scale(e).is_some() {
        wrap(e, e.ty.clone(), false, number::decimal_to_scale);
    }
}

/// The column that `e` shows with another number of digits.
pub fn shown_column(e: &Expr) -> Option<usize> {
    match &e.kind {
        ExprKind::Call(call) if std::ptr::eq(call.function, &RESCALE) => call.args[0].as_column(),
        _ => None,
    }
}

/// Rounds a decimal to fewer digits and keeps its type.
pub fn round_to(e: &mut Expr, scale: u8) {
    let ty = e.ty.clone();
    if ty.kind == TypeKind::Decimal && scale < ty.decimals {
        wrap(e, SqlType::decimal(ty.length, scale), false, number::decimal_to_scale);
        wrap(e, ty, false, number::decimal_to_scale);
    }
}
