//! Interface to the server: privileges, system variables, user locks, server statements. The
//! executor must reach these only through [`SessionHooks`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use selkie_catalog::{Event, RoutineForm, TableInfo};
use selkie_expr::VariableScope;
use selkie_sql::ast;
use selkie_types::error::catalogue::{
    ER_DBACCESS_DENIED_ERROR, ER_NO_BINARY_LOGGING, ER_TABLEACCESS_DENIED_ERROR,
    ER_UNKNOWN_SYSTEM_VARIABLE,
};
use selkie_types::{Privileges, SqlError, SqlResult, SqlType, Value};

use super::Session;
use crate::state::computed::Change;
use crate::{Instance, Outcome, ResultSink};

/// Privilege that a statement needs on an object.
#[allow(missing_docs)] // the names are the privileges
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Privilege {
    Select,
    Insert,
    Update,
    Delete,
    Create,
    Drop,
    Alter,
    Index,
    References,
    CreateView,
    ShowView,
    Trigger,
    CreateRoutine,
    AlterRoutine,
    /// Permission to see the body of a routine.
    ShowRoutine,
    CreateTemporary,
    LockTables,
    Execute,
    File,
    /// FILE, as LOAD DATA needs it.
    LoadFile,
    Process,
    Reload,
    Super,
    /// RELOAD or LOCK TABLES, globally.
    LockBackup,
    /// FEDERATED ADMIN: to manage the names of remote servers.
    Federated,
    Event,
    SetUser,
    /// BINLOG REPLAY: to apply events of a binary log.
    Replay,
    /// SELECT and INSERT on a sequence, to use its numbers.
    TakeNumbers,
    /// Any privilege on the object.
    Any,
    /// SELECT on the database, or any privilege on the table or a column of it: `SHOW COLUMNS`.
    ShowTable,
}

/// One privilege on one object.
#[derive(Clone, Debug)]
pub struct Access<'a> {
    /// The privilege.
    pub privilege: Privilege,
    /// The schema; empty for a global privilege.
    pub schema: &'a str,
    /// The table; empty for a schema.
    pub table: &'a str,
    /// Columns that need it; empty for the whole table.
    pub columns: &'a [&'a str],
}

/// A stored program whose effects come into the binary log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoggedProgram {
    /// A trigger.
    Trigger,
    /// A function that says it is deterministic or changes nothing.
    SafeFunction,
    /// A function that does not say so.
    UnsafeFunction,
}

/// A change of events.
#[derive(Clone, Copy, Debug)]
pub enum EventChange<'a> {
    /// A new event, or one in place of another.
    Created(&'a Event),
    /// Another definition, or another name.
    Altered {
        /// Schema and name before.
        old: (&'a str, &'a str),
        /// The event as it is now.
        new: &'a Event,
    },
    /// An event (schema, name) is gone.
    Dropped(&'a str, &'a str),
    /// All events of a schema are gone.
    SchemaDropped(&'a str),
}

/// Value that `SET` assigns to a system variable.
#[derive(Clone, Debug)]
pub enum NewValue {
    /// `DEFAULT`.
    Default,
    /// A value and its type.
    Value(Value, SqlType),
}

/// Performs a checked assignment of SET. The server also updates
/// [`StatementFrame::settings`](super::StatementFrame).
pub type CheckedSet<'a> = Box<dyn FnOnce(&mut Session) -> SqlResult<()> + 'a>;

/// Restores saved values of variables.
pub type SavedVariables<'a> = Box<dyn FnOnce(&mut Session) + 'a>;

/// Counts a prepared statement until the ticket is dropped.
#[derive(Debug, Default)]
pub struct PreparedTicket(Option<Arc<AtomicU64>>);

impl PreparedTicket {
    /// Adds one to `count`; `None` if it has reached `limit`.
    pub fn take(count: &Arc<AtomicU64>, limit: u64) -> Option<Self> {
        let room = |count: u64| (count < limit).then_some(count + 1);
        let taken = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room);
        taken.is_ok().then(|| Self(Some(Arc::clone(count))))
    }
}

