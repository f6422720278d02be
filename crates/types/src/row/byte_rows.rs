//! A list of byte strings: encoded rows, encoded keys.

use crate::BytesColumn;

/// Byte strings one after the other; what engines and executor hand each other.
pub type ByteRows = BytesColumn;
