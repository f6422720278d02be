//! Types of aggregate functions.
//! Also converts arguments; lengths and digits are those of MariaDB's result metadata.

use selkie_types::{
    JsonRole, NOT_FIXED_DECIMALS, Physical, SqlError, SqlResult, SqlType, TypeKind,
};

use super::{Aggregate, AggregateKind};
use crate::build::{self, Numeric};
use crate::cast;
use crate::collate::{self, Claim, Coercibility};
use crate::context::TypeContext;
use crate::expr::{Expr, ExprKind};
use crate::operator;
use crate::refuse::refuse_any;
use crate::result_type;

/// Most digits that a sum adds to its argument.
const SUM_DIGITS: u32 = 22;

/// Converts the arguments of an aggregate and infers its type.
pub(super) fn bind(mut a: Aggregate, types: &TypeContext) -> SqlResult<Aggregate> {
    use AggregateKind::*;
    if a.args.iter().any(|e| matches!(e.kind, ExprKind::Row(_))) {
        let def = &selkie_types::error::catalogue::ER_OPERAND_COLUMNS;
        return Err(SqlError::new(def, &[&1]));
    }
    let one = matches!(a.kind, Count | GroupConcat | JsonObjectAgg) || a.args.len() == 1;
    if !one || (a.kind == JsonObjectAgg && a.args.len() != 2) {
        let def = &selkie_types::error::catalogue::ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT;
        return Err(SqlError::new(def, &[&a.kind.name()]));
    }
    if let Some(operation) = summing(&a) {
        let is_geometry = a.args.iter().any(|e| e.ty.geometry.is_some());
        // Compat: a type that MariaDB does not load as a plugin has another name of the operation.
        let bare = is_geometry && matches!(a.kind, Sum | Avg);
        let name = operation.split('(').next().filter(|_| bare);
        refuse_any(name.unwrap_or(operation), &a.args)?;
    }
    if matches!(a.kind, Sum | Avg | Min | Max) {
        a.args.iter_mut().for_each(cast::to_widest_variable);
    }
    match a.kind {
        Count => count(&mut a),
        Sum => sum(&mut a),
        Avg => average(&mut a, types),
        Min | Max | AnyValue => extreme(&mut a, types),
        Std | StddevSamp | Variance | VarSamp => spread(&mut a, types),
        BitAnd | BitOr | BitXor => bits(&mut a),
        GroupConcat => group_concat(&mut a, types)?,
        JsonArrayAgg | JsonObjectAgg => json(&mut a, types)?,
        Stored => {}
    }
    Ok(a)
}

/// Name of an aggregate of numbers in errors.
fn summing(a: &Aggregate) -> Option<&'static str> {
    use AggregateKind::*;
    Some(match a.kind {
        Sum if a.distinct => "sum(distinct ",
        Sum => "sum(",
        Avg if a.distinct => "avg(distinct ",
        Avg => "avg(",
        Std => "std(",
        StddevSamp => "stddev_samp(",
        Variance => "variance(",
        VarSamp => "var_samp(",
        BitAnd => "bit_and(",
        BitOr => "bit_or(",
        BitXor => "bit_xor(",
        _ => return None,
    })
}

fn count(a: &mut Aggregate) {
    a.ty = SqlType::new(TypeKind::BigInt, 21, 0);
    a.nullable = false;
}

/// Converts an argument to decimal or double.
///
/// Compat: distinct values are stored in a table, so they have the digits of their type.
fn to_summable(e: &mut Expr, distinct: bool) -> bool {
    let kind = build::to_number(e);
    if kind == Numeric::Double {
        return false;
    }
    if e.ty.physical() == Physical::Decimal && !distinct {
        cast::unround(e);
    }
    true
}

/// The type of a sum of doubles, of a declared type, or of texts without digits after the point.
fn double_type(declared: &SqlType, whole: bool, more: u8) -> SqlType {
    let real = matches!(declared.kind, TypeKind::Float | TypeKind::Double);
    let decimals = if whole {
        more
    } else if real && declared.decimals < NOT_FIXED_DECIMALS {
        (declared.decimals + more).min(NOT_FIXED_DECIMALS)
    } else {
        NOT_FIXED_DECIMALS
    };
    result_type::double_type(decimals)
}

