//! SQL types of MariaDB: the set of values a column, parameter or expression result may have.
//!
//! A type says how values are compared, stored and described to a client. It never holds a value.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::FixedBinary;
use crate::Geometry;
use crate::charset::CollationId;

/// The type families of MariaDB's protocol and `SHOW COLUMNS`.
///
/// As in MariaDB, a binary string is a character string with the `binary` collation: `BINARY(n)`
/// is `Char`, `VARBINARY(n)` is `VarChar` and the `BLOB`s are the `Text`s of that collation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TypeKind {
    /// The type of a bare `NULL`.
    Null,
    /// 1 byte.
    TinyInt,
    /// 2 bytes.
    SmallInt,
    /// 3 bytes.
    MediumInt,
    /// 4 bytes.
    Int,
    /// 8 bytes.
    BigInt,
    /// IEEE single precision.
    Float,
    /// IEEE double precision.
    Double,
    /// Exact decimal of `length` digits, `decimals` of them after the point.
    Decimal,
    /// 1 to 64 bits.
    Bit,
    /// 0000, 1901 to 2155.
    Year,
    /// Calendar date.
    Date,
    /// Signed time of up to 838 hours, `decimals` fractional digits.
    Time,
    /// Date and time of day without a zone, `decimals` fractional digits.
    DateTime,
    /// Instant: stored in UTC, shown in the session's time zone.
    Timestamp,
    /// `CHAR(n)`, or `BINARY(n)` under the binary collation.
    Char,
    /// `VARCHAR(n)`, or `VARBINARY(n)` under the binary collation.
    VarChar,
    /// `TINYTEXT` or `TINYBLOB`.
    TinyText,
    /// `TEXT` or `BLOB`.
    Text,
    /// `MEDIUMTEXT` or `MEDIUMBLOB`.
    MediumText,
    /// `LONGTEXT` or `LONGBLOB`.
    LongText,
    /// One of `members`, stored as its position from 1; 0 is the empty error value.
    Enum,
    /// Any subset of `members`, stored as a bit set.
    Set,
    /// An IPv4 address.
    Inet4,
    /// An IPv6 address.
    Inet6,
    /// A universally unique identifier.
    Uuid,
}

/// Physical kind: form of a type's values in a [`crate::Column`], and their default order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Physical {
    /// `i64`.
    Int,
    /// `u64`.
    UInt,
    /// `f64`.
    Double,
    /// Decimal at a common scale.
    Decimal,
    /// Packed date.
    Date,
    /// Signed microseconds.
    Time,
    /// Packed date and time.
    DateTime,
    /// Byte strings in the type's charset; the bytes of INET4, INET6 and UUID.
    Bytes,
}

/// `decimals` of a floating-point type declared without digits after the point.
pub const NOT_FIXED_DECIMALS: u8 = 31;

/// Role of a type's values in a JSON document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum JsonRole {
    /// A number or a text, according to the kind.
    #[default]
    Plain,
    /// The text is a JSON document.
    Document,
    /// The number is a truth value.
    Truth,
}

impl JsonRole {
    fn is_plain(&self) -> bool {
        *self == Self::Plain
    }
}

/// A SQL type with its attributes.
///
/// Two types are equal even if their role in JSON or `non_negative` differ: neither affects the
/// stored form.
#[derive(Clone, Debug, Eq, Serialize, Deserialize)]
pub struct SqlType {
    /// Family.
    pub kind: TypeKind,
    /// `UNSIGNED`; meaningful for numeric kinds.
    pub unsigned: bool,
    /// `ZEROFILL`; implies `unsigned`.
    pub zerofill: bool,
    /// Characters of a string, digits of a decimal, bits of a BIT, display width of a number.
    pub length: u32,
    /// Digits after the point, or fractional second digits; [`NOT_FIXED_DECIMALS`] for plain
    /// floats.
    pub decimals: u8,
    /// Collation, which implies the charset; `BINARY` for all types but character strings.
    pub collation: CollationId,
    /// Members of an ENUM or SET, in the column's charset.
    pub members: Option<Arc<[Box<str>]>>,
    /// Role of the values in JSON.
    #[serde(default, skip_serializing_if = "JsonRole::is_plain")]
    pub json: JsonRole,
    /// A signed integer that is never negative. Its length includes a sign that is never printed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub non_negative: bool,
    /// The geometries that a LONGBLOB holds, if the type is a spatial one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geometry: Option<Geometry>,
}

impl PartialEq for SqlType {
    fn eq(&self, other: &Self) -> bool {
        let Self { kind, unsigned, zerofill, length, decimals, collation, members, .. } = self;
        *kind == other.kind
            && (*unsigned, *zerofill) == (other.unsigned, other.zerofill)
            && (*length, *decimals) == (other.length, other.decimals)
            && *collation == other.collation
            && *members == other.members
            && self.geometry == other.geometry
    }
}

