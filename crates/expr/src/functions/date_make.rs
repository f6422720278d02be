//! Functions that make or combine dates and times.
//! Results out of range become NULL, or are cut with a warning, as MariaDB does per function.

use selkie_types::error::catalogue::ER_TRUNCATED_WRONG_VALUE;
use selkie_types::temporal::{DateOptions, MICROS_PER_SECOND, Moment, ParsedTemporal};
use selkie_types::{
    Column, Date, DateTime, Decimal, NOT_FIXED_DECIMALS, Physical, SqlResult, SqlType, Time,
    TypeKind, Value,
};

use crate::cast::{self, DateRule};
use crate::expr::{CallOption, Expr};
use crate::function::{Binding, Function};
use crate::kernel::{DecimalOut, Frame, map, map_rows, try_map, try_map2, write_rows};

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("DATE", 1, 1, |mut b| {
        b.date_by(0, DateRule::Mode);
        cast::to_dates_of_mode(&mut b.args[0]);
        b.maybe(SqlType::date(), |f| Ok(map(f, |d: Date| d)))
    }),
    Function::new("TIME", 1, 1, |mut b| {
        b.time(0);
        let ty = SqlType::time(b.args[0].ty.decimals);
        b.maybe(ty, |f| Ok(map(f, |t: Time| t)))
    }),
    Function::new("TIMESTAMP", 1, 2, timestamp),
    Function::new("LAST_DAY", 1, 1, |mut b| {
        b.date_by(0, DateRule::Mode);
        cast::to_dates_of_mode(&mut b.args[0]);
        b.maybe(SqlType::date(), |f| {
            try_map(f, |d: Date| Ok(if d.is_zero() { None } else { d.last_day() }))
        })
    }),
    Function::new("FROM_DAYS", 1, 1, |mut b| {
        b.int(0);
        b.maybe(SqlType::date(), |f| {
            let options = DateOptions::from(f.ctx.types.sql_mode);
            let date = |n| Date::from_day_number(n).unwrap_or_default();
            try_map(f, |n: i64| Ok(Some(date(n)).filter(|d| d.is_valid(options))))
        })
    }),
    Function::new("MAKEDATE", 2, 2, |mut b| {
        b.int(0);
        b.int(1);
        b.maybe(SqlType::date(), |f| try_map2(f, |y: i64, d: i64| Ok(makedate(y, d))))
    }),
    Function::new("MAKETIME", 3, 3, maketime),
    Function::new("SEC_TO_TIME", 1, 1, sec_to_time),
    Function::new("TIME_TO_SEC", 1, 1, time_to_sec),
    Function::new("DATEDIFF", 2, 2, |mut b| {
        b.date_by(0, DateRule::Real);
        b.date_by(1, DateRule::Real);
        b.maybe(SqlType::new(TypeKind::Int, 8, 0), |f| {
            try_map2(f, |a: Date, b: Date| {
                let real = !a.has_zero_part() && !b.has_zero_part();
                Ok(real.then(|| a.day_number() - b.day_number()))
            })
        })
    }),
    Function::new("TIMEDIFF", 2, 2, timediff),
    Function::new("ADDTIME", 2, 2, addtime),
    Function::new("SUBTIME", 2, 2, addtime),
    Function::new("PERIOD_ADD", 2, 2, |mut b| {
        b.int(0);
        b.int(1);
        b.strict(SqlType::new(TypeKind::Int, 6, 0), |f| {
            try_map2(f, |p: i64, n: i64| {
                let moved = months(p).wrapping_add(n as i32);
                Ok(Some(if p == 0 { 0 } else { period(moved) }))
            })
        })
    }),
    Function::new("PERIOD_DIFF", 2, 2, |mut b| {
        b.int(0);
        b.int(1);
        b.strict(SqlType::new(TypeKind::Int, 6, 0), |f| {
            try_map2(f, |a: i64, b: i64| Ok(Some(i64::from(months(a).wrapping_sub(months(b))))))
        })
    }),
];

