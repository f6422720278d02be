//! Columns of the results of statements that are prepared and not planned: SHOW, DESCRIBE, EXPLAIN,
//! HELP, XA RECOVER, maintenance of tables. Clients bind their variables to these columns before
//! they execute the statement.
//!
//! Must not run anything that has an effect. SHOW and its kin are run up to their first row.

use std::sync::Arc;

use selkie_plan::physical::OutputColumn;
use selkie_sql::ast::{ShowWhat, Statement, Xa};
use selkie_types::error::catalogue::ER_UNKNOWN_ERROR;
use selkie_types::{Batch, SqlError, SqlResult, SqlType, Value};

use crate::query::running::Running;
use crate::statement::execute;
use crate::{Instance, Prepared, ResultSink, Session, admin, explain};

/// Columns of the result of a statement without a plan; none if it has no result, fails, or is one
/// that MariaDB announces without columns.
pub(super) fn columns(
    instance: &Instance,
    session: &mut Session,
    prepared: &Prepared,
) -> Vec<OutputColumn> {
    match &prepared.statement {
        Statement::Explain(what) => explain::columns(what),
        Statement::TableMaintenance(what) => admin::columns(what),
        Statement::CacheIndexes(_) => admin::message_columns().into(),
        Statement::Show(show) if is_announced(&show.what) => try_out(instance, session, prepared),
        Statement::Describe(_) | Statement::Help(_) => try_out(instance, session, prepared),
        Statement::Xa(what) if matches!(**what, Xa::Recover { .. }) => {
            try_out(instance, session, prepared)
        }
        _ => Vec::new(),
    }
}

/// Compat: the results of the others are known when the statement runs.
fn is_announced(what: &ShowWhat) -> bool {
    use ShowWhat::*;
    matches!(
        what,
        Databases
            | Tables { .. }
            | TableStatus { .. }
            | OpenTables { .. }
            | Triggers { .. }
            | Events { .. }
            | Columns { .. }
            | Index { .. }
            | CreateDatabase { .. }
            | CreateTable(_)
            | CreateView(_)
            | CreateSequence(_)
            | CreateRoutine(..)
            | RoutineStatus(_)
            | Variables(_)
            | Status(_)
            | CountWarnings
            | CountErrors
            | Collation
            | CharacterSet
            | Grants(_)
            | BinaryLogs
            | BinlogEvents { .. }
            | RelaylogEvents { .. }
            | MasterStatus
            | SlaveStatus(_)
            | AllSlavesStatus
    )
}

/// Runs a statement without an effect until its columns are known.
fn try_out(instance: &Instance, session: &mut Session, prepared: &Prepared) -> Vec<OutputColumn> {
    let kept = (session.values.row_count.get(), session.values.found_rows.get());
    let values = vec![(Value::Null, SqlType::null()); prepared.parameters];
    let mut sink = ColumnsSink::default();
    let running = Running::new(&prepared.text, &values);
    // An error is told when the statement is executed.
    let _ = execute(instance, session, &prepared.statement, running, &mut sink);
    session.diagnostics.clear();
    session.values.row_count.set(kept.0);
    session.values.found_rows.set(kept.1);
    sink.columns
}

/// Takes the columns of a result, and ends the statement with its first row.
#[derive(Default)]
struct ColumnsSink {
    columns: Vec<OutputColumn>,
}

impl ResultSink for ColumnsSink {
    fn columns(&mut self, columns: &[OutputColumn]) -> SqlResult<()> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn planned_columns(&mut self, columns: &Arc<[OutputColumn]>) -> SqlResult<()> {
        self.columns(columns)
    }

    fn batch(&mut self, _: &Batch) -> SqlResult<()> {
        Err(SqlError::new(&ER_UNKNOWN_ERROR, &[]))
    }
}
