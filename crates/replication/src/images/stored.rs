//! Images of rows in their stored form: each column is copied or converted by a step that was
//! chosen once for the table.
//!
//! Must not read columns that an image does not have. Must not trust a row: it comes from disk.

use selkie_types::temporal::{Date, DateTime, Time};
use selkie_types::{CollationId, Decimal, FixedBinary, RowCorrupt, RowLayout, SqlType, TypeKind};

use crate::bytes::{put_be, put_le};
use crate::images::column::ColumnKind;
use crate::images::decimal::put_decimal;
use crate::images::temporal::{DateTimeValue, DateValue, TimeValue, TimestampValue};
use crate::images::value::string_length_bytes;

/// Step that writes a column's value.
#[derive(Copy, Clone, Debug)]
enum Step {
    /// The first so many stored bytes.
    Copy(u8),
    /// The stored bytes behind a length of so many bytes.
    Counted(u8),
    /// As `Counted`, without the zeros at the end.
    CountedWithoutZeros(u8),
    /// As `CountedWithoutZeros`, with the bytes in the order of the text.
    Uuid,
    /// So many bytes from the highest on.
    Bits(u8),
    /// Years since 1900 in one byte.
    Year,
    /// A number of so many digits, so many of them behind the point.
    Decimal(u8, u8),
    Date,
    Time(u8),
    DateTime(u8),
    Timestamp(u8),
}

/// The images of a table's rows, with some of its columns.
#[derive(Clone, Debug)]
pub struct StoredRows {
    steps: Vec<(usize, Step)>,
}

/// Year of the stored year 1.
const FIRST_YEAR: u16 = 1900;

impl StoredRows {
    /// Images of the columns whose bits are set in `present`, from the lowest on.
    pub fn new(layout: &RowLayout, present: &[u8]) -> Self {
        let is_present = |at: usize| present.get(at / 8).is_some_and(|b| b & (1 << (at % 8)) != 0);
        let columns = layout.columns().iter().enumerate().filter(|(at, _)| is_present(*at));
        Self { steps: columns.map(|(at, column)| (at, step_of(&column.ty))).collect() }
    }

    /// Appends the image of a row. After an error `out` holds a part of it.
    pub fn put(&self, layout: &RowLayout, row: &[u8], out: &mut Vec<u8>) -> Result<(), RowCorrupt> {
        let nulls = out.len();
        // The unused bits of the last byte are set.
        out.resize(nulls + self.steps.len().div_ceil(8), 0xff);
        for (at, (column, step)) in self.steps.iter().enumerate() {
            if layout.is_null(row, *column)? {
                continue;
            }
            if let Some(byte) = out.get_mut(nulls + at / 8) {
                *byte &= !(1 << (at % 8));
            }
            step.put(layout.stored(row, *column)?, out)?;
        }
        Ok(())
    }
}

impl Step {
    #[inline]
    fn put(self, stored: &[u8], out: &mut Vec<u8>) -> Result<(), RowCorrupt> {
        match self {
            Self::Copy(bytes) => {
                out.extend_from_slice(stored.get(..usize::from(bytes)).ok_or(RowCorrupt)?);
            }
            Self::Counted(width) => put_counted(stored, width, out),
            Self::CountedWithoutZeros(width) => put_counted(without_zeros(stored), width, out),
            Self::Uuid => {
                let mut text = Vec::with_capacity(FixedBinary::Uuid.width());
                FixedBinary::Uuid.write_bytes(stored, &mut text);
                put_counted(without_zeros(&text), 1, out);
            }
            Self::Bits(bytes) => put_be(out, word(stored)?, usize::from(bytes)),
            Self::Year => {
                out.push(u16::from_le_bytes(array(stored)?).saturating_sub(FIRST_YEAR) as u8)
            }
            Self::Decimal(precision, scale) => put_stored_decimal(stored, precision, scale, out)?,
            Self::Date => date(Date(u32::from_le_bytes(array(stored)?))).put(out),
            Self::Time(digits) => time(Time(word(stored)? as i64)).put(digits, out),
            Self::DateTime(digits) => datetime(DateTime(word(stored)? as i64)).put(digits, out),
            Self::Timestamp(digits) => timestamp(DateTime(word(stored)? as i64)).put(digits, out),
        }
        Ok(())
    }
}

fn put_counted(value: &[u8], width: u8, out: &mut Vec<u8>) {
    put_le(out, value.len() as u64, usize::from(width));
    out.extend_from_slice(value);
}

fn without_zeros(bytes: &[u8]) -> &[u8] {
    let kept = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    bytes.get(..kept).unwrap_or(bytes)
}

fn array<const N: usize>(stored: &[u8]) -> Result<[u8; N], RowCorrupt> {
    stored.first_chunk().copied().ok_or(RowCorrupt)
}

fn word(stored: &[u8]) -> Result<u64, RowCorrupt> {
    array(stored).map(u64::from_le_bytes)
}

