//! Position of each column in a stored row.
//! Computed from the column types: only the types are stored with a table.

use crate::{Physical, SqlType};

/// Flag of a row whose end offsets take 4 bytes.
pub const FLAG_WIDE: u8 = 1;

/// Bytes before the null bits.
pub(super) const HEADER_BYTES: usize = 2;

/// Position of a column in the row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowColumn {
    /// Its type.
    pub ty: SqlType,
    /// Its null bit; `None` if the column is NOT NULL.
    pub null_bit: Option<u32>,
    pub(super) place: Place,
}

/// A fixed column has an offset, a variable one a rank among the variable columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    Fixed { offset: u32, width: u8 },
    Variable { rank: u32 },
}

/// The layout of a table's rows. It follows from the column types, and from earlier column types as
/// long as rows of that time exist.
#[derive(Clone, Debug, PartialEq)]
pub struct RowLayout {
    columns: Vec<RowColumn>,
    pub(super) fixed_end: usize,
    pub(super) variable: usize,
    /// First byte of rows of this layout.
    pub(super) version: u8,
    /// The earlier versions, by their first byte.
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

    /// Bytes of a row before the end offsets of variable data: enough to decode fixed columns.
    pub fn fixed_bytes(&self) -> usize {
        self.fixed_end
    }

    /// Whether the first `fixed_bytes` of a row are enough to decode column `column`.
    pub fn is_fixed(&self, column: usize) -> bool {
        matches!(self.columns[column].place, Place::Fixed { .. })
    }

    pub(super) fn physical(&self, column: usize) -> Physical {
        self.columns[column].ty.physical()
    }
}
