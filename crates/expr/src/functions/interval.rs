//! `INTERVAL` arithmetic, EXTRACT and TIMESTAMPDIFF.

use selkie_types::error::catalogue::ER_DATETIME_FUNCTION_OVERFLOW;
use selkie_types::temporal::{Interval, IntervalUnit, WeekMode};
use selkie_types::{Column, Date, DateTime, Physical, SqlResult, SqlType, Time, TypeKind, Value};

use crate::cast;
use crate::expr::{CallOption, Expr, ExprKind};
use crate::function::{Binding, Function, Kernel};
use crate::kernel::{Frame, Native, NativeOut, map_rows, write_rows};

pub(crate) static ADD: Function = Function::new("DATE_ADD", 2, 2, bind);
pub(crate) static SUB: Function = Function::new("DATE_SUB", 2, 2, bind);
pub(crate) static EXTRACT: Function = Function::new("EXTRACT", 1, 1, bind_extract);
pub(crate) static DIFF: Function = Function::new("TIMESTAMPDIFF", 2, 2, bind_diff);

/// Functions called by name: `ADDDATE(d, days)` and `SUBDATE(d, days)`.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("ADDDATE", 2, 2, |b| days(b, &ADD)),
    Function::new("SUBDATE", 2, 2, |b| days(b, &SUB)),
    Function::new("ADD_MONTHS", 2, 2, |b| units(b, &ADD, IntervalUnit::Month)),
];

fn days(b: Binding<'_>, function: &'static Function) -> SqlResult<Expr> {
    units(b, function, IntervalUnit::Day)
}

fn units(b: Binding<'_>, function: &'static Function, unit: IntervalUnit) -> SqlResult<Expr> {
    let option = CallOption::Unit(unit);
    function.bind(Binding::new(function, b.args, b.types).with_option(option))
}

fn unit_of(option: &CallOption) -> IntervalUnit {
    match option {
        CallOption::Unit(unit) => *unit,
        _ => IntervalUnit::Day,
    }
}

/// Converts the amount to a whole number, a decimal of seconds, or the text of a compound value.
fn bind_amount(b: &mut Binding<'_>, unit: IntervalUnit) -> u8 {
    if unit.is_compound() {
        b.ascii_text(1);
        return if unit.has_micros() { 6 } else { 0 };
    }
    let fraction = !b.args[1].ty.is_integer();
    if unit == IntervalUnit::Second && fraction {
        let digits = match b.args[1].ty.kind {
            TypeKind::Decimal => b.args[1].ty.decimals.min(6),
            _ => 6,
        };
        b.decimal(1);
        return digits;
    }
    b.int(1);
    if unit == IntervalUnit::Microsecond { 6 } else { 0 }
}

fn bind(mut b: Binding<'_>) -> SqlResult<Expr> {
    let unit = unit_of(&b.option);
    let fsp = bind_amount(&mut b, unit);
    let date_unit = unit.is_date_unit();
    cast::local(&mut b.args[0]);
    let kind = b.args[0].ty.kind;
    let arg_fsp = b.args[0].ty.decimals.min(6);
    match kind {
        TypeKind::Date if date_unit => b.maybe(SqlType::date(), dates),
        TypeKind::Date | TypeKind::DateTime => {
            b.datetime(0);
            let fsp = fsp.max(if kind == TypeKind::Date { 0 } else { arg_fsp });
            b.maybe(SqlType::datetime(fsp), datetimes)
        }
        TypeKind::Time if date_unit && unit != IntervalUnit::Day && unit != IntervalUnit::Week => {
            // A time has no months to add to.
            b.datetime(0);
            b.maybe(SqlType::datetime(fsp.max(arg_fsp)), |frame| {
                map_rows(frame, |_| Ok(overflow(frame, None::<DateTime>, "time")))
            })
        }
        TypeKind::Time => b.maybe(SqlType::time(fsp.max(arg_fsp)), times),
        _ => bind_text(b, fsp),
    }
}

