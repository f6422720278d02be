//! The errors of an engine. The executor translates them for the client.
//!
//! No message for clients and no error number here. The kind of an error tells how far the
//! transaction must roll back.

use std::fmt;

use selkie_types::SqlError;

/// Result of an engine's operation.
pub type EngineResult<T> = Result<T, EngineError>;

/// Reason why an engine's operation failed. It also tells how far the transaction must roll back.
#[derive(Debug)]
pub enum EngineError {
    /// Row `row` of the batch repeats a key of the unique index `index`.
    DuplicateKey {
        /// Position in [`crate::TableDef::indexes`].
        index: usize,
        /// Position in the batch given.
        row: usize,
        /// Clustered key of the row that has the key already.
        existing: Box<[u8]>,
    },
    /// Row `row` of the batch belongs to no part of its table; those before it are stored.
    Misplaced {
        /// Position in the batch given.
        row: usize,
        /// The client's error.
        error: Box<SqlError>,
    },
    /// The wait for a lock took too long. The statement is undone, the transaction lives.
    LockWaitTimeout,
    /// The transaction was chosen as a deadlock's victim. The engine has already rolled it back.
    Deadlock,
    /// The row changed after this transaction's snapshot.
    SnapshotConflict,
    /// The table is newer than this transaction's snapshot.
    TableChanged,
    /// The statement or connection was killed.
    Killed,
    /// The statement exceeded its time limit.
    StatementTimeout,
    /// No space left in the file system.
    DiskFull,
    /// A row or key is larger than the engine can store; the limit in bytes.
    RowTooBig(usize),
    /// A table cannot grow.
    TableFull,
    /// Changes are not allowed.
    ReadOnly,
    /// New versions of rows are not allowed while the engine only rescues existing data.
    ReadOnlyMode,
    /// The engine does not support this.
    Unsupported(&'static str),
    /// A [`crate::Rider`] refused the commit with this error.
    Refused(Box<SqlError>),
    /// Stored data is damaged.
    Corrupt(String),
    /// The operating system refused.
    Io(std::io::Error),
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateKey { index, row, .. } => {
                write!(f, "row {row} repeats a key of index {index}")
            }
            Self::Misplaced { row, error } => write!(f, "row {row} has no place: {error}"),
            Self::LockWaitTimeout => f.write_str("lock wait timeout"),
            Self::Deadlock => f.write_str("deadlock"),
            Self::TableChanged => f.write_str("the table is newer than the snapshot"),
            Self::SnapshotConflict => f.write_str("the row changed since the snapshot"),
            Self::Killed => f.write_str("killed"),
            Self::StatementTimeout => f.write_str("statement timeout"),
            Self::DiskFull => f.write_str("disk full"),
            Self::RowTooBig(limit) => write!(f, "row larger than {limit} bytes"),
            Self::TableFull => f.write_str("table full"),
            Self::ReadOnly => f.write_str("read only"),
            Self::ReadOnlyMode => f.write_str("running in read-only mode"),
            Self::Unsupported(what) => write!(f, "the engine does not support {what}"),
            Self::Refused(error) => write!(f, "the commit was refused: {error}"),
            Self::Corrupt(what) => write!(f, "corrupt data: {what}"),
            Self::Io(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for EngineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<selkie_types::RowCorrupt> for EngineError {
    fn from(error: selkie_types::RowCorrupt) -> Self {
        Self::Corrupt(error.to_string())
    }
}

impl From<std::io::Error> for EngineError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::StorageFull => Self::DiskFull,
            _ => Self::Io(error),
        }
    }
}
