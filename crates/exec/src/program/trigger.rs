//! Triggers: those of a table that run at an event, and the rows they see.
//!
//! # Invariants
//! - TRIGGER-1 Rows are changed together only if nobody can tell: BEFORE triggers read their row
//!   and nothing else, AFTER triggers change nothing but user variables and tables that stand
//!   apart ([`stands_apart`]).

use std::cell::Cell;
use std::sync::Arc;

use selkie_catalog::{TableInfo, Trigger, quote_identifier};
use selkie_sql::ast::Local;
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::ER_SP_NO_RECURSION;
use selkie_types::{Column, Privileges, SqlError, SqlResult, SqlType, Value};

use super::call::within;
use super::compile;
use super::frame::{nearest, row_refused, stored};
use super::machine::Machine;
use super::output::NoResults;
use super::sub;
use super::together;
use crate::Session;
use crate::query::execution::{Execution, Scope};
use crate::state::around::{Around, AssignedFrom, FailedRow, Triggers};
use crate::state::columns::column_of;
use crate::state::programs::{Compiled, Reach};

/// The row a trigger runs for, as its columns have it, and the values assigned to it.
pub(crate) struct TriggerRow<'r> {
    table: &'r TableInfo,
    old: &'r [Arc<Column>],
    new: &'r [Arc<Column>],
    row: usize,
    /// By column, each once.
    assigned: Vec<(usize, Value)>,
    /// Whether the definer's privileges on a column are checked where it is used.
    is_checked: bool,
}

impl TriggerRow<'_> {
    fn column(&self, name: &str) -> SqlResult<usize> {
        let found = self.table.columns.iter().position(|c| identifier_eq(&c.name, name));
        found.ok_or_else(|| SqlError::unknown_column(name, "NEW"))
    }

    /// Fails (1143) unless the definer has a privilege on the column.
    fn check(&self, session: &Session, at: usize, wanted: Privileges) -> SqlResult<()> {
        if !self.is_checked {
            return Ok(());
        }
        let column = (self.table.schema(), self.table.name(), &*self.table.columns[at].name);
        let who = session.frame.acting_as.as_deref();
        session.frame.hooks.check_column(session, who, column, wanted)
    }

    pub(super) fn get(
        &self,
        session: &Session,
        new: bool,
        name: &str,
    ) -> SqlResult<(Value, SqlType)> {
        let at = self.column(name)?;
        self.check(session, at, Privileges::SELECT)?;
        let assigned = self.assigned.iter().find(|(column, _)| new && *column == at);
        let value = match assigned {
            Some((_, value)) => value.clone(),
            None => {
                let columns = if new { self.new } else { self.old };
                columns.get(at).map(|column| column.value(self.row)).unwrap_or_default()
            }
        };
        Ok((value, self.table.columns[at].ty.clone()))
    }

    /// The error for a row that is assigned to a column.
    pub(super) fn row_refused(&self, name: &str) -> SqlError {
        let at = match self.column(name) {
            Ok(at) => at,
            Err(error) => return error,
        };
        let column = &self.table.columns[at];
        let names = [self.table.schema(), self.table.name(), &*column.name];
        row_refused(&names.map(quote_identifier).join("."), &column.ty)
    }

    pub(super) fn set(
        &mut self,
        session: &Session,
        name: &str,
        (value, from): (&Value, &SqlType),
    ) -> SqlResult<()> {
        let at = self.column(name)?;
        self.check(session, at, Privileges::UPDATE)?;
        let column = &self.table.columns[at];
        let stored = stored(session, (value, from), (&column.name, &column.ty), 1);
        // Compat: a column keeps the nearest value of one that it cannot hold, as a handler of the
        // error sees.
        let kept = match &stored {
            Ok(value) => Ok(value.clone()),
            Err(_) => nearest(session, (value, from), &column.ty),
        };
        if let Ok(value) = kept {
            match self.assigned.iter_mut().find(|(column, _)| *column == at) {
                Some((_, assigned)) => *assigned = value,
                None => self.assigned.push((at, value)),
            }
        }
        stored.map(drop)
    }
}

/// Columns that BEFORE triggers assign to, built row by row.
struct Assigned<'r> {
    table: &'r TableInfo,
    new: &'r [Arc<Column>],
    columns: Vec<(usize, Column)>,
    from: AssignedFrom,
}

impl Assigned<'_> {
    /// Keeps the values assigned to `row`, the next one.
    fn keep(&mut self, row: usize, values: Vec<(usize, Value)>) {
        for (at, value) in values {
            self.column(at, row).push(&value);
        }
        for (at, column) in &mut self.columns {
            if column.len() == row {
                column.push(&self.new[*at].value(row));
            }
        }
    }

    /// The column at `at`, with its values before `row`.
    fn column(&mut self, at: usize, row: usize) -> &mut Column {
        let known = self.columns.iter().position(|(column, _)| *column == at);
        let place = known.unwrap_or_else(|| {
            let mut column = column_of(&self.table.columns[at].ty, self.new[at].len());
            (0..row).for_each(|before| column.push(&self.new[at].value(before)));
            self.columns.push((at, column));
            self.from.push((at, row));
            self.columns.len() - 1
        });
        &mut self.columns[place].1
    }
}

