//! Column types: from the written type to the stored one, with default lengths, limits and
//! synonyms. Also used for variables of stored programs.

use hashbrown::HashMap;
use selkie_catalog::{ColumnInfo, DefaultValue};
use selkie_expr::EvalContext;
use selkie_sql::ast::{DataType, StringLiteral, TypeName};
use selkie_types::error::catalogue::{
    ER_AUTO_CONVERT, ER_DUPLICATED_VALUE_IN_TYPE, ER_ILLEGAL_VALUE_FOR_TYPE, ER_INVALID_DEFAULT,
    ER_M_BIGGER_THAN_D, ER_TOO_BIG_DISPLAYWIDTH, ER_TOO_BIG_FIELDLENGTH, ER_TOO_BIG_PRECISION,
    ER_TOO_BIG_SCALE, ER_TOO_BIG_SET, ER_WARN_DEPRECATED_SYNTAX, ER_WRONG_FIELD_SPEC,
};
use selkie_types::{
    Charset, CollationId, FixedBinary, GeometryKind, NOT_FIXED_DECIMALS, SqlError, SqlMode,
    SqlResult, SqlType, TypeKind, Value,
};

use super::{DefineContext, charset};

/// Maximum length of a VARCHAR in bytes: the limit of a row.
const VARCHAR_BYTES_MAX: u64 = 65_532;

/// Type of column `name`, written as `ty`, in a table of `collation`.
pub(crate) fn column_type(
    eval: &EvalContext<'_>,
    name: &str,
    ty: &DataType,
    collation: CollationId,
) -> SqlResult<SqlType> {
    let mut out = match ty.name {
        TypeName::Real if eval.types.sql_mode.contains(SqlMode::REAL_AS_FLOAT) => {
            float(name, &DataType { name: TypeName::Float, ..ty.clone() })?
        }
        TypeName::Float | TypeName::Double | TypeName::Real => float(name, ty)?,
        TypeName::Decimal => decimal(name, ty)?,
        TypeName::Bit => bit(name, ty)?,
        TypeName::Time | TypeName::DateTime | TypeName::Timestamp => fraction(name, ty)?,
        TypeName::Date => SqlType::date(),
        TypeName::Year => {
            if let Some(width) = ty.length.filter(|width| *width != 4) {
                let old = format!("YEAR({width})");
                eval.note(&ER_WARN_DEPRECATED_SYNTAX, &[&old, &"YEAR(4)"]);
            }
            let width = if ty.length == Some(2) { 2 } else { 4 };
            SqlType::new(TypeKind::Year, width, 0)
        }
        TypeName::Inet4 => SqlType::of_fixed_binary(FixedBinary::Inet4),
        TypeName::Inet6 => SqlType::of_fixed_binary(FixedBinary::Inet6),
        TypeName::Uuid => SqlType::of_fixed_binary(FixedBinary::Uuid),
        _ if let Some(kind) = geometry_kind(ty.name) => SqlType::of_geometry(kind),
        _ => match integer_kind(ty.name) {
            Some((kind, signed, unsigned)) => integer(name, ty, kind, signed, unsigned)?,
            None => string(eval, name, ty, collation)?,
        },
    };
    if ty.unsigned || ty.zerofill || matches!(ty.name, TypeName::Serial) {
        out.unsigned = out.is_numeric() && out.kind != TypeKind::Bit;
    }
    out.zerofill = ty.zerofill && out.unsigned;
    if out.kind == TypeKind::Year {
        (out.unsigned, out.zerofill) = (true, true);
    }
    Ok(out)
}

/// The spatial type of this name.
fn geometry_kind(name: TypeName) -> Option<GeometryKind> {
    Some(match name {
        TypeName::Geometry => GeometryKind::Geometry,
        TypeName::Point => GeometryKind::Point,
        TypeName::LineString => GeometryKind::LineString,
        TypeName::Polygon => GeometryKind::Polygon,
        TypeName::MultiPoint => GeometryKind::MultiPoint,
        TypeName::MultiLineString => GeometryKind::MultiLineString,
        TypeName::MultiPolygon => GeometryKind::MultiPolygon,
        TypeName::GeometryCollection => GeometryKind::GeometryCollection,
        _ => return None,
    })
}

/// Note 1287 for a column of a deprecated type.
pub(super) fn deprecate(eval: &EvalContext<'_>, ty: &SqlType) {
    if ty.kind == TypeKind::Year && ty.length == 2 {
        eval.note(&ER_WARN_DEPRECATED_SYNTAX, &[&"YEAR(2)", &"YEAR(4)"]);
    }
}

/// Type of a variable of a stored program. `collation` is that of strings without an own one.
pub fn variable_type(
    context: &DefineContext<'_>,
    name: &str,
    ty: &DataType,
    collation: CollationId,
) -> SqlResult<SqlType> {
    column_type(context.eval, name, ty, collation)
}

