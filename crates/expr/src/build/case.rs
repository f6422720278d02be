//! CASE, IF, NULLIF, COALESCE and IFNULL.
//! All results are converted to one type; only the chosen one is evaluated for a row.

use selkie_types::{SqlMode, SqlResult};

use super::compare::{
    CompareTypes, compare_two, compare_types, compared, precise_comparison, to_common,
};
use super::hold::{hold, hold_large};
use crate::cast;
use crate::collate;
use crate::context::TypeContext;
use crate::expr::{Case, CompareBy, CompareOp, Expr, ExprKind};
use crate::refuse::{refuse_beside, refuse_row};
use crate::union_type::{aggregate_exprs, text_for};

/// Converts all results to their common type.
fn unify(
    results: &mut [&mut Expr],
    operation: &str,
    types: &TypeContext,
) -> SqlResult<(selkie_types::SqlType, collate::Coercibility)> {
    let variable = |e: &&mut Expr| cast::is_decimal_variable(e).then(|| Expr::clone(e));
    let variables: Vec<Option<Expr>> = results.iter().map(variable).collect();
    for e in results.iter_mut() {
        refuse_row(e)?;
        cast::to_widest_variable(e);
    }
    let (ty, coercibility) = {
        let views: Vec<&Expr> = results.iter().map(|e| &**e).collect();
        aggregate_exprs(&views, operation, types)?
    };
    // Compat: a number chosen by CASE has no leading zeros.
    let ty = selkie_types::SqlType { zerofill: false, ..ty };
    if ty.is_string() {
        // A text has the digits that the variable's value has.
        let plain = results.iter_mut().zip(variables).filter_map(|(e, plain)| Some((e, plain?)));
        plain.for_each(|(e, plain)| **e = plain);
    }
    collate::convert_each(results, ty.collation, operation, |e| {
        cast::to_type(e, &ty, types);
        dates_of_mode(e, types);
    });
    Ok((ty, coercibility))
}

/// Compat: a chosen date that the sql mode does not accept is NULL.
fn dates_of_mode(e: &mut Expr, types: &TypeContext) {
    let modes = [SqlMode::NO_ZERO_DATE, SqlMode::NO_ZERO_IN_DATE];
    if modes.into_iter().any(|mode| types.sql_mode.contains(mode)) {
        cast::to_dates_of_mode(e);
    }
}

/// `CASE WHEN c THEN r ... ELSE e END`.
pub fn case_searched(
    whens: Vec<(Expr, Expr)>,
    otherwise: Option<Expr>,
    types: &TypeContext,
) -> SqlResult<Expr> {
    build(whens, otherwise, "case", types)
}

fn build(
    mut whens: Vec<(Expr, Expr)>,
    mut otherwise: Option<Expr>,
    operation: &str,
    types: &TypeContext,
) -> SqlResult<Expr> {
    for (when, _) in &mut whens {
        refuse_row(when)?;
        cast::to_whole_condition(when);
    }
    let mut results: Vec<&mut Expr> =
        whens.iter_mut().map(|(_, r)| r).chain(&mut otherwise).collect();
    let (ty, coercibility) = unify(&mut results, operation, types)?;
    // Compat: a nullable condition makes the result nullable, whatever it chooses.
    let nullable = otherwise.as_ref().is_none_or(|e| e.nullable)
        || whens.iter().any(|(when, result)| when.nullable || result.nullable);
    let case = ExprKind::Case(Box::new(Case { whens, otherwise }));
    Ok(Expr { coercibility, ..Expr::new(case, ty, nullable) })
}

/// `CASE operand WHEN v THEN r ... ELSE e END`.
pub fn case_simple(
    operand: Expr,
    whens: Vec<(Expr, Expr)>,
    otherwise: Option<Expr>,
    types: &TypeContext,
) -> SqlResult<Expr> {
    refuse_row(&operand)?;
    whens.iter().try_for_each(|(v, _)| refuse_row(v))?;
    whens.iter().try_for_each(|(v, _)| refuse_beside("case..when", &[&operand, v]))?;
    hold(operand, |operand| {
        let (mut values, results): (Vec<Expr>, Vec<Expr>) = whens.into_iter().unzip();
        let are_strings: Vec<bool> = values.iter().map(|v| compares_strings(&operand, v)).collect();
        let strings = strings_to_common(&operand, &mut values, types)?;
        let equal = |(v, is_string)| match &strings {
            Some((operand, by)) if is_string => {
                Ok(compared(CompareOp::Eq, operand.clone(), v, *by))
            }
            _ => precise_comparison(CompareOp::Eq, operand.clone(), v, types),
        };
        let conditions = values.into_iter().zip(are_strings).map(equal);
        let conditions = conditions.collect::<SqlResult<Vec<_>>>()?;
        build(conditions.into_iter().zip(results).collect(), otherwise, "case", types)
    })
}

