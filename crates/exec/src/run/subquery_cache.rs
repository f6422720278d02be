//! Results of subqueries by the values they depend on.

use std::sync::Arc;

use hashbrown::HashMap;
use selkie_types::Value;

use super::SharedRows;

/// The result of a subquery for one set of outer values.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    /// Its single row, if it has one.
    Single(Option<Arc<[Value]>>),
    /// More than one row, to a statement that says IGNORE.
    TooMany,
    Exists(bool),
    Rows(SharedRows),
}

/// Results of one subquery.
#[derive(Clone, Debug, Default)]
pub(crate) struct SubqueryCache {
    pub(crate) known: HashMap<Box<[u8]>, Known>,
}
