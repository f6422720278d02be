//! What an engine can fail with. The executor translates it for the client.

use std::fmt;

/// Result of an engine's operation.
pub type EngineResult<T> = Result<T, EngineError>;

/// Why an engine's operation failed, and by that how far the transaction must roll back.
#[derive(Debug)]
pub enum EngineError {
    /// Row `row` of the batch repeats a key of unique index `index` (its position in the table's
    /// definition); `existing` is the clustered key of the row that has it.
    DuplicateKey {
        /// Position in [`crate::TableDef::indexes`].
        index: usize,
        /// Position in the batch given.
        row: usize,
        /// Clustered key of the row in the way.
        existing: Box<[u8]>,
    },
    /// Waited too long for a lock. The statement is undone, the transaction lives.
    LockWaitTimeout,
    /// Chosen as a deadlock's victim. The engine has already rolled back the transaction.
    Deadlock,
    /// The row changed after this transaction's snapshot.
    SnapshotConflict,
    /// The table is newer than this transaction's snapshot.
    TableChanged,
    /// The statement or connection was killed.
    Killed,
    /// The statement ran out of its time.
    StatementTimeout,
    /// No space left in the file system.
    DiskFull,
    /// A row or key is larger than the engine can store; the limit in bytes.
    RowTooBig(usize),
    /// A table cannot grow.
    TableFull,
    /// Changes are not allowed.
    ReadOnly,
    /// New versions of rows are not allowed while the engine only rescues what is there.
    ReadOnlyMode,
    /// The engine does not do this.
    Unsupported(&'static str),
    /// Stored data does not make sense.
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
