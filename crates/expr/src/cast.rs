//! Conversions between types: implicit ones, inserted when expressions are built, and the kernels
//! of `CAST` and `CONVERT`.
//!
//! Bad input gives MariaDB's warning and MariaDB's value for it. Conversions for a column that
//! stores the value are in [`crate::store`].

mod charset;
mod condition;
mod digits;
mod explicit;
mod extreme;
mod fixed_binary;
mod number;
mod temporal;
mod text;
mod value;
mod year;

use selkie_types::{CollationId, Decimal, JsonRole, Physical, SqlResult, SqlType, TypeKind, Value};

pub use condition::{to_condition, to_where_condition, to_whole_condition};
pub use digits::{cut_to_shown, round_to, shown_column, to_shown, unround, wider_scale};
pub use explicit::{binary_length, cast};
pub(crate) use extreme::compare_as_numbers;
pub use extreme::is_extreme_of_texts;
pub use fixed_binary::to_fixed_binary;
pub(crate) use fixed_binary::{to_its_bytes, to_its_text};
pub use number::integer_of_hex;
pub(crate) use temporal::{
    DateRule, datetime_of_time, fsp_of, incorrect, lenient, settled, warn_of_argument,
};
pub use temporal::{fraction_digits, literal_temporal};
pub use text::{has_needed_digits, text_length};
pub use value::{natural_type, value};
use year::year_of;
pub(crate) use year::{full_year, year_number, year_text};

use crate::collate::Coercibility;
use crate::context::TypeContext;
use crate::expr::{Call, CallOption, CompareBy, Expr, ExprKind};
use crate::function::{Function, Kernel, Nature, Readings};

/// The function of implicit conversions.
static IMPLICIT: Function = Function::new("", 1, 1, |b| b.strict(SqlType::null(), no_kernel));

/// The function of implicit conversions that depend on the session's time zone or date.
static IMPLICIT_LOCAL: Function =
    Function::new("", 1, 1, |b| b.strict(SqlType::null(), no_kernel)).nature(Nature::Statement);

/// A change of type that keeps the representation and costs nothing to evaluate.
pub(crate) static RETYPE: Function =
    Function::new("", 1, 1, |b| b.strict(SqlType::null(), no_kernel));

/// A change of the digits after the point to those of values beside it.
pub(crate) static RESCALE: Function =
    Function::new("", 1, 1, |b| b.strict(SqlType::null(), no_kernel));

fn no_kernel(_: &crate::kernel::Frame<'_>) -> SqlResult<selkie_types::Column> {
    Err(selkie_types::SqlError::internal("an implicit conversion was called by name"))
}

/// Wraps `e` in a conversion to `ty` by `kernel`.
pub(crate) fn wrap(e: &mut Expr, ty: SqlType, nullable: bool, kernel: Kernel) {
    let local = matches!(e.ty.kind, TypeKind::Timestamp | TypeKind::Time) && ty.is_temporal()
        || e.ty.kind == TypeKind::Timestamp;
    let inner = std::mem::replace(e, Expr::null());
    let (coercibility, nullable) = (inner.coercibility, inner.nullable || nullable);
    let call = Call {
        function: if local { &IMPLICIT_LOCAL } else { &IMPLICIT },
        args: vec![inner],
        option: CallOption::None,
        collation: ty.collation,
        kernel,
        cache: Default::default(),
    };
    *e = Expr { coercibility, ..Expr::new(ExprKind::Call(Box::new(call)), ty, nullable) };
}

/// If `e` is a bare NULL, gives it the type and returns true.
fn retype_null(e: &mut Expr, ty: &SqlType) -> bool {
    if e.ty.kind != TypeKind::Null {
        return false;
    }
    if matches!(e.kind, ExprKind::Literal(Value::Null)) {
        e.ty = ty.clone();
    } else {
        wrap(e, ty.clone(), true, null_kernel);
    }
    true
}

