//! Types of columns that differ between an event and the table here: which may, and what their
//! values are.
//!
//! Compat: what MariaDB 10.11 allows was asked of it for every pair of types. Integers, numbers,
//! bits, dates, strings, ENUM and SET change among themselves only. Must not store values: they are
//! converted as an assignment does.

use selkie_catalog::TableInfo;
use selkie_replication::DecodeError;
use selkie_replication::images::{
    ColumnKind, Value as ImageValue, date, datetime, is_same, kind_of, time, timestamp,
};
use selkie_types::error::catalogue::ER_SLAVE_CONVERSION_FAILED;
use selkie_types::{SqlError, SqlType, TypeKind, Value};

use super::Conversions;
use super::failure::Applied;

/// Fate of the values of a column.
pub(super) enum Conversion {
    /// They are stored as they come.
    None,
    /// They are converted from a type.
    From(SqlType),
}

/// Ability of a type to hold the values of another.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Fit {
    /// They are its own, if in another form.
    Own,
    /// It can hold them all.
    Wider,
    /// It may lose some.
    Narrower,
}

/// The conversion of a column's values, `None` if there is none or it is not allowed.
pub(super) fn conversion(
    kind: ColumnKind,
    unsigned: Option<bool>,
    to: &SqlType,
    conversions: Conversions,
) -> Option<Conversion> {
    if is_same(to, kind) {
        return Some(Conversion::None);
    }
    let allowed = match fit(kind, to)? {
        Fit::Own => true,
        Fit::Wider => conversions.is_non_lossy,
        Fit::Narrower => conversions.is_lossy,
    };
    allowed.then(|| Conversion::From(source(kind, unsigned, to, conversions)))
}

/// Wider if `from` is at most `to`.
fn by_size<T: PartialOrd>(from: T, to: T) -> Option<Fit> {
    Some(if from <= to { Fit::Wider } else { Fit::Narrower })
}

fn fit(kind: ColumnKind, to: &SqlType) -> Option<Fit> {
    use ColumnKind as K;
    let own = kind_of(to);
    match (kind, own) {
        (K::Date, K::DateTime(_)) | (K::Float, K::Double) => Some(Fit::Wider),
        (K::DateTime(_), K::Date) | (K::Double, K::Float) => Some(Fit::Narrower),
        (K::Float | K::Double, K::Decimal(..)) | (K::Decimal(..), K::Float | K::Double) => {
            Some(Fit::Narrower)
        }
        (K::Decimal(p, s), K::Decimal(own_p, own_s)) => {
            // Compat: digits before the point may be lost all the same.
            by_size((p, s), (own_p, own_s))
        }
        (K::Bit(bits), K::Bit(own)) => by_size(bits, own),
        (K::Enum(bytes), K::Enum(own))
        | (K::Set(bytes), K::Set(own))
        | (K::Geometry(bytes), K::Geometry(own)) => by_size(bytes, own),
        (K::Time(digits), K::Time(own))
        | (K::DateTime(digits), K::DateTime(own))
        | (K::Timestamp(digits), K::Timestamp(own)) => by_size(digits, own),
        (K::OldTime, K::Time(0))
        | (K::OldDateTime, K::DateTime(0))
        | (K::OldTimestamp, K::Timestamp(0)) => Some(Fit::Own),
        (K::OldTime, K::Time(_))
        | (K::OldDateTime, K::DateTime(_))
        | (K::OldTimestamp, K::Timestamp(_)) => Some(Fit::Wider),
        _ => match (kind.integer_bytes(), own.integer_bytes()) {
            (Some(bytes), Some(own)) => by_size(bytes, own),
            // An address or a UUID is no string.
            _ if to.fixed_binary().is_some() => None,
            _ => by_size(most_bytes(kind)?, most_bytes(own)?),
        },
    }
}

