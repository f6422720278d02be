//! Column definitions of result sets: types in the form of the client protocol.
//!
//! Must not look at rows.

use selkie_plan::physical::{OutputColumn, PartOf, TextOf};
use selkie_protocol::FieldType;
use selkie_protocol::field_type::flags;
use selkie_protocol::packet::ColumnDef;
use selkie_types::{
    Charset, CollationId, GeometryKind, JsonRole, NOT_FIXED_DECIMALS, SqlType, TypeKind,
};

/// Number of the binary collation; numbers and dates have it too.
const BINARY: u16 = 63;
/// Compat: string expressions announce this number of decimals; string columns announce none.
const STRING_DECIMALS: u8 = 39;

/// Compat: a time that shows as many digits as its value needs announces this number, too.
pub(super) const AS_NEEDED: u8 = STRING_DECIMALS;

/// The wire type of an SQL type.
pub(super) fn field_type(ty: &SqlType) -> FieldType {
    match ty.kind {
        _ if ty.geometry.is_some() => FieldType::Geometry,
        TypeKind::Null => FieldType::Null,
        TypeKind::TinyInt => FieldType::Tiny,
        TypeKind::SmallInt => FieldType::Short,
        TypeKind::MediumInt => FieldType::Int24,
        TypeKind::Int => FieldType::Long,
        TypeKind::BigInt => FieldType::LongLong,
        TypeKind::Float => FieldType::Float,
        TypeKind::Double => FieldType::Double,
        TypeKind::Decimal => FieldType::NewDecimal,
        TypeKind::Bit => FieldType::Bit,
        TypeKind::Year => FieldType::Year,
        TypeKind::Date => FieldType::Date,
        TypeKind::Time => FieldType::Time,
        TypeKind::DateTime => FieldType::DateTime,
        TypeKind::Timestamp => FieldType::Timestamp,
        TypeKind::Char
        | TypeKind::Enum
        | TypeKind::Set
        | TypeKind::Inet4
        | TypeKind::Inet6
        | TypeKind::Uuid => FieldType::String,
        TypeKind::VarChar => FieldType::VarString,
        TypeKind::TinyText | TypeKind::Text | TypeKind::MediumText | TypeKind::LongText => {
            FieldType::Blob
        }
    }
}

/// The definition of `column` for a client that reads strings in the character set of `announced`.
pub fn column_def(column: &OutputColumn, announced: Option<CollationId>) -> ColumnDef<'_> {
    let results = announced.map(CollationId::charset);
    let ty = &column.ty;
    let is_column = column.kept;
    let is_field = is_column || !column.table.is_empty();
    // Compat: joined texts are no columns, and have the length of their type all the same.
    let is_joined = !is_field && column.text == TextOf::Joined && ty.is_text_or_blob();
    ColumnDef {
        schema: &column.schema,
        table: &column.table,
        org_table: &column.org_table,
        name: shortened(&column.name),
        org_name: &column.org_name,
        collation: collation(ty, announced),
        length: match is_field {
            _ if is_joined => text_length(ty, ty.length, results),
            true => display_length(ty, results),
            false => computed_length(ty, results),
        },
        field_type: if is_field || is_joined { field_type(ty) } else { computed_type(ty) },
        flags: type_flags(ty, is_column, is_field) | blob_flag(ty, is_field) | column_flags(column),
        decimals: match column.text {
            TextOf::AsNeeded => AS_NEEDED,
            _ => decimals(ty, is_column || column.text != TextOf::Expression),
        },
        type_name: extended_name(ty),
        format_name: if ty.json == JsonRole::Document { "json" } else { "" },
        names: results,
    }
}

/// The type's name for clients that ask for it. Compat: GEOMETRY has none.
fn extended_name(ty: &SqlType) -> &'static str {
    match ty.geometry_kind() {
        Some(GeometryKind::Geometry) => "",
        Some(kind) => kind.name(),
        None if ty.fixed_binary().is_some() => ty.name(),
        None => "",
    }
}

/// The wire type of an expression. Compat: MEDIUMTEXT and LONGTEXT differ only for expressions.
fn computed_type(ty: &SqlType) -> FieldType {
    match ty.kind {
        _ if ty.geometry.is_some() => FieldType::Geometry,
        TypeKind::MediumText => FieldType::MediumBlob,
        TypeKind::LongText => FieldType::LongBlob,
        _ => field_type(ty),
    }
}

/// Maximum bytes of an expression's value: a text has its maximum length.
fn computed_length(ty: &SqlType, results: Option<Charset>) -> u32 {
    let bytes = |most: u32| {
        let width = ty.collation.charset().max_len() as u32;
        ty.length.saturating_mul(width).min(most)
    };
    match ty.kind {
        TypeKind::MediumText => text_length(ty, bytes(16_777_215), results),
        TypeKind::LongText => text_length(ty, ty.length, results),
        _ => display_length(ty, results),
    }
}

/// Compat: names longer than 255 bytes are cut.
fn shortened(name: &str) -> &str {
    &name[..name.floor_char_boundary(255)]
}

fn has_text(ty: &SqlType) -> bool {
    let members = matches!(ty.kind, TypeKind::Enum | TypeKind::Set);
    (ty.is_string() || members) && ty.collation.0 != BINARY || ty.fixed_binary().is_some()
}

