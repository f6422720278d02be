//! `COM_STMT_BULK_EXECUTE`: a prepared statement for many rows of parameters.

use std::sync::Arc;

use selkie_engine::Moment;
use selkie_exec::bulk::Argument;
use selkie_protocol::stmt::{Bulk, BulkCell};
use selkie_protocol::{Capabilities, DecodeError};
use selkie_types::error::catalogue::{ER_UNSUPPORTED_PS, ER_WRONG_ARGUMENTS};
use selkie_types::{SqlError, SqlResult};

use super::dispatch::{Next, Session, malformed, parameter_charsets};
use super::params::to_value;
use super::reply::{Reply, RowForm};
use crate::query_log::{Ran, Stopwatch, log_general, log_slow};
use crate::status::counter;

const NAME: &str = "mysqld_stmt_bulk_execute";

impl Session {
    pub(super) fn execute_bulk(&mut self, payload: &[u8], begun: Moment) -> Next {
        self.shared.handle.counters.bump(counter().com_stmt_execute);
        match self.execute_rows(payload, begun) {
            Ok(next) => next,
            Err(error) => {
                self.answer(Err(error));
                Next::Continue
            }
        }
    }

    /// The error is one from before the statement ran.
    fn execute_rows(&mut self, payload: &[u8], begun: Moment) -> SqlResult<Next> {
        let unsupported = || SqlError::new(&ER_UNSUPPORTED_PS, &[]);
        let bulk = Bulk::decode(payload).map_err(|error| match error {
            DecodeError::Invalid(_) => unsupported(),
            error => malformed(error),
        })?;
        let statement = self.statements.get(bulk.statement, NAME)?;
        let able = self.shared.capabilities().has(Capabilities::STMT_BULK_OPERATIONS);
        if !able || bulk.unit_results || statement.parameters == 0 {
            return Err(unsupported());
        }
        statement.cursor = None;
        let rows = bulk.rows(statement.parameters, &mut statement.types).map_err(wrong)?;
        let argument = |cell: BulkCell<'_>| match cell {
            BulkCell::Value(param) => {
                let (value, ty) = to_value(&param, || parameter_charsets(&self.shared));
                Argument::Value(value, ty)
            }
            BulkCell::Default => Argument::Default,
            BulkCell::Ignore => Argument::Ignore,
        };
        let rows = rows.into_iter().map(|row| row.into_iter().map(argument).collect()).collect();
        self.shared.handle.begin(
            "Execute",
            Some(Arc::clone(&statement.text)),
            self.shared.server.sessions.next_query_id(),
            begun,
        );
        log_general(&self.shared, "Execute", statement.text.as_bytes());
        let watch = Stopwatch::start(&self.shared, begun);
        let status = self.backend.status();
        let mut reply =
            Reply::new(&self.shared, &mut self.wire, &mut self.out, RowForm::Binary, status);
        let result = self.backend.execute_bulk(&mut *statement.body, rows, &mut reply);
        let status = self.backend.status();
        let ran = match &result {
            Ok(outcome) => {
                reply.finish(outcome, status);
                Ran::of(outcome)
            }
            Err(error) => {
                reply.fail(error);
                Ran::default()
            }
        };
        log_slow(&self.shared, &watch, statement.text.as_bytes(), ran);
        Ok(if result.is_ok_and(|outcome| outcome.release) { Next::Close } else { Next::Continue })
    }
}

/// Rows that do not fit their statement.
fn wrong(error: DecodeError) -> SqlError {
    match error {
        DecodeError::Invalid(_) => SqlError::new(&ER_WRONG_ARGUMENTS, &[&NAME]),
        error => malformed(error),
    }
}
