//! Routines and views that the server brings with it. They are not stored: the server adds them to
//! the definitions at each start, so that data directories of older servers have them too.
//!
//! Must not replace what a user has stored.

use std::sync::Arc;

use selkie_catalog::TableKind;
use selkie_sql::ast::{CreateRoutine, CreateView, RoutineKind, Statement};
use selkie_types::{SqlError, SqlResult};

use super::Ddl;
use crate::query::execution::Execution;
use crate::query::planning;
use crate::query::running::Running;
use crate::state::control::Control;
use crate::{Instance, NullSink, Session, program, query};

/// Adds what the CREATE statement `text` defines. A stored routine or view of the same name stays;
/// a view takes the place of a computed table.
pub fn add_unstored(instance: &Instance, session: &mut Session, text: &[u8]) -> SqlResult<()> {
    let parsed = planning::parse(session, text, None)?;
    session.values.statement_start.set(query::now_micros(session));
    let control = &Control::new(session);
    let running = Running::new(text, &[]);
    let sink = &mut NullSink;
    let mut execution = Execution { instance, session, control, running, sink };
    let mut ddl = Ddl::new(&mut execution);
    match &parsed.statement {
        Statement::CreateRoutine(create) => ddl.add_routine(create),
        Statement::CreateView(create) => ddl.add_view(create),
        _ => Err(SqlError::internal("the server brings only routines and views")),
    }
}

impl Ddl<'_> {
    fn add_routine(&mut self, create: &CreateRoutine) -> SqlResult<()> {
        let (schema, name) = self.resolve(&create.name)?;
        let context = self.program_context(&schema, create.definer.as_ref())?;
        let function = create.kind == RoutineKind::Function;
        program::check_body(self.session, &create.body)?;
        let routine = self.routine(create, &schema, name, context)?;
        self.instance.catalog.publish(|snapshot| {
            if snapshot.routine(&routine.schema, function, &routine.name).is_none() {
                snapshot.put_routine(routine);
            }
        });
        Ok(())
    }

    fn add_view(&mut self, create: &CreateView) -> SqlResult<()> {
        let (schema, name) = self.resolve(&create.name)?;
        let snapshot = self.instance.catalog.snapshot();
        let old = snapshot.table(&schema, name);
        if old.is_some_and(|old| !matches!(old.kind, TableKind::System)) {
            return Ok(());
        }
        let view = self.view(create, None, &snapshot, &schema)?;
        self.instance.catalog.publish(|snapshot| snapshot.put_table(Arc::new(view)));
        Ok(())
    }
}
