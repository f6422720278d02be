//! Interface between connections and the part that runs statements.
//!
//! Must not name an engine or know packets. A running server has the executor behind it; tests of
//! connections have a double.

use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::Mutex;
use selkie_catalog::{Event, TemporaryTables};
use selkie_exec::apply::Sight;
use selkie_exec::bulk::Argument;
use selkie_exec::event::Taken;
use selkie_exec::{Outcome, ResultSink, Unsettled};
use selkie_plan::physical::OutputColumn;
use selkie_protocol::Status;
use selkie_replication::log::Place;
use selkie_replication::replica::{Entry, ReplicaFilter};
use selkie_replication::{Event as LogEvent, Gtid, Header};
use selkie_sql::ClientText;
use selkie_types::error::Condition;
use selkie_types::error::catalogue::ER_UNSUPPORTED_PS;
use selkie_types::{SqlError, SqlResult, SqlType, Value};

use crate::query_log::{GeneralEntry, SlowEntry};
use crate::server::Server;
use crate::session::Shared;
use crate::sessions::SessionHandle;
use crate::status::Gauges;

/// Counts of uses while `userstat` is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uses {
    /// Of tables.
    Tables,
    /// Of indexes.
    Indexes,
}

/// Operations of the backend for the whole server.
pub trait Backend: Send + Sync {
    /// Adds the backend's counters to the status variables.
    fn status(&self, _gauges: &mut Gauges) {}
    /// Offers a new value of a server variable; returns the value that takes effect.
    fn set_variable(&self, _name: &str, value: u64) -> u64 {
        value
    }
    /// Drops the kept results of queries.
    fn forget_results(&self) {}
    /// Fails unless a table of the schema `mysql` with so many columns can be loaded.
    fn check_loadable(&self, _table: &str, _columns: usize) -> SqlResult<()> {
        Ok(())
    }
    /// Forgets the uses of tables or of indexes.
    fn forget_uses(&self, _of: Uses) {}
    /// Begins the counts of kept results anew.
    fn reset_result_counts(&self) {}
    /// Adds a row to the table of the general log.
    fn log_general(&self, _entry: &GeneralEntry) {}
    /// Adds a row to the table of the slow log.
    fn log_slow(&self, _entry: &SlowEntry) {}
    /// Stops the backend. No session is left.
    fn shutdown(&self) {}
    /// A session that applies what a primary sent to the connection of `scope`. `command` is shown
    /// in the process list.
    fn replica_session(
        &self,
        _server: &Arc<Server>,
        _scope: Arc<ReplicaScope>,
        _command: &'static str,
    ) -> SqlResult<Box<dyn ReplicaSession>> {
        Err(SqlError::not_supported("replication"))
    }
    /// The session of the event scheduler.
    fn event_session(&self, _server: &Arc<Server>) -> SqlResult<Box<dyn EventSession>> {
        Err(SqlError::not_supported("events"))
    }
    /// Runs an event in a session of its own, on this thread.
    fn run_event(&self, _server: &Arc<Server>, _event: &Event) {}
}

/// The session of the event scheduler.
pub trait EventSession: Send {
    /// The session in the process list.
    fn handle(&self) -> &Arc<SessionHandle>;

    /// All events.
    fn load(&mut self) -> SqlResult<Vec<Event>>;

    /// Marks a due time of an event as run. `None` if the event is not to run at it.
    fn take(&mut self, name: (&str, &str), due: i64, now: i64) -> SqlResult<Option<Taken>>;
}

/// Shared parts of the sessions that apply for one connection.
#[derive(Debug, Default)]
pub struct ReplicaScope {
    /// The tables that are taken.
    pub filter: Arc<ReplicaFilter>,
    /// Temporary tables of the primary's threads, unless a session has them now.
    pub(crate) temporary: Arc<KeptTables>,
}

/// Temporary tables of a primary's threads. They outlive the sessions that apply.
pub type KeptTables = Mutex<HashMap<u32, TemporaryTables>>;

impl ReplicaScope {
    /// A connection with a filter and the temporary tables that are left.
    pub fn new(filter: Arc<ReplicaFilter>, temporary: Arc<KeptTables>) -> Self {
        Self { filter, temporary }
    }
}

/// A session that applies what a primary sent.
pub trait ReplicaSession: Send {
    /// Applies for another connection from the next group on.
    fn serve(&mut self, scope: &Arc<ReplicaScope>);

