//! Storing into DATE, TIME, DATETIME and TIMESTAMP.
//! TIMESTAMPs are stored in UTC: conversion from the session's time zone happens here.

use std::sync::Arc;

use selkie_types::temporal::{DateOptions, ParsedTemporal};
use selkie_types::{
    Column, ColumnData, Date, DateTime, Physical, SqlMode, SqlResult, Time, TypeKind,
};

use super::Source;
use super::report::Report;
use crate::cast::datetime_of_time;
use crate::kernel::NativeOut;
use crate::timezone::TimeZone;

pub(super) fn convert(source: &Source<'_>) -> SqlResult<Arc<Column>> {
    let column = match source.to().kind {
        TypeKind::Time => times(source)?,
        TypeKind::Date => dates(source)?,
        _ => datetimes(source)?,
    };
    Ok(Arc::new(column))
}

fn options(source: &Source<'_>) -> DateOptions {
    DateOptions::from(source.report.ctx.types.sql_mode)
}

fn rounds(source: &Source<'_>) -> bool {
    source.report.ctx.types.sql_mode.contains(SqlMode::TIME_ROUND_FRACTIONAL)
}

/// The date and time of a row, from any type.
fn read(source: &Source<'_>, row: usize, options: DateOptions) -> ParsedTemporal<DateTime> {
    let at = source.column.physical_row(row);
    let valid = |v: DateTime| match v.date().is_valid(options) {
        true => ParsedTemporal::exact(v),
        false => ParsedTemporal::INVALID,
    };
    match source.column.data() {
        ColumnData::Date(v) => valid(DateTime::from_date(v[at])),
        ColumnData::DateTime(v) if source.from.kind == TypeKind::Timestamp => {
            ParsedTemporal::exact(source.report.ctx.types.time_zone.to_local(v[at]))
        }
        ColumnData::DateTime(v) => valid(v[at]),
        ColumnData::Time(v) => ParsedTemporal::exact(datetime_of_time(v[at], source.report.ctx)),
        ColumnData::Int(v) => DateTime::from_number(v[at], 0, options),
        ColumnData::UInt(_) if source.report.was_copied && source.from.kind == TypeKind::Year => {
            DateTime::parse(&source.text(row), options)
        }
        ColumnData::UInt(v) => {
            let v = i64::try_from(v[at]).unwrap_or(i64::MAX);
            DateTime::from_number(v, 0, options)
        }
        // Compat: if a column changes its type, doubles and years are read as texts.
        ColumnData::Double(_) if source.report.was_copied => {
            DateTime::parse(&source.text(row), options)
        }
        ColumnData::Double(v) => DateTime::from_f64(v[at], options),
        ColumnData::Decimal(v) => DateTime::from_decimal(v.get(at), options),
        ColumnData::Bytes(_) => DateTime::parse(&source.ascii(row), options),
    }
}

/// The value; reports a missing value, or one of which only a part was used.
fn checked<T: Default>(
    source: &Source<'_>,
    row: usize,
    wanted: &'static str,
    parsed: ParsedTemporal<T>,
) -> SqlResult<T> {
    // Compat: a fraction in a number that is a date is lost without a warning.
    let told = source.column.physical() == Physical::Bytes || source.report.is_copy();
    let cut = parsed.truncated || (parsed.fraction_cut && parsed.date_only && told);
    let is_date = matches!(source.column.data(), ColumnData::Date(_) | ColumnData::DateTime(_));
    let kind = match (source.to().kind, source.report.is_copy()) {
        (TypeKind::Date, true) if !is_date => parsed.type_name("datetime"),
        (_, true) => parsed.type_name(wanted),
        _ => wanted,
    };
    let report = &source.report;
    match parsed.value {
        Some(v) if !cut && !parsed.fraction_cut => return Ok(v),
        Some(_) if !parsed.truncated && report.is_copy() => {
            report.note_of_copy(row, kind, &source.shown(row));
        }
        // The conversion to a date reports the lost time of day itself.
        Some(_) if !cut => {
            if source.to().kind != TypeKind::Date || parsed.date_only {
                report.note(row);
            }
        }
        // Compat: a zero date that is not accepted is reported as out of range.
        None if is_zero_date(source, row) => {
            report.bad_temporal(row, kind, &source.shown(row), Report::out_of_range)?;
        }
        _ => report.bad_temporal(row, kind, &source.shown(row), Report::truncated)?,
    }
    Ok(parsed.value.unwrap_or_default())
}

