//! Comparison operators: the type in which two operands compare.
//! Every comparison must be built here: its type decides which rows and indexes match.

use selkie_types::{CollationId, FixedBinary, Physical, SqlResult, TypeKind};

use super::{field, row};
use crate::cast::{self, wider_scale};
use crate::collate;
use crate::context::TypeContext;
use crate::expr::{Compare, CompareBy, CompareOp, Expr, ExprKind};
use crate::refuse::refuse_beside;
use crate::result_type::boolean_type;

/// The type in which values of two or more types compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareTypes {
    /// As integers.
    Integer,
    /// As decimals.
    Decimal,
    /// As doubles.
    Double,
    /// As strings.
    String,
    /// As dates.
    Date,
    /// As times.
    Time,
    /// As dates with time of day.
    DateTime,
    /// As values of a fixed number of bytes.
    FixedBinary(FixedBinary),
}

/// The type family of an expression in comparisons.
fn family(e: &Expr) -> CompareTypes {
    match e.ty.kind {
        TypeKind::Inet4 => CompareTypes::FixedBinary(FixedBinary::Inet4),
        TypeKind::Inet6 => CompareTypes::FixedBinary(FixedBinary::Inet6),
        TypeKind::Uuid => CompareTypes::FixedBinary(FixedBinary::Uuid),
        TypeKind::Decimal => CompareTypes::Decimal,
        TypeKind::Float | TypeKind::Double => CompareTypes::Double,
        TypeKind::Date => CompareTypes::Date,
        TypeKind::Time => CompareTypes::Time,
        TypeKind::DateTime | TypeKind::Timestamp => CompareTypes::DateTime,
        TypeKind::Bit | TypeKind::Year => CompareTypes::Integer,
        _ if e.ty.is_integer() => CompareTypes::Integer,
        _ if e.is_hex() => CompareTypes::String,
        _ => CompareTypes::String,
    }
}

/// The type in which two operands compare.
pub fn compare_types(a: &Expr, b: &Expr) -> CompareTypes {
    use CompareTypes::*;
    if a.ty.kind == TypeKind::Null {
        return family(b);
    }
    if b.ty.kind == TypeKind::Null {
        return family(a);
    }
    let (fa, fb) = (family(a), family(b));
    match (fa, fb) {
        _ if fa == fb => fa,
        (FixedBinary(kind), _) | (_, FixedBinary(kind)) => FixedBinary(kind),
        (Date, DateTime) | (DateTime, Date) | (Date | DateTime, Time) | (Time, Date | DateTime) => {
            DateTime
        }
        // A date compares with strings and numbers as a date with time, a time as a time.
        (Date, _) | (_, Date) | (DateTime, _) | (_, DateTime) => DateTime,
        (Time, _) | (_, Time) => Time,
        // A hexadecimal literal is a number beside a number.
        (String, other) if a.is_hex() => other,
        (other, String) if b.is_hex() => other,
        // Compat: a string beside an integer compares as a decimal, so that no digit is lost.
        (Integer, String) | (String, Integer) => Decimal,
        (Decimal, String) if b.is_constant() && !a.is_constant() => Decimal,
        (String, Decimal) if a.is_constant() && !b.is_constant() => Decimal,
        (Double | String, _) | (_, Double | String) => Double,
        (Decimal, _) | (_, Decimal) => Decimal,
        _ => Integer,
    }
}

/// `a op b`, of scalars or rows.
pub fn comparison(op: CompareOp, a: Expr, b: Expr, types: &TypeContext) -> SqlResult<Expr> {
    if matches!(a.kind, ExprKind::Row(_)) || matches!(b.kind, ExprKind::Row(_)) {
        return row::comparison(op, a, b, types);
    }
    compare_two(op, op.symbol(), a, b, types)
}

/// `a op b` of two scalars with no other operands; `operation` is its name in errors.
pub(super) fn compare_two(
    op: CompareOp,
    operation: &str,
    mut a: Expr,
    mut b: Expr,
    types: &TypeContext,
) -> SqlResult<Expr> {
    if compare_types(&a, &b) == CompareTypes::String {
        cast::compare_extracted(&mut a, &mut b);
    }
    scalars(op, operation, a, b, field::convert_constants, types)
}

/// `a op b` of scalars that may have other operands beside them.
///
/// Compat: there a YEAR is a number, and a constant beside it is no two-digit year.
pub(super) fn comparison_of_scalars(
    op: CompareOp,
    a: Expr,
    b: Expr,
    types: &TypeContext,
) -> SqlResult<Expr> {
    scalars(op, op.symbol(), a, b, field::convert_integers, types)
}

