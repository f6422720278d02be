//! Where each column lies in a stored row.

use crate::{Physical, SqlType};

/// Flag of a row whose end offsets take 4 bytes.
pub const FLAG_WIDE: u8 = 1;

/// Bytes before the null bits.
pub(super) const HEADER_BYTES: usize = 2;

/// One column's place in the row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowColumn {
    /// Its type.
    pub ty: SqlType,
    /// Its null bit, if it may be NULL.
    pub null_bit: Option<u32>,
    pub(super) place: Place,
}

/// Fixed columns are found by offset, variable ones by their rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    Fixed { offset: u32, width: u8 },
    Variable { rank: u32 },
}

/// The layout of a table's rows. Follows from the column types, and from those the table had before
/// if rows stored then are still there.
#[derive(Clone, Debug, PartialEq)]
pub struct RowLayout {
    columns: Vec<RowColumn>,
    pub(super) fixed_end: usize,
    pub(super) variable: usize,
    /// First byte of rows of this layout.
    pub(super) version: u8,
    /// What rows with lower first bytes are, by that byte.
    pub(super) earlier: Option<super::upgrade::Earlier>,
}

impl RowLayout {
    /// The layout of columns given as (type, nullable).
    pub fn new<'a>(types: impl Iterator<Item = (&'a SqlType, bool)> + Clone) -> Self {
        let nullable = types.clone().filter(|(_, nullable)| *nullable).count();
        let mut offset = HEADER_BYTES + nullable.div_ceil(8);
        let (mut bit, mut rank) = (0, 0);
        let mut columns = Vec::new();
        for (ty, nullable) in types {
            let null_bit = nullable.then(|| {
                bit += 1;
                bit - 1
            });
            let place = match ty.fixed_width() {
                Some(width) => {
                    offset += width;
                    Place::Fixed { offset: (offset - width) as u32, width: width as u8 }
                }
                None => {
                    rank += 1;
                    Place::Variable { rank: rank - 1 }
                }
            };
            columns.push(RowColumn { ty: ty.clone(), null_bit, place });
        }
        Self { columns, fixed_end: offset, variable: rank as usize, version: 0, earlier: None }
    }

    /// The columns in order.
    pub fn columns(&self) -> &[RowColumn] {
        &self.columns
    }

    /// Bytes of a row before its variable data's end offsets: enough to decode fixed columns.
    pub fn fixed_bytes(&self) -> usize {
        self.fixed_end
    }

    /// Whether a prefix of `fixed_bytes` suffices to decode column `column`.
    pub fn is_fixed(&self, column: usize) -> bool {
        matches!(self.columns[column].place, Place::Fixed { .. })
    }

    pub(super) fn physical(&self, column: usize) -> Physical {
        self.columns[column].ty.physical()
    }
}