fn put_stored_decimal(
    stored: &[u8],
    precision: u8,
    scale: u8,
    out: &mut Vec<u8>,
) -> Result<(), RowCorrupt> {
    use ethnum::I256;
    let unscaled = match stored.len() {
        8 => I256::from(word(stored)? as i64),
        16 => I256::from(i128::from_le_bytes(array(stored)?)),
        _ => I256::from_le_bytes(array(stored)?),
    };
    match put_decimal(Decimal::new(unscaled, scale), precision, scale, out) {
        true => Ok(()),
        false => Err(RowCorrupt),
    }
}

fn date(date: Date) -> DateValue {
    DateValue { year: date.year() as u16, month: date.month() as u8, day: date.day() as u8 }
}

fn time(time: Time) -> TimeValue {
    TimeValue {
        is_negative: time.is_negative(),
        hours: time.hour() as u16,
        minutes: time.minute() as u8,
        seconds: time.second() as u8,
        micros: time.micros(),
    }
}

fn datetime(at: DateTime) -> DateTimeValue {
    DateTimeValue {
        date: date(at.date()),
        hour: at.hour() as u8,
        minute: at.minute() as u8,
        second: at.second() as u8,
        micros: at.micros(),
    }
}

/// The zero date has the number zero.
fn timestamp(at: DateTime) -> TimestampValue {
    if at == DateTime::ZERO {
        return TimestampValue::default();
    }
    let micros = at.unix_micros().max(0) as u64;
    TimestampValue { seconds: (micros / 1_000_000) as u32, micros: (micros % 1_000_000) as u32 }
}

fn step_of(ty: &SqlType) -> Step {
    match (kind_of(ty), ty.kind) {
        (_, TypeKind::Uuid) => Step::Uuid,
        (ColumnKind::Char(most), _) if ty.collation == CollationId::BINARY => {
            Step::CountedWithoutZeros(string_length_bytes(most) as u8)
        }
        (ColumnKind::Char(most) | ColumnKind::Varchar(most), _) => {
            Step::Counted(string_length_bytes(most) as u8)
        }
        (ColumnKind::Blob(bytes) | ColumnKind::Geometry(bytes), _) => Step::Counted(bytes),
        (ColumnKind::Enum(bytes) | ColumnKind::Set(bytes), _) => Step::Copy(bytes),
        (ColumnKind::Bit(bits), _) => Step::Bits(bits.div_ceil(8) as u8),
        (ColumnKind::Year, _) => Step::Year,
        (ColumnKind::Decimal(precision, scale), _) => Step::Decimal(precision, scale),
        (ColumnKind::Date, _) => Step::Date,
        (ColumnKind::Time(digits), _) => Step::Time(digits),
        (ColumnKind::DateTime(digits), _) => Step::DateTime(digits),
        (ColumnKind::Timestamp(digits), _) => Step::Timestamp(digits),
        // Integers and floats are stored as they are in images.
        _ => Step::Copy(ty.fixed_width().unwrap_or_default() as u8),
    }
}

/// The type of a column in a TABLE_MAP event.
pub fn kind_of(ty: &SqlType) -> ColumnKind {
    let most = || (ty.length as usize * ty.collation.charset().max_len()).min(65_535) as u16;
    let members = || ty.members.as_ref().map_or(0, |members| members.len());
    if ty.geometry.is_some() {
        return ColumnKind::Geometry(4);
    }
    match ty.kind {
        TypeKind::Null => ColumnKind::Null,
        TypeKind::TinyInt => ColumnKind::Tiny,
        TypeKind::SmallInt => ColumnKind::Small,
        TypeKind::MediumInt => ColumnKind::Medium,
        TypeKind::Int => ColumnKind::Int,
        TypeKind::BigInt => ColumnKind::Big,
        TypeKind::Float => ColumnKind::Float,
        TypeKind::Double => ColumnKind::Double,
        TypeKind::Decimal => ColumnKind::Decimal(ty.length as u8, ty.decimals),
        TypeKind::Bit => ColumnKind::Bit(ty.length as u16),
        TypeKind::Year => ColumnKind::Year,
        TypeKind::Date => ColumnKind::Date,
        TypeKind::Time => ColumnKind::Time(ty.decimals),
        TypeKind::DateTime => ColumnKind::DateTime(ty.decimals),
        TypeKind::Timestamp => ColumnKind::Timestamp(ty.decimals),
        TypeKind::Char => ColumnKind::Char(most()),
        TypeKind::VarChar => ColumnKind::Varchar(most()),
        TypeKind::TinyText => ColumnKind::Blob(1),
        TypeKind::Text => ColumnKind::Blob(2),
        TypeKind::MediumText => ColumnKind::Blob(3),
        TypeKind::LongText => ColumnKind::Blob(4),
        TypeKind::Enum => ColumnKind::Enum(if members() > 255 { 2 } else { 1 }),
        TypeKind::Set => ColumnKind::Set(match members().div_ceil(8) {
            0 | 1 => 1,
            bytes @ 2..=4 => bytes as u8,
            _ => 8,
        }),
        TypeKind::Inet4 => ColumnKind::Char(4),
        TypeKind::Inet6 | TypeKind::Uuid => ColumnKind::Char(16),
    }
}
