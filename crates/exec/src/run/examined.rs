//! The count of rows a statement may still examine under LIMIT ROWS EXAMINED.

use std::cell::Cell;

/// The rows a statement may still examine, and whether it ran out of them.
#[derive(Default)]
pub(crate) struct Examined {
    /// `None` without a limit.
    pub(crate) left: Cell<Option<u64>>,
    /// The rows ended early.
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
