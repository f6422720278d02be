//! Storing into numeric columns: integers, BIT, YEAR, FLOAT, DOUBLE, DECIMAL.
//! Most rows take the fast path, in which every value fits and nothing is reported.

use std::sync::Arc;

use selkie_types::decimal::Fit;
use selkie_types::number::{
    Rest, largest_of_digits, parse_f64, parse_integer, parse_integer_rounded, round_fraction,
};
use selkie_types::{
    Column, ColumnData, Date, DateTime, Decimal, DecimalValues, Physical, SqlResult, Time,
    TypeKind, Value,
};

use super::Source;
use super::report::Report;
use crate::kernel::{DecimalOut, Native, NativeOut};

/// The smallest and largest value of an integer type.
fn range(ty: &selkie_types::SqlType) -> (i128, i128) {
    let bits = match ty.kind {
        TypeKind::TinyInt => 8,
        TypeKind::SmallInt => 16,
        TypeKind::MediumInt => 24,
        TypeKind::Int => 32,
        TypeKind::Bit => return (0, (1i128 << ty.length.clamp(1, 64)) - 1),
        _ => 64,
    };
    if ty.unsigned {
        (0, (1i128 << bits) - 1)
    } else {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    }
}

/// Stores into TINYINT to BIGINT.
pub(super) fn integers(source: &Source<'_>) -> SqlResult<Arc<Column>> {
    let (low, high) = range(source.to());
    if let (ColumnData::Int(v), Physical::Int) = (source.column.data(), source.to().physical())
        && v.iter().all(|&v| (low..=high).contains(&i128::from(v)))
    {
        return Ok(source.column.clone());
    }
    let fit = |row: usize, v: i128| -> SqlResult<i128> {
        if (low..=high).contains(&v) {
            return Ok(v);
        }
        // Compat: overflow of a decimal beyond 64 bits is reported first, then overflow of the
        // column.
        if source.to().kind != TypeKind::BigInt {
            decimal_overflow(source, row)?;
        }
        source.report.out_of_range(row)?;
        Ok(v.clamp(low, high))
    };
    match source.to().physical() {
        Physical::UInt => each(source, |row, v| Ok(fit(row, v)? as u64)),
        _ => each(source, |row, v| Ok(fit(row, v)? as i64)),
    }
}

/// Converts every row to an integer, then by `f`.
fn each<R: Native>(
    source: &Source<'_>,
    f: impl Fn(usize, i128) -> SqlResult<R>,
) -> SqlResult<Arc<Column>> {
    let column = &**source.column;
    let mut out = NativeOut::new(source.rows());
    for row in 0..source.rows() {
        if column.is_null(row) {
            out.push(None);
            continue;
        }
        let at = column.physical_row(row);
        let value = match column.data() {
            ColumnData::Int(v) => v[at].into(),
            ColumnData::UInt(v) => v[at].into(),
            _ if reads_old(source) => old_integer(source, row)?,
            ColumnData::Double(v) => double(v[at], source.to().kind == TypeKind::Year),
            ColumnData::Decimal(v) => decimal(v.get(at), source.to().physical() == Physical::UInt),
            ColumnData::Date(v) => v[at].to_number().into(),
            ColumnData::Time(v) => v[at].to_number().into(),
            ColumnData::DateTime(v) => v[at].to_number().into(),
            ColumnData::Bytes(_) => integer_text(source, row)?,
        };
        out.push(Some(f(row, value)?));
    }
    Ok(Arc::new(out.finish()))
}

/// Compat: for a YEAR, the fraction of a double is cut off, and a value just below zero is out of
/// range.
fn double(v: f64, is_year: bool) -> i128 {
    match (is_year, v as i128) {
        (false, _) => v.round_ties_even() as i128,
        (true, 0) if v < 0.0 => -1,
        (true, whole) => whole,
    }
}

/// A decimal as an integer; for unsigned targets a value just below zero is out of range.
fn decimal(v: Decimal, keeps_sign: bool) -> i128 {
    match v.to_i128() {
        Some(0) if keeps_sign && v.is_negative() => -1,
        Some(rounded) => rounded,
        None if v.is_negative() => i128::MIN,
        None => i128::MAX,
    }
}

