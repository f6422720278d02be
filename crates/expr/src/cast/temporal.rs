//! Conversions to and from dates and times: the kernels and the rules for acceptable dates.
//! The sql mode is read when a row is converted, not when the expression is built.

use selkie_types::error::catalogue::{
    ER_DATA_OVERFLOW, ER_TRUNCATED_WRONG_VALUE, ER_TRUNCATED_WRONG_VALUE_FOR_FIELD, ER_WRONG_VALUE,
};
use selkie_types::temporal::{DateOptions, MICROS_PER_DAY, MICROS_PER_SECOND, ParsedTemporal};
use selkie_types::{
    Column, Condition, Date, DateTime, Decimal, Level, Physical, SqlError, SqlResult, SqlType,
    Time, TypeKind, Value,
};

use super::number::ascii;
use crate::context::{EvalContext, TypeContext};
use crate::expr::{Expr, ExprKind};
use crate::function::Kernel;
use crate::kernel::{DecimalOut, Frame, Native, NativeOut, from_bytes, map, try_map};
use crate::text::for_message;

/// Fraction digits of an expression as a temporal value.
pub(crate) fn fsp_of(e: &Expr) -> u8 {
    match e.ty.kind {
        TypeKind::Time
        | TypeKind::DateTime
        | TypeKind::Timestamp
        | TypeKind::Decimal
        | TypeKind::Float
        | TypeKind::Double => e.ty.decimals.min(6),
        _ if e.ty.is_string() => match &e.kind {
            ExprKind::Literal(Value::Bytes(b)) => fraction_digits(b),
            // The session knows the decimals of the variable's text.
            ExprKind::UserVariable(..) => e.ty.decimals.min(6),
            _ => 6,
        },
        _ => 0,
    }
}

/// Like [`fsp_of`], for an operand of a comparison. A constant text that is no date or time has all
/// six digits; so has one beyond the range of times, which becomes 838:59:59.999999.
pub(crate) fn fsp_compared(e: &Expr, dated: bool) -> u8 {
    let text = match &e.kind {
        ExprKind::Literal(Value::Bytes(text)) => text,
        // The plan is used for every text with as many decimals, including one beyond the range.
        ExprKind::UserVariable(..) if e.ty.is_string() => return 6,
        _ => return fsp_of(e),
    };
    let (options, fsp) = (DateOptions::default(), fsp_of(e));
    let whole = match dated {
        true => DateTime::parse(text, options).value.is_some(),
        false => Time::parse(text, options).value.is_some_and(|v| v.truncate_to(fsp) == v),
    };
    if whole { fsp } else { 6 }
}

/// Digits after the last point of a text, at most six.
pub fn fraction_digits(text: &[u8]) -> u8 {
    let Some(point) = text.iter().rposition(|&b| b == b'.') else { return 0 };
    let digits = text[point + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
    digits.min(6) as u8
}

/// The options of a conversion. A value that becomes a date loses its time of day, which must not
/// round the date up.
fn options<const RULE: u8>(frame: &Frame<'_>) -> DateOptions {
    let options = accepted::<RULE>(frame.ctx);
    DateOptions { round: options.round && frame.ty.decimals > 0, ..options }
}

/// Rule for the dates that a conversion accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DateRule {
    /// Zero parts are accepted; days that a month does not have only if the sql mode allows them.
    Lenient,
    /// For comparisons: like `Lenient`, but any day up to 31; other values become the zero date.
    Compared,
    /// Dates that the sql mode allows, as in CAST.
    Mode,
    /// Zero parts are accepted; days that do not exist never, whatever the sql mode says.
    Existing,
    /// The zero date is accepted, but no other date with a zero part.
    Whole,
    /// Only days that exist, for functions that count days.
    Real,
}

const LENIENT: u8 = DateRule::Lenient as u8;
const COMPARED: u8 = DateRule::Compared as u8;
const MODE: u8 = DateRule::Mode as u8;
const EXISTING: u8 = DateRule::Existing as u8;
const WHOLE: u8 = DateRule::Whole as u8;
const REAL: u8 = DateRule::Real as u8;

/// The dates that a rule accepts in a session.
fn accepted<const RULE: u8>(ctx: &EvalContext<'_>) -> DateOptions {
    let mode = DateOptions::from(ctx.types.sql_mode);
    let (no_zero_date, no_zero_in_date) = match RULE {
        MODE => (mode.no_zero_date, mode.no_zero_in_date),
        WHOLE => (false, true),
        REAL => (true, true),
        _ => (false, false),
    };
    let allow_invalid = match RULE {
        LENIENT | MODE => mode.allow_invalid,
        // Compat: days that a month does not have, as in `d <= '2024-02-31'`, compare unchanged.
        COMPARED => true,
        _ => false,
    };
    DateOptions { no_zero_date, no_zero_in_date, allow_invalid, ..mode }
}