/// The most bytes of a string.
fn most_bytes(kind: ColumnKind) -> Option<u64> {
    Some(match kind {
        ColumnKind::Char(most) | ColumnKind::Varchar(most) => u64::from(most),
        ColumnKind::Blob(bytes) => (1 << (8 * u32::from(bytes))) - 1,
        _ => return None,
    })
}

/// The type of values on their way to a column.
fn source(
    kind: ColumnKind,
    unsigned: Option<bool>,
    to: &SqlType,
    conversions: Conversions,
) -> SqlType {
    use ColumnKind as K;
    // Compat: an event that does not tell is taken to have the sign of the column here.
    let unsigned = match (unsigned, conversions.is_signed, conversions.is_unsigned) {
        (Some(unsigned), _, _) => unsigned,
        (None, true, _) => false,
        (None, false, true) => true,
        (None, false, false) => to.unsigned,
    };
    let plain = |kind, length, decimals| SqlType::new(kind, length, decimals);
    let integer = |kind| SqlType { unsigned, ..SqlType::new(kind, 20, 0) };
    match kind {
        K::Tiny => integer(TypeKind::TinyInt),
        K::Small => integer(TypeKind::SmallInt),
        K::Medium => integer(TypeKind::MediumInt),
        K::Int => integer(TypeKind::Int),
        K::Big => integer(TypeKind::BigInt),
        K::Float => plain(TypeKind::Float, 12, selkie_types::NOT_FIXED_DECIMALS),
        K::Double => plain(TypeKind::Double, 22, selkie_types::NOT_FIXED_DECIMALS),
        K::Decimal(precision, scale) => SqlType::decimal(u32::from(precision), scale),
        K::Bit(bits) => plain(TypeKind::Bit, u32::from(bits), 0),
        K::Date => SqlType::date(),
        K::Time(digits) => SqlType::time(digits),
        K::OldTime => SqlType::time(0),
        K::DateTime(digits) => SqlType::datetime(digits),
        K::OldDateTime => SqlType::datetime(0),
        K::Timestamp(digits) => plain(TypeKind::Timestamp, 26, digits),
        K::OldTimestamp => plain(TypeKind::Timestamp, 19, 0),
        // Compat: characters are those of the column here.
        K::Char(_) | K::Varchar(_) | K::Blob(_) => {
            // It is no type of a column, so values are checked.
            SqlType { collation: to.collation, ..plain(TypeKind::VarChar, u32::MAX, 0) }
        }
        _ => to.clone(),
    }
}

/// The value of an image as one of a type.
pub(super) fn value(value: &ImageValue<'_>, kind: ColumnKind, ty: &SqlType) -> Applied<Value> {
    let digits = match kind {
        ColumnKind::Time(digits) | ColumnKind::DateTime(digits) => digits,
        ColumnKind::Timestamp(digits) => digits,
        _ => 0,
    };
    Ok(match *value {
        ImageValue::Null => Value::Null,
        ImageValue::Int(number) if ty.unsigned => {
            let bits = 8 * kind.integer_bytes().unwrap_or(8) as u32;
            Value::UInt(number as u64 & u64::MAX >> (64 - bits))
        }
        ImageValue::Int(number) => Value::Int(number),
        ImageValue::Year(year) => Value::UInt(u64::from(year)),
        ImageValue::Float(number) => Value::Double(finite(f64::from(number))?),
        ImageValue::Double(number) => Value::Double(finite(number)?),
        ImageValue::Decimal(number) => Value::Decimal(number),
        ImageValue::Bits(bits) => {
            Value::UInt(bits.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)))
        }
        ImageValue::Date(value) => Value::Date(date(value)?),
        ImageValue::Time(value) => Value::Time(time(value, digits)?),
        ImageValue::DateTime(value) => Value::DateTime(datetime(value, digits)?),
        ImageValue::Timestamp(value) => Value::DateTime(timestamp(value, digits)?),
        ImageValue::Bytes(bytes) => match kind {
            // Compat: the zeros that an image leaves out are there again.
            ColumnKind::Char(most) if ty.collation.is_binary() => {
                let mut whole = bytes.to_vec();
                whole.resize(usize::from(most).max(bytes.len()), 0);
                Value::bytes(whole)
            }
            _ => Value::bytes(bytes),
        },
        // Compat: members that the column does not have are lost.
        ImageValue::Enum(member) => match usize::from(member) <= members(ty) {
            true => Value::UInt(u64::from(member)),
            false => Value::UInt(0),
        },
        ImageValue::Set(set) => {
            let all = u64::MAX.checked_shr(64 - members(ty).min(64) as u32).unwrap_or_default();
            Value::UInt(set & all)
        }
    })
}