/// Kind of an integer type, with its default display widths, signed and unsigned.
fn integer_kind(name: TypeName) -> Option<(TypeKind, u32, u32)> {
    Some(match name {
        TypeName::TinyInt | TypeName::Bool => (TypeKind::TinyInt, 4, 3),
        TypeName::SmallInt => (TypeKind::SmallInt, 6, 5),
        TypeName::MediumInt => (TypeKind::MediumInt, 9, 8),
        TypeName::Int => (TypeKind::Int, 11, 10),
        TypeName::BigInt | TypeName::Serial => (TypeKind::BigInt, 20, 20),
        _ => return None,
    })
}

/// Compat: the type of a column that is made from a variable of a program: without ZEROFILL, with
/// at least the usual width of integers, and with text in place of the members of an ENUM or SET.
pub fn column_of_variable(ty: SqlType) -> SqlType {
    let widths = |name: TypeName| integer_kind(name).map_or((11, 10), |(_, s, u)| (s, u));
    let (signed, unsigned) = match ty.kind {
        TypeKind::TinyInt => widths(TypeName::TinyInt),
        TypeKind::SmallInt => widths(TypeName::SmallInt),
        TypeKind::MediumInt => widths(TypeName::MediumInt),
        TypeKind::Int => widths(TypeName::Int),
        TypeKind::BigInt => widths(TypeName::BigInt),
        TypeKind::Enum | TypeKind::Set => {
            return SqlType::varchar(ty.length, ty.collation);
        }
        _ => return SqlType { zerofill: false, ..ty },
    };
    let length = ty.length.max(if ty.unsigned { unsigned } else { signed });
    SqlType { length, zerofill: false, ..ty }
}

fn integer(
    name: &str,
    ty: &DataType,
    kind: TypeKind,
    signed: u32,
    unsigned: u32,
) -> SqlResult<SqlType> {
    let default = if ty.unsigned || ty.zerofill { unsigned } else { signed };
    let width = match ty.length {
        Some(width) if width > 255 => return Err(too_wide(name, 255)),
        Some(0) | None if ty.name == TypeName::Bool => 1,
        Some(0) | None => default,
        Some(width) => width as u32,
    };
    Ok(SqlType::new(kind, width, 0))
}

fn too_wide(name: &str, most: u32) -> SqlError {
    SqlError::new(&ER_TOO_BIG_DISPLAYWIDTH, &[&name, &most])
}

fn float(name: &str, ty: &DataType) -> SqlResult<SqlType> {
    let single = ty.name == TypeName::Float;
    match (ty.length, ty.decimals) {
        (Some(length), Some(decimals)) if (length, decimals) != (0, 0) => {
            if decimals > length {
                return Err(SqlError::new(&ER_M_BIGGER_THAN_D, &[&name]));
            }
            if decimals > 30 {
                return Err(SqlError::new(&ER_TOO_BIG_SCALE, &[&name, &30]));
            }
            if length > 255 {
                return Err(too_wide(name, 255));
            }
            let kind = if single { TypeKind::Float } else { TypeKind::Double };
            Ok(SqlType::new(kind, length as u32, decimals as u8))
        }
        (Some(bits), None) if single && bits > 53 => {
            Err(SqlError::new(&ER_WRONG_FIELD_SPEC, &[&name]))
        }
        (Some(bits), None) if single && bits > 24 => Ok(SqlType::double()),
        _ if single => Ok(SqlType::new(TypeKind::Float, 12, NOT_FIXED_DECIMALS)),
        _ => Ok(SqlType::double()),
    }
}

/// Checks length and decimals against their maximum.
fn scale_limits(
    name: &str,
    length: u64,
    decimals: u64,
    most: u32,
    most_decimals: u32,
) -> SqlResult<()> {
    if decimals > u64::from(most_decimals) {
        return Err(SqlError::new(&ER_TOO_BIG_SCALE, &[&name, &most_decimals]));
    }
    if length > u64::from(most) {
        return Err(SqlError::new(&ER_TOO_BIG_PRECISION, &[&name, &most]));
    }
    if decimals > length {
        return Err(SqlError::new(&ER_M_BIGGER_THAN_D, &[&name]));
    }
    Ok(())
}

fn decimal(name: &str, ty: &DataType) -> SqlResult<SqlType> {
    let precision = ty.length.filter(|p| *p > 0).unwrap_or(10);
    let scale = ty.decimals.unwrap_or(0);
    scale_limits(name, precision, scale, 65, 38)?;
    Ok(SqlType::decimal(precision as u32, scale as u8))
}

fn bit(name: &str, ty: &DataType) -> SqlResult<SqlType> {
    match ty.length.unwrap_or(1) {
        0 => Ok(SqlType::new(TypeKind::Bit, 1, 0)),
        bits @ 1..=64 => Ok(SqlType::new(TypeKind::Bit, bits as u32, 0)),
        _ => Err(too_wide(name, 64)),
    }
}

