//! Rows of parameters for a statement that runs in bulk.
//!
//! Must not plan or run the statement: that is [`crate::bulk`].

use std::mem::Discriminant;

use selkie_types::{Batch, SqlType, Value};

/// Argument for a placeholder.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A value.
    Value(Value, SqlType),
    /// The column's default.
    Default,
    /// No change of the column; its default in a new row.
    Ignore,
}

impl Argument {
    pub(crate) fn is_value(&self) -> bool {
        matches!(self, Self::Value(..))
    }

    /// The value; NULL for DEFAULT and IGNORE.
    pub(crate) fn value(&self) -> &Value {
        match self {
            Self::Value(value, _) => value,
            Self::Default | Self::Ignore => &Value::Null,
        }
    }

    pub(crate) fn into_value(self) -> (Value, SqlType) {
        match self {
            Self::Value(value, ty) => (value, ty),
            Self::Default | Self::Ignore => (Value::Null, SqlType::null()),
        }
    }
}

/// Kind of each argument of a row.
pub(crate) type Pattern = Vec<Discriminant<Argument>>;

/// Rows of parameters for a statement that runs once for them all.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ParameterRows<'a> {
    /// For a plan made for them.
    Listed(BulkRows<'a>),
    /// For the plan of a statement with one row of parameters: a column for each parameter.
    Columns(&'a Batch),
}

impl<'a> ParameterRows<'a> {
    pub(crate) fn listed(self) -> Option<BulkRows<'a>> {
        match self {
            Self::Listed(rows) => Some(rows),
            Self::Columns(_) => None,
        }
    }

    pub(crate) fn columns(self) -> Option<&'a Batch> {
        match self {
            Self::Listed(_) => None,
            Self::Columns(rows) => Some(rows),
        }
    }
}

/// Rows of parameters for a list of values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BulkRows<'a> {
    /// The arguments of each row.
    pub(crate) rows: &'a [Vec<Argument>],
    /// Pattern number of each row.
    pub(crate) patterns: &'a [u32],
}

/// Properties on which the plan of a bulk INSERT depends, besides its parameter types.
#[derive(Debug, PartialEq)]
pub(crate) struct BulkShape {
    /// The patterns of the rows.
    pub(crate) patterns: Vec<Pattern>,
    /// Rows of values per row of parameters.
    pub(crate) height: usize,
    /// Whether placeholders occur outside the values, or in subqueries.
    pub(crate) by_row: bool,
    /// For each parameter, whether its values have several types.
    pub(crate) mixed: Vec<bool>,
}
