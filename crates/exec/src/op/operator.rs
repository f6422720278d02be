//! The interface of all operators: a parent pulls batches of rows from its child. [`super::tree`]
//! opens an operator; it belongs to one execution.

use std::sync::Arc;

use selkie_types::{Batch, SqlError, SqlResult};

use crate::run::scan::Fold;

/// A source of batches. Batches must not be empty.
pub(crate) trait Operator {
    /// Next rows; `None` after the last.
    fn next(&mut self) -> SqlResult<Option<Batch>>;

    /// Whether [`Self::next_for`] may give rows that lanes have folded.
    fn takes_folds(&self) -> bool {
        false
    }

    /// The same as [`Self::next`] for a parent that needs no rows which lanes have folded into
    /// `fold`. All calls have the same `fold`.
    fn next_for(&mut self, fold: &Arc<dyn Fold>) -> SqlResult<Option<Rows>> {
        let _ = fold;
        Ok(self.next()?.map(Rows::Given))
    }
}

/// Rows for a parent that folds them.
pub(crate) enum Rows {
    Given(Batch),
    /// A lane has folded `rows` rows under a number.
    Folded {
        number: u64,
        rows: usize,
    },
}

impl Rows {
    /// The rows for a parent that folds none.
    pub(crate) fn given(rows: Option<Self>) -> SqlResult<Option<Batch>> {
        match rows {
            Some(Self::Given(batch)) => Ok(Some(batch)),
            Some(Self::Folded { .. }) => Err(SqlError::internal("folded rows are wanted")),
            None => Ok(None),
        }
    }
}

/// An operator of one execution.
pub(crate) type BoxOperator<'r> = Box<dyn Operator + 'r>;
