//! Rows of parameters for a statement that is run for all of them at once.
//!
//! Must not plan or run it.

use std::mem::Discriminant;

use selkie_types::{SqlType, Value};

/// What stands for a placeholder.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A value.
    Value(Value, SqlType),
    /// The column's default.
    Default,
    /// What the column has; its default in a new row.
    Ignore,
}

impl Argument {
    pub(crate) fn is_value(&self) -> bool {
        matches!(self, Self::Value(..))
    }

    /// The value; NULL if it is none.
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

/// Which arguments of a row are values.
pub(crate) type Pattern = Vec<Discriminant<Argument>>;

/// Rows of parameters for a list of values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BulkRows<'a> {
    /// The arguments of each row.
    pub(crate) rows: &'a [Vec<Argument>],
    /// For each row the number of its pattern.
    pub(crate) patterns: &'a [u32],
}

/// What the plan of an INSERT for many rows depends on besides the types of its parameters.
#[derive(Debug, PartialEq)]
pub(crate) struct BulkShape {
    /// The patterns of the rows.
    pub(crate) patterns: Vec<Pattern>,
    /// Rows of values that a row of parameters stands for.
    pub(crate) height: usize,
    /// Placeholders are read elsewhere than in the values, or in subqueries.
    pub(crate) by_row: bool,
    /// For each parameter, whether its values are numbers of different digits.
    pub(crate) mixed: Vec<bool>,
}
