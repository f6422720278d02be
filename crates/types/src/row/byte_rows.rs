//! A list of byte strings: encoded rows, encoded keys.
//! The same structure as a column of strings, so rows can be collected without copying.

use crate::BytesColumn;

/// Byte strings one after the other; engines and the executor exchange rows in this form.
pub type ByteRows = BytesColumn;
