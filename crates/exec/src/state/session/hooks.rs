//! What the executor asks of the server around it: privileges, system variables, other sessions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use selkie_catalog::TableInfo;
use selkie_expr::VariableScope;
use selkie_sql::ast;
use selkie_types::error::catalogue::{
    ER_DBACCESS_DENIED_ERROR, ER_TABLEACCESS_DENIED_ERROR, ER_UNKNOWN_SYSTEM_VARIABLE,
};
use selkie_types::{Privileges, SqlError, SqlResult, SqlType, Value};

use super::Session;
use crate::{Instance, Outcome, ResultSink};

/// What a statement wants to do with something.
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
    /// To see the body of a routine.
    ShowRoutine,
    CreateTemporary,
    LockTables,
    Execute,
    File,
    /// FILE, for LOAD DATA.
    LoadFile,
    Process,
    Reload,
    Super,
    /// RELOAD or LOCK TABLES, on everything.
    LockBackup,
    /// To name other servers.
    Federated,
    Event,
    SetUser,
    /// SELECT and INSERT: numbers of a sequence.
    TakeNumbers,
    /// Any privilege at all.
    Any,
    /// SELECT on the database, or anything on the table itself or a column of it: `SHOW COLUMNS`.
    ShowTable,
}

/// One privilege on one thing.
#[derive(Clone, Debug)]
pub struct Access<'a> {
    /// The privilege.
    pub privilege: Privilege,
    /// The schema; empty for a global privilege.
    pub schema: &'a str,
    /// The table; empty for a schema.
    pub table: &'a str,
    /// Columns it is about; none means the table as a whole.
    pub columns: &'a [&'a str],
}

/// The value `SET` gives a system variable.
#[derive(Clone, Debug)]
pub enum NewValue {
    /// `DEFAULT`.
    Default,
    /// A value and its type.
    Value(Value, SqlType),
}

/// Makes an assignment of SET that was checked. The server also writes [`Session::settings`].
pub type CheckedSet<'a> = Box<dyn FnOnce(&mut Session) -> SqlResult<()> + 'a>;

/// Gives variables the values back that they had.
pub type SavedVariables<'a> = Box<dyn FnOnce(&mut Session) + 'a>;

/// Counts a prepared statement until it is dropped.
#[derive(Debug, Default)]
pub struct PreparedTicket(Option<Arc<AtomicU64>>);

impl PreparedTicket {
    /// Adds one to `count`, unless it is `limit` already.
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

/// Implemented by the server. The methods' own bodies are those of a session nobody watches.
pub trait SessionHooks: Send + Sync {
    /// Fails (1142, 1044, ...) unless the session's account may do this.
    fn check_access(&self, _session: &Session, _access: &Access<'_>) -> SqlResult<()> {
        Ok(())
    }

    /// Fails (1142, 1044) unless the session's account has all of `wanted` on a table, or on a
    /// schema if no table is named. Compat: what some column of the table has is enough.
    fn check_needs(
        &self,
        _: &Session,
        _schema: &str,
        _table: &str,
        _: Privileges,
    ) -> SqlResult<()> {
        Ok(())
    }

    /// What `who`, the session's account if `None`, may do with every column of a table.
    fn granted(&self, _: &Session, _who: Option<&str>, _schema: &str, _table: &str) -> Privileges {
        Privileges::ALL
    }

    /// Fails (1142) unless `who` may use a table so, or some column of it.
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

    /// Fails (1370) unless the session's account may do this with a procedure or function.
    fn check_routine(
        &self,
        _session: &Session,
        _privilege: Privilege,
        _function: bool,
        _schema: &str,
        _name: &str,
    ) -> SqlResult<()> {
        Ok(())
    }

    /// Told after a procedure or function was made: who made it may run and change it.
    fn routine_created(&self, _session: &Session, _function: bool, _schema: &str, _name: &str) {}

    /// Told after a procedure or function was dropped.
    fn routine_dropped(&self, _session: &Session, _function: bool, _schema: &str, _name: &str) {}

    /// Whether there is an account `user@host`.
    fn account_exists(&self, _account: &str) -> bool {
        true
    }

    /// Fails (1290) if the server is read-only for this account.
    fn check_writable(&self) -> SqlResult<()> {
        Ok(())
    }

    /// Fails (1143) unless `who` may use a column (schema, table, name) so.
    fn check_column(
        &self,
        _: &Session,
        _who: Option<&str>,
        _column: (&str, &str, &str),
        _wanted: Privileges,
    ) -> SqlResult<()> {
        Ok(())
    }

    /// 1142 about a command on a table (schema, name).
    fn table_denied(
        &self,
        _: &Session,
        _who: Option<&str>,
        (schema, table): (&str, &str),
        command: &str,
    ) -> SqlError {
        SqlError::new(&ER_TABLEACCESS_DENIED_ERROR, &[&command, &"", &"", &schema, &table])
    }

    /// 1044 about a schema.
    fn schema_denied(&self, _: &Session, _who: Option<&str>, schema: &str) -> SqlError {
        SqlError::new(&ER_DBACCESS_DENIED_ERROR, &[&"", &"", &schema])
    }

    /// Fails (1449) unless the account `user@host` that defined something exists.
    fn check_definer(&self, _: &Session, _definer: &str) -> SqlResult<()> {
        Ok(())
    }

    /// A number that is another one after the privileges of anybody may have changed.
    fn privileges_version(&self) -> u64 {
        0
    }

    /// Whether the account may see that a schema exists.
    fn sees_schema(&self, _: &Session, _schema: &str) -> bool {
        true
    }

    /// What the account may do with a column (schema, table, name).
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

    /// Checks one assignment of SET. `value` is what the item's expression evaluated to, for the
    /// items that have one.
    fn check_set<'a>(
        &'a self,
        _session: &mut Session,
        _item: &'a ast::SetItem,
        _value: Option<NewValue>,
    ) -> SqlResult<CheckedSet<'a>> {
        Err(SqlError::not_supported("SET"))
    }

    /// Remembers the session's values of variables that are about to be set for one statement;
    /// fails if one cannot be.
    fn save_variables(&self, _session: &Session, _names: &[&str]) -> SqlResult<SavedVariables<'_>> {
        Err(SqlError::not_supported("SET STATEMENT"))
    }

    /// Counts a statement of SQL PREPARE until the ticket is dropped; fails if there are too many.
    fn count_prepared(&self) -> SqlResult<PreparedTicket> {
        Ok(PreparedTicket::default())
    }

    /// Runs statements that are the server's own (accounts, privileges, KILL, FLUSH, SHOW of what
    /// only it knows, plugins, replication). `None` if it is not one of them.
    fn statement(
        &self,
        _instance: &Instance,
        _session: &mut Session,
        _statement: &ast::Statement,
        _sink: &mut dyn ResultSink,
    ) -> SqlResult<Option<Outcome>> {
        Ok(None)
    }

    /// Told after a table, or with an empty `table` a schema, was dropped or renamed.
    fn dropped(&self, _session: &Session, _schema: &str, _table: &str) {}

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

/// Nobody watches: tests and the server's own threads.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHooks;

impl SessionHooks for NoHooks {}
