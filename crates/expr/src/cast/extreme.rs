//! The greatest and the least of texts, where a number is asked for.

use selkie_types::{NOT_FIXED_DECIMALS, SqlType};

use crate::expr::{Call, CallOption, CompareBy, Expr, ExprKind};
use crate::result_type::double_type;

pub(super) fn is_extreme(call: &Call) -> bool {
    matches!(call.function.name(), "GREATEST" | "LEAST")
}

/// Whether it is the greatest or least of texts, which are compared as numbers if one is asked for.
pub fn is_extreme_of_texts(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Call(call) if is_extreme(call)) && e.ty.is_string()
}

/// Compat: where a number is asked for, texts are compared as numbers of its kind:
/// `LEAST('10','9')+0` is 9, and so is `LEAST('10','9') = 9` true.
pub(crate) fn compare_as_numbers(e: &mut Expr, by: CompareBy) {
    if !is_extreme_of_texts(e) || e.ty.fixed_binary().is_some() {
        return;
    }
    let ExprKind::Call(call) = &mut e.kind else { return };
    for arg in &mut call.args {
        to_member(arg);
        match by {
            CompareBy::Int => super::to_int(arg),
            CompareBy::Decimal => super::to_decimal(arg),
            _ => super::to_double(arg),
        }
    }
    e.ty = match by {
        CompareBy::Int => SqlType::bigint(),
        CompareBy::Decimal => {
            let scale = call.args.iter().map(|arg| arg.ty.decimals).max().unwrap_or(0);
            let precision = call.args.iter().map(|arg| arg.ty.length).max().unwrap_or(1);
            call.args.iter_mut().for_each(|arg| super::to_decimal_scale(arg, precision, scale));
            SqlType::decimal(precision, scale)
        }
        _ => double_type(NOT_FIXED_DECIMALS),
    };
    call.option = CallOption::compared_by(by);
}

/// Takes off the conversion of a member of ENUM or SET to its name: as a number it is its own.
fn to_member(e: &mut Expr) {
    if let ExprKind::Call(call) = &mut e.kind
        && call.function.is_implicit()
        && call.args[0].ty.members.is_some()
    {
        *e = std::mem::replace(&mut call.args[0], Expr::null());
    }
}
