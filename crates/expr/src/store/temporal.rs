//! Into DATE, TIME, DATETIME and TIMESTAMP.

use std::sync::Arc;

use selkie_types::temporal::{DateOptions, ParsedTemporal};
use selkie_types::{Column, ColumnData, Date, DateTime, SqlMode, SqlResult, Time, TypeKind};

use super::Source;
use super::report::Report;
use crate::cast::datetime_of_time;
use crate::kernel::NativeOut;

pub(super) fn convert(source: &Source<'_>) -> SqlResult<Arc<Column>> {
    let column = match source.to().kind {
        TypeKind::Time => times(source)?,
        TypeKind::Date => dates(source)?,
        _ => datetimes(source)?,
    };
    Ok(Arc::new(column))
}

fn options(source: &Source<'_>) -> DateOptions {
    let mut options = DateOptions::from(source.report.ctx.types.sql_mode);
    // Zero dates are warnings unless the mode is strict, and are stored in either case.
    if !source.report.is_strict() {
        options.no_zero_in_date = false;
    }
    options
}

fn rounds(source: &Source<'_>) -> bool {
    source.report.ctx.types.sql_mode.contains(SqlMode::TIME_ROUND_FRACTIONAL)
}

/// The date and time of a row, however it is given.
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
        ColumnData::UInt(v) => {
            let v = i64::try_from(v[at]).unwrap_or(i64::MAX);
            DateTime::from_number(v, 0, options)
        }
        ColumnData::Double(v) => DateTime::from_f64(v[at], options),
        ColumnData::Decimal(v) => DateTime::from_decimal(v.get(at), options),
        ColumnData::Bytes(_) => DateTime::parse(&source.ascii(row), options),
    }
}

/// The value, reported if there is none or only a part of the text was used.
fn checked(
    source: &Source<'_>,
    row: usize,
    kind: &str,
    parsed: ParsedTemporal<DateTime>,
) -> SqlResult<DateTime> {
    match parsed.value {
        Some(v) if !parsed.truncated => Ok(v),
        value => {
            source.report.bad_temporal(row, kind, &source.shown(row), Report::truncated)?;
            Ok(value.unwrap_or_default())
        }
    }
}

fn dates(source: &Source<'_>) -> SqlResult<Column> {
    let options = options(source);
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
        let value = checked(source, row, "date", read(source, row, options))?;
        if value.micros_of_day() != 0 {
            source.report.note(row);
        }
        out.push(Some(value.date()));
    }
    Ok(out.finish())
}

/// `YYYY-MM-DD` of an ordinary day: what almost every date in a file is.
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
            out.push(Some(v[source.column.physical_row(row)].truncate_to(to.decimals)));
            continue;
        }
        let value = checked(source, row, "datetime", read(source, row, options))?;
        let value = if rounds(source) {
            value.round_to(to.decimals).unwrap_or(value)
        } else {
            value.truncate_to(to.decimals)
        };
        out.push(Some(if stamp { instant(source, row, value)? } else { value }));
    }
    Ok(out.finish())
}

/// A local time as an instant; outside of the range of TIMESTAMP it is the zero value.
fn instant(source: &Source<'_>, row: usize, local: DateTime) -> SqlResult<DateTime> {
    let zone = &source.report.ctx.types.time_zone;
    if local != DateTime::ZERO
        && !local.date().has_zero_part()
        && let Some(utc) = zone.to_utc(local)
    {
        return Ok(utc);
    }
    if local != DateTime::ZERO {
        let text = source.shown(row);
        source.report.bad_temporal(row, "datetime", &text, Report::out_of_range)?;
    }
    Ok(DateTime::ZERO)
}

fn times(source: &Source<'_>) -> SqlResult<Column> {
    let fsp = source.to().decimals;
    let mut out = NativeOut::<Time>::new(source.rows());
    for row in 0..source.rows() {
        if source.column.is_null(row) {
            out.push(None);
            continue;
        }
        let value = time(source, row)?;
        out.push(Some(if rounds(source) { value.round_to(fsp).0 } else { value.truncate_to(fsp) }));
    }
    Ok(out.finish())
}

fn time(source: &Source<'_>, row: usize) -> SqlResult<Time> {
    let at = source.column.physical_row(row);
    let number = |v: i64| Time::from_number(v < 0, v.unsigned_abs(), 0);
    let parsed = match source.column.data() {
        ColumnData::Time(v) => return Ok(v[at]),
        ColumnData::Date(_) => {
            source.report.note(row);
            return Ok(Time::ZERO);
        }
        ColumnData::DateTime(v) => {
            source.report.note(row);
            return Ok(v[at].time());
        }
        ColumnData::Int(v) => number(v[at]),
        ColumnData::UInt(v) => number(i64::try_from(v[at]).unwrap_or(i64::MAX)),
        ColumnData::Double(v) => Time::from_f64(v[at]),
        ColumnData::Decimal(v) => Time::from_decimal(v.get(at)),
        ColumnData::Bytes(_) => Time::parse(&source.ascii(row), DateOptions::LENIENT),
    };
    let limit = parsed.value.is_some_and(|v| v.0.abs() >= Time::MAX.truncate_to(0).0);
    match parsed.value {
        Some(v) if !parsed.truncated => {
            if has_date(source, row) {
                source.report.note(row);
            }
            Ok(v)
        }
        value => {
            let lenient = if limit { Report::out_of_range } else { Report::truncated };
            source.report.bad_temporal(row, "time", &source.shown(row), lenient)?;
            Ok(value.unwrap_or_default())
        }
    }
}

/// Whether a text has a date before the time, which is dropped with a note.
fn has_date(source: &Source<'_>, row: usize) -> bool {
    let ColumnData::Bytes(v) = source.column.data() else { return false };
    let text = v.get(source.column.physical_row(row));
    text.len() > 10 && text[1..].contains(&b'-')
}