fn fraction(name: &str, ty: &DataType) -> SqlResult<SqlType> {
    let digits = ty.length.unwrap_or(0);
    if digits > 6 {
        return Err(SqlError::new(&ER_TOO_BIG_PRECISION, &[&name, &6]));
    }
    let (kind, length) = match ty.name {
        TypeName::Time => (TypeKind::Time, 10),
        TypeName::DateTime => (TypeKind::DateTime, 19),
        _ => (TypeKind::Timestamp, 19),
    };
    Ok(SqlType::new(kind, length, digits as u8))
}

/// Collation of a string column.
fn string_collation(ty: &DataType, table: CollationId) -> SqlResult<CollationId> {
    let mut clauses = charset::Clauses::default();
    let national = matches!(ty.name, TypeName::NChar | TypeName::NVarChar);
    if let (false, Some(name)) = (national, &ty.charset) {
        clauses.charset(name)?;
    }
    if ty.binary {
        clauses.binary();
    }
    ty.collations.iter().for_each(|name| clauses.collate(name));
    clauses.resolve(if national { CollationId::UTF8MB3_GENERAL_CI } else { table })
}

fn string(
    eval: &EvalContext<'_>,
    name: &str,
    ty: &DataType,
    table: CollationId,
) -> SqlResult<SqlType> {
    use TypeName as T;
    let collation = match ty.name {
        T::Binary | T::VarBinary | T::TinyBlob | T::Blob | T::MediumBlob | T::LongBlob => {
            CollationId::BINARY
        }
        T::Json => CollationId::UTF8MB4_BIN,
        _ => string_collation(ty, table)?,
    };
    let with = |kind, length| {
        let mut out = SqlType::new(kind, length, 0);
        out.collation = collation;
        out
    };
    Ok(match ty.name {
        T::Char | T::NChar | T::Binary => with(TypeKind::Char, char_length(name, ty)?),
        T::VarChar | T::NVarChar | T::VarBinary => return varchar(eval, name, ty, collation),
        T::TinyText | T::TinyBlob => with(TypeKind::TinyText, 255),
        T::MediumText | T::MediumBlob => with(TypeKind::MediumText, 16_777_215),
        T::LongText | T::LongBlob => with(TypeKind::LongText, u32::MAX),
        T::Json => with(TypeKind::LongText, u32::MAX),
        T::Text | T::Blob if ty.length.is_some_and(|n| n > u32::MAX.into()) => {
            return Err(SqlError::new(&ER_TOO_BIG_DISPLAYWIDTH, &[&name, &u32::MAX]));
        }
        T::Text | T::Blob => text_for(ty.length, collation),
        T::Enum | T::Set => return members(eval, name, ty, collation),
        _ => return Err(SqlError::internal("a type without a definition")),
    })
}

fn char_length(name: &str, ty: &DataType) -> SqlResult<u32> {
    match ty.length.unwrap_or(1) {
        length @ 0..=255 => Ok(length as u32),
        _ => Err(SqlError::new(&ER_TOO_BIG_FIELDLENGTH, &[&name, &255])),
    }
}

fn varchar(
    eval: &EvalContext<'_>,
    name: &str,
    ty: &DataType,
    collation: CollationId,
) -> SqlResult<SqlType> {
    fitting_varchar(eval, name, ty.length.unwrap_or(1), collation)
}

/// A VARCHAR, or a TEXT in its place if it is too long.
fn fitting_varchar(
    eval: &EvalContext<'_>,
    name: &str,
    length: u64,
    collation: CollationId,
) -> SqlResult<SqlType> {
    let bytes = length.saturating_mul(collation.charset().max_len() as u64);
    if bytes <= VARCHAR_BYTES_MAX {
        return Ok(SqlType::varchar(length as u32, collation));
    }
    if eval.types.sql_mode.is_strict() {
        let most = VARCHAR_BYTES_MAX / collation.charset().max_len() as u64;
        return Err(SqlError::new(&ER_TOO_BIG_FIELDLENGTH, &[&name, &most]));
    }
    let out = text_for(Some(length), collation);
    let (from, to) =
        if collation.is_binary() { ("VARBINARY", "BLOB") } else { ("VARCHAR", "TEXT") };
    eval.note(&ER_AUTO_CONVERT, &[&name, &from, &to]);
    Ok(out)
}