fn scalars(
    op: CompareOp,
    operation: &str,
    a: Expr,
    b: Expr,
    convert: fn(&mut [&mut Expr], &TypeContext),
    types: &TypeContext,
) -> SqlResult<Expr> {
    refuse_beside(operation, &[&a, &b])?;
    let (mut a, mut b) = (a, b);
    let exact = is_exact_beside(&a, &b) || is_exact_beside(&b, &a);
    field::constant_to_float(&mut a, &mut b);
    field::constant_to_float(&mut b, &mut a);
    field::date_beside_bigint(&a, &mut b);
    field::date_beside_bigint(&b, &mut a);
    let mut args = [&mut a, &mut b];
    let common = match exact {
        true => CompareTypes::Decimal,
        false => {
            convert(&mut args, types);
            compare_types(args[0], args[1])
        }
    };
    if common == CompareTypes::Double {
        field::round_beside(&mut a, &mut b);
    }
    let by = to_shown(common, operation, &mut [&mut a, &mut b], types)?;
    Ok(compared(op, a, b, by))
}

/// `a op b` of decimals with all computed digits, as CASE and DECODE compare.
pub(super) fn precise_comparison(
    op: CompareOp,
    mut a: Expr,
    mut b: Expr,
    types: &TypeContext,
) -> SqlResult<Expr> {
    let cut = wider_scale(&a).or(wider_scale(&b)).is_some();
    if !cut || compare_types(&a, &b) != CompareTypes::Decimal {
        return comparison_of_scalars(op, a, b, types);
    }
    let by = to_common(CompareTypes::Decimal, op.symbol(), &mut [&mut a, &mut b], types)?;
    Ok(compared(op, a, b, by))
}

/// Compat: a decimal column compares with a constant string as a decimal; a computed decimal does
/// so as a double.
fn is_exact_beside(column: &Expr, constant: &Expr) -> bool {
    column.as_column().is_some()
        && column.ty.kind == TypeKind::Decimal
        && family(constant) == CompareTypes::String
        && constant.ty.kind != TypeKind::Null
        && !constant.is_hex()
        && is_computed_once(constant)
}

/// Whether an expression has one value for the whole statement: a constant, a variable, a subquery
/// that does not depend on outer rows.
fn is_computed_once(e: &Expr) -> bool {
    !e.any(&mut |e| match &e.kind {
        ExprKind::Column(_) | ExprKind::Stored(_) | ExprKind::Sequence(_) => true,
        // Values that vary are held.
        ExprKind::Held(_) => true,
        ExprKind::Subquery(subquery) => !subquery.args.is_empty(),
        ExprKind::Call(call) => !call.function.is_deterministic(),
        _ => false,
    })
}

/// A comparison of operands that are already converted.
pub(super) fn compared(op: CompareOp, left: Expr, right: Expr, by: CompareBy) -> Expr {
    let nullable = op != CompareOp::NullSafeEq && (left.nullable || right.nullable);
    let compare = Compare { op, left, right, by };
    Expr::new(ExprKind::Compare(Box::new(compare)), boolean_type(), nullable)
}

/// Converts operands, all of which are compared with the first, to one representation.
pub(super) fn convert(
    operation: &str,
    args: &mut [&mut Expr],
    types: &TypeContext,
) -> SqlResult<CompareBy> {
    refuse_beside(operation, &args.iter().map(|e| &**e).collect::<Vec<_>>())?;
    let (first, others) = args.split_first().map_or((None, &[][..]), |(f, o)| (Some(f), o));
    let exact = |other: &&mut Expr| first.is_some_and(|first| is_exact_beside(first, other));
    let exact = !others.is_empty() && others.iter().all(exact);
    if exact {
        return to_common(CompareTypes::Decimal, operation, args, types);
    }
    convert_looked_for(args, types);
    let mut common = compare_types(&*args[0], args.get(1).map_or(&*args[0], |e| &**e));
    for other in args.iter().skip(2) {
        let next = compare_types(&*args[0], other);
        common = widest(common, next);
    }
    to_common(common, operation, args, types)
}

/// Converts constants beside the first operand, which is the value to look for.
///
/// Compat: they become years only if it is a YEAR column of a table.
pub(super) fn convert_looked_for(args: &mut [&mut Expr], types: &TypeContext) {
    match args.first().is_some_and(|e| e.ty.kind == TypeKind::Year && e.as_column().is_some()) {
        true => field::convert_constants(args, types),
        false => field::convert_integers(args, types),
    }
}