fn integer_text(source: &Source<'_>, row: usize) -> SqlResult<i128> {
    let bytes = source.ascii(row);
    if let Some(v) = plain_integer(&bytes) {
        return Ok(v);
    }
    let parsed = parse_integer_rounded(&bytes);
    // A value beyond 64 bits stays out of range here, so that the range check reports it.
    let value = match parsed.overflow {
        true if parsed.value < 0 => i128::MIN,
        true => i128::MAX,
        false => parsed.value,
    };
    // Compat: for a number out of range, the text after it is not reported.
    let (low, high) = match source.to().kind {
        TypeKind::Year => (0, 2155),
        _ => range(source.to()),
    };
    if (low..=high).contains(&value) {
        judge(source, row, "integer", parsed.consumed, parsed.rest)?;
    }
    Ok(value)
}

/// Whether the values of a changed column are first read as integers and then stored.
fn reads_old(source: &Source<'_>) -> bool {
    let to = source.to();
    let text = source.from.is_string() && source.from.fixed_binary().is_none();
    source.report.was_copied
        && match source.column.data() {
            ColumnData::Bytes(_) => text && !source.report.is_written && to.kind != TypeKind::Year,
            ColumnData::Double(_) => to.kind != TypeKind::Year,
            ColumnData::Decimal(_) => {
                !to.unsigned && to.kind != TypeKind::Year && to.kind != TypeKind::Bit
            }
            _ => false,
        }
}

/// The integer in a value of a changed column. Compat: texts are read up to the first non-digit,
/// other numbers are rounded, all to signed 64 bits.
fn old_integer(source: &Source<'_>, row: usize) -> SqlResult<i128> {
    let (low, high) = (i128::from(i64::MIN), i128::from(i64::MAX));
    let at = source.column.physical_row(row);
    let value = match source.column.data() {
        ColumnData::Double(v) => v[at].round_ties_even() as i128,
        ColumnData::Decimal(v) => decimal(v.get(at), false),
        _ => {
            let parsed = parse_integer(&source.ascii(row));
            if !matches!(parsed.rest, Rest::None) {
                let spaces = matches!(parsed.rest, Rest::Spaces);
                source.report.truncated_integer(&source.shown(row), spaces)?;
            }
            return Ok(parsed.value.clamp(low, high));
        }
    };
    let is_float = source.from.kind == TypeKind::Float;
    if !(low..=high).contains(&value) && !is_float {
        source.report.integer_overflow(&source.shown(row))?;
    }
    Ok(value.clamp(low, high))
}

/// 1264 for a decimal beyond 64 bits, signed or unsigned like the column.
fn decimal_overflow(source: &Source<'_>, row: usize) -> SqlResult<()> {
    let ColumnData::Decimal(v) = source.column.data() else { return Ok(()) };
    let unsigned = source.to().physical() == Physical::UInt;
    let value = decimal(v.get(source.column.physical_row(row)), false);
    let (low, high) = match unsigned {
        true => (i128::MIN, i128::from(u64::MAX)),
        false => (i128::from(i64::MIN), i128::from(i64::MAX)),
    };
    match reads_old(source) || (low..=high).contains(&value) {
        true => Ok(()),
        false => source.report.out_of_range(row),
    }
}

