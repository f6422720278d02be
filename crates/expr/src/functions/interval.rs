//! `INTERVAL` arithmetic and TIMESTAMPDIFF.
//! The type of the result follows from the type of the date and from the unit, before values are
//! known.

use std::fmt::Display;

use selkie_types::error::catalogue::{ER_DATETIME_FUNCTION_OVERFLOW, ER_TRUNCATED_WRONG_VALUE};
use selkie_types::temporal::{DateOptions, Interval, IntervalUnit, ParsedTemporal};
use selkie_types::{Column, Date, DateTime, Decimal, SqlResult, SqlType, Time, TypeKind, Value};

use crate::cast::{self, DateRule};
use crate::expr::{Call, CallOption, Expr, ExprKind};
use crate::function::{Binding, Function};
use crate::kernel::{Frame, Native, map_rows, write_rows};

pub(crate) static ADD: Function = Function::new("DATE_ADD", 2, 2, bind);
pub(crate) static SUB: Function = Function::new("DATE_SUB", 2, 2, bind);
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

pub(super) fn unit_of(option: &CallOption) -> IntervalUnit {
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
    let ty = &b.args[1].ty;
    let fraction = !(ty.is_integer() || ty.kind == TypeKind::Decimal && ty.decimals == 0);
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
    if crate::json::is_json(&b.args[0]) || b.args[0].ty.is_opaque() {
        b.refuse_json("date_add_interval", Some("interval"))?;
    }
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
        TypeKind::Time if date_unit && unit != IntervalUnit::Day => {
            // A time cannot be moved by months. Compat: nor by weeks.
            b.datetime(0);
            b.maybe(SqlType::datetime(fsp.max(arg_fsp)), |frame| {
                map_rows(frame, |_| Ok(overflow(frame, None::<DateTime>, "time")))
            })
        }
        TypeKind::Time => b.maybe(SqlType::time(fsp.max(arg_fsp)), times),
        _ => bind_text(b, fsp),
    }
}

/// Strings and numbers give strings; dates without time stay dates without time.
fn bind_text(mut b: Binding<'_>, fsp: u8) -> SqlResult<Expr> {
    let digits = fsp.max(digits_of(&b.args[0]));
    if b.args[0].ty.is_numeric() {
        b.decimal(0);
    }
    let numbers = b.args[0].ty.kind == TypeKind::Decimal;
    if !numbers {
        b.ascii_text(0);
    }
    b.connection_collation();
    let fraction = if digits > 0 { u32::from(digits) + 1 } else { 0 };
    let mut ty = SqlType::new(TypeKind::Char, 19 + fraction, 0);
    ty.collation = b.collation;
    b.maybe(ty, if numbers { numbers_moved } else { texts })
}

/// Fraction digits of a time of day that is moved; a date has none.
fn digits_of(e: &Expr) -> u8 {
    match (&e.kind, e.as_literal()) {
        (ExprKind::Call(call), _) if moves(call) => e.ty.length.saturating_sub(20).min(6) as u8,
        (_, Some(Value::Bytes(text))) if DateTime::parse(text, DateOptions::LENIENT).date_only => 0,
        _ => cast::fsp_of(e),
    }
}

fn moves(call: &Call) -> bool {
    std::ptr::eq(call.function, &ADD) || std::ptr::eq(call.function, &SUB)
}

