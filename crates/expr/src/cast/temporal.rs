//! Conversions to and from dates and times.

use selkie_types::error::catalogue::{ER_TRUNCATED_WRONG_VALUE, ER_WRONG_VALUE};
use selkie_types::temporal::{DateOptions, MICROS_PER_DAY, ParsedTemporal};
use selkie_types::{
    Column, Condition, Date, DateTime, Decimal, Level, SqlError, SqlResult, SqlType, Time,
    TypeKind, Value,
};

use super::number::ascii;
use crate::context::{EvalContext, TypeContext};
use crate::expr::{Expr, ExprKind};
use crate::kernel::{DecimalOut, Frame, Native, NativeOut, from_bytes, map, try_map};
use crate::text::for_message;

/// Fraction digits an expression has as a temporal value.
pub(crate) fn fsp_of(e: &Expr) -> u8 {
    match e.ty.kind {
        TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp | TypeKind::Decimal => {
            e.ty.decimals.min(6)
        }
        TypeKind::Float | TypeKind::Double => 6,
        _ if e.ty.is_string() => match &e.kind {
            ExprKind::Literal(Value::Bytes(b)) => fraction_digits(b),
            _ => 6,
        },
        _ => 0,
    }
}

/// Digits after the last point of a text, at most six.
fn fraction_digits(text: &[u8]) -> u8 {
    let Some(point) = text.iter().rposition(|&b| b == b'.') else { return 0 };
    let digits = text[point + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
    digits.min(6) as u8
}

/// Which dates an implicit conversion accepts: zero parts, but no day that cannot exist.
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

/// A time on the day the statement began.
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

/// The value of a conversion with its warnings: 1292 with "Incorrect" if there is none, with
/// "Truncated incorrect" if only a part was used.
fn checked<T>(
    ctx: &EvalContext<'_>,
    parsed: ParsedTemporal<T>,
    kind: &str,
    text: impl Fn() -> String,
) -> Option<T> {
    if parsed.value.is_none() {
        incorrect(ctx, kind, &text());
    } else if parsed.truncated {
        ctx.warn(&ER_TRUNCATED_WRONG_VALUE, &[&kind, &text()]);
    }
    parsed.value
}

/// 1292 for a text that is no temporal value at all.
#[cold]
pub(crate) fn incorrect(ctx: &EvalContext<'_>, kind: &str, text: &str) {
    let message = SqlError::new(&ER_WRONG_VALUE, &[&kind, &text]).message().to_owned();
    let code = ER_TRUNCATED_WRONG_VALUE.code;
    ctx.push(Condition::raw(Level::Warning, code, message));
}

/// A text compared with a date: what is no date compares as the zero date.
pub(super) fn bytes_to_compared_datetime(frame: &Frame<'_>) -> SqlResult<Column> {
    let options = lenient(frame.ctx);
    from_bytes(frame, |bytes| {
        let parsed = DateTime::parse(&ascii(frame, bytes), options);
        report_compared(frame, bytes, "datetime", parsed.value.is_some() && !parsed.truncated);
        Ok(Some(parsed.value.unwrap_or_default()))
    })
}

/// A text compared with a time.
pub(super) fn bytes_to_compared_time(frame: &Frame<'_>) -> SqlResult<Column> {
    let options = lenient(frame.ctx);
    from_bytes(frame, |bytes| {
        let parsed = Time::parse(&ascii(frame, bytes), options);
        report_compared(frame, bytes, "time", parsed.value.is_some() && !parsed.truncated);
        Ok(Some(parsed.value.unwrap_or_default()))
    })
}

/// Compat: constants are "truncated", column values "incorrect".
fn report_compared(frame: &Frame<'_>, bytes: &[u8], kind: &str, good: bool) {
    if good {
        return;
    }
    let text = for_message(bytes, frame.arg_type(0).collation);
    if frame.call.args[0].is_constant() {
        frame.ctx.warn(&ER_TRUNCATED_WRONG_VALUE, &[&kind, &text]);
    } else {
        incorrect(frame.ctx, kind, &text);
    }
}

pub(super) fn bytes_to_datetime(frame: &Frame<'_>) -> SqlResult<Column> {
    let options = lenient(frame.ctx);
    let fsp = frame.ty.decimals;
    from_bytes(frame, |bytes| {
        let parsed = DateTime::parse(&ascii(frame, bytes), options);
        let text = || for_message(bytes, frame.arg_type(0).collation);
        let value = checked(frame.ctx, parsed, "datetime", text);
        Ok(value.map(|v| v.truncate_to(fsp)))
    })
}

pub(super) fn bytes_to_time(frame: &Frame<'_>) -> SqlResult<Column> {
    let options = lenient(frame.ctx);
    let fsp = frame.ty.decimals;
    from_bytes(frame, |bytes| {
        let parsed = Time::parse(&ascii(frame, bytes), options);
        let text = || for_message(bytes, frame.arg_type(0).collation);
        Ok(checked(frame.ctx, parsed, "time", text).map(|v| v.truncate_to(fsp)))
    })
}

pub(super) fn int_to_datetime(frame: &Frame<'_>) -> SqlResult<Column> {
    let options = lenient(frame.ctx);
    try_map(frame, |v: i64| {
        let parsed = DateTime::from_number(v, 0, options);
        Ok(checked(frame.ctx, parsed, "datetime", || v.to_string()))
    })
}

pub(super) fn int_to_time(frame: &Frame<'_>) -> SqlResult<Column> {
    try_map(frame, |v: i64| {
        let parsed = Time::from_number(v < 0, v.unsigned_abs(), 0);
        Ok(checked(frame.ctx, parsed, "time", || v.to_string()))
    })
}

pub(super) fn double_to_datetime(frame: &Frame<'_>) -> SqlResult<Column> {
    let options = lenient(frame.ctx);
    try_map(frame, |v: f64| {
        let parsed = DateTime::from_f64(v, options);
        Ok(checked(frame.ctx, parsed, "datetime", || text_of_double(v)))
    })
}

pub(super) fn double_to_time(frame: &Frame<'_>) -> SqlResult<Column> {
    try_map(frame, |v: f64| Ok(checked(frame.ctx, Time::from_f64(v), "time", || text_of_double(v))))
}

fn text_of_double(v: f64) -> String {
    crate::text::display(&Value::Double(v), &SqlType::double())
}

/// `f` over the decimals that are not NULL.
fn from_decimals<R: Native>(
    frame: &Frame<'_>,
    f: impl Fn(Decimal) -> Option<R>,
) -> SqlResult<Column> {
    let view = frame.decimals(0);
    let mut out = NativeOut::new(frame.rows);
    (0..frame.rows).for_each(|row| out.push(view.get(row).and_then(&f)));
    Ok(out.finish())
}

pub(super) fn decimal_to_datetime(frame: &Frame<'_>) -> SqlResult<Column> {
    let options = lenient(frame.ctx);
    from_decimals(frame, |v| {
        let parsed = DateTime::from_decimal(v, options);
        checked(frame.ctx, parsed, "datetime", || v.to_string())
    })
}

pub(super) fn decimal_to_time(frame: &Frame<'_>) -> SqlResult<Column> {
    from_decimals(frame, |v| checked(frame.ctx, Time::from_decimal(v), "time", || v.to_string()))
}

/// The fraction cut to the digits of the result; for explicit casts.
pub(super) fn datetime_to_fsp(frame: &Frame<'_>) -> SqlResult<Column> {
    let fsp = frame.ty.decimals;
    if frame.ctx.types.sql_mode.contains(selkie_types::SqlMode::TIME_ROUND_FRACTIONAL) {
        return try_map(frame, |v: DateTime| Ok(v.round_to(fsp)));
    }
    Ok(map(frame, |v: DateTime| v.truncate_to(fsp)))
}

/// The same for times.
pub(super) fn time_to_fsp(frame: &Frame<'_>) -> SqlResult<Column> {
    let fsp = frame.ty.decimals;
    if frame.ctx.types.sql_mode.contains(selkie_types::SqlMode::TIME_ROUND_FRACTIONAL) {
        return Ok(map(frame, |v: Time| v.round_to(fsp).0));
    }
    Ok(map(frame, |v: Time| v.truncate_to(fsp)))
}

/// `DATE'..'`, `TIME'..'` and `TIMESTAMP'..'` literals; `None` if the text is not exactly one.
pub fn literal_temporal(kind: TypeKind, text: &[u8], types: &TypeContext) -> Option<Expr> {
    let options = DateOptions::from(types.sql_mode);
    let fsp = fraction_digits(text);
    match kind {
        TypeKind::Date => {
            let parsed = DateTime::parse(text, options);
            let date = parsed.value.filter(|v| !parsed.truncated && v.micros_of_day() == 0)?;
            Some(Expr::date(date.date()))
        }
        TypeKind::Time => {
            let parsed = Time::parse(text, options);
            Some(Expr::time(parsed.value.filter(|_| !parsed.truncated)?, fsp))
        }
        _ => {
            let parsed = DateTime::parse(text, options);
            Some(Expr::datetime(parsed.value.filter(|_| !parsed.truncated)?, fsp))
        }
    }
}
