//! Selection of the columns of an image, by `binlog_row_image`.
//!
//! Must not know tables: callers give the facts about each column.

/// `binlog_row_image`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RowImage {
    /// All columns.
    Full,
    /// Before image: the key. After image: the assigned columns.
    Minimal,
    /// All columns but some BLOB and TEXT ones: the before image has those of the key, the after
    /// image the assigned ones.
    NoBlob,
}

/// Facts about a column that decide whether an image has it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnFacts {
    /// Part of the key by which rows are found: the primary key, or else a unique key without NULL.
    pub in_key: bool,
    /// BLOB or TEXT; a geometry does not count as one.
    pub is_blob: bool,
    /// Generated and not stored.
    pub is_virtual: bool,
    /// Assigned by the statement, AUTO_INCREMENT, ON UPDATE, or generated and stored.
    pub is_assigned: bool,
}

impl RowImage {
    /// Bits of the columns in the before image, from the lowest on.
    pub fn before(self, columns: &[ColumnFacts]) -> Vec<u8> {
        let image = self.with_key(columns);
        bits(columns, |column| match image {
            Self::Full => true,
            Self::Minimal => column.in_key,
            Self::NoBlob => column.in_key || !column.is_blob,
        })
    }

    /// Bits of the columns in the after image, from the lowest on.
    pub fn after(self, columns: &[ColumnFacts]) -> Vec<u8> {
        let image = self.with_key(columns);
        bits(columns, |column| match image {
            Self::Full => true,
            Self::Minimal => column.is_assigned && !column.is_virtual,
            Self::NoBlob => !column.is_blob || column.is_assigned,
        })
    }

    /// The setting that applies to a table. Without a key, rows are found by all columns, so both
    /// images have all columns.
    fn with_key(self, columns: &[ColumnFacts]) -> Self {
        if columns.iter().any(|column| column.in_key) { self } else { Self::Full }
    }
}

fn bits(columns: &[ColumnFacts], is_present: impl Fn(&ColumnFacts) -> bool) -> Vec<u8> {
    let bit = |byte, (at, column): (usize, &ColumnFacts)| byte | u8::from(is_present(column)) << at;
    columns.chunks(8).map(|part| part.iter().enumerate().fold(0, bit)).collect()
}