fn sum(a: &mut Aggregate) {
    let (declared, whole) = (a.args[0].ty.clone(), a.args[0].is_whole_number_text());
    a.ty = if to_summable(&mut a.args[0], a.distinct) {
        let number = summed(&declared, &a.args[0]);
        SqlType::decimal((number.length + SUM_DIGITS).min(65), number.decimals)
    } else {
        double_type(&declared, whole, 0)
    };
}

/// The declared decimal type of a summed expression.
fn summed(declared: &SqlType, e: &Expr) -> SqlType {
    match declared.kind {
        TypeKind::Decimal => declared.clone(),
        TypeKind::Bit => SqlType::decimal(declared.length, 0),
        _ if e.ty.physical() == Physical::Decimal => e.ty.clone(),
        _ if declared.is_integer() => SqlType::decimal(cast::digits_of_value(e), 0),
        _ => cast::decimal_type(&e.ty),
    }
}

fn average(a: &mut Aggregate, types: &TypeContext) {
    let (declared, whole) = (a.args[0].ty.clone(), a.args[0].is_whole_number_text());
    let increment = types.div_precision_increment;
    a.parameter = increment.into();
    a.ty = if to_summable(&mut a.args[0], a.distinct) {
        let number = summed(&declared, &a.args[0]);
        let scale = (number.decimals + increment).min(38);
        SqlType::decimal((number.length + u32::from(increment)).min(65), scale)
    } else {
        double_type(&declared, whole, increment)
    };
}

/// Gives an average all digits that its division computes; returns the type it shows.
///
/// Compat: `AVG(i)*3` over 1, 2 and 4 is 7.0000, like `SUM(i)/COUNT(*)*3`.
pub(super) fn hold_quotient(a: &mut Aggregate) -> Option<SqlType> {
    if a.kind != AggregateKind::Avg || a.ty.physical() != Physical::Decimal {
        return None;
    }
    let input = &a.args[0].ty;
    let scale = if input.physical() == Physical::Decimal { input.decimals } else { 0 };
    let digits = operator::quotient_scale(scale, 0, a.parameter as u32);
    let more = digits.checked_sub(a.ty.decimals).filter(|more| *more > 0)?;
    let shown = a.ty.clone();
    a.ty.length += u32::from(more);
    a.ty.decimals = digits;
    Some(shown)
}

fn extreme(a: &mut Aggregate, types: &TypeContext) {
    let e = &mut a.args[0];
    match e.ty.kind {
        TypeKind::Null => {
            *e = Expr::literal(
                selkie_types::Value::Null,
                SqlType::varchar(0, types.collation_connection),
            )
        }
        TypeKind::Enum | TypeKind::Set if a.kind != AggregateKind::AnyValue => {
            cast::to_text(e, types);
        }
        _ => {}
    }
    a.ty = SqlType { zerofill: false, non_negative: false, ..e.ty.clone() };
    if a.ty.json == JsonRole::Document && !matches!(e.kind, ExprKind::Column(_)) {
        // Compat: the extreme of computed documents is a plain text.
        a.ty.json = JsonRole::Plain;
    }
    let is_number = e.ty.is_integer() || matches!(e.ty.kind, TypeKind::Year | TypeKind::Bit);
    let is_truth = e.ty.json == JsonRole::Truth;
    if is_number && !is_truth && !matches!(e.kind, ExprKind::Column(_)) {
        // Compat: the extreme of computed integers has a larger integer type.
        cast::short_year(e);
        a.ty.kind = TypeKind::BigInt;
        a.ty.unsigned = e.ty.physical() == Physical::UInt;
    }
    a.coercibility = e.coercibility;
}

fn spread(a: &mut Aggregate, types: &TypeContext) {
    let e = &mut a.args[0];
    if e.is_whole_number_text() {
        cast::to_double(e);
        a.ty = SqlType::new(TypeKind::Double, 17, types.div_precision_increment.min(30));
        return;
    }
    let decimals = match e.ty.kind {
        TypeKind::Float | TypeKind::Double => e.ty.decimals,
        TypeKind::Decimal => e.ty.decimals,
        _ if e.is_hex() => 0,
        _ if e.ty.is_string() => NOT_FIXED_DECIMALS,
        _ if e.ty.is_temporal() => e.ty.decimals,
        _ => 0,
    };
    let is_double = matches!(e.ty.kind, TypeKind::Float | TypeKind::Double);
    let is_double =
        is_double || matches!(e.ty.kind, TypeKind::Enum | TypeKind::Set | TypeKind::Null);
    // Compat: the variable counts for exact numbers only.
    let increment = if is_double { 4 } else { types.div_precision_increment };
    let length = match is_double {
        true => 17 + u32::from(decimals),
        false => spread_length(e, decimals, increment),
    };
    cast::to_double(e);
    a.ty = if decimals >= NOT_FIXED_DECIMALS {
        result_type::double_type(NOT_FIXED_DECIMALS)
    } else {
        SqlType::new(TypeKind::Double, length, (decimals + increment).min(30))
    };
}

