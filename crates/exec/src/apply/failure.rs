//! Errors of events, with MariaDB's names of what the engine said.
//!
//! Must not make texts of its own: errors are the catalogue's.

use selkie_replication::DecodeError;
use selkie_types::SqlError;
use selkie_types::error::catalogue::{
    ER_DUP_ENTRY, ER_KEY_NOT_FOUND, ER_LOCK_DEADLOCK, ER_LOCK_WAIT_TIMEOUT, ER_NO_REFERENCED_ROW_2,
    ER_RECORD_FILE_FULL, ER_ROW_IS_REFERENCED_2, ER_SLAVE_CORRUPT_EVENT,
};

use super::Failure;
use crate::state::guard;

/// An error inside of an event.
pub(super) struct Broken {
    error: SqlError,
    handler: Option<&'static str>,
}

/// Result of a part of an event.
pub(super) type Applied<T> = Result<T, Broken>;

impl From<SqlError> for Broken {
    fn from(error: SqlError) -> Self {
        let handler = match error.code() {
            code if code == ER_DUP_ENTRY.code => Some("HA_ERR_FOUND_DUPP_KEY"),
            code if code == ER_LOCK_DEADLOCK.code => Some("HA_ERR_LOCK_DEADLOCK"),
            code if code == ER_LOCK_WAIT_TIMEOUT.code => Some("HA_ERR_LOCK_WAIT_TIMEOUT"),
            code if code == ER_NO_REFERENCED_ROW_2.code => Some("HA_ERR_NO_REFERENCED_ROW"),
            code if code == ER_ROW_IS_REFERENCED_2.code => Some("HA_ERR_ROW_IS_REFERENCED"),
            code if code == ER_RECORD_FILE_FULL.code => Some("HA_ERR_RECORD_FILE_FULL"),
            _ => None,
        };
        Self { error, handler }
    }
}

impl From<DecodeError> for Broken {
    fn from(error: DecodeError) -> Self {
        tracing::error!("an event cannot be applied: {error}");
        SqlError::new(&ER_SLAVE_CORRUPT_EVENT, &[]).into()
    }
}

impl Broken {
    /// 1032: a row to be changed is not there, as `handler` says.
    pub(super) fn not_found(table: &str, handler: &'static str) -> Self {
        let error = SqlError::new(&ER_KEY_NOT_FOUND, &[&table]);
        Self { error, handler: Some(handler) }
    }

    /// The error of an event on a table.
    pub(super) fn on(self, table: Option<(&str, &str)>) -> Failure {
        let table = table.map(|(schema, name)| (schema.to_owned(), name.to_owned()));
        Failure { error: self.error, table, handler: self.handler }
    }
}

/// Runs `work`; a panic becomes an error.
pub(super) fn guarded<T>(work: impl FnOnce() -> Applied<T>) -> Applied<T> {
    let mut handler = None;
    let result = guard::guarded(|| work().map_err(|broken| broken.noting(&mut handler)));
    result.map_err(|error| Broken::noted(error, handler))
}

impl Broken {
    /// The error alone; `handler` gets the name of what the engine said.
    pub(super) fn noting(self, handler: &mut Option<&'static str>) -> SqlError {
        *handler = self.handler;
        self.error
    }

    /// An error whose name was noted, if it has one.
    pub(super) fn noted(error: SqlError, handler: Option<&'static str>) -> Self {
        match handler {
            Some(_) => Self { error, handler },
            None => error.into(),
        }
    }
}
