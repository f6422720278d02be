//! The stored form of a row, and rows as byte strings.
//!
//! ```text
//! [schema version u8][flags u8][null bits][fixed part][end offsets of variable columns][their bytes]
//! ```
//! All integers are little-endian. One null bit per nullable column in column order, bit 0 of byte
//! 0 first, set for NULL; a NULL still has its (zero or empty) place. End offsets count from the
//! first byte of the variable data and are 2 bytes, or 4 if flag [`FLAG_WIDE`] is set. Decimals are
//! their unscaled value at the declared scale in 8, 16 or 32 bytes. TIMESTAMP is a packed date and
//! time in UTC.
//!
//! The fixed part comes first so that a prefix of a row serves a query that needs no strings.
//! Rows come from disk: every access is bounds-checked and fails with [`RowCorrupt`].

mod byte_rows;
mod decode;
mod encode;
mod layout;
mod upgrade;

pub use byte_rows::ByteRows;
pub use layout::{FLAG_WIDE, RowColumn, RowLayout};
pub use upgrade::{RowSource, RowVersion};

/// A row that does not fit its layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowCorrupt;

impl std::fmt::Display for RowCorrupt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a stored row does not fit its table's layout")
    }
}

impl std::error::Error for RowCorrupt {}
