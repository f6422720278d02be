//! One parameter value of the binary protocol.
//!
//! Must not interpret text: strings remain bytes in the client's character set.

use crate::error::{DecodeError, DecodeResult};
use crate::field_type::FieldType;
use crate::reader::Reader;
use crate::row::binary::{DateTimeParts, TimeParts};

/// Declared type of a parameter.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ParamType {
    /// Wire type.
    pub field_type: FieldType,
    /// Whether an integer is unsigned.
    pub unsigned: bool,
}

impl ParamType {
    /// Reads the two bytes of a type.
    pub fn decode(r: &mut Reader<'_>) -> DecodeResult<Self> {
        let code = r.u8("parameter type")?;
        let flags = r.u8("parameter flags")?;
        let field_type =
            FieldType::from_code(code).ok_or(DecodeError::Invalid("parameter type"))?;
        Ok(Self { field_type, unsigned: flags & 0x80 != 0 })
    }
}

/// Bytes of an integer as declared.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum IntWidth {
    /// One byte.
    Tiny,
    /// Two bytes.
    Short,
    /// Four bytes.
    Long,
    /// Eight bytes.
    LongLong,
}

/// A parameter value.
#[derive(Clone, Debug, PartialEq)]
pub enum Param<'a> {
    /// NULL.
    Null,
    /// Signed integer.
    Int(i64, IntWidth),
    /// Unsigned integer.
    Uint(u64, IntWidth),
    /// FLOAT.
    Float(f32),
    /// DOUBLE.
    Double(f64),
    /// DECIMAL as text.
    Decimal(&'a [u8]),
    /// DATE, with any parts.
    Date(DateTimeParts),
    /// DATETIME or TIMESTAMP, with any parts.
    DateTime(DateTimeParts),
    /// TIME, with any parts.
    Time(TimeParts),
    /// Character string.
    Text(&'a [u8]),
    /// Byte string.
    Blob(&'a [u8]),
}

impl<'a> Param<'a> {
    /// Reads a value of the declared type.
    pub fn decode(r: &mut Reader<'a>, declared: ParamType) -> DecodeResult<Self> {
        const FIELD: &str = "parameter value";
        let unsigned = declared.unsigned;
        let int = |signed: i64, plain: u64, width| {
            if unsigned { Self::Uint(plain, width) } else { Self::Int(signed, width) }
        };
        Ok(match declared.field_type {
            FieldType::Null => Self::Null,
            FieldType::Tiny => {
                r.u8(FIELD).map(|v| int(i64::from(v as i8), v.into(), IntWidth::Tiny))?
            }
            FieldType::Short | FieldType::Year => {
                r.u16(FIELD).map(|v| int(i64::from(v as i16), v.into(), IntWidth::Short))?
            }
            FieldType::Long | FieldType::Int24 => {
                r.u32(FIELD).map(|v| int(i64::from(v as i32), v.into(), IntWidth::Long))?
            }
            FieldType::LongLong => r.u64(FIELD).map(|v| int(v as i64, v, IntWidth::LongLong))?,
            FieldType::Float => Self::Float(f32::from_bits(r.u32(FIELD)?)),
            FieldType::Double => Self::Double(f64::from_bits(r.u64(FIELD)?)),
            FieldType::OldDecimal | FieldType::NewDecimal => Self::Decimal(r.lenenc_bytes(FIELD)?),
            FieldType::Date | FieldType::NewDate => Self::Date(datetime(r)?),
            FieldType::DateTime | FieldType::Timestamp => Self::DateTime(datetime(r)?),
            FieldType::Time => Self::Time(time(r)?),
            FieldType::DateTime2 | FieldType::Timestamp2 | FieldType::Time2 => {
                return Err(DecodeError::Invalid("parameter type"));
            }
            other => Self::of_string(r.lenenc_bytes(FIELD)?, other),
        })
    }

    /// The value of data that was sent in pieces with `COM_STMT_SEND_LONG_DATA`. Only strings are.
    pub fn of_pieces(bytes: &'a [u8], declared: ParamType) -> DecodeResult<Self> {
        match declared.field_type {
            FieldType::VarChar
            | FieldType::VarString
            | FieldType::String
            | FieldType::Enum
            | FieldType::Set
            | FieldType::Json
            | FieldType::Bit
            | FieldType::TinyBlob
            | FieldType::MediumBlob
            | FieldType::LongBlob
            | FieldType::Blob
            | FieldType::Geometry => Ok(Self::of_string(bytes, declared.field_type)),
            _ => Err(DecodeError::Invalid("type of long data")),
        }
    }

    fn of_string(bytes: &'a [u8], field_type: FieldType) -> Self {
        match field_type {
            FieldType::TinyBlob
            | FieldType::MediumBlob
            | FieldType::LongBlob
            | FieldType::Blob
            | FieldType::Geometry
            | FieldType::Bit => Self::Blob(bytes),
            _ => Self::Text(bytes),
        }
    }
}

fn datetime(r: &mut Reader<'_>) -> DecodeResult<DateTimeParts> {
    const FIELD: &str = "date parameter";
    let len = r.u8(FIELD)?;
    let mut r = Reader::new(r.bytes(len.into(), FIELD)?);
    let mut t = DateTimeParts::default();
    if len >= 4 {
        (t.year, t.month, t.day) = (r.u16(FIELD)?, r.u8(FIELD)?, r.u8(FIELD)?);
    }
    if len >= 7 {
        (t.hour, t.minute, t.second) = (r.u8(FIELD)?, r.u8(FIELD)?, r.u8(FIELD)?);
    }
    if len >= 11 {
        t.micros = r.u32(FIELD)?;
    }
    Ok(t)
}

fn time(r: &mut Reader<'_>) -> DecodeResult<TimeParts> {
    const FIELD: &str = "time parameter";
    let len = r.u8(FIELD)?;
    let mut r = Reader::new(r.bytes(len.into(), FIELD)?);
    let mut t = TimeParts::default();
    if len >= 8 {
        t.negative = r.u8(FIELD)? != 0;
        let days = r.u32(FIELD)?;
        let hour = u32::from(r.u8(FIELD)?);
        t.hours = days.checked_mul(24).and_then(|h| h.checked_add(hour)).unwrap_or(u32::MAX);
        (t.minute, t.second) = (r.u8(FIELD)?, r.u8(FIELD)?);
    }
    if len >= 12 {
        t.micros = r.u32(FIELD)?;
    }
    Ok(t)
}
