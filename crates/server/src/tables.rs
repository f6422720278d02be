//! Tables of `information_schema` with the state of the running server.
//!
//! Must not run queries: each table is computed as a whole.

pub(crate) mod plugins;
mod privileges;
mod processes;
mod thread_pool;
mod variables;

use std::sync::Arc;
use std::time::SystemTime;

use selkie_types::{Bitmap, Column, DateTime, SqlResult, Value};

use crate::accounts::Privileges;
use crate::session::Shared;

/// A row as column names with values; missing columns are NULL or empty.
pub(crate) type Row = Vec<(&'static str, Value)>;

/// Names of the tables.
pub(crate) const NAMES: &[&str] = &[
    "ALL_PLUGINS",
    "APPLICABLE_ROLES",
    "CLIENT_STATISTICS",
    "COLUMN_PRIVILEGES",
    "ENABLED_ROLES",
    "GLOBAL_STATUS",
    "GLOBAL_VARIABLES",
    "OPTIMIZER_TRACE",
    "PLUGINS",
    "PROCESSLIST",
    "PROFILING",
    "SCHEMA_PRIVILEGES",
    "SESSION_STATUS",
    "SESSION_VARIABLES",
    "SYSTEM_VARIABLES",
    "TABLE_PRIVILEGES",
    "THREAD_POOL_GROUPS",
    "THREAD_POOL_QUEUES",
    "THREAD_POOL_STATS",
    "THREAD_POOL_WAITS",
    "USER_PRIVILEGES",
    "USER_STATISTICS",
];

/// Values of session variables that are kept in the executor's session.
pub(crate) type Pseudo<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Tells which names of variables a statement asks for; `None` for all.
pub(crate) type Wanted<'a> = &'a dyn Fn(&Arc<Column>) -> SqlResult<Option<Bitmap>>;

/// Whether the session sees the statistics of all users.
fn sees_others(shared: &Shared) -> bool {
    shared.access.lock().has_global(Privileges::SUPER | Privileges::PROCESS)
}

/// The rows of a table for the session that reads it.
pub(crate) fn rows(
    table: &str,
    shared: &Shared,
    pseudo: Pseudo<'_>,
    wanted: Wanted<'_>,
) -> SqlResult<Vec<Row>> {
    Ok(match table {
        "APPLICABLE_ROLES" => privileges::applicable_roles(shared),
        "CLIENT_STATISTICS" if sees_others(shared) => shared.server.sessions.users.client_rows(),
        "USER_STATISTICS" if sees_others(shared) => shared.server.sessions.users.user_rows(),
        "CLIENT_STATISTICS" | "USER_STATISTICS" => Vec::new(),
        "COLUMN_PRIVILEGES" => privileges::column_privileges(shared),
        "ENABLED_ROLES" => privileges::enabled_roles(shared),
        "GLOBAL_STATUS" => variables::global_status(shared, wanted)?,
        "GLOBAL_VARIABLES" => variables::global_variables(shared, wanted)?,
        "PROCESSLIST" => processes::processlist(shared),
        "OPTIMIZER_TRACE" => crate::optimizer_trace::rows(shared),
        "PROFILING" => crate::profiles::rows(shared),
        "SCHEMA_PRIVILEGES" => privileges::schema_privileges(shared),
        "SESSION_STATUS" => variables::session_status(shared, pseudo, wanted)?,
        "SESSION_VARIABLES" => variables::session_variables(shared, pseudo, wanted)?,
        "SYSTEM_VARIABLES" => variables::system_variables(shared, pseudo, wanted)?,
        "TABLE_PRIVILEGES" => privileges::table_privileges(shared),
        "THREAD_POOL_GROUPS" => thread_pool::groups(&shared.server),
        "THREAD_POOL_QUEUES" => thread_pool::queues(&shared.server),
        "THREAD_POOL_STATS" => thread_pool::stats(&shared.server),
        "THREAD_POOL_WAITS" => thread_pool::waits(&shared.server),
        "USER_PRIVILEGES" => privileges::user_privileges(shared),
        _ => Vec::new(),
    })
}

/// A value of a TIMESTAMP column.
pub(crate) fn utc(at: SystemTime) -> Value {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let micros = i64::try_from(since).unwrap_or(0).saturating_mul(1_000_000);
    DateTime::from_unix_micros(micros).map_or(Value::Null, Value::DateTime)
}

pub(crate) fn text(value: impl AsRef<[u8]>) -> Value {
    Value::bytes(value)
}
