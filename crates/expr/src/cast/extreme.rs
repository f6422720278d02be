//! GREATEST and LEAST of texts, used as a number.
//! Compat: MariaDB evaluates such a call by the kind of value its caller wants.

use selkie_types::{NOT_FIXED_DECIMALS, SqlType};

use crate::expr::{Call, CallOption, CompareBy, Expr, ExprKind};
use crate::result_type::double_type;

pub(super) fn is_extreme(call: &Call) -> bool {
    matches!(call.function.name(), "GREATEST" | "LEAST")
}

/// Whether this is GREATEST or LEAST of texts; as a number it compares them as numbers.
pub fn is_extreme_of_texts(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Call(call) if is_extreme(call)) && e.ty.is_string()
}

/// Compat: if a number is wanted, the texts are compared as numbers of its kind:
/// `LEAST('10','9')+0` is 9, and `LEAST('10','9') = 9` is true.
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

/// Removes the conversion of an ENUM or SET member to its name: as a number it is its position.
fn to_member(e: &mut Expr) {
    if let ExprKind::Call(call) = &mut e.kind
        && call.function.is_implicit()
        && call.args[0].ty.members.is_some()
    {
        *e = std::mem::replace(&mut call.args[0], Expr::null());
    }
}
