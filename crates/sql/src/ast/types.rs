//! Types as written in column definitions and casts.
//! Synonyms share one name; lengths and defaults are not filled in here.

use super::Span;

/// A type with its attributes. The parser checks which attributes a type may have.
#[derive(Clone, Debug, PartialEq)]
pub struct DataType {
    /// The type.
    pub name: TypeName,
    /// `(length)` or the precision of `(precision, decimals)`.
    pub length: Option<u64>,
    /// The decimals of `(precision, decimals)`.
    pub decimals: Option<u64>,
    /// `UNSIGNED`.
    pub unsigned: bool,
    /// `ZEROFILL`.
    pub zerofill: bool,
    /// `CHARACTER SET` and its abbreviations.
    pub charset: Option<CharsetName>,
    /// `BINARY` after the type: the `_bin` collation of the character set.
    pub binary: bool,
    /// Collations of all COLLATE clauses; `default` for DEFAULT.
    pub collations: Vec<Box<str>>,
    /// Members of ENUM and SET.
    pub members: Vec<super::StringLiteral>,
    /// Its position in the text.
    pub span: Span,
}

/// A character set in a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CharsetName {
    /// A name. `ASCII` is `latin1`, `UNICODE` is `ucs2`, `BYTE` and `CHARACTER SET BINARY` are
    /// `binary`.
    Named(Box<str>),
    /// `DEFAULT`.
    Default,
}

/// Names of types; synonyms share one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the SQL words
pub enum TypeName {
    TinyInt,
    SmallInt,
    MediumInt,
    Int,
    BigInt,
    /// `BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE`. The column definition holds the
    /// attributes.
    Serial,
    /// `TINYINT(1)`.
    Bool,
    Bit,
    Float,
    Double,
    /// `REAL`: DOUBLE, or FLOAT under `REAL_AS_FLOAT`.
    Real,
    Decimal,
    Year,
    Date,
    Time,
    DateTime,
    Timestamp,
    Char,
    /// `NCHAR`: CHAR in utf8mb3.
    NChar,
    VarChar,
    /// `NVARCHAR`: VARCHAR in utf8mb3.
    NVarChar,
    Binary,
    VarBinary,
    TinyBlob,
    Blob,
    MediumBlob,
    LongBlob,
    TinyText,
    Text,
    MediumText,
    LongText,
    Enum,
    Set,
    Json,
    Uuid,
    Inet4,
    Inet6,
    Geometry,
    Point,
    LineString,
    Polygon,
    MultiPoint,
    MultiLineString,
    MultiPolygon,
    GeometryCollection,
}

impl TypeName {
    /// GEOMETRY and its subtypes.
    pub fn is_spatial(self) -> bool {
        use TypeName::*;
        matches!(
            self,
            Geometry
                | Point
                | LineString
                | Polygon
                | MultiPoint
                | MultiLineString
                | MultiPolygon
                | GeometryCollection
        )
    }
}

impl TypeName {
    /// Whether its values are integers.
    pub fn is_integer(self) -> bool {
        matches!(
            self,
            Self::TinyInt
                | Self::SmallInt
                | Self::MediumInt
                | Self::Int
                | Self::BigInt
                | Self::Serial
                | Self::Bool
                | Self::Bit
                | Self::Year
        )
    }
}

/// Target of CAST and CONVERT.
#[derive(Clone, Debug, PartialEq)]
pub enum CastType {
    /// `BINARY[(n)]`.
    Binary(Option<u64>),
    /// `CHAR[(n)] [CHARACTER SET ..]`, also NCHAR and VARCHAR.
    Char {
        /// Number of characters.
        length: Option<u64>,
        /// The character set.
        charset: Option<CharsetName>,
        /// `BINARY`: the `_bin` collation of the character set.
        binary: bool,
        /// `COLLATE`.
        collation: Option<Box<str>>,
    },
    /// `SIGNED [INTEGER]`, also `INT` and `INTEGER`.
    Signed,
    /// `UNSIGNED [INTEGER]`.
    Unsigned,
    /// `DECIMAL[(precision[, decimals])]`.
    Decimal {
        /// Digits.
        precision: Option<u64>,
        /// Digits after the point.
        decimals: Option<u64>,
    },
    /// `FLOAT`.
    Float,
    /// `DOUBLE`, with `(precision, decimals)` if given.
    Double(Option<(u64, u64)>),
    /// `DATE`.
    Date,
    /// `TIME[(fsp)]`.
    Time(Option<u64>),
    /// `DATETIME[(fsp)]`.
    DateTime(Option<u64>),
    /// `INTERVAL DAY_SECOND(fsp)`.
    IntervalDaySecond(Option<u64>),
    /// `JSON` in columns of JSON_TABLE; CAST refuses it.
    Json,
    /// `UUID`, `INET4`, `INET6`, geometry types.
    Other(TypeName),
}
