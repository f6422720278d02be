//! Errors for operands that an operator does not accept: rows, and values of INET4, INET6, UUID and
//! the spatial types. These are neither numbers nor dates, and values of two of these types do not
//! mix.

use selkie_types::error::catalogue::{
    ER_ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION, ER_ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION,
    ER_OPERAND_COLUMNS,
};
use selkie_types::{JsonRole, SqlError, SqlResult, SqlType, TypeKind};

use crate::expr::{Expr, ExprKind};

/// Error 4078 if a value of a fixed number of bytes is beside a number, a date or another such
/// type.
pub(crate) fn refuse_beside(operation: &str, args: &[&Expr]) -> SqlResult<()> {
    let tys = args.iter().map(|e| &e.ty).collect::<Vec<_>>();
    refuse_types(operation, &tys)
}

/// Like `refuse_beside`, for types.
pub fn refuse_types(operation: &str, tys: &[&SqlType]) -> SqlResult<()> {
    if tys.iter().all(|ty| !ty.is_opaque()) {
        return Ok(());
    }
    let mut common: Option<&SqlType> = None;
    // Compat: a number beside a text counts as a text for the next operand, except in GREATEST and
    // LEAST, which compare.
    let keeps_texts = !matches!(operation, "greatest" | "least");
    for ty in tys.iter().filter(|ty| ty.kind != TypeKind::Null) {
        common = match common {
            None => Some(ty),
            Some(before) if keeps_texts && is_text(ty) && !before.is_opaque() => Some(ty),
            Some(before) if keeps_texts && is_text(before) && !ty.is_opaque() => Some(before),
            // Compat: the table that combines queries has no column for both.
            Some(before) if operation == "UNION" && is_address_beside_members(before, ty) => {
                return Err(illegal_types(operation, own_name(before), own_name(ty)));
            }
            Some(before) if let Some(made) = beside_geometry(operation, before, ty) => Some(made),
            Some(before) => Some(pair(before, ty).ok_or_else(|| {
                illegal_types(operation, parameter_name(before), parameter_name(ty))
            })?),
        };
    }
    Ok(())
}

fn is_address_beside_members(a: &SqlType, b: &SqlType) -> bool {
    let has_members = |ty: &SqlType| matches!(ty.kind, TypeKind::Enum | TypeKind::Set);
    has_members(a) && b.fixed_binary().is_some() || has_members(b) && a.fixed_binary().is_some()
}

/// As [`parameter_name`], but types with members have names of their own.
fn own_name(ty: &SqlType) -> &'static str {
    match ty.kind {
        TypeKind::Enum => "enum",
        TypeKind::Set => "set",
        _ => parameter_name(ty),
    }
}

/// The common type of a text and a geometry. Compat: it is a geometry in a comparison, a text in a
/// choice among values.
fn beside_geometry<'a>(operation: &str, a: &'a SqlType, b: &'a SqlType) -> Option<&'a SqlType> {
    let compares = matches!(operation, "in" | "between" | "greatest" | "least");
    match (a.geometry.is_some(), b.geometry.is_some()) {
        (true, true) => Some(a),
        (true, false) if is_text(b) => Some(if compares { a } else { b }),
        (false, true) if is_text(a) => Some(if compares { b } else { a }),
        _ => None,
    }
}

/// The common type of two; `None` if they have none.
fn pair<'a>(a: &'a SqlType, b: &'a SqlType) -> Option<&'a SqlType> {
    if a.geometry.is_some() || b.geometry.is_some() {
        return None;
    }
    match (a.fixed_binary(), b.fixed_binary()) {
        (Some(one), Some(other)) => (one == other).then_some(a),
        (Some(_), None) => is_text(b).then_some(a),
        (None, Some(_)) => is_text(a).then_some(b),
        (None, None) => Some(if is_text(a) { b } else { a }),
    }
}

fn is_text(ty: &SqlType) -> bool {
    ty.is_string() && ty.geometry.is_none() || ty.members.is_some()
}

/// Name of a type in errors about parameters: texts are called blobs, and byte strings characters.
pub fn parameter_name(ty: &SqlType) -> &'static str {
    match ty.kind {
        _ if ty.json == JsonRole::Truth => "boolean",
        _ if ty.geometry.is_some() => ty.name(),
        TypeKind::TinyInt if ty.unsigned => "tiny unsigned",
        TypeKind::SmallInt if ty.unsigned => "smallint unsigned",
        TypeKind::MediumInt if ty.unsigned => "mediumint unsigned",
        TypeKind::Int if ty.unsigned => "int unsigned",
        TypeKind::BigInt if ty.unsigned => "bigint unsigned",
        TypeKind::Char => "char",
        TypeKind::VarChar | TypeKind::Enum | TypeKind::Set => "varchar",
        TypeKind::TinyText => "tinyblob",
        TypeKind::Text => "blob",
        TypeKind::MediumText => "mediumblob",
        TypeKind::LongText => "longblob",
        _ => ty.name(),
    }
}

/// Error 4078 if an operand of a two-number operator is such a value.
pub(crate) fn refuse_either(operation: &str, a: &Expr, b: &Expr) -> SqlResult<()> {
    match [a, b].iter().any(|e| e.ty.is_opaque()) {
        true => Err(illegal_types(operation, parameter_name(&a.ty), parameter_name(&b.ty))),
        false => Ok(()),
    }
}

