//! A value of an image, both ways.
//!
//! Must not convert between types: a value of another type than its column's is not written.

use selkie_types::Decimal;

use crate::bytes::{Reader, put_le, put_u32, put_u64};
use crate::error::{DecodeError, DecodeResult};
use crate::images::column::ColumnKind;
use crate::images::decimal::{decimal_bytes, put_decimal, read_decimal};
use crate::images::temporal::{DateTimeValue, DateValue, TimeValue, TimestampValue};

/// A value of a column.
#[derive(Copy, Clone, Debug)]
pub enum Value<'a> {
    /// NULL.
    Null,
    /// An integer, whose sign an image does not say: what is here has one.
    Int(i64),
    /// A year; 0 for 0000.
    Year(u16),
    /// FLOAT.
    Float(f32),
    /// DOUBLE.
    Double(f64),
    /// DECIMAL.
    Decimal(Decimal),
    /// Bits, as bytes from the highest on.
    Bits(&'a [u8]),
    /// DATE.
    Date(DateValue),
    /// TIME.
    Time(TimeValue),
    /// DATETIME.
    DateTime(DateTimeValue),
    /// TIMESTAMP.
    Timestamp(TimestampValue),
    /// A string, a text, a geometry.
    Bytes(&'a [u8]),
    /// Number of a member, from 1 on; 0 for the empty string.
    Enum(u16),
    /// Members, a bit for each from the lowest on.
    Set(u64),
}

/// Year that a year of 1 stands before.
const FIRST_YEAR: u16 = 1900;

/// Bytes before a string of at most `most` bytes.
pub(super) fn string_length_bytes(most: u16) -> usize {
    if most > 255 { 2 } else { 1 }
}

/// Bytes of the length before a value that has one.
fn length_bytes(kind: ColumnKind) -> Option<usize> {
    Some(match kind {
        ColumnKind::Char(most)
        | ColumnKind::Varchar(most)
        | ColumnKind::CompressedVarchar(most) => string_length_bytes(most),
        ColumnKind::Blob(bytes)
        | ColumnKind::CompressedBlob(bytes)
        | ColumnKind::Json(bytes)
        | ColumnKind::Vector(bytes)
        | ColumnKind::Geometry(bytes) => usize::from(bytes),
        _ => return None,
    })
}

impl<'a> Value<'a> {
    /// The next value, which is not NULL.
    pub(crate) fn read(kind: ColumnKind, reader: &mut Reader<'a>) -> DecodeResult<Self> {
        if let Some(bytes) = kind.integer_bytes() {
            let unused = 64 - 8 * bytes as u32;
            let bits = reader.le(bytes, "integer")?;
            return Ok(Value::Int(((bits << unused) as i64) >> unused));
        }
        if let Some(bytes) = length_bytes(kind) {
            let length = reader.le(bytes, "length of a value")?;
            return reader.counted(length, "value").map(Value::Bytes);
        }
        Self::read_fixed(kind, reader)
    }

    /// The next value of a type that says its length.
    fn read_fixed(kind: ColumnKind, reader: &mut Reader<'a>) -> DecodeResult<Self> {
        Ok(match kind {
            ColumnKind::Year => match reader.u8("year")? {
                0 => Value::Year(0),
                year => Value::Year(FIRST_YEAR + u16::from(year)),
            },
            ColumnKind::Float => Value::Float(f32::from_bits(reader.u32("float")?)),
            ColumnKind::Double => Value::Double(f64::from_bits(reader.u64("double")?)),
            ColumnKind::Decimal(precision, scale) => {
                let bytes = reader.bytes(decimal_bytes(precision, scale), "decimal")?;
                Value::Decimal(read_decimal(bytes, precision, scale)?)
            }
            ColumnKind::Bit(bits) => {
                Value::Bits(reader.bytes(usize::from(bits.div_ceil(8)), "bits")?)
            }
            ColumnKind::Date => Value::Date(DateValue::read(reader)?),
            ColumnKind::Time(digits) => Value::Time(TimeValue::read(reader, digits)?),
            ColumnKind::DateTime(digits) => Value::DateTime(DateTimeValue::read(reader, digits)?),
            ColumnKind::Timestamp(digits) => {
                Value::Timestamp(TimestampValue::read(reader, digits)?)
            }
            ColumnKind::OldTime => Value::Time(TimeValue::read_old(reader)?),
            ColumnKind::OldDateTime => Value::DateTime(DateTimeValue::read_old(reader)?),
            ColumnKind::OldTimestamp => Value::Timestamp(TimestampValue::read_old(reader)?),
            ColumnKind::Enum(bytes) => {
                Value::Enum(reader.le(usize::from(bytes), "member of an ENUM")? as u16)
            }
            ColumnKind::Set(bytes) => {
                Value::Set(reader.le(usize::from(bytes), "members of a SET")?)
            }
            _ => return Err(DecodeError::Invalid("value of a column that is always NULL")),
        })
    }

    /// Appends the value; nothing, and false, if it is not one of the column's type.
    pub fn put(&self, kind: ColumnKind, out: &mut Vec<u8>) -> bool {
        match (*self, kind) {
            (Value::Int(number), kind) => {
                let Some(bytes) = kind.integer_bytes() else { return false };
                put_le(out, number as u64, bytes);
            }
            (Value::Bytes(value), kind) => {
                let Some(bytes) = length_bytes(kind) else { return false };
                if value.len() as u64 >> (8 * bytes) != 0 {
                    return false;
                }
                put_le(out, value.len() as u64, bytes);
                out.extend_from_slice(value);
            }
            (Value::Decimal(number), ColumnKind::Decimal(precision, scale)) => {
                return put_decimal(number, precision, scale, out);
            }
            (Value::Bits(bits), ColumnKind::Bit(count)) => {
                if bits.len() != usize::from(count.div_ceil(8)) {
                    return false;
                }
                out.extend_from_slice(bits);
            }
            _ => return self.put_fixed(kind, out),
        }
        true
    }

    /// Appends a value of a type that says its length.
    fn put_fixed(&self, kind: ColumnKind, out: &mut Vec<u8>) -> bool {
        match (*self, kind) {
            (Value::Year(year), ColumnKind::Year) => {
                out.push(year.saturating_sub(FIRST_YEAR) as u8);
            }
            (Value::Float(number), ColumnKind::Float) => put_u32(out, number.to_bits()),
            (Value::Double(number), ColumnKind::Double) => put_u64(out, number.to_bits()),
            (Value::Date(date), ColumnKind::Date) => date.put(out),
            (Value::Time(time), ColumnKind::Time(digits)) => time.put(digits, out),
            (Value::Time(time), ColumnKind::OldTime) => time.put_old(out),
            (Value::DateTime(at), ColumnKind::DateTime(digits)) => at.put(digits, out),
            (Value::DateTime(at), ColumnKind::OldDateTime) => at.put_old(out),
            (Value::Timestamp(at), ColumnKind::Timestamp(digits)) => at.put(digits, out),
            (Value::Timestamp(at), ColumnKind::OldTimestamp) => at.put_old(out),
            (Value::Enum(member), ColumnKind::Enum(bytes)) => {
                put_le(out, u64::from(member), usize::from(bytes));
            }
            (Value::Set(members), ColumnKind::Set(bytes)) => {
                put_le(out, members, usize::from(bytes));
            }
            _ => return false,
        }
        true
    }
}

/// Whether two values are the same bytes in an image: a float that is no number equals itself.
impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Year(a), Value::Year(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
            (Value::Double(a), Value::Double(b)) => a.to_bits() == b.to_bits(),
            (Value::Decimal(a), Value::Decimal(b)) => {
                a.scale() == b.scale() && a.unscaled() == b.unscaled()
            }
            (Value::Bits(a), Value::Bits(b)) | (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::Date(a), Value::Date(b)) => a == b,
            (Value::Time(a), Value::Time(b)) => a == b,
            (Value::DateTime(a), Value::DateTime(b)) => a == b,
            (Value::Timestamp(a), Value::Timestamp(b)) => a == b,
            (Value::Enum(a), Value::Enum(b)) => a == b,
            (Value::Set(a), Value::Set(b)) => a == b,
            _ => false,
        }
    }
}
