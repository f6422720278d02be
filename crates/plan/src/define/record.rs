//! Record lengths of MariaDB, which limit the columns of a table. Stored rows here have another
//! format.

use selkie_catalog::ColumnInfo;
use selkie_types::error::catalogue::ER_TOO_BIG_ROWSIZE;
use selkie_types::{SqlError, SqlResult, SqlType, TypeKind};

/// Maximum length of a row without its texts, in bytes.
const BYTES_MAX: u64 = 65_535;

/// An error (1118) if rows may be longer than the limit.
pub(super) fn check(columns: &[ColumnInfo]) -> SqlResult<()> {
    let nullable = columns.iter().filter(|column| column.nullable).count() as u64;
    let bytes: u64 = columns.iter().map(|column| packed_bytes(&column.ty)).sum();
    match bytes + nullable.div_ceil(8) > BYTES_MAX {
        true => Err(SqlError::new(&ER_TOO_BIG_ROWSIZE, &[&BYTES_MAX])),
        false => Ok(()),
    }
}

/// Maximum length of a value in a record, in bytes.
pub(super) fn packed_bytes(ty: &SqlType) -> u64 {
    const POINTER: u64 = 8;
    let bytes = ty.length as u64 * ty.collation.charset().max_len() as u64;
    let fraction = u64::from(ty.decimals).min(6).div_ceil(2);
    let members = ty.members.as_ref().map_or(0, |members| members.len()) as u64;
    match ty.kind {
        TypeKind::TinyInt | TypeKind::Year => 1,
        TypeKind::SmallInt => 2,
        TypeKind::MediumInt | TypeKind::Date => 3,
        TypeKind::Int | TypeKind::Float => 4,
        TypeKind::BigInt | TypeKind::Double => 8,
        TypeKind::Time => 3 + fraction,
        TypeKind::Timestamp => 4 + fraction,
        TypeKind::DateTime => 5 + fraction,
        TypeKind::Decimal => decimal_bytes(ty.length.into(), ty.decimals.into()),
        TypeKind::Bit => u64::from(ty.length).div_ceil(8),
        TypeKind::Enum => 1 + u64::from(members > 255),
        TypeKind::Set if members > 32 => 8,
        TypeKind::Set => members.div_ceil(8).max(1),
        TypeKind::TinyText => POINTER + 1,
        TypeKind::Text => POINTER + 2,
        TypeKind::MediumText => POINTER + 3,
        TypeKind::LongText => POINTER + 4,
        TypeKind::VarChar if bytes > 255 => bytes + 2,
        TypeKind::VarChar => bytes + 1,
        _ => bytes,
    }
}

/// Bytes of a packed decimal: nine digits take four bytes.
fn decimal_bytes(digits: u64, decimals: u64) -> u64 {
    let bytes = |digits: u64| digits / 9 * 4 + (digits % 9).div_ceil(2);
    bytes(digits.saturating_sub(decimals)) + bytes(decimals)
}