fn timestamp(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.datetime_by(0, if b.len() == 1 { DateRule::Mode } else { DateRule::Existing });
    let mut fsp = b.args[0].ty.decimals;
    if b.len() == 1 {
        cast::to_dates_of_mode(&mut b.args[0]);
        return b.maybe(SqlType::datetime(fsp), |f| Ok(map(f, |v: DateTime| v)));
    }
    cast::to_added_time(&mut b.args[1]);
    fsp = fsp.max(b.args[1].ty.decimals);
    b.maybe(SqlType::datetime(fsp), |f| try_map2(f, |d: DateTime, t: Time| Ok(sum(d, t.0))))
}

fn sum(d: DateTime, micros: i64) -> Option<DateTime> {
    DateTime::from_linear_micros(d.linear_micros().checked_add(micros)?)
}

/// The date of a day in a year; years of two digits are 1970 to 2069.
fn makedate(year: i64, day: i64) -> Option<Date> {
    let year = match year {
        0..70 => year + 2000,
        70..100 => year + 1900,
        _ => year,
    };
    let year = u32::try_from(year).ok().filter(|y| *y <= 9999)?;
    if day < 1 {
        return None;
    }
    let first = Date::from_parts(year, 1, 1).day_number();
    Date::from_day_number(first.checked_add(day - 1)?)
}

fn maketime(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.int(0);
    b.int(1);
    // Compat: a text always counts as having a fraction.
    let fsp = if b.args[2].ty.is_string() { 6 } else { cast::fsp_of(&b.args[2]) };
    b.decimal(2);
    cast::unround(&mut b.args[2]);
    b.maybe(SqlType::time(fsp), |f| {
        let (hours, minutes) = (f.view::<i64>(0), f.view::<i64>(1));
        let seconds = f.decimals(2);
        map_rows(f, |row| Ok(time_of(f, hours.value(row), minutes.value(row), seconds.value(row))))
    })
}

fn time_of(frame: &Frame<'_>, hour: i64, minute: i64, second: Decimal) -> Option<Time> {
    let micros = micros_of(second);
    if micros >= 60 * MICROS_PER_SECOND {
        frame.ctx.warn(&ER_TRUNCATED_WRONG_VALUE, &[&"seconds", &second.normalised()]);
    }
    if !(0..60).contains(&minute) || !(0..60 * MICROS_PER_SECOND).contains(&micros) {
        return None;
    }
    let size = hour.saturating_abs().min(10_000) * 3600 + minute * 60;
    let total = size * MICROS_PER_SECOND + micros;
    let (time, clamped) = Time::clamped(if hour < 0 { -total } else { total });
    if clamped {
        let sign = if hour < 0 { "-" } else { "" };
        let text = format!(
            "{sign}{:02}:{minute:02}:{:02}",
            hour.unsigned_abs(),
            micros / MICROS_PER_SECOND
        );
        frame.ctx.warn(&ER_TRUNCATED_WRONG_VALUE, &[&"time", &text]);
    }
    Some(time.truncate_to(frame.ty.decimals))
}

/// Seconds in microseconds, as far as these have 64 bits.
fn micros_of(seconds: Decimal) -> i64 {
    let micros = seconds.truncate(6).round(6).small_unscaled();
    let most = if seconds.is_negative() { i64::MIN } else { i64::MAX };
    micros.and_then(|m| i64::try_from(m).ok()).unwrap_or(most)
}

/// Compat: a warning shows whole seconds, or six digits of a fraction.
fn shown_seconds(seconds: Decimal) -> Decimal {
    let (whole, micros) = (seconds.truncate(0).round(0), seconds.truncate(6).round(6));
    if whole == micros { whole } else { micros }
}

fn sec_to_time(mut b: Binding<'_>) -> SqlResult<Expr> {
    // Compat: a text always counts as having a fraction.
    let fsp = if b.args[0].ty.is_string() { 6 } else { cast::fsp_of(&b.args[0]) };
    b.decimal(0);
    cast::unround(&mut b.args[0]);
    b.maybe(SqlType::time(fsp), |f| {
        let seconds = f.decimals(0);
        map_rows(f, |row| {
            let value = seconds.value(row);
            let (time, clamped) = Time::clamped(micros_of(value));
            if clamped {
                f.ctx.warn(&ER_TRUNCATED_WRONG_VALUE, &[&"seconds", &shown_seconds(value)]);
            }
            Ok(Some(time.truncate_to(f.ty.decimals)))
        })
    })
}

