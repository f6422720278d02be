//! Types of columns as a TABLE_MAP event has them: a byte each, and metadata whose width the type
//! says.
//!
//! Must not read values.

use crate::bytes::{Reader, put_u16};
use crate::codec::TableMap;
use crate::error::{DecodeError, DecodeResult};

/// The type of a column, with what its metadata says.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// TINYINT.
    Tiny,
    /// SMALLINT.
    Small,
    /// MEDIUMINT.
    Medium,
    /// INT.
    Int,
    /// BIGINT.
    Big,
    /// YEAR.
    Year,
    /// FLOAT.
    Float,
    /// DOUBLE.
    Double,
    /// A column that is always NULL.
    Null,
    /// DECIMAL of a precision and a scale.
    Decimal(u8, u8),
    /// BIT of a number of bits.
    Bit(u16),
    /// DATE.
    Date,
    /// TIME with digits of its fraction.
    Time(u8),
    /// DATETIME with digits of its fraction.
    DateTime(u8),
    /// TIMESTAMP with digits of its fraction.
    Timestamp(u8),
    /// TIME of before MySQL 5.6.
    OldTime,
    /// DATETIME of before MySQL 5.6.
    OldDateTime,
    /// TIMESTAMP of before MySQL 5.6.
    OldTimestamp,
    /// CHAR, BINARY, INET4, INET6 or UUID of at most so many bytes.
    Char(u16),
    /// VARCHAR or VARBINARY of at most so many bytes.
    Varchar(u16),
    /// TEXT or BLOB with so many bytes of length.
    Blob(u8),
    /// A compressed VARCHAR column of MariaDB, whose values are carried as they are.
    CompressedVarchar(u16),
    /// A compressed TEXT or BLOB column of MariaDB, whose values are carried as they are.
    CompressedBlob(u8),
    /// MySQL's JSON with so many bytes of length, in its binary form.
    Json(u8),
    /// MySQL's VECTOR with so many bytes of length.
    Vector(u8),
    /// A geometry with so many bytes of length.
    Geometry(u8),
    /// ENUM whose number has so many bytes.
    Enum(u8),
    /// SET whose bits take so many bytes.
    Set(u8),
}

/// A column of a table that images are of.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its type.
    pub kind: ColumnKind,
    /// Whether it may be NULL.
    pub is_nullable: bool,
}

/// The columns of a table.
pub fn columns(map: &TableMap<'_>) -> DecodeResult<Vec<Column>> {
    let mut metadata = Reader::new(map.metadata);
    let mut out = Vec::with_capacity(map.types.len());
    for (at, code) in map.types.iter().enumerate() {
        let kind = ColumnKind::decode(*code, &mut metadata)?;
        let bits = map.nullable.get(at / 8).copied().unwrap_or_default();
        out.push(Column { kind, is_nullable: bits & (1 << (at % 8)) != 0 });
    }
    Ok(out)
}

const STRING: u8 = 0xfe;
const ENUM: u8 = 0xf7;
const SET: u8 = 0xf8;
/// Bits of the first byte of a string's metadata that are, inverted, the high bits of its length.
const LENGTH_BITS: u8 = 0x30;

impl ColumnKind {
    /// Bytes of an integer; none for other types.
    pub fn integer_bytes(self) -> Option<usize> {
        Some(match self {
            Self::Tiny => 1,
            Self::Small => 2,
            Self::Medium => 3,
            Self::Int => 4,
            Self::Big => 8,
            _ => return None,
        })
    }

    /// From a type and the metadata of this and later columns.
    fn decode(code: u8, metadata: &mut Reader<'_>) -> DecodeResult<Self> {
        let field = "metadata of a type";
        Ok(match code {
            0x01 => Self::Tiny,
            0x02 => Self::Small,
            0x03 => Self::Int,
            0x06 => Self::Null,
            0x07 => Self::OldTimestamp,
            0x08 => Self::Big,
            0x09 => Self::Medium,
            0x0a | 0x0e => Self::Date,
            0x0b => Self::OldTime,
            0x0c => Self::OldDateTime,
            0x0d => Self::Year,
            0x04 | 0x05 => {
                metadata.u8(field)?;
                if code == 0x04 { Self::Float } else { Self::Double }
            }
            0xf6 => decimal(metadata.u8(field)?, metadata.u8(field)?)?,
            0x10 => bit(metadata.u8(field)?, metadata.u8(field)?)?,
            0x0f => Self::Varchar(metadata.u16(field)?),
            0x8d => Self::CompressedVarchar(metadata.u16(field)?),
            0x11 => Self::Timestamp(digits(metadata.u8(field)?)?),
            0x12 => Self::DateTime(digits(metadata.u8(field)?)?),
            0x13 => Self::Time(digits(metadata.u8(field)?)?),
            0xf9..=0xfc => Self::Blob(length_bytes(metadata.u8(field)?)?),
            0x8c => Self::CompressedBlob(length_bytes(metadata.u8(field)?)?),
            0xf5 => Self::Json(length_bytes(metadata.u8(field)?)?),
            0xf2 => Self::Vector(length_bytes(metadata.u8(field)?)?),
            0xff => Self::Geometry(length_bytes(metadata.u8(field)?)?),
            STRING | ENUM | SET => string(metadata.u8(field)?, metadata.u8(field)?)?,
            code => return Err(DecodeError::UnknownType(code)),
        })
    }

