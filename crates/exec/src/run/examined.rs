//! The count of rows a statement may still examine under LIMIT ROWS EXAMINED. [`crate::op`] counts;
//! this file only holds the numbers.

use std::cell::Cell;

/// Rows that a statement may still examine, and whether it reached the limit.
#[derive(Default)]
pub(crate) struct Examined {
    /// Rows left; `None` without a limit.
    pub(crate) left: Cell<Option<u64>>,
    /// Whether the result ended early.
    pub(crate) incomplete: Cell<bool>,
}

impl Examined {
    /// Whether the statement has a limit. Scans then read row by row.
    pub(crate) fn is_limited(&self) -> bool {
        self.left.get().is_some()
    }

    pub(crate) fn begin(&self, limit: Option<u64>) {
        self.left.set(limit);
    }
}
