//! Errors of decoders.
//!
//! Must not contain text for clients: the server chooses the SQL error for a malformed packet.

use std::fmt;

/// Reason why a packet could not be decoded.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The packet ends before the named field is complete.
    Truncated(&'static str),
    /// The named field has an invalid value.
    Invalid(&'static str),
    /// The command byte is unknown.
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