fn null_kernel(frame: &crate::kernel::Frame<'_>) -> SqlResult<selkie_types::Column> {
    use crate::kernel::ColumnScale;
    let scale = frame.ty.decimals_of_column();
    Ok(selkie_types::Column::nulls(frame.ty.physical(), scale, frame.rows))
}

/// Replaces the conversion of a literal by its value, if the conversion raises nothing.
pub(crate) fn fold_literal(e: &mut Expr, types: &TypeContext) {
    let ExprKind::Call(call) = &e.kind else { return };
    let literals = call.args.iter().all(|a| matches!(a.kind, ExprKind::Literal(_)));
    if !call.function.is_implicit() || !literals || !e.is_foldable() {
        return;
    }
    let ctx = crate::context::EvalContext::detached(types);
    if let Ok(value) = e.eval_value(&ctx)
        && ctx.conditions.borrow().count() == 0
    {
        e.nullable = value.is_null();
        e.become_literal(value);
    }
}

/// Reads a user variable as `ty`, instead of converting it from the type it has; true if `e` is
/// one.
///
/// Compat: each function asks a variable for the type it needs. So a value that the statement
/// assigned before is not cut to the variable's old type, and a text that is no number gives no
/// warning.
fn read_variable(e: &mut Expr, ty: SqlType) -> bool {
    let is_one = matches!(e.kind, ExprKind::UserVariable(..))
        && (e.ty.is_numeric() || e.ty.is_string() && ty.is_numeric());
    if is_one && e.ty.physical() != ty.physical() {
        e.ty = ty;
        return true;
    }
    false
}

/// Prepares a value that is neither number nor text for its conversion to a number.
fn to_scalar(e: &mut Expr) {
    fixed_binary::to_zero(e);
    read_extracted(e, |readings| readings.value);
}

/// If `e` is a call of JSON_EXTRACT, gives it another kernel.
///
/// Compat: as a number, or as a text beside another text, its result is the value and not the text
/// of the document, unless it has a COLLATE.
fn read_extracted(e: &mut Expr, kernel: fn(&Readings) -> Kernel) -> bool {
    if let ExprKind::Call(call) = &mut e.kind
        && let Some(readings) = call.function.readings()
        && e.coercibility != Coercibility::Explicit
    {
        call.kernel = kernel(readings);
        e.ty.json = JsonRole::Plain;
        return true;
    }
    false
}

/// For a comparison of two texts: the result of JSON_EXTRACT becomes the text inside its quotes.
///
/// Compat: only one of the two does so, and only if it is beside exactly one other text.
pub(crate) fn compare_extracted(a: &mut Expr, b: &mut Expr) {
    let _ =
        read_extracted(a, |readings| readings.text) || read_extracted(b, |readings| readings.text);
}

/// Whether an expression is a text that a function made from a date.
pub fn is_date_text(e: &Expr) -> bool {
    e.ty.is_string() && matches!(&e.kind, ExprKind::Call(call) if makes_text_of_date(call))
}

/// Whether the call makes a text from a date or time; as a number, the text is that date or time.
fn makes_text_of_date(call: &Call) -> bool {
    matches!(call.function.name(), "DATE_ADD" | "DATE_SUB" | "ADDTIME" | "SUBTIME")
}

/// Compat: as a number, a YEAR(2) has the two digits it shows.
pub(crate) fn short_year(e: &mut Expr) {
    if e.ty.kind == TypeKind::Year && e.ty.length == 2 {
        let mut ty = SqlType::new(TypeKind::Int, 2, 0);
        ty.unsigned = true;
        wrap(e, ty, false, |frame| Ok(crate::kernel::map(frame, |v: u64| v % 100)));
    }
}

/// Converts to the year that a YEAR column would store; NULL if there is none.
pub(crate) fn to_year(e: &mut Expr) {
    let ty = SqlType::new(TypeKind::Int, 4, 0);
    wrap(e, ty, true, |frame| {
        crate::kernel::map_rows(frame, |row| Ok(year_of(&frame.args[0].value(row))))
    });
}