/// Whether a value is the zero date, ignoring the sql mode.
fn is_zero_date(source: &Source<'_>, row: usize) -> bool {
    let is_stamp = source.to().kind == TypeKind::Timestamp;
    !is_stamp && read(source, row, DateOptions::LENIENT).value == Some(DateTime::ZERO)
}

fn dates(source: &Source<'_>) -> SqlResult<Column> {
    let options = DateOptions { round: false, ..options(source) };
    let mut out = NativeOut::<Date>::new(source.rows());
    for row in 0..source.rows() {
        if source.column.is_null(row) {
            out.push(None);
            continue;
        }
        if let Some(date) = plain_date(source, row) {
            out.push(Some(date));
            continue;
        }
        let parsed = read(source, row, options);
        let whole = !parsed.truncated;
        let value = checked(source, row, "date", parsed)?;
        let some = value.micros_of_day() != 0 && value.date() != Date::ZERO;
        if some && (whole || source.report.is_copy()) {
            source.report.note(row);
        }
        out.push(Some(value.date()));
    }
    Ok(out.finish())
}

/// A date `YYYY-MM-DD` of an ordinary day: almost every date in a file.
fn plain_date(source: &Source<'_>, row: usize) -> Option<Date> {
    let ColumnData::Bytes(v) = source.column.data() else { return None };
    let text: &[u8; 10] = v.get(source.column.physical_row(row)).try_into().ok()?;
    if text[4] != b'-' || text[7] != b'-' {
        return None;
    }
    let number = |range: std::ops::Range<usize>| {
        text[range]
            .iter()
            .try_fold(0u32, |n, b| b.is_ascii_digit().then(|| n * 10 + u32::from(b - b'0')))
    };
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    Date::checked(year, month, day, DateOptions::REAL)
}

fn datetimes(source: &Source<'_>) -> SqlResult<Column> {
    let options = options(source);
    let to = source.to();
    let stamp = to.kind == TypeKind::Timestamp;
    let same_stamp = stamp && source.from.kind == TypeKind::Timestamp;
    let mut out = NativeOut::<DateTime>::new(source.rows());
    for row in 0..source.rows() {
        if source.column.is_null(row) {
            out.push(None);
            continue;
        }
        if same_stamp && let ColumnData::DateTime(v) = source.column.data() {
            let value = v[source.column.physical_row(row)];
            if value == DateTime::ZERO && options.no_zero_date {
                let text = source.shown(row);
                source.report.bad_temporal(row, "datetime", &text, Report::truncated)?;
            }
            out.push(Some(shortened_stamp(source, row, value)?));
            continue;
        }
        let value = checked(source, row, "datetime", read(source, row, options))?;
        let value = if options.round {
            value.round_to(to.decimals).unwrap_or(value)
        } else {
            value.truncate_to(to.decimals)
        };
        out.push(Some(if stamp { instant(source, row, value)? } else { value }));
    }
    Ok(out.finish())
}

/// An instant with the digits of another TIMESTAMP. Compat: a value that would round out of the
/// range is cut, with a warning.
fn shortened_stamp(source: &Source<'_>, row: usize, value: DateTime) -> SqlResult<DateTime> {
    let fsp = source.to().decimals;
    if !rounds(source) || value.date().has_zero_part() {
        return Ok(value.truncate_to(fsp));
    }
    match value.round_to(fsp).filter(|v| TimeZone::utc().to_utc(*v).is_some()) {
        Some(rounded) => Ok(rounded),
        None => {
            source.report.out_of_range(row)?;
            Ok(value.truncate_to(fsp))
        }
    }
}

