//! Calls with a syntax of their own.
//! The parser has separated their parts; what is no expression becomes the call's option.

use selkie_types::charset::WeightOptions;
use selkie_types::temporal::IntervalUnit;
use selkie_types::{CollationId, SqlResult, SqlType};

use super::call::{function_call, with_option};
use crate::context::TypeContext;
use crate::expr::{CallOption, Expr};
use crate::functions::{extract, interval, registry, string_make, string_part};

/// `CHAR(args USING charset)`; without a charset the result is binary.
pub fn char_using(args: Vec<Expr>, collation: CollationId, types: &TypeContext) -> SqlResult<Expr> {
    let ty = SqlType::varchar(0, collation);
    with_option(&string_make::CHAR, args, CallOption::Type(ty), types)
}

/// `e + INTERVAL amount unit`, or minus.
pub fn interval_add(
    e: Expr,
    amount: Expr,
    unit: IntervalUnit,
    subtract: bool,
    types: &TypeContext,
) -> SqlResult<Expr> {
    let function = if subtract { &interval::SUB } else { &interval::ADD };
    with_option(function, vec![e, amount], CallOption::Unit(unit), types)
}

/// The number of the last transaction that was committed at a time or before; 0 if there is none.
pub fn transaction_at(time: Expr, types: &TypeContext) -> SqlResult<Expr> {
    with_option(&registry::NUMBER_AT, vec![time], CallOption::None, types)
}

/// Whether one transaction sees the changes of another.
pub fn transaction_sees(watcher: Expr, other: Expr, types: &TypeContext) -> SqlResult<Expr> {
    with_option(&registry::SEES, vec![watcher, other], CallOption::None, types)
}

/// Whether one transaction sees the changes of another or is that one.
pub fn transaction_sees_or_is(watcher: Expr, other: Expr, types: &TypeContext) -> SqlResult<Expr> {
    with_option(&registry::SEES_OR_IS, vec![watcher, other], CallOption::None, types)
}

/// The time at which a transaction was committed.
pub fn transaction_time(number: Expr, types: &TypeContext) -> SqlResult<Expr> {
    with_option(&registry::COMMIT_TIME, vec![number], CallOption::None, types)
}

/// `EXTRACT(unit FROM e)`
pub fn extract(unit: IntervalUnit, e: Expr, types: &TypeContext) -> SqlResult<Expr> {
    with_option(&extract::EXTRACT, vec![e], CallOption::Unit(unit), types)
}

/// `TIMESTAMPADD(unit, amount, e)`
pub fn timestampadd(
    unit: IntervalUnit,
    amount: Expr,
    e: Expr,
    types: &TypeContext,
) -> SqlResult<Expr> {
    interval_add(e, amount, unit, false, types)
}

/// `TIMESTAMPDIFF(unit, a, b)`
pub fn timestampdiff(unit: IntervalUnit, a: Expr, b: Expr, types: &TypeContext) -> SqlResult<Expr> {
    with_option(&interval::DIFF, vec![a, b], CallOption::Unit(unit), types)
}

/// `GET_FORMAT(DATE|TIME|DATETIME, e)`, the kind in upper case.
pub fn get_format(kind: &str, e: Expr, types: &TypeContext) -> SqlResult<Expr> {
    let function = &crate::functions::date_format::GET_FORMAT;
    with_option(function, vec![e], CallOption::Name(kind.into()), types)
}

/// `LOCATE(needle, haystack [, start])`
pub fn locate(args: Vec<Expr>, types: &TypeContext) -> SqlResult<Expr> {
    function_call("LOCATE", args, types)
}

/// `POSITION(needle IN haystack)`
pub fn position(needle: Expr, haystack: Expr, types: &TypeContext) -> SqlResult<Expr> {
    locate(vec![needle, haystack], types)
}

/// Ends that `TRIM` trims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimSide {
    /// `BOTH`
    Both,
    /// `LEADING`
    Leading,
    /// `TRAILING`
    Trailing,
}

/// `TRIM([side] [what FROM] e)`
pub fn trim(side: TrimSide, what: Option<Expr>, e: Expr, types: &TypeContext) -> SqlResult<Expr> {
    let function = match side {
        TrimSide::Both => &string_part::TRIM,
        TrimSide::Leading => &string_part::LTRIM,
        TrimSide::Trailing => &string_part::RTRIM,
    };
    let args = std::iter::once(e).chain(what).collect();
    with_option(function, args, CallOption::None, types)
}

/// A value of a dynamic column to be stored.
#[derive(Clone, Debug)]
pub struct DynamicValue {
    /// The column's name or number.
    pub name: Expr,
    /// The value.
    pub value: Expr,
    /// Type it is stored as, if given.
    pub ty: Option<SqlType>,
    /// The value is a string of dynamic columns itself.
    pub nested: bool,
}

/// `COLUMN_ADD(columns, ...)`, or `COLUMN_CREATE(...)` without columns.
pub fn column_add(
    columns: Option<Expr>,
    values: Vec<DynamicValue>,
    types: &TypeContext,
) -> SqlResult<Expr> {
    crate::functions::dynamic::bind_add(columns, values, types)
}

/// `COLUMN_GET(columns, name AS target)`
pub fn column_get(
    columns: Expr,
    name: Expr,
    target: &SqlType,
    types: &TypeContext,
) -> SqlResult<Expr> {
    crate::functions::dynamic::bind_get(columns, name, target, types)
}

/// `WEIGHT_STRING(e [AS CHAR(n)] [LEVEL ...])`
pub fn weight_string(e: Expr, options: WeightOptions, types: &TypeContext) -> SqlResult<Expr> {
    let option = CallOption::Weights(options);
    with_option(&crate::functions::string_info::WEIGHT_STRING, vec![e], option, types)
}

/// `CAST(e AS INTERVAL DAY_SECOND(fsp))`
pub fn interval_day_second(e: Expr, fsp: u8, types: &TypeContext) -> SqlResult<Expr> {
    crate::functions::extract::interval_day_second(e, fsp, types)
}
