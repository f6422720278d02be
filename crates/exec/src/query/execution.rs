//! Context of one statement: created where the statement begins, and passed to everything that runs
//! it.
//!
//! Must not know any kind of statement. The operators of a plan share [`crate::run::Runtime`]
//! instead.

use std::sync::Arc;

use selkie_catalog::{Namespace, TableInfo};
use selkie_types::{SqlError, SqlResult};

use crate::query::running::Running;
use crate::state::control::Control;
use crate::{Instance, ResultSink, Session};

/// The execution of one statement.
pub(crate) struct Execution<'e> {
    pub(crate) instance: &'e Instance,
    pub(crate) session: &'e mut Session,
    /// Limits of the statement, as set when it began.
    pub(crate) control: &'e Control,
    pub(crate) running: Running<'e>,
    /// Receiver of its results.
    pub(crate) sink: &'e mut dyn ResultSink,
}

impl Execution<'_> {
    /// The same context for a part of the statement.
    pub(crate) fn nested(&mut self) -> Execution<'_> {
        let Self { instance, session, control, running, sink } = self;
        Execution { instance, session, control, running: *running, sink: &mut **sink }
    }

    /// The same context with another text and other values.
    pub(crate) fn with_running<'n>(&'n mut self, running: Running<'n>) -> Execution<'n> {
        Execution { running, ..self.nested() }
    }

    /// The same context with other limits.
    pub(crate) fn with_control<'n>(&'n mut self, control: &'n Control) -> Execution<'n> {
        Execution { control, ..self.nested() }
    }

    /// The same context with another receiver of results.
    pub(crate) fn with_sink<'n>(&'n mut self, sink: &'n mut dyn ResultSink) -> Execution<'n> {
        Execution { sink, ..self.nested() }
    }

    /// Instance and session for reading.
    pub(crate) fn scope(&self) -> Scope<'_> {
        Scope { instance: self.instance, session: self.session }
    }
}

/// Instance and session for reading, used to look names up and to plan statements.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) instance: &'a Instance,
    pub(crate) session: &'a Session,
}

impl Scope<'_> {
    /// The table or view that a name refers to in the session; error 1146 if there is none.
    pub(crate) fn table(self, schema: &str, name: &str) -> SqlResult<Arc<TableInfo>> {
        let snapshot = self.instance.catalog.snapshot();
        let temporary = &self.session.frame.temporary;
        let found = Namespace { snapshot: &snapshot, temporary }.table(schema, name).cloned();
        found.ok_or_else(|| SqlError::no_such_table(schema, name))
    }
}
