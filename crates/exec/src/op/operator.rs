//! The interface of all operators: a parent pulls batches of rows from its child. [`super::tree`]
//! opens an operator; it belongs to one execution.

use selkie_types::{Batch, SqlResult};

/// A source of batches. Batches must not be empty.
pub(crate) trait Operator {
    /// Next rows; `None` after the last.
    fn next(&mut self) -> SqlResult<Option<Batch>>;
}

/// An operator of one execution.
pub(crate) type BoxOperator<'r> = Box<dyn Operator + 'r>;
