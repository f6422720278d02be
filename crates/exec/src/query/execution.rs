//! What a statement is executed with: made where it begins, handed to all that take part in it.
//!
//! Must not know any kind of statement. What the operators of a plan share is [`crate::run`]'s.

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
    /// Its limits, those in force when it began.
    pub(crate) control: &'e Control,
    pub(crate) running: Running<'e>,
    /// Where its results go.
    pub(crate) sink: &'e mut dyn ResultSink,
}

impl Execution<'_> {
    /// The same for a part of the statement.
    pub(crate) fn nested(&mut self) -> Execution<'_> {
        let Self { instance, session, control, running, sink } = self;
        Execution { instance, session, control, running: *running, sink: &mut **sink }
    }

    /// The same with another text and other values.
    pub(crate) fn with_running<'n>(&'n mut self, running: Running<'n>) -> Execution<'n> {
        Execution { running, ..self.nested() }
    }

    /// The same under other limits.
    pub(crate) fn with_control<'n>(&'n mut self, control: &'n Control) -> Execution<'n> {
        Execution { control, ..self.nested() }
    }

    /// The same with another place for results.
    pub(crate) fn with_sink<'n>(&'n mut self, sink: &'n mut dyn ResultSink) -> Execution<'n> {
        Execution { sink, ..self.nested() }
    }

    /// Instance and session, for what changes neither.
    pub(crate) fn scope(&self) -> Scope<'_> {
        Scope { instance: self.instance, session: self.session }
    }
}

/// Instance and session for reading: names are looked up in it, statements are planned in it.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) instance: &'a Instance,
    pub(crate) session: &'a Session,
}

impl Scope<'_> {
    /// The table or view that a name means to the session, or error 1146.
    pub(crate) fn table(self, schema: &str, name: &str) -> SqlResult<Arc<TableInfo>> {
        let snapshot = self.instance.catalog.snapshot();
        let temporary = &self.session.frame.temporary;
        let found = Namespace { snapshot: &snapshot, temporary }.table(schema, name).cloned();
        found.ok_or_else(|| SqlError::no_such_table(schema, name))
    }
}