fn compares_strings(a: &Expr, b: &Expr) -> bool {
    a.ty.is_string() && b.ty.is_string() && compare_types(a, b) == CompareTypes::String
}

/// Converts the values that compare with the operand as strings, and gives the operand for them
/// and how they compare; `None` if there are none.
///
/// Compat: one collation holds for all of them.
fn strings_to_common(
    operand: &Expr,
    values: &mut [Expr],
    types: &TypeContext,
) -> SqlResult<Option<(Expr, CompareBy)>> {
    let mut compared_to = operand.clone();
    let strings = values.iter_mut().filter(|v| compares_strings(operand, v));
    let mut all: Vec<&mut Expr> = std::iter::once(&mut compared_to).chain(strings).collect();
    if all.len() == 1 {
        return Ok(None);
    }
    let by = to_common(CompareTypes::String, "case", &mut all, types)?;
    Ok(Some((compared_to, by)))
}

/// `DECODE_ORACLE(operand, v, r, ... [, e])`: the result of the first value equal to the operand;
/// NULL equals NULL.
pub fn decode(args: Vec<Expr>, types: &TypeContext) -> SqlResult<Expr> {
    let mut args = args.into_iter();
    let operand = args.next().unwrap_or_else(Expr::null);
    refuse_row(&operand)?;
    hold(operand, |operand| {
        let mut whens = Vec::new();
        let mut otherwise = None;
        while let Some(value) = args.next() {
            let Some(result) = args.next() else {
                otherwise = Some(value);
                break;
            };
            refuse_row(&value)?;
            refuse_beside("decode_oracle", &[&operand, &value])?;
            let operand = operand.clone();
            let found = precise_comparison(CompareOp::NullSafeEq, operand, value, types)?;
            whens.push((found, result));
        }
        build(whens, otherwise, "decode_oracle", types)
    })
}

/// `IF(c, a, b)`.
pub fn if_else(condition: Expr, yes: Expr, no: Expr, types: &TypeContext) -> SqlResult<Expr> {
    build(vec![(condition, yes)], Some(no), "if", types)
}

/// `NVL2(value, a, b)`.
pub fn nvl2(value: Expr, yes: Expr, no: Expr, types: &TypeContext) -> SqlResult<Expr> {
    let known = super::is_not_null(value)?;
    build(vec![(known, yes)], Some(no), "nvl2", types)
}

/// `NULLIF(a, b)`, which has the type of `a`.
pub fn nullif(a: Expr, b: Expr, types: &TypeContext) -> SqlResult<Expr> {
    [&a, &b].into_iter().try_for_each(refuse_row)?;
    refuse_beside("nullif", &[&a, &b])?;
    // Compat: a small value is computed for the comparison, and again for the result.
    hold_large(a, |a| nullif_of(a, b, types))
}

fn nullif_of(a: Expr, b: Expr, types: &TypeContext) -> SqlResult<Expr> {
    let equal = compare_two(CompareOp::Eq, "nullif", a.clone(), b, types)?;
    let mut a = a;
    cast::to_widest_variable(&mut a);
    let (mut ty, coercibility) = (a.ty.clone(), a.coercibility);
    if ty.kind == selkie_types::TypeKind::Null {
        ty = selkie_types::SqlType::varchar(0, types.collation_connection);
    } else if ty.members.is_some() {
        ty = selkie_types::SqlType::varchar(cast::text_length(&ty), ty.collation);
    }
    if ty.is_text_or_blob() && !ty.collation.is_binary() {
        ty.kind = text_for(&ty);
    }
    ty.zerofill = false;
    ty.unsigned &= a.is_hex() || !ty.is_string();
    cast::to_type(&mut a, &ty, types);
    dates_of_mode(&mut a, types);
    let whens = vec![(equal, Expr::literal(selkie_types::Value::Null, ty.clone()))];
    let case = ExprKind::Case(Box::new(Case { whens, otherwise: Some(a) }));
    Ok(Expr { coercibility, ..Expr::new(case, ty, true) })
}

/// `COALESCE(...)`, or `IFNULL(a, b)`; `operation` is its name in errors.
pub fn coalesce(operation: &str, mut args: Vec<Expr>, types: &TypeContext) -> SqlResult<Expr> {
    let mut results: Vec<&mut Expr> = args.iter_mut().collect();
    let (ty, coercibility) = unify(&mut results, operation, types)?;
    let nullable = args.iter().all(|a| a.nullable);
    Ok(Expr { coercibility, ..Expr::new(ExprKind::Coalesce(args), ty, nullable) })
}
