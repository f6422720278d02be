//! The session and the subqueries of a statement, as expressions see them.
//! Traits only: the executor implements them, since this crate must not know sessions.

use std::time::Duration;

use selkie_types::error::catalogue::ER_NO_BINARY_LOGGING;
use selkie_types::{Column, DateTime, SqlError, SqlResult, SqlType, Value};

use super::{EvalContext, SubqueryRows};
use crate::expr::{SearchId, SequenceCall, StoredCall, SubqueryId, VariableScope};

/// The rows of one group, for an aggregate function that is a stored program.
#[derive(Debug)]
pub struct GroupOfRows {
    /// The arguments of each row.
    pub rows: Vec<Vec<Value>>,
    /// The arguments behind the last row: its own, or those of a row of NULLs if there is none.
    pub behind: Vec<Value>,
}

/// Services of the session for functions. Every method has a default for the case without a
/// session, so that tests and folding need none.
pub trait Session {
    /// Value and type of `@name`; names are in lower case.
    fn user_variable(&self, _name: &str) -> Option<(Value, SqlType)> {
        None
    }

    /// Sets `@name`.
    fn set_user_variable(&self, _name: &str, _value: Value, _ty: &SqlType) {}

    /// Value of `@@name`; it has the type that the binder was given.
    fn system_variable(&self, _scope: VariableScope, name: &str) -> SqlResult<Value> {
        Err(SqlError::internal(format_args!("no session to ask for @@{name}")))
    }

    /// `DATABASE()`.
    fn database(&self) -> Option<String> {
        None
    }

    /// `USER()`: the name that the client gave.
    fn user(&self) -> String {
        String::new()
    }

    /// `CURRENT_USER()`: the account that matched.
    fn current_user(&self) -> String {
        String::new()
    }

    /// `CURRENT_ROLE()`.
    fn current_role(&self) -> Option<String> {
        None
    }

    /// `CONNECTION_ID()`.
    fn connection_id(&self) -> u64 {
        0
    }

    /// `VERSION()`.
    fn version(&self) -> String {
        "10.11.0-MariaDB-selkie".into()
    }

    /// `LAST_INSERT_ID()`.
    fn last_insert_id(&self) -> u64 {
        0
    }

    /// `LAST_INSERT_ID(id)`.
    fn set_last_insert_id(&self, _id: u64) {}

    /// `ROW_COUNT()` of the previous statement.
    fn row_count(&self) -> i64 {
        -1
    }

    /// `FOUND_ROWS()` of the previous statement.
    fn found_rows(&self) -> u64 {
        0
    }

    /// An error if the statement was killed, is out of time or uses too much memory.
    fn check_interrupted(&self) -> SqlResult<()> {
        Ok(())
    }

    /// Sleeps; false if a kill ended the sleep early.
    fn sleep(&self, time: Duration) -> SqlResult<bool> {
        std::thread::sleep(time);
        Ok(true)
    }

    /// `GET_LOCK`: whether the lock was granted in time, `None` on error.
    fn get_lock(&self, _name: &[u8], _timeout: f64) -> SqlResult<Option<bool>> {
        Err(SqlError::not_supported("GET_LOCK"))
    }

    /// `BINLOG_GTID_POS`: the last groups before an offset of a file of the binary log; `None` if
    /// there is no event at it.
    fn binlog_gtid_pos(&self, _file: &str, _offset: u64) -> SqlResult<Option<String>> {
        Err(SqlError::new(&ER_NO_BINARY_LOGGING, &[]))
    }

    /// `MASTER_GTID_WAIT`: whether a replica has applied all groups of a list before `longest` is
    /// over; without it the wait has no end.
    fn master_gtid_wait(&self, _list: &str, _longest: Option<Duration>) -> SqlResult<bool> {
        Err(SqlError::not_supported("MASTER_GTID_WAIT"))
    }

    /// `MASTER_POS_WAIT`: how many events were waited for until a replica had applied a place of
    /// its primary's log, -1 if `longest` is over before; `None` if the replica does not apply.
    fn master_pos_wait(
        &self,
        _file: &str,
        _offset: i64,
        _longest: Option<Duration>,
        _connection: Option<&str>,
    ) -> SqlResult<Option<i64>> {
        Err(SqlError::not_supported("MASTER_POS_WAIT"))
    }

