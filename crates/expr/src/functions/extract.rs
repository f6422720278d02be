//! EXTRACT, and amounts of time as texts.
//! Compat: the parser of texts is more generous here than for TIME values (`Moment`).

use selkie_types::error::catalogue::ER_TRUNCATED_WRONG_VALUE;
use selkie_types::temporal::{
    DateOptions, IntervalUnit, MICROS_PER_SECOND, Moment, ParsedTemporal, WeekMode,
};
use selkie_types::{Column, Date, DateTime, Physical, SqlResult, SqlType, Time, TypeKind, Value};

use super::interval::unit_of;
use crate::cast::{self, DateRule};
use crate::context::TypeContext;
use crate::expr::Expr;
use crate::function::{Binding, Function, Kernel};
use crate::kernel::{Frame, NativeOut, from_bytes, write_rows};
use crate::text::for_message;

pub(crate) static EXTRACT: Function = Function::new("EXTRACT", 1, 1, bind_extract);
static TO_SPAN: Function = Function::new("CAST", 1, 1, |b| b.strict(SqlType::null(), span_text));

fn bind_extract(mut b: Binding<'_>) -> SqlResult<Expr> {
    use IntervalUnit::*;
    let unit = unit_of(&b.option);
    b.refuse_json(&format!("extract({})", unit.name().to_ascii_lowercase()), None)?;
    if unit == Week {
        b.args.push(Expr::int(b.types.default_week_format.into()));
    }
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
    let mut ty = SqlType::new(kind, length, 0);
    cast::local(&mut b.args[0]);
    let dated = matches!(unit, Year | Quarter | Month | Week | YearMonth);
    ty.non_negative = dated;
    let number = b.args[0].ty.is_numeric() && b.args[0].ty.kind != TypeKind::Bit;
    if b.args[0].ty.kind == TypeKind::Year {
        b.datetime(0);
    }
    let kernel: Kernel = match (dated, b.args[0].ty.physical()) {
        (true, Physical::Date) => extract_date,
        // Compat: a time has the zero date, and its days have 24 hours.
        (_, Physical::Time) => extract_time,
        (true, _) | (false, Physical::DateTime | Physical::Date) => {
            b.datetime_by(0, DateRule::Existing);
            extract_datetime
        }
        (false, _) if number => {
            b.decimal(0);
            extract_number
        }
        (false, _) => {
            b.ascii_text(0);
            extract_text
        }
    };
    b.maybe(ty, kernel)
}

/// Parts that a unit can name.
#[derive(Default)]
struct Parts {
    date: Date,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    micros: i64,
    week: WeekMode,
}

