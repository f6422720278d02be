//! The stored form of a row, and rows as byte strings.
//!
//! ```text
//! [schema version u8][flags u8][null bits][fixed part][ends of variable columns][their bytes]
//! ```
//! All integers are little-endian. There is one null bit per nullable column, in column order from
//! bit 0 of byte 0; it is set for NULL. A NULL keeps its place (zero or empty). End offsets count
//! from the first byte of the variable data; they have 2 bytes, or 4 if flag [`FLAG_WIDE`] is set.
//! A decimal is its unscaled value at the declared scale, in 8, 16 or 32 bytes. TIMESTAMP is a
//! packed date and time in UTC.
//!
//! The fixed part comes first, so that a prefix of a row is enough for a query without strings.
//! Rows come from disk: every access is bounds-checked and fails with [`RowCorrupt`].

mod byte_rows;
mod decode;
mod draft;
mod encode;
mod layout;
mod upgrade;

pub use byte_rows::ByteRows;
pub use draft::RowDraft;
pub use layout::{FLAG_WIDE, RowColumn, RowLayout};
pub use upgrade::{RowSource, RowVersion};

/// Error for a row that does not fit its layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowCorrupt;

impl std::fmt::Display for RowCorrupt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a stored row does not fit its table's layout")
    }
}

impl std::error::Error for RowCorrupt {}