/// Options of an implicit conversion: zero parts are accepted; the rest is as the sql mode says.
pub(crate) fn lenient(ctx: &EvalContext<'_>) -> DateOptions {
    let mode = DateOptions::from(ctx.types.sql_mode);
    DateOptions { no_zero_date: false, no_zero_in_date: false, ..mode }
}

pub(super) fn date_to_int(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map(frame, |v: Date| i64::from(v.to_number())))
}

pub(super) fn time_to_int(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map(frame, |v: Time| v.to_number()))
}

/// `CAST(time AS UNSIGNED)`: a negative time is 0, with a note.
pub(super) fn cast_time_unsigned(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map(frame, |v: Time| {
        if v.0 >= 0 {
            return v.to_number() as u64;
        }
        let fsp = if v.0 % MICROS_PER_SECOND == 0 { 0 } else { 6 };
        let text = crate::text::display(&Value::Time(v), &SqlType::time(fsp));
        frame.ctx.note(&ER_DATA_OVERFLOW, &[&text, &"UNSIGNED BIGINT"]);
        0
    }))
}

pub(super) fn datetime_to_int(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map(frame, |v: DateTime| v.to_number()))
}

pub(super) fn date_to_double(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map(frame, |v: Date| f64::from(v.to_number())))
}

pub(super) fn time_to_double(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map(frame, Time::to_f64))
}

pub(super) fn datetime_to_double(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map(frame, DateTime::to_f64))
}

pub(super) fn temporal_to_decimal(frame: &Frame<'_>) -> SqlResult<Column> {
    let mut out = DecimalOut::new(frame.ty.decimals, frame.rows);
    for row in 0..frame.rows {
        out.push(match frame.args[0].value(row) {
            Value::Date(v) => Some(Decimal::from(i64::from(v.to_number()))),
            Value::Time(v) => Some(v.to_decimal()),
            Value::DateTime(v) => Some(v.to_decimal()),
            _ => None,
        });
    }
    Ok(out.finish())
}

/// The number of a function's text of a date or time: `20010131`, `20010131101112.5` with a time of
/// day, or the number of a time alone.
fn number_of_text(text: &[u8]) -> Decimal {
    if !text.iter().skip(1).any(|b| *b == b'-') {
        let time = Time::parse(text, DateOptions::LENIENT).value;
        return time.map_or(Decimal::ZERO, |v| v.to_decimal());
    }
    let parsed = DateTime::parse(text, DateOptions::LENIENT);
    match parsed.value {
        Some(v) if parsed.date_only => Decimal::from(i64::from(v.date().to_number())),
        Some(v) => v.to_decimal(),
        None => Decimal::ZERO,
    }
}

pub(super) fn date_text_to_int(frame: &Frame<'_>) -> SqlResult<Column> {
    from_bytes(frame, |text| Ok(Some(number_of_text(text).to_i64_clamped().0)))
}

pub(super) fn date_text_to_double(frame: &Frame<'_>) -> SqlResult<Column> {
    from_bytes(frame, |text| Ok(Some(number_of_text(text).to_f64())))
}

pub(super) fn date_text_to_decimal(frame: &Frame<'_>) -> SqlResult<Column> {
    let view = frame.bytes(0);
    let mut out = DecimalOut::new(frame.ty.decimals, frame.rows);
    (0..frame.rows).for_each(|row| out.push(view.get(row).map(number_of_text)));
    Ok(out.finish())
}

/// Dates that the sql mode does not accept become NULL, without a warning.
pub(super) fn dates_of_mode(frame: &Frame<'_>) -> SqlResult<Column> {
    let options = accepted::<MODE>(frame.ctx);
    if !options.no_zero_date && !options.no_zero_in_date {
        return super::same(frame);
    }
    match frame.ty.physical() {
        Physical::Date => try_map(frame, |v: Date| Ok(v.is_valid(options).then_some(v))),
        _ => try_map(frame, |v: DateTime| Ok(v.date().is_valid(options).then_some(v))),
    }
}

pub(super) fn date_to_datetime(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map(frame, DateTime::from_date))
}

pub(super) fn datetime_to_date(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map(frame, DateTime::date))
}

pub(super) fn datetime_to_time(frame: &Frame<'_>) -> SqlResult<Column> {
    let fsp = frame.ty.decimals;
    Ok(map(frame, |v: DateTime| v.time().truncate_to(fsp)))
}

