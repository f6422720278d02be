//! Dynamic columns: named values in one binary string, in the format of MariaDB's client library.
//!
//! [`format`] is the string as a whole, [`value`] the values in it, [`json`] both as JSON. Reads
//! any bytes and refuses what is malformed; must not know columns or batches.

mod format;
mod json;
mod value;

pub(crate) use format::{Columns, Malformed, Name, Stored};
pub(crate) use json::write_json;
pub(crate) use value::Item;
