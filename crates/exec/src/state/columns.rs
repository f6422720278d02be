//! Columns of a type. Must not know where their values come from.

use selkie_types::{Column, Physical, SqlType};

/// An empty column of a type.
pub(crate) fn column_of(ty: &SqlType, capacity: usize) -> Column {
    Column::new(ty.physical(), scale_of(ty), capacity)
}

/// The scale of a column of a type.
pub(crate) fn scale_of(ty: &SqlType) -> u8 {
    match ty.physical() {
        Physical::Decimal => ty.decimals,
        _ => 0,
    }
}
