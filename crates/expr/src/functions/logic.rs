//! Predicates that are calls: XOR, IS TRUE, BETWEEN over computed values, ISNULL, and the named
//! forms of CASE and COALESCE.

use selkie_types::{Column, Physical, SqlResult};

use crate::build;
use crate::eval::{compare_columns, truth_of_column};
use crate::expr::{CompareOp, Expr};
use crate::function::{Binding, Function, MANY};
use crate::kernel::{Frame, NativeOut, first_rows};
use crate::result_type::boolean_type;

pub(crate) static XOR: Function = Function::new("XOR", 2, 2, |b| b.strict(boolean_type(), xor));
pub(crate) static IS_TRUE: Function =
    Function::new("ISTRUE", 1, 1, |b| b.never_null(boolean_type(), is_true));
pub(crate) static IS_FALSE: Function =
    Function::new("ISFALSE", 1, 1, |b| b.never_null(boolean_type(), is_false));
pub(crate) static BETWEEN: Function =
    Function::new("BETWEEN", 3, 3, |b| b.strict(boolean_type(), between));

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("ISNULL", 1, 1, |b| build::is_null(only(b))),
    Function::new("COALESCE", 1, MANY, |b| build::coalesce("coalesce", b.args, b.types)),
    Function::new("IFNULL", 2, 2, |b| build::coalesce("ifnull", b.args, b.types)),
    Function::new("NVL", 2, 2, |b| build::coalesce("ifnull", b.args, b.types)),
    Function::new("NVL2", 3, 3, nvl2),
    Function::new("NULLIF", 2, 2, |b| {
        let [x, y] = take(b.args);
        build::nullif(x, y, b.types)
    }),
    Function::new("LAST_VALUE", 1, MANY, last_value),
    Function::new("IF", 3, 3, |b| {
        let [c, x, y] = take(b.args);
        build::if_else(c, x, y, b.types)
    }),
];

/// The arguments as an array; the function's declaration fixes their number.
pub(super) fn take<const N: usize>(args: Vec<Expr>) -> [Expr; N] {
    args.try_into().unwrap_or_else(|_| std::array::from_fn(|_| Expr::null()))
}

fn only(b: Binding<'_>) -> Expr {
    let [e] = take(b.args);
    e
}

/// Evaluates all arguments, for their effects; the last is the value.
fn last_value(b: Binding<'_>) -> SqlResult<Expr> {
    let Some(last) = b.args.last() else { return Ok(Expr::null()) };
    let (ty, nullable, coercibility) = (last.ty.clone(), last.nullable, last.coercibility);
    let call = b.call(ty, nullable, |frame| {
        let none = || Column::new(Physical::Int, 0, 0);
        Ok(frame.args.last().map_or_else(none, |last| first_rows(last, frame.rows)))
    });
    Ok(Expr { coercibility, ..call })
}

fn nvl2(b: Binding<'_>) -> SqlResult<Expr> {
    let [test, yes, no] = take(b.args);
    build::nvl2(test, yes, no, b.types)
}

fn xor(frame: &Frame<'_>) -> SqlResult<Column> {
    let (a, b) = (truth_of_column(&frame.args[0]), truth_of_column(&frame.args[1]));
    let mut out = NativeOut::new(frame.rows);
    for row in 0..frame.rows {
        let valid = !frame.any_null(row);
        out.push(valid.then(|| i64::from(a.yes.get(row) != b.yes.get(row))));
    }
    Ok(out.finish())
}

fn is_true(frame: &Frame<'_>) -> SqlResult<Column> {
    let truth = truth_of_column(&frame.args[0]);
    let mut out = NativeOut::new(frame.rows);
    (0..frame.rows).for_each(|row| out.push(Some(i64::from(truth.yes.get(row)))));
    Ok(out.finish())
}

fn is_false(frame: &Frame<'_>) -> SqlResult<Column> {
    let truth = truth_of_column(&frame.args[0]);
    let known = |row: usize| truth.known.as_ref().is_none_or(|k| k.get(row));
    let mut out = NativeOut::new(frame.rows);
    (0..frame.rows).for_each(|row| out.push(Some(i64::from(known(row) && !truth.yes.get(row)))));
    Ok(out.finish())
}

fn between(frame: &Frame<'_>) -> SqlResult<Column> {
    let by = frame.call.compares_by();
    let [value, low, high] = [&frame.args[0], &frame.args[1], &frame.args[2]];
    let above = compare_columns(CompareOp::Ge, by, value, low, frame.rows);
    let below = compare_columns(CompareOp::Le, by, value, high, frame.rows);
    let decided = |t: &crate::eval::Truth, row: usize| {
        t.known.as_ref().is_none_or(|k| k.get(row)).then(|| t.yes.get(row))
    };
    let mut out = NativeOut::new(frame.rows);
    for row in 0..frame.rows {
        out.push(match (decided(&above, row), decided(&below, row)) {
            (Some(false), _) | (_, Some(false)) => Some(0i64),
            (Some(true), Some(true)) => Some(1),
            _ => None,
        });
    }
    Ok(out.finish())
}
