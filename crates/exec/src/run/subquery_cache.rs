//! Results of subqueries by the values they depend on. [`crate::op`] fills and reads it; it lives
//! as long as one execution.

use std::sync::Arc;

use hashbrown::HashMap;
use selkie_expr::Raised;
use selkie_types::{Batch, Value};

/// Result of a subquery for one set of outer values.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    /// The single row, or none.
    Single(Option<Arc<[Value]>>),
    /// More than one row, under IGNORE.
    TooMany,
    Exists(bool),
    Rows(Arc<Vec<Batch>>),
}

/// A result, and the conditions that the subquery raised. It does not run again when an evaluation
/// around it is repeated.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) known: Known,
    pub(crate) raised: Option<Box<Raised>>,
}

/// Results of one subquery.
#[derive(Clone, Debug, Default)]
pub(crate) struct SubqueryCache {
    pub(crate) known: HashMap<Box<[u8]>, Answer>,
}