pub(super) fn date_to_time(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map(frame, |_: Date| Time::ZERO))
}

pub(super) fn timestamp_to_datetime(frame: &Frame<'_>) -> SqlResult<Column> {
    let zone = &frame.ctx.types.time_zone;
    if zone.is_utc() {
        return super::same(frame);
    }
    Ok(map(frame, |v: DateTime| zone.to_local(v)))
}

/// A time as a date and time on the day the statement began.
pub(crate) fn datetime_of_time(v: Time, ctx: &EvalContext<'_>) -> DateTime {
    let today = ctx.types.time_zone.local_from_micros(ctx.now_micros).unwrap_or_default().date();
    let micros = today.day_number() * MICROS_PER_DAY + v.0;
    DateTime::from_linear_micros(micros).unwrap_or_default()
}

pub(super) fn time_to_datetime(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map(frame, |v: Time| datetime_of_time(v, frame.ctx)))
}

pub(super) fn time_to_date(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map(frame, |v: Time| datetime_of_time(v, frame.ctx).date()))
}

/// The value of a conversion; warns unless it is exact. A text without a value gives NULL, or zero
/// in a comparison.
fn settle<T: Default, const RULE: u8>(
    frame: &Frame<'_>,
    parsed: ParsedTemporal<T>,
    wanted: &'static str,
    text: impl Fn() -> String,
) -> Option<T> {
    if parsed.value.is_none() || parsed.truncated || parsed.fraction_cut {
        complain(frame, 0, &parsed, RULE, parsed.type_name(wanted), &text());
    }
    match parsed.value {
        None if RULE == COMPARED => Some(T::default()),
        value => value,
    }
}

/// [`settle`] for a function that reads its first argument as a date.
pub(crate) fn settled<T: Default>(
    frame: &Frame<'_>,
    parsed: ParsedTemporal<T>,
    wanted: &'static str,
    text: impl Fn() -> String,
) -> Option<T> {
    settle::<T, LENIENT>(frame, parsed, wanted, text)
}

/// Warning 1292. Its message names the column if the value is from one; otherwise it says
/// "Incorrect" if there is no value, "Truncated incorrect" if there is. A note if only the fraction
/// was cut.
#[cold]
fn complain<T>(
    frame: &Frame<'_>,
    at: usize,
    parsed: &ParsedTemporal<T>,
    rule: u8,
    kind: &str,
    text: &str,
) {
    let useless = parsed.value.is_none();
    let level = if useless || parsed.truncated { Level::Warning } else { Level::Note };
    let error = match column_names(&frame.call.args[at]) {
        Some((schema, table, column)) => {
            let args: [&dyn std::fmt::Display; 6] =
                [&kind, &text, &schema, &table, &column, &frame.ctx.row()];
            SqlError::new(&ER_TRUNCATED_WRONG_VALUE_FOR_FIELD, &args)
        }
        None if useless && rule != COMPARED => SqlError::new(&ER_WRONG_VALUE, &[&kind, &text]),
        None => SqlError::new(&ER_TRUNCATED_WRONG_VALUE, &[&kind, &text]),
    };
    let code = ER_TRUNCATED_WRONG_VALUE.code;
    frame.ctx.push(Condition::raw(level, code, error.message().to_owned()));
}

/// Warns that an argument is no `kind`, only begins with one, or has too many digits.
pub(crate) fn warn_of_argument<T>(
    frame: &Frame<'_>,
    at: usize,
    parsed: &ParsedTemporal<T>,
    kind: &str,
    text: impl Fn() -> String,
) {
    if parsed.value.is_none() || parsed.truncated || parsed.fraction_cut {
        complain(frame, at, parsed, LENIENT, kind, &text());
    }
}

/// Schema, table and name of the column whose value is converted.
fn column_names(e: &Expr) -> Option<(&str, &str, &str)> {
    match &e.kind {
        ExprKind::Column(_) => e.origin.names(),
        ExprKind::Call(call) if call.function.is_implicit() => column_names(call.args.first()?),
        _ => None,
    }
}

/// 1292 for a text that is no temporal value.
#[cold]
pub(crate) fn incorrect(ctx: &EvalContext<'_>, kind: &str, text: &str) {
    let message = SqlError::new(&ER_WRONG_VALUE, &[&kind, &text]).message().to_owned();
    let code = ER_TRUNCATED_WRONG_VALUE.code;
    ctx.push(Condition::raw(Level::Warning, code, message));
}