/// Strings and numbers give strings, dates without time for dates without time.
fn bind_text(mut b: Binding<'_>, fsp: u8) -> SqlResult<Expr> {
    let literal = match &b.args[0].kind {
        ExprKind::Literal(Value::Bytes(_)) => {
            let mut probe = b.args[0].clone();
            cast::to_datetime(&mut probe);
            probe.ty.decimals
        }
        ExprKind::Literal(_) => 0,
        _ => 6,
    };
    let digits = fsp.max(literal);
    b.ascii_text(0);
    b.connection_collation();
    let fraction = if digits > 0 { u32::from(digits) + 1 } else { 0 };
    let mut ty = SqlType::new(TypeKind::Char, 19 + fraction, 0);
    ty.collation = b.collation;
    b.maybe(ty, texts)
}

/// The interval of a row, negative for subtraction.
fn amount(frame: &Frame<'_>, row: usize) -> Option<Interval> {
    let unit = unit_of(&frame.call.option);
    let interval = match frame.args[1].value(row) {
        Value::Int(n) => Interval::new(unit, n),
        Value::UInt(n) => Interval::new(unit, i64::try_from(n).unwrap_or(i64::MAX)),
        Value::Decimal(d) => Interval::seconds(d),
        Value::Bytes(text) => Interval::parse(unit, &text)?,
        _ => return None,
    };
    let subtract = std::ptr::eq(frame.call.function, &SUB);
    Some(if subtract {
        Interval { months: interval.months.checked_neg()?, micros: interval.micros.checked_neg()? }
    } else {
        interval
    })
}

fn overflow<T>(frame: &Frame<'_>, result: Option<T>, kind: &str) -> Option<T> {
    if result.is_none() {
        frame.ctx.warn(&ER_DATETIME_FUNCTION_OVERFLOW, &[&kind]);
    }
    result
}

fn moved<T: Native>(
    frame: &Frame<'_>,
    kind: &str,
    f: impl Fn(T, Interval) -> Option<T>,
) -> SqlResult<Column> {
    let view = frame.view::<T>(0);
    map_rows(frame, |row| {
        let Some(interval) = amount(frame, row) else { return Ok(None) };
        Ok(overflow(frame, f(view.value(row), interval), kind))
    })
}

fn dates(frame: &Frame<'_>) -> SqlResult<Column> {
    moved(frame, "datetime", Date::add_interval)
}

fn datetimes(frame: &Frame<'_>) -> SqlResult<Column> {
    moved(frame, "datetime", DateTime::add_interval)
}

fn times(frame: &Frame<'_>) -> SqlResult<Column> {
    moved(frame, "time", Time::add_interval)
}

fn texts(frame: &Frame<'_>) -> SqlResult<Column> {
    let options = cast::lenient(frame.ctx);
    let view = frame.bytes(0);
    let date_unit = unit_of(&frame.call.option).is_date_unit();
    write_rows(frame, |row, out| {
        let text = view.value(row);
        let parsed = DateTime::parse(text, options);
        let Some(value) = parsed.value else {
            let shown = crate::text::for_message(text, frame.arg_type(0).collation);
            cast::incorrect(frame.ctx, "datetime", &shown);
            return false;
        };
        let Some(interval) = amount(frame, row) else { return false };
        let Some(result) = overflow(frame, value.add_interval(interval), "datetime") else {
            return false;
        };
        if parsed.date_only && date_unit {
            result.date().write_to(out);
        } else {
            let long = result.micros() != 0 || value.micros() != 0;
            let digits = frame.ty.length.saturating_sub(20).min(6) as u8;
            result.write_to(out, if long { digits } else { 0 });
        }
        true
    })
}

fn bind_diff(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.datetime(0);
    b.datetime(1);
    b.maybe(SqlType::new(TypeKind::BigInt, 21, 0), |frame| {
        let (a, b) = (frame.view::<DateTime>(0), frame.view::<DateTime>(1));
        let unit = unit_of(&frame.call.option);
        map_rows(frame, |row| Ok(a.value(row).diff(b.value(row), unit)))
    })
}