/// A text of up to 18 digits with an optional minus sign: almost every number in a file.
fn plain_integer(bytes: &[u8]) -> Option<i128> {
    let (negative, digits) = match bytes {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut value = 0i64;
    for b in digits {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some(if negative { -value } else { value }.into())
}

/// Reports a text that is a number only in part, or not at all.
fn judge(
    source: &Source<'_>,
    row: usize,
    kind: &str,
    consumed: usize,
    rest: Rest,
) -> SqlResult<()> {
    match rest {
        Rest::None => Ok(()),
        Rest::Spaces => {
            source.report.note(row);
            Ok(())
        }
        Rest::Garbage if consumed == 0 => source.report.incorrect(row, kind, &source.shown(row)),
        Rest::Garbage => source.report.truncated(row),
    }
}

/// Stores into BIT and YEAR.
pub(super) fn special(source: &Source<'_>) -> SqlResult<Arc<Column>> {
    if source.to().kind == TypeKind::Year {
        return each(source, |row, v| year(source, row, v));
    }
    let (_, high) = range(source.to());
    // Compat: dates and times store the bytes of their text, like strings.
    let copied = source.report.was_copied && !source.report.is_written;
    if !copied && (source.column.physical() == Physical::Bytes || source.from.is_temporal()) {
        return bits_of_bytes(source, high);
    }
    each(source, |row, v| {
        // Compat: numbers store their bits in 64 bits. A double loses its fraction, and beyond 64
        // bits it is the least number. A negative decimal becomes 0.
        let v = match source.column.data() {
            _ if copied && !matches!(source.column.data(), ColumnData::Decimal(_)) => {
                i128::from(v as u64)
            }
            ColumnData::Int(_) => i128::from(v as u64),
            ColumnData::Double(d) => {
                let v = d[source.column.physical_row(row)];
                let beyond = !(-9.3e18..9_223_372_036_854_775_808.0).contains(&v);
                i128::from(if beyond { i64::MIN as u64 } else { v as i64 as u64 })
            }
            ColumnData::Decimal(d) if d.get(source.column.physical_row(row)).is_negative() => {
                source.report.out_of_range(row)?;
                return Ok(0);
            }
            _ => v,
        };
        if (0..=high).contains(&v) {
            return Ok(v as u64);
        }
        if high < i128::from(u64::MAX) {
            decimal_overflow(source, row)?;
        }
        bit_overflow(source, row)?;
        Ok(high as u64)
    })
}

fn bit_overflow(source: &Source<'_>, row: usize) -> SqlResult<()> {
    if source.report.is_strict() {
        source.report.too_long(row)
    } else {
        source.report.out_of_range(row)
    }
}

fn bits_of_bytes(source: &Source<'_>, high: i128) -> SqlResult<Arc<Column>> {
    let mut out = NativeOut::new(source.rows());
    for row in 0..source.rows() {
        if source.column.is_null(row) {
            out.push(None);
            continue;
        }
        let bytes = match source.from.is_temporal() {
            true => source.text(row).into(),
            false => std::borrow::Cow::from(source.column.bytes(row)),
        };
        let first = bytes.iter().position(|&b| b != 0).unwrap_or(bytes.len());
        let significant = &bytes[first..];
        let value = i128::from(crate::cast::integer_of_hex(significant));
        if significant.len() > 8 || value > high {
            bit_overflow(source, row)?;
            out.push(Some(high as u64));
        } else {
            out.push(Some(value as u64));
        }
    }
    Ok(Arc::new(out.finish()))
}

/// A year: one or two digits are 1970 to 2069; `'0'` and `'00'` are 2000; the number 0 is 0.
fn year(source: &Source<'_>, row: usize, v: i128) -> SqlResult<u64> {
    if let Physical::Date | Physical::DateTime | Physical::Time = source.column.physical() {
        return year_of(source, row);
    }
    let is_text = source.column.physical() == Physical::Bytes;
    // Compat: only the text `0000` is the year 0.
    let other = is_text && source.column.bytes(row).len() != 4;
    Ok(match v {
        0 if other && source.column.bytes(row).contains(&b'0') => 2000,
        // Compat: the number 0 is 2000 in YEAR(2).
        0 if !is_text && source.to().length == 2 => 2000,
        0 => 0,
        1..70 => v as u64 + 2000,
        70..100 => v as u64 + 1900,
        1901..=2155 => v as u64,
        _ => {
            decimal_overflow(source, row)?;
            source.report.out_of_range(row)?;
            0
        }
    })
}

/// The year of a date, which holds more than a YEAR can store.
fn year_of(source: &Source<'_>, row: usize) -> SqlResult<u64> {
    let year: u64 = match source.column.value(row) {
        Value::Date(v) => v.year().into(),
        Value::DateTime(v) => v.year().into(),
        _ => 0,
    };
    let year = match year {
        0 | 1901..=2155 => year,
        // Compat: the first years are taken for years of two digits.
        1..70 => year + 2000,
        70..100 => year + 1900,
        _ => {
            source.report.out_of_range(row)?;
            return Ok(0);
        }
    };
    if source.report.was_copied {
        source.report.truncated(row)?;
        return Ok(year);
    }
    let kind = source.from.name();
    source.report.bad_temporal(row, kind, &source.shown(row), Report::truncated)?;
    Ok(year)
}

/// Stores into FLOAT and DOUBLE.
pub(super) fn doubles(source: &Source<'_>) -> SqlResult<Arc<Column>> {
    let column = &**source.column;
    let mut out = NativeOut::new(source.rows());
    for row in 0..source.rows() {
        if column.is_null(row) {
            out.push(None);
            continue;
        }
        let at = column.physical_row(row);
        let value = match column.data() {
            ColumnData::Int(v) => v[at] as f64,
            // Compat: the highest of 64 bits is a sign if a column changes its type.
            ColumnData::UInt(v)
                if source.report.was_copied && source.from.kind == TypeKind::Bit =>
            {
                v[at] as i64 as f64
            }
            ColumnData::UInt(v) => v[at] as f64,
            ColumnData::Double(v) => v[at],
            ColumnData::Decimal(v) => v.get(at).to_f64(),
            ColumnData::Date(v) => v[at].to_number().into(),
            ColumnData::Time(v) => Time::to_f64(v[at]),
            ColumnData::DateTime(v) => DateTime::to_f64(v[at]),
            ColumnData::Bytes(_) => double_text(source, row)?,
        };
        out.push(Some(fit_double(source, row, value)?));
    }
    Ok(Arc::new(out.finish()))
}

fn double_text(source: &Source<'_>, row: usize) -> SqlResult<f64> {
    let parsed = parse_f64(&source.ascii(row));
    if parsed.overflow {
        source.report.out_of_range(row)?;
        return Ok(parsed.value);
    }
    judge(source, row, "double", parsed.consumed, parsed.rest)?;
    Ok(parsed.value)
}

fn fit_double(source: &Source<'_>, row: usize, value: f64) -> SqlResult<f64> {
    let ty = source.to();
    let mut value = value;
    let mut limit = if ty.kind == TypeKind::Float { f64::from(f32::MAX) } else { f64::MAX };
    let negative = ty.unsigned && value < 0.0;
    if ty.decimals < selkie_types::NOT_FIXED_DECIMALS {
        value = round_fraction(value, ty.decimals);
        limit = limit.min(largest_of_digits(ty.length, ty.decimals));
    }
    let low = if ty.unsigned { 0.0 } else { -limit };
    if negative || value.is_nan() || value < low || value > limit {
        source.report.out_of_range(row)?;
        value = if value.is_nan() { 0.0 } else { value.clamp(low, limit) };
    }
    Ok(if ty.kind == TypeKind::Float { f64::from(value as f32) } else { value })
}

/// Stores into DECIMAL.
pub(super) fn decimals(source: &Source<'_>) -> SqlResult<Arc<Column>> {
    if same_decimals(source) {
        return Ok(source.column.clone());
    }
    let column = &**source.column;
    let mut out = DecimalOut::new(source.to().decimals, source.rows());
    for row in 0..source.rows() {
        if column.is_null(row) {
            out.push(None);
            continue;
        }
        let at = column.physical_row(row);
        let value = match column.data() {
            ColumnData::Int(v) => Decimal::from(v[at]),
            ColumnData::UInt(v) => Decimal::from(v[at]),
            ColumnData::Double(v) => decimal_of_double(v[at]),
            ColumnData::Decimal(v) => v.get(at),
            ColumnData::Date(v) => Decimal::from(i64::from(Date::to_number(v[at]))),
            ColumnData::Time(v) => v[at].to_decimal(),
            ColumnData::DateTime(v) => v[at].to_decimal(),
            ColumnData::Bytes(_) => decimal_text(source, row)?,
        };
        out.push(Some(fit_decimal(source, row, value)?));
    }
    Ok(Arc::new(out.finish()))
}

fn decimal_text(source: &Source<'_>, row: usize) -> SqlResult<Decimal> {
    let parsed = Decimal::parse(&source.ascii(row));
    if !parsed.overflow {
        judge(source, row, "decimal", parsed.consumed, parsed.rest)?;
    }
    if parsed.truncated && parsed.value.is_zero() && !parsed.overflow {
        source.report.note(row);
    }
    Ok(parsed.value)
}

/// Whether all values have the column's scale and few enough digits.
fn same_decimals(source: &Source<'_>) -> bool {
    let to = source.to();
    let ColumnData::Decimal(d) = source.column.data() else { return false };
    let DecimalValues::I64(v) = d.values() else { return false };
    if d.scale() != to.decimals {
        return false;
    }
    let limit = 10i128.checked_pow(to.length.min(38)).unwrap_or(i128::MAX);
    let low = if to.unsigned { -1 } else { -limit };
    v.iter().all(|&v| i128::from(v) < limit && i128::from(v) > low)
}

fn decimal_of_double(v: f64) -> Decimal {
    Decimal::from_f64(v).unwrap_or_else(|| {
        let max = Decimal::max_value(65, 0);
        if v < 0.0 { -max } else { max }
    })
}

fn fit_decimal(source: &Source<'_>, row: usize, value: Decimal) -> SqlResult<Decimal> {
    let to = source.to();
    if to.unsigned && value.is_negative() {
        source.report.out_of_range(row)?;
        return Ok(Decimal::new(ethnum::I256::ZERO, to.decimals));
    }
    let (fitted, fit) = value.fit(to.length.clamp(1, 65) as u8, to.decimals);
    match fit {
        Fit::Clamped => source.report.out_of_range(row)?,
        Fit::Rounded => source.report.note(row),
        _ => {}
    }
    Ok(fitted)
}
