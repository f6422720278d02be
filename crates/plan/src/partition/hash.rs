//! The hash of a row's columns for PARTITION BY KEY, over their values as MariaDB stores them. Must
//! never change: rows lie where it says.

use std::ops::Range;

use selkie_catalog::TableInfo;
use selkie_replication::images::StoredRows;
use selkie_types::charset::SortHash;
use selkie_types::{CollationId, RowLayout, SqlError, SqlResult, TypeKind};

/// Hashes columns of rows.
#[derive(Clone, Debug)]
pub(super) struct KeyHash {
    columns: Vec<KeyColumn>,
}

#[derive(Clone, Debug)]
struct KeyColumn {
    at: usize,
    form: Form,
}

/// Form in which a column's value is hashed.
#[derive(Clone, Debug)]
enum Form {
    /// The characters of a text.
    Text(CollationId),
    /// The bytes of a stored value of a fixed width, as text of a collation.
    Stored(StoredRows, CollationId),
    /// A number in eight bytes, the highest first.
    Bits,
    /// The bytes of a UUID in [`UUID_ORDER`].
    Uuid,
    /// Bytes, filled with zeros to a length.
    Padded(usize),
}

/// Compat: the order in which the stored bytes of a UUID are hashed. It gives the order of the text
/// for versions 1 to 5, whose bytes are stored in another order; it is applied to all.
const UUID_ORDER: [Range<usize>; 5] = [12..16, 10..12, 8..10, 6..8, 0..6];

impl KeyHash {
    /// For columns of a table. `algorithm`: `KEY ALGORITHM`, if given.
    pub(super) fn new(table: &TableInfo, columns: &[usize], algorithm: Option<u8>) -> Self {
        let of = |at: &usize| KeyColumn { at: *at, form: form(table, *at, algorithm) };
        Self { columns: columns.iter().map(of).collect() }
    }

    pub(super) fn columns(&self) -> Vec<usize> {
        self.columns.iter().map(|column| column.at).collect()
    }

    /// The hash of a row.
    pub(super) fn of_row(&self, layout: &RowLayout, row: &[u8]) -> SqlResult<i64> {
        let mut hash = SortHash::default();
        for column in &self.columns {
            let corrupt = |error: selkie_types::RowCorrupt| SqlError::internal(error);
            if layout.is_null(row, column.at).map_err(corrupt)? {
                hash.add_null();
                continue;
            }
            let stored = layout.stored(row, column.at).map_err(corrupt)?;
            match &column.form {
                Form::Text(collation) => hash.add_text(collation.info(), stored),
                Form::Padded(length) => {
                    hash.add_bytes(stored);
                    hash.add_bytes(&vec![0; length.saturating_sub(stored.len())]);
                }
                Form::Uuid => {
                    UUID_ORDER.iter().for_each(|range| {
                        hash.add_bytes(stored.get(range.clone()).unwrap_or_default());
                    });
                }
                Form::Bits => {
                    let bytes = stored.first_chunk().copied().unwrap_or_default();
                    hash.add_bytes(&u64::from_le_bytes(bytes).to_be_bytes());
                }
                Form::Stored(image, collation) => {
                    let mut bytes = Vec::new();
                    image.put(layout, row, &mut bytes).map_err(corrupt)?;
                    // The first byte tells whether it is NULL.
                    hash.add_text(collation.info(), &bytes[1..]);
                }
            }
        }
        Ok(i64::from(hash.finish()))
    }
}

fn form(table: &TableInfo, at: usize, algorithm: Option<u8>) -> Form {
    let ty = &table.columns[at].ty;
    let mut present = vec![0; table.columns.len().div_ceil(8)];
    present[at / 8] |= 1 << (at % 8);
    let first = algorithm == Some(1);
    let image = || StoredRows::new(&table.def.layout, &present);
    match ty.kind {
        TypeKind::Bit => Form::Bits,
        TypeKind::Char if ty.collation == CollationId::BINARY => Form::Padded(ty.length as usize),
        _ if ty.is_string() => Form::Text(ty.collation),
        TypeKind::Uuid => Form::Uuid,
        _ if let Some(kind) = ty.fixed_binary() => Form::Padded(kind.width()),
        // Compat: numbers are hashed as if they were latin1 text.
        _ if ty.is_numeric() && !first => Form::Stored(image(), CollationId::LATIN1_SWEDISH_CI),
        _ => Form::Stored(image(), CollationId::BINARY),
    }
}
