//! Functions and triggers as the statements that set them off see them.
//!
//! Statements run programs and programs run statements: the layers below programs know them by
//! these traits only.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_expr::{EvalContext, StoredCall};
use selkie_plan::physical::Plan;
use selkie_types::{Column, SqlResult, Value};

use crate::state::control::Control;
use crate::{Instance, Session};

/// The statement around a function or trigger.
#[derive(Clone, Copy)]
pub(crate) struct Around<'r> {
    pub(crate) instance: &'r Instance,
    pub(crate) session: &'r Session,
    /// Its limits.
    pub(crate) control: &'r Control,
    pub(crate) plan: &'r Plan,
    pub(crate) eval: &'r EvalContext<'r>,
}

/// Runs functions and triggers.
pub(crate) trait Programs: Send + Sync {
    /// The result of a function for some arguments.
    fn call(&self, around: Around<'_>, call: &StoredCall, args: Vec<Value>) -> SqlResult<Value>;

    /// The triggers that an event on a table sets off, `None` without any.
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

    /// Columns that BEFORE triggers give values to.
    fn assigned(&self) -> Vec<usize>;

    /// Runs the BEFORE triggers for the only row of `new`; what they assign replaces its values.
    fn before_row(&self, old: &[Arc<Column>], new: &mut [Arc<Column>]) -> SqlResult<()>;

    /// Runs the AFTER triggers for a row.
    fn after_row(&self, old: &[Arc<Column>], new: &[Arc<Column>]) -> SqlResult<()>;
}