fn bind_extract(mut b: Binding<'_>) -> SqlResult<Expr> {
    use IntervalUnit::*;
    let unit = unit_of(&b.option);
    // Compat: a text may be a time of many days.
    let days = if b.args[0].ty.is_temporal() { 0 } else { 5 };
    let length = match unit {
        Quarter => 2,
        Month | Week | Hour | Minute | Second => 3,
        Year | HourMinute | MinuteSecond => 5,
        YearMonth | Microsecond | HourSecond => 7,
        SecondMicrosecond => 9,
        MinuteMicrosecond => 11,
        HourMicrosecond => 13,
        Day => 3 + days,
        DayHour => 5 + days,
        DayMinute => 7 + days,
        DaySecond => 9 + days,
        DayMicrosecond => 15 + days,
    };
    let kind = if length > 10 { TypeKind::BigInt } else { TypeKind::Int };
    let ty = SqlType::new(kind, length, 0);
    cast::local(&mut b.args[0]);
    let dated = matches!(unit, Year | Quarter | Month | Week | Day | YearMonth);
    let kernel: Kernel = match (dated, b.args[0].ty.physical()) {
        (true, Physical::Date) => extract_date,
        (true, _) => {
            b.datetime(0);
            extract_datetime
        }
        (false, Physical::DateTime) => extract_datetime,
        (false, Physical::Date) => {
            b.datetime(0);
            extract_datetime
        }
        (false, _) => {
            b.time(0);
            extract_time
        }
    };
    b.maybe(ty, kernel)
}

/// The parts a unit can name.
#[derive(Default)]
struct Parts {
    date: Date,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    micros: i64,
}

fn extract(unit: IntervalUnit, p: &Parts) -> i64 {
    use IntervalUnit::*;
    let clock = p.hour * 10_000 + p.minute * 100 + p.second;
    match unit {
        Year => p.date.year().into(),
        Quarter => p.date.month().div_ceil(3).into(),
        Month => p.date.month().into(),
        Week => p.date.week(WeekMode::new(0)).0.into(),
        Day => p.day,
        Hour => p.hour,
        Minute => p.minute,
        Second => p.second,
        Microsecond => p.micros,
        YearMonth => i64::from(p.date.year() * 100 + p.date.month()),
        DayHour => p.day * 100 + p.hour,
        DayMinute => p.day * 10_000 + p.hour * 100 + p.minute,
        DaySecond => p.day * 1_000_000 + clock,
        HourMinute => p.hour * 100 + p.minute,
        HourSecond => clock,
        MinuteSecond => p.minute * 100 + p.second,
        DayMicrosecond => (p.day * 1_000_000 + clock) * 1_000_000 + p.micros,
        HourMicrosecond => clock * 1_000_000 + p.micros,
        MinuteMicrosecond => (p.minute * 100 + p.second) * 1_000_000 + p.micros,
        SecondMicrosecond => p.second * 1_000_000 + p.micros,
    }
}

fn extract_date(frame: &Frame<'_>) -> SqlResult<Column> {
    let unit = unit_of(&frame.call.option);
    if unit == IntervalUnit::Year {
        return Ok(crate::kernel::map(frame, |d: Date| i64::from(d.year())));
    }
    Ok(crate::kernel::map(frame, |date: Date| {
        extract(unit, &Parts { date, day: date.day().into(), ..Parts::default() })
    }))
}

fn extract_datetime(frame: &Frame<'_>) -> SqlResult<Column> {
    let unit = unit_of(&frame.call.option);
    Ok(crate::kernel::map(frame, |v: DateTime| {
        let parts = Parts {
            date: v.date(),
            day: v.day().into(),
            hour: v.hour().into(),
            minute: v.minute().into(),
            second: v.second().into(),
            micros: v.micros().into(),
        };
        extract(unit, &parts)
    }))
}

fn extract_time(frame: &Frame<'_>) -> SqlResult<Column> {
    let unit = unit_of(&frame.call.option);
    let view = frame.view::<Time>(0);
    let mut out = NativeOut::new(frame.rows);
    for row in 0..frame.rows {
        out.push(view.get(row).map(|v| {
            let parts = Parts {
                date: Date::ZERO,
                day: i64::from(v.hour() / 24),
                hour: i64::from(v.hour() % 24),
                minute: v.minute().into(),
                second: v.second().into(),
                micros: v.micros().into(),
            };
            let value = extract(unit, &parts);
            if v.is_negative() { -value } else { value }
        }));
    }
    Ok(out.finish())
}
