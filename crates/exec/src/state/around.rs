//! Interface through which statements run functions and triggers.
//!
//! Statements run programs and programs run statements. The layers below programs must know
//! programs only by these traits.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_expr::{EvalContext, GroupOfRows, StoredCall};
use selkie_plan::physical::Plan;
use selkie_types::{Column, SqlError, SqlResult, Value};

use crate::state::control::Control;
use crate::state::programs::ReachedTable;
use crate::{Instance, Session};

/// The statement that runs a function or trigger.
#[derive(Clone, Copy)]
pub(crate) struct Around<'r> {
    pub(crate) instance: &'r Instance,
    pub(crate) session: &'r Session,
    /// Limits of the statement.
    pub(crate) control: &'r Control,
    pub(crate) plan: &'r Plan,
    pub(crate) eval: &'r EvalContext<'r>,
}

/// Runs functions and triggers.
pub(crate) trait Programs: Send + Sync {
    /// Result of a function for the given arguments.
    fn call(&self, around: Around<'_>, call: &StoredCall, args: Vec<Value>) -> SqlResult<Value>;

    /// Result of an aggregate function for the rows of a group.
    fn group(&self, around: Around<'_>, call: &StoredCall, group: GroupOfRows) -> SqlResult<Value>;

    /// The tables that the functions and triggers of a plan may use.
    fn reached(&self, instance: &Instance, session: &Session, plan: &Plan) -> Vec<ReachedTable>;

    /// Triggers for an event on a table; `None` if there are none.
    fn triggers<'r>(
        &self,
        around: Around<'r>,
        table: &'r Arc<TableInfo>,
        event: &str,
    ) -> SqlResult<Option<Box<dyn Triggers + 'r>>>;
}

/// Triggers of one table for one event.
pub(crate) trait Triggers {
    /// Whether there are BEFORE triggers.
    fn has_before(&self) -> bool;

    /// Columns that BEFORE triggers assign.
    fn assigned(&self) -> Vec<usize>;

    /// Whether nobody can tell if the rows of a batch are changed together: after the BEFORE
    /// triggers of them all, before the AFTER triggers of the first.
    fn take_batches(&self) -> bool;

    /// Runs the BEFORE triggers for the first `rows` rows; values they assign replace those of
    /// `new`. More than one row needs [`Self::take_batches`]; an error then leaves no note.
    fn before(
        &self,
        old: &[Arc<Column>],
        new: &mut [Arc<Column>],
        rows: usize,
    ) -> SqlResult<AssignedFrom>;

    /// Runs the AFTER triggers for these rows, in order. More than one needs
    /// [`Self::take_batches`].
    fn after(
        &self,
        old: &[Arc<Column>],
        new: &[Arc<Column>],
        rows: &[u32],
    ) -> Result<(), FailedRow>;

    /// As [`Self::after`] for the only row.
    fn after_one(&self, old: &[Arc<Column>], new: &[Arc<Column>]) -> SqlResult<()> {
        self.after(old, new, &[0]).map_err(|failed| failed.error)
    }
}

/// Columns that triggers assigned, each with the first row for which one did.
pub(crate) type AssignedFrom = Vec<(usize, usize)>;

/// An error of a trigger and the row it ran for.
pub(crate) struct FailedRow {
    pub(crate) row: u32,
    pub(crate) error: SqlError,
}
