//! The body of an event. Compat: it is a procedure without parameters.
//!
//! Must not know when it runs.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use selkie_catalog::Event;
use selkie_sql::ast::Statement;
use selkie_types::{SqlError, SqlResult};

use super::call::within;
use super::compile;
use super::machine::Machine;
use crate::query::execution::Execution;
use crate::state::programs::{Compiled, Origin, ProgramKey, ProgramSetting, Reach};
use crate::state::terms::Terms;

/// Runs the body of an event.
pub(crate) fn run_event(execution: &mut Execution<'_>, event: &Event) -> SqlResult<()> {
    let program = compiled(event)?;
    within(execution, &program, (&[], 0), |execution, frame| {
        Machine::new(execution.nested(), &program, frame).run()
    })
}

fn compiled(event: &Event) -> SqlResult<Compiled> {
    let text = format!("CREATE EVENT e ON SCHEDULE AT 0 DO {}", event.body);
    let Statement::CreateEvent(create) = compile::parse(&text, event.context.sql_mode)? else {
        return Err(SqlError::internal("the text of an event is not one"));
    };
    let (schema, name): (Arc<str>, Arc<str>) = ((*event.schema).into(), (*event.name).into());
    Ok(Compiled {
        key: ProgramKey::Event(schema, name),
        name: format!("{}.{}", event.schema, event.name),
        origin: Origin::Statement,
        setting: Some(ProgramSetting::new(&event.schema, &event.context, false)),
        text: text.into_bytes().into(),
        body: create.body.program,
        modes: Vec::new(),
        shared: None,
        returns: None,
        collation: compile::collation_named(&event.context.database_collation),
        statements: Mutex::default(),
        terms: Terms::default(),
        reach: Reach::Anywhere,
        changes: Vec::new(),
        touched: OnceLock::new(),
    })
}
