//! Dynamic columns: named values in one binary string, in the format of MariaDB's client library.
//!
//! [`format`] is the whole string, [`value`] a value in it, [`json`] converts both to JSON. Any
//! bytes may come in; malformed ones are refused. Must not know columns or batches.

mod format;
mod json;
mod value;

pub(crate) use format::{Columns, Malformed, Name, Stored};
pub(crate) use json::write_json;
pub(crate) use value::Item;