/// Makes a hexadecimal or bit literal the unsigned number it is in arithmetic.
pub(crate) fn hex_to_number(e: &mut Expr) {
    if e.is_hex() {
        number::hex_literal(e);
    }
}

/// Converts to a signed integer.
pub fn to_int(e: &mut Expr) {
    to_scalar(e);
    compare_as_numbers(e, CompareBy::Int);
    short_year(e);
    if retype_null(e, &SqlType::bigint()) {
        return;
    }
    local(e);
    let ty = SqlType::new(TypeKind::BigInt, 21, 0);
    if e.ty.physical() != Physical::UInt && read_variable(e, ty.clone()) {
        return;
    }
    match e.ty.physical() {
        Physical::Int => {}
        Physical::UInt => wrap(e, ty, false, number::uint_to_int),
        Physical::Double => wrap(e, ty, false, number::double_to_int),
        Physical::Decimal => wrap(e, ty, false, number::decimal_to_int),
        Physical::Bytes if e.is_hex() => number::hex_literal(e),
        Physical::Bytes if is_date_text(e) => wrap(e, ty, false, temporal::date_text_to_int),
        Physical::Bytes => wrap(e, ty, false, number::bytes_to_int),
        Physical::Date => wrap(e, ty, false, temporal::date_to_int),
        Physical::Time => wrap(e, ty, false, temporal::time_to_int),
        Physical::DateTime => wrap(e, ty, false, temporal::datetime_to_int),
    }
    if e.ty.physical() == Physical::UInt {
        to_int(e);
    }
}

/// Converts to an unsigned integer; negative numbers keep their bits.
pub fn to_uint(e: &mut Expr) {
    to_scalar(e);
    compare_as_numbers(e, CompareBy::Int);
    short_year(e);
    if retype_null(e, &SqlType::bigint_unsigned()) {
        return;
    }
    let ty = SqlType::bigint_unsigned();
    match e.ty.physical() {
        Physical::UInt => {}
        Physical::Double => wrap(e, ty, false, number::double_to_uint),
        Physical::Decimal => wrap(e, ty, false, number::decimal_to_uint),
        Physical::Bytes if e.is_hex() => {
            number::hex_literal(e);
            to_uint(e);
        }
        Physical::Bytes if !is_date_text(e) => wrap(e, ty, false, number::bytes_to_uint),
        _ => {
            to_int(e);
            wrap(e, ty, false, number::int_to_uint);
        }
    }
}

/// Converts to an operand of a bit operation.
pub fn to_bits(e: &mut Expr) {
    to_scalar(e);
    compare_as_numbers(e, CompareBy::Decimal);
    let ty = SqlType::bigint_unsigned();
    match e.ty.physical() {
        Physical::Double if e.ty.kind != TypeKind::Null => {
            wrap(e, ty, false, number::double_to_bits);
        }
        Physical::Decimal if e.ty.kind != TypeKind::Null => {
            wrap(e, ty, false, number::decimal_to_bits);
        }
        Physical::Time | Physical::DateTime if e.ty.decimals > 0 => {
            to_decimal(e);
            wrap(e, ty, false, number::decimal_to_bits);
        }
        // A text has the bits of its whole number, rounded, not of its first digits.
        Physical::Bytes if e.ty.kind != TypeKind::Null && !e.is_hex() && !is_date_text(e) => {
            to_decimal(e);
            wrap(e, ty, false, number::decimal_to_bits);
        }
        _ => to_uint(e),
    }
}