/// The representation that is right for two comparisons together.
pub(super) fn widest(a: CompareTypes, b: CompareTypes) -> CompareTypes {
    use CompareTypes::*;
    match (a, b) {
        _ if a == b => a,
        (FixedBinary(kind), _) | (_, FixedBinary(kind)) => FixedBinary(kind),
        (DateTime, _) | (_, DateTime) => DateTime,
        (Date, _) | (_, Date) => DateTime,
        (Time, _) | (_, Time) => Time,
        (Double | String, _) | (_, Double | String) => Double,
        (Decimal, _) | (_, Decimal) => Decimal,
        _ => Integer,
    }
}

/// Converts all operands to a common representation, with all computed digits.
pub(super) fn to_common(
    common: CompareTypes,
    operation: &str,
    args: &mut [&mut Expr],
    types: &TypeContext,
) -> SqlResult<CompareBy> {
    let by = to_shown(common, operation, args, types)?;
    if by == CompareBy::Decimal {
        args.iter_mut().for_each(|e| super::unround(e));
    }
    Ok(by)
}

/// Converts all operands to a common representation.
///
/// Compat: `=`, `<` and the like compare decimals as they are shown, so `1/3 = 0.3333`; BETWEEN and
/// IN use all computed digits.
fn to_shown(
    common: CompareTypes,
    operation: &str,
    args: &mut [&mut Expr],
    types: &TypeContext,
) -> SqlResult<CompareBy> {
    let each = |args: &mut [&mut Expr], f: fn(&mut Expr)| {
        args.iter_mut().for_each(|e| {
            f(e);
            cast::fold_literal(e, types);
        })
    };
    Ok(match common {
        CompareTypes::Integer => return Ok(integers(args)),
        CompareTypes::Decimal => {
            let decimals = args.iter().filter(|e| e.ty.kind == TypeKind::Decimal);
            let whole = decimals.map(|e| e.ty.length.min(65).saturating_sub(e.ty.decimals.into()));
            let whole = whole.max().unwrap_or(0);
            for e in args.iter_mut() {
                cast::to_decimal_beside(e, whole);
                cast::fold_literal(e, types);
            }
            CompareBy::Decimal
        }
        CompareTypes::Double => {
            each(args, cast::to_double);
            CompareBy::Double
        }
        CompareTypes::Time => {
            each(args, cast::to_compared_time);
            CompareBy::Time
        }
        CompareTypes::Date => {
            each(args, cast::to_compared_date);
            CompareBy::Date
        }
        CompareTypes::DateTime => {
            if let Some(by) = dates(args, types) {
                return Ok(by);
            }
            // Compat: two TIMESTAMPs compare as instants, not as local times, which repeat when the
            // clocks are put back.
            if args.iter().any(|e| e.ty.kind != TypeKind::Timestamp) {
                each(args, cast::to_compared_datetime);
            }
            CompareBy::DateTime
        }
        CompareTypes::FixedBinary(kind) => {
            args.iter_mut().for_each(|e| cast::to_fixed_binary(e, kind, types));
            CompareBy::Bytes(CollationId::BINARY)
        }
        CompareTypes::String => {
            args.iter_mut().for_each(|e| cast::to_text(e, types));
            let claim = collate::unify(args, operation, true)?;
            CompareBy::Bytes(claim.collation)
        }
    })
}

/// Converts to integers; they keep their signedness if all have the same.
fn integers(args: &mut [&mut Expr]) -> CompareBy {
    for e in args.iter_mut() {
        if !matches!(e.ty.physical(), Physical::Int | Physical::UInt) {
            cast::to_int(e);
        }
    }
    // A literal gets the signedness of the other side if its value allows it.
    let unsigned = |e: &Expr| e.ty.physical() == Physical::UInt;
    let literal = |e: &Expr| matches!(e.kind, ExprKind::Literal(_));
    if args.iter().any(|e| unsigned(e) && !literal(e)) {
        for e in args.iter_mut() {
            field::literal_to_unsigned(e);
        }
    }
    match (args.iter().any(|e| unsigned(e)), args.iter().any(|e| !unsigned(e))) {
        (true, true) => CompareBy::MixedInt,
        (true, false) => CompareBy::UInt,
        _ => CompareBy::Int,
    }
}

/// If all operands are dates, or literals at midnight, converts them to dates.
fn dates(args: &mut [&mut Expr], types: &TypeContext) -> Option<CompareBy> {
    let is_date = |e: &Expr| e.ty.kind == TypeKind::Date;
    if !args.iter().any(|e| is_date(e)) {
        return None;
    }
    let mut converted = Vec::new();
    for (at, e) in args.iter().enumerate() {
        if !is_date(e) {
            converted.push((at, field::midnight_literal(e, types)?));
        }
    }
    for (at, e) in converted {
        *args[at] = e;
    }
    args.iter_mut().for_each(|e| cast::to_compared_date(e));
    Some(CompareBy::Date)
}