/// Triggers of one table for one event.
struct TableTriggers<'r> {
    around: Around<'r>,
    table: &'r Arc<TableInfo>,
    before: Vec<Arc<Compiled>>,
    after: Vec<Arc<Compiled>>,
    take_batches: bool,
    /// Those whose definers lack a privilege.
    restricted: Vec<Arc<Compiled>>,
    /// Whether the rows of the only AFTER trigger may still be inserted together (TOGETHER-1).
    together: Cell<bool>,
}

/// Triggers of a table for an event, `None` without any.
pub(super) fn of_table<'r>(
    around: Around<'r>,
    table: &'r Arc<TableInfo>,
    event: &str,
) -> SqlResult<Option<Box<dyn Triggers + 'r>>> {
    let is_it = |t: &&Arc<Trigger>| {
        *t.table == *table.name() && *t.schema == *table.schema() && t.event == event
    };
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for trigger in around.plan.changes.triggers.iter().filter(is_it) {
        let program = compile::trigger(around.session, trigger)?;
        if around.session.programs.active.contains(&program.key) {
            return Err(SqlError::new(&ER_SP_NO_RECURSION, &[]));
        }
        match trigger.before {
            true => before.push(program),
            false => after.push(program),
        }
    }
    if before.is_empty() && after.is_empty() {
        return Ok(None);
    }
    for program in before.iter().chain(&after) {
        expect_changes(around, program)?;
    }
    let take_batches = before.iter().all(|program| program.reach == Reach::Row)
        && after.iter().all(|program| stands_apart(around, program, table));
    let all = before.iter().chain(&after);
    let restricted: Vec<Arc<Compiled>> =
        all.filter(|program| is_restricted(around, program, table)).cloned().collect();
    let together = take_batches && after.len() == 1 && restricted.is_empty();
    let together = Cell::new(together && together::insert_of(&after[0]).is_some());
    let triggers =
        TableTriggers { around, table, before, after, take_batches, restricted, together };
    Ok(Some(Box::new(triggers)))
}

/// Whether the definer lacks a privilege on the trigger's table or on some column of it.
fn is_restricted(around: Around<'_>, program: &Compiled, table: &TableInfo) -> bool {
    let frame = &around.session.frame;
    let definer = program.setting.as_ref().and_then(|setting| setting.definer.as_deref());
    let who = match definer {
        Some(definer) if *definer != *frame.account.account => Some(definer),
        _ => frame.acting_as.as_deref(),
    };
    let (schema, name) = (table.schema(), table.name());
    let wanted = Privileges::TRIGGER | Privileges::SELECT | Privileges::UPDATE;
    !frame.hooks.granted(around.session, who, schema, name).has(wanted)
}

/// Tells the binary log which tables a program may change.
fn expect_changes(around: Around<'_>, program: &Compiled) -> SqlResult<()> {
    let (Some(setting), Some(_)) = (&program.setting, around.session.log()) else { return Ok(()) };
    let scope = Scope { instance: around.instance, session: around.session };
    for name in &program.changes {
        let schema = name.schema.as_ref().map_or(&*setting.schema, |schema| &*schema.value);
        // A table that is not there is an error only if the trigger comes to it.
        if let Ok(table) = scope.table(schema, &name.name.value) {
            around.session.expect_changes(around.instance, &table)?;
        }
    }
    Ok(())
}