/// Converts to a double.
pub fn to_double(e: &mut Expr) {
    to_scalar(e);
    // Compat: there is no warning about text after the number.
    read_extracted(e, |readings| readings.number);
    compare_as_numbers(e, CompareBy::Double);
    short_year(e);
    if retype_null(e, &SqlType::double()) {
        return;
    }
    local(e);
    unround(e);
    let ty = SqlType::double();
    if read_variable(e, ty.clone()) {
        return;
    }
    match e.ty.physical() {
        Physical::Double => {}
        Physical::Int => wrap(e, ty, false, number::int_to_double),
        Physical::UInt => wrap(e, ty, false, number::uint_to_double),
        Physical::Decimal => wrap(e, ty, false, number::decimal_to_double),
        Physical::Bytes if e.is_hex() => {
            number::hex_literal(e);
            to_double(e);
        }
        Physical::Bytes if is_date_text(e) => wrap(e, ty, false, temporal::date_text_to_double),
        Physical::Bytes => wrap(e, ty, false, number::bytes_to_double),
        Physical::Date => wrap(e, ty, false, temporal::date_to_double),
        Physical::Time => wrap(e, ty, false, temporal::time_to_double),
        Physical::DateTime => wrap(e, ty, false, temporal::datetime_to_double),
    }
}

/// Converts to a double with the precision of FLOAT.
pub(crate) fn to_float(e: &mut Expr) {
    to_double(e);
    wrap(e, SqlType::double(), false, |frame| {
        Ok(crate::kernel::map(frame, |v: f64| f64::from(v as f32)))
    });
}

/// Rounds a double to `digits` after the point.
pub(crate) fn round_double(e: &mut Expr, digits: u8) {
    let ty = SqlType { decimals: digits, ..SqlType::double() };
    wrap(e, ty, false, |frame| {
        let digits = i32::from(frame.ty.decimals);
        Ok(crate::kernel::map(frame, |v: f64| selkie_types::number::round_f64_to(v, digits)))
    });
}

/// Converts to a decimal of sufficient precision and scale.
pub fn to_decimal(e: &mut Expr) {
    to_scalar(e);
    compare_as_numbers(e, CompareBy::Decimal);
    short_year(e);
    if let (ExprKind::Literal(Value::Int(v)), true) = (&e.kind, e.ty.is_integer()) {
        *e = Expr::decimal((*v).into());
        return;
    }
    let ty = decimal_type(&e.ty);
    if retype_null(e, &ty) || read_variable(e, ty.clone()) {
        return;
    }
    local(e);
    match e.ty.physical() {
        Physical::Decimal => {}
        Physical::Int => wrap(e, ty, false, number::int_to_decimal),
        Physical::UInt => wrap(e, ty, false, number::uint_to_decimal),
        Physical::Double => wrap(e, ty, false, number::double_to_decimal),
        Physical::Bytes if e.is_hex() => {
            number::hex_literal(e);
            to_decimal(e);
        }
        Physical::Bytes if is_date_text(e) => wrap(e, ty, false, temporal::date_text_to_decimal),
        Physical::Bytes => wrap(e, ty, false, number::bytes_to_decimal),
        Physical::Date | Physical::Time | Physical::DateTime => {
            wrap(e, ty, false, temporal::temporal_to_decimal);
        }
    }
}

/// Converts a text beside decimals of `whole` digits before the point: to that many digits, and as
/// many after the point as fit.
pub(crate) fn to_decimal_beside(e: &mut Expr, whole: u32) {
    compare_as_numbers(e, CompareBy::Decimal);
    let other = decimal_type(&e.ty);
    let plain = !e.is_hex() && !is_date_text(e) && e.ty.kind != TypeKind::Null;
    if e.ty.physical() == Physical::Bytes
        && plain
        && whole > other.length - u32::from(other.decimals)
    {
        to_scalar(e);
        let ty = SqlType::decimal(65, (Decimal::MOST_DIGITS - whole).min(38) as u8);
        wrap(e, ty, false, number::bytes_to_whole_decimal);
    }
    to_decimal(e);
}

/// Converts to a decimal of this scale.
pub fn to_decimal_scale(e: &mut Expr, precision: u32, scale: u8) {
    to_decimal(e);
    let widens = e.ty.decimals < scale;
    if widens {
        unround(e);
    }
    if e.ty.decimals != scale {
        wrap(e, SqlType::decimal(precision, scale), false, number::decimal_to_scale);
        if widens && let ExprKind::Call(call) = &mut e.kind {
            call.function = &RESCALE;
        }
    }
}

