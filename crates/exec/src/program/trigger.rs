//! Triggers: which of a table run when, and the rows they see.

use std::sync::Arc;

use selkie_catalog::{TableInfo, Trigger};
use selkie_types::error::catalogue::ER_SP_NO_RECURSION;
use selkie_types::{Column, SqlError, SqlResult, SqlType, Value};

use super::call::within;
use super::compile;
use super::frame::{Frame, stored};
use super::machine::Machine;
use super::output::NoResults;
use super::sub;
use crate::Session;
use crate::state::around::{Around, Triggers};
use crate::state::columns::column_of;
use crate::state::programs::Compiled;

/// The row a trigger runs for.
pub(crate) struct TriggerRow {
    table: Arc<TableInfo>,
    pub(crate) old: Vec<Value>,
    pub(crate) new: Vec<Value>,
}

impl TriggerRow {
    fn column(&self, name: &str) -> SqlResult<usize> {
        let found = self.table.columns.iter().position(|c| c.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| SqlError::unknown_column(name, "NEW"))
    }

    pub(super) fn get(&self, new: bool, name: &str) -> SqlResult<(Value, SqlType)> {
        let at = self.column(name)?;
        let row = if new { &self.new } else { &self.old };
        Ok((row.get(at).cloned().unwrap_or_default(), self.table.columns[at].ty.clone()))
    }

    pub(super) fn set(
        &mut self,
        session: &Session,
        name: &str,
        (value, from): (&Value, &SqlType),
    ) -> SqlResult<()> {
        let at = self.column(name)?;
        let column = &self.table.columns[at];
        self.new[at] = stored(session, (value, from), (&column.name, &column.ty), 1)?;
        Ok(())
    }
}

/// The only row of columns.
fn values_of(columns: &[Arc<Column>]) -> Vec<Value> {
    columns.iter().map(|column| column.value(0)).collect()
}

/// Triggers of one table for one event.
struct TableTriggers<'r> {
    around: Around<'r>,
    table: &'r Arc<TableInfo>,
    before: Vec<Arc<Compiled>>,
    after: Vec<Arc<Compiled>>,
}

/// Those that an event on a table sets off, `None` without any.
pub(super) fn of_table<'r>(
    around: Around<'r>,
    table: &'r Arc<TableInfo>,
    event: &str,
) -> SqlResult<Option<Box<dyn Triggers + 'r>>> {
    let is_it = |t: &&Arc<Trigger>| {
        *t.table == *table.name() && *t.schema == *table.schema() && t.event == event
    };
    let mut triggers = TableTriggers { around, table, before: Vec::new(), after: Vec::new() };
    for trigger in around.plan.triggers.iter().filter(is_it) {
        let program = compile::trigger(around.session, trigger)?;
        if around.session.programs.active.contains(&program.key) {
            return Err(SqlError::new(&ER_SP_NO_RECURSION, &[]));
        }
        match trigger.before {
            true => triggers.before.push(program),
            false => triggers.after.push(program),
        }
    }
    let none = triggers.before.is_empty() && triggers.after.is_empty();
    Ok((!none).then(|| Box::new(triggers) as Box<dyn Triggers + 'r>))
}

impl Triggers for TableTriggers<'_> {
    fn has_before(&self) -> bool {
        !self.before.is_empty()
    }

    fn assigned(&self) -> Vec<usize> {
        let mut columns = Vec::new();
        for program in &self.before {
            compile::assigned_columns(&program.body, self.table, &mut columns);
        }
        columns
    }

    fn before_row(&self, old: &[Arc<Column>], new: &mut [Arc<Column>]) -> SqlResult<()> {
        if self.before.is_empty() {
            return Ok(());
        }
        let values = self.before(values_of(old), values_of(new))?;
        for ((column, value), info) in new.iter_mut().zip(values).zip(&self.table.columns) {
            if column.value(0) != value {
                let mut changed = column_of(&info.ty, 1);
                changed.push(&value);
                *column = Arc::new(changed);
            }
        }
        Ok(())
    }

    fn after_row(&self, old: &[Arc<Column>], new: &[Arc<Column>]) -> SqlResult<()> {
        if self.after.is_empty() {
            return Ok(());
        }
        self.run(&self.after, values_of(old), values_of(new)).map(drop)
    }
}

impl TableTriggers<'_> {
    fn before(&self, old: Vec<Value>, new: Vec<Value>) -> SqlResult<Vec<Value>> {
        self.run(&self.before, old, new)
    }

    fn run(
        &self,
        programs: &[Arc<Compiled>],
        old: Vec<Value>,
        new: Vec<Value>,
    ) -> SqlResult<Vec<Value>> {
        let mut row = TriggerRow { table: Arc::clone(self.table), old, new };
        for program in programs {
            let mut nowhere = NoResults("trigger");
            sub::with_sub_session(self.around, &mut nowhere, |execution| {
                within(execution, program, |execution| {
                    let frame = Frame::new(program);
                    let mut machine = Machine::new(execution.nested(), program, frame);
                    machine.row = Some(&mut row);
                    machine.run()
                })
            })?;
        }
        Ok(row.new)
    }
}