    /// `RELEASE_LOCK`: whether this session held the lock; `None` if nobody did.
    fn release_lock(&self, _name: &[u8]) -> SqlResult<Option<bool>> {
        Err(SqlError::not_supported("RELEASE_LOCK"))
    }

    /// `RELEASE_ALL_LOCKS`.
    fn release_all_locks(&self) -> SqlResult<u64> {
        Err(SqlError::not_supported("RELEASE_ALL_LOCKS"))
    }

    /// The connection that holds a lock.
    fn lock_holder(&self, _name: &[u8]) -> SqlResult<Option<u64>> {
        Err(SqlError::not_supported("IS_USED_LOCK"))
    }

    /// The content of a file on the server, at most `max` + 1 bytes; `None` if the session is not
    /// allowed to read it, or cannot.
    fn load_file(&self, _name: &str, _max: u64) -> Option<Vec<u8>> {
        None
    }

    /// The number of the running transaction, which rows of tables versioned by transaction have; 0
    /// without one.
    fn transaction_number(&self) -> u64 {
        0
    }

    /// The next number of `UUID_SHORT()`.
    fn uuid_short(&self) -> u64 {
        0
    }
}

/// No session.
pub struct NoSession;

impl Session for NoSession {}

/// Runs subqueries for expressions. The caller first stores the values that a subquery depends on
/// in the context's parameter slots. The default methods are for contexts without subqueries.
pub trait SubqueryRunner {
    /// A value of the single row of a subquery; NULL if it has no row, error 1242 if it has
    /// several.
    fn scalar(&self, id: SubqueryId, _: usize, _: &EvalContext<'_>) -> SqlResult<Value> {
        missing(id)
    }

    /// Whether the subquery has a row.
    fn exists(&self, id: SubqueryId, _: &EvalContext<'_>) -> SqlResult<bool> {
        missing(id)
    }

    /// All rows.
    fn rows(&self, id: SubqueryId, _: &EvalContext<'_>) -> SqlResult<SubqueryRows> {
        missing(id)
    }

    /// Whether the subquery may return other rows each time.
    fn is_volatile(&self, _: SubqueryId) -> bool {
        true
    }

    /// The result of a stored function, which runs as a statement of its own.
    fn stored(
        &self,
        call: &StoredCall,
        _args: Vec<Value>,
        _: &EvalContext<'_>,
    ) -> SqlResult<Value> {
        Err(SqlError::internal(format_args!("nobody runs {}.{}", call.schema, call.name)))
    }

    /// The result of an aggregate function that is a stored program, for the rows of a group.
    fn group(&self, call: &StoredCall, _: GroupOfRows, _: &EvalContext<'_>) -> SqlResult<Value> {
        Err(SqlError::internal(format_args!("nobody runs {}.{}", call.schema, call.name)))
    }

    /// The ranks of rows in a full-text search, by their clustered keys.
    fn ranks(&self, id: SearchId, _keys: &Column, _: &EvalContext<'_>) -> SqlResult<Vec<f32>> {
        Err(SqlError::internal(format_args!("nobody runs search {}", id.0)))
    }

    /// The last transaction of the registry that was committed at a time in UTC or before; 0 if
    /// there is none.
    fn transaction_at(&self, _time: DateTime) -> SqlResult<u64> {
        Err(SqlError::internal("nobody reads the registry of transactions"))
    }

    /// Whether a transaction of the registry sees the changes of another; error 4129 if one of them
    /// is not there.
    fn transaction_sees(&self, _watcher: u64, _other: u64) -> SqlResult<bool> {
        Err(SqlError::internal("nobody reads the registry of transactions"))
    }

    /// The time in UTC at which a transaction of the registry was committed; error 4129 if it is
    /// not there. What has not ended is committed at the last time.
    fn committed_at(&self, _number: u64) -> SqlResult<DateTime> {
        Err(SqlError::internal("nobody reads the registry of transactions"))
    }

    /// Runs an operation on a sequence.
    fn sequence(&self, call: &SequenceCall) -> SqlResult<Value> {
        Err(SqlError::internal(format_args!("nobody asks sequence {}", call.name)))
    }
}

fn missing<T>(id: SubqueryId) -> SqlResult<T> {
    Err(SqlError::internal(format_args!("nobody runs subquery {}", id.0)))
}

/// No subqueries.
pub struct NoSubqueries;

impl SubqueryRunner for NoSubqueries {}
