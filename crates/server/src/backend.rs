//! What runs statements, as connections see it.
//!
//! Must not name an engine or know packets. The executor stands behind it in a running server, a
//! double in tests of the connection.

use std::sync::Arc;

use selkie_exec::bulk::Argument;
use selkie_exec::{Outcome, ResultSink, Unsettled};
use selkie_plan::physical::OutputColumn;
use selkie_protocol::Status;
use selkie_sql::ClientText;
use selkie_types::error::catalogue::ER_UNSUPPORTED_PS;
use selkie_types::{SqlError, SqlResult, SqlType, Value};

use crate::query_log::{GeneralEntry, SlowEntry};
use crate::session::Shared;
use crate::status::Gauges;

/// What the whole server asks of the backend.
pub trait Backend: Send + Sync {
    /// Adds what it measures to the status variables.
    fn status(&self, _gauges: &mut Gauges) {}
    /// A server variable is about to get this value; returns the one it gets.
    fn set_variable(&self, _name: &str, value: u64) -> u64 {
        value
    }
    /// Adds a row to the table of the general log.
    fn log_general(&self, _entry: &GeneralEntry) {}
    /// Adds a row to the table of the slow log.
    fn log_slow(&self, _entry: &SlowEntry) {}
    /// The server stops: no session is left.
    fn shutdown(&self) {}
}

/// A backend that opens sessions. Connections are generic over it, so that a statement passes
/// between the two in the backend's own form.
pub trait SessionFactory: Backend + 'static {
    /// A session.
    type Session: BackendSession + 'static;

    /// A session for a client that has logged in.
    fn open(&self, shared: &Arc<Shared>) -> Self::Session;
}

/// A prepared statement.
#[derive(Debug)]
pub struct Described<P> {
    /// The backend's form of the statement.
    pub statement: P,
    /// Number of parameters.
    pub parameters: usize,
    /// Columns of the result; empty if there is none.
    pub columns: Vec<OutputColumn>,
}

/// The first statement of a text.
#[derive(Debug)]
pub struct Step<S> {
    /// The backend's form of the statement.
    pub statement: S,
    /// Where the next statement begins, if there is one.
    pub next: Option<usize>,
}

/// What the client is told about the session after each statement.
#[derive(Copy, Clone, Debug, Default)]
pub struct SessionStatus {
    /// Flags of transaction and SQL mode.
    pub flags: Status,
    /// Conditions the last statement raised.
    pub warnings: u16,
}

/// Runs the statements of one session.
pub trait BackendSession: Send {
    /// A statement that was read.
    type Statement;
    /// A statement that was prepared.
    type Prepared: Send;

    /// Reads the first statement of `text`, refusing a second one unless `multi` allows several.
    ///
    /// `text` is UTF-8; `origin` is what the client sent and `text` is the end of, if it is not.
    fn parse(
        &mut self,
        text: &[u8],
        multi: bool,
        origin: Option<&ClientText>,
    ) -> SqlResult<Step<Self::Statement>>;

    /// Whether a statement that was read counts as one that changes something.
    fn is_update(&self, _statement: &Self::Statement) -> bool {
        false
    }

    /// Runs the statement that was read from `text`.
    fn query(
        &mut self,
        statement: Self::Statement,
        text: &[u8],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Outcome>;

    /// Prepares a statement.
    fn prepare(
        &mut self,
        text: &[u8],
        origin: Option<&ClientText>,
    ) -> SqlResult<Described<Self::Prepared>>;

    /// Runs a prepared statement.
    fn execute(
        &mut self,
        statement: &Self::Prepared,
        parameters: &[(Value, SqlType)],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Outcome>;

    /// Runs a prepared statement for many rows of parameters.
    fn execute_bulk(
        &mut self,
        _statement: &Self::Prepared,
        _rows: Vec<Vec<Argument>>,
        _sink: &mut dyn ResultSink,
    ) -> SqlResult<Outcome> {
        Err(SqlError::new(&ER_UNSUPPORTED_PS, &[]))
    }

    /// Columns of a table whose names match `pattern`.
    fn field_list(&mut self, table: &str, pattern: &[u8]) -> SqlResult<Vec<OutputColumn>>;

    /// Changes the default database.
    fn use_schema(&mut self, schema: &str) -> SqlResult<()>;

    /// From now on commits do not wait for durability: answers are held back instead.
    fn hold_answers(&mut self) {}

    /// Tells by address and length which memory outside of the session statements use.
    fn memory(&self, _note: &mut dyn FnMut(usize, usize)) {}

    /// A commit that the answer to the last command must wait for.
    fn take_unsettled(&mut self) -> Option<Unsettled> {
        None
    }

    /// Flags and warnings.
    fn status(&self) -> SessionStatus;

    /// Adds a failed command's error to the warnings list.
    fn note_error(&mut self, error: &SqlError);

    /// The session begins anew: variables, temporary tables and the transaction are gone.
    fn reset(&mut self);
}