    /// Looks at an event of a group that is not applied yet, in order.
    fn look(&mut self, event: &LogEvent<'_>);

    /// Drops the temporary tables of all threads of the primary.
    fn drop_temporary_tables(&mut self);

    /// Knowledge of the group whose events were looked at.
    fn seen(&mut self) -> Sight;

    /// Whether errors of rows or statements may be passed over.
    fn hides_errors(&self) -> bool;

    /// Runs `wait`, in which this session waits for the commit of another one.
    fn wait_behind(&self, session: u64, wait: &mut dyn FnMut());

    /// Begins a group. Groups of a primary without GTIDs get a number of this server. `flags` are
    /// those of the GTID event, `header` is the header of the group's
    /// first event.
    fn begin(&mut self, gtid: Option<Gtid>, flags: u8, header: &Header) -> Result<(), Failed>;

    /// Applies an event of the group, in order: statements and what belongs to them, rows, and the
    /// event that ends the group.
    fn apply(&mut self, header: &Header, event: &LogEvent<'_>) -> Result<(), Failed>;

    /// Ends the group: everything is committed together with the note. A group of a single
    /// statement runs only here, because its note is part of what it commits.
    fn end(&mut self, entry: Entry) -> Result<(), Failed>;

    /// Rolls back what is open of the group.
    fn give_up(&mut self);

    /// Makes what was applied durable.
    fn settle(&mut self) -> SqlResult<()>;

    /// The last commit that [`Self::settle`] has not made durable yet. The caller does.
    fn take_unsettled(&mut self) -> Option<Unsettled>;

    /// The session in the process list.
    fn handle(&self) -> &Arc<SessionHandle>;
}

/// The failure to apply an event or a group.
#[derive(Clone, Debug)]
pub struct Failed {
    /// The error.
    pub error: SqlError,
    /// Last_SQL_Error, without the place in the log.
    pub text: String,
    /// Whether the group may succeed if it is tried again.
    pub is_transient: bool,
    /// Whether Last_SQL_Error ends with the place in the primary's log.
    pub shows_place: bool,
}

/// A backend that opens sessions. Connections are generic over it, so that a statement passes
/// between connection and backend in the backend's own form.
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
    /// Position of the next statement in the text, if there is one.
    pub next: Option<usize>,
}

/// State of the session that every answer to the client contains.
#[derive(Copy, Clone, Debug, Default)]
pub struct SessionStatus {
    /// Flags of the transaction and the SQL mode.
    pub flags: Status,
    /// Number of conditions of the last statement.
    pub warnings: u16,
}

/// Runs the statements of one session.
pub trait BackendSession: Send {
    /// A parsed statement.
    type Statement;
    /// A prepared statement.
    type Prepared: Send;

    /// Parses the first statement of `text`. Fails if a second one follows, unless `multi` allows
    /// it.
    ///
    /// `text` is UTF-8. If the client sent another character set, `origin` is the original text,
    /// and `text` is the end of it, converted.
    fn parse(
        &mut self,
        text: &[u8],
        multi: bool,
        origin: Option<&ClientText>,
    ) -> SqlResult<Step<Self::Statement>>;

    /// Whether a parsed statement counts as an update for the limits of an account.
    fn is_update(&self, _statement: &Self::Statement) -> bool {
        false
    }

    /// Runs a statement that [`Self::parse`] made from `text`.
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

    /// Lists conditions about parameters before those of the statement that they were for.
    fn tell_first(&mut self, _conditions: Vec<Condition>) {}

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

    /// From now on commits do not wait for durability: the answer waits instead.
    fn hold_answers(&mut self) {}

    /// Reports, by address and length, the memory outside of the session that its statements use.
    fn memory(&self, _note: &mut dyn FnMut(usize, usize)) {}

    /// The commit that must become durable before the answer to the last command leaves.
    fn take_unsettled(&mut self) -> Option<Unsettled> {
        None
    }

    /// Bytes that the session has added to the binary log.
    fn logged_bytes(&self) -> u64 {
        0
    }

    /// End of the last group of the binary log that the session has committed since the last call.
    fn take_group_end(&mut self) -> Option<Place> {
        None
    }

    /// A user variable as text; none if it is not set or NULL.
    fn user_variable(&self, _name: &str) -> Option<String> {
        None
    }

    /// Flags and number of warnings.
    fn status(&self) -> SessionStatus;

    /// The time that the session's clock stands at, in microseconds since 1970, if it was set.
    fn fixed_micros(&self) -> Option<i64>;

    /// Adds a failed command's error to the warnings list.
    fn note_error(&mut self, error: &SqlError);

    /// Resets the session: variables, temporary tables and the transaction are gone.
    fn reset(&mut self);
}
