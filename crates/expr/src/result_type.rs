//! Types of results that do not depend on an operand's kind.
//! Lengths and digits are those MariaDB sends in result metadata.

use selkie_types::{JsonRole, NOT_FIXED_DECIMALS, SqlType, TypeKind};

/// The type of a predicate's result.
pub(crate) fn boolean_type() -> SqlType {
    let mut ty = SqlType::new(TypeKind::Int, 1, 0);
    ty.json = JsonRole::Truth;
    ty
}

/// An integer type for `digits` digits, which include the sign if it is signed.
pub(crate) fn integer_type(digits: u32, unsigned: bool) -> SqlType {
    let length = digits + u32::from(!unsigned);
    let kind = if length >= 10 { TypeKind::BigInt } else { TypeKind::Int };
    let mut ty = SqlType::new(kind, length.min(21), 0);
    ty.unsigned = unsigned;
    ty
}

/// The type of a computed double.
pub(crate) fn double_type(decimals: u8) -> SqlType {
    let length = if decimals >= NOT_FIXED_DECIMALS { 23 } else { 17 + u32::from(decimals) };
    SqlType::new(TypeKind::Double, length, decimals.min(NOT_FIXED_DECIMALS))
}
