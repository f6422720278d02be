//! A trigger that does nothing but to insert one row for each row of its table: the rows are
//! inserted together where nobody can tell (TOGETHER-1).
//!
//! Must leave nothing behind when something is wrong with a row: the program then runs row by row.

use std::sync::Arc;

use selkie_sql::ast::{InsertSource, Local, Operation, Statement, Step};
use selkie_types::error::catalogue::{ER_LOCK_WAIT_TIMEOUT, ER_STATEMENT_TIMEOUT};
use selkie_types::{Batch, Column, Severity, SqlError, SqlResult, SqlType, Value};

use super::call::within;
use super::machine::{Flow, Machine};
use crate::Session;
use crate::query::execution::Execution;
use crate::query::running::{Fill, Running};
use crate::state::bulk::ParameterRows;
use crate::state::programs::Compiled;

/// The INSERT of one row of values that is all that a program does, and reads nothing of the
/// program but the row of its trigger.
pub(super) fn insert_of(program: &Compiled) -> Option<&Operation> {
    let operation = only_statement(&program.body.steps)?;
    let Statement::Insert(insert) = &operation.statement else { return None };
    let is_one = match &insert.source {
        InsertSource::Values(rows) => rows.len() == 1,
        InsertSource::Set(_) => true,
        InsertSource::Query(_) => false,
    };
    let is_plain = is_one
        && !insert.replace
        && !insert.ignore
        && insert.on_duplicate.is_empty()
        && insert.returning.is_empty()
        && operation.locals.iter().all(|local| matches!(local, Local::New(_) | Local::Old(_)));
    is_plain.then_some(operation)
}

fn only_statement(steps: &[Step]) -> Option<&Operation> {
    match steps {
        [Step::Statement(operation)] => Some(operation),
        [Step::Block(block)] if block.handlers.is_empty() && block.cursors.is_empty() => {
            only_statement(&block.steps)
        }
        _ => None,
    }
}

/// Runs the INSERT of a program for all `rows` of `columns`, which are those of its placeholders.
/// False, with nothing done, if something is wrong with a row or the INSERT is none for many rows.
pub(super) fn run(
    execution: &mut Execution<'_>,
    program: &Compiled,
    columns: Vec<(Arc<Column>, SqlType)>,
    rows: &[u32],
) -> SqlResult<bool> {
    let Some(insert) = insert_of(program) else { return Ok(false) };
    let first = rows.first().map_or(0, |row| *row as usize);
    let values: Vec<(Value, SqlType)> =
        columns.iter().map(|(column, ty)| (column.value(first), ty.clone())).collect();
    let columns = columns.into_iter().map(|(column, _)| column);
    let batch = Batch::new(columns.map(|column| taken(column, rows)).collect(), rows.len());
    let counters = execution.session.core.counters.values();
    let mark = execution.session.transaction.mark()?;
    let result = within(execution, program, (&[], 0), |execution, frame| {
        let mut machine = Machine::new(execution.nested(), program, frame);
        machine.run_as(|machine| machine.insert_all(insert, (&values, &batch)))
    });
    let session = &*execution.session;
    match result {
        Ok(()) => Ok(true),
        Err(error) if is_final(session, &error) => Err(error),
        Err(_) => {
            session.transaction.undo(&mark)?;
            session.core.counters.put_back(&counters);
            Ok(false)
        }
    }
}

/// These rows of a column.
fn taken(column: Arc<Column>, rows: &[u32]) -> Arc<Column> {
    let is_whole =
        rows.len() == column.len() && rows.iter().enumerate().all(|(n, r)| n as u32 == *r);
    if is_whole { column } else { Arc::new(column.gather(rows)) }
}

/// Whether an error ends the statement around wherever it comes. A lock that could not be had is
/// not waited for again.
fn is_final(session: &Session, error: &SqlError) -> bool {
    use selkie_expr::Session as _;
    error.severity() != Severity::Statement
        || error.is(&ER_LOCK_WAIT_TIMEOUT)
        || error.is(&ER_STATEMENT_TIMEOUT)
        || session.check_interrupted().is_err()
}

impl<'p> Machine<'p> {
    /// Runs a statement for many rows of its placeholders, whose types those of the first have.
    fn insert_all(
        &mut self,
        operation: &'p Operation,
        (values, rows): (&[(Value, SqlType)], &Batch),
    ) -> SqlResult<Flow> {
        let mark = self.begin();
        let result = self.shown(operation, |machine| {
            machine.at = operation.span;
            let prepared = machine.program.prepared(operation);
            let bare = machine.program.running(values);
            let running = Running {
                prepared: Some(&prepared),
                part: Some(operation.span.text(bare.text)),
                fill: if values.is_empty() { Fill::Literals } else { Fill::Locals },
                bulk: Some(ParameterRows::Columns(rows)),
                ..bare
            };
            machine.execute(&operation.statement, running)
        });
        self.settle_statement(result.map(|()| Flow::Next), mark)
    }
}