fn extract(unit: IntervalUnit, p: &Parts) -> i64 {
    use IntervalUnit::*;
    let clock = p.hour * 10_000 + p.minute * 100 + p.second;
    match unit {
        Year => p.date.year().into(),
        Quarter => p.date.month().div_ceil(3).into(),
        Month => p.date.month().into(),
        Week => p.date.week(p.week).0.into(),
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
    let week = week_mode(frame);
    Ok(crate::kernel::map(frame, |date: Date| {
        extract(unit, &Parts { week, date, day: date.day().into(), ..Parts::default() })
    }))
}

/// The mode of the week, if that is extracted.
fn week_mode(frame: &Frame<'_>) -> WeekMode {
    match frame.args.get(1).map(|mode| mode.value(0)) {
        Some(Value::Int(mode)) => WeekMode::new(mode as u32),
        _ => WeekMode::default(),
    }
}

/// The parts of a date with a time of day.
fn parts_of_date(v: DateTime, week: WeekMode) -> Parts {
    Parts {
        date: v.date(),
        day: v.day().into(),
        hour: v.hour().into(),
        minute: v.minute().into(),
        second: v.second().into(),
        micros: v.micros().into(),
        week,
    }
}

/// The parts of an amount of time; its hours make days.
fn parts_of_span(micros: i64, week: WeekMode) -> Parts {
    let micros = micros.abs();
    let seconds = micros / MICROS_PER_SECOND;
    Parts {
        date: Date::ZERO,
        day: seconds / 86_400,
        hour: seconds / 3600 % 24,
        minute: seconds / 60 % 60,
        second: seconds % 60,
        micros: micros % MICROS_PER_SECOND,
        week,
    }
}

fn extract_datetime(frame: &Frame<'_>) -> SqlResult<Column> {
    let (unit, week) = (unit_of(&frame.call.option), week_mode(frame));
    Ok(crate::kernel::map(frame, |v: DateTime| extract(unit, &parts_of_date(v, week))))
}

fn extract_span(unit: IntervalUnit, micros: i64, week: WeekMode) -> i64 {
    let value = extract(unit, &parts_of_span(micros, week));
    // The week is that of the zero date, so it has no sign.
    if micros < 0 && unit != IntervalUnit::Week { -value } else { value }
}

fn extract_time(frame: &Frame<'_>) -> SqlResult<Column> {
    let (unit, week) = (unit_of(&frame.call.option), week_mode(frame));
    Ok(crate::kernel::map(frame, |v: Time| extract_span(unit, v.0, week)))
}

fn extract_moment(frame: &Frame<'_>, moment: Moment) -> i64 {
    let (unit, week) = (unit_of(&frame.call.option), week_mode(frame));
    match moment {
        Moment::At(v) => extract(unit, &parts_of_date(v, week)),
        Moment::Span(micros) => extract_span(unit, micros, week),
    }
}

fn extract_text(frame: &Frame<'_>) -> SqlResult<Column> {
    use IntervalUnit::*;
    let options = DateOptions { allow_invalid: false, ..cast::lenient(frame.ctx) };
    from_bytes(frame, |bytes| {
        let parsed = match unit_of(&frame.call.option) {
            Day | DayHour | DayMinute | DaySecond => Moment::parse_day(bytes, options),
            _ => Moment::parse(bytes, options),
        };
        let text = || for_message(bytes, frame.arg_type(0).collation);
        let moment = cast::settled(frame, parsed, "interval", text);
        Ok(moment.map(|moment| extract_moment(frame, moment)))
    })
}

fn extract_number(frame: &Frame<'_>) -> SqlResult<Column> {
    let options = DateOptions { allow_invalid: false, ..cast::lenient(frame.ctx) };
    let view = frame.decimals(0);
    let mut out = NativeOut::new(frame.rows);
    for row in 0..frame.rows {
        out.push(view.get(row).and_then(|v| {
            let parsed = Moment::from_decimal(v, options);
            let moment = cast::settled(frame, parsed, "interval", || v.to_string())?;
            Some(extract_moment(frame, moment))
        }));
    }
    Ok(out.finish())
}

/// `CAST(e AS INTERVAL DAY_SECOND(fsp))`: an amount of time as a text, with days if it has any.
pub(crate) fn interval_day_second(e: Expr, fsp: u8, types: &TypeContext) -> SqlResult<Expr> {
    let mut b = Binding::new(&TO_SPAN, vec![e], types);
    b.scalars()?;
    let number = b.args[0].ty.is_numeric() && b.args[0].ty.kind != TypeKind::Bit;
    match number {
        true => b.decimal(0),
        false => b.ascii_text(0),
    }
    b.connection_collation();
    let mut ty = b.string_type(17 + if fsp > 0 { u64::from(fsp) + 1 } else { 0 });
    ty.decimals = fsp;
    b.maybe(ty, if number { span_of_number } else { span_text })
}

fn span_text(frame: &Frame<'_>) -> SqlResult<Column> {
    let options = cast::lenient(frame.ctx);
    let view = frame.bytes(0);
    let shown = |row: usize| for_message(view.value(row), frame.arg_type(0).collation);
    spans(frame, |row| Moment::parse_span(view.value(row), options), shown)
}

fn span_of_number(frame: &Frame<'_>) -> SqlResult<Column> {
    let options = cast::lenient(frame.ctx);
    let view = frame.decimals(0);
    let read = |row: usize| {
        let value = view.value(row);
        let parsed = Moment::from_any_decimal(value, options);
        ParsedTemporal { fraction_cut: value.scale() > 6, ..parsed }
    };
    spans(frame, read, |row| view.value(row).to_string())
}

/// The text of each row's amount of time.
fn spans(
    frame: &Frame<'_>,
    read: impl Fn(usize) -> ParsedTemporal<Moment>,
    shown: impl Fn(usize) -> String,
) -> SqlResult<Column> {
    const KIND: &str = "INTERVAL DAY TO SECOND";
    write_rows(frame, |row, out| {
        let parsed = read(row);
        let Some(Moment::Span(micros)) = parsed.value else {
            cast::incorrect(frame.ctx, KIND, &shown(row));
            return false;
        };
        if parsed.truncated {
            frame.ctx.warn(&ER_TRUNCATED_WRONG_VALUE, &[&KIND, &shown(row)]);
        } else if parsed.fraction_cut {
            frame.ctx.note(&ER_TRUNCATED_WRONG_VALUE, &[&KIND, &shown(row)]);
        }
        write_span(micros, frame.ty.decimals, out);
        true
    })
}

fn write_span(micros: i64, fsp: u8, out: &mut Vec<u8>) {
    const DAY: i64 = 86_400 * MICROS_PER_SECOND;
    if micros < 0 {
        out.push(b'-');
    }
    let days = micros.abs() / DAY;
    if days > 0 {
        out.extend_from_slice(format!("{days} ").as_bytes());
    }
    Time(micros.abs() % DAY).truncate_to(fsp).write_to(out, fsp);
}