/// An amount of time to add. Compat: a date, or a value read as a date, is no amount.
pub(super) fn to_added_time(frame: &Frame<'_>) -> SqlResult<Column> {
    let options = lenient(frame.ctx);
    let mut out = NativeOut::new(frame.rows);
    for row in 0..frame.rows {
        let value = frame.args[0].value(row);
        if value.is_null() {
            out.push(None);
            continue;
        }
        let shown = || match &value {
            Value::Bytes(text) => for_message(text, frame.arg_type(0).collation),
            _ => crate::text::display(&value, frame.arg_type(0)),
        };
        let text = match &value {
            Value::Bytes(text) => ascii(frame, text).to_vec(),
            _ => shown().into_bytes(),
        };
        let parsed = match frame.arg_type(0).kind {
            TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp => ParsedTemporal::INVALID,
            _ => Time::parse_added(&text, options),
        };
        let kind = "INTERVAL DAY TO SECOND";
        match parsed.value {
            None => incorrect(frame.ctx, kind, &shown()),
            Some(_) if parsed.truncated => {
                frame.ctx.warn(&ER_TRUNCATED_WRONG_VALUE, &[&kind, &shown()]);
            }
            Some(_) => {}
        }
        out.push(parsed.value.map(|v| v.truncate_to(frame.ty.decimals)));
    }
    Ok(out.finish())
}

/// The kernel that converts a value that is no date or time to a date with time of day.
pub(super) fn datetime_kernel(from: Physical, rule: DateRule) -> Kernel {
    match rule {
        DateRule::Lenient => to_datetime_kernel::<LENIENT>(from),
        DateRule::Compared => to_datetime_kernel::<COMPARED>(from),
        DateRule::Mode => to_datetime_kernel::<MODE>(from),
        DateRule::Existing => to_datetime_kernel::<EXISTING>(from),
        DateRule::Whole => to_datetime_kernel::<WHOLE>(from),
        DateRule::Real => to_datetime_kernel::<REAL>(from),
    }
}

fn to_datetime_kernel<const RULE: u8>(from: Physical) -> Kernel {
    match from {
        Physical::Int => int_to_datetime::<RULE>,
        Physical::Double => double_to_datetime::<RULE>,
        Physical::Decimal => decimal_to_datetime::<RULE>,
        _ => bytes_to_datetime::<RULE>,
    }
}

/// The kernel that converts such a value to a time.
pub(super) fn time_kernel(from: Physical, compared: bool) -> Kernel {
    match compared {
        false => to_time_kernel::<LENIENT>(from),
        true => to_time_kernel::<COMPARED>(from),
    }
}

fn to_time_kernel<const RULE: u8>(from: Physical) -> Kernel {
    match from {
        Physical::Int => int_to_time::<RULE>,
        Physical::Double => double_to_time::<RULE>,
        Physical::Decimal => decimal_to_time::<RULE>,
        _ => bytes_to_time::<RULE>,
    }
}

fn bytes_to_datetime<const RULE: u8>(frame: &Frame<'_>) -> SqlResult<Column> {
    let options = options::<RULE>(frame);
    let fsp = frame.ty.decimals;
    from_bytes(frame, |bytes| {
        let parsed = DateTime::parse(&ascii(frame, bytes), options);
        let text = || for_message(bytes, frame.arg_type(0).collation);
        let value = settle::<_, RULE>(frame, parsed, "datetime", text);
        Ok(value.map(|v| v.truncate_to(fsp)))
    })
}

fn bytes_to_time<const RULE: u8>(frame: &Frame<'_>) -> SqlResult<Column> {
    let options = lenient(frame.ctx);
    let fsp = frame.ty.decimals;
    from_bytes(frame, |bytes| {
        let parsed = Time::parse(&ascii(frame, bytes), options);
        let text = || for_message(bytes, frame.arg_type(0).collation);
        Ok(settle::<_, RULE>(frame, parsed, "time", text).map(|v| v.truncate_to(fsp)))
    })
}

fn int_to_datetime<const RULE: u8>(frame: &Frame<'_>) -> SqlResult<Column> {
    let options = accepted::<RULE>(frame.ctx);
    try_map(frame, |v: i64| {
        let parsed = DateTime::from_number(v, 0, options);
        Ok(settle::<_, RULE>(frame, parsed, "datetime", || v.to_string()))
    })
}

fn int_to_time<const RULE: u8>(frame: &Frame<'_>) -> SqlResult<Column> {
    try_map(frame, |v: i64| {
        let parsed = Time::from_number(v < 0, v.unsigned_abs(), 0);
        Ok(settle::<_, RULE>(frame, parsed, "time", || v.to_string()))
    })
}