/// Gives a decimal in a user variable the greatest number of digits.
///
/// Compat: a function that chooses among values does not know how many digits the variable's value
/// has.
pub fn to_widest_variable(e: &mut Expr) {
    if is_decimal_variable(e) {
        to_decimal_scale(e, 65, 38);
    }
}

/// Whether an expression is a user variable that holds a decimal.
pub fn is_decimal_variable(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::UserVariable(..)) && e.ty.kind == TypeKind::Decimal
}

/// The decimal type that holds all values of `ty`.
pub fn decimal_type(ty: &SqlType) -> SqlType {
    let mut decimal = match ty.kind {
        TypeKind::Decimal => return ty.clone(),
        TypeKind::Null => SqlType::decimal(1, 0),
        TypeKind::Date => SqlType::decimal(8, 0),
        TypeKind::Time => SqlType::decimal(7 + u32::from(ty.decimals), ty.decimals),
        TypeKind::DateTime | TypeKind::Timestamp => {
            SqlType::decimal(14 + u32::from(ty.decimals), ty.decimals)
        }
        TypeKind::Bit => SqlType::decimal(20, 0),
        TypeKind::Year => SqlType::decimal(4, 0),
        _ if ty.is_integer() => SqlType::decimal(integer_digits(ty), 0),
        TypeKind::Float | TypeKind::Double if ty.decimals < 31 => {
            SqlType::decimal(65.min(ty.length.max(1)), ty.decimals.min(38))
        }
        TypeKind::Enum | TypeKind::Set => SqlType::decimal(20, 0),
        _ => SqlType::decimal(65, 30),
    };
    decimal.unsigned = ty.unsigned && ty.is_numeric();
    decimal
}

/// Digits of an integer in arithmetic; a literal has the digits that were written.
pub fn digits_of(e: &Expr) -> u32 {
    match e.kind {
        ExprKind::Literal(Value::Int(v)) => {
            let digits = v.unsigned_abs().checked_ilog10().map_or(1, |n| n + 1);
            // A value that was computed before is as long as its operands made it.
            let is_written = e.ty.length <= digits + u32::from(v < 0);
            if is_written { digits } else { digits.max(integer_digits(&e.ty)) }
        }
        _ => integer_digits(&e.ty),
    }
}

/// Digits of the values of an integer expression; those of a column depend on its type, not its
/// width.
pub fn digits_of_value(e: &Expr) -> u32 {
    match &e.kind {
        ExprKind::Column(_) if e.ty.is_integer() => integer_digits(&e.ty.of_operand()),
        // Compat: these have the length of their values, without room for a sign.
        ExprKind::Subquery(_) | ExprKind::AssignUserVariable(..) => e.ty.length.clamp(1, 20),
        _ => digits_of(e),
    }
}

/// Digits of an integer type in decimal arithmetic.
pub fn integer_digits(ty: &SqlType) -> u32 {
    let sign = u32::from(!ty.unsigned && ty.length > 1);
    ty.length.saturating_sub(sign).clamp(1, 20)
}

/// Makes the bits of a column a number, as whose digits a text shows it.
pub fn bits_to_number(e: &mut Expr) {
    if e.ty.kind == TypeKind::Bit {
        let length = e.ty.length;
        retype(e, SqlType { length, ..SqlType::bigint_unsigned() });
    }
}

/// Converts a member of an ENUM or SET to its text.
pub fn members_to_text(e: &mut Expr, types: &TypeContext) {
    if matches!(e.ty.kind, TypeKind::Enum | TypeKind::Set) {
        to_text(e, types);
    }
}

