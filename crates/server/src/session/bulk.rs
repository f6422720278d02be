//! `COM_STMT_BULK_EXECUTE`: runs a prepared statement for many rows of parameters.
//!
//! Must not decide how the rows are run; the executor does.

use selkie_engine::Moment;
use selkie_exec::bulk::Argument;
use selkie_protocol::stmt::{Bulk, BulkCell};
use selkie_protocol::{Capabilities, DecodeError};
use selkie_types::error::catalogue::{ER_UNSUPPORTED_PS, ER_WRONG_ARGUMENTS};
use selkie_types::{SqlError, SqlResult};

use super::dispatch::{Next, Session, malformed, parameter_charsets};
use super::params::to_value;
use super::reply::RowForm;
use crate::backend::BackendSession;
use crate::status::counter;

const NAME: &str = "mysqld_stmt_bulk_execute";

impl<S: BackendSession> Session<S> {
    /// Runs the command. An error returned here happened before the statement ran.
    pub(super) fn execute_bulk(&mut self, payload: &[u8], begun: Moment) -> SqlResult<Next> {
        self.shared.handle.counters.bump(counter().com_stmt_execute);
        let unsupported = || SqlError::new(&ER_UNSUPPORTED_PS, &[]);
        let bulk = Bulk::decode(payload).map_err(|error| match error {
            DecodeError::Invalid(_) => unsupported(),
            error => malformed(error),
        })?;
        let (runner, statements, _) = self.parts();
        let statement = statements.get(bulk.statement, NAME)?;
        let able = runner.shared.capabilities().has(Capabilities::STMT_BULK_OPERATIONS);
        if !able || bulk.unit_results || statement.parameters == 0 {
            return Err(unsupported());
        }
        statement.cursor = None;
        let mut told = Vec::new();
        let argument = |cell: BulkCell<'_>| match cell {
            BulkCell::Value(param) => {
                let charsets = || parameter_charsets(runner.shared);
                let (value, ty) = to_value(&param, charsets, &mut told);
                Argument::Value(value, ty)
            }
            BulkCell::Default => Argument::Default,
            BulkCell::Ignore => Argument::Ignore,
        };
        let rows =
            bulk.rows(statement.parameters, &mut statement.types, argument).map_err(wrong)?;
        let asked = statement.asked(runner.shared, RowForm::Binary, begun);
        let body = &statement.body;
        let answered = runner.run_and_reply(asked, |backend, reply, _| {
            let result = backend.execute_bulk(body, rows, reply);
            backend.tell_first(told);
            result
        });
        Ok(answered.next)
    }
}

/// The error about rows that do not match their statement.
fn wrong(error: DecodeError) -> SqlError {
    match error {
        DecodeError::Invalid(_) => SqlError::new(&ER_WRONG_ARGUMENTS, &[&NAME]),
        error => malformed(error),
    }
}
