//! Creates columns for a type. Must not depend on the source of their values. A decimal column has
//! one scale for all values, that of its type.

use selkie_types::{Column, Physical, SqlType};

/// An empty column of a type.
pub(crate) fn column_of(ty: &SqlType, capacity: usize) -> Column {
    Column::new(ty.physical(), scale_of(ty), capacity)
}

/// Decimal scale of a column of a type; 0 for other types.
pub(crate) fn scale_of(ty: &SqlType) -> u8 {
    match ty.physical() {
        Physical::Decimal => ty.decimals,
        _ => 0,
    }
}