/// Converts to a string; numbers and temporal values get the charset of the connection.
pub fn to_text(e: &mut Expr, types: &TypeContext) {
    use ExprKind::{Call, Case, Coalesce, Held, Hold};
    let chosen = matches!(e.kind, Case(_) | Coalesce(_) | Call(_) | Hold(_) | Held(_));
    if e.ty.kind == TypeKind::Bit && chosen {
        // Compat: the bits of a column are bytes; bits chosen by a function are a number.
        retype(e, SqlType::bigint_unsigned());
    }
    let length = text::text_length(&e.ty);
    let collation = match e.ty.kind {
        TypeKind::Enum | TypeKind::Set => e.ty.collation,
        TypeKind::Bit => CollationId::BINARY,
        _ => types.collation_connection,
    };
    let ty = SqlType::varchar(length, collation);
    if retype_null(e, &ty) {
        e.coercibility = Coercibility::Ignorable;
        return;
    }
    if fixed_binary::to_text(e, collation) {
        e.coercibility = Coercibility::Numeric;
        return;
    }
    local(e);
    if read_variable(e, ty.clone()) {
        e.coercibility = Coercibility::Numeric;
        return;
    }
    if e.ty.kind == TypeKind::Year {
        // Compat: a computed year has no leading zeros.
        e.ty.zerofill = matches!(e.kind, ExprKind::Column(_) | ExprKind::Literal(_));
    }
    let implicit = matches!(e.ty.kind, TypeKind::Enum | TypeKind::Set | TypeKind::Bit);
    let kernel: Kernel = match e.ty.physical() {
        Physical::Bytes => return,
        Physical::Int => text::from_int,
        Physical::UInt => text::from_uint,
        Physical::Double => text::from_double,
        Physical::Decimal => text::from_decimal,
        Physical::Date => text::from_date,
        Physical::Time => text::from_time,
        Physical::DateTime if has_needed_digits(e) => text::from_datetime_as_needed,
        Physical::DateTime => text::from_datetime,
    };
    wrap(e, ty, false, kernel);
    e.coercibility = if implicit { Coercibility::Implicit } else { Coercibility::Numeric };
}

/// Converts a string to the charset of `collation` and gives it that collation.
pub fn to_charset(e: &mut Expr, collation: CollationId) {
    charset::to_charset(e, collation);
}

/// Makes a conversion to another charset raise `error` instead of losing characters.
pub(crate) fn refuse_loss(e: &mut Expr, error: &selkie_types::SqlError) {
    charset::refuse_loss(e, error);
}

/// Makes a conversion of bytes raise error 1300 if they are no text.
pub(crate) fn refuse_invalid(e: &mut Expr) {
    charset::refuse_invalid(e);
}

/// Makes a member of ENUM or SET its name: a date or time is read from the name, not the number.
fn named_member(e: &mut Expr) {
    if matches!(e.ty.kind, TypeKind::Enum | TypeKind::Set) {
        let ty = SqlType::varchar(text::text_length(&e.ty), e.ty.collation);
        wrap(e, ty, false, text::from_uint);
    }
}

/// Makes a TIMESTAMP a DATETIME in the session's time zone.
pub fn local(e: &mut Expr) {
    if e.ty.kind == TypeKind::Timestamp {
        let ty = SqlType::datetime(e.ty.decimals);
        wrap(e, ty, false, temporal::timestamp_to_datetime);
    }
}

/// Converts to a date.
pub fn to_date(e: &mut Expr) {
    to_date_by(e, DateRule::Lenient);
}

/// Converts to a date; `rule` says which dates are accepted.
pub(crate) fn to_date_by(e: &mut Expr, rule: DateRule) {
    if retype_null(e, &SqlType::date()) {
        return;
    }
    local(e);
    members_to_bytes(e);
    let ty = SqlType::date();
    match e.ty.physical() {
        Physical::Date => {}
        Physical::DateTime => wrap(e, ty, false, temporal::datetime_to_date),
        Physical::Time => wrap(e, ty, false, temporal::time_to_date),
        from @ (Physical::Bytes | Physical::Decimal | Physical::Double) => {
            let kernel = temporal::datetime_kernel(from, rule);
            wrap(e, SqlType::datetime(0), true, kernel);
            to_date(e);
        }
        _ => {
            datetime_of(e, rule);
            to_date(e);
        }
    }
}