fn collation(ty: &SqlType, announced: Option<CollationId>) -> u16 {
    match announced {
        _ if !has_text(ty) => BINARY,
        Some(collation) => collation.0,
        None => ty.collation.0,
    }
}

/// Maximum bytes of a value.
fn display_length(ty: &SqlType, results: Option<Charset>) -> u32 {
    let fraction = |base: u32| match ty.decimals.min(6) {
        0 => base,
        digits => base + 1 + u32::from(digits),
    };
    match ty.kind {
        TypeKind::Decimal => ty.length + u32::from(ty.decimals > 0) + u32::from(!ty.unsigned),
        TypeKind::Date => 10,
        TypeKind::Time => fraction(10),
        TypeKind::DateTime | TypeKind::Timestamp => fraction(19),
        TypeKind::TinyText => text_length(ty, 255, results),
        TypeKind::Text => text_length(ty, 65_535, results),
        TypeKind::MediumText => text_length(ty, 16_777_215, results),
        TypeKind::LongText if ty.length == u32::MAX => u32::MAX,
        TypeKind::LongText => text_length(ty, ty.length, results),
        TypeKind::Enum => longest_member(ty).saturating_mul(width(ty, results)),
        TypeKind::Set => all_members(ty).saturating_mul(width(ty, results)),
        _ if has_text(ty) => ty.length.saturating_mul(width(ty, results)),
        _ if ty.non_negative && ty.length > 1 => ty.length - 1,
        _ => ty.length,
    }
}

/// Compat: a text of n bytes is announced as if each byte became one character of the client's set.
fn text_length(ty: &SqlType, bytes: u32, results: Option<Charset>) -> u32 {
    if has_text(ty) { bytes.saturating_mul(width(ty, results)) } else { bytes }
}

fn width(ty: &SqlType, results: Option<Charset>) -> u32 {
    results.unwrap_or(ty.collation.charset()).max_len() as u32
}

fn members(ty: &SqlType) -> impl Iterator<Item = u32> {
    ty.members.iter().flat_map(|m| m.iter()).map(|m| m.chars().count() as u32)
}

fn longest_member(ty: &SqlType) -> u32 {
    members(ty).max().unwrap_or(0)
}

fn all_members(ty: &SqlType) -> u32 {
    let (count, sum) = members(ty).fold((0, 0), |(n, s), m| (n + 1, s + m));
    sum + u32::saturating_sub(count, 1)
}

fn decimals(ty: &SqlType, is_whole: bool) -> u8 {
    match ty.kind {
        TypeKind::Float | TypeKind::Double => ty.decimals.min(NOT_FIXED_DECIMALS),
        TypeKind::Decimal | TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp => {
            ty.decimals
        }
        _ if ty.is_string() && ty.geometry.is_none() && !is_whole => STRING_DECIMALS,
        _ => 0,
    }
}

fn type_flags(ty: &SqlType, is_column: bool, is_field: bool) -> u16 {
    let mut set = 0;
    let mut add = |on: bool, flag: u16| set |= if on { flag } else { 0 };
    let numeric = ty.is_numeric();
    let always_unsigned = matches!(ty.kind, TypeKind::Bit | TypeKind::Year | TypeKind::Timestamp);
    let hexadecimal = ty.is_string() && ty.unsigned;
    // Compat: values with a fixed number of bytes are unsigned; those of columns are also binary.
    let fixed = ty.fixed_binary().is_some();
    add(numeric && ty.unsigned || always_unsigned || hexadecimal || fixed, flags::UNSIGNED);
    add(ty.zerofill, flags::ZEROFILL);
    add(ty.kind == TypeKind::Enum, flags::ENUM);
    add(ty.kind == TypeKind::Set, flags::SET);
    // Compat: numbers of expressions are flagged binary, numbers of columns are not.
    let binary_string = ty.is_string() && ty.collation.info().is_bin();
    let binary =
        ty.is_temporal() || binary_string || ty.kind == TypeKind::Null || numeric && !is_column;
    let binary = binary || fixed && is_field;
    add(binary, flags::BINARY);
    set
}

fn blob_flag(ty: &SqlType, is_field: bool) -> u16 {
    if is_field && ty.is_text_or_blob() { flags::BLOB } else { 0 }
}

fn column_flags(column: &OutputColumn) -> u16 {
    let mut set = 0;
    let mut add = |on: bool, flag: u16| set |= if on { flag } else { 0 };
    add(!column.nullable, flags::NOT_NULL);
    add(column.primary_key, flags::PRI_KEY);
    add(column.unique_key, flags::UNIQUE_KEY);
    add(column.multiple_key, flags::MULTIPLE_KEY);
    add(column.part == PartOf::Index, PART_OF_KEY);
    add(column.part == PartOf::Groups, GROUP);
    add(column.auto_increment, flags::AUTO_INCREMENT);
    let lacks_default = column.no_default && !column.auto_increment;
    add(lacks_default, flags::NO_DEFAULT_VALUE);
    add(column.on_update_now, flags::ON_UPDATE_NOW);
    add(column.sets_itself, flags::TIMESTAMP);
    set
}

/// Flag of a column that is part of a key: internal to MariaDB, but its clients see it.
const PART_OF_KEY: u16 = 16384;
/// Flag of a group's key in a temporary table. Internal too.
const GROUP: u16 = 32768;