impl std::hash::Hash for SqlType {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        let Self { kind, unsigned, zerofill, length, decimals, collation, members, .. } = self;
        (kind, unsigned, zerofill, length, decimals, collation, members).hash(state);
        self.geometry.hash(state);
    }
}

impl SqlType {
    /// A type of `kind` with `length` and `decimals`, signed, of the binary collation.
    pub const fn new(kind: TypeKind, length: u32, decimals: u8) -> Self {
        let collation = CollationId::BINARY;
        Self {
            kind,
            unsigned: false,
            zerofill: false,
            length,
            decimals,
            collation,
            members: None,
            json: JsonRole::Plain,
            non_negative: false,
            geometry: None,
        }
    }

    /// This integer type for values that are never negative.
    pub const fn never_negative(mut self) -> Self {
        self.non_negative = true;
        self
    }

    /// The type of a column of this type as a part of an expression. Compat: an integer is then at
    /// least as long as any value of its kind, whatever width the column was defined with. Numbers
    /// that are filled with zeros keep the width, which makes their text.
    pub fn of_operand(&self) -> Self {
        let length = match (self.kind, self.unsigned) {
            _ if self.zerofill => self.length,
            (TypeKind::TinyInt, unsigned) => 4 - u32::from(unsigned),
            (TypeKind::SmallInt, unsigned) => 6 - u32::from(unsigned),
            (TypeKind::MediumInt, _) => 8,
            (TypeKind::Int, unsigned) => 11 - u32::from(unsigned),
            (TypeKind::BigInt, _) => 20,
            _ => self.length,
        };
        Self { length: length.max(self.length), ..self.clone() }
    }

    /// The type of `NULL`.
    pub const fn null() -> Self {
        Self::new(TypeKind::Null, 0, 0)
    }

    /// Of a placeholder that stands for a row. Its `fields` values are those of placeholders behind
    /// all that a statement has, row after row. No value has this type.
    pub const fn row(fields: u32) -> Self {
        let mut row = Self::new(TypeKind::Null, fields, 0);
        row.unsigned = true;
        row
    }