    /// The type, and its metadata as one number as `mariadb-binlog -vv` shows it.
    pub fn code_and_metadata(self) -> (u8, u16) {
        let pair = |high: u8, low: u8| u16::from(high) << 8 | u16::from(low);
        match self {
            Self::Tiny => (0x01, 0),
            Self::Small => (0x02, 0),
            Self::Medium => (0x09, 0),
            Self::Int => (0x03, 0),
            Self::Big => (0x08, 0),
            Self::Year => (0x0d, 0),
            Self::Null => (0x06, 0),
            Self::Date => (0x0a, 0),
            Self::OldTime => (0x0b, 0),
            Self::OldDateTime => (0x0c, 0),
            Self::OldTimestamp => (0x07, 0),
            Self::Float => (0x04, 4),
            Self::Double => (0x05, 8),
            Self::Decimal(precision, scale) => (0xf6, pair(precision, scale)),
            Self::Bit(bits) => (0x10, pair((bits / 8) as u8, (bits % 8) as u8)),
            Self::Time(digits) => (0x13, u16::from(digits)),
            Self::DateTime(digits) => (0x12, u16::from(digits)),
            Self::Timestamp(digits) => (0x11, u16::from(digits)),
            Self::Char(most) => {
                let high = (most >> 4) as u8 & LENGTH_BITS;
                (STRING, pair(STRING ^ high, most as u8))
            }
            Self::Varchar(most) => (0x0f, most),
            Self::CompressedVarchar(most) => (0x8d, most),
            Self::Blob(bytes) => (0xfc, u16::from(bytes)),
            Self::CompressedBlob(bytes) => (0x8c, u16::from(bytes)),
            Self::Json(bytes) => (0xf5, u16::from(bytes)),
            Self::Vector(bytes) => (0xf2, u16::from(bytes)),
            Self::Geometry(bytes) => (0xff, u16::from(bytes)),
            Self::Enum(bytes) => (STRING, pair(ENUM, bytes)),
            Self::Set(bytes) => (STRING, pair(SET, bytes)),
        }
    }

    /// Appends type and metadata to those of a TABLE_MAP event.
    pub fn encode(self, types: &mut Vec<u8>, metadata: &mut Vec<u8>) {
        let (code, number) = self.code_and_metadata();
        types.push(code);
        match self {
            // The bits that do not fill a byte come first, as a string's first byte does.
            Self::Bit(_) | Self::Varchar(_) | Self::CompressedVarchar(_) => {
                put_u16(metadata, number);
            }
            Self::Decimal(..) | Self::Char(_) | Self::Enum(_) | Self::Set(_) => {
                metadata.extend_from_slice(&number.to_be_bytes());
            }
            Self::Tiny | Self::Small | Self::Medium | Self::Int | Self::Big | Self::Year => {}
            Self::Null | Self::Date => {}
            Self::OldTime | Self::OldDateTime | Self::OldTimestamp => {}
            _ => metadata.push(number as u8),
        }
    }
}

fn decimal(precision: u8, scale: u8) -> DecodeResult<ColumnKind> {
    use selkie_types::decimal::{MAX_PRECISION, MAX_SCALE};
    let fits = (1..=MAX_PRECISION).contains(&precision) && scale <= precision.min(MAX_SCALE);
    let kind = ColumnKind::Decimal(precision, scale);
    if fits { Ok(kind) } else { Err(DecodeError::Invalid("precision of a decimal")) }
}

fn bit(bits: u8, bytes: u8) -> DecodeResult<ColumnKind> {
    let all = u16::from(bytes) * 8 + u16::from(bits);
    let fits = bits < 8 && (1..=64).contains(&all);
    if fits { Ok(ColumnKind::Bit(all)) } else { Err(DecodeError::Invalid("length of a BIT")) }
}

fn digits(digits: u8) -> DecodeResult<u8> {
    if digits <= 6 { Ok(digits) } else { Err(DecodeError::Invalid("digits of a fraction")) }
}

fn length_bytes(bytes: u8) -> DecodeResult<u8> {
    if (1..=4).contains(&bytes) { Ok(bytes) } else { Err(DecodeError::Invalid("length of a BLOB")) }
}

/// CHAR, ENUM and SET, which have one type: the metadata tells them apart.
fn string(first: u8, second: u8) -> DecodeResult<ColumnKind> {
    if first & LENGTH_BITS != LENGTH_BITS {
        let high = u16::from(first & LENGTH_BITS ^ LENGTH_BITS) << 4;
        return match first | LENGTH_BITS {
            STRING => Ok(ColumnKind::Char(high | u16::from(second))),
            other => Err(DecodeError::UnknownType(other)),
        };
    }
    match (first, second) {
        (STRING, most) => Ok(ColumnKind::Char(u16::from(most))),
        (ENUM, 1 | 2) => Ok(ColumnKind::Enum(second)),
        (SET, 1..=8) => Ok(ColumnKind::Set(second)),
        (other, _) => Err(DecodeError::UnknownType(other)),
    }
}
