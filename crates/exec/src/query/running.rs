//! A statement being run, beside its tree.

use selkie_types::{SqlType, Value};

use crate::state::bulk::BulkRows;
use crate::state::prepared::Prepared;
use crate::state::terms::Terms;

/// A statement being run, beside its tree.
#[derive(Clone, Copy)]
pub(crate) struct Running<'a> {
    /// The text its spans point into.
    pub(crate) text: &'a [u8],
    /// Values of its placeholders.
    pub(crate) values: &'a [(Value, SqlType)],
    /// The prepared statement that keeps its plan, if it was prepared.
    pub(crate) prepared: Option<&'a Prepared>,
    /// The expressions of the program it is part of, if it is part of one.
    pub(crate) terms: Option<&'a Terms>,
    /// Rows of parameters, for an INSERT; `values` have their types.
    pub(crate) bulk: Option<BulkRows<'a>>,
}

impl<'a> Running<'a> {
    /// A statement by itself.
    pub(crate) fn new(text: &'a [u8], values: &'a [(Value, SqlType)]) -> Self {
        Self { text, values, prepared: None, terms: None, bulk: None }
    }

    /// The types of its values.
    pub(crate) fn types(&self) -> Vec<SqlType> {
        self.values.iter().map(|(_, ty)| ty.clone()).collect()
    }
}
