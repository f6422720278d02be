//! Which columns an image has, by `binlog_row_image`.
//!
//! Must not know tables: what matters of a column is told.

/// `binlog_row_image`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RowImage {
    /// All columns.
    Full,
    /// The key of before, what is assigned of after.
    Minimal,
    /// All columns but BLOB and TEXT that are neither key nor changed.
    NoBlob,
}

/// What matters of a column.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnFacts {
    /// Part of the key by which rows are found: the primary key, or else one that is unique and
    /// without NULL.
    pub in_key: bool,
    /// BLOB or TEXT; a geometry is none.
    pub is_blob: bool,
    /// Generated and not stored.
    pub is_virtual: bool,
    /// Given by the statement, counted up, set by ON UPDATE, or generated and stored.
    pub is_assigned: bool,
}

impl RowImage {
    /// Bits of the columns of the image of before, from the lowest on.
    pub fn before(self, columns: &[ColumnFacts]) -> Vec<u8> {
        let image = self.with_key(columns);
        bits(columns, |column| match image {
            Self::Full => true,
            Self::Minimal => column.in_key,
            Self::NoBlob => column.in_key || !column.is_blob,
        })
    }

    /// Bits of the columns of the image of after, from the lowest on.
    pub fn after(self, columns: &[ColumnFacts]) -> Vec<u8> {
        let image = self.with_key(columns);
        bits(columns, |column| match image {
            Self::Full => true,
            Self::Minimal => column.is_assigned && !column.is_virtual,
            Self::NoBlob => !column.is_blob || column.is_assigned,
        })
    }

    /// What holds for a table: without a key, rows are found by all columns, and both images have
    /// them all.
    fn with_key(self, columns: &[ColumnFacts]) -> Self {
        if columns.iter().any(|column| column.in_key) { self } else { Self::Full }
    }
}

fn bits(columns: &[ColumnFacts], is_present: impl Fn(&ColumnFacts) -> bool) -> Vec<u8> {
    let bit = |byte, (at, column): (usize, &ColumnFacts)| byte | u8::from(is_present(column)) << at;
    columns.chunks(8).map(|part| part.iter().enumerate().fold(0, bit)).collect()
}