/// Error 4078 for a column of such a type as a condition, which would be compared with a number.
pub fn refuse_condition(operation: &str, e: &Expr, number: &str) -> SqlResult<()> {
    match e.is_column_of_table() && e.ty.is_opaque() {
        true => Err(illegal_types(operation, parameter_name(&e.ty), number)),
        false => Ok(()),
    }
}

/// Error 4079 if an operand of an operator on numbers is such a value.
pub(crate) fn refuse_any<'e>(
    operation: &str,
    args: impl IntoIterator<Item = &'e Expr>,
) -> SqlResult<()> {
    match args.into_iter().find(|e| e.ty.is_opaque()) {
        Some(e) => {
            let def = &ER_ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION;
            Err(SqlError::new(def, &[&parameter_name(&e.ty), &operation]))
        }
        None => Ok(()),
    }
}

/// Error 4079 for such arguments of a function that needs numbers or dates there.
pub(crate) fn refuse_arguments(function: &str, args: &[Expr]) -> SqlResult<()> {
    if args.iter().all(|e| !e.ty.is_opaque()) {
        return Ok(());
    }
    let name = function.to_ascii_lowercase();
    let operation = match &name[..] {
        "atan2" => "atan",
        "ceil" => "ceiling",
        "power" => "pow",
        "day" => "dayofmonth",
        "weekofyear" => "week",
        "datediff" => "to_days",
        "date" => "cast_as_date",
        "time" => "cast_as_time",
        "timestamp" if args.len() == 1 => "cast_as_datetime",
        other => other,
    };
    match &name[..] {
        "convert_tz" | "date_format" | "from_unixtime" | "round" | "time_format" | "truncate" => {
            refuse_any(operation, args.first())
        }
        "locate" => refuse_any(operation, args.get(2)),
        "benchmark" | "inet_aton" => {
            refuse_any(operation, args.first().filter(|e| e.ty.geometry.is_some()))
        }
        _ if WANT_NUMBERS.contains(&operation) => refuse_any(operation, args),
        _ => Ok(()),
    }
}

/// Names in errors of functions that need numbers or dates for all their arguments.
const WANT_NUMBERS: &[&str] = &[
    "abs",
    "acos",
    "asin",
    "atan",
    "bit_count",
    "cast_as_date",
    "cast_as_datetime",
    "cast_as_time",
    "ceiling",
    "cos",
    "cot",
    "dayofmonth",
    "dayofyear",
    "degrees",
    "exp",
    "floor",
    "from_days",
    "get_lock",
    "hour",
    "is_free_lock",
    "is_used_lock",
    "last_day",
    "last_insert_id",
    "ln",
    "log",
    "log10",
    "log2",
    "makedate",
    "maketime",
    "microsecond",
    "minute",
    "period_add",
    "period_diff",
    "pow",
    "quarter",
    "radians",
    "rand",
    "release_lock",
    "sec_to_time",
    "second",
    "sign",
    "sin",
    "sleep",
    "sqrt",
    "tan",
    "timediff",
    "timestamp",
    "timestampdiff",
    "to_char",
    "to_days",
    "to_seconds",
    "week",
    "year",
    "yearweek",
];

pub(crate) fn is_row(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Row(_))
}

/// Error 4078 for a row as operand of an operator that takes no rows.
pub(crate) fn refuse_rows(operation: &str, a: &Expr, b: &Expr) -> SqlResult<()> {
    let name = |e: &Expr| if is_row(e) { "row" } else { parameter_name(&e.ty) };
    match is_row(a) || is_row(b) {
        true => Err(illegal_types(operation, name(a), name(b))),
        false => Ok(()),
    }
}

/// Error 4079 for a row as operand of an operator that checks each operand alone.
pub(crate) fn refuse_any_row(operation: &str, args: &[Expr]) -> SqlResult<()> {
    match args.iter().any(is_row) {
        true => {
            Err(SqlError::new(&ER_ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION, &[&"row", &operation]))
        }
        false => Ok(()),
    }
}

pub(crate) fn illegal_types(operation: &str, a: &str, b: &str) -> SqlError {
    SqlError::new(&ER_ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION, &[&a, &b, &operation])
}

/// Error 1241 for rows of different widths. Compat: inside rows, a value beside a row is a row of
/// one.
pub(crate) fn refuse_widths(a: &Expr, b: &Expr) -> SqlResult<()> {
    let width = |e: &Expr| match &e.kind {
        ExprKind::Row(parts) => parts.len(),
        _ => 1,
    };
    match width(a) == width(b) {
        true => Ok(()),
        false => Err(SqlError::new(&ER_OPERAND_COLUMNS, &[&width(a)])),
    }
}

/// Error 4078 for a list that mixes rows and values, or does not fit `value`; error 1241 for a row
/// of another width.
pub(crate) fn refuse_mixed(operation: &str, value: &Expr, items: &[Expr]) -> SqlResult<()> {
    items.iter().try_for_each(|item| match is_row(item) == is_row(value) {
        true => refuse_widths(value, item),
        false => refuse_rows(operation, value, item),
    })
}

/// Error 1241 for a row in place of a scalar.
pub(crate) fn refuse_row(e: &Expr) -> SqlResult<()> {
    match e.kind {
        ExprKind::Row(_) => Err(SqlError::new(&ER_OPERAND_COLUMNS, &[&1])),
        _ => Ok(()),
    }
}
