//! Failures: a server's error, the connection, this machine, or the user's input.
//!
//! The commands print a failure as one sentence and exit with 1, or with 130 if it is Ctrl-C.

use std::fmt;
use std::io;

use crate::wire::{Address, ServerError};

/// Result type of this crate.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// Reason why something could not be measured.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server answered with an error.
    Server(ServerError),
    /// The connection, a file or a process failed.
    Io(io::Error),
    /// Anything else, as a sentence.
    Said(String),
    /// Ctrl-C or SIGTERM.
    Interrupted,
}

impl Failure {
    /// A failure with its sentence.
    pub(crate) fn said(text: impl Into<String>) -> Self {
        Self::Said(text.into())
    }

    pub(crate) fn connect(address: &Address, error: &io::Error) -> Self {
        Self::Said(format!("cannot connect to {address}: {error}"))
    }

    pub(crate) fn malformed() -> Self {
        Self::said("the server's answer is not the MySQL protocol")
    }

    pub(crate) fn unsupported(what: &str) -> Self {
        Self::Said(format!("{what} is not supported by this client"))
    }

    /// Adds the address of the server to the message.
    pub(crate) fn at(self, address: &Address) -> Self {
        match self {
            Self::Io(error) => Self::Said(format!("{address}: {error}")),
            Self::Server(error) => {
                Self::Said(format!("{address}: {} ({})", error.message, error.code))
            }
            other => other,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(error) => write!(f, "ERROR {}: {}", error.code, error.message),
            Self::Io(error) => write!(f, "{error}"),
            Self::Said(text) => f.write_str(text),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