fn time_to_sec(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.time(0);
    let fsp = b.args[0].ty.decimals;
    if fsp == 0 {
        return b.maybe(SqlType::new(TypeKind::BigInt, 17, 0), |f| {
            Ok(map(f, |t: Time| t.0 / MICROS_PER_SECOND))
        });
    }
    b.maybe(SqlType::decimal(16 + u32::from(fsp), fsp), |f| {
        let view = f.view::<Time>(0);
        let mut out = DecimalOut::new(f.ty.decimals, f.rows);
        (0..f.rows).for_each(|row| {
            out.push(view.get(row).map(|t| Decimal::from_i128(t.0.into(), 6)));
        });
        Ok(out.finish())
    })
}

/// Type of an operand of TIMEDIFF, as far as it is known before it is read.
#[derive(PartialEq, Eq, Clone, Copy)]
enum Span {
    Date,
    DateTime,
    Time,
    Unknown,
}

fn span(e: &Expr) -> Span {
    match e.ty.kind {
        TypeKind::Date => Span::Date,
        TypeKind::DateTime | TypeKind::Timestamp => Span::DateTime,
        TypeKind::Time => Span::Time,
        _ => match e.as_literal() {
            Some(selkie_types::Value::Bytes(text)) if is_datetime(text) => Span::DateTime,
            _ => Span::Unknown,
        },
    }
}

/// Whether a text is a whole date with a time and nothing else.
fn is_datetime(text: &[u8]) -> bool {
    let parsed = read_date(text);
    parsed.is_some_and(|v| v.value.is_some() && !v.truncated && !v.date_only)
}

/// The date of a text that is read as a date with a time where a time is wanted.
fn read_date(text: &[u8]) -> Option<ParsedTemporal<DateTime>> {
    // Compat: the date only has to look like one.
    let options = DateOptions { allow_invalid: true, ..DateOptions::LENIENT };
    let is_dated = Time::parse(text, options).from_datetime;
    is_dated.then(|| DateTime::parse(text, options))
}

/// The difference of two texts; each text itself shows whether it is a time or a date with a time.
fn timediff_text(frame: &Frame<'_>) -> SqlResult<Column> {
    let views = [frame.bytes(0), frame.bytes(1)];
    map_rows(frame, |row| {
        let read = |at: usize| read_span(frame, at, views[at].value(row));
        let Some((a, is_datetime)) = read(0) else { return Ok(None) };
        let b = read(1).filter(|(_, other)| *other == is_datetime);
        Ok(b.map(|(b, _)| clamped(frame, a - b).truncate_to(frame.ty.decimals)))
    })
}

/// Microseconds of a text, and whether it is a date with a time.
fn read_span(frame: &Frame<'_>, at: usize, text: &[u8]) -> Option<(i64, bool)> {
    let shown = || crate::text::for_message(text, frame.arg_type(at).collation);
    if let Some(date) = read_date(text) {
        let kind = if date.value.is_some() { "datetime" } else { "time" };
        cast::warn_of_argument(frame, at, &date, kind, shown);
        // A date alone is neither.
        return date.value.filter(|_| !date.date_only).map(|v| (v.linear_micros(), true));
    }
    let parsed = Time::parse(text, DateOptions::LENIENT);
    cast::warn_of_argument(frame, at, &parsed, "time", shown);
    parsed.value.map(|v| (v.0, false))
}