    /// Places of the fields of the placeholder `at`, if it stands for a row.
    pub fn row_fields<'t>(
        types: impl ExactSizeIterator<Item = &'t Self> + Clone,
        at: usize,
    ) -> Option<std::ops::Range<usize>> {
        let is_row = |ty: &Self| ty.kind == TypeKind::Null && ty.unsigned;
        let width = |ty: &Self| if is_row(ty) { ty.length as usize } else { 0 };
        let own = types.clone().nth(at).map_or(0, width);
        if own == 0 {
            return None;
        }
        let before: usize = types.clone().take(at).map(width).sum();
        let written = types.len() - types.map(width).sum::<usize>();
        Some(written + before..written + before + own)
    }

    /// `BIGINT`.
    pub const fn bigint() -> Self {
        Self::new(TypeKind::BigInt, 20, 0)
    }

    /// `BIGINT UNSIGNED`.
    pub const fn bigint_unsigned() -> Self {
        let mut ty = Self::new(TypeKind::BigInt, 20, 0);
        ty.unsigned = true;
        ty
    }

    /// `INT`.
    pub const fn int() -> Self {
        Self::new(TypeKind::Int, 11, 0)
    }

    /// `DOUBLE`.
    pub const fn double() -> Self {
        Self::new(TypeKind::Double, 22, NOT_FIXED_DECIMALS)
    }

    /// `DECIMAL(precision, scale)`.
    pub const fn decimal(precision: u32, scale: u8) -> Self {
        Self::new(TypeKind::Decimal, precision, scale)
    }

    /// `VARCHAR(characters)` of a collation.
    pub const fn varchar(characters: u32, collation: CollationId) -> Self {
        let mut ty = Self::new(TypeKind::VarChar, characters, 0);
        ty.collation = collation;
        ty
    }

    /// `DATE`.
    pub const fn date() -> Self {
        Self::new(TypeKind::Date, 10, 0)
    }

    /// `TIME(fsp)`.
    pub const fn time(fsp: u8) -> Self {
        Self::new(TypeKind::Time, 10, fsp)
    }

    /// `DATETIME(fsp)`.
    pub const fn datetime(fsp: u8) -> Self {
        Self::new(TypeKind::DateTime, 19, fsp)
    }

    /// `INET4`, `INET6` or `UUID`.
    pub const fn of_fixed_binary(kind: FixedBinary) -> Self {
        Self::new(kind.kind(), kind.text_length(), 0)
    }

    /// The physical kind of this type. `NULL` is a column of byte strings that are all null.
    pub fn physical(&self) -> Physical {
        match self.kind {
            TypeKind::TinyInt
            | TypeKind::SmallInt
            | TypeKind::MediumInt
            | TypeKind::Int
            | TypeKind::BigInt => {
                if self.unsigned {
                    Physical::UInt
                } else {
                    Physical::Int
                }
            }
            TypeKind::Float | TypeKind::Double => Physical::Double,
            TypeKind::Decimal => Physical::Decimal,
            TypeKind::Bit | TypeKind::Year | TypeKind::Enum | TypeKind::Set => Physical::UInt,
            TypeKind::Date => Physical::Date,
            TypeKind::Time => Physical::Time,
            TypeKind::DateTime | TypeKind::Timestamp => Physical::DateTime,
            TypeKind::Null
            | TypeKind::Char
            | TypeKind::VarChar
            | TypeKind::TinyText
            | TypeKind::Text
            | TypeKind::MediumText
            | TypeKind::LongText
            | TypeKind::Inet4
            | TypeKind::Inet6
            | TypeKind::Uuid => Physical::Bytes,
        }
    }

    /// TINYINT to BIGINT.
    pub fn is_integer(&self) -> bool {
        use TypeKind::*;
        matches!(self.kind, TinyInt | SmallInt | MediumInt | Int | BigInt)
    }

    /// Any kind that compares as a number, BIT and YEAR included.
    pub fn is_numeric(&self) -> bool {
        use TypeKind::*;
        self.is_integer() || matches!(self.kind, Float | Double | Decimal | Bit | Year)
    }

    /// DATE, TIME, DATETIME or TIMESTAMP.
    pub fn is_temporal(&self) -> bool {
        use TypeKind::*;
        matches!(self.kind, Date | Time | DateTime | Timestamp)
    }

    /// Types whose values have a date.
    pub fn has_date(&self) -> bool {
        use TypeKind::*;
        matches!(self.kind, Date | DateTime | Timestamp)
    }

    /// Strings of characters or bytes, ENUM and SET excluded.
    pub fn is_string(&self) -> bool {
        use TypeKind::*;
        matches!(self.kind, Char | VarChar | TinyText | Text | MediumText | LongText)
    }

    /// INET4, INET6 or UUID.
    pub fn fixed_binary(&self) -> Option<FixedBinary> {
        FixedBinary::of(self.kind)
    }

    /// TINYTEXT to LONGTEXT and the BLOBs.
    pub fn is_text_or_blob(&self) -> bool {
        use TypeKind::*;
        matches!(self.kind, TinyText | Text | MediumText | LongText)
    }

    /// Width that ZEROFILL fills: all digits, and the point.
    pub fn zerofill_width(&self) -> usize {
        let point = self.kind == TypeKind::Decimal && self.decimals > 0;
        self.length as usize + usize::from(point)
    }

    /// Bytes of the fixed part of a stored row, or `None` for variable-length kinds.
    pub fn fixed_width(&self) -> Option<usize> {
        Some(match self.kind {
            TypeKind::TinyInt => 1,
            TypeKind::SmallInt | TypeKind::Year | TypeKind::Enum => 2,
            TypeKind::MediumInt => 3,
            TypeKind::Int | TypeKind::Float | TypeKind::Date => 4,
            TypeKind::BigInt
            | TypeKind::Double
            | TypeKind::Bit
            | TypeKind::Set
            | TypeKind::Time
            | TypeKind::DateTime
            | TypeKind::Timestamp => 8,
            TypeKind::Decimal => decimal_width(self.length),
            _ => return None,
        })
    }
}

impl SqlType {
    /// Bytes of a value in MariaDB's record format, which EXPLAIN and statistics show; the most
    /// that a text can take, without its length.
    pub fn record_bytes(&self) -> usize {
        use TypeKind::*;
        let fraction = usize::from(self.decimals.div_ceil(2).min(3));
        let members = self.members.as_ref().map_or(0, |m| m.len());
        match self.kind {
            Null => 0,
            TinyInt | Year => 1,
            SmallInt => 2,
            MediumInt | Date => 3,
            Int | Float | Inet4 => 4,
            BigInt | Double => 8,
            Inet6 | Uuid => 16,
            Time => 3 + fraction,
            Timestamp => 4 + fraction,
            DateTime => 5 + fraction,
            Decimal => {
                let decimals = usize::from(self.decimals);
                let whole = (self.length as usize).saturating_sub(decimals);
                record_digits(whole) + record_digits(decimals)
            }
            Bit => self.length.div_ceil(8) as usize,
            Enum => 1 + usize::from(members > 255),
            Set if members > 32 => 8,
            Set => match members.div_ceil(8) {
                3 => 4,
                bytes => bytes,
            },
            Char | VarChar | TinyText | Text | MediumText | LongText => {
                self.length as usize * self.collation.charset().max_len()
            }
        }
    }
}

/// Bytes of so many decimal digits: nine digits take four bytes.
fn record_digits(digits: usize) -> usize {
    digits / 9 * 4 + (digits % 9).div_ceil(2)
}

/// Stored bytes of a decimal of `precision` digits: an `i64`, an `i128` or an `I256`.
pub const fn decimal_width(precision: u32) -> usize {
    match precision {
        0..=18 => 8,
        19..=38 => 16,
        _ => 32,
    }
}
