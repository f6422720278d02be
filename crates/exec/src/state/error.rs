//! Engine errors as clients see them. The numbers in I/O errors are those of the operating system,
//! 5 (EIO) if unknown. Corruption and I/O errors also go to the server's log.

use selkie_engine::{EngineError, TableDef};
use selkie_types::error::catalogue::*;
use selkie_types::{RowCorrupt, SqlError};

/// The client's error for `error` on `table`. Duplicate keys are formatted by
/// `run::duplicate`, which has the row; the entry is not known here.
#[cold]
pub fn from_engine(error: EngineError, table: &TableDef) -> SqlError {
    match error {
        EngineError::DuplicateKey { index, .. } => {
            let name = table.indexes.get(index).map_or("", |i| &i.name);
            SqlError::duplicate_entry("", name)
        }
        EngineError::Misplaced { error, .. } => *error,
        EngineError::LockWaitTimeout => SqlError::lock_wait_timeout(),
        EngineError::Deadlock => SqlError::deadlock(),
        EngineError::TableChanged => SqlError::new(&ER_TABLE_DEF_CHANGED, &[]),
        EngineError::SnapshotConflict => SqlError::new(&ER_CHECKREAD, &[&table.name]),
        EngineError::Killed => SqlError::interrupted(),
        EngineError::StatementTimeout => SqlError::new(&ER_STATEMENT_TIMEOUT, &[]),
        EngineError::DiskFull => SqlError::new(&ER_DISK_FULL, &[&table.name, &28]),
        EngineError::RowTooBig(limit) => SqlError::new(&ER_TOO_BIG_ROWSIZE, &[&limit]),
        EngineError::TableFull => SqlError::new(&ER_RECORD_FILE_FULL, &[&table.name]),
        EngineError::ReadOnly => SqlError::new(&ER_OPEN_AS_READONLY, &[&table.name]),
        EngineError::ReadOnlyMode => SqlError::new(&ER_READ_ONLY_MODE, &[]),
        EngineError::Unsupported(what) => SqlError::not_supported(what),
        EngineError::Refused(error) => *error,
        EngineError::Corrupt(what) => {
            tracing::error!(table = %table.name, "corrupt data: {what}");
            SqlError::new(&ER_NOT_KEYFILE, &[&table.name])
        }
        EngineError::Io(error) => {
            tracing::error!(table = %table.name, "input or output failed: {error}");
            SqlError::new(&ER_GET_ERRNO, &[&error.raw_os_error().unwrap_or(5), &"InnoDB"])
        }
    }
}

/// The client's error for a whole transaction, where no table is known.
#[cold]
pub fn from_engine_commit(error: EngineError) -> SqlError {
    match error {
        EngineError::Deadlock => SqlError::deadlock(),
        EngineError::LockWaitTimeout => SqlError::lock_wait_timeout(),
        EngineError::Killed => SqlError::interrupted(),
        EngineError::Unsupported(what) => SqlError::not_supported(what),
        EngineError::Refused(error) => *error,
        EngineError::DiskFull => SqlError::new(&ER_ERROR_DURING_COMMIT, &[&28]),
        EngineError::ReadOnly | EngineError::ReadOnlyMode => SqlError::new(&ER_READ_ONLY_MODE, &[]),
        other => {
            tracing::error!("the transaction failed: {other}");
            SqlError::new(&ER_ERROR_DURING_COMMIT, &[&5])
        }
    }
}

/// Error for a row that does not fit its table's layout.
#[cold]
pub fn corrupt(_: RowCorrupt) -> SqlError {
    SqlError::new(&ER_CRASHED_ON_USAGE, &[&"row"])
}

/// The number of an operating system error.
pub(crate) fn errno(error: &std::io::Error) -> i32 {
    error.raw_os_error().unwrap_or(5)
}