/// Both operands are times, or both are dates with times; other types are read as texts.
fn timediff(mut b: Binding<'_>) -> SqlResult<Expr> {
    let spans = [span(&b.args[0]), span(&b.args[1])];
    if spans[0] == spans[1] && matches!(spans[0], Span::Date | Span::DateTime) {
        b.datetime(0);
        b.datetime(1);
        let fsp = b.args[0].ty.decimals.max(b.args[1].ty.decimals);
        return b.maybe(SqlType::time(fsp), |f| {
            try_map2(f, |a: DateTime, b: DateTime| {
                Ok(Some(clamped(f, a.linear_micros() - b.linear_micros())))
            })
        });
    }
    if spans[0] != spans[1] && !spans.contains(&Span::Unknown) {
        // Compat: the result is NULL for a date and a time, and for a date and a date with a time.
        let fsp = cast::fsp_of(&b.args[0]).max(cast::fsp_of(&b.args[1]));
        return b.maybe(SqlType::time(fsp), |f| map_rows(f, |_| Ok(None::<Time>)));
    }
    if spans.contains(&Span::Date) {
        return timediff_date(b);
    }
    // Numbers may be dates with times too.
    if spans.contains(&Span::Unknown) {
        let fsp = cast::fsp_of(&b.args[0]).max(cast::fsp_of(&b.args[1]));
        b.ascii_text(0);
        b.ascii_text(1);
        return b.maybe(SqlType::time(fsp), timediff_text);
    }
    b.time(0);
    b.time(1);
    let fsp = b.args[0].ty.decimals.max(b.args[1].ty.decimals);
    b.maybe(SqlType::time(fsp), |f| try_map2(f, |a: Time, b: Time| Ok(Some(clamped(f, a.0 - b.0)))))
}

/// Compat: the result is NULL for a date and an operand read as a time; the operand is still read,
/// for its warnings.
fn timediff_date(mut b: Binding<'_>) -> SqlResult<Expr> {
    let fsp = cast::fsp_of(&b.args[0]).max(cast::fsp_of(&b.args[1]));
    if b.args[0].ty.kind == TypeKind::Date {
        b.args.reverse();
    }
    b.ascii_text(0);
    b.maybe(SqlType::time(fsp), |f| {
        let texts = f.bytes(0);
        map_rows(f, |row| Ok(read_span(f, 0, texts.value(row)).and(None::<Time>)))
    })
}

fn sign(frame: &Frame<'_>) -> i64 {
    if frame.call.function.name() == "SUBTIME" { -1 } else { 1 }
}

/// The time of `micros` microseconds; a warning if it was cut to the range.
fn clamped(frame: &Frame<'_>, micros: i64) -> Time {
    let (time, clamped) = Time::clamped(micros);
    if clamped {
        let seconds = micros.unsigned_abs() / MICROS_PER_SECOND as u64;
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        let sign = if micros < 0 { "-" } else { "" };
        let fraction = match micros.unsigned_abs() % MICROS_PER_SECOND as u64 {
            0 => String::new(),
            micros => format!(".{micros:06}"),
        };
        let text = format!("{sign}{hours:02}:{minutes:02}:{:02}{fraction}", seconds % 60);
        frame.ctx.warn(&ER_TRUNCATED_WRONG_VALUE, &[&"time", &text]);
    }
    time
}

fn addtime(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.refuse_json(&b.function.name().to_ascii_lowercase(), None)?;
    cast::to_added_time(&mut b.args[1]);
    cast::local(&mut b.args[0]);
    let fsp = b.args[0].ty.decimals.min(6).max(b.args[1].ty.decimals);
    if b.args[0].ty.kind == TypeKind::Year {
        b.datetime(0);
    }
    match b.args[0].ty.physical() {
        Physical::Date | Physical::DateTime => {
            b.datetime(0);
            b.maybe(SqlType::datetime(fsp), |f| {
                try_map2(f, |d: DateTime, t: Time| Ok(sum(d, sign(f) * t.0)))
            })
        }
        Physical::Time => b.maybe(SqlType::time(fsp), |f| {
            try_map2(f, |a: Time, t: Time| Ok(Some(clamped(f, a.0 + sign(f) * t.0))))
        }),
        _ => {
            if !b.args[0].ty.is_numeric() || b.args[0].ty.kind == TypeKind::Bit {
                b.ascii_text(0);
            }
            b.connection_collation();
            let from = &b.args[0].ty;
            let digits = match from.is_integer() || from.kind == TypeKind::Decimal {
                true => fsp,
                // As many digits as the value needs.
                false => NOT_FIXED_DECIMALS,
            };
            let fraction = if digits == 0 { 0 } else { u32::from(digits.min(6)) + 1 };
            let mut ty = SqlType::new(TypeKind::Char, 19 + fraction, 0);
            ty.collation = b.collation;
            b.option = CallOption::Number(digits.into());
            b.maybe(ty, addtime_any)
        }
    }
}

