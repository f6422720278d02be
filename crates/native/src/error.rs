//! The errors of files, log and pages. Callers above the storage layer see
//! `selkie_engine::EngineError`; this type keeps the source and the place until that boundary.

use crate::ids::PageId;
use selkie_engine::EngineError;
use std::{fmt, io};

/// Errors below the B+tree.
#[derive(Debug)]
pub(crate) enum StorageError {
    /// A read or an open failed. (A failed write or fsync is never reported here: it ends the
    /// process, I11.)
    Io {
        /// The operation and the file.
        what: String,
        /// The operating system's answer.
        source: io::Error,
    },
    /// Bytes on disk differ from those written there.
    Corrupt {
        /// The page, when one can be named.
        page: Option<PageId>,
        /// The fault found.
        detail: String,
    },
    /// No space left; found before any page was changed (I13).
    DiskFull,
}

/// The result of storage operations.
pub(crate) type Result<T> = std::result::Result<T, StorageError>;

impl StorageError {
    /// An I/O error with the name of the failed operation.
    pub(crate) fn io(what: impl Into<String>, source: io::Error) -> StorageError {
        if source.kind() == io::ErrorKind::StorageFull {
            return StorageError::DiskFull;
        }
        StorageError::Io { what: what.into(), source }
    }

    /// A required file is missing or too short, or its read failed; `what` names its content.
    pub(crate) fn lost(name: &str, what: &str, source: io::Error) -> StorageError {
        let found = match source.kind() {
            io::ErrorKind::NotFound => "is missing",
            io::ErrorKind::UnexpectedEof => "is too short",
            _ => return StorageError::io(format!("read of {name}"), source),
        };
        StorageError::corrupt(format!("the file {name} {found}, which holds {what}"))
    }

    /// Corruption of a page.
    pub(crate) fn page(page: PageId, detail: impl Into<String>) -> StorageError {
        StorageError::Corrupt { page: Some(page), detail: detail.into() }
    }

    /// Corruption outside of pages: log, control file.
    pub(crate) fn corrupt(detail: impl Into<String>) -> StorageError {
        StorageError::Corrupt { page: None, detail: detail.into() }
    }
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StorageError::Io { what, source } => write!(f, "{what}: {source}"),
            StorageError::Corrupt { page: Some(page), detail } => {
                write!(f, "corruption in {page}: {detail}")
            }
            StorageError::Corrupt { page: None, detail } => write!(f, "corruption: {detail}"),
            StorageError::DiskFull => write!(f, "no space left on the storage device"),
        }
    }
}

impl std::error::Error for StorageError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StorageError::Io { source, .. } => Some(source),
            StorageError::Corrupt { .. } | StorageError::DiskFull => None,
        }
    }
}

impl From<StorageError> for EngineError {
    fn from(error: StorageError) -> EngineError {
        match error {
            StorageError::DiskFull => EngineError::DiskFull,
            // The system's error number decides the client's error; the file's name goes to the
            // log.
            StorageError::Io { ref source, .. } if source.raw_os_error().is_none() => {
                EngineError::Io(io::Error::new(source.kind(), error.to_string()))
            }
            StorageError::Io { source, .. } => EngineError::Io(source),
            StorageError::Corrupt { .. } => EngineError::Corrupt(error.to_string()),
        }
    }
}