impl Drop for PreparedTicket {
    fn drop(&mut self) {
        if let Some(count) = &self.0 {
            count.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Implemented by the server. The default methods are for a session without a server.
pub trait SessionHooks: Send + Sync {
    /// Fails (1142, 1044, ...) unless the session's account has the access.
    fn check_access(&self, _session: &Session, _access: &Access<'_>) -> SqlResult<()> {
        Ok(())
    }

    /// Fails (1142, 1044) unless the session's account has all of `wanted` on a table, or on a
    /// schema if no table is named. Compat: a privilege on any column of the table is enough.
    fn check_needs(
        &self,
        _: &Session,
        _schema: &str,
        _table: &str,
        _: Privileges,
    ) -> SqlResult<()> {
        Ok(())
    }

    /// Privileges of `who` (the session's account if `None`) on every column of a table.
    fn granted(&self, _: &Session, _who: Option<&str>, _schema: &str, _table: &str) -> Privileges {
        Privileges::ALL
    }

    /// Fails (1142) unless `who` has `wanted` on the table or on some column of it.
    fn check_table(
        &self,
        _: &Session,
        _who: Option<&str>,
        _schema: &str,
        _table: &str,
        _wanted: Privileges,
    ) -> SqlResult<()> {
        Ok(())
    }

    /// Fails (1370) unless the session's account has the privilege on a procedure or function.
    fn check_routine(
        &self,
        _session: &Session,
        _privilege: Privilege,
        _form: RoutineForm,
        _schema: &str,
        _name: &str,
    ) -> SqlResult<()> {
        Ok(())
    }

    /// Called after a procedure or function was created: its creator may run and change it.
    fn routine_created(&self, _session: &Session, _form: RoutineForm, _schema: &str, _name: &str) {}

    /// Called after a procedure or function was dropped.
    fn routine_dropped(&self, _session: &Session, _form: RoutineForm, _schema: &str, _name: &str) {}

    /// Counts a statement that another one runs.
    fn count(&self, _statement: &ast::Statement) {}

    /// Shows other sessions the text of a statement that another one runs; returns the text
    /// shown before.
    fn show_text(&self, _text: Option<Arc<str>>) -> Option<Arc<str>> {
        None
    }

    /// Called after a change of events.
    fn event_changed(&self, _session: &Session, _change: EventChange<'_>) {}

    /// Whether the account `user@host` exists.
    fn account_exists(&self, _account: &str) -> bool {
        true
    }

    /// Fails (1290) if the server is read-only for `acting_as`, or else for the client's account.
    fn check_writable(&self, _acting_as: Option<&str>) -> SqlResult<()> {
        Ok(())
    }

    /// Fails (1143) unless `who` has `wanted` on a column (schema, table, name).
    fn check_column(
        &self,
        _: &Session,
        _who: Option<&str>,
        _column: (&str, &str, &str),
        _wanted: Privileges,
    ) -> SqlResult<()> {
        Ok(())
    }

    /// Whether there is, or was, a key cache with a name.
    fn has_key_cache(&self, _name: &str) -> bool {
        false
    }

    /// Error 1142 for a command on a table (schema, name).
    fn table_denied(
        &self,
        _: &Session,
        _who: Option<&str>,
        (schema, table): (&str, &str),
        command: &str,
    ) -> SqlError {
        SqlError::new(&ER_TABLEACCESS_DENIED_ERROR, &[&command, &"", &"", &schema, &table])
    }

    /// Error 1044 for a schema.
    fn schema_denied(&self, _: &Session, _who: Option<&str>, schema: &str) -> SqlError {
        SqlError::new(&ER_DBACCESS_DENIED_ERROR, &[&"", &"", &schema])
    }

    /// Fails (1449) unless the definer's account `user@host` exists.
    fn check_definer(&self, _: &Session, _definer: &str) -> SqlResult<()> {
        Ok(())
    }

    /// A number that changes whenever privileges of any account may have changed.
    fn privileges_version(&self) -> u64 {
        0
    }

    /// Whether the account may see that a schema exists.
    fn sees_schema(&self, _: &Session, _schema: &str) -> bool {
        true
    }

    /// Privileges of the account on a column (schema, table, name).
    fn on_column(&self, _: &Session, _column: (&str, &str, &str)) -> Privileges {
        Privileges::ALL
    }

    /// Whether the account may see that a table exists.
    fn is_visible(&self, _session: &Session, _table: &TableInfo) -> bool {
        true
    }

    /// Type of `@@name`.
    fn variable_type(
        &self,
        _session: &Session,
        _scope: VariableScope,
        name: &str,
    ) -> SqlResult<SqlType> {
        Err(SqlError::new(&ER_UNKNOWN_SYSTEM_VARIABLE, &[&name]))
    }

    /// Value of `@@name`.
    fn variable(&self, _session: &Session, _scope: VariableScope, name: &str) -> SqlResult<Value> {
        Err(SqlError::new(&ER_UNKNOWN_SYSTEM_VARIABLE, &[&name]))
    }

    /// Fails (1193) if there is no system variable of this name.
    fn check_variable(&self, _name: &str) -> SqlResult<()> {
        Ok(())
    }

    /// Checks one assignment of SET. `value` is the value of the item's expression, if it has one.
    fn check_set<'a>(
        &'a self,
        _session: &mut Session,
        _item: &'a ast::SetItem,
        _value: Option<NewValue>,
    ) -> SqlResult<CheckedSet<'a>> {
        Err(SqlError::not_supported("SET"))
    }

    /// Saves the session's values of variables that are set for one statement; fails if one cannot
    /// be set so.
    fn save_variables(&self, _session: &Session, _names: &[&str]) -> SqlResult<SavedVariables<'_>> {
        Err(SqlError::not_supported("SET STATEMENT"))
    }

    /// Counts a statement of SQL PREPARE until the ticket is dropped; fails if there are too many.
    fn count_prepared(&self) -> SqlResult<PreparedTicket> {
        Ok(PreparedTicket::default())
    }

    /// Runs a statement of the server (accounts, privileges, KILL, FLUSH, SHOW of its own state,
    /// plugins, replication), with the values of its placeholders. `None` if it is not one.
    fn statement(
        &self,
        _instance: &Instance,
        _session: &mut Session,
        _statement: (&ast::Statement, &[(Value, SqlType)]),
        _sink: &mut dyn ResultSink,
    ) -> SqlResult<Option<Outcome>> {
        Ok(None)
    }

    /// Changes a computed table.
    fn change_computed(&self, _session: &Session, _table: &str, _change: Change) -> SqlResult<()> {
        Ok(())
    }

    /// Called after a table was dropped or renamed; with an empty `table`, after a schema was
    /// dropped.
    fn dropped(&self, _session: &Session, _schema: &str, _table: &str) {}

    /// Called with the text of a statement and the trace of its optimizer, if the session wants it.
    fn traced(&self, _text: &[u8], _trace: String) {}

    /// The number that `gtid_seq_no` had for one group is used up.
    fn seq_no_used(&self) {}

    /// Fails (1418, 1419) if a program must not be made or changed because its effects are logged.
    fn check_logged(&self, _session: &Session, _program: LoggedProgram) -> SqlResult<()> {
        Ok(())
    }

    /// `BINLOG_GTID_POS`: the last groups before an offset of a file of the binary log; `None` if
    /// there is no event at it.
    fn binlog_gtid_pos(&self, _file: &str, _offset: u64) -> SqlResult<Option<String>> {
        Err(SqlError::new(&ER_NO_BINARY_LOGGING, &[]))
    }

    /// `MASTER_GTID_WAIT`: whether a replica has applied all groups of a list before `longest` is
    /// over; without it the wait has no end.
    fn master_gtid_wait(
        &self,
        _session: &Session,
        _list: &str,
        _longest: Option<Duration>,
    ) -> SqlResult<bool> {
        Err(SqlError::not_supported("MASTER_GTID_WAIT"))
    }

    /// `MASTER_POS_WAIT`: how many events were waited for until a replica had applied a place of
    /// its primary's log, -1 if `longest` is over before; `None` if the replica does not apply.
    fn master_pos_wait(
        &self,
        _session: &Session,
        _file: &str,
        _offset: i64,
        _longest: Option<Duration>,
        _connection: Option<&str>,
    ) -> SqlResult<Option<i64>> {
        Err(SqlError::not_supported("MASTER_POS_WAIT"))
    }

    /// Ends the session if its client has gone.
    fn end_if_gone(&self) {}

    /// `GET_LOCK`.
    fn get_lock(
        &self,
        _session: &Session,
        _name: &[u8],
        _timeout: Duration,
    ) -> SqlResult<Option<bool>> {
        Err(SqlError::not_supported("GET_LOCK"))
    }

    /// `RELEASE_LOCK`.
    fn release_lock(&self, _session: &Session, _name: &[u8]) -> SqlResult<Option<bool>> {
        Err(SqlError::not_supported("RELEASE_LOCK"))
    }

    /// `RELEASE_ALL_LOCKS`.
    fn release_all_locks(&self, _session: &Session) -> SqlResult<u64> {
        Ok(0)
    }

    /// `IS_USED_LOCK`.
    fn lock_holder(&self, _session: &Session, _name: &[u8]) -> SqlResult<Option<u64>> {
        Ok(None)
    }

    /// `VERSION()`.
    fn version(&self) -> String {
        "10.11.0-MariaDB-selkie".into()
    }

    /// `UUID_SHORT()`.
    fn uuid_short(&self) -> u64 {
        0
    }
}

/// Hooks for tests and the server's own threads: everything is allowed.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHooks;

impl SessionHooks for NoHooks {}