/// A text or a number as a time, or as a date with a time.
fn moment(value: &Value, options: DateOptions) -> ParsedTemporal<Moment> {
    let either =
        |time: ParsedTemporal<Time>, date: &dyn Fn() -> ParsedTemporal<DateTime>| match time {
            _ if time.from_datetime => date().and_then(|v| Some(Moment::At(v))),
            _ => time.and_then(|v| Some(Moment::Span(v.0))),
        };
    let round = options.round;
    match value {
        Value::Bytes(text) => {
            let time = Time::parse(text, options);
            match time.from_datetime {
                true => DateTime::parse(text, options).and_then(|v| Some(Moment::At(v))),
                false => time.and_then(|v| Some(Moment::Span(v.0))),
            }
        }
        Value::Decimal(v) => {
            either(Time::from_decimal(*v, round), &|| DateTime::from_decimal(*v, options))
        }
        Value::Double(v) => either(Time::from_f64(*v, round), &|| DateTime::from_f64(*v, options)),
        _ => {
            let n = match value {
                Value::UInt(n) => i64::try_from(*n).unwrap_or(i64::MAX),
                Value::Int(n) => *n,
                _ => return ParsedTemporal::INVALID,
            };
            let time = Time::from_number(n < 0, n.unsigned_abs(), 0);
            either(time, &|| DateTime::from_number(n, 0, options))
        }
    }
}

fn addtime_any(frame: &Frame<'_>) -> SqlResult<Column> {
    let times = frame.view::<Time>(1);
    let from = frame.arg_type(0);
    let fsp = |micros: u32| match frame.call.option {
        CallOption::Number(digits @ 0..=6) => digits as u8,
        _ if micros == 0 => 0,
        _ => 6,
    };
    let options = DateOptions { allow_invalid: false, ..cast::lenient(frame.ctx) };
    write_rows(frame, |row, out| {
        let value = frame.args[0].value(row);
        let delta = sign(frame) * times.value(row).0;
        let text = || match &value {
            Value::Bytes(text) => crate::text::for_message(text, from.collation),
            _ => crate::text::display(&value, from),
        };
        let read = moment(&value, options);
        let is_datetime = matches!(read.value, Some(Moment::At(_)));
        match cast::settled(frame, read, if is_datetime { "datetime" } else { "time" }, text) {
            Some(Moment::At(d)) => {
                let Some(result) = sum(d, delta) else { return false };
                result.write_to(out, fsp(result.micros()));
            }
            Some(Moment::Span(micros)) => {
                let result = clamped(frame, micros + delta);
                result.write_to(out, fsp(result.micros()));
            }
            None => return false,
        }
        true
    })
}

/// Number of months of a period `YYMM` or `YYYYMM`.
///
/// Compat: a number that is no period counts as no months.
fn months(period: i64) -> i32 {
    if !(1..=999_912).contains(&period) {
        return 0;
    }
    let year = match period / 100 {
        y @ 0..70 => y + 2000,
        y @ 70..100 => y + 1900,
        y => y,
    };
    (year * 12 + period % 100 - 1) as i32
}

fn period(months: i32) -> i64 {
    if months == 0 {
        return 0;
    }
    let months = months as u32;
    let year = match months / 12 {
        y @ 0..70 => y + 2000,
        y @ 70..100 => y + 1900,
        y => y,
    };
    i64::from(year) * 100 + i64::from(months % 12) + 1
}