/// Whether a program neither sees nor touches rows of `table`: not by itself, and not by triggers,
/// foreign keys or views of the tables it changes. What these cannot roll back must not be there
/// either: rows after one that fails would leave it.
fn stands_apart(around: Around<'_>, program: &Compiled, table: &TableInfo) -> bool {
    let Some(setting) = &program.setting else { return false };
    let scope = Scope { instance: around.instance, session: around.session };
    let snapshot = around.instance.catalog.snapshot();
    let is_apart = |name: &selkie_sql::ast::TableName| {
        let schema = name.schema.as_ref().map_or(&*setting.schema, |schema| &*schema.value);
        scope.table(schema, &name.name.value).is_ok_and(|changed| {
            let (schema, name) = (changed.schema(), changed.name());
            changed.has_storage()
                && !changed.is_sequence()
                && changed.engine.transactional
                && changed.def.id != table.def.id
                && changed.foreign_keys.is_empty()
                && snapshot.children(schema, name).next().is_none()
                && snapshot.triggers(schema, name).is_empty()
        })
    };
    program.reach <= Reach::Apart && program.changes.iter().all(is_apart)
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

    fn take_batches(&self) -> bool {
        self.take_batches
    }

    fn before(
        &self,
        old: &[Arc<Column>],
        new: &mut [Arc<Column>],
        rows: usize,
    ) -> SqlResult<AssignedFrom> {
        debug_assert!(rows == 1 || self.take_batches, "TRIGGER-1");
        if self.before.is_empty() {
            return Ok(Vec::new());
        }
        let mut assigned =
            Assigned { table: self.table, new, columns: Vec::new(), from: Vec::new() };
        let mut run = |execution: &mut Execution<'_>| {
            (0..rows).try_for_each(|row| {
                let values = self.run_all(execution, &self.before, (old, assigned.new), row)?;
                assigned.keep(row, values);
                Ok(())
            })
        };
        match rows {
            1 => self.with_sub_session(run)?,
            _ => self.with_sub_session(|execution| Ok(run(execution)))??,
        }
        let Assigned { columns, from, .. } = assigned;
        for (at, column) in columns {
            new[at] = Arc::new(column);
        }
        Ok(from)
    }

    fn after(
        &self,
        old: &[Arc<Column>],
        new: &[Arc<Column>],
        rows: &[u32],
    ) -> Result<(), FailedRow> {
        debug_assert!(rows.len() <= 1 || self.take_batches, "TRIGGER-1");
        if self.after.is_empty() {
            return Ok(());
        }
        if rows.len() > 1 && self.insert_together(old, new, rows)? {
            return Ok(());
        }
        let at = Cell::new(0);
        let run = |execution: &mut Execution<'_>| {
            rows.iter().try_for_each(|&row| {
                at.set(row);
                self.run_all(execution, &self.after, (old, new), row as usize).map(drop)
            })
        };
        self.with_sub_session(run).map_err(|error| FailedRow { row: at.get(), error })
    }
}

impl TableTriggers<'_> {
    fn with_sub_session<R>(
        &self,
        run: impl FnOnce(&mut Execution<'_>) -> SqlResult<R>,
    ) -> SqlResult<R> {
        sub::with_sub_session(self.around, &mut NoResults("trigger"), run)
    }

    /// Does what the AFTER trigger does for these rows, at once. False, with nothing done, if rows
    /// have to be taken one by one: this and all later ones.
    fn insert_together(
        &self,
        old: &[Arc<Column>],
        new: &[Arc<Column>],
        rows: &[u32],
    ) -> Result<bool, FailedRow> {
        let [program] = &self.after[..] else { return Ok(false) };
        let Some(insert) = together::insert_of(program).filter(|_| self.together.get()) else {
            return Ok(false);
        };
        let columns = |local: &Local| {
            let (name, columns) = match local {
                Local::New(name) => (name, new),
                Local::Old(name) => (name, old),
                _ => return None,
            };
            let at = self.table.columns.iter().position(|c| identifier_eq(&c.name, &name.value))?;
            Some((columns.get(at)?.clone(), self.table.columns[at].ty.clone()))
        };
        let columns: Option<Vec<_>> = insert.locals.iter().map(columns).collect();
        let run = |columns: Vec<(Arc<Column>, SqlType)>| {
            self.with_sub_session(|execution| together::run(execution, program, columns, rows))
        };
        let done = columns.map_or(Ok(false), run);
        let done = done.map_err(|error| FailedRow { row: rows[0], error })?;
        self.together.set(done);
        Ok(done)
    }

    /// Fails (1142) unless the definer may still have triggers on the table.
    fn check_definer(&self, session: &Session) -> SqlResult<()> {
        let (schema, table) = (self.table.schema(), self.table.name());
        session.frame.hooks.check_needs(session, schema, table, Privileges::TRIGGER)
    }

    /// Runs programs for a row, one after the other; the values they assigned to it.
    fn run_all(
        &self,
        execution: &mut Execution<'_>,
        programs: &[Arc<Compiled>],
        (old, new): (&[Arc<Column>], &[Arc<Column>]),
        row: usize,
    ) -> SqlResult<Vec<(usize, Value)>> {
        sub::renew(self.around, execution.session);
        let mut assigned = Vec::new();
        for program in programs {
            let values = std::mem::take(&mut assigned);
            assigned = within(execution, program, (&[], 0), |execution, frame| {
                let is_checked = self.restricted.iter().any(|other| Arc::ptr_eq(other, program));
                if is_checked {
                    self.check_definer(execution.session)?;
                }
                let mut machine = Machine::new(execution.nested(), program, frame);
                let (table, assigned) = (self.table, values);
                machine.row = Some(TriggerRow { table, old, new, row, assigned, is_checked });
                machine.run()?;
                Ok(machine.row.take().map(|row| row.assigned).unwrap_or_default())
            })?;
        }
        Ok(assigned)
    }
}