/// Compat: a variance has twice the digits of an exact number, a point and a sign, though it is a
/// double.
fn spread_length(e: &Expr, decimals: u8, increment: u8) -> u32 {
    let point = u32::from(decimals + increment > 0);
    2 * summed(&e.ty, e).length + u32::from(increment) + 1 + point
}

fn bits(a: &mut Aggregate) {
    if a.args[0].ty.kind == TypeKind::Decimal {
        // Compat: a decimal is first converted to a signed integer.
        cast::to_int(&mut a.args[0]);
    }
    cast::to_uint(&mut a.args[0]);
    a.ty = SqlType::bigint_unsigned();
    a.ty.length = 21;
    a.nullable = false;
}

/// Compat: GROUP_CONCAT that keeps its rows shows a BIT column as a number, which is binary still.
pub(super) fn to_number_of_bits(e: &mut Expr, types: &TypeContext) {
    if e.ty.kind == TypeKind::Bit && matches!(e.kind, ExprKind::Column(_)) {
        cast::bits_to_number(e);
        cast::to_text(e, types);
        cast::to_charset(e, selkie_types::CollationId::BINARY);
    }
}

fn group_concat(a: &mut Aggregate, types: &TypeContext) -> SqlResult<()> {
    a.args.iter_mut().for_each(|e| cast::to_text(e, types));
    let mut args: Vec<&mut Expr> = a.args.iter_mut().collect();
    let claim = collate::unify(&mut args, "group_concat(", false)?;
    joined(a, types, claim, 0);
    Ok(())
}

/// Texts joined up to `group_concat_max_len`, and `more` bytes around them.
///
/// Compat: numbers have the coercibility of literals.
fn joined(a: &mut Aggregate, types: &TypeContext, claim: Claim, more: u64) {
    /// Compat: longer results are possible, but not announced.
    const LONGEST: u64 = 1 << 24;
    a.parameter = types.group_concat_max_len;
    let width = claim.collation.charset().max_len() as u64;
    let bytes = types.group_concat_max_len.min(LONGEST) * width + more;
    let (kind, length) = match bytes {
        _ if bytes / width <= 512 => (TypeKind::VarChar, bytes / width),
        0..=65_535 => (TypeKind::Text, bytes),
        65_536..=16_777_215 => (TypeKind::MediumText, bytes),
        _ => (TypeKind::LongText, bytes),
    };
    a.ty = SqlType::new(kind, length as u32, 0);
    a.ty.collation = claim.collation;
    a.coercibility = match claim.coercibility {
        Coercibility::Numeric => Coercibility::Coercible,
        other => other,
    };
}

/// Compat: a document has the charset of the values in it.
fn json(a: &mut Aggregate, types: &TypeContext) -> SqlResult<()> {
    for e in &mut a.args {
        crate::functions::json::unwrite(e);
    }
    let mut texts = a.args.clone();
    texts.iter_mut().for_each(|e| cast::to_text(e, types));
    let views: Vec<&Expr> = texts.iter().collect();
    let mut claim = collate::aggregate(&views, &a.kind.name(), false)?;
    if a.args.iter().all(|e| e.ty.kind == TypeKind::Null) {
        claim.collation = selkie_types::CollationId::BINARY;
    }
    if claim.collation.charset().min_len() > 1 {
        claim.collation = selkie_types::CollationId::UTF8MB4_BIN;
    }
    let brackets = if a.kind == AggregateKind::JsonArrayAgg { 2 } else { 0 };
    joined(a, types, claim, brackets);
    a.ty.json = selkie_types::JsonRole::Document;
    a.args.iter_mut().for_each(|e| crate::functions::json::quote_variable(e, types));
    if a.kind == AggregateKind::JsonObjectAgg {
        cast::to_text(&mut a.args[0], types);
        crate::functions::json::prepare(&mut a.args[0]);
    }
    Ok(())
}