/// Makes dates that the sql mode rejects NULL. For the results of CAST, and for dates that a
/// function chooses.
pub(crate) fn to_dates_of_mode(e: &mut Expr) {
    if matches!(e.ty.kind, TypeKind::Date | TypeKind::DateTime) {
        let ty = e.ty.clone();
        wrap(e, ty, true, temporal::dates_of_mode);
    }
}

/// Converts to a time.
pub fn to_time(e: &mut Expr) {
    time_of(e, false);
}

/// Makes an operand a date for a comparison with dates.
pub(crate) fn to_compared_date(e: &mut Expr) {
    compare_leniently(e);
    to_date(e);
}

/// Converts an operand of a comparison with a date; a value that is no date is the zero date.
pub fn to_compared_datetime(e: &mut Expr) {
    compare_leniently(e);
    datetime_of(e, DateRule::Compared);
}

/// Converts an operand of a comparison with a time; a value that is no time is zero.
pub fn to_compared_time(e: &mut Expr) {
    compare_leniently(e);
    time_of(e, true);
}

/// Converts to a date with time of day.
pub fn to_datetime(e: &mut Expr) {
    datetime_of(e, DateRule::Lenient);
}

/// Converts to a date with time of day; `rule` says which dates are accepted.
pub(crate) fn to_datetime_by(e: &mut Expr, rule: DateRule) {
    datetime_of(e, rule);
}

/// Compat: in a comparison, explicit conversions are as lenient as implicit ones.
fn compare_leniently(e: &mut Expr) {
    let ExprKind::Call(call) = &mut e.kind else { return };
    let named = matches!(call.function.name(), "" | "CAST" | "DATE" | "TIME" | "TIMESTAMP");
    let [arg] = &mut call.args[..] else { return };
    if !named || !e.ty.is_temporal() {
        return;
    }
    if arg.ty.is_temporal() {
        return compare_leniently(arg);
    }
    match (e.ty.physical(), arg.ty.kind) {
        (_, TypeKind::Null | TypeKind::Year) => {}
        (Physical::DateTime, _) => {
            call.kernel = temporal::datetime_kernel(arg.ty.physical(), DateRule::Compared);
        }
        (Physical::Time, _) => call.kernel = temporal::time_kernel(arg.ty.physical(), true),
        _ => {}
    }
}

/// Compat: as a date or time, a BIT is its bytes; ENUM, SET and the types of fixed size are texts.
fn members_to_bytes(e: &mut Expr) {
    to_its_text(e);
    let collation = match e.ty.kind {
        TypeKind::Bit => CollationId::BINARY,
        TypeKind::Enum | TypeKind::Set => e.ty.collation,
        _ => return,
    };
    let ty = SqlType::varchar(text::text_length(&e.ty), collation);
    wrap(e, ty, false, text::from_uint);
}

fn time_of(e: &mut Expr, compared: bool) {
    named_member(e);
    let fsp = if compared { temporal::fsp_compared(e, false) } else { temporal::fsp_of(e) };
    let ty = SqlType::time(fsp);
    if retype_null(e, &ty) {
        return;
    }
    local(e);
    members_to_bytes(e);
    match e.ty.physical() {
        Physical::Time => {}
        Physical::DateTime => wrap(e, ty, false, temporal::datetime_to_time),
        Physical::Date => wrap(e, ty, false, temporal::date_to_time),
        _ if e.ty.kind == TypeKind::Year => {
            datetime_of(e, if compared { DateRule::Compared } else { DateRule::Lenient });
            time_of(e, compared);
        }
        Physical::UInt => {
            to_int(e);
            time_of(e, compared);
        }
        from => wrap(e, ty, !compared, temporal::time_kernel(from, compared)),
    }
}

/// Converts to an amount of time to add: it may have many hours, and must not be a date.
pub(crate) fn to_added_time(e: &mut Expr) {
    let ty = SqlType::time(temporal::fsp_of(e));
    if retype_null(e, &ty) {
        return;
    }
    local(e);
    if e.ty.physical() != Physical::Time {
        wrap(e, ty, true, temporal::to_added_time);
    }
}