/// `CONVERT TO CHARACTER SET`. An existing TEXT becomes larger if characters of `to` may be longer
/// than its present ones.
pub(super) fn convert_to(
    eval: &EvalContext<'_>,
    column: &mut ColumnInfo,
    to: CollationId,
    was_there: bool,
) -> SqlResult<()> {
    let ty = &mut column.ty;
    let text = ty.is_string() && !ty.is_binary_string();
    let members = matches!(ty.kind, TypeKind::Enum | TypeKind::Set) && !ty.collation.is_binary();
    if !text && !members {
        return Ok(());
    }
    let (from, charset) = (ty.collation.charset(), to.charset());
    if let Some(Value::Bytes(bytes)) = column.default.constant() {
        let (converted, lost) = from.convert(bytes, charset);
        if lost > 0 {
            return Err(SqlError::new(&ER_INVALID_DEFAULT, &[&column.name]));
        }
        let value = Value::bytes(&converted);
        column.default = match &column.default {
            DefaultValue::Written { text, .. } => {
                DefaultValue::Written { value, text: text.clone() }
            }
            _ => DefaultValue::Literal(value),
        };
    }
    let (before, now) = (from.max_len(), charset.max_len());
    ty.collation = to;
    if ty.kind == TypeKind::VarChar {
        column.ty = fitting_varchar(eval, &column.name, ty.length.into(), to)?;
    } else if was_there && ty.is_text_or_blob() && now > before {
        (ty.kind, ty.length) = match ty.kind {
            TypeKind::TinyText => (TypeKind::Text, 65_535),
            TypeKind::Text => (TypeKind::MediumText, 16_777_215),
            _ => (TypeKind::LongText, u32::MAX),
        };
    }
    Ok(())
}

/// The smallest TEXT or BLOB for `characters`; plain TEXT or BLOB if `characters` is not given.
fn text_for(characters: Option<u64>, collation: CollationId) -> SqlType {
    let bytes = characters
        .filter(|n| *n > 0)
        .map_or(65_535, |n| n.saturating_mul(collation.charset().max_len() as u64));
    let (kind, length) = match bytes {
        0..=255 => (TypeKind::TinyText, 255),
        256..=65_535 => (TypeKind::Text, 65_535),
        65_536..=16_777_215 => (TypeKind::MediumText, 16_777_215),
        _ => (TypeKind::LongText, u32::MAX),
    };
    let mut out = SqlType::new(kind, length, 0);
    out.collation = collation;
    out
}

fn members(
    eval: &EvalContext<'_>,
    name: &str,
    ty: &DataType,
    collation: CollationId,
) -> SqlResult<SqlType> {
    let is_set = ty.name == TypeName::Set;
    let list: Vec<Box<str>> = ty.members.iter().map(|m| member(m, collation)).collect();
    if is_set && list.len() > 64 {
        return Err(SqlError::new(&ER_TOO_BIG_SET, &[&name]));
    }
    check_members(eval, name, (&list, is_set), collation)?;
    let lengths = || list.iter().map(|m| m.chars().count() as u32);
    let length = match is_set {
        true => lengths().sum::<u32>() + (list.len() as u32).saturating_sub(1),
        false => lengths().max().unwrap_or(0),
    };
    let mut out = SqlType::new(if is_set { TypeKind::Set } else { TypeKind::Enum }, length, 0);
    out.collation = collation;
    out.members = Some(list.into());
    Ok(out)
}

/// An error for equal members, and for members of a SET that contain a comma.
fn check_members(
    eval: &EvalContext<'_>,
    name: &str,
    (list, is_set): (&[Box<str>], bool),
    collation: CollationId,
) -> SqlResult<()> {
    let words = if is_set { "SET" } else { "ENUM" };
    let mut seen: HashMap<u64, Vec<&str>> = HashMap::new();
    for member in list {
        let same = |other: &str| collation.equal(other.as_bytes(), member.as_bytes());
        let alike = seen.entry(collation.hash(member.as_bytes(), 0)).or_default();
        let first = alike.iter().find(|other| same(other)).copied();
        alike.push(member);
        if let Some(first) = first {
            let arguments: [&dyn std::fmt::Display; 3] = [&name, &first, &words];
            if eval.types.sql_mode.is_strict() {
                return Err(SqlError::new(&ER_DUPLICATED_VALUE_IN_TYPE, &arguments));
            }
            eval.note(&ER_DUPLICATED_VALUE_IN_TYPE, &arguments);
        }
        if is_set && member.contains(',') {
            return Err(SqlError::new(&ER_ILLEGAL_VALUE_FOR_TYPE, &[&"set", member]));
        }
    }
    Ok(())
}

/// Text of a member without trailing spaces, which are not significant.
fn member(literal: &StringLiteral, collation: CollationId) -> Box<str> {
    let from = literal.charset.as_deref().and_then(Charset::from_name).unwrap_or(literal.encoding);
    let (text, _) = from.convert(&literal.bytes, Charset::Utf8mb4);
    let text = String::from_utf8_lossy(&text);
    let trimmed = if collation.is_binary() { &*text } else { text.trim_end_matches(' ') };
    trimmed.into()
}
