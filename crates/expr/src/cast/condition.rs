//! Values whose truth is tested.
//!
//! Must leave a value as it is shown to where it is returned: only the test sees it converted.

use selkie_types::{Physical, SqlType, TypeKind};

use super::{fixed_binary, local, retype_null, to_decimal, to_double, unround};
use crate::expr::Expr;

/// Like [`to_condition`], for WHERE, ON, HAVING and operands of AND, OR and NOT.
///
/// Compat: there a column of strings is compared with 0 as a decimal.
pub fn to_where_condition(e: &mut Expr) {
    if e.is_column_of_table() && e.ty.is_string() {
        to_decimal(e);
    }
    to_condition(e);
}

/// As [`to_condition`], for a condition as it is written: all digits of a quotient count, not only
/// those that are shown.
pub fn to_whole_condition(e: &mut Expr) {
    unround(e);
    to_condition(e);
}

/// Converts a condition to a type that has truth values; strings become numbers.
pub fn to_condition(e: &mut Expr) {
    match e.ty.kind {
        TypeKind::Null => {
            retype_null(e, &SqlType::bigint());
        }
        TypeKind::Inet4 | TypeKind::Inet6 | TypeKind::Uuid => fixed_binary::to_truth(e),
        _ if e.ty.physical() == Physical::Bytes => to_double(e),
        TypeKind::Timestamp => local(e),
        _ => {}
    }
}
