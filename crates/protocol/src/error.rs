//! What a decoder says about bytes it cannot read.
//!
//! Must not carry text for clients: the server decides which SQL error a malformed packet becomes.

use std::fmt;

/// Why a packet could not be decoded.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The packet ends before the named field is complete.
    Truncated(&'static str),
    /// The named field has a value that has no meaning.
    Invalid(&'static str),
    /// The command byte is not known.
    UnknownCommand(u8),
}

/// Result of decoding a packet or a part of one.
pub type DecodeResult<T> = Result<T, DecodeError>;

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated(field) => write!(f, "packet ends inside {field}"),
            Self::Invalid(field) => write!(f, "invalid {field}"),
            Self::UnknownCommand(byte) => write!(f, "unknown command {byte:#04x}"),
        }
    }
}

impl std::error::Error for DecodeError {}