fn members(ty: &SqlType) -> usize {
    ty.members.as_ref().map_or(0, |members| members.len())
}

fn finite(number: f64) -> Applied<f64> {
    match number.is_finite() {
        true => Ok(number),
        false => Err(DecodeError::Invalid("floating-point number").into()),
    }
}

/// 1677 for column `at`.
pub(super) fn refused(at: usize, kind: ColumnKind, info: &TableInfo) -> SqlError {
    let to = &info.columns[at].ty;
    let (from, to) = (name_of_kind(kind, to), name_of_type(to));
    let arguments: [&dyn std::fmt::Display; 5] = [&at, &info.schema(), &info.name(), &from, &to];
    SqlError::new(&ER_SLAVE_CONVERSION_FAILED, &arguments)
}

/// The name of an event's type. Compat: strings are binary if the column here is.
fn name_of_kind(kind: ColumnKind, to: &SqlType) -> String {
    use ColumnKind as K;
    let is_binary = (is_text(to) || to.fixed_binary().is_some()) && to.collation.is_binary();
    let name = match kind {
        K::Decimal(precision, scale) => return format!("decimal({precision},{scale})"),
        K::Bit(bits) => return format!("bit({bits})"),
        K::Char(most) if is_binary => return format!("binary({most})"),
        K::Char(most) => return format!("char({most} octets)"),
        K::Varchar(most) if is_binary => return format!("varbinary({most})"),
        K::Varchar(most) => return format!("varchar({most} octets)"),
        K::CompressedVarchar(most) => return format!("varchar({most} octets) compressed"),
        K::Tiny => "tinyint",
        K::Small => "smallint",
        K::Medium => "mediumint",
        K::Int => "int",
        K::Big => "bigint",
        K::Year => "year",
        K::Float => "float",
        K::Double => "double",
        K::Null => "null",
        K::Date => "date",
        K::Time(_) | K::OldTime => "time",
        K::DateTime(_) | K::OldDateTime => "datetime",
        K::Timestamp(_) | K::OldTimestamp => "timestamp",
        K::Blob(1) => "tinyblob",
        K::Blob(2) => "blob",
        K::Blob(3) => "mediumblob",
        K::Blob(_) => "longblob",
        K::CompressedBlob(_) => "blob compressed",
        K::Json(_) => "json",
        K::Vector(_) => "vector",
        K::Geometry(_) => "geometry",
        K::Enum(_) => "enum",
        K::Set(_) => "set",
    };
    name.to_owned()
}

fn is_text(ty: &SqlType) -> bool {
    matches!(ty.kind, TypeKind::Char | TypeKind::VarChar) || ty.is_text_or_blob()
}

/// The name of a column's type. Compat: lengths of strings are in bytes.
fn name_of_type(ty: &SqlType) -> String {
    let octets = |word: &str| {
        let charset = ty.collation.charset();
        let most = ty.length as usize * charset.max_len();
        format!("{word}({most} octets) character set {}", charset.name())
    };
    match ty.kind {
        TypeKind::Char if !ty.collation.is_binary() => octets("char"),
        TypeKind::VarChar if !ty.collation.is_binary() => octets("varchar"),
        _ => ty.to_string(),
    }
}
