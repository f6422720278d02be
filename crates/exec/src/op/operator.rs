//! The interface of all operators: a parent pulls batches of rows from its child.

use selkie_types::{Batch, SqlResult};

/// A source of batches. Batches are never empty.
pub(crate) trait Operator {
    /// The next rows, `None` after the last.
    fn next(&mut self) -> SqlResult<Option<Batch>>;
}

/// An operator of one execution.
pub(crate) type BoxOperator<'r> = Box<dyn Operator + 'r>;