/// A local time as an instant; outside TIMESTAMP's range it becomes the zero value.
fn instant(source: &Source<'_>, row: usize, local: DateTime) -> SqlResult<DateTime> {
    let zone = &source.report.ctx.types.time_zone;
    // Compat: ALLOW_INVALID_DATES lets days that do not exist into dates, but not into instants.
    let exists = local.date().is_in_calendar();
    if local != DateTime::ZERO
        && exists
        && let Some(utc) = zone.to_utc(local)
    {
        if zone.is_skipped(local) {
            source.report.skipped_time(row, &source.shown(row))?;
        }
        return Ok(utc);
    }
    if local != DateTime::ZERO {
        let text = source.shown(row);
        let lenient = if !exists { Report::truncated } else { Report::out_of_range };
        source.report.bad_instant(row, &text, lenient)?;
    }
    Ok(DateTime::ZERO)
}

fn times(source: &Source<'_>) -> SqlResult<Column> {
    let fsp = source.to().decimals;
    let round = rounds(source);
    let mut out = NativeOut::<Time>::new(source.rows());
    for row in 0..source.rows() {
        if source.column.is_null(row) {
            out.push(None);
            continue;
        }
        let value = time(source, row, round)?;
        out.push(Some(if round { rounded(source, row, value)? } else { value.truncate_to(fsp) }));
    }
    Ok(out.finish())
}

fn rounded(source: &Source<'_>, row: usize, value: Time) -> SqlResult<Time> {
    let (value, too_large) = value.round_to(source.to().decimals);
    if too_large {
        source.report.bad_temporal(row, "time", &source.shown(row), Report::out_of_range)?;
    }
    Ok(value)
}

fn time(source: &Source<'_>, row: usize, round: bool) -> SqlResult<Time> {
    let at = source.column.physical_row(row);
    let number = |v: i64| Time::from_number(v < 0, v.unsigned_abs(), 0);
    let parsed = match source.column.data() {
        ColumnData::Time(v) => return Ok(v[at]),
        // Compat: dropping a zero date is not reported.
        ColumnData::Date(v) => {
            if !v[at].is_zero() {
                source.report.note(row);
            }
            return Ok(Time::ZERO);
        }
        ColumnData::DateTime(v) => {
            if !v[at].date().is_zero() {
                source.report.note(row);
            }
            return Ok(v[at].time());
        }
        ColumnData::Int(v) => number(v[at]),
        ColumnData::UInt(v) => number(i64::try_from(v[at]).unwrap_or(i64::MAX)),
        // Compat: if a column of doubles becomes one of times, its values are read as texts.
        ColumnData::Double(_) if source.report.was_copied => {
            Time::parse(&source.text(row), DateOptions { round, ..DateOptions::LENIENT })
        }
        ColumnData::Double(v) => Time::from_f64(v[at], round),
        ColumnData::Decimal(v) => Time::from_decimal(v.get(at), round),
        ColumnData::Bytes(_) => {
            let options = DateOptions { allow_invalid: false, round, ..options(source) };
            Time::parse(&source.ascii(row), options)
        }
    };
    let limit = parsed.value.is_some_and(|v| v.0.abs() >= Time::MAX.truncate_to(0).0);
    match parsed.value {
        Some(v) if parsed.truncated && limit => {
            source.report.bad_temporal(row, "time", &source.shown(row), Report::out_of_range)?;
            Ok(v)
        }
        Some(v) if !parsed.truncated && (parsed.from_datetime || has_date(source, row)) => {
            let text = || source.shown(row);
            match is_zero_date(source, row) {
                false => source.report.note(row),
                true if !options(source).no_zero_date => {}
                true => source.report.bad_temporal(row, "time", &text(), Report::out_of_range)?,
            }
            Ok(v)
        }
        _ => checked(source, row, "time", parsed),
    }
}

/// Whether a text has a date before the time; the date is dropped with a note.
fn has_date(source: &Source<'_>, row: usize) -> bool {
    let ColumnData::Bytes(v) = source.column.data() else { return false };
    let text = v.get(source.column.physical_row(row));
    text.len() > 10 && text[1..].contains(&b'-')
}
