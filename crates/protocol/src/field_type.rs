//! Wire codes of column types and the flags of a column definition.
//!
//! Must not know which SQL type has which code; the server decides that with the result metadata.

/// Type code of a column or parameter.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FieldType {
    /// DECIMAL before 5.0.
    OldDecimal = 0,
    /// TINYINT.
    Tiny = 1,
    /// SMALLINT.
    Short = 2,
    /// INT.
    Long = 3,
    /// FLOAT.
    Float = 4,
    /// DOUBLE.
    Double = 5,
    /// NULL.
    Null = 6,
    /// TIMESTAMP.
    Timestamp = 7,
    /// BIGINT.
    LongLong = 8,
    /// MEDIUMINT.
    Int24 = 9,
    /// DATE.
    Date = 10,
    /// TIME.
    Time = 11,
    /// DATETIME.
    DateTime = 12,
    /// YEAR.
    Year = 13,
    /// DATE in its storage form.
    NewDate = 14,
    /// VARCHAR in its storage form.
    VarChar = 15,
    /// BIT.
    Bit = 16,
    /// TIMESTAMP in its storage form.
    Timestamp2 = 17,
    /// DATETIME in its storage form.
    DateTime2 = 18,
    /// TIME in its storage form.
    Time2 = 19,
    /// JSON of MySQL.
    Json = 245,
    /// DECIMAL.
    NewDecimal = 246,
    /// ENUM.
    Enum = 247,
    /// SET.
    Set = 248,
    /// TINYBLOB, TINYTEXT.
    TinyBlob = 249,
    /// MEDIUMBLOB, MEDIUMTEXT.
    MediumBlob = 250,
    /// LONGBLOB, LONGTEXT.
    LongBlob = 251,
    /// BLOB, TEXT.
    Blob = 252,
    /// VARCHAR, VARBINARY.
    VarString = 253,
    /// CHAR, BINARY, ENUM and SET.
    String = 254,
    /// GEOMETRY.
    Geometry = 255,
}

impl FieldType {
    const ALL: [Self; 31] = [
        Self::OldDecimal,
        Self::Tiny,
        Self::Short,
        Self::Long,
        Self::Float,
        Self::Double,
        Self::Null,
        Self::Timestamp,
        Self::LongLong,
        Self::Int24,
        Self::Date,
        Self::Time,
        Self::DateTime,
        Self::Year,
        Self::NewDate,
        Self::VarChar,
        Self::Bit,
        Self::Timestamp2,
        Self::DateTime2,
        Self::Time2,
        Self::Json,
        Self::NewDecimal,
        Self::Enum,
        Self::Set,
        Self::TinyBlob,
        Self::MediumBlob,
        Self::LongBlob,
        Self::Blob,
        Self::VarString,
        Self::String,
        Self::Geometry,
    ];

    /// The type with this code.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|t| *t as u8 == code)
    }
}

/// Flags of a column definition.
pub mod flags {
    /// NULL is not allowed.
    pub const NOT_NULL: u16 = 1;
    /// Part of the primary key.
    pub const PRI_KEY: u16 = 2;
    /// Part of a unique key.
    pub const UNIQUE_KEY: u16 = 4;
    /// First part of a key that is not unique.
    pub const MULTIPLE_KEY: u16 = 8;
    /// BLOB or TEXT.
    pub const BLOB: u16 = 16;
    /// Unsigned.
    pub const UNSIGNED: u16 = 32;
    /// ZEROFILL.
    pub const ZEROFILL: u16 = 64;
    /// Binary collation, or a type without one.
    pub const BINARY: u16 = 128;
    /// ENUM.
    pub const ENUM: u16 = 256;
    /// AUTO_INCREMENT.
    pub const AUTO_INCREMENT: u16 = 512;
    /// TIMESTAMP.
    pub const TIMESTAMP: u16 = 1024;
    /// SET.
    pub const SET: u16 = 2048;
    /// NOT NULL without a default.
    pub const NO_DEFAULT_VALUE: u16 = 4096;
    /// Set by UPDATE to the current time.
    pub const ON_UPDATE_NOW: u16 = 8192;
    /// A number.
    pub const NUM: u16 = 32768;
}