fn datetime_of(e: &mut Expr, rule: DateRule) {
    named_member(e);
    let compared = rule == DateRule::Compared;
    let fsp = if compared { temporal::fsp_compared(e, true) } else { temporal::fsp_of(e) };
    let ty = SqlType::datetime(fsp);
    if retype_null(e, &ty) {
        return;
    }
    local(e);
    members_to_bytes(e);
    match e.ty.physical() {
        Physical::DateTime => {}
        Physical::Date => wrap(e, ty, false, temporal::date_to_datetime),
        Physical::Time => wrap(e, ty, false, temporal::time_to_datetime),
        _ if e.ty.kind == TypeKind::Year => wrap(e, ty, false, temporal::year_to_datetime),
        Physical::UInt => {
            to_int(e);
            datetime_of(e, rule);
        }
        from => wrap(e, ty, !compared, temporal::datetime_kernel(from, rule)),
    }
}

/// Converts to the physical kind, scale and charset of `ty`, which becomes the type.
///
/// For operands of CASE, COALESCE and UNION: their common type holds all their values.
pub fn to_type(e: &mut Expr, ty: &SqlType, types: &TypeContext) {
    if retype_null(e, ty) {
        return;
    }
    if e.ty.kind == ty.kind && e.ty.physical() == ty.physical() && ty.kind == TypeKind::Timestamp {
        e.ty = ty.clone();
        return;
    }
    match ty.physical() {
        Physical::UInt if e.ty.kind == ty.kind && e.ty.members == ty.members => {}
        Physical::Int => to_int(e),
        Physical::UInt => to_uint(e),
        Physical::Double => to_double(e),
        Physical::Decimal => to_decimal_scale(e, ty.length, ty.decimals),
        Physical::Date => to_date(e),
        Physical::Time => to_time(e),
        Physical::DateTime => to_datetime(e),
        Physical::Bytes => match ty.fixed_binary() {
            Some(kind) => to_fixed_binary(e, kind, types),
            None => {
                to_text(e, types);
                to_charset(e, ty.collation);
            }
        },
    }
    if e.ty != *ty {
        retype(e, ty.clone());
    }
}

/// Makes a number one that is not filled with zeros.
pub fn unfill(e: &mut Expr) {
    if e.ty.zerofill && e.ty.kind != TypeKind::Year {
        retype(e, SqlType { zerofill: false, ..e.ty.clone() });
    }
}

/// Makes a CHAR a VARCHAR of the same text.
pub fn to_varchar(e: &mut Expr) {
    if e.ty.kind == TypeKind::Char {
        let (ty, coercibility) =
            (SqlType { kind: TypeKind::VarChar, ..e.ty.clone() }, e.coercibility);
        retype(e, ty);
        e.coercibility = coercibility;
    }
}

/// Gives an expression another type of the same representation.
pub(crate) fn retype(e: &mut Expr, ty: SqlType) {
    let open = match &e.kind {
        ExprKind::Literal(_) => true,
        // A call would hide from plans that a parameter is compared as it is.
        ExprKind::Parameter(_) => e.ty.is_string() && ty.is_string(),
        ExprKind::Call(call) => call.function.is_implicit(),
        ExprKind::Column(_) if ty.is_integer() => e.ty.of_operand() == ty.of_operand(),
        _ => false,
    };
    if open {
        e.ty = ty;
        return;
    }
    wrap(e, ty, false, same);
    if let ExprKind::Call(call) = &mut e.kind {
        call.function = &RETYPE;
    }
}

/// The argument without change.
fn same(frame: &crate::kernel::Frame<'_>) -> SqlResult<selkie_types::Column> {
    let column = &*frame.args[0];
    let mut column = column.clone();
    column.truncate(frame.rows);
    Ok(if column.is_constant() { column.expand() } else { column })
}