fn double_to_datetime<const RULE: u8>(frame: &Frame<'_>) -> SqlResult<Column> {
    let options = options::<RULE>(frame);
    let fsp = frame.ty.decimals;
    try_map(frame, |v: f64| {
        let parsed = DateTime::from_f64(v, options);
        let value = settle::<_, RULE>(frame, parsed, "datetime", || text_of_double(v));
        Ok(value.map(|v| v.truncate_to(fsp)))
    })
}

fn double_to_time<const RULE: u8>(frame: &Frame<'_>) -> SqlResult<Column> {
    let round = lenient(frame.ctx).round;
    try_map(frame, |v: f64| {
        let parsed = Time::from_f64(v, round);
        Ok(settle::<_, RULE>(frame, parsed, "time", || text_of_double(v)))
    })
}

fn text_of_double(v: f64) -> String {
    crate::text::display(&Value::Double(v), &SqlType::double())
}

/// Applies `f` to the decimals that are not NULL.
fn from_decimals<R: Native>(
    frame: &Frame<'_>,
    f: impl Fn(Decimal) -> Option<R>,
) -> SqlResult<Column> {
    let view = frame.decimals(0);
    let mut out = NativeOut::new(frame.rows);
    (0..frame.rows).for_each(|row| out.push(view.get(row).and_then(&f)));
    Ok(out.finish())
}

fn decimal_to_datetime<const RULE: u8>(frame: &Frame<'_>) -> SqlResult<Column> {
    let options = options::<RULE>(frame);
    let fsp = frame.ty.decimals;
    from_decimals(frame, |v| {
        let parsed = DateTime::from_decimal(v, options);
        let value = settle::<_, RULE>(frame, parsed, "datetime", || v.to_string());
        value.map(|v| v.truncate_to(fsp))
    })
}

fn decimal_to_time<const RULE: u8>(frame: &Frame<'_>) -> SqlResult<Column> {
    let round = lenient(frame.ctx).round;
    from_decimals(frame, |v| {
        let parsed = Time::from_decimal(v, round);
        settle::<_, RULE>(frame, parsed, "time", || v.to_string())
    })
}

/// A year as a date without month and day: `2001-00-00`.
pub(super) fn year_to_datetime(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map(frame, |v: u64| DateTime::from_date(Date::from_parts(v as u32, 0, 0))))
}

/// Cuts the fraction to the digits of the result; for explicit casts.
pub(super) fn datetime_to_fsp(frame: &Frame<'_>) -> SqlResult<Column> {
    let fsp = frame.ty.decimals;
    if frame.ctx.types.sql_mode.contains(selkie_types::SqlMode::TIME_ROUND_FRACTIONAL) {
        // Compat: a value that would round past the last day is cut instead.
        return Ok(map(frame, |v: DateTime| v.round_to(fsp).unwrap_or(v.truncate_to(fsp))));
    }
    Ok(map(frame, |v: DateTime| v.truncate_to(fsp)))
}

/// Like [`datetime_to_fsp`], for times.
pub(super) fn time_to_fsp(frame: &Frame<'_>) -> SqlResult<Column> {
    let fsp = frame.ty.decimals;
    if frame.ctx.types.sql_mode.contains(selkie_types::SqlMode::TIME_ROUND_FRACTIONAL) {
        return Ok(map(frame, |v: Time| v.round_to(fsp).0));
    }
    Ok(map(frame, |v: Time| v.truncate_to(fsp)))
}

/// `DATE'..'`, `TIME'..'` and `TIMESTAMP'..'` literals, with a note about digits after the sixth.
/// Error 1525 if the text is not exactly such a value.
pub fn literal_temporal(
    kind: TypeKind,
    text: &[u8],
    types: &TypeContext,
) -> SqlResult<(Expr, Option<Condition>)> {
    let options = DateOptions::from(types.sql_mode);
    let (name, found) = match kind {
        TypeKind::Date => {
            let literal = Date::parse_literal(text, options);
            ("DATE", literal.map(|l| (Expr::date(l.value), l.fraction_cut)))
        }
        TypeKind::Time => {
            let literal = Time::parse_literal(text, options);
            ("TIME", literal.map(|l| (Expr::time(l.value, l.fsp), l.fraction_cut)))
        }
        _ => {
            let literal = DateTime::parse_literal(text, options);
            ("DATETIME", literal.map(|l| (Expr::datetime(l.value, l.fsp), l.fraction_cut)))
        }
    };
    let shown = String::from_utf8_lossy(text);
    let (e, cut) = found.ok_or_else(|| SqlError::new(&ER_WRONG_VALUE, &[&name, &shown]))?;
    Ok((e, cut.then(|| Condition::note(&ER_TRUNCATED_WRONG_VALUE, &[&name, &shown]))))
}
