//! A statement being run, beside its tree.

use selkie_types::{SqlType, Value};

use crate::state::prepared::Prepared;

/// A statement being run, beside its tree.
#[derive(Clone, Copy)]
pub(crate) struct Running<'a> {
    /// The text its spans point into.
    pub(crate) text: &'a [u8],
    /// Values of its placeholders.
    pub(crate) values: &'a [(Value, SqlType)],
    /// The prepared statement that keeps its plan, if it was prepared.
    pub(crate) prepared: Option<&'a Prepared>,
}