/// The interval of a row; negative for subtraction.
fn amount(frame: &Frame<'_>, row: usize) -> Option<Interval> {
    let unit = unit_of(&frame.call.option);
    let interval = match frame.args[1].value(row) {
        Value::Int(n) => Interval::new(unit, n),
        Value::UInt(n) => Interval::new(unit, i64::try_from(n).unwrap_or(i64::MAX)),
        Value::Decimal(d) => seconds(frame, d)?,
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

/// Seconds with a fraction; `None` beyond the largest amount that is ever added.
fn seconds(frame: &Frame<'_>, value: Decimal) -> Option<Interval> {
    const DIGITS: u32 = 18;
    if value.abs() < Decimal::from(10i64.pow(DIGITS)) {
        return Some(Interval::seconds(value));
    }
    // A double or a text has as many digits as it shows.
    let is_decimal = frame.arg_type(1).decimals <= 6;
    let shown = if is_decimal { value } else { value.normalised() };
    frame.ctx.warn(&ER_TRUNCATED_WRONG_VALUE, &[&"seconds", &shown]);
    None
}

fn overflow<T>(frame: &Frame<'_>, result: Option<T>, kind: &str) -> Option<T> {
    if result.is_none() {
        frame.ctx.warn(&ER_DATETIME_FUNCTION_OVERFLOW, &[&kind]);
    }
    result
}

/// Compat: an instant of year 0 stays if no months are added; no other unit can be added to it.
fn added(frame: &Frame<'_>, value: DateTime, interval: Interval) -> Option<DateTime> {
    use IntervalUnit::{Month, Quarter, Year, YearMonth};
    let is_of_months = matches!(unit_of(&frame.call.option), Year | Quarter | Month | YearMonth);
    match is_of_months && interval == Interval::default() {
        true => Some(value),
        false => value.add_interval(interval),
    }
}

fn moved<T: Native + Display>(
    frame: &Frame<'_>,
    is_real: fn(T) -> bool,
    f: impl Fn(T, Interval) -> Option<T>,
) -> SqlResult<Column> {
    let view = frame.view::<T>(0);
    map_rows(frame, |row| {
        let value = view.value(row);
        if !is_real(value) {
            cast::incorrect(frame.ctx, "datetime", &value.to_string());
            return Ok(None);
        }
        let Some(interval) = amount(frame, row) else { return Ok(None) };
        Ok(overflow(frame, f(value, interval), "datetime"))
    })
}

fn dates(frame: &Frame<'_>) -> SqlResult<Column> {
    let add = |d: Date, interval| added(frame, d.midnight(), interval).map(DateTime::date);
    moved(frame, Date::is_in_calendar, add)
}

fn datetimes(frame: &Frame<'_>) -> SqlResult<Column> {
    let add = |v: DateTime, interval| added(frame, v, interval);
    moved(frame, |v: DateTime| v.date().is_in_calendar(), add)
}

fn times(frame: &Frame<'_>) -> SqlResult<Column> {
    let view = frame.view::<Time>(0);
    map_rows(frame, |row| {
        let Some(interval) = amount(frame, row) else { return Ok(None) };
        Ok(overflow(frame, view.value(row).add_interval(interval), "time"))
    })
}

fn texts(frame: &Frame<'_>) -> SqlResult<Column> {
    let options = DateOptions { allow_invalid: false, ..cast::lenient(frame.ctx) };
    let view = frame.bytes(0);
    let shown = |row: usize| crate::text::for_message(view.value(row), frame.arg_type(0).collation);
    written(frame, |row| DateTime::parse(view.value(row), options), shown)
}

fn numbers_moved(frame: &Frame<'_>) -> SqlResult<Column> {
    let options = DateOptions { allow_invalid: false, ..cast::lenient(frame.ctx) };
    let view = frame.decimals(0);
    let is_double = frame.arg_type(0).decimals > 6;
    let shown = |row: usize| {
        let value = view.value(row);
        if is_double { value.normalised().to_string() } else { value.to_string() }
    };
    written(frame, |row| DateTime::from_decimal(view.value(row), options), shown)
}

/// The text of each row's date, moved by the interval.
fn written(
    frame: &Frame<'_>,
    read: impl Fn(usize) -> ParsedTemporal<DateTime>,
    shown: impl Fn(usize) -> String,
) -> SqlResult<Column> {
    let date_unit = unit_of(&frame.call.option).is_date_unit();
    let digits = frame.ty.length.saturating_sub(20).min(6) as u8;
    write_rows(frame, |row, out| {
        let parsed = read(row);
        let value = cast::settled(frame, parsed, "datetime", || shown(row));
        let Some(result) = value.and_then(|v| moved_real(frame, row, v, parsed.date_only)) else {
            return false;
        };
        if parsed.date_only && date_unit {
            result.date().write_to(out);
        } else {
            result.write_to(out, digits);
        }
        true
    })
}

/// A date moved by the interval of a row; NULL with a warning if it is not in the calendar or
/// leaves it.
fn moved_real(frame: &Frame<'_>, row: usize, value: DateTime, date_only: bool) -> Option<DateTime> {
    if !value.date().is_in_calendar() {
        // Compat: the number 0 is a date with a time.
        let number = frame.arg_type(0).kind == TypeKind::Decimal && value == DateTime::ZERO;
        cast::incorrect(frame.ctx, "datetime", &shown_date(value, date_only && !number));
        return None;
    }
    let interval = amount(frame, row)?;
    overflow(frame, added(frame, value, interval), "datetime")
}

fn shown_date(value: DateTime, date_only: bool) -> String {
    if date_only { value.date().to_string() } else { value.to_string() }
}

fn bind_diff(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.datetime_by(0, DateRule::Real);
    b.datetime_by(1, DateRule::Real);
    b.maybe(SqlType::new(TypeKind::BigInt, 21, 0), |frame| {
        let (a, b) = (frame.view::<DateTime>(0), frame.view::<DateTime>(1));
        let unit = unit_of(&frame.call.option);
        map_rows(frame, |row| Ok(a.value(row).diff(b.value(row), unit)))
    })
}
