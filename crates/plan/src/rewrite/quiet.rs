//! Expressions that raise no warning and no error, whatever their row is. Only those may be
//! evaluated for rows that the statement as it is written would not have read.
//!
//! Must answer `false` when in doubt.

use selkie_expr::{Call, Expr, ExprKind};
use selkie_types::{Physical, SqlType, TypeKind, Value};

/// Digits that a decimal result may have without a risk of overflow.
const MOST_DIGITS: u32 = 60;

/// Whether evaluating an expression raises no warning and no error, whatever the row is.
pub(crate) fn is_quiet(e: &Expr) -> bool {
    !e.any(&mut |e| match &e.kind {
        ExprKind::Case(_) | ExprKind::Coalesce(_) => false,
        ExprKind::Call(call) => !is_quiet_call(call, &e.ty),
        kind => !kind.only_compares(),
    })
}

fn is_quiet_call(call: &Call, ty: &SqlType) -> bool {
    match call.function.name() {
        "LIKE" | "BETWEEN" | "NOT BETWEEN" => true,
        "+" | "-" | "*" => match ty.physical() {
            Physical::Decimal => ty.length <= MOST_DIGITS && !ty.unsigned,
            Physical::Int => call.args.iter().all(is_small),
            _ => false,
        },
        "" | "CAST" => call.args.iter().all(|arg| widens(&arg.ty, ty)),
        _ => false,
    }
}

/// Whether a number is an integer of at most 32 bits.
fn is_small(e: &Expr) -> bool {
    let small = matches!(
        e.ty.kind,
        TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::Int
    );
    match e.as_literal() {
        Some(Value::Int(value)) => i32::try_from(*value).is_ok(),
        Some(_) => false,
        None => small && e.as_column().is_some(),
    }
}

/// Whether every value of a type has a value of the other.
fn widens(from: &SqlType, to: &SqlType) -> bool {
    match (from.physical(), to.physical()) {
        (Physical::Int | Physical::UInt, Physical::Double) => true,
        (Physical::Int | Physical::UInt, Physical::Decimal) => {
            to.length >= u32::from(to.decimals) + 20 && !to.unsigned
        }
        (Physical::Decimal, Physical::Decimal) => {
            let whole = |ty: &SqlType| ty.length.saturating_sub(u32::from(ty.decimals));
            whole(to) >= whole(from) && to.decimals >= from.decimals && !to.unsigned
        }
        (Physical::Decimal, Physical::Double) => true,
        (Physical::Date, Physical::DateTime) => true,
        (Physical::Int, Physical::Int) | (Physical::UInt, Physical::UInt) => {
            to.kind == TypeKind::BigInt && from.is_integer()
        }
        _ => false,
    }
}
