//! The table column an expression reads, for messages that name it.
//! Must not influence evaluation: equality of expressions ignores it.

use std::fmt;
use std::sync::Arc;

/// A table whose names messages can show.
pub trait NamedTable: Send + Sync {
    /// Names of schema, table and the column at position `at`.
    fn column_names(&self, at: usize) -> (&str, &str, &str);
}

/// The table column that a value comes from.
///
/// It says nothing about the value: expressions are equal whatever their origins.
#[derive(Clone, Default)]
pub struct Origin(Option<(Arc<dyn NamedTable>, u32)>);

impl Origin {
    /// The column at a position of a table.
    pub fn new(table: Arc<dyn NamedTable>, at: usize) -> Self {
        Self(u32::try_from(at).ok().map(|at| (table, at)))
    }

    /// Names of schema, table and column.
    pub(crate) fn names(&self) -> Option<(&str, &str, &str)> {
        self.0.as_ref().map(|(table, at)| table.column_names(*at as usize))
    }
}

impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Origin")
    }
}
